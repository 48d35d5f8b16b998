//! The descriptors of one connection, and what can be done with them without blocking.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use sanswire_system::os::{ChildEnds, Exiting, to_timespec};
pub(crate) use sanswire_system::os::{Input, discard, read_stderr};

use crate::os::{Ends, Ready};

/// What is read from. Never blocks.
pub(crate) type Source = OwnedFd;

/// The end that is written to.
#[derive(Debug)]
pub(crate) enum Output {
    Pipe(OwnedFd),
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// The two ends of a TCP connection.
pub(crate) fn tcp_ends(stream: TcpStream) -> io::Result<(Source, Output)> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok((stream.as_fd().try_clone_to_owned()?, Output::Tcp(stream)))
}

/// The two ends of a connection to a Unix socket that does not block.
pub(crate) fn unix_ends(stream: UnixStream) -> io::Result<(Source, Output)> {
    Ok((stream.as_fd().try_clone_to_owned()?, Output::Unix(stream)))
}

/// The pipes of a child.
#[expect(clippy::unnecessary_wraps, reason = "the other side can fail")]
pub(crate) fn child_ends(ends: ChildEnds) -> io::Result<Ends> {
    Ok((ends.stdout, Output::Pipe(ends.stdin), ends.stderr))
}

/// Waits for a child's exit as far as `exit` tells of it, for a wake, and for what can be read from pipes.
pub(crate) fn wait_for_exit(exit: Exiting<'_>, wake: &Wake, pipes: [Option<&Source>; 2], timeout: Duration) {
    exit.wait(pipes.into_iter().flatten().map(AsFd::as_fd).chain([wake.as_fd()]), timeout);
}

impl Output {
    /// Writes what fits now. A pipe nobody reads gives an error (and SIGPIPE, which std ignores from the start of
    /// a Rust program; a host written in another language has to ignore it). A socket raises no signal.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(fd) => Ok(rustix::io::write(fd, bytes)?),
            Self::Tcp(stream) => (&*stream).write(bytes),
            Self::Unix(stream) => (&*stream).write(bytes),
        }
    }

    /// Whether bytes were lost that [`write`](Self::write) took. It takes none here but those that left.
    pub(crate) const fn has_failed(&self) -> bool {
        false
    }

    /// Ends the connection, if it is a socket.
    pub(crate) fn shutdown(&self) {
        match self {
            Self::Pipe(_) => {}
            Self::Tcp(stream) => drop(stream.shutdown(Shutdown::Both)),
            Self::Unix(stream) => drop(stream.shutdown(Shutdown::Both)),
        }
    }
}

impl AsFd for Output {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Pipe(fd) => fd.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

/// Ends a poll from another thread.
#[derive(Debug)]
pub(crate) struct Wake {
    #[cfg(target_os = "linux")]
    event: OwnedFd,
    #[cfg(not(target_os = "linux"))]
    reader: OwnedFd,
    #[cfg(not(target_os = "linux"))]
    writer: OwnedFd,
}

#[cfg(target_os = "linux")]
impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        use rustix::event::EventfdFlags;
        let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { event })
    }

    /// The next or present poll on this returns.
    pub(crate) fn wake(&self) {
        let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
    }

    /// Forgets all wakes so far.
    pub(crate) fn clear(&self) {
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
    }
}

#[cfg(not(target_os = "linux"))]
impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = rustix::pipe::pipe()?;
        for fd in [&reader, &writer] {
            set_nonblocking(fd)?;
            rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC)?;
        }
        Ok(Self { reader, writer })
    }

    /// The next or present poll on this returns.
    pub(crate) fn wake(&self) {
        let _ = rustix::io::write(&self.writer, &[1]);
    }

    /// Forgets all wakes so far.
    pub(crate) fn clear(&self) {
        while matches!(rustix::io::read(&self.reader, &mut [0; 64]), Ok(64)) {}
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        #[cfg(target_os = "linux")]
        return self.event.as_fd();
        #[cfg(not(target_os = "linux"))]
        return self.reader.as_fd();
    }
}

/// What to wait for.
pub(crate) struct Interest<'a> {
    pub(crate) wake: &'a Wake,
    pub(crate) input: Option<&'a Source>,
    pub(crate) stderr: Option<&'a Source>,
    pub(crate) output: Option<Arc<Output>>,
    /// `None`: for ever.
    pub(crate) timeout: Option<Duration>,
}

impl Interest<'_> {
    /// Waits. An end or a fault of a descriptor counts as ready: the next read or write finds out.
    pub(crate) fn wait(&self) -> Ready {
        let wake = PollFd::from_borrowed_fd(self.wake.as_fd(), PollFlags::IN);
        let output = self.output.as_ref().map(|output| output.as_fd());
        let others = [
            self.input.map(|fd| PollFd::new(fd, PollFlags::IN)),
            self.stderr.map(|fd| PollFd::new(fd, PollFlags::IN)),
            output.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)),
        ];
        let mut fds = [wake.clone(), wake.clone(), wake.clone(), wake];
        let mut len = 1;
        for other in others.into_iter().flatten() {
            if let Some(place) = fds.get_mut(len) {
                *place = other;
                len += 1;
            }
        }
        let timeout = self.timeout.map(to_timespec);
        let polled = fds.get_mut(..len).map(|fds| rustix::event::poll(fds, timeout.as_ref()));
        if !matches!(polled, Some(Ok(1..))) {
            return Ready::default();
        }
        let mut found = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |wanted: bool| wanted && found.next().unwrap_or(false);
        Ready { wake: next(true), input: next(self.input.is_some()), stderr: next(self.stderr.is_some()) }
    }
}
