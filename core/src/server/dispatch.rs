//! What the client sends: which era a message belongs to, and who answers it.
//!
//! | a request | is answered |
//! |---|---|
//! | with a version in `_meta` | by itself, whatever came before on the stream |
//! | `initialize` without one | by opening the one legacy session |
//! | without one, in the legacy session | by the revision that was negotiated |
//! | `ping` without one, before any session | all the same |
//! | anything else | with -32602 |
//!
//! Spec: MCP 2026-07-28 basic/versioning; 2025-11-25 basic/lifecycle.

use alloc::boxed::Box;

use bytes::Bytes;

use crate::error::Violation;
use crate::exchange::{ExchangeHandle, HeadFacts, Origin};
use crate::frame::Frame;
use crate::jsonrpc::{self, Fault, FaultKind, JsonRef, Kind, Message, RawJson, RequestId};
use crate::mcp::{Era, Method, Revision, codes};
use crate::server::calls::Asker;
use crate::server::event::{CloseReason, Event, Principal};
use crate::server::head::Head;
use crate::server::incoming::{Read, first_byte, named, read};
use crate::server::params::{Params, Places};
use crate::server::requests::Open;
use crate::server::session::{Phase, Session, error_message};
use crate::time::Instant;

/// How much of a text for people is kept.
const TEXT_BYTES: usize = 256;

/// A request being judged.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) from: Origin,
    pub(super) principal: Principal,
    pub(super) id: RequestId,
    pub(super) method: Method,
    /// An object; empty if there was none.
    pub(super) params: RawJson,
}

impl Session {
    /// A frame came from `from`, on behalf of `principal`. `facts` are what the transport's head said of it, where
    /// there is one: they have to agree with the message.
    ///
    /// Nothing in it can fail or panic the session. A request gets one answer, sooner or later; what is no message gets
    /// one error.
    pub fn handle_message(
        &mut self,
        from: Origin,
        facts: Option<HeadFacts>,
        principal: Principal,
        frame: Frame,
        now: Instant,
    ) {
        let now = self.clock.advance(now);
        if matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        if from == Origin::Stream {
            self.heard(now);
        }
        let facts = facts.as_ref().map(|facts| facts as &dyn Head);
        match frame {
            Frame::Message(bytes) => {
                if first_byte(&bytes) == Some(b'[') && self.takes_batches(&principal) {
                    return self.batch(from, &principal, bytes, now);
                }
                let mut places = Places::default();
                let read = read(bytes, self.config.limits.max_json_depth, &mut places);
                self.take(from, facts, principal, read, &places, now);
            }
            Frame::TooLong { id, has_method, len } => {
                self.too_long(from, &principal, id, has_method, len);
            }
        }
    }

    /// What [`handle_message`](Self::handle_message) does with a message that was read, for a link that looks into it
    /// first. `places` are those of its parameters.
    pub(crate) fn handle_read(
        &mut self,
        from: Origin,
        head: Option<&dyn Head>,
        principal: Principal,
        read: Read,
        places: &Places,
        now: Instant,
    ) {
        let now = self.clock.advance(now);
        if !matches!(self.phase, Phase::Closed(_)) {
            self.take(from, head, principal, read, places, now);
        }
    }

    #[inline]
    fn take(
        &mut self,
        from: Origin,
        head: Option<&dyn Head>,
        principal: Principal,
        read: Read,
        places: &Places,
        now: Instant,
    ) {
        match read {
            Read::Request { id, method, params } => {
                self.junk_in_row = 0;
                self.request(head, Asked { from, principal, id, method, params }, places);
            }
            Read::Message(message) => self.message(from, principal, message, now),
            Read::Fault(fault) => self.fault(from, &principal, fault),
        }
    }

    fn takes_batches(&self, principal: &Principal) -> bool {
        self.legacy_for(principal).is_some_and(Revision::has_batches)
    }

    /// The revision of the legacy session, where it is this principal's.
    pub(super) fn legacy_for(&self, principal: &Principal) -> Option<Revision> {
        self.legacy.as_ref().filter(|legacy| legacy.principal == *principal).map(|legacy| legacy.revision)
    }

