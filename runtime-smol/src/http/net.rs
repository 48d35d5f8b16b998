//! The connections of a client over HTTP, as far as they are streams: made, written, read, waited for and closed. Which
//! exchange goes over which is the [`Pool`](sanswire::http::Pool)'s.
//!
//! Whoever leads looks after all of them, so that one task can have many calls under way and a stream that nobody calls on
//! is read all the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{Config, Session};
use sanswire::error::ConfigError;
use sanswire::http::Authority;
use sanswire::http::pool::{Action, ConnectionHandle};
use sanswire_system::clock::Clock;
use sanswire_system::http::Attempt;
use sanswire_system::recording::{RecordedPool, Recorder};
use sanswire_system::tap::{Exchanges, News, TapQueue};
use sanswire_system::{DialFault, HttpTarget};

use crate::ends::Step;
use crate::http::dial::Dialer;
use crate::http::dials::Dial;
use crate::http::wire::{Ear, Wire};
use crate::signals::Signals;
use crate::wire::Got;

/// A client over HTTP with its connections.
pub(crate) struct Net {
    pool: RecordedPool,
    wires: BTreeMap<ConnectionHandle, Wire>,
    dials: BTreeMap<ConnectionHandle, Dial>,
    dialer: Arc<Dialer>,
    /// How long a connection may take to be made.
    connect: Duration,
    /// Why the last connection that was not made was not.
    fault: Option<DialFault>,
    /// Who is told how connections came about.
    tap: Option<(Arc<TapQueue>, Clock)>,
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
            wires: BTreeMap::new(),
            dials: BTreeMap::new(),
            dialer: Arc::new(dialer),
            connect,
            fault: None,
            tap: None,
        })
    }

    /// Tells a tap of what passes.
    pub(crate) fn tell(&mut self, tap: &Arc<TapQueue>, clock: Clock) {
        let longest = self.session().config().limits.max_message_bytes;
        self.pool.observe(Box::new(Exchanges::new(Arc::clone(tap), clock, longest)));
        self.tap = Some((Arc::clone(tap), clock));
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

    /// Whether something is to be begun, or to be written where there may be room.
    pub(crate) fn has_output(&self) -> bool {
        self.pool.has_output()
    }

    /// Looks at what rang: goes on with connections that are being made, and notes what may be read and written.
    pub(crate) fn hear(&mut self, now: Instant) {
        self.wires.values_mut().for_each(Wire::hear);
        let rang = self.dials.iter().filter(|(_, dial)| dial.rang());
        let rang: Vec<_> = rang.map(|(connection, _)| *connection).collect();
        for connection in rang {
            self.go_on(connection, now);
        }
    }

    /// Begins what is to be begun, as far as there are connections, and writes what there is room for.
    pub(crate) fn flush(&mut self, signals: &Arc<Signals>, now: Instant) {
        let blocked = self.wires.iter().filter(|(_, wire)| wire.may_write());
        let blocked: Vec<_> = blocked.map(|(connection, _)| *connection).collect();
        for connection in blocked {
            self.write(connection, now);
        }
        loop {
            self.pool.carry_out(now);
            if !self.act(signals, now) {
                return;
            }
        }
    }

    /// Does what the pool asks for. Whether it asked for anything.
    fn act(&mut self, signals: &Arc<Signals>, now: Instant) -> bool {
        let mut acted = false;
        while let Some(action) = self.pool.poll_action() {
            acted = true;
            match action {
                Action::Dial { connection, to, .. } => self.dial(signals, connection, to, now),
                Action::Write { connection } => self.write(connection, now),
                Action::Look { connection } => {
                    self.take(connection, now);
                    self.pool.handle_looked(connection, now);
                }
                Action::KeepAlive { connection } => {
                    if let Some(wire) = self.wires.get(&connection) {
                        wire.keep_alive();
                    }
                }
                Action::Close { connection } => self.close(connection),
                _ => {}
            }
        }
        acted
    }

    /// Has a connection made.
    fn dial(&mut self, signals: &Arc<Signals>, connection: ConnectionHandle, to: Authority, now: Instant) {
        let (dialer, limit) = (Arc::clone(&self.dialer), self.connect);
        let attempt = Arc::<Attempt>::default();
        let shown = Arc::clone(&attempt);
        let work = async move { dialer.dial(&to, limit, &shown).await };
        self.dials.insert(connection, Dial::new(Ear::new(signals), attempt, Box::pin(work)));
        self.go_on(connection, now);
    }

    /// Goes on with a connection that is being made.
    fn go_on(&mut self, connection: ConnectionHandle, now: Instant) {
        let Some(dial) = self.dials.get_mut(&connection) else { return };
        let Poll::Ready(made) = dial.poll() else { return };
        let Some(dial) = self.dials.remove(&connection) else { return };
        match made {
            Ok(made) => {
                if let Some((tap, clock)) = &self.tap {
                    tap.push_news(clock.elapsed(), News::Reached(Box::new(made.how.clone())));
                }
                self.wires.insert(connection, Wire::new(made, dial.into_ear()));
                self.fault = None;
                self.pool.handle_connected(connection, now);
            }
            Err(fault) => {
                self.fault = Some(fault);
                self.pool.handle_connect_failed(connection, now);
            }
        }
    }

    fn close(&mut self, connection: ConnectionHandle) {
        self.dials.remove(&connection);
        if let Some(mut wire) = self.wires.remove(&connection) {
            wire.shutdown();
            if let Some(fault) = wire.take_fault() {
                self.fault = Some(DialFault::Tls(fault));
            }
        }
    }

    fn write(&mut self, connection: ConnectionHandle, now: Instant) {
        if let Some(wire) = self.wires.get_mut(&connection) {
            wire.write(connection, &mut self.pool, now);
        }
    }

    /// The connections that may have something to read.
    pub(crate) fn readable(&self) -> Vec<ConnectionHandle> {
        let readable = self.wires.iter().filter(|(_, wire)| wire.is_readable());
        readable.map(|(connection, _)| *connection).collect()
    }

    /// One read of one connection, if there may be something; its events wait then.
    pub(crate) fn read(
        &mut self,
        signals: &Arc<Signals>,
        connection: ConnectionHandle,
        now: Instant,
    ) -> Step {
        if !self.wires.get(&connection).is_some_and(Wire::is_readable) {
            return Step::Enough;
        }
        let got = self.take(connection, now);
        self.act(signals, now);
        if got == Got::Nothing { Step::Enough } else { Step::More }
    }

    fn take(&mut self, connection: ConnectionHandle, now: Instant) -> Got {
        let Some(wire) = self.wires.get_mut(&connection) else { return Got::Nothing };
        let got = wire.read(connection, &mut self.pool, now);
        if let Some(fault) = wire.take_fault() {
            self.fault = Some(DialFault::Tls(fault));
        }
        got
    }

    /// Lets the bells ring for what is waited for. `writes`: what is left to be written may leave. True: something can be
    /// done at once.
    pub(crate) fn arm(&mut self, signals: &Arc<Signals>, writes: bool, now: Instant) -> bool {
        let mut more = false;
        let mut broken = Vec::new();
        let mut wants = self.pool.connections();
        for (connection, wire) in &mut self.wires {
            // The same ones in the same order, since all that was asked for is done.
            let reads = wants.find(|(other, _)| other == connection).is_some_and(|(_, reads)| reads);
            match wire.arm(reads, writes) {
                Ok(at_once) => more |= at_once,
                // A stream that cannot be waited for is at its end.
                Err(_) => broken.push(*connection),
            }
        }
        drop(wants);
        for connection in broken {
            self.pool.handle_eof(connection, true, now);
        }
        self.act(signals, now);
        more
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.pool.poll_timeout()
    }

    pub(crate) fn handle_timeout(&mut self, signals: &Arc<Signals>, now: Instant) {
        self.pool.handle_timeout(now);
        self.act(signals, now);
    }

    /// Breaks off everything that is under way.
    pub(crate) fn cut_off(&mut self, signals: &Arc<Signals>, now: Instant) {
        self.pool.cut_off(now);
        self.act(signals, now);
    }

    /// Closes all connections, for good.
    pub(crate) fn shut_down(&mut self, signals: &Arc<Signals>, now: Instant) {
        // What the session's own patience ends is told as what it was at.
        if let Some(dial) = self.dials.values().next().filter(|_| self.wires.is_empty()) {
            let late = DialFault::TimedOut { during: dial.step(), limit: self.connect };
            self.fault.get_or_insert(late);
        }
        self.pool.shut_down(now);
        self.act(signals, now);
    }
}
