//! The table of requests that wait for the application's answer.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crate::exchange::Origin;
use crate::jsonrpc::RequestId;
use crate::mcp::types::lifecycle::ClientCapabilities;
use crate::mcp::types::log::LogLevel;
use crate::mcp::{Method, Revision};
use crate::server::event::Principal;

/// A request that waits for the application's answer.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) origin: Origin,
    pub(super) id: RequestId,
    pub(super) method: Method,
    pub(super) revision: Revision,
    pub(super) principal: Principal,
    /// What may be asked for it; the extensions are left out.
    pub(super) capabilities: ClientCapabilities,
    pub(super) progress_token: Option<RequestId>,
    /// The last progress that was told.
    pub(super) progress: f64,
    pub(super) log_level: Option<LogLevel>,
    /// The address it subscribes to, or no longer does.
    pub(super) uri: Option<Box<str>>,
    /// Requests of ours that belong to it and are open.
    pub(super) asks: usize,
}

/// All open requests, by handle and by where they came from.
///
/// Handles count up, so the table is a queue in their order, as the client's is. Wire ids are unique only on the
/// stream they came from.
#[derive(Debug, Default)]
pub(super) struct Requests {
    slots: VecDeque<(u64, Option<Open>)>,
    by_id: BTreeMap<(Origin, RequestId), u64>,
    last: u64,
}

impl Requests {
    pub(super) fn insert(&mut self, open: Open) -> u64 {
        self.last += 1;
        self.by_id.insert((open.origin, open.id.clone()), self.last);
        self.slots.push_back((self.last, Some(open)));
        self.last
    }

    fn slot(&self, handle: u64) -> Option<usize> {
        match self.slots.front() {
            Some((first, _)) if *first == handle => Some(0),
            Some(_) => self.slots.binary_search_by_key(&handle, |(handle, _)| *handle).ok(),
            None => None,
        }
    }

    pub(super) fn get(&self, handle: u64) -> Option<&Open> {
        self.slots.get(self.slot(handle)?)?.1.as_ref()
    }

    pub(super) fn get_mut(&mut self, handle: u64) -> Option<&mut Open> {
        let slot = self.slot(handle)?;
        self.slots.get_mut(slot)?.1.as_mut()
    }

    pub(super) fn remove(&mut self, handle: u64) -> Option<Open> {
        let slot = self.slot(handle)?;
        let open = self.slots.get_mut(slot)?.1.take()?;
        let key = (open.origin, open.id);
        self.by_id.remove(&key);
        let open = Open { id: key.1, ..open };
        while matches!(self.slots.front(), Some((_, None))) {
            self.slots.pop_front();
        }
        if self.slots.len() > 16 && self.by_id.len() < self.slots.len() / 2 {
            self.slots.retain(|(_, open)| open.is_some());
        }
        if self.slots.is_empty() && self.slots.capacity() > 256 {
            self.slots = VecDeque::new();
        }
        Some(open)
    }

    /// The open request of this id on this stream.
    pub(super) fn find(&self, origin: Origin, id: &RequestId) -> Option<u64> {
        if self.by_id.is_empty() {
            return None;
        }
        self.by_id.get(&(origin, id.clone())).copied()
    }

    /// The oldest open request of this id on any stream.
    pub(super) fn find_anywhere(&self, id: &RequestId) -> Option<u64> {
        self.iter().find(|(_, open)| open.id == *id).map(|(handle, _)| handle)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &Open)> {
        self.slots.iter().filter_map(|(handle, open)| Some((*handle, open.as_ref()?)))
    }

    /// Whether a request of this stream is open.
    pub(super) fn any_on(&self, origin: Origin) -> bool {
        self.iter().any(|(_, open)| open.origin == origin)
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The handles of all that is open, oldest first.
    pub(super) fn handles(&self) -> Vec<u64> {
        self.iter().map(|(handle, _)| handle).collect()
    }

    /// The handles of what is open on one stream.
    pub(super) fn handles_on(&self, origin: Origin) -> Vec<u64> {
        self.iter().filter(|(_, open)| open.origin == origin).map(|(handle, _)| handle).collect()
    }
}
