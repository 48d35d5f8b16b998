//! The table of open requests and their deadlines.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use crate::client::event::{Deadline, RequestHandle};
use crate::exchange::{ExchangeHandle, Partition};
use crate::jsonrpc::RawJson;
use crate::mcp::Method;
use crate::time::{Instant, earliest};

/// Whom an answer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The application.
    Application(RequestHandle),
    /// The era probe.
    Probe,
    /// The handshake.
    Initialize,
}

/// One deadline: how long, and when that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    pub(crate) limit: Duration,
    pub(crate) at: Instant,
}

impl Timer {
    pub(crate) fn start(limit: Duration, now: Instant) -> Self {
        Self { limit, at: now.saturating_add(limit) }
    }
}

/// An open request.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) owner: Owner,
    pub(crate) exchange: ExchangeHandle,
    pub(crate) method: Method,
    pub(crate) partition: Partition,
    /// As sent, `_meta` included. Kept where an `input_required` result may answer (2026-07-28).
    pub(crate) params: Option<RawJson>,
    /// Which round of input this is: 0 for the first sending.
    pub(crate) round: u32,
    /// Its first byte left.
    pub(crate) sent: bool,
    /// `None`: exempt (listen streams), or governed by the connect deadline.
    pub(crate) idle: Option<Timer>,
    pub(crate) absolute: Option<Timer>,
    /// The last progress value.
    pub(crate) progress: f64,
    /// An answer came whose id was a string.
    pub(crate) mistyped_reply: bool,
}

impl Open {
    fn due(&self) -> Option<Instant> {
        earliest(self.idle.map(|timer| timer.at), self.absolute.map(|timer| timer.at))
    }

    fn kept_bytes(&self) -> usize {
        self.params.as_ref().map_or(0, RawJson::retained_len)
    }

    /// The deadline that has passed, if one has.
    fn expired(&self, now: Instant) -> Option<(Deadline, Duration)> {
        let over = |timer: Option<Timer>| timer.filter(|timer| timer.at <= now).map(|timer| timer.limit);
        over(self.absolute)
            .map(|limit| (Deadline::Absolute, limit))
            .or_else(|| over(self.idle).map(|limit| (Deadline::Idle, limit)))
    }
}

/// All open requests by wire id.
///
/// Ids count up, so the table is a queue in their order: a new request goes to its end, an answered one leaves a
/// gap, and gaps are given up at the front at once and elsewhere as soon as they are the greater part. Finding
/// one is a binary search, and a step when they are answered in the order they were made.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    slots: VecDeque<(u64, Option<Open>)>,
    open: usize,
    /// No deadline lies before this instant. It may be early: it is set right when it passes.
    wake: Option<Instant>,
    listening: usize,
    application: usize,
    /// Bytes of the messages whose parameters are kept.
    kept_bytes: usize,
    last_id: u64,
}

impl Requests {
    /// A wire id that was never used.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Whether `id` was ours once.
    pub(crate) const fn was_used(&self, id: u64) -> bool {
        id != 0 && id <= self.last_id
    }

    /// `id` is the newest.
    pub(crate) fn insert(&mut self, id: u64, open: Open) {
        self.wake = earliest(self.wake, open.due());
        if matches!(open.owner, Owner::Application(_)) {
            self.application += 1;
            self.listening += usize::from(open.method == Method::SubscriptionsListen);
        }
        self.kept_bytes += open.kept_bytes();
        self.open += 1;
        self.slots.push_back((id, Some(open)));
    }

    fn slot(&self, id: u64) -> Option<usize> {
        match self.slots.front() {
            Some((first, _)) if *first == id => Some(0),
            Some(_) => self.slots.binary_search_by_key(&id, |(id, _)| *id).ok(),
            None => None,
        }
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<Open> {
        let slot = self.slot(id)?;
        let open = self.slots.get_mut(slot)?.1.take()?;
        if matches!(open.owner, Owner::Application(_)) {
            self.application -= 1;
            self.listening -= usize::from(open.method == Method::SubscriptionsListen);
        }
        self.kept_bytes -= open.kept_bytes();
        self.open -= 1;
        while matches!(self.slots.front(), Some((_, None))) {
            self.slots.pop_front();
        }
        if self.slots.len() > 16 && self.open < self.slots.len() / 2 {
            self.slots.retain(|(_, open)| open.is_some());
        }
        if self.open == 0 {
            self.wake = None;
        }
        Some(open)
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Open> {
        let slot = self.slot(id)?;
        self.slots.get_mut(slot)?.1.as_mut()
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        self.slot(id).and_then(|slot| self.slots.get(slot)).is_some_and(|(_, open)| open.is_some())
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &Open)> {
        self.slots.iter().filter_map(|(id, open)| Some((*id, open.as_ref()?)))
    }

    /// The wire id under which `request` is open. The first wire id of a request is its handle; only after a
    /// repeated exchange is it another.
    pub(crate) fn id_of(&self, request: RequestHandle) -> Option<u64> {
        let owner = Owner::Application(request);
        let first = self.slot(request.0).and_then(|slot| self.slots.get(slot)?.1.as_ref());
        if first.is_some_and(|open| open.owner == owner) {
            return Some(request.0);
        }
        self.id_of_owner(owner)
    }

    pub(crate) fn id_of_owner(&self, owner: Owner) -> Option<u64> {
        self.iter().find(|(_, open)| open.owner == owner).map(|(id, _)| id)
    }

    /// Keeps `params` for the rounds of input to come instead of those that were sent.
    pub(crate) fn keep_instead(&mut self, id: u64, params: RawJson) {
        let Some(kept) = self.get_mut(id).and_then(|open| open.params.as_mut()) else { return };
        let more = params.retained_len();
        let less = core::mem::replace(kept, params).retained_len();
        self.kept_bytes = self.kept_bytes - less + more;
    }

    /// Bytes that open requests keep alive.
    pub(crate) const fn kept_bytes(&self) -> usize {
        self.kept_bytes
    }

    /// Open requests of the application, listen streams included.
    pub(crate) const fn in_flight(&self) -> usize {
        self.application
    }

    pub(crate) const fn listening(&self) -> usize {
        self.listening
    }

    pub(crate) const fn next_deadline(&self) -> Option<Instant> {
        self.wake
    }

    /// All requests whose time is over, taken out of the table, oldest first. Looks at each open request once.
    pub(crate) fn take_expired(&mut self, now: Instant) -> Vec<(u64, Open, Deadline, Duration)> {
        if self.wake.is_none_or(|wake| wake > now) {
            return Vec::new();
        }
        let hit = |(id, open): (u64, &Open)| open.expired(now).map(|(which, limit)| (id, which, limit));
        let due: Vec<_> = self.iter().filter_map(hit).collect();
        let taken =
            due.into_iter().filter_map(|(id, which, limit)| Some((id, self.remove(id)?, which, limit)));
        let taken = taken.collect();
        self.wake = self.iter().fold(None, |wake, (_, open)| earliest(wake, open.due()));
        taken
    }

    #[cfg(test)]
    pub(crate) fn slots_len(&self) -> usize {
        self.slots.len()
    }

    /// All ids, oldest first.
    pub(crate) fn ids(&self) -> Vec<u64> {
        self.iter().map(|(id, _)| id).collect()
    }
}
