//! One direction of a pipe in virtual time. It keeps what was sent: the models read it again.

use std::collections::VecDeque;
use std::time::Duration;

use sanswire::Instant;

/// The room of a pipe that was stalled.
const SMALL: usize = 1000;

/// One direction of a pipe.
#[derive(Debug)]
pub(super) struct Wire {
    /// Everything that was ever sent and not lost.
    sent: Vec<u8>,
    /// Up to where it arrives, and when.
    marks: VecDeque<(Instant, usize)>,
    arrived: usize,
    read: usize,
    latency: Duration,
    capacity: usize,
    stalled_until: Instant,
    last: Instant,
    ends_at: Option<Instant>,
    /// So many more bytes get through before it breaks.
    left: usize,
    broken: bool,
}

impl Wire {
    pub(super) const fn new(latency: Duration, capacity: usize) -> Self {
        Self {
            sent: Vec::new(),
            marks: VecDeque::new(),
            arrived: 0,
            read: 0,
            latency,
            capacity,
            stalled_until: Instant::ZERO,
            last: Instant::ZERO,
            ends_at: None,
            left: usize::MAX,
            broken: false,
        }
    }

    /// Everything that was sent and not lost.
    pub(super) fn sent(&self) -> &[u8] {
        &self.sent
    }

    /// How many bytes a writer gets rid of now.
    pub(super) const fn room(&self) -> usize {
        if self.ends_at.is_some() { 0 } else { self.capacity.saturating_sub(self.sent.len() - self.read) }
    }

    /// Sends bytes that fit.
    pub(super) fn send(&mut self, bytes: &[u8], now: Instant) {
        let through = bytes.len().min(self.left);
        self.left -= through;
        self.sent.extend_from_slice(&bytes[..through]);
        self.last = self.last.max(now.saturating_add(self.latency)).max(self.stalled_until);
        if through > 0 {
            self.marks.push_back((self.last, self.sent.len()));
        }
        if self.left == 0 {
            self.break_off(now);
        }
    }

    /// Nothing arrives until then, and there is not much room from now on.
    pub(super) fn stall(&mut self, until: Instant) {
        self.capacity = self.capacity.min(SMALL);
        self.stalled_until = self.stalled_until.max(until);
        for (at, _) in &mut self.marks {
            *at = (*at).max(until);
        }
        self.ends_at = self.ends_at.map(|at| at.max(until));
        self.last = self.last.max(until);
    }

    /// It breaks after so many more bytes; 0: at once.
    pub(super) fn break_after(&mut self, bytes: usize, now: Instant) {
        self.left = self.left.min(bytes);
        if self.left == 0 {
            self.break_off(now);
        }
    }

    fn break_off(&mut self, now: Instant) {
        self.broken = true;
        self.close(now);
    }

    /// The writer sends no more.
    pub(super) fn close(&mut self, now: Instant) {
        if self.ends_at.is_none() {
            self.ends_at = Some(now.saturating_add(self.latency).max(self.last));
        }
    }

    /// Nobody reads here any more: the writer sees it, and what is under way is gone.
    pub(super) fn stop_reading(&mut self, now: Instant) {
        self.break_off(now);
        self.marks.clear();
        self.read = self.sent.len();
        self.arrived = self.read;
    }

    /// Whether a writer is told that nobody reads.
    pub(super) const fn is_broken(&self) -> bool {
        self.broken
    }

    /// What has arrived and was not taken.
    pub(super) fn arrived(&mut self, now: Instant) -> &[u8] {
        while let Some((at, to)) = self.marks.front().copied()
            && at <= now
        {
            self.arrived = to;
            self.marks.pop_front();
        }
        &self.sent[self.read..self.arrived]
    }

    /// `len` of those bytes were taken.
    pub(super) const fn take(&mut self, len: usize) {
        self.read += len;
    }

    /// Everything was taken, and no more will come.
    pub(super) fn has_ended(&self, now: Instant) -> bool {
        self.marks.is_empty() && self.read == self.arrived && self.ends_at.is_some_and(|at| at <= now)
    }

    /// When something arrives, after `now`.
    pub(super) fn next_arrival(&self, now: Instant) -> Option<Instant> {
        let next = self.marks.front().map(|(at, _)| *at).or(self.ends_at);
        next.filter(|at| *at > now)
    }
}
