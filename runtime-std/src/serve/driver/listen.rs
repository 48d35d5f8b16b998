//! Accepts connections.

use std::io;
use std::sync::Arc;

use sanswire::Instant;
use sanswire_system::clock::Clock;
use sanswire_system::serve::ServeError;

use crate::os::{ACCEPT_PAUSE, Accept, Listener, Want};
use crate::serve::driver::hub::Hub;
use crate::serve::driver::table::{Connections, Table};
use crate::serve::driver::{Driver, State, Traffic, system};
use crate::serve::server::Inner;

/// Under which the hub knows the listener.
pub(super) const KEY: u64 = u64::MAX - 2;
/// Connections that are taken in one round, so that those that are there get their turn.
const AT_ONCE: usize = 64;

/// A listener at work.
pub(super) struct Listening {
    listener: Listener,
    max_connections: usize,
    /// The system was out of something: it is asked again then.
    pauses_until: Option<Instant>,
}

impl Listening {
    pub(super) const fn pauses_until(&self) -> Option<Instant> {
        self.pauses_until
    }

    pub(super) fn end(self, hub: &Hub) {
        hub.unlisten(KEY, &self.listener);
    }
}

impl Driver {
    /// Serves all who connect, each line a message, until the listener fails or is stopped, and all connections are
    /// over.
    pub(crate) fn listener(server: &Arc<Inner>, listener: Listener) -> Result<(), ServeError> {
        let clock = Clock::start();
        // A configuration that is of no use is better told now than to everyone who connects.
        drop(server.offered.connection(clock.now()).map_err(ServeError::Config)?);
        Self::listen(server, listener, clock, Box::new(Table::new(server, Connections::Many)))
    }

    /// Serves all who connect, until the listener fails or is stopped, and all connections are over.
    pub(in crate::serve) fn listen(
        server: &Arc<Inner>,
        listener: Listener,
        clock: Clock,
        traffic: Box<dyn Traffic>,
    ) -> Result<(), ServeError> {
        let driver = Self::new(server, Hub::sockets().map_err(system)?, clock, traffic);
        driver.hub.listen(KEY, &listener).map_err(system)?;
        let max_connections = server.serving.max_connections();
        driver.lock().listening = Some(Listening { listener, max_connections, pauses_until: None });
        driver.keep();
        let failed = driver.lock().failed.take();
        failed.map_or(Ok(()), |error| Err(ServeError::System(error)))
    }

    /// Takes those who wait.
    pub(super) fn accept(&self, state: &mut State, now: Instant) {
        let mut gave_way = false;
        for _ in 0..AT_ONCE {
            let Some(listening) = &mut state.listening else { return };
            match listening.listener.accept() {
                Accept::Conn(conn) => {
                    gave_way = false;
                    let room = state.traffic.len() < listening.max_connections;
                    if room || state.traffic.make_room(&self.hub, now) {
                        state.traffic.welcome(&self.hub, conn, now);
                    } else {
                        state.traffic.turn_away(conn);
                    }
                }
                Accept::Nothing => return,
                // One for one: what the system is short of others may take as well, and then no number of them helps.
                Accept::Later if !gave_way && state.traffic.make_room(&self.hub, now) => gave_way = true,
                Accept::Later => {
                    listening.pauses_until = Some(now.saturating_add(ACCEPT_PAUSE));
                    drop(self.hub.set_listening(KEY, &listening.listener, Want::NOTHING));
                    return;
                }
                Accept::Failed(error) => return self.stop_accepting(state, Some(error)),
            }
        }
    }

    /// Listens again after a pause.
    pub(super) fn resume_accepting(&self, state: &mut State, now: Instant) {
        let Some(listening) = &mut state.listening else { return };
        if listening.pauses_until.is_none_or(|until| until > now) {
            return;
        }
        listening.pauses_until = match self.hub.set_listening(KEY, &listening.listener, Want::READ) {
            Ok(()) => None,
            Err(_) => Some(now.saturating_add(ACCEPT_PAUSE)),
        };
    }

    /// Takes nobody any more.
    pub(super) fn stop_accepting(&self, state: &mut State, failed: Option<io::Error>) {
        if let Some(listening) = state.listening.take() {
            listening.end(&self.hub);
        }
        state.failed = state.failed.take().or(failed);
    }
}
