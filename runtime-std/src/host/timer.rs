//! The thread that sees deadlines pass.

use std::sync::{Arc, PoisonError};

use super::shared::Shared;

/// The machine's code runs here; only what it touches becomes memory.
pub(super) const STACK: usize = 512 * 1024;

/// Until the host is closed.
pub(super) fn run(host: &Arc<Shared>) {
    let mut state = host.lock();
    while !state.closing {
        let now = host.clock.now();
        let next = state.desk.machine.poll_timeout();
        if next.is_some_and(|at| at <= now) {
            state.desk.machine.handle_timeout(now);
            host.settle(state);
            state = host.lock();
            continue;
        }
        state.timer_until = next;
        state = match next {
            Some(at) => {
                host.timer
                    .wait_timeout(state, at.saturating_since(now))
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            }
            None => host.timer.wait(state).unwrap_or_else(PoisonError::into_inner),
        };
    }
}
