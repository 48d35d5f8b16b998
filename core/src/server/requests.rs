//! The table of requests that wait for the application's answer.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::exchange::Origin;
use crate::jsonrpc::{RawJson, RequestId};
use crate::mcp::types::lifecycle::ClientCapabilities;
use crate::mcp::types::log::LogLevel;
use crate::mcp::{Method, Revision};
use crate::server::event::Principal;
use crate::server::index::Index;

/// A request that waits for the application's answer.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) origin: Origin,
    pub(super) id: RequestId,
    pub(super) method: Method,
    pub(super) revision: Revision,
    pub(super) principal: Principal,
    /// What may be asked for it.
    pub(super) declared: Declared,
    pub(super) progress_token: Option<RequestId>,
    /// The last progress that was told.
    pub(super) progress: f64,
    pub(super) log_level: Option<LogLevel>,
    /// The address it subscribes to, or no longer does.
    pub(super) uri: Option<Box<str>>,
    /// What the tool's structured results look like, a view into the catalog's.
    pub(super) output_schema: Option<Arc<RawJson>>,
    /// Requests of ours that belong to it and are open.
    pub(super) asks: usize,
}

/// What a request's client can do, without the extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Declared(u8);

impl Declared {
    pub(super) fn of(capabilities: &ClientCapabilities) -> Self {
        Self(
            u8::from(capabilities.elicitation_form)
                | u8::from(capabilities.elicitation_url) << 1
                | u8::from(capabilities.sampling) << 2
                | u8::from(capabilities.sampling_tools) << 3
                | u8::from(capabilities.roots) << 4
                | u8::from(capabilities.roots_list_changed) << 5
                | u8::from(capabilities.sampling_context) << 6,
        )
    }

    pub(super) fn capabilities(self) -> ClientCapabilities {
        let has = |bit: u8| self.0 >> bit & 1 == 1;
        ClientCapabilities {
            elicitation_form: has(0),
            elicitation_url: has(1),
            sampling: has(2),
            sampling_tools: has(3),
            roots: has(4),
            roots_list_changed: has(5),
            sampling_context: has(6),
            extensions: None,
        }
    }
}

/// What is left of a request that is over.
#[derive(Debug, PartialEq)]
pub(super) struct Gone {
    pub(super) origin: Origin,
    /// The address that it subscribes to, or (false) no longer does.
    pub(super) watch: Option<(Box<str>, bool)>,
    pub(super) asks: usize,
}

/// All open requests, by handle and by where they came from.
///
/// Handles count up, so the order is a queue, as the client's is. Wire ids are unique only on the stream they came
/// from. An open request stays where it was put, for it is too big to be moved about.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// Handles and the places of their requests, oldest first; [`GONE`] where there is none any more.
    order: VecDeque<(u64, usize)>,
    places: Vec<Option<Open>>,
    free: Vec<usize>,
    /// By a hash of where each came from and of its wire id.
    index: Index,
    last: u64,
    /// How many keep an address.
    uris: usize,
}

const GONE: usize = usize::MAX;

impl Requests {
    #[inline]
    pub(super) fn insert(&mut self, open: Open) -> u64 {
        self.last += 1;
        self.index.insert(hash(open.origin, &open.id), self.last);
        self.uris += usize::from(open.uri.is_some());
        let place = self.free.pop().unwrap_or(self.places.len());
        match self.places.get_mut(place) {
            Some(free) => *free = Some(open),
            None => self.places.push(Some(open)),
        }
        self.order.push_back((self.last, place));
        self.last
    }

    /// Where in the order a handle stands.
    #[inline]
    fn turn(&self, handle: u64) -> Option<usize> {
        // Where nothing was taken out of the middle, that follows from the handle.
        let first = self.order.front()?.0;
        let turn = usize::try_from(handle.checked_sub(first)?).ok()?;
        match self.order.get(turn) {
            Some((there, _)) if *there == handle => Some(turn),
            _ => self.order.binary_search_by_key(&handle, |(handle, _)| *handle).ok(),
        }
    }

    #[inline]
    pub(super) fn get(&self, handle: u64) -> Option<&Open> {
        let (_, place) = self.order.get(self.turn(handle)?)?;
        self.places.get(*place)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, handle: u64) -> Option<&mut Open> {
        let (_, place) = self.order.get(self.turn(handle)?)?;
        self.places.get_mut(*place)?.as_mut()
    }

    #[inline]
    pub(super) fn remove(&mut self, handle: u64) -> Option<Gone> {
        let turn = self.turn(handle)?;
        let (_, at) = self.order.get_mut(turn)?;
        let place = core::mem::replace(at, GONE);
        let slot = self.places.get_mut(place)?;
        let open = slot.as_mut()?;
        let subscribes = open.method == Method::ResourcesSubscribe;
        let watch = open.uri.take().map(|uri| (uri, subscribes));
        self.uris -= usize::from(watch.is_some());
        let gone = Gone { origin: open.origin, watch, asks: open.asks };
        self.index.remove(hash(open.origin, &open.id), handle);
        *slot = None;
        self.free.push(place);
        while matches!(self.order.front(), Some((_, GONE))) {
            self.order.pop_front();
        }
        let (turns, len) = (self.order.len(), self.index.len());
        if turns > 16 && len < turns / 2 {
            self.order.retain(|(_, place)| *place != GONE);
        }
        if turns == 0 && self.places.len() > 256 {
            self.release();
        }
        Some(gone)
    }

