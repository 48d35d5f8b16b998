//! The session's exchanges over HTTP: how each leaves, and what its answer means.

use bytes::Bytes;

use crate::error::Violation;
use crate::exchange::{
    Challenge, Exchange, ExchangeEnd, ExchangeHandle, HttpRefusal, Origin, RefusedFor, ReplyForm,
};
use crate::frame::Frame;
use crate::http::client::Client;
use crate::http::client::answer::{self, Media};
use crate::http::client::body::Content;
use crate::http::client::calls::Place;
use crate::http::client::legacy::Gate;
use crate::http::client::wire::{Reading, Role};
use crate::http::head::{HttpHandle, ResponseHead};
use crate::jsonrpc::{self, Kind, Message, RequestId};
use crate::mcp::{Era, Method, codes};
use crate::time::Instant;

/// So many notifications and answers of ours may be on their way at once: a server that asks without end gets no more.
pub(in crate::http) const MAX_NOTES: usize = 256;
/// How much of what a challenge says is kept.
const MESSAGE_BYTES: usize = 4096;

/// How an error stands in an answer, and so which request it can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is what the request was refused with: it is about that, whatever id it carries.
    Refusal,
    /// It is all there is: it is about that if it names it, or nothing.
    Alone,
    /// Others may stand beside it: it is about what it names.
    Among,
}

impl Standing {
    /// Whether an error with this id answers `exchange`.
    pub(super) fn answers(self, exchange: ExchangeHandle, id: Option<&RequestId>) -> bool {
        match (self, id) {
            (Self::Refusal, _) | (Self::Alone, None) => true,
            (Self::Among, None) => false,
            (Self::Alone | Self::Among, Some(id)) => id
                .as_i64()
                .is_some_and(|id| exchange.request_id().is_some_and(|own| u64::try_from(id) == Ok(own))),
        }
    }
}

impl Client {
    /// The session wants something sent.
    pub(super) fn send(&mut self, exchange: Exchange) {
        let (handle, method) = (exchange.handle, exchange.facts.method.clone());
        if exchange.reply == ReplyForm::None && self.calls.len() >= self.max_calls() {
            return;
        }
        if self.legacy.holds(method.as_ref()) {
            self.calls.insert(exchange, Place::Held, false);
            return self.legacy.hold(handle);
        }
        self.start(exchange, false);
        if method == Some(Method::Initialized) {
            self.legacy.gate = Gate::Initialized(handle);
        }
    }

    pub(super) fn max_calls(&self) -> usize {
        let limits = &self.session.config().limits;
        limits.max_in_flight + limits.max_subscriptions + MAX_NOTES
    }

    pub(super) fn start(&mut self, exchange: Exchange, again: bool) {
        let handle = exchange.handle;
        self.calls.insert(exchange, Place::Held, again);
        self.go(handle);
    }

    /// An exchange that was held leaves.
    pub(super) fn go(&mut self, handle: ExchangeHandle) {
        let url = self.post_url();
        let wire = self.open(Role::Call(handle), url, 0);
        if let Some(call) = self.calls.get_mut(handle) {
            call.place = Place::On(wire);
        }
    }

    /// The session gives an exchange up. A modern server learns that by the end of the stream; every other is told, if
    /// it can have heard of the request.
    pub(super) fn abort(&mut self, handle: ExchangeHandle, notice: Option<Exchange>) {
        let refetching = self.refetching_on(handle);
        let (mut left, mut wire) = (false, refetching);
        if let Some(call) = self.calls.remove(handle) {
            match call.place {
                Place::Held | Place::FallsBack(_) | Place::Refetches(_) => {}
                Place::Waits => left = true,
                Place::On(on) => {
                    left = self.may_be_known(on);
                    wire = Some(on);
                }
            }
        } else {
            left = self.is_old();
        }
        let legacy =
            |notice: &Exchange| notice.facts.revision.is_some_and(|revision| revision.era() == Era::Legacy);
        if let Some(wire) = wire {
            // There the end of a stream means nothing, and a server that hears the notice ends it itself.
            if left && notice.as_ref().is_some_and(legacy) {
                self.pass_by(wire);
            } else {
                self.close_wire(wire);
            }
        }
        // A session that is about to be ended needs no word on what was open in it.
        let ends =
            self.session.close_reason().is_some() && self.legacy.session_id.is_some() && !self.is_old();
        if let Some(notice) = notice.filter(|notice| left && !ends && legacy(notice)) {
            self.send(notice);
        }
    }

