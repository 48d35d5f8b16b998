//! Ending connections from elsewhere.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use sanswire::error::CloseReason;

use crate::shared::Shared;
use crate::shutdown::{all_ended, patience_of, shut_down};

/// Ends a connection from another task, while it is being opened too: what a signal or a button needs. Give it to
/// [`ConnectOptions::closer`](crate::ConnectOptions::closer); clones are the same. It keeps no connection open.
#[derive(Clone, Default)]
pub struct Closer(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    closed: bool,
    /// When patience with the servers ends.
    patience_until: Option<Instant>,
    connections: Vec<Weak<Shared>>,
}

impl Closer {
    /// One that nothing was opened with yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends every connection that was or is being opened with it, each as by
    /// [`Client::close`](crate::Client::close); what would be opened later fails at once. Ready when all servers
    /// that were started are gone.
    pub async fn close(&self) {
        let open: Vec<_> = self.take().iter().filter_map(Weak::upgrade).collect();
        for shared in &open {
            shared.begin_close();
        }
        all_ended(&open).await;
    }

    /// As [`close`](Self::close), and waits for nothing.
    pub(crate) fn begin(&self) {
        let connections = {
            let mut held = self.held();
            held.closed = true;
            held.connections.clone()
        };
        for shared in connections.iter().filter_map(Weak::upgrade) {
            shared.begin_close();
        }
    }

    /// As [`begin`](Self::begin), and each as by [`Client::kill`](crate::Client::kill). One that ended by itself is only
    /// closed: its exit status and its last words are its own then.
    pub(crate) fn begin_kill(&self) {
        let now = Instant::now();
        let connections = {
            let mut held = self.held();
            held.closed = true;
            held.patience_until = Some(now);
            held.connections.clone()
        };
        for shared in connections.iter().filter_map(Weak::upgrade) {
            // Its keeper may have begun to close it meanwhile.
            let goes_on = matches!(shared.lock().closed, None | Some(CloseReason::Local));
            if goes_on {
                shared.hurry(now);
                shared.cut_off();
            }
        }
    }

    /// Whether a connection was opened with it, or is being opened so far that it ends by itself.
    pub(crate) fn has_begun(&self) -> bool {
        self.held().connections.iter().any(|connection| connection.strong_count() > 0)
    }

    /// As [`close`](Self::close), and as [`close_all`](crate::close_all) within `total`. Whether all servers that were
    /// started are gone.
    pub async fn close_within(&self, total: Duration) -> bool {
        self.held().patience_until = Some(patience_of(total));
        let open: Vec<_> = self.take().iter().filter_map(Weak::upgrade).collect();
        shut_down(&open, total).await.iter().all(Option::is_some)
    }

    /// What is open or being opened; nothing will be from now on.
    fn take(&self) -> Vec<Weak<Shared>> {
        let mut held = self.held();
        held.closed = true;
        std::mem::take(&mut held.connections)
    }

    /// From here on the connection ends with it.
    pub(crate) fn attach(&self, shared: &Arc<Shared>) {
        let mut held = self.held();
        if held.closed {
            let patience_until = held.patience_until;
            drop(held);
            if let Some(until) = patience_until {
                shared.hurry(until);
            }
            shared.begin_close();
        } else {
            held.connections.retain(|connection| connection.strong_count() > 0);
            held.connections.push(Arc::downgrade(shared));
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Closer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closer").field("closed", &self.held().closed).finish_non_exhaustive()
    }
}
