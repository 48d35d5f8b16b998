//! What a peer that misbehaves says, and when.

use std::time::Duration;

use sanswire::Instant;

use super::wire::Wire;

/// What is still to be done.
#[derive(Debug)]
enum Due {
    Bytes(Vec<u8>),
    Close,
}

/// Bytes to be said at their times.
#[derive(Debug)]
pub struct Mouth {
    agenda: Vec<(Instant, u64, Due)>,
    count: u64,
    out: Vec<u8>,
    closed: bool,
    late: Duration,
    now: Instant,
}

impl Mouth {
    pub(super) const fn new() -> Self {
        Self {
            agenda: Vec::new(),
            count: 0,
            out: Vec::new(),
            closed: false,
            late: Duration::ZERO,
            now: Instant::ZERO,
        }
    }

    /// What is said from here on is said so much later, until the act is over.
    pub fn later(&mut self, millis: u64) {
        self.late = Duration::from_millis(millis);
    }

    pub(super) fn begin(&mut self, now: Instant) {
        self.now = now;
        self.late = Duration::ZERO;
    }

    fn due(&mut self, due: Due) {
        self.count += 1;
        self.agenda.push((self.now.saturating_add(self.late), self.count, due));
    }

    /// Writes bytes as they are.
    pub fn raw(&mut self, bytes: impl Into<Vec<u8>>) {
        self.due(Due::Bytes(bytes.into()));
    }

    /// Writes a line.
    pub fn line(&mut self, line: &str) {
        self.raw(format!("{line}\n"));
    }

    /// Says nothing more at all.
    pub fn close(&mut self) {
        self.due(Due::Close);
    }

    /// The other side said its last: what is not due yet is not said any more.
    pub(super) fn give_up(&mut self, now: Instant) {
        self.agenda.retain(|(at, ..)| *at <= now);
        self.begin(now);
        self.close();
    }

    pub(super) const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Does what is due and writes what there is room for. True: it was something.
    pub(super) fn write(&mut self, out: &mut Wire, now: Instant) -> bool {
        let mut busy = false;
        while let Some(place) = (0..self.agenda.len())
            .filter(|place| self.agenda[*place].0 <= now && !self.closed)
            .min_by_key(|place| (self.agenda[*place].0, self.agenda[*place].1))
        {
            busy = true;
            match self.agenda.remove(place).2 {
                Due::Bytes(bytes) => self.out.extend(bytes),
                Due::Close => self.closed = true,
            }
        }
        let len = self.out.len().min(out.room());
        if len > 0 {
            out.send(&self.out[..len], now);
            self.out.drain(..len);
            busy = true;
        }
        if self.closed && self.out.is_empty() {
            out.close(now);
        }
        busy
    }

    /// When it does something next.
    pub(super) fn next(&self) -> Option<Instant> {
        let next = self.agenda.iter().map(|(at, ..)| *at).min();
        next.filter(|_| !self.closed)
    }
}
