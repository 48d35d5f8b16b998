//! Other Unixes: a list that every wait hands to the kernel. A wait costs what is watched.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use sanswire_system::os::to_timespec;

use super::Pollable;
use crate::os::unix::wire::Wake;
use crate::os::{PollEvent, Want};

/// Waits for any number of connections and listeners, and for a wake. Everything may be called from any thread at
/// any time, also during a wait: that ends early then, and the next one sees what was added or changed.
///
/// What is watched is reported by every wait for as long as it is so (level-triggered).
#[derive(Debug)]
pub(crate) struct Poller {
    watched: Mutex<Watched>,
    wake: Wake,
}

#[derive(Debug, Default)]
struct Watched {
    list: BTreeMap<u64, Entry>,
    /// How many threads wait.
    waits: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    fd: Arc<OwnedFd>,
    want: Want,
    /// Nothing is wanted, and that its peer is gone was told.
    quiet: bool,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { watched: Mutex::default(), wake: Wake::new()? })
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches `what` and reports it under `key`, which is none of the two greatest. Take it out by
    /// [`remove`](Self::remove) before dropping it.
    pub(crate) fn add(&self, key: u64, what: &impl Pollable, want: Want) -> io::Result<()> {
        self.set(key, what, want)
    }

    /// Changes what is reported of `what`, which was added under `key`.
    #[expect(clippy::unnecessary_wraps, reason = "the other side can fail")]
    pub(crate) fn set(&self, key: u64, what: &impl Pollable, want: Want) -> io::Result<()> {
        let mut watched = self.lock();
        watched.list.insert(key, Entry { fd: Arc::clone(what.descriptor()), want, quiet: false });
        if watched.waits > 0 {
            self.wake.wake();
        }
        Ok(())
    }

    /// Watches `what` no more. Events that a wait has given already are not taken back.
    #[expect(clippy::unnecessary_wraps, reason = "the other side can fail")]
    pub(crate) fn remove(&self, key: u64, _what: &impl Pollable) -> io::Result<()> {
        let mut watched = self.lock();
        // A wait holds its descriptor open.
        if watched.list.remove(&key).is_some() && watched.waits > 0 {
            self.wake.wake();
        }
        Ok(())
    }

    /// Waits until something happens, and replaces what is in `events` by it. Returns without any when it was
    /// woken, when `timeout` is over, and sometimes for no reason. `None`: for ever.
    pub(crate) fn wait(&self, events: &mut Vec<PollEvent>, timeout: Option<Duration>) -> io::Result<()> {
        events.clear();
        let list: Vec<(u64, Entry)> = {
            let mut watched = self.lock();
            watched.waits += 1;
            let heard = watched.list.iter().filter(|(_, entry)| !entry.quiet);
            heard.map(|(key, entry)| (*key, entry.clone())).collect()
        };
        let mut fds: Vec<PollFd<'_>> = list.iter().map(|(_, entry)| watch(&entry.fd, entry.want)).collect();
        fds.push(PollFd::from_borrowed_fd(self.wake.as_fd(), PollFlags::IN));
        let timeout = timeout.map(to_timespec);
        let polled = rustix::event::poll(&mut fds, timeout.as_ref());
        let mut watched = self.lock();
        watched.waits -= 1;
        match polled {
            Ok(0) | Err(Errno::INTR) => return Ok(()),
            Ok(_) => {}
            Err(errno) => return Err(errno.into()),
        }
        if fds.last().is_some_and(|wake| !wake.revents().is_empty()) {
            self.wake.clear();
        }
        for ((key, entry), fd) in list.iter().zip(&fds) {
            let found = fd.revents();
            if found.is_empty() {
                continue;
            }
            let over = found.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL);
            events.push(PollEvent {
                key: *key,
                readable: over || found.contains(PollFlags::IN),
                writable: over || found.contains(PollFlags::OUT),
            });
            // Unless it changed meanwhile.
            if entry.want == Want::NOTHING
                && let Some(now) = watched.list.get_mut(key)
                && now.want == Want::NOTHING
                && Arc::ptr_eq(&now.fd, &entry.fd)
            {
                now.quiet = true;
            }
        }
        Ok(())
    }

    /// Ends the present wait, or the next one if nobody waits. Several wakes may end one wait together.
    pub(crate) fn wake(&self) {
        self.wake.wake();
    }
}

fn watch(fd: &OwnedFd, want: Want) -> PollFd<'_> {
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::IN, want.read);
    flags.set(PollFlags::OUT, want.write);
    PollFd::new(fd, flags)
}
