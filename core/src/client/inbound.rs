//! What the server sends: answers, notifications, requests, and everything that is none of these.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::client::era::Reply;
use crate::client::event::{Event, Outcome, Progress, RequestHandle};
use crate::client::input::InputRequired;
use crate::client::requests::{Open, Owner, Timer};
use crate::client::session::{Phase, Session};
use crate::error::{CloseReason, Violation};
use crate::exchange::Origin;
use crate::frame::Frame;
use crate::jsonrpc::{self, ErrorObject, Fault, FaultKind, JsonRef, Kind, Message, RawJson, RequestId};
use crate::mcp::legality::{self, Sender};
use crate::mcp::{Era, Method, Revision, codes, meta};
use crate::time::Instant;

/// How much of the first junk line is kept.
const JUNK_BYTES: usize = 120;
/// How long a progress message may be.
const PROGRESS_TEXT: usize = 4096;

impl Session {
    /// A frame came from `from`.
    ///
    /// Nothing in it can fail or panic the session: what is wrong with it is one [`Event::Violation`], or the
    /// end of the one call that it answers.
    pub fn handle_message(&mut self, from: Origin, frame: Frame, now: Instant) {
        let now = self.clock.advance(now);
        if matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        self.frame(from, frame, now);
        if let Some(violation) = self.last_straw.take() {
            self.finish(CloseReason::Protocol(violation));
        }
    }