    fn batch(&mut self, from: Origin, principal: &Principal, frame: Bytes, now: Instant) {
        let limits = &self.config.limits;
        let batch = match jsonrpc::parse_batch(frame, limits.max_json_depth) {
            Ok(batch) => batch,
            Err(fault) => return self.fault(from, principal, fault),
        };
        // One frame must not make more events and answers than the queues are meant to hold.
        let limit = limits.max_queued_events;
        if batch.left() > limit {
            self.refuse_line(from, None, codes::INVALID_REQUEST, "the batch is too long");
            return self.violation(Violation::BatchTooLong { limit });
        }
        self.in_batch = Some(from);
        for element in batch {
            if matches!(self.phase, Phase::Closed(_)) {
                break;
            }
            match element {
                Ok(message) => self.message(from, principal.clone(), message, now),
                Err(fault) => self.fault(from, principal, fault),
            }
        }
        self.end_batch(from);
    }

    /// A message that is no request, or one of a batch.
    fn message(&mut self, from: Origin, principal: Principal, message: Message, now: Instant) {
        self.junk_in_row = 0;
        match message {
            Message::Request { id, method, params } => {
                let method = named(&method);
                let params = params.unwrap_or_else(RawJson::empty_object);
                let places = Places::of(&params);
                self.request(None, Asked { from, principal, id, method, params }, &places);
            }
            Message::Notification { method, params } => {
                let method = named(&method);
                self.notification(from, &principal, method, params, now);
                self.end_exchange(from, 202);
            }
            Message::Result { id, result } => {
                let known = self.peer_answered(&principal, &id, Ok(result));
                self.end_exchange(from, if known { 202 } else { 400 });
            }
            Message::Error { id: Some(id), error } => {
                let known = self.peer_answered(&principal, &id, Err(error));
                self.end_exchange(from, if known { 202 } else { 400 });
            }
            Message::Error { id: None, error } => {
                self.violation(Violation::UnattributedError { code: error.code });
                self.end_exchange(from, 400);
            }
        }
    }

    fn request(&mut self, head: Option<&dyn Head>, asked: Asked, places: &Places) {
        if matches!(self.phase, Phase::Draining(..)) {
            return self.refuse(&asked, codes::INTERNAL_ERROR, "the server is shutting down", None);
        }
        if self.in_batch.is_some() && self.outbound_full() {
            return self.refuse(&asked, codes::INTERNAL_ERROR, "too much waits to be written", None);
        }
        if self.is_open(asked.from, &asked.id) {
            self.refuse(&asked, codes::INVALID_REQUEST, "a request with this id is open already", None);
            return self.violation(Violation::DuplicateId { id: asked.id });
        }
        if let Some(asker) = self.judge(head, &asked, &Params::new(&asked.params, places)) {
            self.admit(head, asked, places, asker);
        }
    }

    /// Answers a request, or says who asks, if it is for the application to answer.
    fn judge(&mut self, head: Option<&dyn Head>, asked: &Asked, params: &Params<'_>) -> Option<Asker> {
        let version = params.meta_version();
        let only_modern = || self.config.newest(Era::Legacy).is_none();
        let modern = version.is_some() || head.is_some_and(|head| head.is_modern() || only_modern());
        if modern && let Some(lacking) = head.and_then(|head| head.lacks(&asked.method)) {
            self.refuse_head(asked, lacking);
            return None;
        }
        if let Some(version) = version {
            return self.modern(head, asked, params, version);
        }
        if modern {
            self.refuse_missing_meta(asked);
            return None;
        }
        if asked.method == Method::Initialize {
            self.initialize(asked, params);
            return None;
        }
        match self.legacy_for(&asked.principal) {
            Some(revision) => return self.in_session(asked, params, revision),
            None if asked.method == Method::Ping && self.config.newest(Era::Legacy).is_some() => {
                self.pong(asked);
            }
            None => self.refuse_missing_meta(asked),
        }
        None
    }