    /// The head of the answer to a POST.
    pub(super) fn call_head(
        &mut self,
        wire: HttpHandle,
        handle: ExchangeHandle,
        head: &ResponseHead,
        now: Instant,
    ) {
        let Some(call) = self.calls.get(handle) else { return self.pass_by(wire) };
        let none = call.exchange.reply == ReplyForm::None;
        let method = call.exchange.facts.method.clone();
        let session = self.wires.get(&wire).and_then(|wire| wire.session);
        let status = head.status;
        match status {
            200..=299 => {
                if method == Some(Method::Initialize) && !self.is_old() {
                    self.read_session_id(&head.fields);
                } else if method == Some(Method::Initialized) {
                    self.initialized(handle, now);
                } else if !none {
                    self.prove_session(session);
                }
                if !(method == Some(Method::ToolsCall) && self.may_refetch()
                    || method == Some(Method::Initialize))
                {
                    self.calls.release(handle);
                }
                if self.is_old() {
                    // The answer comes on the stream.
                    self.calls.remove(handle);
                    return self.pass_by(wire);
                }
                if let Some(name) = answer::coding(&head.fields) {
                    let why = RefusedFor::ContentCoding(name);
                    return self.refused(wire, handle, HttpRefusal { status, why }, now);
                }
                match answer::media(&head.fields) {
                    Media::Json => self.read_on(wire, Reading::whole(status)),
                    Media::Events => {
                        let reading = self.events();
                        self.read_on(wire, reading);
                    }
                    Media::Other(_) if none || matches!(status, 202 | 204 | 205) => {
                        self.pass_by(wire);
                        self.call_ended(handle, ExchangeEnd::Finished, now);
                    }
                    Media::Other(name) => {
                        let why = RefusedFor::ContentType(name);
                        self.refused(wire, handle, HttpRefusal { status, why }, now);
                    }
                }
            }
            401 | 403 => {
                let challenge = answer::challenge(head);
                self.read_on(wire, Reading::Challenge { challenge, content: Content::None });
            }
            404 if session.is_some() && !self.is_old() => {
                self.pass_by(wire);
                self.session_lost(handle, session.unwrap_or_default(), now);
            }
            _ if answer::media(&head.fields) == Media::Json && answer::coding(&head.fields).is_none() => {
                self.read_on(wire, Reading::whole(status));
            }
            _ => self.refused(wire, handle, HttpRefusal::new(status), now),
        }
    }

    fn may_refetch(&self) -> bool {
        self.session.revision().is_some_and(|revision| revision.era() == Era::Modern)
    }

    /// The answer cannot be used. What is left of it passes by.
    pub(super) fn refused(
        &mut self,
        wire: HttpHandle,
        handle: ExchangeHandle,
        refusal: HttpRefusal,
        now: Instant,
    ) {
        self.pass_by(wire);
        if !self.falls_back(handle, refusal.status, None) {
            self.call_ended(handle, ExchangeEnd::Refused(refusal), now);
        }
    }

    /// The content of an answer is whole, or as much of it as there will be: `broken` says why there is no more.
    pub(super) fn whole(
        &mut self,
        handle: ExchangeHandle,
        status: u16,
        content: Content,
        broken: Option<ExchangeEnd>,
        now: Instant,
    ) {
        let success = matches!(status, 200..=299);
        if let Some(broken) = broken {
            let end = if success { broken } else { ExchangeEnd::Refused(HttpRefusal::new(status)) };
            return self.call_ended(handle, end, now);
        }
        let none = self.calls.get(handle).is_none_or(|call| call.exchange.reply == ReplyForm::None);
        let frame = content.into_frame();
        if !success {
            return self.refusal_in_words(handle, status, frame, now);
        }
        match frame {
            // There is nothing that it could belong to, but it may be worth telling.
            Some(Frame::Message(frame)) if none && !is_message(&frame) => {}
            Some(frame) => self.deliver(handle, frame, true, now),
            None => {}
        }
        if self.calls.get(handle).is_some_and(|call| matches!(call.place, Place::On(_))) {
            self.call_ended(handle, ExchangeEnd::Finished, now);
        }
    }

