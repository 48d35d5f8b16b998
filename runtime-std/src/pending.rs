//! Requests that are under way while their thread does something else.

use std::sync::Arc;
use std::time::Duration;

use sanswire::client::{Outcome, Progress, RequestHandle};

use crate::lead::Waited;
use crate::shared::Shared;

/// A request under way. Dropping it cancels the request, on the wire too.
#[must_use = "dropping it cancels the request"]
pub struct Pending {
    shared: Arc<Shared>,
    request: RequestHandle,
    open: bool,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending").field("request", &self.request).finish_non_exhaustive()
    }
}

impl Pending {
    pub(crate) const fn new(shared: Arc<Shared>, request: RequestHandle) -> Self {
        Self { shared, request, open: true }
    }

    /// The request's handle, by which notifications name a subscription.
    #[must_use]
    pub const fn handle(&self) -> RequestHandle {
        self.request
    }

    /// Waits for the end of the request.
    #[must_use]
    pub fn wait(mut self) -> Outcome {
        self.wait_until(None, None).unwrap_or(Outcome::Cancelled)
    }

    /// As [`wait`](Self::wait). Progress is told on this thread, if it was asked for when the request was made.
    pub(crate) fn wait_with(mut self, on_progress: &mut dyn FnMut(&Progress)) -> Outcome {
        self.wait_until(None, Some(on_progress)).unwrap_or(Outcome::Cancelled)
    }

    /// What ends it while another thread waits for it.
    pub(crate) fn canceller(&self) -> Canceller {
        Canceller { shared: Arc::clone(&self.shared), request: self.request }
    }

    /// Waits for the end of the request, for `timeout` at most. `None`: it is open still, or its outcome was
    /// taken already.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Outcome> {
        self.wait_until(Some(timeout), None)
    }

    /// The outcome, if it is there. Reads nothing.
    pub fn try_take(&mut self) -> Option<Outcome> {
        let outcome = self.shared.lock().calls.take_finished(self.request)?;
        self.open = false;
        Some(outcome)
    }

    fn wait_until(
        &mut self,
        timeout: Option<Duration>,
        progress: Option<&mut dyn FnMut(&Progress)>,
    ) -> Option<Outcome> {
        if !self.open {
            return None;
        }
        let mut state = self.shared.lock();
        // What was reported comes before the end.
        if progress.is_none()
            && let Some(outcome) = state.calls.take_finished(self.request)
        {
            self.open = false;
            return Some(outcome);
        }
        let now = self.shared.clock.now();
        let until = timeout.map(|timeout| now.saturating_add(timeout));
        match self.shared.wait_call(state, self.request, now, until, progress) {
            Waited::Finished(outcome) => {
                self.open = false;
                Some(outcome)
            }
            Waited::NotYet => None,
        }
    }

    /// Cancels the request. `reason` is told to the server.
    pub fn cancel(mut self, reason: Option<&str>) {
        self.open = false;
        self.shared.abandon(self.request, reason);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.open {
            self.shared.abandon(self.request, None);
        }
    }
}

/// Ends a request that another thread waits for: it gets [`Outcome::Cancelled`].
pub(crate) struct Canceller {
    shared: Arc<Shared>,
    request: RequestHandle,
}

impl Canceller {
    pub(crate) fn cancel(&self) {
        let shared = &*self.shared;
        let mut state = shared.lock();
        let now = shared.clock.now();
        if state.machine.asked().cancel(self.request, None, now).is_ok() {
            shared.deliver(&mut state, now);
            shared.flush(&mut state, now);
            shared.give_up_if_deaf(&mut state, now);
            // The leader may be the one that waits for it.
            shared.wake_leader(&mut state);
        }
        shared.unlock(state);
    }
}

impl Shared {
    /// Gives a call up; its outcome is nobody's any more.
    pub(crate) fn abandon(&self, request: RequestHandle, reason: Option<&str>) {
        let mut state = self.lock();
        let now = self.clock.now();
        if state.calls.remove(request).is_none() && state.machine.asked().cancel(request, reason, now).is_ok()
        {
            self.deliver(&mut state, now);
            if state.corks == 0 {
                self.flush(&mut state, now);
            }
            self.give_up_if_deaf(&mut state, now);
            self.kick(&mut state);
        }
        self.unlock(state);
    }
}

/// Holds writes back; see [`Client::cork`](crate::Client::cork).
#[must_use = "the cork is out as soon as this is dropped"]
pub struct Cork<'a> {
    shared: &'a Shared,
}

impl std::fmt::Debug for Cork<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cork")
    }
}

impl<'a> Cork<'a> {
    pub(crate) fn new(shared: &'a Shared) -> Self {
        shared.lock().corks += 1;
        Self { shared }
    }
}

impl Drop for Cork<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.corks -= 1;
        if state.corks == 0 && state.machine.has_output() {
            let now = self.shared.clock.now();
            self.shared.flush(&mut state, now);
            self.shared.kick(&mut state);
        }
        self.shared.unlock(state);
    }
}
