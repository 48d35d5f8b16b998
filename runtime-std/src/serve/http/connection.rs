//! One connection: its machine, its socket, and the exchange that it is at.

use std::io::ErrorKind;

use sanswire::http::HttpHandle;
use sanswire::http::h1;
use sanswire::{Instant, Machine as _};

use crate::os::{Conn, Got, Want};
use crate::serve::driver::hub::Ends;

/// Buffers that a connection keeps between two requests.
const KEPT_BYTES: usize = 16 * 1024;

pub(super) struct Connection {
    pub(super) machine: h1::Server,
    pub(super) ends: Ends,
    /// What the hub was told to look for.
    pub(super) want: Want,
    input_open: bool,
    /// The last write left bytes behind.
    output_full: bool,
    /// The client was told that nothing more will come.
    output_ended: bool,
    /// The request that is open.
    pub(super) exchange: Option<HttpHandle>,
    /// Its answer is sent piece by piece.
    pub(super) streams: bool,
    /// So many bytes of its answer wait to be written, as the endpoint knows.
    pub(super) told: usize,
    /// When it is told the time at the latest.
    pub(super) alarm: Option<Instant>,
    /// When it may have rested for so long that it makes room for another.
    pub(super) yields: Option<Instant>,
    /// It stands among those that have something to write or to tell.
    pub(super) is_dirty: bool,
    pub(super) closed: bool,
}

impl Connection {
    pub(super) fn new(machine: h1::Server, conn: Conn) -> Self {
        Self {
            machine,
            ends: Ends::Socket(conn),
            want: Want::READ,
            input_open: true,
            output_full: false,
            output_ended: false,
            exchange: None,
            streams: false,
            told: 0,
            alarm: None,
            yields: None,
            is_dirty: false,
            closed: false,
        }
    }

    /// What to wait for.
    pub(super) fn wants(&self) -> Want {
        Want { read: self.input_open && self.machine.wants_read(), write: self.output_full }
    }

    /// The output has room again, or a fault.
    pub(super) const fn writable(&mut self) {
        self.output_full = false;
    }

    /// One read, if any is wanted. Whether there may be more at once.
    pub(super) fn read(&mut self, now: Instant) -> bool {
        if !self.input_open || !self.machine.wants_read() {
            return false;
        }
        match self.ends.read(self.machine.read_buffer()) {
            Got::Bytes { full, .. } => {
                self.machine.handle_read(now);
                full
            }
            Got::Nothing => false,
            Got::End { .. } => {
                self.input_open = false;
                self.machine.handle_eof(now);
                false
            }
        }
    }

    /// Nobody is at the other end. What came from there is read first.
    pub(super) fn gone(&mut self, now: Instant) {
        self.machine.handle_write_closed(now);
    }

    /// The exchange is over. How much of its answer the endpoint thinks to wait.
    pub(super) fn leave(&mut self) -> usize {
        self.exchange = None;
        self.streams = false;
        std::mem::take(&mut self.told)
    }

    /// Writes some of what waits. Whether something may have changed.
    pub(super) fn write(&mut self, now: Instant) -> bool {
        let bytes = self.machine.transmit();
        if self.output_full || bytes.is_empty() {
            return false;
        }
        match self.ends.write(bytes) {
            Ok(len) => self.machine.handle_written(len, now),
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.output_full = true,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.machine.handle_write_closed(now),
        }
        true
    }

    /// Tells the client that nothing more will come, if the connection stays only so that it can read what did.
    pub(super) fn end_output(&mut self) {
        if !self.output_ended && self.machine.is_lingering() {
            self.output_ended = true;
            self.ends.end_output();
        }
    }

    /// Lets go of buffers: of all while an answer goes on and on, of big ones between two requests.
    pub(super) fn rest(&mut self) {
        if self.streams || self.exchange.is_none() && self.machine.retained_bytes() > KEPT_BYTES {
            self.machine.release();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.ends.close();
    }
}