    /// A refusal with JSON in it: an error of JSON-RPC is the answer, whatever id it carries.
    fn refusal_in_words(&mut self, handle: ExchangeHandle, status: u16, frame: Option<Frame>, now: Instant) {
        let depth = self.session.config().limits.max_json_depth;
        let parsed = match &frame {
            Some(Frame::Message(frame)) => jsonrpc::parse(frame.clone(), depth).ok(),
            Some(Frame::TooLong { .. }) | None => None,
        };
        let refusal = HttpRefusal::new(status);
        let (Some(Message::Error { error, .. }), Some(Frame::Message(frame))) = (parsed, frame) else {
            if !self.falls_back(handle, status, None) {
                self.call_ended(handle, ExchangeEnd::Refused(refusal), now);
            }
            return;
        };
        let probe = self
            .calls
            .get(handle)
            .is_some_and(|call| call.exchange.facts.method == Some(Method::ServerDiscover))
            && self.session.is_opening();
        // Redirects, sizes, load and failures say nothing of an era, unless in a modern word.
        if probe && says_nothing(status) && !codes::is_modern(error.code) {
            return self.call_ended(handle, ExchangeEnd::Refused(refusal), now);
        }
        if !self.falls_back(handle, status, Some(&error))
            && !self.refetches(handle, &frame, Standing::Refusal)
            && !self.asks_another(handle, &frame, Standing::Refusal)
        {
            self.answer_by_error(handle, frame, now);
        }
    }

    /// A request was refused for its version, and the version is among those that are named: several servers stand
    /// behind the address, and one of them knows it. Nothing was done, so it is sent once more. Says whether that is so.
    ///
    /// Spec: MCP 2026-07-28 basic/versioning, "Unsupported Versions".
    fn asks_another(&mut self, handle: ExchangeHandle, frame: &Bytes, standing: Standing) -> bool {
        let Some(revision) = self.session.revision().filter(|revision| revision.era() == Era::Modern) else {
            return false;
        };
        let may = self.calls.get(handle).is_some_and(|call| !call.again && !call.exchange.message.is_empty());
        if !may || memchr::memmem::find(frame, b"-32022").is_none() || !self.session.awaits(handle) {
            return false;
        }
        let depth = self.session.config().limits.max_json_depth;
        let Ok(Message::Error { id, error }) = jsonrpc::parse(frame.clone(), depth) else { return false };
        let supported = error.data.as_ref().and_then(|data| data.view().get("supported"));
        let names_it = supported.is_some_and(|all| {
            all.kind() == Kind::Array
                && all.elements().any(|one| one.str().is_some_and(|one| one.eq_str(revision.as_str())))
        });
        if error.code != codes::UNSUPPORTED_VERSION || !names_it || !standing.answers(handle, id.as_ref()) {
            return false;
        }
        let Some(call) = self.calls.remove(handle) else { return false };
        if let Place::On(wire) = call.place {
            self.pass_by(wire);
        }
        if let Some(exchange) = self.session.send_again(&call.exchange) {
            self.start(exchange, true);
        }
        true
    }

    /// The answer is this error, whatever id it carries.
    pub(super) fn answer_by_error(&mut self, handle: ExchangeHandle, frame: Bytes, now: Instant) {
        let depth = self.session.config().limits.max_json_depth;
        if let Ok(Message::Error { error, .. }) = jsonrpc::parse(frame, depth) {
            self.session.handle_error_of(handle, error, now);
        }
        self.call_over(handle);
    }

