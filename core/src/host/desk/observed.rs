//! What waits for an observer.

use alloc::collections::VecDeque;

use crate::host::event::Event;

/// Events that wait; past that the oldest go.
const MAX_EVENTS: usize = 1024;

/// Events that wait for whoever observes, the oldest first: 1,024 at most.
#[derive(Debug, Default)]
pub struct Observed {
    events: VecDeque<Event>,
    lost: u64,
    /// One is being told.
    telling: bool,
}

impl Observed {
    pub(super) fn push(&mut self, event: Event) {
        self.events.push_back(event);
        if self.events.len() > MAX_EVENTS {
            self.events.pop_front();
            self.lost += 1;
        }
    }

    /// The next event to tell, and how many before it were dropped; the one before counts as told.
    pub fn take_next(&mut self) -> Option<(u64, Event)> {
        let event = self.events.pop_front();
        self.telling = event.is_some();
        event.map(|event| (core::mem::take(&mut self.lost), event))
    }

    /// Whether all were told.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.events.is_empty() && !self.telling
    }
}
