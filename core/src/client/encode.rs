//! The messages a client sends, encoded without intermediate values.

use alloc::vec::Vec;

use bytes::Bytes;

use crate::client::config::{Config, LogLevel, RequestOptions};
use crate::jsonrpc::{ErrorObject, ObjectWriter, RawJson, RequestId, finish_line};
use crate::mcp::meta;
use crate::mcp::{Era, Method, Revision};

/// A request of `method` with `params` (an object without `_meta`), ending in LF.
pub(crate) fn request(
    id: u64,
    method: &Method,
    params: Option<&RawJson>,
    revision: Option<Revision>,
    config: &Config,
    options: &RequestOptions,
) -> Bytes {
    let era = revision.map(Revision::era);
    message(params.map_or(0, RawJson::len), |w| {
        w.u64("id", id);
        w.string("method", method.as_str());
        w.spliced("params", params.map(RawJson::view), |w| {
            if era == Some(Era::Modern) {
                modern_meta(w, revision.unwrap_or(Revision::NEWEST_MODERN), config, options);
            }
            w.u64(meta::PROGRESS_TOKEN, id);
            if let Some(extra) = &options.meta {
                for (name, value) in extra.view().members() {
                    w.raw(&name.decode(), value);
                }
            }
        });
    })
}

fn modern_meta(w: &mut ObjectWriter<'_>, revision: Revision, config: &Config, options: &RequestOptions) {
    w.string(meta::PROTOCOL_VERSION, revision.as_str());
    w.object(meta::CLIENT_INFO, |w| {
        options.client.as_ref().unwrap_or(&config.client).write(w);
    });
    w.object(meta::CLIENT_CAPABILITIES, |w| {
        options.capabilities.as_ref().unwrap_or(&config.capabilities).write(w);
    });
    if let Some(level) = options.log_level.or(config.log_level) {
        w.string(meta::LOG_LEVEL, LogLevel::as_str(level));
    }
}

/// The era probe.
pub(crate) fn discover(id: u64, revision: Revision, config: &Config) -> Bytes {
    message(0, |w| {
        w.u64("id", id);
        w.string("method", Method::ServerDiscover.as_str());
        w.object("params", |w| {
            w.object("_meta", |w| modern_meta(w, revision, config, &RequestOptions::default()));
        });
    })
}

/// The handshake of the older revisions.
pub(crate) fn initialize(id: u64, revision: Revision, config: &Config) -> Bytes {
    message(0, |w| {
        w.u64("id", id);
        w.string("method", Method::Initialize.as_str());
        w.object("params", |w| {
            w.string("protocolVersion", revision.as_str());
            w.object("capabilities", |w| config.capabilities.write(w));
            w.object("clientInfo", |w| config.client.write(w));
        });
    })
}

/// A notification.
pub(crate) fn notification(method: &Method, params: Option<&RawJson>) -> Bytes {
    message(params.map_or(0, RawJson::len), |w| {
        w.string("method", method.as_str());
        if let Some(params) = params {
            w.raw("params", params.view());
        }
    })
}

/// `notifications/cancelled` for the request of wire id `id`.
pub(crate) fn cancelled(id: u64, reason: Option<&str>) -> Bytes {
    message(0, |w| {
        w.string("method", Method::Cancelled.as_str());
        w.object("params", |w| {
            w.u64("requestId", id);
            if let Some(reason) = reason {
                w.string("reason", reason);
            }
        });
    })
}

/// Our answer to a request of the server's.
pub(crate) fn answer(id: &RequestId, answer: Result<&RawJson, &ErrorObject>) -> Bytes {
    message(answer.map_or(0, RawJson::len), |w| {
        w.id("id", id);
        match answer {
            Ok(result) => {
                w.raw("result", result.view());
            }
            Err(error) => {
                w.object("error", |w| {
                    w.i64("code", error.code);
                    w.string("message", &error.message);
                    if let Some(data) = &error.data {
                        w.raw("data", data.view());
                    }
                });
            }
        }
    })
}

fn message(body: usize, members: impl FnOnce(&mut ObjectWriter<'_>)) -> Bytes {
    let mut out = Vec::with_capacity(body + 192);
    let mut object = ObjectWriter::begin(&mut out);
    object.string("jsonrpc", "2.0");
    members(&mut object);
    object.end();
    finish_line(&mut out);
    Bytes::from(out)
}
