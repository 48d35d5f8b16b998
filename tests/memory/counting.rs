//! An allocator that counts, and what it counts for one machine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use sanswire::limits::MAX_READ_BYTES;
use sanswire::{Instant, Machine};

static LIVE: AtomicUsize = AtomicUsize::new(0);
/// How often something was asked for, or grew.
static ASKED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Of all gauges since the last report the one that came nearest to its limit: what it had, and what it may have.
static NEAREST: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

pub(crate) const NOW: Instant = Instant::from_millis(1000);
pub(crate) const KIB: usize = 1024;

/// The system's allocator, with a count of the bytes that were asked for and are not given back.
pub(crate) struct Counting;

impl Counting {
    fn more(bytes: usize) {
        ASKED.fetch_add(1, Relaxed);
        let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
        PEAK.fetch_max(live, Relaxed);
    }
}

#[expect(unsafe_code, reason = "an allocator is an unsafe trait; each call is passed on as it came")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::more(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks are there while one is copied into the other.
        Self::more(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// Bytes that were asked for and are not given back.
pub(crate) fn live() -> usize {
    LIVE.load(Relaxed)
}

/// How often memory was asked for, or a block grew, while this was done.
pub(crate) fn allocations(work: impl FnOnce()) -> usize {
    let before = ASKED.load(Relaxed);
    work();
    ASKED.load(Relaxed) - before
}

/// What one machine holds: the bytes that were asked for while it ran and are not given back, and the most that there
/// were at any time. What it is given is made, and what it gives is dropped, in a run too; what a test makes for itself
/// is made between them, and is not counted.
pub(crate) struct Gauge {
    held: isize,
    most: usize,
    limit: usize,
}

impl Gauge {
    /// Of a machine that does not exist yet and may hold so much.
    pub(crate) const fn new(limit: usize) -> Self {
        Self { held: 0, most: 0, limit }
    }

    /// Lets the machine do something, and sees that it stays within its limit all the while.
    pub(crate) fn run<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let before = live().cast_signed();
        PEAK.store(live(), Relaxed);
        let done = work();
        let most = self.held + PEAK.load(Relaxed).cast_signed() - before;
        self.held += live().cast_signed() - before;
        self.most = self.most.max(most.max(0).unsigned_abs());
        assert!(self.most <= self.limit, "{} bytes were held, the limits allow {}", self.most, self.limit);
        let [most, limit] = &NEAREST;
        let nearer =
            |most: usize, of: usize| self.most as u128 * of as u128 > most as u128 * self.limit as u128;
        if limit.load(Relaxed) == 0 || nearer(most.load(Relaxed), limit.load(Relaxed)) {
            most.store(self.most, Relaxed);
            limit.store(self.limit, Relaxed);
        }
        done
    }

    /// Bytes that it holds now.
    pub(crate) fn held(&self) -> usize {
        self.held.max(0).unsigned_abs()
    }

    /// The limit is no wild guess: at least so many hundredths of it were held at some time.
    pub(crate) fn came_near(&self, hundredths: usize) {
        self.reached(self.limit / 100 * hundredths);
    }

    /// The flood must have been one: at least so many bytes were held at some time.
    pub(crate) fn reached(&self, at_least: usize) {
        assert!(self.most >= at_least, "only {} bytes were ever held, {} are allowed", self.most, self.limit);
    }
}

/// How near to its limit any machine came since the last call: what it had, and what it may have.
pub(crate) fn nearest() -> (usize, usize) {
    let [most, limit] = &NEAREST;
    (most.swap(0, Relaxed), limit.swap(0, Relaxed))
}

/// A machine of one stream of bytes, and what it holds.
pub(crate) struct Flood<M> {
    pub(crate) machine: M,
    pub(crate) gauge: Gauge,
}

impl<M: Machine> Flood<M> {
    /// A machine that may hold so much.
    pub(crate) fn new(limit: usize, make: impl FnOnce() -> M) -> Self {
        let mut gauge = Gauge::new(limit);
        Self { machine: gauge.run(make), gauge }
    }

    /// Has the machine do something.
    pub(crate) fn run<R>(&mut self, work: impl FnOnce(&mut M) -> R) -> R {
        self.gauge.run(|| work(&mut self.machine))
    }

    /// Reads as a driver does: at most one read's worth at a time, into spare room, while the machine wants it. How much
    /// of it was taken.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> usize {
        self.read_by(bytes, MAX_READ_BYTES)
    }

    /// As [`read`](Self::read), with so much at a time.
    pub(crate) fn read_by(&mut self, bytes: &[u8], most: usize) -> usize {
        let mut at = 0;
        while at < bytes.len() && self.machine.wants_read() {
            at += self.run(|machine| {
                let buffer = machine.read_buffer();
                let room = (buffer.capacity() - buffer.len()).min(most);
                assert!(room > 0);
                let len = room.min(bytes.len() - at);
                buffer.extend_from_slice(&bytes[at..at + len]);
                machine.handle_read(NOW);
                len
            });
        }
        at
    }

    /// Its peer takes all that waits.
    pub(crate) fn write_all(&mut self) {
        self.run(|machine| {
            while !machine.transmit().is_empty() {
                machine.handle_written(machine.transmit().len(), NOW);
            }
        });
    }

    /// Its application takes all that it tells.
    pub(crate) fn take(&mut self) {
        self.run(|machine| while machine.poll_event().is_some() {});
    }
}
