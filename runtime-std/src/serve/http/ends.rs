//! The socket of one connection, beside its machine.

use std::io::ErrorKind;

use sanswire::http::site::Connection;
use sanswire::server::kit::Cancel;
use sanswire::{Instant, Machine as _};

use crate::os::{Conn, Got, Want};
use crate::serve::driver::hub::Ends;

pub(super) struct Socket {
    pub(super) ends: Ends,
    /// What the hub was told to look for.
    pub(super) want: Want,
    /// The last write left bytes behind.
    output_full: bool,
    /// The client was told that nothing more will come.
    output_ended: bool,
    /// It is looked after, for no more of it is read now.
    pub(super) is_full: bool,
}

impl Socket {
    pub(super) const fn new(conn: Conn) -> Self {
        let ends = Ends::Socket(conn);
        Self { ends, want: Want::READ, output_full: false, output_ended: false, is_full: false }
    }

    /// What to wait for.
    pub(super) fn wants<C: Cancel, W>(&self, machine: &Connection<'_, C, W>) -> Want {
        Want { read: machine.wants_read(), write: self.output_full }
    }

    /// The output has room again, or a fault.
    pub(super) const fn writable(&mut self) {
        self.output_full = false;
    }

    /// One read, if any is wanted. Whether there may be more at once.
    pub(super) fn read<C: Cancel, W>(&self, machine: &mut Connection<'_, C, W>, now: Instant) -> bool {
        if !machine.wants_read() {
            return false;
        }
        match self.ends.read(machine.read_buffer()) {
            Got::Bytes { full, .. } => {
                machine.handle_read(now);
                full
            }
            Got::Nothing => false,
            Got::End { .. } => {
                machine.handle_eof(now);
                false
            }
        }
    }

    /// Writes what waits, as far as it goes without blocking.
    pub(super) fn flush<C: Cancel, W>(&mut self, machine: &mut Connection<'_, C, W>, now: Instant) {
        while !self.output_full {
            let bytes = machine.transmit();
            if bytes.is_empty() {
                break;
            }
            match self.ends.write(bytes) {
                Ok(len) => machine.handle_written(len, now),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.output_full = true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => machine.handle_write_closed(now),
            }
        }
        machine.handle_flushed(now);
        // The client is told at once if the connection stays only so that it can read what came.
        if !self.output_ended && machine.is_lingering() {
            self.output_ended = true;
            self.ends.end_output();
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.ends.close();
    }
}
