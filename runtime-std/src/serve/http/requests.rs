//! The requests that handlers are for.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use sanswire::http::endpoint::SessionHandle;
use sanswire::server::{PeerOutcome, PeerRequestHandle, RequestHandle};
use sanswire_system::serve::Cancel;

use crate::serve::call::{Job, Origin};

/// A request's name among those of all sessions.
pub(super) type Asked = (SessionHandle, RequestHandle);

/// All open requests, and those of them that wait for a thread, oldest first.
pub(super) struct Requests {
    open: BTreeMap<Asked, Arc<Cancel>>,
    waiting: VecDeque<Job>,
    /// Bytes that those hold.
    waiting_bytes: usize,
    max_waiting_bytes: usize,
    pub(super) peers: BTreeMap<(SessionHandle, PeerRequestHandle), Sender<PeerOutcome>>,
}

impl Requests {
    pub(super) fn new(max_waiting_bytes: usize) -> Self {
        Self {
            open: BTreeMap::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            max_waiting_bytes,
            peers: BTreeMap::new(),
        }
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Has a request wait for a thread. Clients are read on even if none gets free, for their cancels and answers must
    /// get through: so what waits has a bound of its own. False: it is reached.
    pub(super) fn line_up(&mut self, asked: Asked, job: Job) -> bool {
        self.open.insert(asked, Arc::clone(&job.asked.cancel));
        if self.waiting_bytes >= self.max_waiting_bytes {
            return false;
        }
        self.waiting_bytes += job.held();
        self.waiting.push_back(job);
        true
    }

    /// Takes the request that has waited longest.
    pub(super) fn next(&mut self) -> Option<Job> {
        let job = self.waiting.pop_front()?;
        self.waiting_bytes -= job.held();
        Some(job)
    }

    /// A request is about to be answered. False: it was cancelled.
    pub(super) fn answered(&mut self, asked: Asked) -> bool {
        self.open.remove(&asked).is_some()
    }

    /// A request is wanted no more.
    pub(super) fn cancelled(&mut self, asked: Asked) {
        let Some(cancel) = self.open.remove(&asked) else { return };
        cancel.set();
        let is = |job: &Job| job.origin == Origin::Session(asked.0) && job.asked.request == asked.1;
        if let Some(at) = self.waiting.iter().position(is)
            && let Some(job) = self.waiting.remove(at)
        {
            self.waiting_bytes -= job.held();
        }
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        self.open.values().for_each(|cancel| cancel.set());
    }
}
