//! Who reads. The thread that waits drives: it takes the lead if nobody has it, polls, reads and delivers until
//! its own call is done, and passes the lead on. Others sleep on their own call.

use std::time::Duration;

use sanswire::client::{Outcome, Progress, RequestHandle};
use sanswire::{Instant, Machine as _};
use sanswire_system::Exit;
use sanswire_system::closing::Closable as _;

use crate::link::Link;
use crate::os::{Interest, Polls, Ready, Wake};
use crate::shared::{Lead, Locked, Shared, State};

/// The lead, while a caller has it. Passes it on when it goes, by unwinding too: so it must be declared before
/// the lock's guard, or it would wait for a lock that its own thread holds.
struct Leading<'a> {
    shared: &'a Shared,
    has: bool,
}

impl Leading<'_> {
    fn take(&mut self, state: &mut State) {
        if self.has {
            return;
        }
        if state.lead == Lead::Watcher {
            self.shared.watch_wake.wake();
        }
        state.lead = Lead::Caller;
        state.leads += 1;
        state.offered = None;
        self.has = true;
    }

    /// Gives the lead up and sees to it that somebody takes it.
    fn pass_on(&mut self, state: &mut State) {
        if self.has {
            self.has = false;
            state.lead = Lead::Nobody;
            state.leaders = None;
            state.leaders_outcome = None;
        }
        self.shared.offer(state);
    }
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        if self.has {
            let mut state = self.shared.lock();
            self.pass_on(&mut state);
            self.shared.unlock(state);
        }
    }
}

/// What a leader waits for.
enum Waiting<'a> {
    Line(Interest<'a>),
    /// And whether there is something already.
    Http((Polls, bool)),
}

/// How a wait went.
pub(crate) enum Waited {
    Finished(Outcome),
    /// The patience of the caller is over; the call is open still.
    NotYet,
}

impl State {
    /// The watcher waits for no call, so it pulls no cork before the end.
    const fn may_write(&self, lead: Lead) -> bool {
        matches!(lead, Lead::Caller) || self.corks == 0 || self.closing
    }

    /// The lead was offered to this call's thread, perhaps, which does not take it.
    fn decline(&mut self, request: RequestHandle) {
        if self.offered == Some(request) {
            self.offered = None;
        }
    }
}

impl Shared {
    /// If nobody leads: wakes a sleeper to take the lead, or the watcher.
    pub(crate) fn offer(&self, state: &mut State) {
        if state.lead != Lead::Nobody || state.offered.is_some() {
            return;
        }
        if let Some((request, thread)) = state.calls.sleeper() {
            state.offered = Some(request);
            state.wakes.push(thread);
        } else if state.watcher_sleeps {
            state.watcher_sleeps = false;
            self.wake_watcher(state);
        }
    }

