//! A connected stream that HTTP goes over, plain or under TLS.

use std::io;

use crate::os::{Conn, Got, Want};

/// A connected stream. Never blocks.
///
/// Under TLS what one writes and what leaves are not the same, nor what arrives and what one can read: so ask
/// [`wants`](Self::wants) what to wait for, [`flush`](Self::flush) when there is room, and mind
/// [`holds_input`](Self::holds_input).
#[derive(Debug)]
pub(crate) struct Wire {
    conn: Conn,
}

impl Wire {
    pub(crate) const fn plain(conn: Conn) -> Self {
        Self { conn }
    }

    /// The socket, to be polled.
    pub(crate) const fn conn(&self) -> &Conn {
        &self.conn
    }

    /// Appends one read to `buffer`, within its spare room. A fault is an end; see [`is_cut`](Self::is_cut).
    pub(crate) fn read(&mut self, buffer: &mut Vec<u8>) -> Got {
        self.conn.read(buffer)
    }

    /// Whether the end came, but not as the peer's own word (TLS has one): then nothing may be taken as whole that
    /// only the end of the stream bounds.
    pub(crate) const fn is_cut(&self) -> bool {
        false
    }

    /// Takes what fits now; `WouldBlock`: nothing does. What was taken is on its way, though it may be held here until
    /// there is room.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.conn.write(bytes)
    }

    /// Writes what is held here, as far as there is room.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// What to poll the socket for, for whom wants that of the stream.
    pub(crate) const fn wants(&self, want: Want) -> Want {
        want
    }

    /// Whether a read brings something though the socket is not readable.
    pub(crate) const fn holds_input(&self) -> bool {
        false
    }

    /// Ends the connection in both directions, after a word to the peer where there is one to say (TLS). Ends the
    /// polls of others on it too.
    pub(crate) fn shutdown(&mut self) {
        self.conn.shutdown();
    }
}
