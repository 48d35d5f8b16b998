//! The client session: what the application asks for, and how it is sent.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use bytes::Bytes;

use crate::client::config::{Config, RequestOptions};
use crate::client::encode::{self, Body};
use crate::client::event::{Event, Outcome, Peer, RequestHandle};
use crate::client::input::{InputAnswers, InputRequired};
use crate::client::opening::Opening;
use crate::client::peer_requests::PeerRequests;
use crate::client::queue::{Events, Stats};
use crate::client::requests::{Open, Owner, Requests, Timer};
use crate::error::{ApiError, CloseReason, ConfigError, Violation};
use crate::exchange::{Effect, Exchange, ExchangeEnd, ExchangeHandle, HeadFacts, Partition, ReplyForm};
use crate::jsonrpc::{Kind, RawJson};
use crate::mcp::legality::{self, Sender};
use crate::mcp::{Era, Method, Revision, meta};
use crate::time::{Instant, Monotonic, earliest};

/// A client's conversation with one server: era, handshake, open requests with their deadlines, progress,
/// cancellation, rounds of input, subscriptions, and what the server may ask.
///
/// Knows no transport. A link feeds it messages ([`handle_message`](Self::handle_message)) and carries out its
/// [`Effect`]s. All that is kept is bounded by [`Limits`](crate::limits::Limits).
#[derive(Debug)]
pub struct Session {
    pub(super) config: Config,
    pub(super) clock: Monotonic,
    pub(super) phase: Phase,
    pub(super) requests: Requests,
    pub(super) peer_requests: PeerRequests,
    pub(super) effects: VecDeque<Effect>,
    pub(super) events: Events,
    pub(super) stats: Stats,
    pub(super) told: Told,
    pub(super) violations_left: u32,
    /// The violation that was one too many. It ends the session as soon as the message it came with is dealt
    /// with, so that `Closed` is the last event.
    pub(super) last_straw: Option<Violation>,
    messages_out: u64,
    /// What `_meta` begins with in every request.
    meta_prefix: Vec<u8>,
}

/// Where the connection stands.
#[derive(Debug)]
pub(super) enum Phase {
    Opening(Box<Opening>),
    Ready(Revision),
    Closed(CloseReason),
}

/// Violations that are told once a connection.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) result_type: bool,
    pub(super) empty_array: bool,
    pub(super) untagged: bool,
}

impl Session {
    /// A session that begins at once: its first exchange is ready to be sent.
    ///
    /// `seed` is the session's only source of randomness.
    ///
    /// # Errors
    /// A limit is out of bounds; the error names it and its bounds.
    pub fn new(config: Config, seed: [u8; 32], now: Instant) -> Result<Self, ConfigError> {
        config.limits.check()?;
        // Nothing in a client session draws from it yet: ids count up, and no timer of a session needs jitter.
        let _ = seed;
        let violations_left = config.limits.violation_budget;
        let (opening, step) = Opening::start(&config, now);
        let mut session = Self {
            config,
            clock: Monotonic::new(now),
            phase: Phase::Opening(Box::new(opening)),
            requests: Requests::default(),
            peer_requests: PeerRequests::default(),
            effects: VecDeque::new(),
            events: Events::default(),
            stats: Stats::default(),
            told: Told::default(),
            violations_left,
            last_straw: None,
            messages_out: 0,
            meta_prefix: Vec::new(),
        };
        session.take_step(step, now);
        Ok(session)
    }

    /// The revision requests are made in; `None` before [`Event::Ready`].
    #[must_use]
    pub const fn revision(&self) -> Option<Revision> {
        match self.phase {
            Phase::Ready(revision) => Some(revision),
            Phase::Opening(_) | Phase::Closed(_) => None,
        }
    }

    /// Why the session ended, once it has.
    #[must_use]
    pub const fn close_reason(&self) -> Option<&CloseReason> {
        match &self.phase {
            Phase::Closed(reason) => Some(reason),
            Phase::Opening(_) | Phase::Ready(_) => None,
        }
    }

