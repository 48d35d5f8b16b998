//! The served session: what the application answers and tells, and how it is sent.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::{ApiError, ConfigError, Violation};
use crate::exchange::Origin;
use crate::jsonrpc::{JsonRef, RawJson, RequestId, finish_line, write_error};
use crate::mcp::Revision;
use crate::server::catalog::{Catalog, ListKind};
use crate::server::config::Config;
use crate::server::cursor::Cursors;
use crate::server::event::{CloseReason, Effect, Event, RequestHandle};
use crate::server::legacy::Legacy;
use crate::server::outlet::Outlet;
use crate::server::peers::Peers;
use crate::server::queue::{Events, Stats};
use crate::server::reply::Replies;
use crate::server::requests::Requests;
use crate::server::subscription::{Changes, Listen};
use crate::time::{Instant, Monotonic, earliest};

/// A server's side of its conversations with whoever writes to it: a legacy session if `initialize` opens one, and
/// any number of requests of 2026-07-28 that stand alone, both at once.
///
/// Knows no transport. A link feeds it messages ([`handle_message`](Self::handle_message)) and carries out its
/// [`Effect`]s. All that is kept is bounded by [`Limits`](crate::limits::Limits).
#[derive(Debug)]
pub struct Session {
    pub(super) config: Arc<Config>,
    pub(super) catalog: Arc<Catalog>,
    pub(super) clock: Monotonic,
    pub(super) phase: Phase,
    pub(super) legacy: Option<Legacy>,
    pub(super) requests: Requests,
    pub(super) peers: Peers,
    pub(super) listens: Vec<Listen>,
    pub(super) changes: Changes,
    /// Who asked last by a request of its own.
    pub(super) last_client: Option<RawJson>,
    pub(super) replies: Replies,
    pub(super) cursors: Cursors,
    pub(super) events: Events,
    pub(super) stats: Stats,
    pub(super) violations_left: u32,
    pub(super) junk_in_row: u32,
    /// A batch from here is being gone through: nothing on it is the last yet.
    pub(super) in_batch: Option<Origin>,
    /// Nothing more comes from the client, however the session came to its end.
    pub(super) input_ended: bool,
    /// All kinds of clients send their requests here, each by itself: none of them can end it for the others.
    pub(super) shared: bool,
    pub(super) room: Room,
    pub(super) out: Outlet,
}

/// Open requests, and addresses that are watched or about to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) requests: usize,
    pub(crate) watched: usize,
}

impl Room {
    /// As much as there is.
    pub(crate) const ALL: Self = Self { requests: usize::MAX, watched: usize::MAX };
}

/// Where the session stands.
#[derive(Debug)]
pub(super) enum Phase {
    Open,
    /// Nothing new is admitted; what is open may finish until then.
    Draining(Instant, CloseReason),
    Closed(CloseReason),
}

