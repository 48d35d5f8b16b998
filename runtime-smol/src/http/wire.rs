//! The stream of one connection, and what its bells were told.

use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
#[cfg(feature = "tls")]
use std::task::Poll;
use std::task::{Context, Waker};

#[cfg(feature = "tls")]
use futures_lite::AsyncRead as _;
use futures_lite::AsyncWrite as _;
use sanswire::Instant;
use sanswire::http::Pool;
use sanswire::http::pool::ConnectionHandle;
#[cfg(feature = "tls")]
use sanswire::limits::MAX_READ_BYTES;
use sanswire_system::TlsFault;
#[cfg(feature = "tls")]
use sanswire_system::http::tls::{judge, of_tls};
use sanswire_system::os::keep_alive;

use crate::http::dial::Made;
use crate::http::line::Line;
use crate::signals::{self, Fire, Signals, bell};
use crate::wire::{self, Got};

/// Hears what happens on one connection, and has whoever leads look.
pub(super) struct Ear {
    fired: AtomicU8,
    signals: Arc<Signals>,
}

impl Ear {
    pub(super) fn new(signals: &Arc<Signals>) -> Arc<Self> {
        Arc::new(Self { fired: AtomicU8::new(0), signals: Arc::clone(signals) })
    }

    /// What happened since the last look.
    pub(super) fn take(&self) -> u8 {
        if self.fired.load(Ordering::SeqCst) == 0 { 0 } else { self.fired.swap(0, Ordering::SeqCst) }
    }
}

impl Fire for Ear {
    fn fire(&self, what: u8) {
        self.fired.fetch_or(what, Ordering::SeqCst);
        self.signals.fire(signals::NET);
    }
}

/// A connected stream. Nothing here waits: what cannot be done now is told by a bell once it can.
pub(super) struct Wire {
    line: Line,
    ear: Arc<Ear>,
    reads: Waker,
    writes: Waker,
    /// A read may find something.
    readable: bool,
    /// The bell rings when that changes.
    read_armed: bool,
    /// What waits to be written had no room.
    blocked: bool,
    /// It may find some now.
    room: bool,
    write_armed: bool,
    /// Whether there is a certificate of ours to be shown.
    #[cfg(feature = "tls")]
    shown: bool,
    /// What TLS found wrong after its negotiation.
    fault: Option<TlsFault>,
}

impl Wire {
    pub(super) fn new(made: Made, ear: Arc<Ear>) -> Self {
        let (reads, writes) = (bell(&ear, signals::READ), bell(&ear, signals::WRITE));
        Self {
            line: made.line,
            ear,
            reads,
            writes,
            readable: true,
            read_armed: false,
            blocked: false,
            room: false,
            write_armed: false,
            #[cfg(feature = "tls")]
            shown: made.how.tls.is_some_and(|tls| tls.shown),
            fault: None,
        }
    }

    /// Looks at what rang.
    pub(super) fn hear(&mut self) {
        let fired = self.ear.take();
        if fired & signals::READ != 0 {
            self.readable = true;
            self.read_armed = false;
        }
        if fired & signals::WRITE != 0 {
            self.room = true;
            self.write_armed = false;
        }
    }

    /// Whether what had no room may find some.
    pub(super) const fn may_write(&self) -> bool {
        self.blocked && self.room
    }

    pub(super) const fn is_readable(&self) -> bool {
        self.readable
    }

    pub(super) const fn take_fault(&mut self) -> Option<TlsFault> {
        self.fault.take()
    }

    /// Has the system watch it.
    pub(super) fn keep_alive(&self) {
        keep_alive(self.line.socket().get_ref().as_fd());
    }

