//! Who may start, and who waits for a turn.

use alloc::collections::VecDeque;

/// The places of servers that start. An attempt keeps its place until it is over, so that so many at most are under way.
#[derive(Debug)]
pub(super) struct Starting {
    max: usize,
    taken: usize,
    /// Servers, in the order they asked in; each at most once.
    queue: VecDeque<u32>,
}

impl Starting {
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