    fn frame(&mut self, from: Origin, frame: Frame, now: Instant) {
        match frame {
            Frame::Message(bytes) => {
                let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace()).copied();
                if first == Some(b'[') && self.takes_batches() {
                    return self.batch(from, bytes, now);
                }
                if first != Some(b'{') && self.stats.first_junk.is_empty() {
                    self.stats.first_junk =
                        Vec::from(bytes.get(..bytes.len().min(JUNK_BYTES)).unwrap_or_default());
                }
                match jsonrpc::parse(bytes, self.config.limits.max_json_depth) {
                    Ok(message) => self.message(from, message, now),
                    Err(fault) => self.fault(from, fault, now),
                }
            }
            Frame::TooLong { id, has_method, len } => self.too_long(from, id, has_method, len, now),
        }
    }

    fn takes_batches(&self) -> bool {
        self.revision().is_some_and(Revision::has_batches)
    }

    fn batch(&mut self, from: Origin, frame: bytes::Bytes, now: Instant) {
        let depth = self.config.limits.max_json_depth;
        let batch = match jsonrpc::parse_batch(frame, depth) {
            Ok(batch) => batch,
            Err(fault) => return self.fault(from, fault, now),
        };
        // One frame must not make more events and answers than the queues are meant to hold.
        let limit = self.config.limits.max_queued_events;
        let mut dropped = false;
        for (n, element) in batch.enumerate() {
            if matches!(self.phase, Phase::Closed(_)) || self.last_straw.is_some() {
                return;
            }
            if n >= limit && !element.as_ref().is_ok_and(|message| self.answers_open(message)) {
                dropped = true;
                continue;
            }
            match element {
                Ok(message) => self.message(from, message, now),
                Err(fault) => self.fault(from, fault, now),
            }
        }
        if dropped {
            self.violation(Violation::BatchTooLong { limit });
        }
    }

    fn answers_open(&self, message: &Message) -> bool {
        let (Message::Result { id, .. } | Message::Error { id: Some(id), .. }) = message else {
            return false;
        };
        self.is_open(id)
    }

    fn message(&mut self, from: Origin, message: Message, now: Instant) {
        match message {
            Message::Result { id, result } => self.result(from, &id, result, now),
            Message::Error { id: Some(id), error } => self.error(from, &id, error, now),
            Message::Error { id: None, error } => self.unattributed(error, now),
            Message::Request { id, method, params } => {
                let method = Method::from_name(method.as_str());
                self.peer_request(from, id, method, params, now);
            }
            Message::Notification { method, params } => {
                let method = Method::from_name(method.as_str());
                self.notification(method, params, now);
            }
        }
    }

    /// The number that `id` is, or that it spells where that is allowed.
    fn number_of(&self, id: &RequestId) -> Option<u64> {
        let spelled = || id.as_str().filter(|_| self.config.lenient_ids).and_then(canonical);
        id.as_i64().and_then(|id| u64::try_from(id).ok()).or_else(spelled)
    }

    /// Whether `id` names a request that is open.
    fn is_open(&self, id: &RequestId) -> bool {
        self.number_of(id).is_some_and(|number| self.requests.contains(number))
    }

    /// The open request that `id` answers, taken out of the table.
    fn claim(&mut self, from: Origin, id: &RequestId) -> Option<Open> {
        if let Some(number) = self.number_of(id) {
            let right_stream = |open: &Open| match from {
                Origin::Exchange(exchange) => open.exchange == exchange,
                Origin::Stream | Origin::Push => true,
            };
            if self.requests.get_mut(number).is_some_and(|open| right_stream(open)) {
                return self.requests.remove(number);
            }
            if self.requests.was_used(number) && !self.requests.contains(number) {
                self.stats.late_responses += 1;
                return None;
            }
        }
        let twin = id.as_str().and_then(canonical).and_then(|id| self.requests.get_mut(id));
        let type_differs = twin.is_some();
        if let Some(open) = twin {
            open.mistyped_reply = true;
        }
        self.violation(Violation::UnknownResponseId { id: id.clone(), type_differs });
        None
    }

    fn result(&mut self, from: Origin, id: &RequestId, result: RawJson, now: Instant) {
        let Some(open) = self.claim(from, id) else { return };
        let Owner::Application(request) = open.owner else {
            return self.opening_answered(open.owner, Reply::Result(result), now);
        };
        let outcome = self.judge(open, result);
        self.events.push(Event::Finished { request, outcome });
    }

    /// What a result means.
    fn judge(&mut self, open: Open, result: RawJson) -> Outcome {
        let kind = result.view().kind();
        let result = match kind {
            Kind::Object => result,
            Kind::Array if result.view().elements().next().is_none() => {
                self.tell_empty_array();
                RawJson::empty_object()
            }
            Kind::Array | Kind::Null | Kind::Bool | Kind::Number | Kind::String => {
                return Outcome::Invalid(Violation::BadResult {
                    method: open.method,
                    why: "it is no object",
                });
            }
        };
        if self.revision().map(Revision::era) != Some(Era::Modern) {
            return Outcome::Complete(result);
        }
        let Some(value) = result.view().get("resultType") else {
            if !self.told.result_type {
                self.told.result_type = true;
                self.violation(Violation::MissingResultType);
            }
            return Outcome::Complete(result);
        };
        let Some(name) = value.str() else {
            let why = "resultType is no string";
            return Outcome::Invalid(Violation::BadResult { method: open.method, why });
        };
        if name.eq_str("complete") {
            return Outcome::Complete(result);
        }
        if !name.eq_str("input_required") {
            let name: String = name.decode().chars().take(64).collect();
            return Outcome::Invalid(Violation::UnknownResultType { name: name.into() });
        }
        if !open.method.takes_input_rounds() {
            let why = "this method takes no input_required result";
            return Outcome::Invalid(Violation::BadResult { method: open.method, why });
        }
        let method = open.method.clone();
        let params = open.params.unwrap_or_else(RawJson::empty_object);
        match InputRequired::read(&result, open.method, params, open.round + 1, open.partition) {
            Ok(input) => Outcome::InputRequired(Box::new(input)),
            Err(why) => Outcome::Invalid(Violation::BadResult { method, why }),
        }
    }

    pub(super) fn tell_empty_array(&mut self) {
        if !self.told.empty_array {
            self.told.empty_array = true;
            self.violation(Violation::EmptyArrayAsObject);
        }
    }

    fn error(&mut self, from: Origin, id: &RequestId, error: ErrorObject, now: Instant) {
        let Some(open) = self.claim(from, id) else { return };
        match open.owner {
            Owner::Application(request) => {
                self.events.push(Event::Finished { request, outcome: Outcome::Error(error) });
            }
            Owner::Probe | Owner::Initialize => {
                self.opening_answered(open.owner, Reply::Error(error), now);
            }
        }
    }

    /// An error that names no request: while nothing but the probe is open it can only mean that.
    fn unattributed(&mut self, error: ErrorObject, now: Instant) {
        let probe_only = match &self.phase {
            Phase::Opening(opening) => opening.only_probe_open(),
            Phase::Ready(_) | Phase::Closed(_) => false,
        };
        if probe_only && let Some(id) = self.requests.id_of_owner(Owner::Probe) {
            self.requests.remove(id);
            return self.opening_answered(Owner::Probe, Reply::Error(error), now);
        }
        self.violation(Violation::UnattributedError { code: error.code });
    }

    /// A line that is no message. If it can only be the answer to one call, that call ends with it.
    fn fault(&mut self, from: Origin, fault: Fault, now: Instant) {
        if !fault.has_method
            && let Some(id) = &fault.id
            && self.is_open(id)
        {
            let Some(open) = self.claim(from, id) else { return };
            return self.unusable_answer(&open, Violation::Malformed(fault), now);
        }
        self.stats.junk_lines += 1;
        let answerable = fault.has_method && !self.is_modern();
        let id = fault.id.clone().filter(|_| answerable);
        let bad_params = matches!(fault.kind, FaultKind::ParamsNotStructured(_));
        let code = if bad_params { codes::INVALID_PARAMS } else { codes::INVALID_REQUEST };
        if fault.kind == FaultKind::Batch {
            self.violation(Violation::Batch);
        } else {
            self.violation(Violation::Malformed(fault));
        }
        if let Some(id) = id {
            self.refuse(&id, code, "the request is malformed");
        }
    }

    /// A message that was skipped because of its length.
    fn too_long(&mut self, from: Origin, id: Option<RequestId>, has_method: bool, len: u64, now: Instant) {
        let limit = self.config.limits.max_message_bytes;
        if !has_method
            && let Some(id) = &id
            && self.is_open(id)
        {
            let Some(open) = self.claim(from, id) else { return };
            return self.unusable_answer(&open, Violation::MessageTooLong { len, limit }, now);
        }
        self.violation(Violation::MessageTooLong { len, limit });
        if let Some(id) = id.filter(|_| has_method && !self.is_modern()) {
            self.refuse(&id, codes::INVALID_REQUEST, "the request is longer than this client takes");
        }
    }

    fn unusable_answer(&mut self, open: &Open, why: Violation, now: Instant) {
        match open.owner {
            Owner::Application(request) => {
                let outcome = if let Violation::MessageTooLong { len, limit } = why {
                    Outcome::TooLarge { len, limit }
                } else {
                    Outcome::Invalid(why)
                };
                self.events.push(Event::Finished { request, outcome });
            }
            Owner::Probe | Owner::Initialize => {
                self.opening_unusable(open.owner, CloseReason::Protocol(why), now);
            }
        }
    }

    pub(super) fn is_modern(&self) -> bool {
        self.revision().is_some_and(|revision| revision.era() == Era::Modern)
    }

    fn notification(&mut self, method: Method, params: Option<RawJson>, now: Instant) {
        if method == Method::Progress {
            return self.progress(params.as_ref(), now);
        }
        if method == Method::Cancelled {
            return self.peer_cancelled(params.as_ref());
        }
        let known = !matches!(method, Method::Other(_));
        let Some(revision) = self.revision().filter(|_| known) else {
            self.stats.dropped_notifications += 1;
            return;
        };
        // A request's method without an id is no notification that anyone could use.
        if !method.is_notification() || !legality::legal(revision, Sender::Server, &method) {
            self.stats.dropped_notifications += 1;
            return self.violation(Violation::WrongDirection { method: method.bounded() });
        }
        let mut subscription = None;
        if revision.era() == Era::Modern && method != Method::LogMessage {
            match subscription_id(params.as_ref()) {
                Some(id) => match self.subscription(id) {
                    Some(request) => subscription = Some(request),
                    None => {
                        self.stats.dropped_notifications += 1;
                        return;
                    }
                },
                None if self.told.untagged => {}
                None => {
                    self.told.untagged = true;
                    self.violation(Violation::UntaggedNotification { method: method.clone() });
                }
            }
        }
        self.events.push(Event::Notification { subscription, method, params });
    }

    fn subscription(&mut self, id: u64) -> Option<RequestHandle> {
        let open = self.requests.get_mut(id)?;
        match open.owner {
            Owner::Application(request) if open.method == Method::SubscriptionsListen => Some(request),
            Owner::Application(_) | Owner::Probe | Owner::Initialize => None,
        }
    }

    fn progress(&mut self, params: Option<&RawJson>, now: Instant) {
        let Some(report) = params.and_then(|params| Report::read(params.view())) else {
            self.stats.dropped_notifications += 1;
            return;
        };
        let Some(open) = self.requests.get_mut(report.token) else {
            self.stats.dropped_notifications += 1;
            return;
        };
        let Owner::Application(request) = open.owner else { return };
        // A report that does not grow breaks the rule, and must not keep a call alive.
        if report.progress.progress <= open.progress {
            self.stats.dropped_notifications += 1;
            return;
        }
        open.progress = report.progress.progress;
        open.idle = open.idle.map(|idle| Timer::start(idle.limit, now));
        self.events.push(Event::Progress { request, progress: report.progress });
    }

    /// `notifications/cancelled`: a request of the server's is withdrawn (legacy), or a listen stream is ended
    /// (modern).
    fn peer_cancelled(&mut self, params: Option<&RawJson>) {
        let id = params.and_then(|params| params.view().get("requestId"));
        let Some(id) = id.and_then(|id| RequestId::parse(id).ok()) else {
            self.stats.dropped_notifications += 1;
            return;
        };
        if !self.is_modern() {
            match self.peer_requests.withdraw(&id) {
                Some(handle) => self.events.push(Event::PeerRequestEnded { handle }),
                None => self.stats.dropped_notifications += 1,
            }
            return;
        }
        let id = id.as_i64().and_then(|id| u64::try_from(id).ok());
        let Some((id, request)) = id.and_then(|id| self.subscription(id).map(|request| (id, request))) else {
            self.stats.dropped_notifications += 1;
            return;
        };
        self.requests.remove(id);
        let outcome = Outcome::Complete(RawJson::empty_object());
        self.events.push(Event::Finished { request, outcome });
    }
}

/// The number a string spells, if it spells it the one way we would.
fn canonical(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    plain.then_some(number)
}

/// `_meta["io.modelcontextprotocol/subscriptionId"]`, where it is one of our ids.
fn subscription_id(params: Option<&RawJson>) -> Option<u64> {
    params?.view().get("_meta")?.get(meta::SUBSCRIPTION_ID)?.as_u64()
}

struct Report {
    token: u64,
    progress: Progress,
}

impl Report {
    /// `None`: unusable.
    fn read(params: JsonRef<'_>) -> Option<Self> {
        let number = |name| params.get(name).filter(|value| !value.is_null());
        let progress = number("progress")?.as_f64().filter(|progress| progress.is_finite())?;
        let message = params.get("message").and_then(JsonRef::str).map(|text| {
            let text = text.decode();
            let mut end = text.len().min(PROGRESS_TEXT);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            // A copy of what is kept: a text that is cut short keeps the room of the whole.
            String::from(text.get(..end).unwrap_or_default())
        });
        Some(Self {
            token: params.get("progressToken")?.as_u64()?,
            progress: Progress { progress, total: number("total").and_then(JsonRef::as_f64), message },
        })
    }
}
