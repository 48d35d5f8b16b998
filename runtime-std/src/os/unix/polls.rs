//! A wait for a few connections at once, each time for others.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use sanswire_system::os::to_timespec;

use super::poller::Pollable;
use super::wire::Wake;
use crate::os::{PollEvent, Want};

/// What is waited for, and what was found. Its room is kept from one wait to the next; what it names stays open
/// meanwhile.
///
/// One system call a wait, whatever changed since the last: a [`Poller`](super::Poller) takes one for each change,
/// which pays only where many are watched and few have news.
#[derive(Debug, Default)]
pub(crate) struct Polls {
    watched: Vec<(u64, Arc<OwnedFd>, Want)>,
    found: Vec<PollEvent>,
}

impl Polls {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.watched.clear();
        self.found.clear();
    }

    /// Waits for `what` too. Its end is told as well, unless nothing is wanted of it.
    pub(crate) fn add(&mut self, key: u64, what: &impl Pollable, want: Want) {
        if want != Want::NOTHING {
            self.watched.push((key, Arc::clone(what.descriptor()), want));
        }
    }

    /// Waits until something is found, for a wake, or for `timeout` (`None`: for ever). Whether it was woken.
    pub(crate) fn wait(&mut self, wake: &Wake, timeout: Option<Duration>) -> bool {
        self.found.clear();
        let mut fds = Vec::with_capacity(1 + self.watched.len());
        fds.push(PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN));
        fds.extend(self.watched.iter().map(|(_, fd, want)| PollFd::new(fd, flags(*want))));
        let timeout = timeout.map(to_timespec);
        if !matches!(rustix::event::poll(&mut fds, timeout.as_ref()), Ok(1..)) {
            return false;
        }
        let mut told = fds.iter().map(PollFd::revents);
        let woken = told.next().is_some_and(|told| !told.is_empty());
        let told = self.watched.iter().zip(told).filter(|(_, told)| !told.is_empty());
        self.found.extend(told.map(|((key, ..), told)| {
            let over = told.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL);
            PollEvent {
                key: *key,
                readable: over || told.contains(PollFlags::IN),
                writable: over || told.contains(PollFlags::OUT),
            }
        }));
        woken
    }

    /// What the last wait found.
    pub(crate) fn found(&self) -> &[PollEvent] {
        &self.found
    }
}

fn flags(want: Want) -> PollFlags {
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::IN, want.read);
    flags.set(PollFlags::OUT, want.write);
    flags
}
