//! The thread that tells an observer what a host tells.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use sanswire::host::desk::Observed;

use super::shared::{Shared, State};
use super::surface::HostObserver;

/// How long the end of a host waits for the last events to be told.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tells all events, until the host is closed and the last one was told.
pub(super) fn run(host: &Arc<Shared>, observer: &Arc<dyn HostObserver>) {
    let mut state = host.lock();
    state.observing = Some(std::thread::current().id());
    loop {
        let over = state.closed.is_some();
        let Some(observed) = &mut state.desk.observed else { return };
        let Some((lost, event)) = observed.take_next() else {
            host.observe.notify_all();
            if over {
                return;
            }
            state = host.observe.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        drop(state);
        let _ = catch_unwind(AssertUnwindSafe(|| {
            if lost > 0 {
                observer.lost(lost);
            }
            observer.event(&event);
        }));
        state = host.lock();
    }
}

impl State {
    /// Whether all was told, or it is the observer who asks.
    fn is_told(&self) -> bool {
        self.desk.observed.as_ref().is_none_or(Observed::is_done)
            || self.observing == Some(std::thread::current().id())
    }
}

impl Shared {
    /// Waits for the last events to be told, not for long, and not if it is the observer who closes.
    pub(super) fn finish_observing(&self) {
        let until = self.clock.later(PATIENCE);
        let mut state = self.lock();
        self.observe.notify_all();
        loop {
            let left = until.saturating_since(self.clock.now());
            if left.is_zero() || state.is_told() {
                return;
            }
            state = self.observe.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
