//! What the settings of an endpoint refused, for whoever wants to know.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sanswire::http::endpoint::Refusal;

/// What the settings of an endpoint refused: requests whose `Host` or `Origin` is not welcome. Their clients see a 403;
/// this is for a log, since whoever is kept out by mistake wants to know which setting does it.
///
/// Given to an endpoint by [`HttpOptions::refusals`](crate::HttpOptions::refusals); its copies share what they hold. Of
/// each setting it holds one report, whose count grows until it is taken. No credentials are in it, but values of
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
}

impl Refusals {
    /// Nothing was refused so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next report, waited for no longer than this. `None`: nothing was refused meanwhile.
    #[must_use]
    pub fn next(&self, timeout: Duration) -> Option<Refusal> {
        let until = Instant::now().checked_add(timeout);
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// How many requests were refused in all, reported or not.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).total
    }

    pub(super) fn add(&self, refusal: Refusal) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.total += refusal.count;
        match state.waiting.iter_mut().find(|waiting| waiting.setting == refusal.setting) {
            Some(waiting) => waiting.count += refusal.count,
            None => state.waiting.push(refusal),
        }
        self.shared.news.notify_one();
    }
}
