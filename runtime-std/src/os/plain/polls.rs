//! A wait for a few connections at once, each time for others.

use std::sync::Arc;
use std::time::Duration;

use super::bell::Wake;
use super::poller::{Pollable, Watched};
use crate::os::{PollEvent, Want};

/// What is waited for, and what was found.
#[derive(Debug, Default)]
pub(crate) struct Polls {
    watched: Vec<(u64, Arc<dyn Watched>, Want)>,
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
            self.watched.push((key, what.watched(), want));
        }
    }

    /// Waits until something is found, for a wake, or for `timeout` (`None`: for ever). Whether it was woken.
    pub(crate) fn wait(&mut self, wake: &Wake, timeout: Option<Duration>) -> bool {
        let bell = wake.bell();
        bell.hush();
        self.watched.iter().for_each(|(_, watched, _)| watched.join(bell));
        self.look();
        if self.found.is_empty() {
            bell.wait(timeout);
            self.look();
        }
        self.watched.iter().for_each(|(_, watched, _)| watched.leave(bell));
        bell.is_woken()
    }

    fn look(&mut self) {
        self.found.clear();
        self.found.extend(self.watched.iter().filter_map(|(key, watched, want)| {
            let (readable, writable) = watched.is_ready();
            let (readable, writable) = (want.read && readable, want.write && writable);
            (readable || writable).then_some(PollEvent { key: *key, readable, writable })
        }));
    }

    /// What the last wait found.
    pub(crate) fn found(&self) -> &[PollEvent] {
        &self.found
    }
}
