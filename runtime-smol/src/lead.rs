//! Who reads. To lead is to be woken when something is ready: whoever waits and finds that only the watch would be
//! woken has itself woken in its place. Whoever is polled then writes, reads and hands out what is ready, for all. Nobody
//! is woken to be handed the lead: a call that ends makes another that sleeps the one to be woken, and else the watch.

use std::task::{Context, Poll, Waker};

use sanswire::Instant;
use sanswire::client::RequestHandle;

use crate::link::Link;
use crate::shared::{Locked, Shared, State};
use crate::signals::{self, Target, TaskId};
use crate::wire;

/// One of those who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seat {
    /// The watch, which waits for nothing but what everybody is owed.
    Watch,
    Call(RequestHandle),
    /// Somebody who waits for something else.
    Guest(u64),
}

impl State {
    /// The watch waits for no call, so it pulls no cork before the end.
    fn may_write(&self, seat: Seat) -> bool {
        seat != Seat::Watch || self.corks == 0 || self.closing
    }

    fn waiter(&mut self, seat: Seat) -> Option<&Waker> {
        match seat {
            Seat::Watch => None,
            Seat::Call(request) => self.calls.waiter(request),
            Seat::Guest(guest) => self.guests.waiter(guest),
        }
    }

    /// `waker` is whom to wake when there is something for `seat`.
    fn set_waiter(&mut self, seat: Seat, waker: Option<Waker>) {
        let spent = match seat {
            Seat::Watch => waker,
            Seat::Call(request) => self.calls.set_waiter(request, waker),
            Seat::Guest(guest) => self.guests.set_waiter(guest, waker),
        };
        if let Some(spent) = spent {
            self.after().spend(spent);
        }
    }
}

