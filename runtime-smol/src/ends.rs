//! The stream of a connection, what was found of it, and what its bells were told.

use std::io;

use sanswire::{Instant, Machine};

use crate::signals::{self, Bells};
use crate::taps::Taps;
use crate::wire::{Got, Wire};

/// Reads of one stream in one turn, so that nobody starves beside it.
pub(crate) const MAX_READS: usize = 32;

/// A stream and what was found of it. The machine whose bytes go over it stands beside it, and is always the same.
pub(crate) struct Ends {
    /// Gone once the connection is over.
    wire: Option<Wire>,
    input_open: bool,
    /// The peer reads no more.
    broken: bool,
    /// A read may find something.
    readable: bool,
    /// The bell rings when that changes.
    read_armed: bool,
    /// A write may find room.
    writable: bool,
    write_armed: bool,
    /// Something was written that the stream may hold back.
    held_back: bool,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Events may wait; there may be more to read at once.
    More,
    /// Nothing more now.
    Enough,
}

impl Ends {
    pub(crate) const fn new(wire: Wire) -> Self {
        Self {
            wire: Some(wire),
            input_open: true,
            broken: false,
            readable: true,
            read_armed: false,
            writable: true,
            write_armed: false,
            held_back: false,
        }
    }

    /// Those of a connection that is over already.
    pub(crate) const fn none() -> Self {
        Self {
            wire: None,
            input_open: false,
            broken: true,
            readable: false,
            read_armed: false,
            writable: false,
            write_armed: false,
            held_back: false,
        }
    }

    /// Nothing more will be written.
    pub(crate) fn end_output(&self) {
        if let Some(wire) = &self.wire {
            wire.end_output();
        }
    }

    /// Whether the peer reads no more, and goes on writing.
    pub(crate) const fn is_deaf(&self) -> bool {
        self.broken && self.input_open
    }

    pub(crate) const fn is_input_open(&self) -> bool {
        self.input_open
    }

    /// Whether the input has ended, and nobody reads what is written.
    pub(crate) fn is_gone(&self) -> bool {
        !self.input_open && !self.broken && self.wire.as_ref().is_some_and(Wire::is_gone)
    }

    /// Whether the input has ended behind what was not read yet, as far as the system can say.
    pub(crate) fn is_left(&self) -> bool {
        self.input_open && self.wire.as_ref().is_some_and(Wire::is_left)
    }

    /// What rang.
    pub(crate) fn fired(&mut self, what: u8) {
        if what & signals::READ != 0 {
            if self.read_armed
                && let Some(wire) = &self.wire
            {
                wire.rang_for_read();
            }
            self.readable = true;
            self.read_armed = false;
        }
        if what & signals::WRITE != 0 {
            self.writable = true;
            self.write_armed = false;
        }
    }

    /// Writes what waits, as far as it goes without waiting. An error: the peer reads no more.
    pub(crate) fn flush<M: Machine>(
        &mut self,
        machine: &mut M,
        bells: &Bells,
        taps: &mut Taps,
        now: Instant,
    ) -> io::Result<()> {
        while self.writable && !self.broken {
            let Some(wire) = &mut self.wire else { return Ok(()) };
            let bytes = machine.transmit();
            let wrote = if !bytes.is_empty() {
                wire.write(bytes, &bells.write)
            } else if self.held_back {
                wire.flush(&bells.write).map(|()| 0)
            } else {
                return Ok(());
            };
            match wrote {
                Ok(len) => {
                    self.held_back = len > 0 && matches!(wire, Wire::Foreign(_));
                    taps.sent(bytes.get(..len).unwrap_or_default());
                    machine.handle_written(len, now);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// After a write failed.
    pub(crate) fn stop_writing<M: Machine>(&mut self, machine: &mut M, now: Instant) {
        self.broken = true;
        self.held_back = false;
        machine.handle_write_closed(now);
    }

    /// The stream brings no more.
    pub(crate) fn end_input<M: Machine>(&mut self, machine: &mut M, now: Instant) {
        self.input_open = false;
        self.readable = false;
        machine.handle_eof(now);
    }

    /// One read, if there may be something; its events wait then.
    pub(crate) fn read<M: Machine>(
        &mut self,
        machine: &mut M,
        bells: &Bells,
        taps: &mut Taps,
        now: Instant,
    ) -> Step {
        let Some(wire) = self.wire.as_mut().filter(|_| self.readable && machine.wants_read()) else {
            return Step::Enough;
        };
        let buffer = machine.read_buffer();
        let before = buffer.len();
        match wire.read(buffer, &bells.read) {
            Got::Bytes { full, .. } => {
                taps.received(buffer.get(before..).unwrap_or_default());
                self.readable = full;
                machine.handle_read(now);
            }
            Got::Nothing => {
                self.readable = false;
                return Step::Enough;
            }
            Got::End { .. } => self.end_input(machine, now),
        }
        Step::More
    }

    /// Lets the bells ring for what is waited for. `writes`: what is left to be written may leave. True: something can be
    /// done at once.
    pub(crate) fn arm<M: Machine>(
        &mut self,
        machine: &mut M,
        bells: &Bells,
        writes: bool,
        now: Instant,
    ) -> bool {
        let reads = self.input_open && machine.wants_read();
        if let Some(wire) = &self.wire
            && reads
            && !self.readable
            && !self.read_armed
        {
            match wire.arm_read(&bells.read) {
                Ok(armed) => (self.read_armed, self.readable) = (armed, !armed),
                // A stream that cannot be waited for is at its end.
                Err(_) => self.end_input(machine, now),
            }
        }
        let waits = !self.broken && (self.held_back || !machine.transmit().is_empty());
        if let Some(wire) = &self.wire
            && waits
            && writes
            && !self.writable
            && !self.write_armed
        {
            match wire.arm_write(&bells.write) {
                Ok(armed) => (self.write_armed, self.writable) = (armed, !armed),
                Err(_) => self.stop_writing(machine, now),
            }
        }
        self.wire.is_some() && (reads && self.readable || waits && writes && self.writable)
    }

    /// The stream, for its end.
    pub(crate) const fn take_wire(&mut self) -> Option<Wire> {
        self.wire.take()
    }
}