    /// What was counted and not told.
    #[must_use]
    pub const fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Requests of the application's that are open.
    #[must_use]
    pub const fn in_flight(&self) -> usize {
        self.requests.in_flight()
    }

    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Makes a request. `params` is an object without `_meta` (see [`RequestOptions::meta`]), or `None`.
    ///
    /// Encodes at once: O(`params`), one allocation and a copy. Gives exactly one [`Event::Finished`].
    ///
    /// # Errors
    /// [`ApiError::NotReady`] before [`Event::Ready`]; [`ApiError::BadParams`] if the parameters cannot be sent;
    /// [`ApiError::WrongEra`] if the negotiated revision has no such request; [`ApiError::TooManyInFlight`],
    /// [`ApiError::TooLarge`] at the limits; [`ApiError::Closed`] at the end. Nothing was sent then.
    ///
    /// Spec: MCP basic, "Requests"; JSON-RPC 2.0, section 4.
    pub fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        if let Some(params) = &params {
            check_params(params)?;
        }
        let body = params.as_ref().map_or(Body::Empty, Body::Object);
        self.send_request(method, body, options, 0, now)
    }

    /// Goes on with a call that asked for input: a new request with the same parameters, the answers, and the
    /// server's state echoed byte for byte.
    ///
    /// # Errors
    /// As [`request`](Self::request); [`ApiError::BadParams`] if a key is unanswered, unknown or answered with
    /// what its kind cannot carry; [`ApiError::TooManyRounds`] past
    /// [`Limits::max_input_rounds`](crate::limits::Limits::max_input_rounds). `from` is yours still.
    ///
    /// Spec: MCP 2026-07-28, multi-round requests.
    pub fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let limit = self.config.limits.max_input_rounds;
        if from.round > limit {
            return Err(ApiError::TooManyRounds { limit });
        }
        if let Some(revision) = self.revision().filter(|revision| revision.era() == Era::Legacy) {
            return Err(ApiError::WrongEra { method: from.method.clone(), revision });
        }
        let params = from.next_params(answers)?;
        let options = RequestOptions { partition: from.partition, ..options.clone() };
        let body = Body::Object(&params);
        let handle = self.send_request(from.method.clone(), body, &options, from.round, now)?;
        // The next round starts from the parameters of the first, not from those of this one.
        self.requests.keep_instead(handle.0, from.params.clone());
        Ok(handle)
    }

    pub(super) fn send_request(
        &mut self,
        method: Method,
        body: Body<'_>,
        options: &RequestOptions,
        round: u32,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let now = self.clock.advance(now);
        let revision = match self.phase {
            Phase::Opening(_) => return Err(ApiError::NotReady),
            Phase::Closed(_) => return Err(ApiError::Closed),
            Phase::Ready(revision) => revision,
        };
        if method.is_notification() {
            return Err(ApiError::BadParams("a notification is no request"));
        }
        let known = !matches!(method, Method::Other(_));
        if known && !legality::legal(revision, Sender::Client, &method)
            || matches!(method, Method::Initialize | Method::ServerDiscover)
                && !(method == Method::ServerDiscover && revision.era() == Era::Modern)
        {
            return Err(ApiError::WrongEra { method, revision });
        }
        if let Some(extra) = &options.meta {
            check_meta(extra)?;
        }
        let limits = &self.config.limits;
        let listens = method == Method::SubscriptionsListen;
        if listens && self.requests.listening() >= limits.max_subscriptions {
            return Err(ApiError::TooManyInFlight { limit: limits.max_subscriptions });
        }
        if !listens && self.requests.in_flight() - self.requests.listening() >= limits.max_in_flight {
            return Err(ApiError::TooManyInFlight { limit: limits.max_in_flight });
        }
        // What may have to be sent again in a later round is kept, within the bound of what may wait to leave.
        let keeps = revision.era() == Era::Modern && method.takes_input_rounds();
        if keeps && self.requests.kept_bytes() >= limits.max_queued_out_bytes {
            return Err(ApiError::OutboundFull);
        }
        let id = self.requests.next_id();
        let modern = revision.era() == Era::Modern;
        let special = modern
            && (options.client.is_some() || options.capabilities.is_some() || options.log_level.is_some());
        let own;
        let prefix = if special {
            own = encode::modern_prefix(revision, &self.config, options);
            &own
        } else {
            &self.meta_prefix
        };
        let (message, params_at) = encode::request(id, &method, body, prefix, options.meta.as_ref());
        if message.len() > limits.max_message_bytes {
            return Err(ApiError::TooLarge { len: message.len(), limit: limits.max_message_bytes });
        }
        let params = keeps.then(|| RawJson::trusted(message.clone(), params_at.start, params_at.end));
        let (idle, absolute) = if listens {
            (None, None)
        } else {
            (
                Some(Timer::start(options.idle.unwrap_or(limits.request_idle), now)),
                Some(Timer::start(options.absolute.unwrap_or(limits.request_absolute), now)),
            )
        };
        let handle = RequestHandle(id);
        let exchange = ExchangeHandle::of_request(id);
        self.requests.insert(
            id,
            Open {
                owner: Owner::Application(handle),
                exchange,
                method: method.clone(),
                partition: options.partition,
                params,
                round,
                sent: false,
                idle,
                absolute,
                progress: f64::NEG_INFINITY,
                mistyped_reply: false,
            },
        );
        self.effects.push_back(Effect::Send(Exchange {
            handle: exchange,
            message,
            facts: HeadFacts { revision: Some(revision), method: Some(method) },
            reply: if listens { ReplyForm::Stream } else { ReplyForm::One },
            partition: options.partition,
            params_at,
        }));
        Ok(handle)
    }

    /// Sends a notification. `params` is an object, or `None`.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn notify(&mut self, method: Method, params: Option<RawJson>, now: Instant) -> Result<(), ApiError> {
        self.clock.advance(now);
        let revision = match self.phase {
            Phase::Opening(_) => return Err(ApiError::NotReady),
            Phase::Closed(_) => return Err(ApiError::Closed),
            Phase::Ready(revision) => revision,
        };
        if params.as_ref().is_some_and(|params| params.view().kind() != Kind::Object) {
            return Err(ApiError::BadParams("params is no object"));
        }
        if matches!(method, Method::Cancelled | Method::Initialized) {
            return Err(ApiError::BadParams("the session sends this notification itself"));
        }
        if !method.is_notification() {
            return Err(ApiError::BadParams("a request is no notification"));
        }
        let known = !matches!(method, Method::Other(_));
        if known && !legality::legal(revision, Sender::Client, &method) {
            return Err(ApiError::WrongEra { method, revision });
        }
        let message = encode::notification(&method, params.as_ref());
        let limit = self.config.limits.max_message_bytes;
        if message.len() > limit {
            return Err(ApiError::TooLarge { len: message.len(), limit });
        }
        self.push_message(message, Some(method), Partition::default());
        Ok(())
    }

    /// Gives a request up: the server is told, and the request finishes as [`Outcome::Cancelled`] at once. An
    /// answer that still comes is dropped.
    ///
    /// # Errors
    /// [`ApiError::UnknownRequest`] if it is over.
    ///
    /// Spec: MCP 2026-07-28, basic/patterns/cancellation.
    pub fn cancel(
        &mut self,
        request: RequestHandle,
        reason: Option<&str>,
        now: Instant,
    ) -> Result<(), ApiError> {
        self.clock.advance(now);
        let id = self.requests.id_of(request).ok_or(ApiError::UnknownRequest)?;
        self.abort(id, reason);
        self.events.push(Event::Finished { request, outcome: Outcome::Cancelled });
        Ok(())
    }

    /// Ends the connection: what is open is given up ([`Outcome::Cancelled`]), then [`Event::Closed`] follows.
    pub fn close(&mut self, now: Instant) {
        self.clock.advance(now);
        if matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        for id in self.requests.ids() {
            if let Some(open) = self.abort(id, None)
                && let Owner::Application(request) = open.owner
            {
                self.events.push(Event::Finished { request, outcome: Outcome::Cancelled });
            }
        }
        self.finish(CloseReason::Local);
    }

    /// Takes a request out of the table and has the server told.
    pub(super) fn abort(&mut self, id: u64, reason: Option<&str>) -> Option<Open> {
        let open = self.requests.remove(id)?;
        let notice = matches!(open.owner, Owner::Application(_)).then(|| {
            let message = encode::cancelled(id, reason.map(cut_reason));
            self.exchange(message, Some(Method::Cancelled), open.partition)
        });
        self.effects.push_back(Effect::Abort { exchange: open.exchange, notice });
        Some(open)
    }

    /// The first byte of an exchange left.
    pub fn handle_sent(&mut self, exchange: ExchangeHandle, now: Instant) {
        self.clock.advance(now);
        if let Some(open) = exchange.request_id().and_then(|id| self.requests.get_mut(id)) {
            open.sent = true;
        }
    }

    /// The stream of an exchange ended. A link with one shared stream never calls this.
    pub fn handle_end(&mut self, exchange: ExchangeHandle, end: ExchangeEnd, now: Instant) {
        let now = self.clock.advance(now);
        let Some(id) = exchange.request_id().filter(|id| self.requests.contains(*id)) else { return };
        let Some(open) = self.requests.remove(id) else { return };
        let request = match open.owner {
            Owner::Application(request) => request,
            Owner::Probe | Owner::Initialize => return self.opening_ended(open.owner, &end, now),
        };
        let outcome = match end {
            ExchangeEnd::Finished | ExchangeEnd::Broken => Outcome::Lost { maybe_ran: true },
            ExchangeEnd::Refused(refusal) => Outcome::Refused(refusal),
            ExchangeEnd::Challenged(challenge) => Outcome::Challenged(challenge),
        };
        self.events.push(Event::Finished { request, outcome });
    }

    /// The stream (on HTTP: the session) is gone: each open request is [`Outcome::Lost`], then
    /// [`Event::Closed`] follows. An end of the stream while the era is still being looked for becomes
    /// [`CloseReason::DiedOnProbe`] if the probe was sent.
    pub fn handle_closed(&mut self, reason: CloseReason, now: Instant) {
        self.clock.advance(now);
        let reason = match (&self.phase, reason) {
            (Phase::Opening(opening), CloseReason::Eof) if opening.probed() => {
                self.events.push(Event::Verdict(crate::client::event::Verdict::Died));
                CloseReason::DiedOnProbe
            }
            (_, reason) => reason,
        };
        self.finish(reason);
    }

    /// Nothing leaves any more. What had not begun to leave never will: it is [`Outcome::Lost`], and did not run.
    pub fn handle_write_closed(&mut self, now: Instant) {
        self.clock.advance(now);
        for id in self.requests.ids() {
            let unsent = self.requests.get_mut(id).filter(|open| !open.sent).map(|open| open.owner);
            if let Some(Owner::Application(request)) = unsent {
                self.requests.remove(id);
                self.events.push(Event::Finished { request, outcome: Outcome::Lost { maybe_ran: false } });
            }
        }
    }

    /// Everything is over for `reason`.
    pub(super) fn finish(&mut self, reason: CloseReason) {
        if matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        self.phase = Phase::Closed(reason.clone());
        for id in self.requests.ids() {
            if let Some(open) = self.requests.remove(id)
                && let Owner::Application(request) = open.owner
            {
                let outcome = Outcome::Lost { maybe_ran: open.sent };
                self.events.push(Event::Finished { request, outcome });
            }
        }
        for handle in self.peer_requests.take_all() {
            self.events.push(Event::PeerRequestEnded { handle });
        }
        if reason != CloseReason::Local {
            self.effects.clear();
        }
        self.events.push(Event::Closed(reason));
    }

    /// The time is `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        self.opening_timeout(now);
        while let Some((id, open, which, limit)) = self.requests.pop_expired(now) {
            let Owner::Application(request) = open.owner else { continue };
            let notice = encode::cancelled(id, Some("timed out"));
            let notice = self.exchange(notice, Some(Method::Cancelled), open.partition);
            self.effects.push_back(Effect::Abort { exchange: open.exchange, notice: Some(notice) });
            let outcome = Outcome::TimedOut { which, limit, mistyped_reply: open.mistyped_reply };
            self.events.push(Event::Finished { request, outcome });
        }
        self.expire_peer_requests(now);
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let opening = match &self.phase {
            Phase::Opening(opening) => Some(opening.next_deadline(&self.config.limits)),
            Phase::Ready(_) => None,
            Phase::Closed(_) => return None,
        };
        earliest(opening, earliest(self.requests.next_deadline(), self.peer_requests.next_deadline()))
    }

    /// What the link is to do next.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// The event that [`poll_event`](Self::poll_event) gives next. A link holds [`Event::Closed`] back while
    /// something waits to leave.
    #[must_use]
    pub fn peek_event(&self) -> Option<&Event> {
        self.events.front()
    }

    /// Whether more input is wanted. False: events wait to be taken, or the connection is over.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        !matches!(self.phase, Phase::Closed(_)) && !self.events.is_full(&self.config.limits)
    }

    /// Bytes that waiting events keep alive.
    #[must_use]
    pub const fn queued_event_bytes(&self) -> usize {
        self.events.bytes()
    }

    pub(super) fn exchange(
        &mut self,
        message: Bytes,
        method: Option<Method>,
        partition: Partition,
    ) -> Exchange {
        self.messages_out += 1;
        Exchange {
            handle: ExchangeHandle::of_message(self.messages_out),
            message,
            facts: HeadFacts { revision: self.revision(), method },
            reply: ReplyForm::None,
            partition,
            params_at: 0..0,
        }
    }

    pub(super) fn push_message(&mut self, message: Bytes, method: Option<Method>, partition: Partition) {
        let exchange = self.exchange(message, method, partition);
        self.effects.push_back(Effect::Send(exchange));
    }

    /// Tells of a violation. Only for use inside [`handle_message`](Self::handle_message), which ends a session
    /// whose budget is used up.
    pub(super) fn violation(&mut self, violation: Violation) {
        self.stats.violations += 1;
        if self.violations_left == 0 {
            self.last_straw.get_or_insert(violation);
            return;
        }
        self.violations_left -= 1;
        self.events.push(Event::Violation(violation));
    }

    pub(super) fn ready(&mut self, peer: Box<Peer>) {
        self.phase = Phase::Ready(peer.revision);
        if peer.era == Era::Modern {
            self.meta_prefix = encode::modern_prefix(peer.revision, &self.config, &RequestOptions::default());
        }
        self.events.push(Event::Ready(peer));
    }
}