    /// A message came in the answer to an exchange. `only`: it is all there is in it.
    pub(super) fn deliver(&mut self, handle: ExchangeHandle, frame: Frame, only: bool, now: Instant) {
        let frame = match frame {
            Frame::Message(frame) => {
                let standing = if only { Standing::Alone } else { Standing::Among };
                if self.refetches(handle, &frame, standing) || self.asks_another(handle, &frame, standing) {
                    return;
                }
                let frame = self.sift(handle, frame);
                if only && self.is_error_without_id(&frame) {
                    return self.answer_by_error(handle, frame, now);
                }
                Frame::Message(frame)
            }
            long @ Frame::TooLong { .. } => long,
        };
        self.session.handle_message(Origin::Exchange(handle), frame, now);
        if handle.request_id().is_some() && !self.session.awaits(handle) {
            self.call_over(handle);
        }
    }

    /// An error that names no request, alone in an answer, can only mean the request.
    fn is_error_without_id(&self, frame: &Bytes) -> bool {
        // An answer of ours that names no id is rare and short: most are not read twice.
        if frame.len() > 64 * 1024 || memchr::memmem::find(frame, b"\"error\"").is_none() {
            return false;
        }
        let depth = self.session.config().limits.max_json_depth;
        matches!(jsonrpc::parse(frame.clone(), depth), Ok(Message::Error { id: None, .. }))
    }

    /// What a challenge says is there, or as much of it as is kept.
    pub(super) fn challenged(
        &mut self,
        role: Role,
        mut challenge: Challenge,
        content: &Content,
        now: Instant,
    ) {
        let depth = self.session.config().limits.max_json_depth;
        let text = content.as_slice();
        let error = jsonrpc::parse(Bytes::copy_from_slice(text), depth);
        challenge.message = match &error {
            Ok(Message::Error { error, .. }) => Some(answer::cut(&error.message, MESSAGE_BYTES).into()),
            _ => answer::bounded_text(text, MESSAGE_BYTES),
        };
        if let Role::Call(handle) = role {
            self.call_ended(handle, ExchangeEnd::Challenged(challenge), now);
        }
    }

    /// Whether enough of a challenge's content is there.
    pub(super) fn is_enough(content: &Content) -> bool {
        content.as_slice().len() >= 4 * MESSAGE_BYTES || matches!(content, Content::Skipped(..))
    }

    /// An exchange is answered: nothing more is wanted of it.
    fn call_over(&mut self, handle: ExchangeHandle) {
        if let Some(call) = self.calls.remove(handle)
            && let Place::On(wire) = call.place
        {
            self.pass_by(wire);
        }
    }

    /// An exchange is over without an answer.
    pub(super) fn call_ended(&mut self, handle: ExchangeHandle, end: ExchangeEnd, now: Instant) {
        let Some(call) = self.calls.remove(handle) else { return };
        let method = call.exchange.facts.method;
        if call.exchange.reply == ReplyForm::None {
            let status = match &end {
                ExchangeEnd::Refused(refusal) => Some(refusal.status),
                ExchangeEnd::Challenged(challenge) => Some(challenge.status),
                ExchangeEnd::SessionGone => Some(404),
                ExchangeEnd::Finished
                | ExchangeEnd::Broken
                | ExchangeEnd::Faulty(_)
                | ExchangeEnd::Unreachable => None,
            };
            if let Some(status) = status {
                self.session.tell(Violation::NotTaken { method: method.map(Method::bounded), status });
            }
            return self.initialized(handle, now);
        }
        if end == ExchangeEnd::Finished
            && self.session.awaits(handle)
            && let Some(method) = method
        {
            self.session.tell(Violation::Unanswered { method: method.bounded() });
        }
        self.session.handle_end(handle, end, now);
    }
}

/// Statuses that say nothing of an era.
const fn says_nothing(status: u16) -> bool {
    matches!(status, 300..=399 | 406 | 413 | 415 | 429 | 431 | 500..)
}

/// Whether content that nobody waits for looks like a message.
fn is_message(frame: &[u8]) -> bool {
    frame.starts_with(b"[") && frame.len() > 2 || memchr::memmem::find(frame, b"\"jsonrpc\"").is_some()
}
