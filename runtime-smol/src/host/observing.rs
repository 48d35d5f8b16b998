//! What tells an observer what a host tells.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use sanswire::host::Event;
use sanswire::host::desk::Observed;

use super::shared::{Shared, State};
use super::surface::HostObserver;
use crate::jobs::Caught;

/// How long the end of a host waits for the last events to be told.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tells all events, until the host is closed and the last one was told.
pub(super) async fn run(host: Arc<Shared>, observer: Arc<dyn HostObserver>) {
    while let Some((lost, event)) = poll_fn(|_| host.next_observed()).await {
        let told = Caught::new(|| {
            Box::pin(async {
                if lost > 0 {
                    observer.lost(lost);
                }
                observer.event(&event).await;
            })
        });
        host.on_this_thread(told).await;
    }
}

impl State {
    /// Whether all was told, or it is the observer who asks.
    fn is_told(&self) -> bool {
        self.desk.observed.as_ref().is_none_or(Observed::is_done)
            || self.observer_on == Some(std::thread::current().id())
    }
}

impl Shared {
    /// The next event to tell; `None`: there are no more. Whoever puts one there begins the job anew.
    fn next_observed(&self) -> Poll<Option<(u64, Event)>> {
        let mut state = self.lock();
        let next = state.desk.observed.as_mut().and_then(Observed::take_next);
        if next.is_some() {
            return Poll::Ready(next);
        }
        let over = state.closed.is_some();
        let wakes: Vec<_> = if over { state.waiting.wake_all().collect() } else { Vec::new() };
        drop(state);
        wakes.into_iter().for_each(Waker::wake);
        if over { Poll::Ready(None) } else { Poll::Pending }
    }

    /// Runs the observer's code; it is noted on which thread.
    async fn on_this_thread<T>(&self, work: impl Future<Output = T>) {
        let mut work = pin!(work);
        poll_fn(|cx| {
            self.lock().observer_on = Some(std::thread::current().id());
            let polled = work.as_mut().poll(cx);
            self.lock().observer_on = None;
            polled.map(drop)
        })
        .await;
    }

    /// Waits for the last events to be told, not for long, and not if it is the observer who closes.
    pub(super) async fn finish_observing(&self) {
        let observing = self.lock().observing.clone();
        let Some(observing) = observing else { return };
        observing.begin();
        let until = self.clock.later(PATIENCE);
        self.until(Some(until), |state, late| (late || state.is_told()).then_some(())).await;
    }
}
