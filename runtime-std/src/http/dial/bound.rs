//! How long making a connection may take, and a socket that keeps to it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use sanswire_system::http::Attempt;
use sanswire_system::{DialFault, DialStep, os};

/// How long it takes at most to see that a connection is not wanted any more.
const LOOK: Duration = Duration::from_millis(50);

/// The bound of one connection: all its steps together have this time, and all end early once it is not wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound<'a> {
    until: Instant,
    limit: Duration,
    attempt: &'a Attempt,
}

impl<'a> Bound<'a> {
    pub(super) fn new(limit: Duration, attempt: &'a Attempt) -> Self {
        Self { until: os::after(limit), limit, attempt }
    }

    /// A step begins.
    pub(super) fn begin(&self, step: DialStep) {
        self.attempt.begin(step);
    }

    /// How long to wait before asking again; `None`: not any more.
    pub(super) fn patience(&self) -> Option<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        (!left.is_zero() && !self.is_cancelled()).then(|| left.min(LOOK))
    }

    /// All the time that is gone.
    pub(super) fn spent(&self) -> Duration {
        self.limit.saturating_sub(self.left())
    }

    /// All the time that is left.
    pub(super) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    fn is_cancelled(&self) -> bool {
        self.attempt.is_cancelled()
    }

    /// What to say when there is no patience any more.
    pub(super) fn over(&self, during: DialStep) -> DialFault {
        if self.is_cancelled() {
            DialFault::Cancelled
        } else {
            DialFault::TimedOut { during, limit: self.limit }
        }
    }

    /// What to say of a fault of a [`BoundStream`].
    pub(super) fn broken(&self, during: DialStep, source: io::Error) -> DialFault {
        match source.kind() {
            ErrorKind::TimedOut if self.patience().is_none() => self.over(during),
            _ => DialFault::Broken { during, source },
        }
    }
}

/// A socket that blocks, but not beyond a bound: then it gives [`ErrorKind::TimedOut`].
#[derive(Debug)]
pub(super) struct BoundStream<'a> {
    stream: TcpStream,
    bound: Bound<'a>,
}

impl<'a> BoundStream<'a> {
    pub(super) const fn new(stream: TcpStream, bound: Bound<'a>) -> Self {
        Self { stream, bound }
    }

    /// The socket, which may block as long as it likes again.
    pub(super) fn into_inner(self) -> io::Result<TcpStream> {
        self.stream.set_read_timeout(None)?;
        self.stream.set_write_timeout(None)?;
        Ok(self.stream)
    }

    /// Does it again and again, for as long as there is patience.
    fn patiently(
        &mut self,
        mut work: impl FnMut(&mut TcpStream, Duration) -> io::Result<usize>,
    ) -> io::Result<usize> {
        while let Some(patience) = self.bound.patience() {
            match work(&mut self.stream, patience) {
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                done => return done,
            }
        }
        Err(ErrorKind::TimedOut.into())
    }
}

impl Read for BoundStream<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.patiently(|stream, patience| {
            stream.set_read_timeout(Some(patience))?;
            stream.read(room)
        })
    }
}

impl Write for BoundStream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(|stream, patience| {
            stream.set_write_timeout(Some(patience))?;
            stream.write(bytes)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
