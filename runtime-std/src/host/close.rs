//! The end of a host.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use sanswire_system::{Ended, Exit};

use super::shared::Shared;

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
        state.machine.close(now);
        self.settle(state);
        self.timer.notify_all();
        self.changed.notify_all();
        let mut state = self.lock();
        loop {
            let left = until.saturating_since(self.clock.now());
            if state.links.is_empty() || left.is_zero() {
                break;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let mut exits = std::mem::take(&mut state.exits);
        for (client, link) in &state.links {
            exits.insert(Arc::clone(&link.server), (client.session(), left_behind(self.shutdown_total)));
        }
        let exits: Vec<_> =
            exits.into_iter().map(|(server, (_, exit))| (String::from(&*server), exit)).collect();
        state.closed = Some(exits.clone());
        self.changed.notify_all();
        exits
    }
}

/// Of a connection whose end was not waited for any longer.
const fn left_behind(took: Duration) -> Exit {
    Exit::new(None, Ended::OnKill, took, String::new())
}
