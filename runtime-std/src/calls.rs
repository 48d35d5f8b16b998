//! Who waits for what.

use std::collections::VecDeque;
use std::thread::Thread;

use sanswire::client::{Outcome, Progress, RequestHandle};

/// Progress reports that wait for a slow callback; past that the oldest go.
const MAX_PROGRESS: usize = 64;

/// The calls that are open, or finished and not taken, oldest first: handles count up.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    slots: VecDeque<(RequestHandle, Option<Slot>)>,
    live: usize,
    /// Where the last one was found.
    last: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Slot {
    outcome: Option<Outcome>,
    /// The thread that sleeps until there is an outcome, or the lead is free.
    waiter: Option<Thread>,
    /// `None`: nobody asked for progress.
    progress: Option<VecDeque<Progress>>,
}

impl Calls {
    pub(crate) fn insert(&mut self, request: RequestHandle, wants_progress: bool) {
        let progress = wants_progress.then(VecDeque::new);
        self.slots.push_back((request, Some(Slot { progress, ..Slot::default() })));
        self.live += 1;
    }

    /// Where a call stands. Most are looked for in turn.
    fn place(&mut self, request: RequestHandle) -> Option<usize> {
        let is = |slots: &VecDeque<(RequestHandle, Option<Slot>)>, at: usize| {
            slots.get(at).is_some_and(|(handle, _)| *handle == request)
        };
        let next = self.last + 1;
        let found = if is(&self.slots, 0) {
            0
        } else if is(&self.slots, next) {
            next
        } else {
            self.slots.binary_search_by_key(&request, |(handle, _)| *handle).ok()?
        };
        self.last = found;
        Some(found)
    }

    fn get_mut(&mut self, request: RequestHandle) -> Option<&mut Slot> {
        let place = self.place(request)?;
        self.slots.get_mut(place)?.1.as_mut()
    }

    /// Forgets a call; its outcome, if it has one.
    pub(crate) fn remove(&mut self, request: RequestHandle) -> Option<Outcome> {
        let place = self.place(request)?;
        self.remove_at(place)
    }

    fn remove_at(&mut self, place: usize) -> Option<Outcome> {
        let slot = self.slots.get_mut(place)?.1.take()?;
        self.live -= 1;
        while self.slots.front().is_some_and(|(_, slot)| slot.is_none()) {
            self.slots.pop_front();
        }
        // One old call must not keep the places of all that came after it.
        if self.slots.len() > 64 + 2 * self.live {
            self.slots.retain(|(_, slot)| slot.is_some());
        }
        slot.outcome
    }

    /// The outcome of a finished call, which is then forgotten.
    pub(crate) fn take_finished(&mut self, request: RequestHandle) -> Option<Outcome> {
        let place = self.place(request)?;
        self.slots.get(place)?.1.as_ref()?.outcome.as_ref()?;
        self.remove_at(place)
    }

    /// Stores an outcome. The thread to wake, if one sleeps.
    pub(crate) fn finish(&mut self, request: RequestHandle, outcome: Outcome) -> Option<Thread> {
        let slot = self.get_mut(request)?;
        slot.outcome = Some(outcome);
        slot.waiter.take()
    }

    /// Stores a progress report. The thread to wake, if one sleeps.
    pub(crate) fn report(&mut self, request: RequestHandle, progress: Progress) -> Option<Thread> {
        let slot = self.get_mut(request)?;
        let waiting = slot.progress.as_mut()?;
        if waiting.len() >= MAX_PROGRESS {
            waiting.pop_front();
        }
        waiting.push_back(progress);
        slot.waiter.take()
    }

    pub(crate) fn take_progress(&mut self, request: RequestHandle) -> Option<VecDeque<Progress>> {
        let waiting = self.get_mut(request)?.progress.as_mut()?;
        if waiting.is_empty() { None } else { Some(std::mem::take(waiting)) }
    }

    /// `thread` sleeps on `request`, or no longer does.
    pub(crate) fn set_waiter(&mut self, request: RequestHandle, thread: Option<Thread>) {
        if let Some(slot) = self.get_mut(request) {
            slot.waiter = thread;
        }
    }

    /// A call whose thread sleeps on it: it may take the lead.
    pub(crate) fn sleeper(&mut self) -> Option<(RequestHandle, Thread)> {
        self.slots.iter_mut().find_map(|(handle, slot)| {
            let thread = slot.as_mut()?.waiter.take()?;
            Some((*handle, thread))
        })
    }

    #[cfg(test)]
    pub(crate) fn sleepers(&self) -> usize {
        self.slots.iter().flat_map(|(_, slot)| slot).filter(|slot| slot.waiter.is_some()).count()
    }
}
