//! The stream that a connection's lines go over. Nothing here waits: what cannot be done now is told by a bell once it can.

use std::io::{self, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use async_io::Async;
use futures_lite::{AsyncRead, AsyncWrite};
use rustix::event::{PollFd, PollFlags, Timespec};
use sanswire::limits::MAX_READ_BYTES;
use sanswire_system::os::StdioEnds;

use crate::signals::Bells;
use crate::stdio::Stdio;

/// What a connection that ends still reads at once, and how often in a turn.
const PART_BYTES: usize = 4 * 1024;
const PART_READS: usize = 16;

/// Any stream of bytes in both directions.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// One of the kinds of streams.
pub(crate) enum Wire {
    Pipes { input: Async<OwnedFd>, output: Async<OwnedFd>, depth: Depth },
    Tcp(Async<TcpStream>),
    Unix(Async<UnixStream>),
    Stdio(Stdio),
    Foreign(Box<dyn Stream>),
}

/// What one read of a pipe may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// No more than [`MAX_READ_BYTES`], as the system makes them.
    Shallow,
    /// More, since it was made deeper.
    Deep,
    /// As [`Shallow`](Self::Shallow), and it cannot be made deeper.
    Fixed,
}

/// What one read found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Got {
    /// So many bytes; `full`: there may be more at once.
    Bytes { len: usize, full: bool },
    /// Nothing now.
    Nothing,
    /// Nothing ever again. `broken`: a fault says so, and not the peer.
    End { broken: bool },
}

impl Wire {
    /// A child's pipes, none of which blocks.
    pub(crate) fn pipes(stdout: OwnedFd, stdin: OwnedFd) -> io::Result<Self> {
        let (input, output) = (Async::new_nonblocking(stdout)?, Async::new_nonblocking(stdin)?);
        Ok(Self::Pipes { input, output, depth: Depth::Shallow })
    }

    pub(crate) fn tcp(stream: Async<TcpStream>) -> io::Result<Self> {
        stream.get_ref().set_nodelay(true)?;
        Ok(Self::Tcp(stream))
    }

    /// Standard input and output, which another holds for as long as they are to be kept from everybody else.
    pub(crate) fn stdio(ends: Arc<StdioEnds>) -> io::Result<Self> {
        Stdio::new(ends).map(Self::Stdio)
    }

    /// The bell of the last [`arm_read`](Self::arm_read) rang.
    pub(crate) fn rang_for_read(&self) {
        if let Self::Stdio(stdio) = self {
            stdio.rang_for_read();
        }
    }

    /// Appends one read to `buffer`, within its spare room. What is no descriptor rings `bell` once there is more, if there
    /// was nothing.
    pub(crate) fn read(&mut self, buffer: &mut Vec<u8>, bell: &Waker) -> Got {
        match self {
            Self::Pipes { input, depth, .. } => {
                let got = read_fd(input.as_fd(), buffer, *depth == Depth::Deep);
                if matches!(got, Got::Bytes { len: MAX_READ_BYTES.., .. }) {
                    deepen(input.as_fd(), depth);
                }
                got
            }
            Self::Tcp(stream) => read_fd(stream.as_fd(), buffer, true),
            Self::Unix(stream) => read_fd(stream.as_fd(), buffer, true),
            Self::Stdio(stdio) => stdio.read(buffer),
            Self::Foreign(stream) => {
                let len = buffer.len();
                let room = (buffer.capacity() - len).min(MAX_READ_BYTES);
                if room == 0 {
                    return Got::Nothing;
                }
                buffer.resize(len + room, 0);
                let room = buffer.get_mut(len..).unwrap_or_default();
                let got = Pin::new(stream).poll_read(&mut Context::from_waker(bell), room);
                let read = match got {
                    Poll::Ready(Ok(read)) => read.min(room.len()),
                    _ => 0,
                };
                buffer.truncate(len + read);
                match got {
                    Poll::Ready(Ok(0)) => Got::End { broken: false },
                    // Only a read that finds nothing makes the bell ring.
                    Poll::Ready(Ok(len)) => Got::Bytes { len, full: true },
                    Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {
                        Got::Bytes { len: 0, full: true }
                    }
                    Poll::Ready(Err(_)) => Got::End { broken: true },
                    Poll::Pending => Got::Nothing,
                }
            }
        }
    }

