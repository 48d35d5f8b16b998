//! Waiting for the standard input and output that this process was given.

use std::io;
use std::os::fd::AsFd as _;
#[cfg(test)]
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use sanswire_system::os::to_timespec;

use crate::os::{Got, StdioReady, Wake, Want};

/// The inherited standard input and output, as [`sanswire_system::os::StdioEnds`] has them, and a wait for both.
#[derive(Debug)]
pub(crate) struct StdioEnds {
    ends: sanswire_system::os::StdioEnds,
    /// That nobody is at the output was told, to one who wants nothing.
    quiet: AtomicBool,
}

impl StdioEnds {
    /// Takes both from this process. `ResourceBusy`: somebody has them still.
    pub(crate) fn take() -> io::Result<Self> {
        sanswire_system::os::StdioEnds::take().map(Self::of)
    }

    /// Two ends of any kind, which nothing is done to.
    #[cfg(test)]
    pub(super) fn new(input: Option<OwnedFd>, output: Option<OwnedFd>) -> io::Result<Self> {
        sanswire_system::os::StdioEnds::new(input, output).map(Self::of)
    }

    /// As on a system that knows no better way for pipes.
    #[cfg(test)]
    pub(super) fn without_nowait(self) -> Self {
        Self::of(self.ends.without_nowait())
    }

    const fn of(ends: sanswire_system::os::StdioEnds) -> Self {
        Self { ends, quiet: AtomicBool::new(false) }
    }

    /// Puts both back where they were, for who is done with it while another thread holds it still.
    pub(crate) fn leave(&self) {
        self.ends.leave();
    }

    /// Appends one read to `buffer`, within its spare room, without waiting.
    pub(crate) fn read(&self, buffer: &mut Vec<u8>) -> Got {
        self.ends.read(buffer)
    }

    /// Writes what fits now, without waiting. `WouldBlock`: nothing does.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.ends.write(bytes)
    }

    /// Waits until what is wanted can be done, or `wake` was woken, or `timeout` is over, and sometimes for no
    /// reason. An end or a fault counts as ready: the next read or write finds out. That nobody is at the output any
    /// more is told as [`Want::NOTHING`] says. `None`: for ever.
    pub(crate) fn wait(&self, wake: &Wake, want: Want, timeout: Option<Duration>) -> StdioReady {
        if want != Want::NOTHING {
            self.quiet.store(false, Ordering::Relaxed);
        }
        let input = self.ends.input().filter(|_| want.read);
        let unasked = want == Want::NOTHING && !self.quiet.load(Ordering::Relaxed);
        let output = self.ends.output().filter(|_| want.write || unasked);
        let room = if want.write { PollFlags::OUT } else { PollFlags::empty() };
        // What is closed needs no wait.
        let closed = StdioReady {
            wake: false,
            readable: want.read && input.is_none(),
            writable: want.write && output.is_none(),
        };
        let at_once = closed.readable || closed.writable;
        let timeout = if at_once { Some(Timespec::default()) } else { timeout.map(to_timespec) };
        let wake = PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN);
        let mut fds = [wake.clone(), wake.clone(), wake];
        let mut len = 1;
        for (fd, flags) in [(input, PollFlags::IN), (output, room)] {
            if let (Some(fd), Some(place)) = (fd, fds.get_mut(len)) {
                *place = PollFd::from_borrowed_fd(fd, flags);
                len += 1;
            }
        }
        let polled = fds.get_mut(..len).map(|fds| rustix::event::poll(fds, timeout.as_ref()));
        if !matches!(polled, Some(Ok(1..))) {
            return closed;
        }
        let mut found = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |watched: bool| watched && found.next().unwrap_or(false);
        let wake = next(true);
        let readable = next(input.is_some());
        if readable {
            self.ends.found_readable();
        }
        let writable = next(output.is_some());
        if unasked && writable {
            self.quiet.store(true, Ordering::Relaxed);
        }
        StdioReady { wake, readable: readable || closed.readable, writable: writable || closed.writable }
    }
}
