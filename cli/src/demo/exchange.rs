//! One request, and the one answer to it.

use std::sync::Arc;

use sanswire::jsonrpc::{self, JsonRef, ObjectWriter, RawJson, RequestId};
use sanswire::mcp::codes::ErrorCode;
use sanswire::mcp::meta;

use super::{NAME, Server, VERSION};

/// How the client speaks in this request.
#[derive(Clone, Copy)]
pub(super) enum Caller {
    /// Within a session.
    Legacy,
    /// 2026-07-28: the request stands alone.
    Modern,
}

/// A request to be answered.
pub(super) struct Exchange {
    pub(super) server: Arc<Server>,
    pub(super) id: RequestId,
    pub(super) caller: Caller,
    pub(super) params: RawJson,
    /// Whether the client answers a form.
    pub(super) elicitation: bool,
}

impl Exchange {
    /// A member of the parameters that is a string.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        crate::json::text(self.params.view(), name)
    }

    /// The good end. A modern result says that it is whole, and who gives it.
    pub(super) fn result(&self, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        self.server.wire.send(|out| {
            jsonrpc::write_result(out, &self.id, |w| {
                write(w);
                if let Caller::Modern = self.caller {
                    w.string("resultType", "complete");
                    w.object("_meta", identify);
                }
            });
        });
    }

    /// As [`result`](Self::result), of something that may be kept for a while.
    pub(super) fn cacheable(&self, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        self.result(|w| {
            write(w);
            if let Caller::Modern = self.caller {
                w.u64("ttlMs", 60_000).string("cacheScope", "public");
            }
        });
    }

    /// A modern result that asks for input first.
    pub(super) fn input_required(&self, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        self.server.wire.send(|out| {
            jsonrpc::write_result(out, &self.id, |w| {
                w.string("resultType", "input_required");
                write(w);
                w.object("_meta", identify);
            });
        });
    }

    /// The bad end.
    pub(super) fn error(&self, code: ErrorCode, message: &str, data: Option<JsonRef<'_>>) {
        self.server.wire.send(|out| jsonrpc::write_error(out, Some(&self.id), code, message, data));
    }

    /// The token under which progress is reported, if the client wants any.
    pub(super) fn progress_token(&self) -> Option<RequestId> {
        let token = self.params.view().get(meta::META)?.get(meta::PROGRESS_TOKEN)?;
        RequestId::parse(token).ok()
    }
}

fn identify(w: &mut ObjectWriter<'_>) {
    w.object(meta::SERVER_INFO, |w| {
        w.string("name", NAME).string("version", VERSION);
    });
}
