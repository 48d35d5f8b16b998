//! What a waiting thread is roused with.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One waiting thread at most.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    state: Mutex<State>,
    rang: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Something that is watched changed.
    rung: bool,
    /// Stays until it is cleared.
    woken: bool,
}

impl Bell {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn ring(&self) {
        self.lock().rung = true;
        self.rang.notify_all();
    }

    /// Forgets what rang before: whoever waits next looks at what is watched first.
    pub(super) fn hush(&self) {
        self.lock().rung = false;
    }

    pub(super) fn is_woken(&self) -> bool {
        self.lock().woken
    }

    /// Until it rings or is woken. `None`: for ever.
    pub(super) fn wait(&self, timeout: Option<Duration>) {
        let quiet = |state: &mut State| !(state.rung || state.woken);
        let state = self.lock();
        match timeout {
            None => drop(self.rang.wait_while(state, quiet)),
            Some(timeout) => drop(self.rang.wait_timeout_while(state, timeout, quiet)),
        }
    }
}

/// The bells of those who watch something. More than one while the lead changes hands.
#[derive(Debug, Default)]
pub(super) struct Bells(Vec<Arc<Bell>>);

impl Bells {
    pub(super) fn add(&mut self, bell: &Arc<Bell>) {
        self.0.push(Arc::clone(bell));
    }

    pub(super) fn remove(&mut self, bell: &Arc<Bell>) {
        self.0.retain(|found| !Arc::ptr_eq(found, bell));
    }

    pub(super) fn ring(&self) {
        self.0.iter().for_each(|bell| bell.ring());
    }
}

/// Ends a wait from another thread.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    bell: Arc<Bell>,
}

impl Wake {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self::default())
    }

    /// The next or present wait on this returns.
    pub(crate) fn wake(&self) {
        self.bell.lock().woken = true;
        self.bell.rang.notify_all();
    }

    /// Forgets all wakes so far.
    pub(crate) fn clear(&self) {
        self.bell.lock().woken = false;
    }

    pub(super) const fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }
}
