//! A client over one stream of lines.

use std::io;

use sanswire::Instant;
use sanswire_system::recording::RecordedLine;

use crate::ends::{Ends, Step};
use crate::signals::Bells;
use crate::taps::Taps;
use crate::wire::Wire;

/// A client's machine and the stream that it speaks over.
pub(crate) struct Line {
    pub(crate) machine: RecordedLine,
    ends: Ends,
}

impl Line {
    pub(crate) const fn new(machine: RecordedLine, wire: Wire) -> Self {
        Self { machine, ends: Ends::new(wire) }
    }

    /// What rang.
    pub(crate) fn fired(&mut self, what: u8) {
        self.ends.fired(what);
    }

    /// As [`Ends::flush`].
    pub(crate) fn flush(&mut self, bells: &Bells, taps: &mut Taps, now: Instant) -> io::Result<()> {
        self.ends.flush(&mut self.machine, bells, taps, now)
    }

    /// As [`Ends::stop_writing`].
    pub(crate) fn stop_writing(&mut self, now: Instant) {
        self.ends.stop_writing(&mut self.machine, now);
    }

    /// Whether the server is of no use any more: it reads nothing, and nothing is open.
    pub(crate) fn is_deaf(&self) -> bool {
        self.ends.is_deaf() && self.machine.session().in_flight() == 0
    }

    /// As [`Ends::end_input`].
    pub(crate) fn end_input(&mut self, now: Instant) {
        self.ends.end_input(&mut self.machine, now);
    }

    /// As [`Ends::read`].
    pub(crate) fn read(&mut self, bells: &Bells, taps: &mut Taps, now: Instant) -> Step {
        self.ends.read(&mut self.machine, bells, taps, now)
    }

    /// As [`Ends::arm`].
    pub(crate) fn arm(&mut self, bells: &Bells, writes: bool, now: Instant) -> bool {
        self.ends.arm(&mut self.machine, bells, writes, now)
    }

    /// The stream, for its end.
    pub(crate) const fn take_wire(&mut self) -> Option<Wire> {
        self.ends.take_wire()
    }
}
