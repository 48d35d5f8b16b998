//! One machine at one end of a pipe, with the driver's part, and the contract of a machine checked at every call.

use sanswire::limits::Limits;
use sanswire::{Instant, Machine};

use super::wire::Wire;
use crate::seed::Rng;

/// What a machine tells once by itself: that it is ready, what to remember, that it is over, and what a timer or the end of
/// a batch adds.
const FEW: usize = 4;

/// How the bytes that arrive are cut into reads. All that has arrived is read before anything else is done, so a run
/// must not depend on it.
#[derive(Clone, Debug)]
pub(super) enum Cuts {
    Whole,
    Bytes,
    Random(Rng),
}

impl Cuts {
    pub(super) fn next(&mut self) -> usize {
        match self {
            Self::Whole => usize::MAX,
            Self::Bytes => 1,
            Self::Random(rng) => 1 + rng.below(60),
        }
    }
}

/// What looks on while a machine is driven.
pub(super) trait Watch {
    /// These bytes were read.
    fn read(&mut self, bytes: &[u8], now: Instant);
    /// These bytes left.
    fn wrote(&mut self, bytes: &[u8], now: Instant);
    /// The machine is told the time.
    fn time(&mut self, now: Instant);
    /// The machine is told that its input has ended.
    fn ended(&mut self, now: Instant);
    /// The machine is told that its peer reads no more.
    fn unread(&mut self, now: Instant);
}

/// A machine whose events wait within bounds.
pub(super) trait Queues {
    /// How many events wait, how many bytes they hold, and how many they may.
    fn queued(&self) -> (usize, usize, &Limits);
}

impl Queues for sanswire::client::LineConnection {
    fn queued(&self) -> (usize, usize, &Limits) {
        let session = self.session();
        (session.queued_events(), session.queued_event_bytes(), &session.config().limits)
    }
}

impl Queues for sanswire::server::LineConnection {
    fn queued(&self) -> (usize, usize, &Limits) {
        let session = self.session();
        (session.queued_events(), session.queued_event_bytes(), &session.config().limits)
    }
}

/// A machine and what its driver knows.
#[derive(Debug)]
pub(super) struct End<M> {
    pub(super) machine: M,
    pub(super) cuts: Cuts,
    /// Whether it would not read although something was there: its result may then depend on the cuts.
    pub(super) was_full: bool,
    /// How much it read last.
    last_read: usize,
    told_end: bool,
    told_unread: bool,
    /// Its last event was seen.
    pub(super) closed: bool,
}

impl<M: Machine + Queues> End<M> {
    pub(super) const fn new(machine: M, cuts: Cuts) -> Self {
        Self {
            machine,
            cuts,
            was_full: false,
            last_read: 0,
            told_end: false,
            told_unread: false,
            closed: false,
        }
    }

    pub(super) fn time(&mut self, watch: &mut impl Watch, now: Instant) {
        watch.time(now);
        self.machine.handle_timeout(now);
    }

    /// Reads all that has arrived. True: there was something.
    pub(super) fn read(&mut self, input: &mut Wire, watch: &mut impl Watch, now: Instant) -> bool {
        let there = input.arrived(now).len();
        let mut taken = 0;
        while taken < there {
            if !self.machine.wants_read() {
                self.was_full |= !self.closed;
                break;
            }
            let (events, bytes, limits) = self.machine.queued();
            check_reads_on((events, bytes), limits);
            let rest = &input.arrived(now)[taken..];
            let buffer = self.machine.read_buffer();
            let (before, capacity) = (buffer.len(), buffer.capacity());
            assert!(capacity > before, "it wants to read and has no room");
            let len = rest.len().min(capacity - before).min(self.cuts.next());
            let piece = &rest[..len];
            buffer.extend_from_slice(piece);
            watch.read(piece, now);
            self.machine.handle_read(now);
            taken += len;
            self.last_read = len;
        }
        input.take(taken);
        let mut busy = taken > 0;
        if !self.told_end && input.has_ended(now) && self.machine.wants_read() {
            self.told_end = true;
            watch.ended(now);
            self.machine.handle_eof(now);
            assert!(!self.machine.wants_read(), "it wants to read past the end");
            busy = true;
        }
        busy
    }

    /// Writes what there is room for. True: it was something.
    pub(super) fn write(&mut self, out: &mut Wire, watch: &mut impl Watch, now: Instant) -> bool {
        let mut busy = false;
        if out.is_broken() && !self.told_unread {
            self.told_unread = true;
            watch.unread(now);
            self.machine.handle_write_closed(now);
            assert!(self.machine.transmit().is_empty(), "bytes wait for a peer that reads no more");
            busy = true;
        }
        let waiting = self.machine.transmit();
        let len = waiting.len().min(out.room());
        if len > 0 {
            let next = waiting.get(len).copied();
            out.send(&waiting[..len], now);
            watch.wrote(&waiting[..len], now);
            self.machine.handle_written(len, now);
            assert!(
                next.is_none() || self.machine.transmit().first().copied() == next || self.told_unread,
                "what was not written went away"
            );
            busy = true;
        }
        busy
    }

    /// The next event; `is_last` knows the last one.
    pub(super) fn event(&mut self, is_last: impl Fn(&M::Event) -> bool) -> Option<M::Event> {
        let event = self.machine.poll_event()?;
        assert!(!self.closed, "an event came after the last one");
        if is_last(&event) {
            assert!(self.machine.transmit().is_empty(), "the last event came before the last bytes left");
            self.closed = true;
        }
        Some(event)
    }

    /// See [`check_events`].
    pub(super) fn check_events(&self, waiting: usize, bytes: usize, limits: &Limits, open: usize) {
        check_events((waiting, bytes), limits, self.last_read, open);
    }

    /// What holds once everything was done that can be done now.
    pub(super) fn check_rest(&self, drained: bool, now: Instant) {
        let next = self.machine.poll_timeout();
        if drained && self.machine.transmit().is_empty() {
            assert!(next.is_none_or(|at| at > now), "rule 4: the next deadline does not lie ahead");
        }
        if self.closed {
            assert!(!self.machine.wants_read(), "it is over and wants to read");
            assert_eq!(next, None, "it is over and waits for a time");
        }
    }
}

/// Rule 5, to the event: at the limit nothing more is read.
pub(super) fn check_reads_on((waiting, bytes): (usize, usize), limits: &Limits) {
    let full = waiting >= limits.max_queued_events || bytes >= limits.max_queued_event_bytes;
    assert!(!full, "rule 5: it reads on, and {waiting} events of {bytes} bytes wait");
}

/// Rule 5 of the events that wait, by their number and their bytes: at the limit nothing more is read, so only the last
/// read went beyond it, with a line for every two bytes at the most, and with what ends without being read: `open`.
pub(super) fn check_events((waiting, bytes): (usize, usize), limits: &Limits, last_read: usize, open: usize) {
    let most = limits.max_queued_events + last_read / 2 + open + FEW;
    assert!(waiting <= most, "rule 5: {waiting} events wait, and {most} may");
    let most = limits.max_queued_event_bytes + 2 * (limits.max_message_bytes + last_read);
    assert!(bytes <= most, "rule 5: {bytes} bytes of events wait, and {most} may");
}
