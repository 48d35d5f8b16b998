//! The table of requests that wait for the application's answer.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::exchange::Origin;
use crate::jsonrpc::{RawJson, RequestId};
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
    /// What the tool's structured results look like, a view into the catalog's.
    pub(super) output_schema: Option<RawJson>,
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
    /// A hash of where each came from and of its wire id, with its handle. Looked through from end to end: a thousand
    /// words cost less than keeping them in order.
    keys: Vec<(u64, u64)>,
    last: u64,
}

impl Requests {
    pub(super) fn insert(&mut self, open: Open) -> u64 {
        self.last += 1;
        self.keys.push((hash(open.origin, &open.id), self.last));
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
        if let Some(place) = self.keys.iter().position(|(_, of)| *of == handle) {
            self.keys.swap_remove(place);
        }
        while matches!(self.slots.front(), Some((_, None))) {
            self.slots.pop_front();
        }
        if self.slots.len() > 16 && self.keys.len() < self.slots.len() / 2 {
            self.slots.retain(|(_, open)| open.is_some());
        }
        if self.slots.is_empty() && self.slots.capacity() > 256 {
            self.slots = VecDeque::new();
            self.keys = Vec::new();
        }
        Some(open)
    }

    /// The open request of this id on this stream.
    pub(super) fn find(&self, origin: Origin, id: &RequestId) -> Option<u64> {
        if self.keys.is_empty() {
            return None;
        }
        let wanted = hash(origin, id);
        let is_it = |open: &Open| open.origin == origin && open.id == *id;
        let likely = self.keys.iter().filter(|(key, _)| *key == wanted).map(|(_, handle)| *handle);
        likely.into_iter().find(|handle| self.get(*handle).is_some_and(is_it))
    }

    /// The oldest open request of this id and kind on any stream.
    pub(super) fn find_anywhere(&self, id: &RequestId, is_it: impl Fn(&Open) -> bool) -> Option<u64> {
        self.iter().find(|(_, open)| open.id == *id && is_it(open)).map(|(handle, _)| handle)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &Open)> {
        self.slots.iter().filter_map(|(handle, open)| Some((*handle, open.as_ref()?)))
    }

    /// Whether a request of this stream is open.
    pub(super) fn any_on(&self, origin: Origin) -> bool {
        self.iter().any(|(_, open)| open.origin == origin)
    }

    /// How many keep an address.
    pub(super) fn uris(&self) -> usize {
        self.iter().filter(|(_, open)| open.uri.is_some()).count()
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
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

/// FNV-1a, a word at a time.
fn hash(origin: Origin, id: &RequestId) -> u64 {
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    let from = match origin {
        Origin::Stream => 1,
        Origin::Push => 2,
        Origin::Exchange(exchange) => step(3, exchange.number()),
    };
    let start = step(0xcbf2_9ce4_8422_2325, from);
    match (id.as_i64(), id.as_str()) {
        (Some(number), _) => step(start, number.cast_unsigned()),
        (None, Some(text)) => text.bytes().fold(start, |hash, byte| step(hash, u64::from(byte))),
        (None, None) => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::ExchangeHandle;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn open(origin: Origin, id: RequestId) -> Open {
        Open {
            origin,
            id,
            method: Method::ToolsCall,
            revision: Revision::V2026_07_28,
            principal: Principal::anonymous(),
            capabilities: ClientCapabilities::default(),
            progress_token: None,
            progress: 0.0,
            log_level: None,
            uri: None,
            output_schema: None,
            asks: 0,
        }
    }

    fn id(n: u8) -> RequestId {
        match n % 3 {
            0 => RequestId::from(i64::from(n)),
            1 => RequestId::from(n.to_string().as_str()),
            _ => RequestId::from(u64::MAX - u64::from(n)),
        }
    }

    fn origin(n: u8) -> Origin {
        if n.is_multiple_of(2) {
            Origin::Stream
        } else {
            Origin::Exchange(ExchangeHandle::numbered(u64::from(n % 5)))
        }
    }

    proptest! {
        #[test]
        fn the_table_holds_what_was_put_in_and_not_taken_out(
            steps in prop::collection::vec((any::<u8>(), any::<u8>(), 0u8..4), 0..400),
        ) {
            let mut table = Requests::default();
            let mut model: Vec<(u64, Origin, RequestId)> = Vec::new();
            for (a, b, what) in steps {
                let (from, wire) = (origin(a), id(b % 20));
                let known = model.iter().find(|(_, o, i)| *o == from && *i == wire).map(|(handle, ..)| *handle);
                prop_assert_eq!(table.find(from, &wire), known);
                let anywhere = model.iter().find(|(.., i)| *i == wire).map(|(handle, ..)| *handle);
                prop_assert_eq!(table.find_anywhere(&wire, |_| true), anywhere);
                if what < 3 && known.is_none() {
                    let handle = table.insert(open(from, wire.clone()));
                    prop_assert!(model.last().is_none_or(|(last, ..)| *last < handle), "handles count up");
                    model.push((handle, from, wire));
                } else if !model.is_empty() {
                    let (handle, from, wire) = model.remove(usize::from(a) % model.len());
                    let taken = table.remove(handle).expect("it is there");
                    prop_assert_eq!((taken.origin, taken.id), (from, wire));
                    prop_assert!(table.remove(handle).is_none() && table.get(handle).is_none());
                }
                prop_assert_eq!(table.handles(), model.iter().map(|(handle, ..)| *handle).collect::<Vec<_>>());
                let here: Vec<u64> = model.iter().filter(|(_, o, _)| *o == from).map(|(handle, ..)| *handle).collect();
                prop_assert_eq!(table.any_on(from), !here.is_empty());
                prop_assert_eq!(table.handles_on(from), here);
                prop_assert!(table.slots.len() <= 16 + 2 * table.len(), "gaps are given up");
            }
        }
    }

    #[test]
    fn handles_are_never_used_again() {
        let mut table = Requests::default();
        let first = table.insert(open(Origin::Stream, id(0)));
        table.remove(first);
        assert!(table.insert(open(Origin::Stream, id(0))) > first);
    }
}
