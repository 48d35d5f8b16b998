//! Answers whose stream broke off, under a revision that can go on with them: the rest is fetched by GET.
//!
//! A server may also end the stream on purpose and be asked again (polling). Whoever brings nothing new is given up.
//!
//! Spec: MCP 2025-11-25 basic/transports, "Resumability and Redelivery".

use alloc::boxed::Box;
use core::time::Duration;

use crate::exchange::{ExchangeEnd, ExchangeHandle};
use crate::http::client::Client;
use crate::http::client::calls::Place;
use crate::http::client::wire::Role;
use crate::mcp::{Era, Revision};
use crate::time::Instant;

/// How long to wait where the server does not say.
const PAUSE: Duration = Duration::from_secs(1);
/// So many attempts in a row may find nobody there.
const MAX_FAILURES: u32 = 3;

/// How far a stream was read.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    last_id: Option<Box<str>>,
    retry: Option<Duration>,
    /// Attempts in a row that brought nothing.
    pub(super) failures: u32,
    /// Attempts in a row that brought no message. A place to go on from is something, but no reason to hurry.
    barren: u32,
}

impl Cursor {
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// An id to go on behind; an empty one takes it back.
    pub(super) fn set_id(&mut self, id: Box<str>) {
        let fine = id.bytes().all(|byte| byte >= 0x20 && byte != 0x7f) && id.trim_ascii() == &*id;
        self.last_id = Some(id).filter(|id| fine && !id.is_empty());
        self.failures = 0;
    }

    pub(super) fn set_retry(&mut self, millis: u64, most: Duration) {
        self.retry = Some(Duration::from_millis(millis).min(most));
    }

    /// A message came.
    pub(super) const fn brought(&mut self) {
        (self.failures, self.barren) = (0, 0);
    }

    /// When to try again: after what the server asked for, within bounds, and longer each time that nothing came of it.
    pub(super) fn next_at(&mut self, now: Instant, (least, most): (Duration, Duration)) -> Instant {
        let pause = self.retry.unwrap_or(PAUSE);
        let longer = PAUSE.saturating_mul(1 << self.failures.min(16)).saturating_sub(PAUSE);
        let growing = least.saturating_mul(1 << self.barren.min(16));
        self.barren = self.barren.saturating_add(1);
        now.saturating_add(pause.max(longer).max(growing).min(most).max(least))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.last_id.as_ref().map_or(0, |id| id.len())
    }
}

impl Client {
    /// The stream of an answer ended before the answer was there. `answered`: the attempt itself was taken.
    pub(super) fn stream_ended(
        &mut self,
        handle: ExchangeHandle,
        end: ExchangeEnd,
        answered: bool,
        now: Instant,
    ) {
        let bounds = (self.target.min_retry, self.target.max_retry);
        let resumable =
            |revision: Revision| revision.era() == Era::Legacy && revision != Revision::V2024_11_05;
        let may = self.legacy.revision.is_some_and(resumable) && self.session.awaits(handle);
        let again =
            self.calls.get_mut(handle).filter(|call| may && call.cursor.last_id.is_some()).and_then(|call| {
                // One that was taken and brought nothing will not bring more.
                let enough =
                    if answered { call.cursor.failures > 0 } else { call.cursor.failures >= MAX_FAILURES };
                if enough {
                    return None;
                }
                let at = call.cursor.next_at(now, bounds);
                call.cursor.failures += 1;
                call.place = Place::Waits;
                Some(at)
            });
        match again {
            Some(at) => drop(self.resumes.insert((at, handle))),
            None => self.call_ended(handle, end, now),
        }
    }

    pub(super) fn resume_due(&mut self, now: Instant) {
        while let Some((_, handle)) = self.resumes.first().copied().filter(|(at, _)| *at <= now) {
            self.resumes.pop_first();
            let waits = self.calls.get(handle).is_some_and(|call| matches!(call.place, Place::Waits));
            if !waits {
                continue;
            }
            let wire = self.open(Role::Resume(handle), self.target.url.clone(), 0);
            if let Some(call) = self.calls.get_mut(handle) {
                call.place = Place::On(wire);
            }
        }
    }
}
