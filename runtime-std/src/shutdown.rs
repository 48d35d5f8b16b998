//! Ending many connections at once, within a bound.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use sanswire::error::CloseReason;
use sanswire_system::closing::{Closable, patience_of};
use sanswire_system::os::after;
use sanswire_system::{Ended, Exit};

use crate::client::Client;
use crate::shared::{Shared, State};

/// Ends these connections side by side, each as by [`Client::close`], and all of them within `total`. Gives how they
/// ended, in their order.
///
/// No server holds up another. What has not left after half of `total` is dropped; a process that is there shortly
/// before its end is killed with its group, wherever on its own [ladder](crate::StopLadder) it is. One that the system
/// cannot end even so is not waited for: its [`Exit::status`] is missing. So `total` is best longer than a ladder; 10 s
/// is usual.
///
/// One that was closed before gives what it gave then. Whoever is still connecting is not among these: that is what a
/// [`Closer`](crate::Closer) is for.
pub fn close_all(clients: impl IntoIterator<Item = Client>, total: Duration) -> Vec<Exit> {
    let clients: Vec<_> = clients.into_iter().collect();
    let shared: Vec<_> = clients.iter().map(|client| Arc::clone(client.shared())).collect();
    let end = after(total);
    let exits = shut_down(&shared, total);
    for (client, exit) in clients.into_iter().zip(&exits) {
        if exit.is_some() {
            client.finish(end.saturating_duration_since(Instant::now()));
        } else {
            // Dropped, it would wait for what is not waited for any more.
            std::mem::forget(client);
        }
    }
    let unknown = |shared: &Shared| Exit::new(None, Ended::OnKill, total, shared.lock().ring.text());
    exits.into_iter().zip(&shared).map(|(exit, shared)| exit.unwrap_or_else(|| unknown(shared))).collect()
}

/// As [`close_all`]; `None` for what has not ended by then. Each has a watcher, which does it.
pub(crate) fn shut_down(connections: &[Arc<Shared>], total: Duration) -> Vec<Option<Exit>> {
    let end = after(total);
    let kill = patience_of(total);
    let flushed = after(total / 2);
    for shared in connections {
        shared.hurry(kill);
        shared.begin_close();
    }
    for shared in connections {
        if shared.wait_until(flushed, |state| state.closed.clone()).is_none() {
            shared.cut_off();
        }
    }
    connections.iter().map(|shared| shared.wait_until(end, |state| state.exit.clone())).collect()
}

impl Closable for Shared {
    fn closed(&self) -> Option<CloseReason> {
        self.lock().closed.clone()
    }

    fn begin_close(&self) {
        let mut state = self.lock();
        if state.closed.is_none() {
            let now = self.clock.now();
            state.closing = true;
            state.machine.asked().close(now);
            self.deliver(&mut state, now);
            self.wake_leader(&mut state);
        }
        self.unlock(state);
    }

    fn cut_off(&self) {
        self.begin_close();
        let mut state = self.lock();
        if state.closed.is_none() {
            self.stop_writing(&mut state, self.clock.now());
            self.wake_leader(&mut state);
        }
        self.unlock(state);
    }

    fn hurry(&self, until: Instant) {
        let mut state = self.lock();
        state.patience_until = Some(state.patience_until.map_or(until, |before| before.min(until)));
        self.watch_wake.wake();
    }
}

impl Shared {
    /// Waits until something is there, or `end`.
    fn wait_until<T>(&self, end: Instant, found: impl Fn(&State) -> Option<T>) -> Option<T> {
        let mut state = self.lock();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match found(&state) {
                None if !left.is_zero() => {}
                found => return found,
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