    fn refuse_missing_meta(&mut self, asked: &Asked) {
        let message = "_meta needs io.modelcontextprotocol/protocolVersion and clientCapabilities, \
                       or initialize first";
        self.refuse_with(asked, codes::INVALID_PARAMS, message, None, 400);
    }

    fn is_open(&self, from: Origin, id: &RequestId) -> bool {
        // On an exchange of its own a request is alone, unless it is one of a batch.
        let alone = from != Origin::Stream && self.in_batch.is_none();
        let listens = || self.listens.iter().any(|listen| listen.origin == from && listen.id == *id);
        self.requests.find(from, id).is_some() || !alone && listens()
    }

    /// `subscriptions/listen` and `notifications/cancelled` aside, a client tells little.
    fn notification(
        &mut self,
        from: Origin,
        principal: &Principal,
        method: Method,
        params: Option<RawJson>,
        now: Instant,
    ) {
        match method {
            Method::Cancelled => self.cancel(from, principal, params.as_ref(), now),
            Method::Initialized | Method::RootsListChanged if self.legacy_for(principal).is_some() => {
                if method == Method::Initialized
                    && let Some(legacy) = &mut self.legacy
                {
                    legacy.initialized = true;
                }
                self.events.push(Event::Notification { method, params });
            }
            _ => self.stats.dropped_notifications += 1,
        }
    }

    /// A cancel ends what it names, however far that is; one that names nothing open is dropped.
    ///
    /// Spec: MCP basic/utilities/cancellation.
    fn cancel(&mut self, from: Origin, principal: &Principal, params: Option<&RawJson>, now: Instant) {
        let view = params.map(RawJson::view);
        let id = view.and_then(|view| view.get("requestId")).and_then(|id| RequestId::parse(id).ok());
        let Some(id) = id else {
            self.stats.dropped_notifications += 1;
            return;
        };
        let named = self.requests.find(from, &id).or_else(|| {
            // Where each exchange has a stream of its own, a cancel comes on another than the request. Only a
            // session has ids that mean something there, and only those of its own requests.
            let elsewhere = from != Origin::Stream && self.legacy_for(principal).is_some();
            let of_session = |open: &Open| open.revision.era() == Era::Legacy && open.principal == *principal;
            self.requests.find_anywhere(&id, of_session).filter(|_| elsewhere)
        });
        let own = |handle: &u64| self.requests.get(*handle).is_some_and(|open| open.principal == *principal);
        if let Some(handle) = named.filter(own) {
            let reason = view.and_then(|view| view.get("reason")).and_then(JsonRef::str);
            let reason = reason.map(|text| cut(&text.decode()).into());
            return self.cancelled(handle, reason, now);
        }
        let gone = self
            .unlisten(|listen| listen.origin == from && listen.id == id && listen.principal == *principal);
        if gone.is_none() {
            self.stats.dropped_notifications += 1;
        }
    }

    /// The stream of one exchange was closed by the client. Under 2026-07-28 that cancels what it asked there; in a
    /// legacy session it does not.
    ///
    /// Spec: MCP 2026-07-28 basic/patterns/cancellation; 2025-11-25 basic/transports.
    pub fn handle_abort(&mut self, exchange: ExchangeHandle, now: Instant) {
        let now = self.clock.advance(now);
        let origin = Origin::Exchange(exchange);
        let modern = |open: &Open| open.revision.era() == Era::Modern;
        while let Some(handle) = self.requests.find_on(origin, modern) {
            self.cancelled(handle, None, now);
        }
        while self.unlisten(|listen| listen.origin == origin).is_some() {}
    }

