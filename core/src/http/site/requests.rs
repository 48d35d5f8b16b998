//! The requests that handlers are for.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use core::mem;

use crate::http::endpoint::SessionHandle;
use crate::server::kit::{Cancel, Over, Request};
use crate::server::{PeerOutcome, PeerRequestHandle, RequestHandle};

/// A request's name among those of all sessions.
pub(super) type Asked = (SessionHandle, RequestHandle);

/// All open requests, and those of them that wait for a handler, oldest first.
pub(super) struct Requests<C: Cancel, W> {
    open: BTreeMap<Asked, Arc<C>>,
    waiting: VecDeque<(SessionHandle, Request<C>)>,
    /// Bytes that those hold.
    waiting_bytes: usize,
    max_waiting_bytes: usize,
    /// Who waits for what becomes of a question.
    peers: BTreeMap<(SessionHandle, PeerRequestHandle), W>,
    /// What is over, and was not taken yet.
    over: Over<C, W>,
}

impl<C: Cancel, W> Requests<C, W> {
    pub(super) fn new(max_waiting_bytes: usize) -> Self {
        Self {
            open: BTreeMap::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            max_waiting_bytes,
            peers: BTreeMap::new(),
            over: Over::default(),
        }
    }

    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) const fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Has a request wait for a handler. Clients are read on even if none gets free, for their cancels and answers must
    /// get through: so what waits has a bound of its own. False: it is reached.
    pub(super) fn line_up(&mut self, session: SessionHandle, request: Request<C>) -> bool {
        self.open.insert((session, request.request), Arc::clone(&request.cancel));
        if self.waiting_bytes >= self.max_waiting_bytes {
            return false;
        }
        self.waiting_bytes += request.params.retained_len();
        self.waiting.push_back((session, request));
        true
    }

    /// Takes the request that has waited longest.
    pub(super) fn next(&mut self) -> Option<(SessionHandle, Request<C>)> {
        let (session, request) = self.waiting.pop_front()?;
        self.waiting_bytes -= request.params.retained_len();
        Some((session, request))
    }

    /// A request is about to be answered. False: it was cancelled.
    pub(super) fn answered(&mut self, asked: Asked) -> bool {
        self.open.remove(&asked).is_some()
    }

    /// A request is wanted no more.
    pub(super) fn cancelled(&mut self, asked: Asked) {
        let Some(cancel) = self.open.remove(&asked) else { return };
        // Or a client that asks and cancels without an end would fill it.
        let is = |(session, request): &(SessionHandle, Request<C>)| (*session, request.request) == asked;
        if let Some(at) = self.waiting.iter().position(is)
            && let Some((_, request)) = self.waiting.remove(at)
        {
            self.waiting_bytes -= request.params.retained_len();
            return;
        }
        self.over.cancelled.push(cancel);
    }

    /// A client is asked; `waiter` waits for what becomes of it.
    pub(super) fn asks(&mut self, session: SessionHandle, peer: PeerRequestHandle, waiter: W) {
        self.peers.insert((session, peer), waiter);
    }

    /// A question is over.
    pub(super) fn told(&mut self, session: SessionHandle, peer: PeerRequestHandle, outcome: PeerOutcome) {
        if let Some(waiter) = self.peers.remove(&(session, peer)) {
            self.over.answered.push((waiter, outcome));
        }
    }

    pub(super) fn take_over(&mut self) -> Over<C, W> {
        mem::take(&mut self.over)
    }
}

impl<C: Cancel, W> Drop for Requests<C, W> {
    fn drop(&mut self) {
        self.open.values().for_each(|cancel| cancel.cancel());
        self.over.cancelled.iter().for_each(|cancel| cancel.cancel());
    }
}
