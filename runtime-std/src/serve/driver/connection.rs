//! One connection: its desk and its ends.

use std::io::ErrorKind;
use std::sync::mpsc::Sender;

use sanswire::server::kit::{ConnectionKey, Desk};
use sanswire::server::{LineConnection, PeerOutcome};
use sanswire::{Instant, Machine as _};
use sanswire_system::serve::Cancel;

use crate::os::{Got, Want};
use crate::serve::call::{Job, Origin};
use crate::serve::driver::hub::Ends;

/// Reads of one connection in one round, so that none starves the others.
const MAX_READS: usize = 8;
/// Buffers that a connection among others keeps while it has nothing to do.
const KEPT_BYTES: usize = 16 * 1024;

pub(super) struct Connection {
    /// Its machine, and its requests.
    pub(super) desk: Desk<Cancel, Sender<PeerOutcome>>,
    pub(super) ends: Ends,
    /// What the hub was told to look for.
    pub(super) want: Want,
    input_open: bool,
    /// The last write left bytes behind.
    output_full: bool,
    /// It stands among those that want a thread.
    pub(super) is_ready: bool,
    /// It stands among those that have something to write or to tell.
    pub(super) is_dirty: bool,
}

impl Connection {
    pub(super) const fn new(machine: LineConnection, ends: Ends) -> Self {
        Self {
            desk: Desk::new(machine),
            ends,
            want: Want::READ,
            input_open: true,
            output_full: false,
            is_ready: false,
            is_dirty: false,
        }
    }

    /// Lets go of big buffers, if there is nothing to do.
    pub(super) fn rest(&mut self) {
        self.desk.rest(KEPT_BYTES);
    }

    /// What to wait for.
    pub(super) fn wants(&self) -> Want {
        Want { read: self.input_open && self.desk.machine.wants_read(), write: self.output_full }
    }

    /// The output has room again, or a fault.
    pub(super) fn writable(&mut self) {
        self.output_full = false;
    }

    /// Reads what is there.
    pub(super) fn read(&mut self, now: Instant) {
        for _ in 0..MAX_READS {
            if !self.input_open || !self.desk.machine.wants_read() {
                return;
            }
            match self.ends.read(self.desk.machine.read_buffer()) {
                Got::Bytes { full, .. } => {
                    self.desk.machine.handle_read(now);
                    self.deliver(now);
                    if !full {
                        return;
                    }
                }
                Got::Nothing => return,
                Got::End { .. } => self.input_ended(now),
            }
        }
    }

    fn input_ended(&mut self, now: Instant) {
        self.input_open = false;
        self.desk.machine.handle_eof(now);
        self.deliver(now);
    }

    /// Nobody is at the other end. What came from there is read first.
    pub(super) fn gone(&mut self, now: Instant) {
        if !self.input_open || matches!(self.ends, Ends::Stdio(_)) {
            self.desk.machine.handle_write_closed(now);
            self.deliver(now);
        }
    }

    /// Writes what waits, as far as it goes without blocking, and hands out what comes of that.
    pub(super) fn flush(&mut self, now: Instant) {
        loop {
            self.deliver(now);
            if self.output_full {
                return;
            }
            let bytes = self.desk.machine.transmit();
            if bytes.is_empty() {
                return;
            }
            match self.ends.write(bytes) {
                Ok(len) => self.desk.machine.handle_written(len, now),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.output_full = true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.desk.machine.handle_write_closed(now),
            }
        }
    }

    /// Hands every event to whom it belongs.
    fn deliver(&mut self, now: Instant) {
        // Threads are woken by it, and nobody's code runs.
        self.desk.take_in(now).tell(|waiter, outcome| drop(waiter.send(outcome)));
    }

    /// Takes the request that has waited longest.
    pub(super) fn next_job(&mut self, key: ConnectionKey) -> Option<Job> {
        let asked = self.desk.next_request()?;
        Some(Job { origin: Origin::Connection(key), asked })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.ends.close();
    }
}
