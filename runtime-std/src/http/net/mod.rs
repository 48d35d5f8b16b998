//! The connections of a client over HTTP, as far as they are streams: made, polled, written, read and closed. Which exchange
//! goes over which is the [`Pool`](sanswire::http::Pool)'s.
//!
//! Whoever leads polls all of them at once, so that one thread can have many calls under way and a stream that nobody
//! calls on is read all the same. What blocks (names, connecting, TLS) is done by a thread that lives as long as that
//! takes.

mod dials;
mod wires;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{Config, Session};
use sanswire::error::ConfigError;
use sanswire::http::Authority;
use sanswire::http::pool::{Action, ConnectionHandle};
use sanswire_system::clock::Clock;
use sanswire_system::recording::{RecordedPool, Recorder};
use sanswire_system::tap::{Exchanges, TapQueue};
use sanswire_system::{DialFault, HttpTarget};

use self::dials::Dial;
use self::wires::Line;
use crate::http::dial::{Dialer, Wire};
use crate::os::{Got, Polls, Want};
use crate::shared::Shared;

/// A client over HTTP with its connections.
pub(crate) struct Net {
    pool: RecordedPool,
    lines: BTreeMap<ConnectionHandle, Line>,
    dials: BTreeMap<ConnectionHandle, Dial>,
    dialer: Arc<Dialer>,
    /// How long a connection may take to be made.
    connect: Duration,
    /// Why the last connection that was not made was not.
    fault: Option<DialFault>,
    /// Whoever polls does not know yet all that there is to poll for.
    news: bool,
    /// The room of the last poll.
    polls: Polls,
}

impl Net {
    pub(crate) fn new(
        config: Config,
        target: &HttpTarget,
        dialer: Dialer,
        seed: [u8; 32],
        now: Instant,
        recorder: Option<&Recorder>,
    ) -> Result<Self, ConfigError> {
        let connect = config.limits.connect;
        let (to, most) = (target.target.clone(), target.max_connections);
        Ok(Self {
            pool: RecordedPool::new(config, to, most, seed, now, recorder)?,
            lines: BTreeMap::new(),
            dials: BTreeMap::new(),
            dialer: Arc::new(dialer),
            connect,
            fault: None,
            news: false,
            polls: Polls::default(),
        })
    }

    /// Tells a tap of what passes.
    pub(crate) fn tell(&mut self, tap: &Arc<TapQueue>, clock: Clock) {
        let longest = self.session().config().limits.max_message_bytes;
        self.pool.observe(Box::new(Exchanges::new(Arc::clone(tap), clock, longest)));
    }

    /// The machine, for the calls of the application and its events.
    pub(crate) const fn client(&mut self) -> &mut RecordedPool {
        &mut self.pool
    }

    pub(crate) fn session(&self) -> &Session {
        self.pool.session()
    }

    /// Why no connection came about, if that is what happened last.
    pub(crate) const fn take_fault(&mut self) -> Option<DialFault> {
        self.fault.take()
    }

    /// Whether something is to be begun.
    pub(crate) fn has_output(&self) -> bool {
        self.pool.has_output()
    }

    /// Whether whoever polls should begin anew, to poll for all there is.
    pub(crate) const fn has_news(&self) -> bool {
        self.news
    }

    /// Begins what is to be begun, as far as there are connections, and writes what there is room for.
    pub(crate) fn flush(&mut self, shared: &Shared, now: Instant) {
        loop {
            self.pool.carry_out(now);
            if !self.act(shared, now) {
                return;
            }
        }
    }

    /// Does what the pool asks for. Whether it asked for anything.
    fn act(&mut self, shared: &Shared, now: Instant) -> bool {
        let mut acted = false;
        while let Some(action) = self.pool.poll_action() {
            acted = true;
            match action {
                Action::Dial { connection, to, .. } => self.dial(shared, connection, to, now),
                Action::Write { connection } => self.write_line(connection, now),
                Action::Look { connection } => {
                    self.read_line(connection, now);
                    self.pool.handle_looked(connection, now);
                }
                Action::KeepAlive { connection } => {
                    if let Some(line) = self.lines.get(&connection) {
                        line.wire.conn().keep_alive();
                    }
                }
                Action::Close { connection } => self.close(connection),
                _ => {}
            }
        }
        acted
    }

