//! The connections of a client over HTTP: which exchange goes over which, and when one is made, kept and closed.
//!
//! ```text
//! Client ──effects──► requests that wait ──► connections that carry nothing ──► h1::Client, one a connection ⇄ bytes
//!                             └── too few of those ──► actions: make one, look at one, close one
//! ```
//!
//! - A request that has no connection waits; what others may wait for goes first, else the oldest.
//! - For each that waits a connection is being made, or one that was begun for another which needs it no more. If that
//!   takes too long it is waited for no longer, and gives way where there is no room.
//! - The connection that was used last is used first, so that those that are too many come to rest.
//! - One that has served is looked at before it is used again: its end may wait there, to be read.
//! - A request goes over another connection only if its own had served before and took not one byte of it. Once a byte
//!   has left, whatever breaks is told and nothing is sent again.
//! - To cancel an exchange is to close its connection.
//!
//! Source: RFC 9112, section 9.

mod action;
mod assign;
mod bounds;
mod drive;
mod line;
mod observer;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::fmt;

use crate::client::Session;
use crate::http::client::Client;
use crate::http::h1;
use crate::time::{Instant, Monotonic, earliest};

pub use action::{Action, ConnectionHandle};
pub use observer::Observer;

use assign::{Dial, Order};
use line::Line;

/// A client over HTTP with its connections, as a machine of many streams of bytes.
///
/// Takes what the application asks by way of [`client_mut`](Self::client_mut). A runtime then calls
/// [`carry_out`](Self::carry_out), does what [`poll_action`](Self::poll_action) says until it says nothing more, and moves
/// bytes: for each of the [`connections`](Self::connections) what is said of a [`Machine`](crate::Machine), with the name
/// of the connection in front. What is told of a connection that is over, or never was, is harmless, and so is any order
/// of calls.
///
/// ```text
/// loop:
///   carry_out(now); while let Some(action) = poll_action()     { do it }
///   while let Some(event) = client_mut().poll_event()          { hand it to the application }
///   wait until one of connections() is readable (only if wants_read(it)), writable (only if transmit(it) is not empty),
///     a connection was made or not, or poll_timeout()
///   writable: write transmit(it); handle_written(it, n, now)
///   readable: append one read to read_buffer(it), then handle_read(it, now); its end: handle_eof(it, broken, now)
///   always:   handle_timeout(now)
/// ```
pub struct Pool {
    client: Client,
    clock: Monotonic,
    limits: h1::Limits,
    /// How many connections there may be at once.
    most: usize,
    lines: BTreeMap<ConnectionHandle, Line>,
    /// Those that carry nothing, the one that was used last at the end.
    idle: Vec<ConnectionHandle>,
    dials: Vec<Dial>,
    /// What was to be sent and has no connection yet, in the order in which it gets one.
    waiting: VecDeque<Order>,
    actions: VecDeque<Action>,
    /// Connections that were asked for so far.
    numbers: u64,
    observer: Option<Box<dyn Observer + Send>>,
    /// Something came in since what waits was last looked at.
    stale: bool,
    /// No connection is made or kept any more.
    over: bool,
}

/// How much there is, and nothing of it.
impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("client", &self.client)
            .field("connections", &self.lines.len())
            .field("idle", &self.idle.len())
            .field("dials", &self.dials.len())
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

impl Pool {
    /// The connections of this client: `most` of them at once (at least one), and two more for what calls on all of the
    /// others may wait for. `limits` are those of each.
    #[must_use]
    pub fn new(client: Client, limits: h1::Limits, most: usize, now: Instant) -> Self {
        Self {
            client,
            clock: Monotonic::new(now),
            limits,
            most: most.max(1),
            lines: BTreeMap::new(),
            idle: Vec::new(),
            dials: Vec::new(),
            waiting: VecDeque::new(),
            actions: VecDeque::new(),
            numbers: 0,
            observer: None,
            stale: false,
            over: false,
        }
    }

    /// Tells `observer` of what passes from now on.
    pub fn observe(&mut self, observer: Box<dyn Observer + Send>) {
        self.observer = Some(observer);
    }

    /// The client, for the calls of the application and its events. Its effects are the pool's to take.
    pub const fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    /// The client, for its getters.
    #[must_use]
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// The session, for its getters.
    #[must_use]
    pub const fn session(&self) -> &Session {
        self.client.session()
    }

    /// The connections that are made and not over, in the order in which they were asked for, and of each whether it
    /// [wants to be read](Self::wants_read).
    pub fn connections(&self) -> impl Iterator<Item = (ConnectionHandle, bool)> {
        let takes = self.client.wants_input();
        self.lines.iter().map(move |(connection, line)| (*connection, line.wants_read(takes)))
    }

    /// Whether there is something to do: [`carry_out`](Self::carry_out), and the actions. What waits for something to come
    /// in first does not count.
    #[must_use]
    pub fn has_output(&self) -> bool {
        !self.actions.is_empty() || self.client.has_effects() || self.stale && !self.waiting.is_empty()
    }

    /// What to do next, oldest first. There are at most a few for each connection.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next, at the latest. `None`: only input matters.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let lines = self.lines.values().map(Line::poll_timeout);
        let dials = self.dials.iter().filter(|_| !self.waiting.is_empty()).map(Dial::poll_timeout);
        lines.chain(dials).fold(self.client.poll_timeout(), earliest)
    }
}
