//! What a server may ask of a client: pings, and what the application declared it answers. The rest is refused
//! (legacy) or dropped (modern, where a server must not ask and a client must not answer).

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::client::config::ServerRequests;
use crate::client::encode;
use crate::client::event::{Event, PeerRequestHandle};
use crate::client::peer_requests::Waiting;
use crate::client::session::{Phase, Session};
use crate::error::{ApiError, Violation};
use crate::exchange::{Origin, Partition};
use crate::jsonrpc::{ErrorObject, Kind, RawJson, RequestId};
use crate::mcp::codes::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, USER_REJECTED};
use crate::mcp::legality::{self, Sender};
use crate::mcp::types::input::{InputAnswer, InputKind, InputRequest};
use crate::mcp::{Era, Method, Revision};
use crate::time::Instant;

impl Session {
    /// Answers a request of the server's.
    ///
    /// # Errors
    /// [`ApiError::UnknownRequest`] if it was answered, withdrawn or timed out; [`ApiError::BadParams`] if the
    /// answer is no object; [`ApiError::TooLarge`] past the limit (the request stays open).
    ///
    /// Spec: MCP 2025-11-25, client features.
    pub fn answer(
        &mut self,
        peer: PeerRequestHandle,
        answer: &InputAnswer,
        now: Instant,
    ) -> Result<(), ApiError> {
        self.clock.advance(now);
        let waiting = self.peer_requests.open.get(&peer.0).ok_or(ApiError::UnknownRequest)?;
        let message = match (answer, answer.to_result(waiting.kind)) {
            (_, Some(result)) => {
                if result.view().kind() != Kind::Object {
                    return Err(ApiError::BadParams("an answer is no object"));
                }
                encode::answer(&waiting.id, Ok(&result))
            }
            (InputAnswer::Error(error), None) => encode::answer(&waiting.id, Err(error)),
            (_, None) => encode::answer(&waiting.id, Err(&no_answer(waiting.kind))),
        };
        let limit = self.config.limits.max_message_bytes;
        if message.len() > limit {
            return Err(ApiError::TooLarge { len: message.len(), limit });
        }
        self.peer_requests.open.remove(&peer.0);
        self.push_message(message, None, Partition::default());
        Ok(())
    }

    pub(super) fn expire_peer_requests(&mut self, now: Instant) {
        let due: Vec<u64> = self
            .peer_requests
            .open
            .iter()
            .filter(|(_, waiting)| waiting.at <= now)
            .map(|(handle, _)| *handle)
            .collect();
        for handle in due {
            let Some(waiting) = self.peer_requests.open.remove(&handle) else { continue };
            let message = match InputAnswer::Cancel.to_result(waiting.kind) {
                Some(result) => encode::answer(&waiting.id, Ok(&result)),
                None => encode::answer(&waiting.id, Err(&no_answer(waiting.kind))),
            };
            self.push_message(message, None, Partition::default());
            self.events.push(Event::PeerRequestEnded { handle: PeerRequestHandle(handle) });
        }
    }

    pub(super) fn peer_request(
        &mut self,
        from: Origin,
        id: RequestId,
        method: Method,
        params: Option<RawJson>,
        now: Instant,
    ) {
        let revision = match self.phase {
            Phase::Ready(revision) => Some(revision),
            Phase::Opening(_) => None,
            Phase::Closed(_) => return,
        };
        if revision.map(Revision::era) == Some(Era::Modern) {
            self.stats.dropped_requests += 1;
            return self.violation(Violation::WrongDirection { method: method.bounded() });
        }
        if method == Method::Ping {
            let message = encode::answer(&id, Ok(&RawJson::empty_object()));
            return self.push_message(message, None, Partition::default());
        }
        if self.config.server_requests == ServerRequests::DropAll {
            self.stats.dropped_requests += 1;
            return;
        }
        let declared = &self.config.capabilities;
        let legal = revision.is_some_and(|revision| legality::legal(revision, Sender::Server, &method));
        let capable = (method == Method::ElicitationCreate
            && (declared.elicitation_form || declared.elicitation_url))
            || (method == Method::SamplingCreateMessage && declared.sampling)
            || (method == Method::RootsList && declared.roots);
        if !legal || !capable {
            return self.refuse(&id, METHOD_NOT_FOUND, "this client does not answer that method");
        }
        let Some(request) = InputRequest::new(&method, params) else {
            return self.refuse(&id, INVALID_PARAMS, "this client does not know that mode");
        };
        let declared = &self.config.capabilities;
        let wanted = match request.kind {
            InputKind::ElicitForm => declared.elicitation_form,
            InputKind::ElicitUrl => declared.elicitation_url,
            InputKind::Sample => {
                let asks_tools = request.params.as_ref().is_some_and(|params| {
                    let view = params.view();
                    ["tools", "toolChoice"]
                        .iter()
                        .any(|name| view.get(name).is_some_and(|tools| !tools.is_null()))
                });
                declared.sampling_tools || !asks_tools
            }
            InputKind::ListRoots => true,
        };
        if !wanted {
            return self.refuse(&id, INVALID_PARAMS, "this client did not declare that mode");
        }
        if self.peer_requests.open.len() >= self.config.limits.max_peer_requests {
            return self.refuse(&id, INTERNAL_ERROR, "too many requests wait for an answer");
        }
        self.peer_requests.last += 1;
        let handle = self.peer_requests.last;
        let at = now.saturating_add(self.config.limits.peer_request);
        self.peer_requests.open.insert(handle, Waiting { id, kind: request.kind, at });
        let during = match from {
            Origin::Exchange(exchange) => self.owner_of(exchange),
            Origin::Stream | Origin::Push => None,
        };
        self.events.push(Event::PeerRequest { handle: PeerRequestHandle(handle), request, during });
    }

    fn owner_of(&mut self, exchange: crate::exchange::ExchangeHandle) -> Option<super::RequestHandle> {
        match self.requests.get_mut(exchange.request_id()?)?.owner {
            crate::client::requests::Owner::Application(request) => Some(request),
            crate::client::requests::Owner::Probe | crate::client::requests::Owner::Initialize => None,
        }
    }

    /// Answers a request of the server's with an error, unless nothing is to be answered any more.
    pub(super) fn refuse(&mut self, id: &RequestId, code: i64, message: &str) {
        if matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        if self.config.server_requests == ServerRequests::DropAll {
            self.stats.dropped_requests += 1;
            return;
        }
        self.stats.refused_requests += 1;
        let error = ErrorObject { code, message: message.to_string(), data: None };
        let message = encode::answer(id, Err(&error));
        self.push_message(message, None, Partition::default());
    }
}

/// What to say where a kind has no way to decline.
fn no_answer(kind: InputKind) -> ErrorObject {
    let code = if kind == InputKind::Sample { USER_REJECTED } else { INTERNAL_ERROR };
    ErrorObject { code, message: "the user did not answer".to_string(), data: None }
}