    /// Writes what fits now. Nobody who reads gives an error: of a pipe together with SIGPIPE, which std ignores from the
    /// start of a Rust program. What is no descriptor rings `bell` once there is room, if there was none.
    pub(crate) fn write(&mut self, bytes: &[u8], bell: &Waker) -> io::Result<usize> {
        match self {
            Self::Pipes { output, .. } => Ok(rustix::io::write(output.as_fd(), bytes)?),
            Self::Tcp(stream) => stream.get_ref().write(bytes),
            Self::Unix(stream) => stream.get_ref().write(bytes),
            Self::Stdio(stdio) => stdio.write(bytes),
            Self::Foreign(stream) => {
                match Pin::new(stream).poll_write(&mut Context::from_waker(bell), bytes) {
                    Poll::Ready(Ok(0)) => Err(io::ErrorKind::WriteZero.into()),
                    Poll::Ready(wrote) => wrote.map(|len| len.min(bytes.len())),
                    Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
                }
            }
        }
    }

    /// After the last write of several: sends what a stream that is no descriptor holds back.
    pub(crate) fn flush(&mut self, bell: &Waker) -> io::Result<()> {
        let Self::Foreign(stream) = self else { return Ok(()) };
        match Pin::new(stream).poll_flush(&mut Context::from_waker(bell)) {
            Poll::Ready(flushed) => flushed,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Makes `bell` ring once there is something to read. False: it does not, for there may be something now.
    pub(crate) fn arm_read(&self, bell: &Waker) -> io::Result<bool> {
        match self {
            Self::Pipes { input, .. } => arm_read(input, bell),
            Self::Tcp(stream) => arm_read(stream, bell),
            Self::Unix(stream) => arm_read(stream, bell),
            Self::Stdio(stdio) => stdio.arm_read(bell),
            // The read that found nothing did it.
            Self::Foreign(_) => Ok(true),
        }
    }

    /// Makes `bell` ring once there is room to write. False: it does not, for there may be room now.
    pub(crate) fn arm_write(&self, bell: &Waker) -> io::Result<bool> {
        match self {
            Self::Pipes { output, .. } => arm(|cx| output.poll_writable(cx), bell),
            Self::Tcp(stream) => arm(|cx| stream.poll_writable(cx), bell),
            Self::Unix(stream) => arm(|cx| stream.poll_writable(cx), bell),
            Self::Stdio(stdio) => stdio.arm_write(bell),
            Self::Foreign(_) => Ok(true),
        }
    }

    /// Whether nobody is at the other end any more, to be asked once the input has ended. A client that reads on, and one
    /// over a stream of another kind, is taken to be there.
    pub(crate) fn is_gone(&self) -> bool {
        let output = match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
            Self::Pipes { output, .. } => output.as_fd(),
            Self::Stdio(stdio) => match stdio.output() {
                Some(output) => output,
                None => return false,
            },
            Self::Foreign(_) => return false,
        };
        told(output, PollFlags::empty())
    }

    /// Whether the other end of a socket has ended its output, or is gone, though there may be more to read. Where the
    /// system tells of no such thing, only that it is gone.
    pub(crate) fn is_left(&self) -> bool {
        #[cfg(target_os = "linux")]
        let end = PollFlags::RDHUP;
        #[cfg(not(target_os = "linux"))]
        let end = PollFlags::empty();
        match self {
            Self::Tcp(stream) => told(stream.as_fd(), end),
            Self::Unix(stream) => told(stream.as_fd(), end),
            Self::Pipes { .. } | Self::Stdio(_) | Self::Foreign(_) => false,
        }
    }

    /// Nothing more will be written, as the other end of a socket is told.
    pub(crate) fn end_output(&self) {
        match self {
            Self::Tcp(stream) => drop(stream.get_ref().shutdown(Shutdown::Write)),
            Self::Unix(stream) => drop(stream.get_ref().shutdown(Shutdown::Write)),
            Self::Pipes { .. } | Self::Stdio(_) | Self::Foreign(_) => {}
        }
    }

    /// Ends our side of a served connection, and throws away what still comes until the client has ended its own: what was
    /// written last would not arrive if the system had to say that something was left unread. Pending: `bells` ring when it
    /// is time to ask again.
    pub(crate) fn poll_part(&mut self, bells: &Bells) -> Poll<()> {
        let (socket, shut) = match &*self {
            Self::Tcp(stream) => (stream.get_ref().as_fd(), stream.get_ref().shutdown(Shutdown::Write)),
            Self::Unix(stream) => (stream.get_ref().as_fd(), stream.get_ref().shutdown(Shutdown::Write)),
            Self::Pipes { .. } | Self::Stdio(_) | Self::Foreign(_) => return self.poll_close(&bells.write),
        };
        if shut.is_err() {
            return Poll::Ready(());
        }
        let mut thrown_away = [0; PART_BYTES];
        for _ in 0..PART_READS {
            match rustix::io::retry_on_intr(|| rustix::io::read(socket, &mut thrown_away)) {
                Ok(1..) => {}
                Err(rustix::io::Errno::AGAIN) => match self.arm_read(&bells.read) {
                    Ok(true) => return Poll::Pending,
                    Ok(false) => {}
                    Err(_) => return Poll::Ready(()),
                },
                _ => return Poll::Ready(()),
            }
        }
        // Others get their turn.
        bells.read.wake_by_ref();
        Poll::Pending
    }

    /// Ends it, if it is no child's. Pending: `bell` rings when it is time to ask again.
    pub(crate) fn poll_close(&mut self, bell: &Waker) -> Poll<()> {
        match self {
            Self::Pipes { .. } | Self::Stdio(_) => {}
            Self::Tcp(stream) => drop(stream.get_ref().shutdown(Shutdown::Both)),
            Self::Unix(stream) => drop(stream.get_ref().shutdown(Shutdown::Both)),
            Self::Foreign(stream) => {
                return Pin::new(stream).poll_close(&mut Context::from_waker(bell)).map(drop);
            }
        }
        Poll::Ready(())
    }
}

/// Whether the system tells of this, or of an end in both directions or a fault.
fn told(fd: BorrowedFd<'_>, end: PollFlags) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, end)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let told = rustix::io::retry_on_intr(|| rustix::event::poll(&mut fds, Some(&now)));
    told.is_ok() && fds.iter().any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR | end))
}

