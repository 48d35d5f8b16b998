//! How many handlers may run at once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::serve::hub::{NEWS, Signals};
use crate::signals::Fire as _;

/// Places for handlers, for all connections that share them.
pub(super) struct Places(Mutex<State>);

struct State {
    free: usize,
    /// Connections that found none, each once.
    waiting: VecDeque<Weak<Signals>>,
}

impl Places {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State { free: most, waiting: VecDeque::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one. If there is none, `asker` is woken when there may be.
    pub(super) fn take(&self, asker: &Arc<Signals>) -> bool {
        let mut state = self.lock();
        if state.free > 0 {
            state.free -= 1;
            return true;
        }
        if !state.waiting.iter().any(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(asker))) {
            state.waiting.push_back(Arc::downgrade(asker));
        }
        false
    }

    /// Gives so many back.
    pub(super) fn give(&self, places: usize) {
        let mut woken = Vec::new();
        {
            let mut state = self.lock();
            state.free += places;
            while woken.len() < places
                && let Some(next) = state.waiting.pop_front()
            {
                woken.extend(next.upgrade());
            }
        }
        woken.iter().for_each(|signals| signals.fire(NEWS));
    }
}
