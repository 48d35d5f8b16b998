//! A whole site as one machine: an endpoint, and all connections over which its clients come.
//!
//! ```text
//!   a connection ⇄ h1::Server ─┐
//!   a connection ⇄ h1::Server ─┼─ Site ⇄ Endpoint ─▶ Request ─ finish ─▶ the answer
//!   a connection ⇄ h1::Server ─┘
//! ```
//!
//! A runtime owns the sockets: it accepts ([`Site::welcome`]), moves the bytes of each ([`Site::connection`], which is a
//! [`Machine`](crate::Machine)), looks after those that something came for from elsewhere ([`Site::poll_dirty`]), and takes
//! out what is over ([`Site::remove`]). It runs the handlers of [requests](Site::next_request) in whatever way it can.

mod alarms;
mod config;
mod connection;
mod requests;
mod settle;
#[cfg(test)]
mod tests;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::error::{ApiError, ConfigError};
use crate::http::endpoint::{Endpoint, Refusal, SessionHandle};
use crate::http::h1;
use crate::machine::Machine as _;
use crate::mcp::types::input::InputRequest;
use crate::server::kit::{Cancel, ConnectionKey, Over, Places, Request};
use crate::server::{Catalog, ListKind, Notice, Reply, RequestHandle};
use crate::time::{Instant, Monotonic};

use alarms::Alarms;
pub use config::SiteConfig;
use config::{PLACE_BITS, UNTOLD_BYTES};
pub use connection::Connection;
use connection::Open;
use requests::Requests;

/// The connections of one endpoint, the endpoint, and the requests that wait for their handlers.
///
/// As with every machine nothing fails or panics, whatever key it is given: one that names nothing does nothing. After
/// each call there may be connections to look after; see [`poll_dirty`](Self::poll_dirty).
///
/// `C` says whether a request is still wanted; `W` waits for what becomes of a question to a client.
pub struct Site<C: Cancel, W> {
    endpoint: Endpoint,
    limits: h1::Limits,
    clock: Monotonic,
    connections: Places<Open>,
    requests: Requests<C, W>,
    /// How many exchanges there were.
    exchanges: u64,
    /// Connections whose machine may have something to tell, each once.
    unheard: Vec<ConnectionKey>,
    /// Connections that the runtime is to look at, each once.
    dirty: Vec<ConnectionKey>,
    alarms: Alarms,
    /// Which connections may have rested for long. They are looked at when one of them is needed.
    rests: Alarms,
    yields_after: Duration,
    close_flush: Duration,
    ending: Option<Ending>,
    /// What is read for a connection that is not there. Has no room.
    nowhere: Vec<u8>,
}

/// The end of a site.
#[derive(Clone, Copy, Debug)]
struct Ending {
    /// By then at the latest all connections are over.
    by: Instant,
    /// All is answered: what is written may still leave.
    answered: bool,
    /// The time is up.
    cut: bool,
}

impl<C: Cancel, W> fmt::Debug for Site<C, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site")
            .field("endpoint", &self.endpoint)
            .field("connections", &self.connections.len())
            .field("requests", &self.requests.open())
            .field("ending", &self.ending)
            .finish_non_exhaustive()
    }
}

impl<C: Cancel, W> Site<C, W> {
    /// A site that nobody has come to, with an empty catalog. `seed` must be random and secret: session ids come of it.
    ///
    /// # Errors
    /// A setting is out of bounds.
    pub fn new(config: SiteConfig, seed: [u8; 32], now: Instant) -> Result<Self, ConfigError> {
        let SiteConfig { endpoint, connection: mut limits, yields_after } = config;
        limits.max_queued_out_bytes = limits.max_queued_out_bytes.max(endpoint.max_outbound_bytes);
        let (max_waiting_bytes, close_flush) =
            (endpoint.server.limits.max_queued_event_bytes, endpoint.server.limits.close_flush);
        Ok(Self {
            endpoint: Endpoint::new(endpoint, seed, now)?,
            limits,
            clock: Monotonic::new(now),
            connections: Places::new(),
            requests: Requests::new(max_waiting_bytes),
            exchanges: 0,
            unheard: Vec::new(),
            dirty: Vec::new(),
            alarms: Alarms::new(),
            rests: Alarms::new(),
            yields_after,
            close_flush,
            ending: None,
            nowhere: Vec::new(),
        })
    }

