//! The streams of a client's connections, and the bytes that go through them.

use std::io::ErrorKind;

use sanswire::Instant;
use sanswire::http::Pool;
use sanswire::http::pool::ConnectionHandle;

use crate::http::dial::Wire;
use crate::os::{Got, Want};

/// The stream of one connection.
pub(super) struct Line {
    pub(super) wire: Wire,
    /// What waits to be written has no room.
    blocked: bool,
}

impl Line {
    pub(super) const fn new(wire: Wire) -> Self {
        Self { wire, blocked: false }
    }

    /// Whether it waits for room.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked || self.wire.wants(Want::NOTHING).write
    }

    /// Writes what there is room for.
    pub(super) fn write(&mut self, connection: ConnectionHandle, pool: &mut Pool, now: Instant) {
        self.blocked = false;
        if self.wire.wants(Want::NOTHING).write && self.wire.flush().is_err_and(is_fault) {
            return pool.handle_write_closed(connection, now);
        }
        loop {
            let bytes = pool.transmit(connection);
            if bytes.is_empty() {
                return;
            }
            match self.wire.write(bytes) {
                Ok(len) => pool.handle_written(connection, len, now),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return;
                }
                Err(_) => return pool.handle_write_closed(connection, now),
            }
        }
    }

    /// One read.
    pub(super) fn read(&mut self, connection: ConnectionHandle, pool: &mut Pool, now: Instant) -> Got {
        if !pool.wants_read(connection) {
            return Got::Nothing;
        }
        let Some(buffer) = pool.read_buffer(connection) else { return Got::Nothing };
        let got = self.wire.read(buffer);
        match got {
            Got::Bytes { .. } => pool.handle_read(connection, now),
            Got::Nothing => {}
            Got::End { broken } => pool.handle_eof(connection, broken, now),
        }
        got
    }
}

fn is_fault(error: std::io::Error) -> bool {
    !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
