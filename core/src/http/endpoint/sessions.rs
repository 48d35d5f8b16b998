//! The sessions of revisions up to 2025-11-25, and their ids.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::cmp::Reverse;

use crate::http::endpoint::streams::Streams;
use crate::server::state::{base64, hmac, same};
use crate::server::{Catalog, Config, MAX_WATCHED, Principal, Room, SHARES, Session};
use crate::time::Instant;

/// A session that `initialize` opened.
pub(super) struct Served {
    pub(super) session: Session,
    pub(super) principal: Principal,
    pub(super) streams: Streams,
    /// When something of it was last heard or open.
    pub(super) heard: Instant,
    /// Exchanges of it that are open.
    pub(super) exchanges: usize,
    /// When its deadline is looked at.
    pub(super) timer: Option<Instant>,
    /// What it holds of what all sessions share.
    taken: Room,
    /// Its id, as it stands in a field.
    ///
    /// Spec: MCP 2025-11-25 basic/transports, "Session Management": visible ASCII.
    pub(super) id: Box<str>,
}

impl Served {
    /// Whether nothing of it is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.exchanges == 0 && self.session.in_flight() == 0
    }
}

/// All of them.
pub(super) struct Sessions {
    seed: [u8; 32],
    open: BTreeMap<u64, Served>,
    /// By the first bytes of their ids, which are found by comparing; the rest is compared in constant time.
    ids: BTreeMap<u128, u64>,
    /// How many each principal has.
    owned: BTreeMap<Principal, usize>,
    last: u64,
    /// What all of them hold together.
    taken: Room,
}

impl Sessions {
    pub(super) const fn new(seed: [u8; 32]) -> Self {
        let taken = Room { requests: 0, watched: 0 };
        Self { seed, open: BTreeMap::new(), ids: BTreeMap::new(), owned: BTreeMap::new(), last: 0, taken }
    }

    /// What keys the cursors of listings, in all sessions.
    pub(super) fn cursors(&self) -> [u8; 32] {
        hmac(&self.seed, &[b"cursors"])
    }

    /// A new one. Its id cannot be guessed from any number of others.
    pub(super) fn create(
        &mut self,
        config: Arc<Config>,
        catalog: Arc<Catalog>,
        principal: Principal,
        now: Instant,
    ) -> u64 {
        self.last += 1;
        let id: Box<str> = base64(&hmac(&self.seed, &[b"session", &self.last.to_be_bytes()])).into();
        let mut session = Session::of(config, self.cursors(), now);
        session.set_catalog(catalog);
        let streams = Streams::default();
        *self.owned.entry(principal.clone()).or_default() += 1;
        let taken = Room::default();
        self.ids.insert(begin(&id), self.last);
        let served = Served { session, principal, streams, heard: now, exchanges: 0, timer: None, taken, id };
        self.open.insert(self.last, served);
        self.last
    }

    /// The open session of this id, if it is this principal's.
    pub(super) fn find(&self, id: &str, principal: &Principal) -> Option<u64> {
        let session = *self.ids.get(&begin(id))?;
        let served = self.open.get(&session)?;
        (same(id.as_bytes(), served.id.as_bytes()) && served.principal == *principal).then_some(session)
    }

    pub(super) fn get(&self, session: u64) -> Option<&Served> {
        self.open.get(&session)
    }

    pub(super) fn get_mut(&mut self, session: u64) -> Option<&mut Served> {
        self.open.get_mut(&session)
    }

    pub(super) fn remove(&mut self, session: u64) -> Option<Served> {
        let served = self.open.remove(&session)?;
        self.ids.remove(&begin(&served.id));
        if let Some(owned) = self.owned.get_mut(&served.principal) {
            *owned -= 1;
            if *owned == 0 {
                self.owned.remove(&served.principal);
            }
        }
        self.count(served.taken, Room::default());
        Some(served)
    }

    /// Notes what a session holds now, and has it let go of much room that holds nothing.
    pub(super) fn note(&mut self, session: u64) {
        let Some(served) = self.open.get_mut(&session) else { return };
        let now = served.session.taken();
        let before = core::mem::replace(&mut served.taken, now);
        if now.requests == 0 {
            served.session.release_much();
        }
        self.count(before, now);
    }

    const fn count(&mut self, before: Room, now: Room) {
        self.taken.requests = self.taken.requests - before.requests + now.requests;
        self.taken.watched = self.taken.watched - before.watched + now.watched;
    }

    /// Tells a session how much it may hold. A request is an exchange, of which there are so many at most anyway; only
    /// those of a batch are more, and then all of them together are `max_requests` at most. Of what is watched all get as
    /// much as some of them alone may have.
    pub(super) fn make_room(&mut self, session: u64, max_requests: usize) {
        let Some(served) = self.open.get_mut(&session) else { return };
        let each = served.session.config().limits.max_resource_subscriptions;
        let most = each.saturating_mul(SHARES).min(MAX_WATCHED);
        let left = |most: usize, all: usize, own: usize| most.saturating_sub(all).saturating_add(own);
        served.session.set_room(Room {
            requests: left(max_requests, self.taken.requests, served.taken.requests),
            watched: left(most, self.taken.watched, served.taken.watched),
        });
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Their numbers, the oldest first.
    pub(super) fn numbers(&self) -> alloc::vec::Vec<u64> {
        self.open.keys().copied().collect()
    }

    /// The one that makes room for one more of this principal's: of whoever has the most, of its own rather than of
    /// another's, the one that was idle for the longest. Nobody loses one to a principal that has more.
    pub(super) fn to_evict(&self, newcomer: &Principal) -> Option<u64> {
        let owned = |principal| self.owned.get(principal).copied().unwrap_or_default();
        let wants = owned(newcomer) + 1;
        let may = self.open.iter().filter(|(_, served)| served.is_idle()).filter_map(|(session, served)| {
            let own = served.principal == *newcomer;
            let share = if own { wants } else { owned(&served.principal) };
            (share >= wants).then_some((Reverse(share), !own, served.heard, *session))
        });
        may.min().map(|(.., session)| session)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Served> {
        self.open.values()
    }
}

/// The first 16 characters of an id, which are 96 of its 256 bits.
fn begin(id: &str) -> u128 {
    id.as_bytes().first_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes))
}