    /// The endpoint, to look at.
    #[must_use]
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// How many connections there are; those that are over count until they are [removed](Self::remove).
    #[must_use]
    pub const fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Somebody connected. How many may is the runtime's to say. None: there is no place for so many, which is for more
    /// than 16 million.
    pub fn welcome(&mut self, now: Instant) -> Option<ConnectionKey> {
        let now = self.clock.advance(now);
        let key = self.connections.insert(Open::new(h1::Server::new(self.limits.clone(), now)))?;
        if key.place() >> PLACE_BITS != 0 {
            drop(self.connections.remove(key));
            return None;
        }
        let yields = self.rests.set(key, None, Some(now.saturating_add(self.yields_after)));
        if let Some(open) = self.connections.get_mut(key) {
            open.yields = yields;
        }
        let ends = self.ending.is_some();
        self.tell(key, now, |machine| {
            if ends {
                machine.shutdown(now);
            }
        });
        Some(key)
    }

    /// One of the connections. None: it is not there any more.
    pub fn connection(&mut self, key: ConnectionKey) -> Option<Connection<'_, C, W>> {
        self.connections.get(key).is_some().then_some(Connection { site: self, key })
    }

    /// The next connection that is to be looked at, for something came for it, or of it: it may have something to write, want
    /// to read or not, or be over. Each is named once until something comes again.
    pub fn poll_dirty(&mut self) -> Option<ConnectionKey> {
        loop {
            let key = self.dirty.pop()?;
            if let Some(open) = self.connections.get_mut(key) {
                open.is_dirty = false;
                return Some(key);
            }
        }
    }

    /// Has [`poll_dirty`](Self::poll_dirty) name a connection that only its runtime has something for: its socket has room
    /// again.
    pub fn mark_dirty(&mut self, key: ConnectionKey) {
        self.soil(key);
    }

    /// Takes a connection out. One that was not over counts as lost.
    pub fn remove(&mut self, key: ConnectionKey, now: Instant) {
        self.tell(key, now, |machine| machine.close(now));
        if let Some(open) = self.connections.remove(key) {
            self.alarms.forget(key, open.alarm);
            self.rests.forget(key, open.yields);
        }
    }

    /// Room is needed: a connection that may have rested for long enough to be closed for another. The runtime reads what
    /// there is, which counts, and has it [give way](Connection::give_way).
    pub fn poll_rested(&mut self, now: Instant) -> Option<ConnectionKey> {
        let now = self.clock.advance(now);
        loop {
            let key = self.rests.due(now)?;
            if let Some(open) = self.connections.get_mut(key) {
                open.yields = None;
                return Some(key);
            }
        }
    }

    /// Whether a request waits for a handler.
    #[must_use]
    pub fn has_requests(&self) -> bool {
        self.requests.has_waiting()
    }

    /// The request that has waited for the longest, and whose it is. It is [finished](Self::finish) in the end, whatever
    /// becomes of it.
    pub fn next_request(&mut self) -> Option<(SessionHandle, Request<C>)> {
        self.requests.next()
    }

    /// What is over since the last look, to be told when nothing is locked any more. It piles up until it is taken.
    pub fn take_over(&mut self) -> Over<C, W> {
        self.requests.take_over()
    }

    /// See [`Endpoint::poll_refusal`].
    pub fn poll_refusal(&mut self) -> Option<Refusal> {
        self.endpoint.poll_refusal()
    }

    /// The work on a request is over: sends the answer, unless the request is.
    pub fn finish(&mut self, session: SessionHandle, request: RequestHandle, reply: &Reply, now: Instant) {
        self.respond((session, request), reply, now);
        self.settle(now);
    }

    /// Tells a client something about its request; see [`Endpoint::notify`].
    ///
    /// # Errors
    /// As there.
    pub fn notify(
        &mut self,
        session: SessionHandle,
        request: RequestHandle,
        notice: &Notice,
        now: Instant,
    ) -> Result<(), ApiError> {
        let told = self.endpoint.notify(session, request, notice, now);
        self.settle(now);
        told
    }

    /// Asks a client, in a session; `waiter` waits for what becomes of that. See [`Endpoint::request_input`].
    ///
    /// # Errors
    /// As there: nothing was asked.
    pub fn ask(
        &mut self,
        session: SessionHandle,
        request: RequestHandle,
        input: &InputRequest,
        waiter: W,
        now: Instant,
    ) -> Result<(), ApiError> {
        let asked = self.endpoint.request_input(session, request, input, now);
        let asked = asked.map(|peer| self.requests.asks(session, peer, waiter));
        self.settle(now);
        asked
    }

    /// See [`Endpoint::close_stream`].
    ///
    /// # Errors
    /// As there.
    pub fn close_stream(
        &mut self,
        session: SessionHandle,
        request: RequestHandle,
        now: Instant,
    ) -> Result<(), ApiError> {
        let closed = self.endpoint.close_stream(session, request, now);
        self.settle(now);
        closed
    }

    /// Lists this from now on, in all sessions. Tell clients with [`list_changed`](Self::list_changed).
    pub fn set_catalog(&mut self, catalog: impl Into<Arc<Catalog>>) {
        self.endpoint.set_catalog(catalog);
    }

    /// A list changed; all who want to know are told.
    pub fn list_changed(&mut self, kind: ListKind, now: Instant) {
        self.endpoint.list_changed(kind, now);
        self.settle(now);
    }

    /// A resource changed; all who watch it are told.
    pub fn resource_updated(&mut self, uri: &str, now: Instant) {
        self.endpoint.resource_updated(uri, now);
        self.settle(now);
    }

    /// Ends: takes nothing new, and what is open may finish within `drain`; zero cancels it. What is answered has
    /// [`close_flush`](crate::limits::Limits::close_flush) to leave. Said again, the earlier end holds.
    pub fn shutdown(&mut self, drain: Duration, now: Instant) {
        let now = self.clock.advance(now);
        let by = now.saturating_add(drain).saturating_add(self.close_flush);
        let before = self.ending.map_or(Ending { by, answered: false, cut: false }, |before| before);
        self.ending = Some(Ending { by: before.by.min(by), ..before });
        self.endpoint.shutdown(drain, now);
        for key in self.connections.keys() {
            self.tell(key, now, |machine| machine.shutdown(now));
            self.soil(key);
        }
        self.settle(now);
    }

    /// Whether it was told to end, and no connection is left.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.ending.is_some() && self.connections.is_empty()
    }

    /// The time is `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        while let Some(key) = self.alarms.due(now) {
            if let Some(open) = self.connections.get_mut(key) {
                open.alarm = None;
                self.tell(key, now, |machine| machine.handle_timeout(now));
                self.soil(key);
            }
        }
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.handle_timeout(now);
        }
        self.settle(now);
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next; may be too early.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let end = self.ending.filter(|ending| !ending.cut && !self.connections.is_empty());
        let end = end.map(|ending| ending.by);
        [self.alarms.first(), self.endpoint.poll_timeout(), end].into_iter().flatten().min()
    }

    /// Bytes that are held. O(connections).
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        let keys = self.connections.keys();
        let machines = keys.iter().filter_map(|key| self.connections.get(*key));
        let machines: usize = machines.map(|open| open.machine.retained_bytes()).sum();
        machines + self.endpoint.retained_bytes() + self.requests.waiting_bytes()
    }
}
