//! A question to the client that waits for what becomes of it.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::wake::wake;

use sanswire::server::PeerOutcome;

/// The end that waits.
#[must_use = "it waits only if it is awaited"]
pub(super) struct Question(Arc<Slot>);

/// The end that tells. If it goes without a word, the client is lost.
pub(super) struct Answer(Arc<Slot>);

#[derive(Default)]
struct Slot(Mutex<State>);

#[derive(Default)]
struct State {
    outcome: Option<PeerOutcome>,
    waker: Option<Waker>,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn question() -> (Question, Answer) {
    let slot = Arc::<Slot>::default();
    (Question(Arc::clone(&slot)), Answer(slot))
}

impl Answer {
    pub(super) fn tell(self, outcome: PeerOutcome) {
        self.0.lock().outcome = Some(outcome);
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.outcome.get_or_insert(PeerOutcome::Lost);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            wake(waker);
        }
    }
}

impl Future for Question {
    type Output = PeerOutcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<PeerOutcome> {
        let mut state = self.0.lock();
        if let Some(outcome) = state.outcome.take() {
            return Poll::Ready(outcome);
        }
        if !state.waker.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            let before = state.waker.replace(cx.waker().clone());
            drop(state);
            drop(before);
        }
        Poll::Pending
    }
}