    /// A line that is no message. A request's sender is told, a notification's is not; an answer ends what it
    /// answers.
    fn fault(&mut self, from: Origin, principal: &Principal, fault: Fault) {
        self.junk_in_row = self.junk_in_row.saturating_add(1);
        let id = fault.id.clone();
        let answers = matches!(
            fault.kind,
            FaultKind::BothResultAndError | FaultKind::ResultWithoutId | FaultKind::ErrorMalformed(_)
        );
        if answers
            && let Some(id) = &id
            && self.peer_answer_unusable(principal, id, Violation::Malformed(fault.clone()))
        {
            return self.end_exchange(from, 202);
        }
        let unanswered = answers
            || fault.has_method && !fault.has_id
            || matches!(fault.kind, FaultKind::BadId(_)) && !fault.has_method;
        let (id, code, message) = match &fault.kind {
            FaultKind::NotJson(_) | FaultKind::NotUtf8 => (None, codes::PARSE_ERROR, "not JSON"),
            FaultKind::TooDeep => (id, codes::INVALID_REQUEST, "nested too deeply"),
            FaultKind::Batch => (None, codes::INVALID_REQUEST, "batches are not supported"),
            FaultKind::EmptyBatch => (None, codes::INVALID_REQUEST, "an empty batch"),
            FaultKind::ParamsNotStructured(_) => (id, codes::INVALID_PARAMS, "params must be an object"),
            _ => (id, codes::INVALID_REQUEST, "not a JSON-RPC 2.0 message"),
        };
        let broken_off = matches!(fault.kind, FaultKind::NotJson(_) | FaultKind::NotUtf8);
        if unanswered && !broken_off {
            self.end_exchange(from, 400);
        } else {
            self.refuse_line(from, id.as_ref(), code, message);
        }
        let batch = fault.kind == FaultKind::Batch;
        let violation = if batch { Violation::Batch } else { Violation::Malformed(fault) };
        if !self.shared && self.junk_in_row > self.config.limits.max_junk_lines {
            return self.finish(CloseReason::Protocol(violation));
        }
        self.violation(violation);
    }

    /// A message that was skipped because of its length.
    fn too_long(
        &mut self,
        from: Origin,
        principal: &Principal,
        id: Option<RequestId>,
        has_method: bool,
        len: u64,
    ) {
        let limit = self.config.limits.max_message_bytes;
        match id {
            Some(id) if !has_method && self.peer_answer_too_long(principal, &id, len, limit) => {
                return self.end_exchange(from, 202);
            }
            Some(id) if has_method => {
                self.refuse_line(from, Some(&id), codes::INVALID_REQUEST, "the message is too long");
            }
            _ => self.end_exchange(from, 400),
        }
        self.violation(Violation::MessageTooLong { len, limit });
    }

    pub(super) fn refuse_line(&mut self, from: Origin, id: Option<&RequestId>, code: i64, message: &str) {
        self.stats.refused += 1;
        self.answer(from, error_message(id, code, message, None), 400);
    }

    /// Refuses a request.
    pub(super) fn refuse(&mut self, asked: &Asked, code: i64, message: &str, data: Option<&RawJson>) {
        self.refuse_with(asked, code, message, data, 200);
    }

    pub(super) fn refuse_with(
        &mut self,
        asked: &Asked,
        code: i64,
        message: &str,
        data: Option<&RawJson>,
        status: u16,
    ) {
        self.stats.refused += 1;
        let message = error_message(Some(&asked.id), code, message, data.map(RawJson::view));
        self.answer(asked.from, message, status);
    }

    /// Answers a request with a result of the session's own making.
    pub(super) fn answer_own(&mut self, asked: &Asked, message: alloc::vec::Vec<u8>) {
        self.stats.answered += 1;
        self.answer(asked.from, message, 200);
    }
}

/// What is for people to read: 256 bytes are enough.
pub(super) fn cut(text: &str) -> &str {
    let mut end = text.len().min(TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The text of a member that must be one.
pub(super) fn text(value: Option<JsonRef<'_>>) -> Option<alloc::borrow::Cow<'_, str>> {
    value.filter(|value| value.kind() == Kind::String).and_then(JsonRef::str).map(|text| text.decode())
}

/// A bounded copy of a name of the client's, for an error's text.
pub(super) fn bounded(name: &str) -> Box<str> {
    name.chars().take(64).collect()
}
