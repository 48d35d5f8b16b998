//! What the settings of an endpoint refused, for whoever wants to know.

use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use sanswire::http::endpoint::Refusal;

/// Tasks that wait at once. Past that the first is woken in vain, and comes back if it still waits.
const MAX_WAKERS: usize = 8;

/// What the settings of an endpoint refused: requests whose `Host` or `Origin` is not welcome. Their clients see a 403;
/// this is for a log, since whoever is kept out by mistake wants to know which setting does it.
///
/// Given to an endpoint by [`HttpOptions::refusals`](crate::serve::HttpOptions::refusals); its copies share what they hold.
/// Of each setting it holds one report, whose count grows until it is taken. No credentials are in it, but values of
/// strangers' choice: escape them where that matters.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// By setting, of which there are few.
    waiting: Vec<Refusal>,
    total: u64,
    wakers: Vec<Waker>,
}

impl Refusals {
    /// Nothing was refused so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next report, waited for no longer than this; blocks. `None`: nothing was refused meanwhile.
    #[must_use]
    pub fn next(&self, timeout: Duration) -> Option<Refusal> {
        let until = Instant::now().checked_add(timeout);
        let mut state = self.lock();
        while state.waiting.is_empty() {
            let left = until.map_or(timeout, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return None;
            }
            let waited = self.shared.news.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(state.waiting.remove(0))
    }

    /// The next report, for a task that waits for it. Of several that wait, each report is for one.
    pub async fn recv(&self) -> Refusal {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// How many requests were refused in all, reported or not.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.lock().total
    }

    /// One more, which a runtime was told. Wakes whoever waits, so nothing is locked.
    pub fn add(&self, refusal: Refusal) {
        let mut state = self.lock();
        state.total += refusal.count;
        match state.waiting.iter_mut().find(|waiting| waiting.setting == refusal.setting) {
            Some(waiting) => waiting.count += refusal.count,
            None => state.waiting.push(refusal),
        }
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.shared.news.notify_one();
        wakers.into_iter().for_each(Waker::wake);
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<Refusal> {
        let mut state = self.lock();
        if !state.waiting.is_empty() {
            return Poll::Ready(state.waiting.remove(0));
        }
        if state.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        let crowded = state.wakers.len() >= MAX_WAKERS;
        let first = crowded.then(|| state.wakers.remove(0));
        state.wakers.push(cx.waker().clone());
        drop(state);
        if let Some(first) = first {
            first.wake();
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