fn check_params(params: &RawJson) -> Result<(), ApiError> {
    let view = params.view();
    if view.kind() != Kind::Object {
        return Err(ApiError::BadParams("params is no object"));
    }
    for (name, _) in view.members() {
        if name.eq_str("_meta") {
            return Err(ApiError::BadParams("_meta goes in by the request's options"));
        }
        if name.eq_str("inputResponses") || name.eq_str("requestState") {
            return Err(ApiError::BadParams("rounds of input are resumed, not requested"));
        }
    }
    Ok(())
}

fn check_meta(extra: &RawJson) -> Result<(), ApiError> {
    if extra.view().kind() != Kind::Object {
        return Err(ApiError::BadParams("the options' _meta is no object"));
    }
    let ours = [
        meta::PROGRESS_TOKEN,
        meta::PROTOCOL_VERSION,
        meta::CLIENT_INFO,
        meta::CLIENT_CAPABILITIES,
        meta::LOG_LEVEL,
    ];
    for (name, _) in extra.view().members() {
        if ours.iter().any(|ours| name.eq_str(ours)) {
            return Err(ApiError::BadParams("the options' _meta names what the session itself sets"));
        }
    }
    Ok(())
}

/// A reason is for people: 256 bytes are enough.
fn cut_reason(reason: &str) -> &str {
    let mut end = reason.len().min(256);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason.get(..end).unwrap_or_default()
}
