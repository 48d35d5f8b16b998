//! Requests that are under way.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_io::Timer;
use sanswire::client::{Outcome, Progress, RequestHandle};

use crate::lead::Seat;
use crate::shared::{Locked, Shared};

/// A request under way: a future of its outcome, which drives the connection while it is polled. Dropping it cancels the
/// request, on the wire too.
///
/// It may be moved to another task at any time. After its outcome was taken by other means it is over at once, as
/// [`Outcome::Cancelled`].
#[must_use = "dropping it cancels the request"]
pub struct Pending {
    shared: Arc<Shared>,
    request: RequestHandle,
    open: bool,
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

    /// Waits for the end of the request, for `timeout` at most. `None`: it is open still, or its outcome was
    /// taken already.
    pub async fn wait_timeout(&mut self, timeout: Duration) -> Option<Outcome> {
        if !self.open {
            return None;
        }
        let waited = async { Some((&mut *self).await) };
        let over = async {
            Timer::after(timeout).await;
            None
        };
        futures_lite::future::or(waited, over).await
    }

    /// The outcome, if it is there. Reads nothing.
    pub fn try_take(&mut self) -> Option<Outcome> {
        let mut state = self.shared.lock();
        let outcome = state.calls.take_finished(self.request)?;
        self.shared.leave(&mut state, Seat::Call(self.request));
        drop(state);
        self.open = false;
        Some(outcome)
    }

    /// The next progress report, of a request that was made with
    /// [`start_with_progress`](crate::Client::start_with_progress). `None` once the request has ended and all its
    /// reports were taken. Up to 64 wait; past that the oldest go.
    pub async fn next_progress(&mut self) -> Option<Progress> {
        std::future::poll_fn(|cx| self.poll_progress(cx)).await
    }

    pub(crate) fn poll_progress(&self, cx: &mut Context<'_>) -> Poll<Option<Progress>> {
        let (request, open) = (self.request, self.open);
        if !open {
            return Poll::Ready(None);
        }
        let told = |state: &mut Locked<'_>| {
            let told = state.calls.next_progress(request);
            if told.is_none() && !state.calls.is_finished(request) { None } else { Some(told) }
        };
        self.shared.poll(Seat::Call(request), cx, told)
    }

    /// As [`poll`](Future::poll), under a lock that is held already.
    pub(crate) fn poll_locked(&mut self, state: &mut Locked<'_>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let polled = self.shared.poll_call(state, self.request, cx);
        self.open = polled.is_pending();
        polled
    }

    /// What ends it while somebody else waits for it.
    pub(crate) fn canceller(&self) -> Canceller {
        Canceller { shared: Arc::clone(&self.shared), request: self.request }
    }

    /// Cancels the request. `reason` is told to the server.
    pub fn cancel(mut self, reason: Option<&str>) {
        self.open = false;
        self.shared.abandon(self.request, reason);
    }
}

impl Future for Pending {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let this = self.get_mut();
        if !this.open {
            return Poll::Ready(Outcome::Cancelled);
        }
        let Self { shared, request, open } = this;
        let polled = shared.poll_call(&mut shared.lock(), *request, cx);
        *open = polled.is_pending();
        polled
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.open {
            self.shared.abandon(self.request, None);
        }
    }
}

/// Ends a request that somebody else waits for: it gets [`Outcome::Cancelled`].
pub(crate) struct Canceller {
    shared: Arc<Shared>,
    request: RequestHandle,
}

impl Canceller {
    pub(crate) fn cancel(&self) {
        let shared = &*self.shared;
        let mut state = shared.lock();
        let now = shared.clock.now();
        if state.link.asked().cancel(self.request, None, now).is_ok() {
            shared.deliver(&mut state, now);
            shared.flush(&mut state, now);
            shared.give_up_if_deaf(&mut state, now);
            shared.kick(&mut state, now);
        }
    }
}

impl Shared {
    /// Looks for the outcome of a call, and drives the connection if it is not there.
    fn poll_call(
        &self,
        state: &mut Locked<'_>,
        request: RequestHandle,
        cx: &mut Context<'_>,
    ) -> Poll<Outcome> {
        self.poll_locked(state, Seat::Call(request), cx, &mut |state| state.calls.take_finished(request))
    }

    /// Gives a call up; its outcome is nobody's any more.
    fn abandon(&self, request: RequestHandle, reason: Option<&str>) {
        let mut state = self.lock();
        self.leave(&mut state, Seat::Call(request));
        let now = self.clock.now();
        if state.calls.remove(request).is_none() && state.link.asked().cancel(request, reason, now).is_ok() {
            self.deliver(&mut state, now);
            if state.corks == 0 {
                self.flush(&mut state, now);
            }
            self.give_up_if_deaf(&mut state, now);
            self.kick(&mut state, now);
        }
    }
}

/// Holds writes back; see [`Client::cork`](crate::Client::cork).
#[must_use = "the cork is out as soon as this is dropped"]
pub struct Cork<'a> {
    shared: &'a Shared,
}

impl fmt::Debug for Cork<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        if state.corks == 0 && state.link.has_output() {
            let now = self.shared.clock.now();
            self.shared.flush(&mut state, now);
            self.shared.kick(&mut state, now);
        }
    }
}
