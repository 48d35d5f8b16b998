//! Who may begin something, and who waits for a turn.

use alloc::collections::VecDeque;

/// So many places. Who has one keeps it until it gives it back, so that so much at most is under way.
#[derive(Debug)]
pub(super) struct Places {
    max: usize,
    taken: usize,
    /// Servers, in the order they asked in; each at most once.
    queue: VecDeque<u32>,
}

impl Places {
    pub(super) const fn new(max: usize) -> Self {
        Self { max, taken: 0, queue: VecDeque::new() }
    }

    /// Wants a place.
    pub(super) fn ask(&mut self, server: u32) {
        self.queue.push_back(server);
    }

    /// Wants none any more.
    pub(super) fn withdraw(&mut self, server: u32) {
        self.queue.retain(|waiting| *waiting != server);
    }

    /// The next that gets a place, if one is free.
    pub(super) fn admit(&mut self) -> Option<u32> {
        let next = if self.taken < self.max { self.queue.pop_front() } else { None };
        self.taken += usize::from(next.is_some());
        next
    }

    /// A place is free again.
    pub(super) fn release(&mut self) {
        self.taken = self.taken.saturating_sub(1);
    }

    #[cfg(test)]
    pub(super) const fn taken(&self) -> usize {
        self.taken
    }
}
