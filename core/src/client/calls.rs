//! Who waits for what: the calls of a client whose waiting is a runtime's. Knows no thread and no task, only what to wake.

use alloc::collections::VecDeque;

use crate::client::event::{Outcome, Progress, RequestHandle};

/// Progress reports that wait for a slow reader; past that the oldest go.
const MAX_PROGRESS: usize = 64;

/// The calls that are open, or finished and not taken, oldest first: handles count up.
///
/// `W` is what a runtime wakes: a thread, a task. What this hands out is to be woken once the runtime's lock is free.
#[derive(Debug)]
pub struct Calls<W> {
    slots: VecDeque<(RequestHandle, Option<Slot<W>>)>,
    live: usize,
    /// Where the last one was found.
    last: usize,
}

#[derive(Debug)]
struct Slot<W> {
    outcome: Option<Outcome>,
    /// Who sleeps until there is an outcome, or the lead is free.
    waiter: Option<W>,
    /// `None`: nobody asked for progress.
    progress: Option<VecDeque<Progress>>,
}

impl<W> Default for Calls<W> {
    fn default() -> Self {
        Self { slots: VecDeque::new(), live: 0, last: 0 }
    }
}

impl<W> Calls<W> {
    /// A call that was made. Without `wants_progress` its reports are dropped.
    pub fn insert(&mut self, request: RequestHandle, wants_progress: bool) {
        let progress = wants_progress.then(VecDeque::new);
        self.slots.push_back((request, Some(Slot { outcome: None, waiter: None, progress })));
        self.live += 1;
    }

    /// Where a call stands. Most are looked for in turn.
    fn place(&mut self, request: RequestHandle) -> Option<usize> {
        let is = |at: usize| self.slots.get(at).is_some_and(|(handle, _)| *handle == request);
        let next = self.last + 1;
        let found = if is(0) {
            0
        } else if is(next) {
            next
        } else {
            self.slots.binary_search_by_key(&request, |(handle, _)| *handle).ok()?
        };
        self.last = found;
        Some(found)
    }

    fn get_mut(&mut self, request: RequestHandle) -> Option<&mut Slot<W>> {
        let place = self.place(request)?;
        self.slots.get_mut(place)?.1.as_mut()
    }

    /// Forgets a call; its outcome, if it has one.
    pub fn remove(&mut self, request: RequestHandle) -> Option<Outcome> {
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
    pub fn take_finished(&mut self, request: RequestHandle) -> Option<Outcome> {
        let place = self.place(request)?;
        self.slots.get(place)?.1.as_ref()?.outcome.as_ref()?;
        self.remove_at(place)
    }

    /// Whether a call has an outcome that was not taken.
    pub fn is_finished(&mut self, request: RequestHandle) -> bool {
        self.get_mut(request).is_some_and(|slot| slot.outcome.is_some())
    }

    /// Stores an outcome. Whom to wake, if somebody sleeps.
    #[must_use = "what is not woken sleeps on"]
    pub fn finish(&mut self, request: RequestHandle, outcome: Outcome) -> Option<W> {
        let slot = self.get_mut(request)?;
        slot.outcome = Some(outcome);
        slot.waiter.take()
    }

    /// Stores a progress report; 64 wait at most, past that the oldest go. Whom to wake, if somebody sleeps.
    #[must_use = "what is not woken sleeps on"]
    pub fn report(&mut self, request: RequestHandle, progress: Progress) -> Option<W> {
        let slot = self.get_mut(request)?;
        let waiting = slot.progress.as_mut()?;
        if waiting.len() >= MAX_PROGRESS {
            waiting.pop_front();
        }
        waiting.push_back(progress);
        slot.waiter.take()
    }

    /// All reports that wait, oldest first; `None` if there are none.
    pub fn take_progress(&mut self, request: RequestHandle) -> Option<VecDeque<Progress>> {
        let waiting = self.get_mut(request)?.progress.as_mut()?;
        if waiting.is_empty() { None } else { Some(core::mem::take(waiting)) }
    }

    /// The oldest report that waits.
    pub fn next_progress(&mut self, request: RequestHandle) -> Option<Progress> {
        self.get_mut(request)?.progress.as_mut()?.pop_front()
    }

    /// `waiter` sleeps on `request`, or nobody does any longer. Who slept on it before; of a call that is not known,
    /// `waiter` itself.
    pub fn set_waiter(&mut self, request: RequestHandle, waiter: Option<W>) -> Option<W> {
        match self.get_mut(request) {
            Some(slot) => core::mem::replace(&mut slot.waiter, waiter),
            None => waiter,
        }
    }

    /// Who sleeps on `request`.
    pub fn waiter(&mut self, request: RequestHandle) -> Option<&W> {
        self.get_mut(request)?.waiter.as_ref()
    }

    /// A call that somebody sleeps on, the oldest, and who that is: it may take the lead. It no longer counts as
    /// asleep.
    pub fn sleeper(&mut self) -> Option<(RequestHandle, W)> {
        self.slots.iter_mut().find_map(|(handle, slot)| {
            let waiter = slot.as_mut()?.waiter.take()?;
            Some((*handle, waiter))
        })
    }

    /// How many calls somebody sleeps on. Looks at all.
    #[must_use]
    pub fn sleepers(&self) -> usize {
        self.slots.iter().filter_map(|(_, slot)| slot.as_ref()).filter(|slot| slot.waiter.is_some()).count()
    }

    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        self.slots.len()
    }
}
