//! The application's answers: what they may be, and what they become.

use alloc::vec::Vec;

use crate::error::ApiError;
use crate::jsonrpc::{ErrorObject, RawJson, RequestId};
use crate::mcp::types::input::KeyedInput;
use crate::mcp::types::lifecycle::ClientCapabilities;
use crate::mcp::{Era, Revision, codes};
use crate::server::answer;
use crate::server::event::{Reply, RequestHandle};
use crate::server::input;
use crate::server::plain::LONG;
use crate::server::requests::Open;
use crate::server::session::{Session, error_message};
use crate::time::Instant;

impl Session {
    /// Answers a request. Encodes at once: O(reply), one copy of its payload; on one stream a long text of a tool's is not
    /// copied but shared until it has left.
    ///
    /// A [`Reply::InputRequired`] that asks for what this request's client did not declare becomes the error that says
    /// so (-32021), which ends the request as any answer does.
    ///
    /// # Errors
    /// [`ApiError::UnknownRequest`] if it was answered, cancelled or never reported: drop the answer.
    /// [`ApiError::BadParams`], [`ApiError::WrongEra`] if the answer cannot be one, [`ApiError::MissingCapability`] if
    /// -32042 lists what the client did not declare, [`ApiError::TooLarge`] past the limit: the request is open still.
    ///
    /// Spec: JSON-RPC 2.0, section 5; MCP 2026-07-28 basic, "Results".
    pub fn respond(&mut self, request: RequestHandle, reply: &Reply, now: Instant) -> Result<(), ApiError> {
        let now = self.clock.advance(now);
        let open = self.requests.get(request.0).ok_or(ApiError::UnknownRequest)?;
        let lacking = |error: &ErrorObject| error.code == codes::MISSING_CLIENT_CAPABILITY;
        let mut status = if matches!(reply, Reply::Error(error) if lacking(error)) { 400 } else { 200 };
        let message = match reply {
            Reply::Complete(result) => {
                answer::check(&open.method, open.output_schema.as_deref(), result)?;
                let (replies, limit) = (&self.replies, self.config.limits.max_message_bytes);
                let long = if result.len() >= LONG && self.out.is_joined() {
                    replies.long_text(&open.id, &open.method, open.revision, result)
                } else {
                    None
                };
                if let Some((head, middle, tail)) = long {
                    self.check_length(head.len() + middle.len() + tail.len())?;
                    self.out.send_parts(&head, middle, tail);
                    None
                } else {
                    self.out.encode(replies.size(result), |out| {
                        let before = out.len();
                        replies.complete(out, &open.id, &open.method, open.revision, result)?;
                        let len = out.len() - before;
                        if len > limit { Err(ApiError::TooLarge { len, limit }) } else { Ok(()) }
                    })?
                }
            }
            Reply::InputRequired { requests, state } => {
                Some(match self.ask_by_result(open, requests, state.as_deref())? {
                    Ok(message) => message,
                    Err(missing) => {
                        status = 400;
                        encode_error(&open.id, &input::missing_capability(&missing), open)?
                    }
                })
            }
            Reply::Error(error) => Some(encode_error(&open.id, error, open)?),
        };
        if let Some(message) = &message {
            self.check_length(message.len())?;
        }
        let Some(gone) = self.requests.remove(request.0) else { return Err(ApiError::UnknownRequest) };
        self.drop_asks(request.0, &gone);
        let to = gone.origin;
        if matches!(reply, Reply::Complete(_)) {
            self.note_watched(gone);
        }
        if let Some(message) = message {
            self.answer(to, message, status);
        }
        self.settle(now);
        Ok(())
    }

    /// The message that asks for input, or what the client would have had to declare.
    fn ask_by_result(
        &self,
        open: &Open,
        requests: &[KeyedInput],
        state: Option<&str>,
    ) -> Result<Result<Vec<u8>, ClientCapabilities>, ApiError> {
        if open.revision.era() == Era::Legacy {
            return Err(ApiError::WrongEra { method: open.method.clone(), revision: open.revision });
        }
        if !open.method.takes_input_rounds() {
            return Err(ApiError::BadParams("this method takes no rounds of input"));
        }
        if requests.is_empty() && state.is_none() {
            return Err(ApiError::BadParams("neither requests nor state"));
        }
        let mut missing = ClientCapabilities::default();
        let declared = open.declared.capabilities();
        for (n, asked) in requests.iter().enumerate() {
            input::check(&asked.request, open.revision)?;
            if requests.iter().take(n).any(|other| other.key == asked.key) {
                return Err(ApiError::BadParams("a key stands twice"));
            }
            input::add(&mut missing, &input::undeclared(&asked.request, open.revision, &declared));
        }
        if missing.is_empty() {
            Ok(Ok(self.replies.input_required(&open.id, requests, state)))
        } else {
            Ok(Err(missing))
        }
    }
}

/// An error of the application's, as the request's revision has it.
fn encode_error(id: &RequestId, error: &ErrorObject, open: &Open) -> Result<Vec<u8>, ApiError> {
    let modern = open.revision.era() == Era::Modern;
    let code = match error.code {
        codes::RESOURCE_NOT_FOUND if modern => codes::INVALID_PARAMS,
        codes::URL_ELICITATION_REQUIRED if open.revision == Revision::V2025_11_25 => {
            input::check_required(error.data.as_ref(), &open.declared.capabilities())?;
            error.code
        }
        codes::URL_ELICITATION_REQUIRED => {
            return Err(ApiError::BadParams("only 2025-11-25 knows this error; ask for input instead"));
        }
        -32099..=-32020 if !modern || !codes::is_modern(error.code) => {
            return Err(ApiError::BadParams("this code is not defined; use one outside -32768 to -32000"));
        }
        code => code,
    };
    Ok(error_message(Some(id), code, &error.message, error.data.as_ref().map(RawJson::view)))
}
