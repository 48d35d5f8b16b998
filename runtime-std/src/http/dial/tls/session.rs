//! A stream under TLS that never blocks.

use std::io::{self, BufRead, ErrorKind, Write};

use rustls::ClientConnection;
use sanswire::limits::MAX_READ_BYTES;
use sanswire_system::TlsFault;
use sanswire_system::http::tls::judge;

use crate::http::dial::wire::Wire;
use crate::os::{Got, Want};

/// How much is read of what lies below at once: two records. Held only while there is something in it.
const RAW: usize = 32 * 1024;

/// A stream under TLS, after its negotiation.
#[derive(Debug)]
pub(in crate::http::dial) struct Session {
    tls: ClientConnection,
    below: Wire,
    /// What was read below and not looked at yet: from `from` on.
    raw: Vec<u8>,
    from: usize,
    /// Something can be read at once.
    holds_plain: bool,
    end: Option<End>,
    shown: bool,
}

/// How the peer's side ended.
#[derive(Debug)]
enum End {
    /// By its own word.
    Said,
    /// By the end of the stream below.
    Cut,
    Fault(TlsFault),
}

impl Session {
    pub(super) fn new(tls: ClientConnection, below: Wire, shown: bool) -> Self {
        let mut session = Self { tls, below, raw: Vec::new(), from: 0, holds_plain: false, end: None, shown };
        // What came behind the negotiation's last message.
        session.process();
        session
    }

    pub(in crate::http::dial) const fn below(&self) -> &Wire {
        &self.below
    }

    /// As [`Wire::read`].
    pub(in crate::http::dial) fn read(&mut self, buffer: &mut Vec<u8>) -> Got {
        let room = (buffer.capacity() - buffer.len()).min(MAX_READ_BYTES);
        if room == 0 {
            return Got::Nothing;
        }
        let mut len = 0;
        while len < room {
            if self.holds_plain {
                len += self.take(buffer, room - len);
            } else if self.end.is_some() || !self.feed() {
                break;
            }
        }
        match len {
            0 if self.end.is_some() => Got::End { broken: self.is_cut() },
            0 => Got::Nothing,
            // The read that ends with nothing to be had was made already.
            len => Got::Bytes { len, full: self.holds_input() },
        }
    }

    /// Moves up to `most` bytes of what can be read.
    fn take(&mut self, buffer: &mut Vec<u8>, most: usize) -> usize {
        let mut reader = self.tls.reader();
        let chunk = reader.fill_buf().unwrap_or_default();
        let piece = chunk.get(..most.min(chunk.len())).unwrap_or(chunk);
        let len = piece.len();
        buffer.extend_from_slice(piece);
        reader.consume(len);
        self.look();
        len
    }

    /// Sees whether anything can be read.
    fn look(&mut self) {
        self.holds_plain = self.tls.reader().fill_buf().is_ok_and(|chunk| !chunk.is_empty());
    }

    /// Hands on what lies below. Whether there was anything.
    fn feed(&mut self) -> bool {
        if self.from == self.raw.len() {
            self.raw.clear();
            self.from = 0;
            self.raw.reserve_exact(RAW);
            match self.below.read(&mut self.raw) {
                Got::Bytes { .. } => {}
                Got::Nothing => {
                    self.raw = Vec::new();
                    return false;
                }
                Got::End { .. } => {
                    self.raw = Vec::new();
                    self.end = Some(End::Cut);
                    return false;
                }
            }
        }
        let mut rest = self.raw.get(self.from..).unwrap_or_default();
        // It takes none while it holds something to be read, and then nobody comes here.
        match self.tls.read_tls(&mut rest) {
            Ok(1..) => self.from = self.raw.len() - rest.len(),
            Ok(0) | Err(_) => self.from = self.raw.len(),
        }
        self.process();
        true
    }

    fn process(&mut self) {
        match self.tls.process_new_packets() {
            Ok(state) if state.peer_has_closed() => self.end = Some(End::Said),
            Ok(_) => {}
            Err(error) => self.end = Some(End::Fault(judge(&error, self.shown))),
        }
        self.look();
        // Alerts, and answers that TLS gives by itself.
        let _ = self.flush();
    }

    pub(in crate::http::dial) const fn is_cut(&self) -> bool {
        matches!(self.end, Some(End::Cut | End::Fault(_)))
    }

    /// What TLS found wrong.
    pub(in crate::http::dial) fn take_fault(&mut self) -> Option<TlsFault> {
        match self.end.replace(End::Cut) {
            Some(End::Fault(fault)) => Some(fault),
            other => {
                self.end = other;
                None
            }
        }
    }

    /// As [`Wire::write`].
    pub(in crate::http::dial) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_cut() {
            return Err(ErrorKind::BrokenPipe.into());
        }
        self.flush()?;
        let len = self.tls.writer().write(bytes)?;
        self.flush()?;
        if len == 0 && !bytes.is_empty() { Err(ErrorKind::WouldBlock.into()) } else { Ok(len) }
    }

    /// As [`Wire::flush`].
    pub(in crate::http::dial) fn flush(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut Below(&mut self.below)) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        self.below.flush()
    }

    pub(in crate::http::dial) fn wants(&self, want: Want) -> Want {
        self.below.wants(Want { read: want.read, write: want.write || self.tls.wants_write() })
    }

    pub(in crate::http::dial) fn holds_input(&self) -> bool {
        self.holds_plain || self.from < self.raw.len() || self.end.is_some() || self.below.holds_input()
    }

    pub(in crate::http::dial) fn shutdown(&mut self) {
        self.tls.send_close_notify();
        let _ = self.flush();
        self.below.shutdown();
    }
}

/// Writes to what lies below.
struct Below<'a>(&'a mut Wire);

impl Write for Below<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
