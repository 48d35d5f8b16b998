//! What a leader does with what its poll found.

use sanswire::Instant;

use super::Net;
use crate::link::Link;
use crate::os::Polls;
use crate::shared::{MAX_READS, Shared, State};

impl State {
    fn net(&mut self) -> Option<&mut Net> {
        match &mut self.machine {
            Link::Http(net) => Some(net),
            Link::Line(_) => None,
        }
    }
}

impl Shared {
    /// Writes and reads whatever is ready.
    pub(crate) fn attend(&self, state: &mut State, polls: Polls, now: Instant) {
        for found in polls.found() {
            if found.writable
                && let Some(net) = state.net()
            {
                net.write(self, found.key, now);
                self.deliver(state, now);
            }
            if found.readable {
                self.read_connection(state, found.key, now);
            }
        }
        let holding = state.net().map(|net| net.holding()).unwrap_or_default();
        for number in holding {
            self.read_connection(state, number, now);
        }
        if let Some(net) = state.net() {
            net.keep(polls);
        }
    }

    /// Reads what is there of one connection, so much of it that the others get their turn.
    fn read_connection(&self, state: &mut State, number: u64, now: Instant) {
        for _ in 0..MAX_READS {
            let Some(net) = state.net() else { return };
            let more = net.read(self, number, now);
            self.deliver(state, now);
            if !more {
                return;
            }
        }
    }
}