    /// How many were open at once since it last let go of room.
    pub(super) const fn room(&self) -> usize {
        self.places.len()
    }

    /// Lets go of room that holds nothing, if nothing is open.
    pub(super) fn release(&mut self) {
        if self.is_empty() {
            *self = Self { last: self.last, ..Self::default() };
        }
    }

    /// The open request of this id on this stream.
    pub(super) fn find(&self, origin: Origin, id: &RequestId) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        let is_it = |open: &Open| open.origin == origin && open.id == *id;
        self.index.find(hash(origin, id), |handle| self.get(handle).is_some_and(is_it))
    }

    /// The oldest open request of this id and kind on any stream.
    pub(super) fn find_anywhere(&self, id: &RequestId, is_it: impl Fn(&Open) -> bool) -> Option<u64> {
        self.iter().find(|(_, open)| open.id == *id && is_it(open)).map(|(handle, _)| handle)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &Open)> {
        self.order.iter().filter_map(|(handle, place)| Some((*handle, self.places.get(*place)?.as_ref()?)))
    }

    /// An open request of this stream that is the right one; the oldest, where all share the stream.
    pub(super) fn find_on(&self, origin: Origin, is_it: impl Fn(&Open) -> bool) -> Option<u64> {
        let is_it = |open: &Open| open.origin == origin && is_it(open);
        match by_origin(origin) {
            Some(hash) => self.index.find(hash, |handle| self.get(handle).is_some_and(&is_it)),
            None => self.iter().find(|(_, open)| is_it(open)).map(|(handle, _)| handle),
        }
    }

    /// Whether a request of this stream is open.
    pub(super) fn any_on(&self, origin: Origin) -> bool {
        self.find_on(origin, |_| true).is_some()
    }

    /// How many keep an address.
    pub(super) const fn uris(&self) -> usize {
        self.uris
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.index.len() == 0
    }

    /// The handles of all that is open, oldest first.
    pub(super) fn handles(&self) -> Vec<u64> {
        self.iter().map(|(handle, _)| handle).collect()
    }
}

/// The hash of all that comes on an exchange of its own: one request, or those of a batch. On a shared stream there are
/// too many to look through.
fn by_origin(origin: Origin) -> Option<u64> {
    match origin {
        Origin::Exchange(exchange) => Some(step(step(START, 3), exchange.number())),
        Origin::Stream | Origin::Push => None,
    }
}

const START: u64 = 0xcbf2_9ce4_8422_2325;

const fn step(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x0000_0100_0000_01b3)
}

/// FNV-1a, a word at a time. Ids that count up get places beside each other, none twice, and so do exchanges.
fn hash(origin: Origin, id: &RequestId) -> u64 {
    let from = match origin {
        Origin::Stream => 1,
        Origin::Push => 2,
        Origin::Exchange(_) => return by_origin(origin).unwrap_or_default(),
    };
    let start = step(START, from);
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
            declared: Declared::default(),
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
                    prop_assert_eq!(taken, Gone { origin: from, watch: None, asks: 0 });
                    prop_assert_eq!(table.find(from, &wire), None);
                    prop_assert!(table.remove(handle).is_none() && table.get(handle).is_none());
                }
                prop_assert_eq!(table.handles(), model.iter().map(|(handle, ..)| *handle).collect::<Vec<_>>());
                let here: Vec<u64> = model.iter().filter(|(_, o, _)| *o == from).map(|(handle, ..)| *handle).collect();
                prop_assert_eq!(table.any_on(from), !here.is_empty());
                for handle in here {
                    let id = table.get(handle).map(|open| open.id.clone());
                    let found = table.find_on(from, |open| Some(&open.id) == id.as_ref());
                    prop_assert_eq!(found, Some(handle));
                }
                prop_assert!(table.order.len() <= 16 + 2 * table.len(), "gaps are given up");
                prop_assert_eq!(table.places.len(), table.len() + table.free.len());
            }
        }
    }

    #[test]
    fn what_is_declared_is_kept() {
        for bits in 0..128 {
            let declared = Declared(bits);
            assert_eq!(Declared::of(&declared.capabilities()), declared);
        }
        let all = Declared(127).capabilities();
        assert!(all.elicitation_form && all.elicitation_url && all.sampling && all.sampling_tools);
        assert!(all.roots && all.roots_list_changed && all.sampling_context && all.extensions.is_none());
    }

    #[test]
    fn handles_are_never_used_again() {
        let mut table = Requests::default();
        let first = table.insert(open(Origin::Stream, id(0)));
        table.remove(first);
        assert!(table.insert(open(Origin::Stream, id(0))) > first);
    }
}