impl Shared {
    /// Polls for somebody who waits until `found` finds something.
    pub(crate) fn poll<T>(
        &self,
        seat: Seat,
        cx: &mut Context<'_>,
        mut found: impl FnMut(&mut Locked<'_>) -> Option<T>,
    ) -> Poll<T> {
        self.poll_locked(&mut self.lock(), seat, cx, &mut found)
    }

    /// As [`poll`](Self::poll), under a lock that is held already.
    pub(crate) fn poll_locked<T>(
        &self,
        state: &mut Locked<'_>,
        seat: Seat,
        cx: &mut Context<'_>,
        found: &mut impl FnMut(&mut Locked<'_>) -> Option<T>,
    ) -> Poll<T> {
        let mut there = found(state);
        if there.is_none() {
            self.drive(state, seat, cx.waker());
            there = found(state);
        }
        match there {
            Some(there) => {
                self.leave(state, seat);
                Poll::Ready(there)
            }
            None => {
                self.sleep(state, seat, cx.waker());
                Poll::Pending
            }
        }
    }

    /// Somebody is polled: it leads if it may, and does what is ready. A call is served before a guest, for who waits for an
    /// answer is not to wait for another's task.
    fn drive(&self, state: &mut State, seat: Seat, waker: &Waker) {
        let takes = match state.leader {
            Seat::Watch => true,
            Seat::Guest(_) => matches!(seat, Seat::Call(_)),
            Seat::Call(_) => false,
        };
        if state.leader == seat {
            if state.pointed != Some(TaskId::of(waker)) {
                let before = self.point(state, Target::Task(waker.clone()));
                self.spend(state, before);
            }
        } else if takes {
            state.set_waiter(seat, None);
            self.depose(state, seat, Target::Task(waker.clone()));
        }
        if self.signals.is_waiting() || state.link.has_output() {
            self.turn(state, seat);
        }
    }

    /// There was nothing for it, so it sleeps. Who leads is woken for whatever happens, the others for what is theirs.
    fn sleep(&self, state: &mut State, seat: Seat, waker: &Waker) {
        if state.leader != seat && !state.waiter(seat).is_some_and(|known| known.will_wake(waker)) {
            state.set_waiter(seat, Some(waker.clone()));
        }
    }

    /// Another one leads from here on, and who led before sleeps as others do.
    fn depose(&self, state: &mut State, seat: Seat, target: Target) {
        let before = self.point(state, target);
        let deposed = std::mem::replace(&mut state.leader, seat);
        if let Target::Task(waker) = before {
            state.set_waiter(deposed, Some(waker));
        }
    }

    /// Somebody waits no longer. If it led, somebody who sleeps does, and is woken when there is something; else the
    /// watch.
    pub(crate) fn leave(&self, state: &mut State, seat: Seat) {
        if state.polled == seat {
            // A turn of its own that unwound.
            state.polled = Seat::Watch;
        }
        if state.leader != seat {
            return state.set_waiter(seat, None);
        }
        let (next, target) = if let Some((request, waker)) = state.calls.sleeper() {
            (Seat::Call(request), Target::Task(waker))
        } else if let Some((guest, waker)) = state.guests.sleeper() {
            (Seat::Guest(guest), Target::Task(waker))
        } else {
            (Seat::Watch, Target::Watch)
        };
        state.leader = next;
        let before = self.point(state, target);
        self.spend(state, before);
        // It was told to the one that leaves.
        if self.signals.is_waiting() {
            state.after().ring = true;
        }
    }

    /// Everything wakes `target` from here on. Whom it woke before.
    fn point(&self, state: &mut State, target: Target) -> Target {
        state.pointed = match &target {
            Target::Task(waker) => Some(TaskId::of(waker)),
            Target::Watch => None,
        };
        self.signals.point(target)
    }

    fn spend(&self, state: &mut State, before: Target) {
        if let Target::Task(waker) = before {
            state.after().spend(waker);
        }
    }

    /// Does what is ready: reads, writes, delivers, tells the time. Then sees to it that the leader is woken for the rest.
    fn turn(&self, state: &mut State, seat: Seat) {
        let now = self.clock.now();
        state.polled = seat;
        state.turns += 1;
        let fired = self.signals.take();
        if fired & signals::TIME != 0 {
            state.alarm.fired();
        }
        match &mut state.link {
            Link::Line(line) => line.fired(fired),
            Link::Http(net) if fired & signals::NET != 0 => net.hear(now),
            Link::Http(_) => {}
        }
        let writes = state.may_write(seat);
        if writes {
            self.flush(state, now);
        }
        if fired & signals::STDERR != 0 {
            state.stderr_armed = false;
        }
        let mut more = !state.stderr_armed && self.read_stderr(state);
        self.read_input(state, now);
        self.deliver(state, now);
        if state.link.poll_timeout().is_some_and(|at| at <= now) {
            state.link.handle_timeout(&self.signals, now);
            self.deliver(state, now);
        }
        if writes && state.link.has_output() {
            self.flush(state, now);
        }
        self.give_up_if_deaf(state, now);
        self.take_leave(state, now);
        more |= self.arm(state, writes, now);
        if more {
            self.signals.note(signals::READ);
            state.after().ring = true;
        }
        state.polled = Seat::Watch;
    }

    /// After something was put into the machine by somebody who does not sleep: the leader is woken in time for it.
    pub(crate) fn kick(&self, state: &mut State, now: Instant) {
        let writes = state.corks == 0 || state.closing;
        if self.arm(state, writes, now) {
            self.signals.note(signals::READ);
            state.after().ring = true;
        }
    }

    /// Lets the bells ring for what is waited for. True: something can be done at once.
    fn arm(&self, state: &mut State, writes: bool, now: Instant) -> bool {
        let mut more = match &mut state.link {
            Link::Line(line) => line.arm(&self.bells, writes, now),
            Link::Http(net) => net.arm(&self.signals, writes, now),
        };
        self.deliver(state, now);
        // What was told may have been answered.
        more |= writes && matches!(&state.link, Link::Http(net) if net.has_output());
        if !state.stderr_armed
            && let Some(stderr) = &state.stderr
        {
            match wire::arm_read(stderr, &self.bells.stderr) {
                Ok(armed) => {
                    state.stderr_armed = armed;
                    more |= !armed;
                }
                Err(_) => state.stderr = None,
            }
        }
        let leaving = state.leaving.until();
        if let Some(at) = state.link.poll_timeout().into_iter().chain(leaving).min() {
            more |= !state.alarm.set(at, self.clock, &self.bells.time);
        }
        more
    }

    /// The watch has been sent for. Whether so much came that there is more to do at once.
    pub(crate) fn watch_turn(&self) -> bool {
        self.signals.collected();
        let mut state = self.lock();
        if state.leader == Seat::Watch {
            self.turn(&mut state, Seat::Watch);
        }
        self.signals.is_waiting()
    }

    /// The watch looks whether a leader that was woken has come; takes its place if it has not since the last look. False:
    /// nothing has happened, and it need not look again until something does.
    pub(crate) fn look(&self) -> bool {
        let mut state = self.lock();
        let idle = state.seen == state.turns;
        state.seen = state.turns;
        if state.leader != Seat::Watch && self.signals.is_waiting() {
            if state.suspect == Some(state.turns) {
                state.suspect = None;
                self.depose(&mut state, Seat::Watch, Target::Watch);
                self.turn(&mut state, Seat::Watch);
            } else {
                state.suspect = Some(state.turns);
            }
            return true;
        }
        state.suspect = None;
        !idle || !self.signals.unlist()
    }
}