    /// Writes what there is room for.
    pub(super) fn write(&mut self, connection: ConnectionHandle, pool: &mut Pool, now: Instant) {
        self.blocked = false;
        loop {
            let bytes = pool.transmit(connection);
            let wrote = if bytes.is_empty() { self.send_held() } else { self.put(bytes) };
            match wrote {
                Ok(0) if bytes.is_empty() => return,
                Ok(0) => return pool.handle_write_closed(connection, now),
                Ok(len) => pool.handle_written(connection, len, now),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked = true;
                    self.room = false;
                    return;
                }
                Err(error) => {
                    self.note(&error);
                    return pool.handle_write_closed(connection, now);
                }
            }
        }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.line {
            Line::Plain(socket) => socket.get_ref().write(bytes),
            #[cfg(feature = "tls")]
            Line::Tls(stream) => {
                let wrote = Pin::new(&mut **stream).poll_write(&mut Context::from_waker(&self.writes), bytes);
                told(wrote)
            }
        }
    }

    /// Sends what TLS holds back. It comes to nothing that the pool would have to know.
    fn send_held(&mut self) -> io::Result<usize> {
        match &mut self.line {
            Line::Plain(_) => Ok(0),
            #[cfg(feature = "tls")]
            Line::Tls(stream) => {
                told(Pin::new(&mut **stream).poll_flush(&mut Context::from_waker(&self.writes))).map(|()| 0)
            }
        }
    }

    /// One read, whether it may find something or not.
    pub(super) fn read(&mut self, connection: ConnectionHandle, pool: &mut Pool, now: Instant) -> Got {
        if !pool.wants_read(connection) {
            return Got::Nothing;
        }
        let Some(buffer) = pool.read_buffer(connection) else { return Got::Nothing };
        let got = match &mut self.line {
            Line::Plain(socket) => wire::read_fd(socket.as_fd(), buffer, true),
            #[cfg(feature = "tls")]
            Line::Tls(_) => self.open_up(buffer),
        };
        match got {
            Got::Bytes { full, .. } => {
                self.readable = full;
                pool.handle_read(connection, now);
            }
            Got::Nothing => self.readable = false,
            Got::End { broken } => pool.handle_eof(connection, broken, now),
        }
        got
    }

    /// One read of what is under TLS. An end without TLS' own word for it is broken.
    #[cfg(feature = "tls")]
    fn open_up(&mut self, buffer: &mut Vec<u8>) -> Got {
        let len = buffer.len();
        let room = (buffer.capacity() - len).min(MAX_READ_BYTES);
        if room == 0 {
            return Got::Nothing;
        }
        buffer.resize(len + room, 0);
        let into = buffer.get_mut(len..).unwrap_or_default();
        let got = Pin::new(&mut self.line).poll_read(&mut Context::from_waker(&self.reads), into);
        let read = if let Poll::Ready(Ok(read)) = &got { (*read).min(room) } else { 0 };
        buffer.truncate(len + read);
        match got {
            Poll::Pending => {
                self.read_armed = true;
                Got::Nothing
            }
            Poll::Ready(Ok(0)) => Got::End { broken: false },
            // Only a read that finds nothing makes the bell ring.
            Poll::Ready(Ok(_)) => Got::Bytes { len: read, full: true },
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {
                Got::Bytes { len: 0, full: true }
            }
            Poll::Ready(Err(error)) => {
                self.note(&error);
                Got::End { broken: true }
            }
        }
    }

    #[cfg(feature = "tls")]
    fn note(&mut self, error: &io::Error) {
        if let (Some(error), Line::Tls(_)) = (of_tls(error), &self.line) {
            self.fault = Some(judge(error, self.shown));
        }
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_self, clippy::needless_pass_by_ref_mut, reason = "with TLS it is needed")]
    const fn note(&mut self, _: &io::Error) {}

    /// Lets the bells ring for what is waited for. `writes`: what is left to be written may leave. True: something can be
    /// done at once.
    pub(super) fn arm(&mut self, reads: bool, writes: bool) -> io::Result<bool> {
        let socket = self.line.socket();
        if reads && !self.readable && !self.read_armed {
            self.read_armed = wire::arm_read(socket, &self.reads)?;
            self.readable = !self.read_armed;
        }
        if self.blocked && !self.room && !self.write_armed {
            self.write_armed = wire::arm(|cx| socket.poll_writable(cx), &self.writes)?;
            self.room = !self.write_armed;
        }
        Ok(reads && self.readable || writes && self.may_write())
    }

    /// Ends the connection in both directions, after a word to the peer where there is one to say (TLS) and room for it.
    pub(super) fn shutdown(&mut self) {
        let _ = Pin::new(&mut self.line).poll_close(&mut Context::from_waker(Waker::noop()));
        let _ = self.line.socket().get_ref().shutdown(Shutdown::Both);
    }
}

#[cfg(feature = "tls")]
fn told<T>(polled: Poll<io::Result<T>>) -> io::Result<T> {
    match polled {
        Poll::Ready(done) => done,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}
