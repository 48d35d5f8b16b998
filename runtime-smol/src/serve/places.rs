//! How many handlers may run at once, and who is next.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::serve::hub::{NEWS, Signals};
use crate::signals::Fire as _;

/// Places for handlers, for all connections that share them.
pub(super) struct Places(Mutex<State>);

struct State {
    free: usize,
    /// Connections that found none, each once, by when they came. What is free is for the first of them, a place each, and
    /// they were told; nobody comes before them, or one that asks all the time would leave nothing to the others.
    waiting: VecDeque<Arc<Signals>>,
}

/// What one connection has of the places, and wants of them.
pub(super) struct Share {
    places: Arc<Places>,
    signals: Arc<Signals>,
    taken: usize,
    /// It stands among those that wait.
    waits: bool,
}

impl Places {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State { free: most, waiting: VecDeque::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Where it stands among those for whom a place is free.
    fn turn_of(&self, asker: &Arc<Signals>) -> Option<usize> {
        self.waiting.iter().take(self.free).position(|known| Arc::ptr_eq(known, asker))
    }
}

impl Share {
    pub(super) fn new(places: &Arc<Places>, signals: &Arc<Signals>) -> Self {
        Self { places: Arc::clone(places), signals: Arc::clone(signals), taken: 0, waits: false }
    }

    /// Whether one can be taken now. If not, the connection is told when one can: it takes it then, or
    /// [passes](Self::pass).
    pub(super) fn may_take(&mut self) -> bool {
        self.claim(false)
    }

    /// Takes one. As [`may_take`](Self::may_take) if there is none.
    pub(super) fn take(&mut self) -> bool {
        self.claim(true)
    }

    fn claim(&mut self, takes: bool) -> bool {
        let mut state = self.places.lock();
        let turn = if self.waits { state.turn_of(&self.signals) } else { None };
        if turn.is_none() && (self.waits || state.waiting.len() >= state.free) {
            if !std::mem::replace(&mut self.waits, true) {
                state.waiting.push_back(Arc::clone(&self.signals));
            }
            return false;
        }
        if takes {
            if let Some(turn) = turn {
                state.waiting.remove(turn);
                self.waits = false;
            }
            state.free -= 1;
            self.taken += 1;
        }
        true
    }

    /// Gives so many back. Wakes those who are next, so nothing is locked.
    pub(super) fn give(&mut self, places: usize) {
        if places == 0 {
            return;
        }
        self.taken -= places;
        let next: Vec<_> = {
            let mut state = self.places.lock();
            let told = state.free;
            state.free += places;
            state.waiting.iter().skip(told).take(places).cloned().collect()
        };
        next.iter().for_each(|signals| signals.fire(NEWS));
    }

    /// It wants none any more. Wakes who is next, so nothing is locked.
    pub(super) fn pass(&mut self) {
        if !std::mem::take(&mut self.waits) {
            return;
        }
        let next = {
            let mut state = self.places.lock();
            let Some(at) = state.waiting.iter().position(|known| Arc::ptr_eq(known, &self.signals)) else {
                return;
            };
            state.waiting.remove(at);
            // Who moved up to the last of the free ones was not told so far.
            state
                .free
                .checked_sub(1)
                .filter(|last| at <= *last)
                .and_then(|last| state.waiting.get(last).cloned())
        };
        if let Some(next) = next {
            next.fire(NEWS);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give(self.taken);
        self.pass();
    }
}