    /// One turn of the leader: writes, waits, reads, delivers. `until`: when the caller's own patience ends.
    pub(crate) fn turn<'a>(
        &'a self,
        mut state: Locked<'a>,
        lead: Lead,
        now: Instant,
        until: Option<Instant>,
    ) -> (Locked<'a>, Instant) {
        state.delivered = false;
        let writes = state.may_write(lead);
        if writes {
            self.flush(&mut state, now);
        }
        // What left, or could not, may be all that somebody waits for: nothing more may come to end a poll.
        self.deliver(&mut state, now);
        if state.delivered {
            return (state, now);
        }
        let wake: &Wake = if lead == Lead::Watcher { &self.watch_wake } else { &self.lead_wake };
        let deadline = match (state.machine.poll_timeout(), until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        state.polls_until = deadline;
        let timeout = deadline.map(|at| at.saturating_since(now));
        let locked = &mut *state;
        let waiting = match &mut locked.machine {
            Link::Line(line) => {
                let waits = writes && !line.transmit().is_empty();
                let reads = locked.input_open && line.wants_read();
                let output = if waits { locked.output.clone() } else { None };
                locked.polls_output = output.is_some();
                let input = self.source.as_ref().filter(|_| reads);
                let stderr = self.stderr.as_ref().filter(|_| locked.stderr_open);
                Waiting::Line(Interest { wake, input, stderr, output, timeout })
            }
            Link::Http(net) => Waiting::Http(net.polls()),
        };
        self.unlock(state);
        let (ready, polled) = match waiting {
            Waiting::Line(interest) => (interest.wait(), None),
            Waiting::Http((mut polls, at_once)) => {
                let woken = polls.wait(wake, if at_once { Some(Duration::ZERO) } else { timeout });
                (Ready { wake: woken, ..Ready::default() }, Some(polls))
            }
        };
        let mut state = self.lock();
        let now = self.clock.now();
        if ready.wake || state.lead != lead {
            wake.clear();
        }
        if state.lead != lead {
            return (state, now);
        }
        if let Some(polls) = polled {
            self.attend(&mut state, polls, now);
        }
        if ready.stderr {
            self.read_stderr(&mut state);
        }
        if ready.input {
            self.read_input(&mut state, now);
        }
        if !state.output_broken && state.output.as_ref().is_some_and(|output| output.has_failed()) {
            self.stop_writing(&mut state, now);
        }
        if deadline.is_some_and(|at| at <= now) {
            state.machine.handle_timeout(self, now);
            self.deliver(&mut state, now);
        }
        if state.may_write(lead) && state.machine.has_output() {
            self.flush(&mut state, now);
        }
        self.give_up_if_deaf(&mut state, now);
        (state, now)
    }

    /// Waits for a call that was made under this very lock, and leads. `Err`: somebody leads already.
    pub(crate) fn lead_call<'a>(
        &'a self,
        state: Locked<'a>,
        request: RequestHandle,
        mut now: Instant,
    ) -> Result<Outcome, Locked<'a>> {
        if state.lead == Lead::Caller {
            return Err(state);
        }
        let mut leading = Leading { shared: self, has: false };
        let mut state = state;
        leading.take(&mut state);
        state.leaders = Some(request);
        loop {
            (state, now) = self.turn(state, Lead::Caller, now, None);
            if let Some(outcome) = state.leaders_outcome.take() {
                leading.pass_on(&mut state);
                self.unlock(state);
                return Ok(outcome);
            }
        }
    }

    /// Waits for a call of this thread's. `progress` is called on this thread, without lock and lead.
    pub(crate) fn wait_call<'a>(
        &'a self,
        state: Locked<'a>,
        request: RequestHandle,
        mut now: Instant,
        until: Option<Instant>,
        mut progress: Option<&mut dyn FnMut(&Progress)>,
    ) -> Waited {
        let mut leading = Leading { shared: self, has: false };
        let mut state = state;
        loop {
            if let Some(on_progress) = progress.as_deref_mut()
                && let Some(reports) = state.calls.take_progress(request)
            {
                // The callback may take long: an offer of the lead is not for this thread now.
                state.decline(request);
                leading.pass_on(&mut state);
                self.unlock(state);
                reports.iter().for_each(on_progress);
                state = self.lock();
                now = self.clock.now();
                continue;
            }
            if let Some(outcome) = state.calls.take_finished(request) {
                return self.leave(leading, state, request, Waited::Finished(outcome));
            }
            if until.is_some_and(|until| until <= now) {
                return self.leave(leading, state, request, Waited::NotYet);
            }
            if state.lead == Lead::Caller && !leading.has {
                if state.machine.has_output() {
                    self.flush(&mut state, now);
                    self.kick(&mut state);
                }
                state.calls.set_waiter(request, Some(std::thread::current()));
                self.unlock(state);
                match until {
                    None => std::thread::park(),
                    Some(until) => std::thread::park_timeout(until.saturating_since(now)),
                }
                state = self.lock();
                state.calls.set_waiter(request, None);
                now = self.clock.now();
                continue;
            }
            leading.take(&mut state);
            (state, now) = self.turn(state, Lead::Caller, now, until);
        }
    }

    fn leave(
        &self,
        mut leading: Leading<'_>,
        mut state: Locked<'_>,
        request: RequestHandle,
        waited: Waited,
    ) -> Waited {
        state.decline(request);
        leading.pass_on(&mut state);
        self.unlock(state);
        waited
    }

    /// Leads, or waits for whoever leads, until `done`.
    pub(crate) fn lead_until<'a>(&'a self, state: Locked<'a>, done: impl Fn(&State) -> bool) {
        let mut leading = Leading { shared: self, has: false };
        let mut state = state;
        let mut now = self.clock.now();
        while !done(&state) {
            if state.lead == Lead::Caller && !leading.has {
                // Whoever leads leaves soon, since all calls are over by now; it has nobody to tell of it.
                let (locked, _) = self
                    .changed
                    .wait_timeout(state, Duration::from_millis(5))
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                state = locked;
                now = self.clock.now();
                continue;
            }
            leading.take(&mut state);
            (state, now) = self.turn(state, Lead::Caller, now, None);
        }
        leading.pass_on(&mut state);
        self.unlock(state);
    }

    /// Ends the connection, and returns when the process is gone.
    pub(crate) fn close(&self) -> Exit {
        self.begin_close();
        self.lead_until(self.lock(), |state| state.closed.is_some());
        let mut state = self.lock();
        self.wake_watcher(&mut state);
        self.unlock(state);
        let mut state = self.lock();
        loop {
            if let Some(exit) = &state.exit {
                return exit.clone();
            }
            state = self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// The first lead, which a connection begins with.
    pub(crate) fn lead_opening(&self) {
        let mut leading = Leading { shared: self, has: true };
        let mut state = self.lock();
        let mut now = self.clock.now();
        while state.peer.is_none() && state.closed.is_none() {
            (state, now) = self.turn(state, Lead::Caller, now, None);
        }
        leading.pass_on(&mut state);
        self.unlock(state);
    }
}

#[cfg(test)]
mod tests;
