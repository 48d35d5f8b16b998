//! Whether a request is still wanted.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sanswire::server::kit;

/// Tasks that are told of one end. Past that the first is woken in vain, and comes back if it still waits.
const MAX_WAKERS: usize = 8;

/// Whether a request is still wanted. Threads and tasks can wait for that to change, which it does once.
#[derive(Debug, Default)]
pub struct Cancel {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    cancelled: bool,
    /// Threads that wait.
    sleepers: usize,
    wakers: Vec<Waker>,
}

impl kit::Cancel for Cancel {
    fn cancel(&self) {
        self.set();
    }
}

impl Cancel {
    /// Nobody wants the answer any more.
    pub fn set(&self) {
        let mut state = self.lock();
        state.cancelled = true;
        let wakers = std::mem::take(&mut state.wakers);
        // To tell nobody is a system call too.
        let sleepers = state.sleepers;
        drop(state);
        if sleepers > 0 {
            self.changed.notify_all();
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Whether nobody does.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.lock().cancelled
    }

    /// Blocks until nobody does, for so long at most. Whether it came to that.
    pub fn wait(&self, patience: Duration) -> bool {
        let mut state = self.lock();
        state.sleepers += 1;
        let waited = self.changed.wait_timeout_while(state, patience, |state| !state.cancelled);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.sleepers -= 1;
        state.cancelled
    }

    /// Ready once nobody does; until then the task of `cx` is woken when that comes.
    pub fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.cancelled {
            return Poll::Ready(());
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn all_that_wait_are_told_once() {
        let cancel = Arc::new(Cancel::default());
        let counts: Vec<_> = (0..3).map(|_| Arc::new(Count::default())).collect();
        for count in &counts {
            let waker = Waker::from(Arc::clone(count));
            for _ in 0..5 {
                assert!(cancel.poll(&Context::from_waker(&waker)).is_pending());
            }
        }
        let thread = std::thread::spawn({
            let cancel = Arc::clone(&cancel);
            move || cancel.wait(Duration::from_secs(60))
        });
        cancel.set();
        assert!(thread.join().unwrap());
        assert!(cancel.poll(&Context::from_waker(Waker::noop())).is_ready());
        for count in &counts {
            assert_eq!(count.0.load(Ordering::Relaxed), 1);
        }
    }

    #[test]
    fn tasks_that_come_and_go_do_not_pile_up() {
        let cancel = Cancel::default();
        let first = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&first));
        assert!(cancel.poll(&Context::from_waker(&waker)).is_pending());
        for _ in 0..100 {
            let waker = Waker::from(Arc::new(Count::default()));
            assert!(cancel.poll(&Context::from_waker(&waker)).is_pending());
        }
        assert_eq!(cancel.lock().wakers.len(), MAX_WAKERS);
        assert_eq!(first.0.load(Ordering::Relaxed), 1, "whoever had to go is told to come back");
    }
}
