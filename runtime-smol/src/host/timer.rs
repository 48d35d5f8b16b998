//! What sees deadlines pass.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use super::shared::Shared;
use crate::alarm::Alarm;

/// Until the host is closed.
pub(super) async fn run(host: Arc<Shared>) {
    let mut alarm = Alarm::default();
    poll_fn(|cx| {
        alarm.look(cx);
        loop {
            let mut state = host.lock();
            if state.closing.is_some() {
                return Poll::Ready(());
            }
            let now = host.clock.now();
            let next = state.desk.machine.poll_timeout();
            if next.is_some_and(|at| at <= now) {
                state.desk.machine.handle_timeout(now);
                host.settle(state);
                continue;
            }
            // One that is set already rings no later for what comes next.
            state.timer_until = next.into_iter().chain(alarm.at()).min();
            drop(state);
            match next {
                Some(at) if !alarm.set(at, host.clock, cx.waker()) => {}
                _ => return Poll::Pending,
            }
        }
    })
    .await;
}
