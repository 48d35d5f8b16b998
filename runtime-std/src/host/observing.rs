//! What waits for an observer, and the thread that tells it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use sanswire::host::Event;

use super::shared::Shared;
use super::surface::HostObserver;

const MAX_EVENTS: usize = 1024;

/// How long the end of a host waits for the last events to be told.
const PATIENCE: Duration = Duration::from_secs(1);

/// Events that wait, the oldest first.
#[derive(Default)]
pub(super) struct Observed {
    events: VecDeque<Event>,
    lost: u64,
    /// One is being told.
    telling: bool,
    /// Who tells.
    thread: Option<ThreadId>,
}

impl Observed {
    pub(super) fn push(&mut self, event: Event) {
        self.events.push_back(event);
        if self.events.len() > MAX_EVENTS {
            self.events.pop_front();
            self.lost += 1;
        }
    }

    fn is_done(&self) -> bool {
        self.events.is_empty() && !self.telling || self.thread == Some(std::thread::current().id())
    }
}

/// Tells all events, until the host is closed and the last one was told.
pub(super) fn run(host: &Arc<Shared>, observer: &Arc<dyn HostObserver>) {
    let mut state = host.lock();
    loop {
        let over = state.closed.is_some();
        let Some(observed) = &mut state.observed else { return };
        observed.thread = Some(std::thread::current().id());
        let lost = std::mem::take(&mut observed.lost);
        let event = observed.events.pop_front();
        observed.telling = event.is_some();
        let Some(event) = event else {
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

impl Shared {
    /// Waits for the last events to be told, not for long, and not if it is the observer who closes.
    pub(super) fn finish_observing(&self) {
        let until = self.clock.later(PATIENCE);
        let mut state = self.lock();
        self.observe.notify_all();
        loop {
            let left = until.saturating_since(self.clock.now());
            if left.is_zero() || state.observed.as_ref().is_none_or(Observed::is_done) {
                return;
            }
            state = self.observe.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
