//! The end of a host.

use std::sync::Arc;
use std::task::Waker;

use sanswire::Instant;
use sanswire_system::Exit;

use super::shared::{Shared, State};

impl Shared {
    pub(super) async fn close(self: &Arc<Self>) -> Vec<(String, Exit)> {
        let until = self.begin_close();
        let total = self.shutdown_total;
        let exits = self.until(Some(until), |state, late| {
            if state.closed.is_none() && (late || state.desk.links().len() == 0) {
                let State { desk, ends, closed, .. } = state;
                *closed = Some(ends.take(desk.links(), total));
            }
            state.closed.clone()
        });
        let exits = exits.await;
        self.finish_observing().await;
        exits
    }

    /// Every call is over and every connection is told to end. Until when that is waited for.
    fn begin_close(self: &Arc<Self>) -> Instant {
        let mut state = self.lock();
        if let Some(until) = state.closing {
            return until;
        }
        let now = self.clock.now();
        let until = now.saturating_add(self.shutdown_total);
        state.closing = Some(until);
        state.desk.machine.close(now);
        let wakes: Vec<_> = state.waiting.wake_all().collect();
        let timing = state.timing.take();
        self.settle(state);
        // It ends.
        if let Some(timing) = timing {
            timing.begin();
        }
        wakes.into_iter().for_each(Waker::wake);
        until
    }

    /// Nobody holds the host any more. Nothing is waited for, nor left to a watch that may not be run.
    pub(super) fn abandon(self: &Arc<Self>) {
        let timing = self.lock().timing.clone();
        self.begin_close();
        let (keepers, observing) = {
            let mut state = self.lock();
            (std::mem::take(&mut state.keepers), state.observing.take())
        };
        // Their connections go with them.
        for job in keepers.into_values().chain(observing).chain(timing) {
            job.withdraw();
        }
    }
}
