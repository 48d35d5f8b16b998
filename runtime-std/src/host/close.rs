//! The end of a host.

use std::sync::{Arc, PoisonError};

use sanswire_system::Exit;

use super::shared::{Shared, State};

impl Shared {
    pub(super) fn close(self: &Arc<Self>) -> Vec<(String, Exit)> {
        let mut state = self.lock();
        if state.closing {
            loop {
                if let Some(exits) = &state.closed {
                    return exits.clone();
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        state.closing = true;
        let now = self.clock.now();
        let until = now.saturating_add(self.shutdown_total);
        state.desk.machine.close(now);
        self.settle(state);
        self.timer.notify_all();
        self.changed.notify_all();
        let mut state = self.lock();
        loop {
            let left = until.saturating_since(self.clock.now());
            if state.desk.links().len() == 0 || left.is_zero() {
                break;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let State { desk, ends, .. } = &mut *state;
        let exits = ends.take(desk.links(), self.shutdown_total);
        state.closed = Some(exits.clone());
        self.changed.notify_all();
        exits
    }
}