impl Session {
    /// A session that waits for its first message, with an empty catalog.
    ///
    /// `seed` is the session's only source of randomness.
    ///
    /// # Errors
    /// A setting is out of bounds; the error names it and its bounds.
    pub fn new(config: Config, seed: [u8; 32], now: Instant) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self::of(Arc::new(config), seed, now))
    }

    /// A session whose configuration was checked.
    pub(crate) fn of(config: Arc<Config>, seed: [u8; 32], now: Instant) -> Self {
        Self {
            replies: Replies::new(&config),
            cursors: Cursors::new(config.cursor_key.unwrap_or(seed)),
            violations_left: config.limits.violation_budget,
            config,
            catalog: Arc::default(),
            clock: Monotonic::new(now),
            phase: Phase::Open,
            legacy: None,
            requests: Requests::default(),
            peers: Peers::default(),
            listens: Vec::new(),
            changes: Changes::default(),
            events: Events::default(),
            stats: Stats::default(),
            junk_in_row: 0,
            last_client: None,
            in_batch: None,
            input_ended: false,
            shared: false,
            room: Room::ALL,
            out: Outlet::default(),
        }
    }

    /// Requests of all clients come here from now on, each on an exchange of its own and by itself: so many of them, and
    /// so many subscriptions. No one of them can end the session.
    pub(crate) fn share(&mut self, max_in_flight: usize, max_subscriptions: usize) {
        let limits = &mut Arc::make_mut(&mut self.config).limits;
        (limits.max_in_flight, limits.max_subscriptions) = (max_in_flight, max_subscriptions);
        self.shared = true;
    }

    /// What it may hold from now on, if that is less than its own limits say: where many sessions share a bound.
    pub(crate) const fn set_room(&mut self, room: Room) {
        self.room = room;
    }

    /// What it holds of that.
    pub(crate) fn taken(&self) -> Room {
        Room { requests: self.requests.len(), watched: self.watched() + self.requests.uris() }
    }

    /// Where a request came from, and its revision.
    pub(crate) fn origin_of(&self, request: RequestHandle) -> Option<(Origin, Revision)> {
        self.requests.get(request.0).map(|open| (open.origin, open.revision))
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What is listed.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// What is listed, to be changed. Copies it if it is shared. Tell clients with
    /// [`list_changed`](Self::list_changed).
    pub fn catalog_mut(&mut self) -> &mut Catalog {
        Arc::make_mut(&mut self.catalog)
    }

    /// Lists this from now on. Sessions may share one catalog.
    pub fn set_catalog(&mut self, catalog: impl Into<Arc<Catalog>>) {
        self.catalog = catalog.into();
    }

    /// What was counted and not told.
    #[must_use]
    pub const fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Requests that wait for the application's answer.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.requests.len()
    }

    /// Why the session ended, once it has.
    #[must_use]
    pub const fn close_reason(&self) -> Option<&CloseReason> {
        match &self.phase {
            Phase::Closed(reason) => Some(reason),
            Phase::Open | Phase::Draining(..) => None,
        }
    }

    /// Until when open requests may still finish, after the end of input or a [`shutdown`](Self::shutdown).
    #[must_use]
    pub const fn drains_until(&self) -> Option<Instant> {
        match self.phase {
            Phase::Draining(until, _) => Some(until),
            Phase::Open | Phase::Closed(_) => None,
        }
    }

    pub(super) fn has_tools(&self) -> bool {
        self.config.capabilities.tools || !self.catalog.is_empty(ListKind::Tools)
    }

    pub(super) fn has_prompts(&self) -> bool {
        self.config.capabilities.prompts || !self.catalog.is_empty(ListKind::Prompts)
    }

    pub(super) fn has_resources(&self) -> bool {
        self.config.capabilities.resources
            || !self.catalog.is_empty(ListKind::Resources)
            || !self.catalog.is_empty(ListKind::Templates)
    }

    pub(super) fn check_length(&self, len: usize) -> Result<(), ApiError> {
        let limit = self.config.limits.max_message_bytes;
        if len > limit { Err(ApiError::TooLarge { len, limit }) } else { Ok(()) }
    }

    /// Ends the session at once: what is open is cancelled, subscriptions end in good order, then
    /// [`Event::Closed`] follows.
    pub fn close(&mut self, now: Instant) {
        self.clock.advance(now);
        if !matches!(self.phase, Phase::Closed(_)) {
            self.end_subscriptions(now);
            self.finish(CloseReason::Local);
        }
    }

    /// Ends the session once what is open is answered, or after `drain`: nothing new is admitted, subscriptions end in
    /// good order.
    pub fn shutdown(&mut self, drain: Duration, now: Instant) {
        let now = self.clock.advance(now);
        self.drain(drain, CloseReason::Local, now);
    }

    /// The client ended its session: what is open is cancelled.
    pub(crate) fn end_by_client(&mut self, now: Instant) {
        self.clock.advance(now);
        self.finish(CloseReason::Eof);
    }

    /// The client sends nothing more: what was admitted may finish within
    /// [`Limits::drain`](crate::limits::Limits::drain), then [`Event::Closed`] follows.
    ///
    /// Spec: MCP basic/transports, "Shutdown" of stdio.
    pub fn handle_eof(&mut self, now: Instant) {
        self.end_of_input(self.config.limits.drain, now);
    }

    /// As [`handle_eof`](Self::handle_eof), with another time to drain.
    pub(super) fn end_of_input(&mut self, drain: Duration, now: Instant) {
        let now = self.clock.advance(now);
        self.input_ended = true;
        self.lose_asks();
        self.drain(drain, CloseReason::Eof, now);
    }

    /// The client reads nothing more: what is open is cancelled, for nobody could be answered.
    pub fn handle_unread(&mut self, now: Instant) {
        self.clock.advance(now);
        self.listens.clear();
        self.finish(CloseReason::Unread);
        self.out.clear();
    }

    fn drain(&mut self, drain: Duration, reason: CloseReason, now: Instant) {
        let until = now.saturating_add(drain);
        match &mut self.phase {
            Phase::Closed(_) => return,
            Phase::Draining(earlier, _) => *earlier = (*earlier).min(until),
            Phase::Open => {
                self.phase = Phase::Draining(until, reason);
                self.changes = Changes::default();
                self.end_subscriptions(now);
            }
        }
        self.settle(now);
    }

    /// Closes once there is nothing left to wait for.
    pub(super) fn settle(&mut self, now: Instant) {
        if let Phase::Draining(until, reason) = &self.phase
            && (self.requests.is_empty() || *until <= now)
        {
            let reason = reason.clone();
            self.finish(reason);
        }
    }

    /// Everything is over for `reason`.
    pub(super) fn finish(&mut self, reason: CloseReason) {
        if matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        self.phase = Phase::Closed(reason.clone());
        self.lose_asks();
        for handle in self.requests.handles() {
            self.requests.remove(handle);
            self.events.push(Event::Cancelled { request: RequestHandle(handle), reason: None });
        }
        self.listens.clear();
        self.changes = Changes::default();
        self.events.push(Event::Closed(reason));
    }

    /// The time is `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        self.expire_asks(now);
        self.ping(now);
        self.announce(now);
        self.settle(now);
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let drain = match self.phase {
            Phase::Open => None,
            Phase::Draining(until, _) => Some(until),
            Phase::Closed(_) => return None,
        };
        let ours = earliest(self.peers.next_deadline(), self.ping_at());
        earliest(drain, earliest(ours, self.announce_at()))
    }

    /// What the link is to do next.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.out.poll()
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.events.is_full(&self.config.limits) {
            self.note_held_up();
        }
        self.events.pop()
    }

    /// The event that [`poll_event`](Self::poll_event) gives next. A link holds [`Event::Closed`] back while something
    /// waits to leave.
    #[must_use]
    pub fn peek_event(&self) -> Option<&Event> {
        self.events.front()
    }

    /// Whether more input is wanted. False: events wait to be taken, or the session is over.
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

    /// How many bytes wait in the link. While that is at or over
    /// [`Limits::max_queued_out_bytes`](crate::limits::Limits::max_queued_out_bytes), what has time is held back.
    pub fn set_outbound(&mut self, bytes: usize) {
        if bytes < self.out.outbound() && self.outbound_full() {
            self.note_held_up();
        }
        self.out.set_outbound(bytes);
    }

    /// Lets go of room that holds nothing: for what is to be sent, and of requests that are over.
    pub(crate) fn release(&mut self) {
        self.out.release();
        self.requests.release();
        self.events.release();
    }

    /// As [`release`](Self::release), if the room is for more than a few: who asks one thing after the other needs it again
    /// at once.
    pub(crate) fn release_much(&mut self) {
        const FEW: usize = 16;
        if self.out.room().max(self.requests.room()).max(self.events.room()) > FEW {
            self.release();
        }
    }

    /// The link wrote `len` bytes of the one stream.
    pub(super) fn written(&mut self, len: usize) {
        if len > 0 && self.outbound_full() {
            self.note_held_up();
        }
        self.out.stream_mut().written(len);
    }

    pub(super) fn outbound_full(&self) -> bool {
        self.out.bytes() >= self.config.limits.max_queued_out_bytes
    }

    pub(super) fn send(&mut self, to: Origin, message: Vec<u8>, last: bool) {
        let message = self.out.exactly(message);
        self.out.send(to, Some(message), last, 200);
    }

    /// Sends an answer: the last message on its exchange, unless others of the same batch are open.
    pub(super) fn answer(&mut self, to: Origin, message: Vec<u8>, status: u16) {
        let last = to == Origin::Stream || !self.goes_on(to);
        let message = self.out.exactly(message);
        self.out.send(to, Some(message), last, status);
    }

    /// Whether more is to come on an exchange.
    pub(super) fn goes_on(&self, to: Origin) -> bool {
        self.in_batch == Some(to) || self.requests.any_on(to)
    }

    /// There is nothing to say on this exchange, or nothing more.
    pub(super) fn end_exchange(&mut self, to: Origin, status: u16) {
        if matches!(to, Origin::Exchange(_)) && !self.goes_on(to) {
            self.out.send(to, None, true, status);
        }
    }

    /// As [`end_exchange`](Self::end_exchange), after a batch: the last of its answers ends it.
    pub(super) fn end_batch(&mut self, to: Origin) {
        self.in_batch = None;
        if !matches!(to, Origin::Exchange(_)) || self.goes_on(to) {
            return;
        }
        match self.out.last_to(to) {
            Some(last) => *last = true,
            None => self.out.send(to, None, true, 202),
        }
    }

    pub(super) fn violation(&mut self, violation: Violation) {
        self.stats.violations += 1;
        if self.shared {
            return self.events.push(Event::Violation(violation));
        }
        if self.violations_left == 0 {
            self.finish(CloseReason::Protocol(violation));
            return;
        }
        self.violations_left -= 1;
        self.events.push(Event::Violation(violation));
    }

    pub(super) fn cancelled(&mut self, handle: u64, reason: Option<Box<str>>, now: Instant) {
        let Some(gone) = self.requests.remove(handle) else { return };
        self.drop_asks(handle, &gone);
        self.events.push(Event::Cancelled { request: RequestHandle(handle), reason });
        self.end_exchange(gone.origin, 200);
        self.settle(now);
    }
}

/// An error, as a message.
pub(crate) fn error_message(
    id: Option<&RequestId>,
    code: i64,
    message: &str,
    data: Option<JsonRef<'_>>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(160 + message.len());
    write_error(&mut out, id, code, message, data);
    finish_line(&mut out);
    out
}
