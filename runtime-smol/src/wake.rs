//! Waking that does not nest.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

thread_local! {
    /// Who is still to be woken by this thread, while it wakes somebody.
    static NEXT: RefCell<Option<VecDeque<Waker>>> = const { RefCell::new(None) };
}

/// Wakes a task.
///
/// A waker is anybody's code: it may call a client or a server, which wakes somebody, whose waker does the same. So whoever
/// is to be woken by what a waker does is woken once that is over, by the same thread: what goes on for long takes no
/// stack.
pub(crate) fn wake(waker: Waker) {
    let mut waker = Some(waker);
    let is_first = NEXT.try_with(|next| {
        let mut next = next.borrow_mut();
        let is_first = next.is_none();
        let next = next.get_or_insert_default();
        if !is_first {
            next.extend(waker.take());
        }
        is_first
    });
    let rest = is_first.is_ok_and(|is_first| is_first).then(|| Rest);
    if let Some(waker) = waker {
        waker.wake();
    }
    while rest.is_some()
        && let Some(waker) = next()
    {
        waker.wake();
    }
}

/// Who is to be woken next by this thread.
fn next() -> Option<Waker> {
    NEXT.try_with(|next| next.borrow_mut().as_mut()?.pop_front()).ok().flatten()
}

/// From the first that is woken to the last. One that panics keeps nobody from being woken.
struct Rest;

impl Drop for Rest {
    fn drop(&mut self) {
        while let Some(waker) = next() {
            drop(catch_unwind(AssertUnwindSafe(|| waker.wake())));
        }
        let _ = NEXT.try_with(|next| next.borrow_mut().take());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    /// Wakes itself for as long as something is left.
    struct Again(AtomicUsize);

    impl Wake for Again {
        fn wake(self: Arc<Self>) {
            if self.0.fetch_sub(1, Ordering::SeqCst) > 1 {
                wake(Waker::from(Arc::clone(&self)));
            }
        }
    }

    #[test]
    fn a_waker_that_wakes_again_and_again_takes_no_stack() {
        let again = Arc::new(Again(AtomicUsize::new(1_000_000)));
        wake(Waker::from(Arc::clone(&again)));
        assert_eq!(again.0.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_waker_that_panics_leaves_the_thread_as_it_was() {
        struct Panics(Arc<Again>);
        impl Wake for Panics {
            fn wake(self: Arc<Self>) {
                wake(Waker::from(Arc::clone(&self.0)));
                assert_eq!(self.0.0.load(Ordering::SeqCst), usize::MAX, "as it was asked to");
            }
        }
        let again = Arc::new(Again(AtomicUsize::new(2)));
        let panics = Waker::from(Arc::new(Panics(Arc::clone(&again))));
        assert!(catch_unwind(AssertUnwindSafe(|| wake(panics))).is_err());
        assert_eq!(again.0.load(Ordering::SeqCst), 0, "who was to be woken then is woken");
        let again = Arc::new(Again(AtomicUsize::new(2)));
        wake(Waker::from(Arc::clone(&again)));
        assert_eq!(again.0.load(Ordering::SeqCst), 0, "it is woken at once");
    }
}
