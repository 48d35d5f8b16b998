//! Events that wait to be taken, with what they hold.

use alloc::collections::VecDeque;

/// How many empty places a queue keeps once it is empty.
const KEPT: usize = 32;

/// A queue of events. Each counts with its own size, so that many small ones count as well.
pub(super) struct Events<E> {
    queue: VecDeque<(usize, E)>,
    bytes: usize,
}

impl<E> Events<E> {
    pub(super) const fn new() -> Self {
        Self { queue: VecDeque::new(), bytes: 0 }
    }

    /// Adds one that holds `bytes` on the heap.
    pub(super) fn push(&mut self, event: E, bytes: usize) {
        let cost = bytes + size_of::<(usize, E)>();
        self.bytes += cost;
        self.queue.push_back((cost, event));
    }

    pub(super) fn pop(&mut self) -> Option<E> {
        let (cost, event) = self.queue.pop_front()?;
        self.bytes -= cost;
        if self.queue.is_empty() && self.queue.capacity() > KEPT {
            self.queue = VecDeque::new();
        }
        Some(event)
    }

    /// Whether so much waits that nothing more should be read. One event may always come.
    pub(super) fn is_full(&self, limit: usize) -> bool {
        self.bytes >= limit && !self.queue.is_empty()
    }

    /// Bytes of memory held, spare room included.
    pub(super) fn retained_bytes(&self) -> usize {
        self.bytes + (self.queue.capacity() - self.queue.len()) * size_of::<(usize, E)>()
    }

    /// Lets go of room that holds nothing.
    pub(super) fn release(&mut self) {
        if self.queue.is_empty() {
            self.queue = VecDeque::new();
        }
    }
}
