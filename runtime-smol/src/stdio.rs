//! The standard input and output that this process was given, as a stream to serve.
//!
//! What reads and writes without waiting is the system's room; here is how it is awaited.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::task::Waker;

use async_io::Async;
use rustix::io::Errno;
use sanswire_system::os::StdioEnds;

use crate::wire::{Got, arm, arm_read};

/// The two ends, and what tells of them.
pub(crate) struct Stdio {
    ends: Arc<StdioEnds>,
    /// `None`: a read or write never waits there.
    input: Option<Async<OwnedFd>>,
    output: Option<Async<OwnedFd>>,
}

impl Stdio {
    pub(crate) fn new(ends: Arc<StdioEnds>) -> io::Result<Self> {
        let (input, output) = (waiting(ends.input())?, waiting(ends.output())?);
        Ok(Self { ends, input, output })
    }

    /// Where it is written, if that may wait.
    pub(crate) fn output(&self) -> Option<BorrowedFd<'_>> {
        self.output.as_ref().map(|output| output.as_fd())
    }

    /// The wait that [`arm_read`](Self::arm_read) began has found something.
    pub(crate) fn rang_for_read(&self) {
        self.ends.found_readable();
    }

    /// Appends one read to `buffer`, within its spare room.
    pub(crate) fn read(&self, buffer: &mut Vec<u8>) -> Got {
        match self.ends.read(buffer) {
            sanswire_system::os::Got::Bytes { len, full } => Got::Bytes { len, full },
            sanswire_system::os::Got::Nothing => Got::Nothing,
            sanswire_system::os::Got::End { broken } => Got::End { broken },
        }
    }

    /// Writes what fits now. `WouldBlock`: nothing does.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.ends.write(bytes)
    }

    /// Makes `bell` ring once there is something to read. False: there may be something now.
    pub(crate) fn arm_read(&self, bell: &Waker) -> io::Result<bool> {
        self.input.as_ref().map_or(Ok(false), |input| arm_read(input, bell))
    }

    /// Makes `bell` ring once there is room to write. False: there may be room now.
    pub(crate) fn arm_write(&self, bell: &Waker) -> io::Result<bool> {
        self.output.as_ref().map_or(Ok(false), |output| arm(|cx| output.poll_writable(cx), bell))
    }
}

/// Waits for a descriptor, which is not set non-blocking: it is others' too. `None`: there is nothing to wait for.
fn waiting(fd: Option<BorrowedFd<'_>>) -> io::Result<Option<Async<OwnedFd>>> {
    let Some(fd) = fd else { return Ok(None) };
    match Async::new_nonblocking(fd.try_clone_to_owned()?) {
        Ok(waiting) => Ok(Some(waiting)),
        // A file, or a device like /dev/null, which are always ready: that is how epoll and kqueue say so.
        Err(error)
            if [Errno::PERM, Errno::INVAL]
                .map(|errno| Some(errno.raw_os_error()))
                .contains(&error.raw_os_error()) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