    /// Has a connection made.
    fn dial(&mut self, shared: &Shared, connection: ConnectionHandle, to: Authority, now: Instant) {
        match dials::start(&shared.me, connection, to, &self.dialer, self.connect) {
            Ok(dial) => {
                self.dials.insert(connection, dial);
            }
            Err(fault) => {
                self.fault = Some(fault);
                self.pool.handle_connect_failed(connection, now);
            }
        }
    }

    /// What came of a dial.
    fn dialed(&mut self, connection: ConnectionHandle, made: Result<Wire, DialFault>, now: Instant) {
        let wanted = self.dials.remove(&connection).is_some();
        match made {
            Ok(wire) if wanted => {
                self.lines.insert(connection, Line::new(wire));
                self.news = true;
                self.fault = None;
                self.pool.handle_connected(connection, now);
            }
            Ok(mut wire) => wire.shutdown(),
            Err(fault) if wanted => {
                self.fault = Some(fault);
                self.pool.handle_connect_failed(connection, now);
            }
            Err(_) => {}
        }
    }

    fn close(&mut self, connection: ConnectionHandle) {
        if let Some(dial) = self.dials.remove(&connection) {
            dial.cancel();
        }
        if let Some(mut line) = self.lines.remove(&connection) {
            line.wire.shutdown();
            if let Some(fault) = line.wire.take_fault() {
                self.fault = Some(DialFault::Tls(fault));
            }
        }
    }

    /// What is to be polled. To be given back by [`keep`](Self::keep).
    pub(crate) fn polls(&mut self) -> (Polls, bool) {
        let mut polls = std::mem::take(&mut self.polls);
        let mut at_once = false;
        polls.clear();
        let mut wants = self.pool.connections();
        for (connection, line) in &self.lines {
            // The same ones in the same order, since all that was asked for is done.
            let read = wants.find(|(other, _)| other == connection).is_some_and(|(_, read)| read);
            at_once |= read && line.wire.holds_input();
            let want = Want { read, write: line.is_blocked() };
            polls.add(connection.number(), line.wire.conn(), line.wire.wants(want));
        }
        drop(wants);
        self.news = false;
        (polls, at_once)
    }

    pub(crate) fn keep(&mut self, polls: Polls) {
        self.polls = polls;
    }

    /// The connections that hold something to read that no poll tells of.
    pub(crate) fn holding(&self) -> Vec<u64> {
        let holding = self
            .lines
            .iter()
            .filter(|(connection, line)| line.wire.holds_input() && self.pool.wants_read(**connection));
        holding.map(|(connection, _)| connection.number()).collect()
    }

    /// Writes what one connection has room for now.
    pub(crate) fn write(&mut self, shared: &Shared, number: u64, now: Instant) {
        self.write_line(ConnectionHandle::numbered(number), now);
        self.act(shared, now);
    }

    fn write_line(&mut self, connection: ConnectionHandle, now: Instant) {
        let Some(line) = self.lines.get_mut(&connection) else { return };
        line.write(connection, &mut self.pool, now);
        self.news |= line.is_blocked();
    }

    /// One read of one connection. Whether there may be more at once.
    pub(crate) fn read(&mut self, shared: &Shared, number: u64, now: Instant) -> bool {
        let got = self.read_line(ConnectionHandle::numbered(number), now);
        self.act(shared, now);
        matches!(got, Got::Bytes { full: true, .. })
    }

    fn read_line(&mut self, connection: ConnectionHandle, now: Instant) -> Got {
        let Some(line) = self.lines.get_mut(&connection) else { return Got::Nothing };
        let got = line.read(connection, &mut self.pool, now);
        if let Some(fault) = line.wire.take_fault() {
            self.fault = Some(DialFault::Tls(fault));
        }
        got
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.pool.poll_timeout()
    }

    pub(crate) fn handle_timeout(&mut self, shared: &Shared, now: Instant) {
        self.pool.handle_timeout(now);
        self.act(shared, now);
    }

    /// Breaks off everything that is under way.
    pub(crate) fn cut_off(&mut self, shared: &Shared, now: Instant) {
        self.pool.cut_off(now);
        self.act(shared, now);
    }

    /// Closes all connections, for good.
    pub(crate) fn shut_down(&mut self, shared: &Shared, now: Instant) {
        // What the session's own patience ends is told as what it was at.
        if let Some(dial) = self.dials.values().next().filter(|_| self.lines.is_empty()) {
            let late = DialFault::TimedOut { during: dial.step(), limit: self.connect };
            self.fault.get_or_insert(late);
        }
        self.pool.shut_down(now);
        self.act(shared, now);
    }
}
