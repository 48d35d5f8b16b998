//! Who looks after a connection for a host. It leads nothing and waits for no call, so it is told of what concerns it.

use std::task::Waker;

use sanswire::client::{Peer, RequestHandle};
use sanswire::mcp::Method;

use crate::shared::State;

/// A host's keeper, as its connection sees it.
pub(crate) struct Keeper {
    waker: Waker,
    /// Its requests that are out.
    pub(crate) open: Vec<RequestHandle>,
    /// How the server introduced itself in a session that took the place of one that it had forgotten.
    pub(crate) renewed: Option<Box<Peer>>,
}

impl Keeper {
    pub(crate) const fn new(waker: Waker) -> Self {
        Self { waker, open: Vec::new(), renewed: None }
    }

    /// A host takes what it needs at once, so that nothing else piles up.
    pub(crate) fn wants(&self, subscription: Option<RequestHandle>, method: &Method) -> bool {
        subscription.is_some() || method.is_list_changed()
    }
}

impl State {
    pub(crate) fn wake_keeper(&mut self) {
        if let Some(keeper) = &self.keeper {
            let waker = keeper.waker.clone();
            self.after().wakes.push(waker);
        }
    }

    /// A request has ended; it may be one of the keeper's.
    pub(crate) fn wake_keeper_for(&mut self, request: RequestHandle) {
        if self.keeper.as_ref().is_some_and(|keeper| keeper.open.contains(&request)) {
            self.wake_keeper();
        }
    }

    pub(crate) fn renew(&mut self, peer: Box<Peer>) {
        if let Some(keeper) = &mut self.keeper {
            keeper.renewed = Some(peer);
        }
        self.wake_keeper();
    }
}
