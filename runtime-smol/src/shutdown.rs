//! Ending connections, one and many at once within a bound.

use std::future::Future;
use std::io::Write as _;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use async_io::Timer;
use sanswire::error::CloseReason;
use sanswire_system::closing::{Closable, patience_of};
use sanswire_system::os::after;
use sanswire_system::{Ended, Exit};

use crate::client::Client;
use crate::shared::Shared;

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
pub async fn close_all(clients: impl IntoIterator<Item = Client>, total: Duration) -> Vec<Exit> {
    let shared: Vec<_> = clients.into_iter().map(|client| Arc::clone(client.shared())).collect();
    let exits = shut_down(&shared, total).await;
    let unknown = |shared: &Shared| Exit::new(None, Ended::OnKill, total, shared.lock().ring.text());
    exits.into_iter().zip(&shared).map(|(exit, shared)| exit.unwrap_or_else(|| unknown(shared))).collect()
}

/// As [`close_all`]; `None` for what has not ended by then.
pub(crate) async fn shut_down(connections: &[Arc<Shared>], total: Duration) -> Vec<Option<Exit>> {
    let (end, kill, flushed) = (after(total), patience_of(total), after(total / 2));
    for shared in connections {
        shared.hurry(kill);
        shared.begin_close();
    }
    within(flushed, connections, async |shared| {
        shared.until(|state| state.closed.clone()).await;
    })
    .await;
    for shared in connections {
        shared.cut_off();
    }
    ended_by(end, connections).await;
    connections.iter().map(|shared| shared.lock().exit.clone()).collect()
}

/// Waits for the end of all, side by side.
pub(crate) async fn all_ended(connections: &[Arc<Shared>]) {
    ended_by(after(Duration::MAX), connections).await;
}

async fn ended_by(end: Instant, connections: &[Arc<Shared>]) {
    within(end, connections, async |shared| {
        shared.ended().await;
    })
    .await;
}

/// Waits for something of all, side by side, until `end` at most.
async fn within(end: Instant, connections: &[Arc<Shared>], wait: impl AsyncFn(&Shared)) {
    let mut waits: Vec<_> = connections.iter().map(|shared| Some(Box::pin(wait(shared)))).collect();
    let mut over = pin!(Timer::at(end));
    std::future::poll_fn(|cx| {
        for wait in &mut waits {
            if wait.as_mut().is_some_and(|wait| wait.as_mut().poll(cx).is_ready()) {
                *wait = None;
            }
        }
        if waits.iter().all(Option::is_none) { Poll::Ready(()) } else { over.as_mut().poll(cx).map(drop) }
    })
    .await;
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
            state.link.asked().close(now);
            self.flush(&mut state, now);
            self.deliver(&mut state, now);
            self.kick(&mut state, now);
        }
    }

    fn cut_off(&self) {
        self.begin_close();
        let mut state = self.lock();
        if state.closed.is_none() {
            let now = self.clock.now();
            self.stop_writing(&mut state, now);
            self.kick(&mut state, now);
        }
    }

    fn hurry(&self, until: Instant) {
        let mut state = self.lock();
        state.patience_until = Some(state.patience_until.map_or(until, |before| before.min(until)));
        if let Some(hurry) = &mut state.hurry {
            let _ = hurry.write(&[1]);
        }
    }
}

impl Shared {
    /// Ends the connection; ready when the process is gone.
    pub(crate) async fn close(&self) -> Exit {
        self.begin_close();
        self.ended().await
    }

    /// Waits for the end, and for what comes after it.
    pub(crate) async fn ended(&self) -> Exit {
        self.until(|state| state.exit.clone().filter(|_| state.over)).await
    }
}
