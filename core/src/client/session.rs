//! The client session: what the application asks for, and how it is sent.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use bytes::Bytes;

use crate::client::config::{Config, RequestOptions};
use crate::client::encode;
use crate::client::event::{Event, Outcome, Peer};
use crate::client::opening::Opening;
use crate::client::peer_requests::PeerRequests;
use crate::client::queue::{Events, Stats};
use crate::client::requests::{Open, Owner, Requests};
use crate::error::{CloseReason, ConfigError, Violation};
use crate::exchange::{Effect, Exchange, ExchangeEnd, ExchangeHandle, HeadFacts, Partition, ReplyForm};
use crate::mcp::{Era, Method, Revision};
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
    /// A new handshake beside a session that was ready, and until when it is waited for.
    pub(super) renewing: Option<Instant>,
    /// What `_meta` begins with in every request.
    pub(super) meta_prefix: Vec<u8>,
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
            renewing: None,
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
            ExchangeEnd::Finished => Outcome::Lost { maybe_ran: true },
            ExchangeEnd::Broken => Outcome::Lost { maybe_ran: open.sent },
            ExchangeEnd::Faulty(fault) => Outcome::Invalid(Violation::Http(fault)),
            ExchangeEnd::Unreachable => Outcome::Lost { maybe_ran: false },
            ExchangeEnd::SessionGone => Outcome::SessionGone { maybe_ran: false },
            ExchangeEnd::Refused(refusal) => Outcome::Refused(refusal),
            ExchangeEnd::Challenged(challenge) => Outcome::Challenged(challenge),
        };
        self.events.push(Event::Finished { request, outcome });
    }

    /// The stream (on HTTP: the session) is gone: each open request is [`Outcome::Lost`] (on HTTP, where the server
    /// has forgotten the session, [`Outcome::SessionGone`]), then
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
        let reason = match &mut self.phase {
            Phase::Opening(opening) => opening.tell_of_both(reason),
            Phase::Ready(_) | Phase::Closed(_) => reason,
        };
        self.phase = Phase::Closed(reason.clone());
        self.renewing = None;
        for id in self.requests.ids() {
            if let Some(open) = self.requests.remove(id)
                && let Owner::Application(request) = open.owner
            {
                let maybe_ran = open.sent;
                let outcome = if reason == CloseReason::SessionGone {
                    Outcome::SessionGone { maybe_ran }
                } else {
                    Outcome::Lost { maybe_ran }
                };
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
        self.renewal_timeout(now);
        for (id, open, which, limit) in self.requests.take_expired(now) {
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
            Phase::Ready(_) => self.renewing,
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

    /// Events that wait to be taken.
    #[must_use]
    pub fn queued_events(&self) -> usize {
        self.events.len()
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

/// A reason is for people: 256 bytes are enough.
fn cut_reason(reason: &str) -> &str {
    let mut end = reason.len().min(256);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason.get(..end).unwrap_or_default()
}
