//! Waits for many connections at once: on the one bell that the threads of all of them ring.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::bell::{Bell, Wake};
use crate::os::{PollEvent, Want};

/// What can be looked at, and rings when it changes.
pub(crate) trait Watched: Debug + Send + Sync {
    /// Whether it can be read, and whether it can be written.
    fn is_ready(&self) -> (bool, bool);
    fn join(&self, bell: &Arc<Bell>);
    fn leave(&self, bell: &Arc<Bell>);
}

/// What a [`Poller`] can watch.
pub(crate) trait Pollable {
    fn watched(&self) -> Arc<dyn Watched>;
}

type List = BTreeMap<u64, (Arc<dyn Watched>, Want)>;

/// Waits for any number of connections and listeners, and for a wake. Everything may be called from any thread at
/// any time, but one thread at a time waits; it sees what was added or changed meanwhile. A wait costs what is
/// watched.
///
/// What is watched is reported by every wait for as long as it is so (level-triggered).
#[derive(Debug)]
pub(crate) struct Poller {
    watched: Mutex<List>,
    wake: Wake,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { watched: Mutex::default(), wake: Wake::new()? })
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches `what` and reports it under `key`, which is none of the two greatest. Take it out by
    /// [`remove`](Self::remove) before dropping it.
    #[expect(clippy::unnecessary_wraps, reason = "the other side can fail")]
    pub(crate) fn add(&self, key: u64, what: &impl Pollable, want: Want) -> io::Result<()> {
        let watched = what.watched();
        watched.join(self.wake.bell());
        self.lock().insert(key, (watched, want));
        self.wake.bell().ring();
        Ok(())
    }

    /// Changes what is reported of `what`, which was added under `key`.
    #[expect(clippy::unnecessary_wraps, reason = "the other side can fail")]
    pub(crate) fn set(&self, key: u64, _what: &impl Pollable, want: Want) -> io::Result<()> {
        if let Some((_, wanted)) = self.lock().get_mut(&key) {
            *wanted = want;
        }
        self.wake.bell().ring();
        Ok(())
    }

    /// Watches `what` no more. Events that a wait has given already are not taken back.
    #[expect(clippy::unnecessary_wraps, reason = "the other side can fail")]
    pub(crate) fn remove(&self, key: u64, _what: &impl Pollable) -> io::Result<()> {
        if let Some((watched, _)) = self.lock().remove(&key) {
            watched.leave(self.wake.bell());
        }
        Ok(())
    }

    /// Waits until something happens, and replaces what is in `events` by it. Returns without any when it was
    /// woken, when `timeout` is over, and sometimes for no reason. `None`: for ever.
    #[expect(clippy::unnecessary_wraps, reason = "the other side can fail")]
    pub(crate) fn wait(&self, events: &mut Vec<PollEvent>, timeout: Option<Duration>) -> io::Result<()> {
        let bell = self.wake.bell();
        bell.hush();
        self.look(events);
        if events.is_empty() {
            bell.wait(timeout);
            if bell.is_woken() {
                self.wake.clear();
            }
            self.look(events);
        }
        Ok(())
    }

    fn look(&self, events: &mut Vec<PollEvent>) {
        events.clear();
        events.extend(self.lock().iter().filter_map(|(key, (watched, want))| {
            if *want == Want::NOTHING {
                return None;
            }
            let (readable, writable) = watched.is_ready();
            let (readable, writable) = (want.read && readable, want.write && writable);
            (readable || writable).then_some(PollEvent { key: *key, readable, writable })
        }));
    }

    /// Ends the present wait, or the next one if nobody waits. Several wakes may end one wait together.
    pub(crate) fn wake(&self) {
        self.wake.wake();
    }
}