/// As [`Wire::arm_read`].
pub(crate) fn arm_read<T>(source: &Async<T>, bell: &Waker) -> io::Result<bool> {
    arm(|cx| source.poll_readable(cx), bell)
}

/// The first answer may be about what rang last time, and was looked at.
pub(crate) fn arm(
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<io::Result<()>>,
    bell: &Waker,
) -> io::Result<bool> {
    let mut cx = Context::from_waker(bell);
    for _ in 0..2 {
        match poll(&mut cx) {
            Poll::Pending => return Ok(true),
            Poll::Ready(told) => told?,
        }
    }
    Ok(false)
}

/// Appends one read to `buffer`, within its spare room. `deep`: it might bring more than one read may.
pub(crate) fn read_fd(fd: BorrowedFd<'_>, buffer: &mut Vec<u8>, deep: bool) -> Got {
    let len = buffer.len();
    let room = buffer.capacity() - len;
    if room == 0 {
        return Got::Nothing;
    }
    let got = if room > MAX_READ_BYTES && deep {
        buffer.resize(len + MAX_READ_BYTES, 0);
        let room = buffer.get_mut(len..).unwrap_or_default();
        let got = rustix::io::retry_on_intr(|| rustix::io::read(fd, &mut *room));
        buffer.truncate(len + got.unwrap_or(0));
        got
    } else {
        rustix::io::retry_on_intr(|| rustix::io::read(fd, rustix::buffer::spare_capacity(buffer)))
    };
    match got {
        Ok(0) => Got::End { broken: false },
        Ok(len) => Got::Bytes { len, full: len >= room.min(MAX_READ_BYTES) },
        Err(rustix::io::Errno::AGAIN) => Got::Nothing,
        Err(_) => Got::End { broken: true },
    }
}

/// One read of a child's stderr, appended to `buffer`.
pub(crate) fn read_stderr(fd: BorrowedFd<'_>, buffer: &mut Vec<u8>) -> Got {
    read_fd(fd, buffer, false)
}

/// Makes a pipe hold 1 MiB, where the system allows it: big messages then cost few changes between the two processes.
fn deepen(fd: BorrowedFd<'_>, depth: &mut Depth) {
    if *depth == Depth::Shallow {
        *depth = Depth::Fixed;
        #[cfg(target_os = "linux")]
        if rustix::pipe::fcntl_setpipe_size(fd, 1024 * 1024).is_ok() {
            *depth = Depth::Deep;
        }
        #[cfg(not(target_os = "linux"))]
        let _ = fd;
    }
}
