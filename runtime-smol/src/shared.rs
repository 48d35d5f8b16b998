//! What everybody who waits for a connection shares: one machine behind one lock, held for machine calls and for reads and
//! writes that cannot wait, never across an await.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;

use async_io::Async;
use sanswire::Instant;
use sanswire::client::{
    Calls, Event, Notices, Notification, Peer, PeerRequestHandle, RequestHandle, Verdict,
};
use sanswire::error::{CloseReason, Violation};
use sanswire::mcp::types::input::InputRequest;
use sanswire_system::clock::Clock;
use sanswire_system::os::Child;
use sanswire_system::stderr::{LogLines, Ring};
use sanswire_system::tap::TapQueue;
use sanswire_system::{Exit, StopLadder};

use crate::alarm::Alarm;
use crate::ending::{Leaving, Parting};
use crate::ends::{MAX_READS, Step};
use crate::guests::Guests;
use crate::jobs::Job;
use crate::keeper::Keeper;
use crate::lead::Seat;
use crate::link::Link;
use crate::options::Responder;
use crate::signals::{Bells, Signals, TaskId};
use crate::taps::Taps;
use crate::wake::wake;
use crate::watch::Watch;
use crate::wire::{self, Got};

/// Reads of one connection of several in one turn: a stream that floods is not to hold up the answers on the others.
const MAX_HTTP_READS: usize = 4;
/// Violations that are kept for the embedder.
const MAX_VIOLATIONS: usize = 32;

/// One connection, as all who wait for it see it.
pub(crate) struct Shared {
    state: Mutex<State>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) bells: Bells,
    pub(crate) clock: Clock,
    pub(crate) responder: Option<Arc<dyn Responder>>,
    pub(crate) tap: Option<Arc<TapQueue>>,
    pub(crate) pid: Option<u32>,
    /// Why its process is in no sandbox, though it was to be in one.
    pub(crate) unwrapped: Option<String>,
    pub(crate) ladder: StopLadder,
    pub(crate) me: Weak<Self>,
}

pub(crate) struct State {
    pub(crate) link: Link,
    pub(crate) taps: Taps,
    pub(crate) alarm: Alarm,
    pub(crate) child: Option<Child>,
    pub(crate) stderr: Option<Async<OwnedFd>>,
    pub(crate) stderr_armed: bool,
    pub(crate) ring: Ring,
    /// The log that stderr goes to as well.
    pub(crate) log: Option<LogLines>,
    pub(crate) calls: Calls<Waker>,
    /// Those who wait for something else than a call.
    pub(crate) guests: Guests,
    pub(crate) leader: Seat,
    /// The task that is woken for it.
    pub(crate) pointed: Option<TaskId>,
    /// Whose turn it is: that one looks for itself what there is for it.
    pub(crate) polled: Seat,
    /// How many turns there were.
    pub(crate) turns: u64,
    /// The turns at which the watch saw that a leader who was woken has not come.
    pub(crate) suspect: Option<u64>,
    /// The turns at the last look of the watch.
    pub(crate) seen: u64,
    pub(crate) notices: Notices,
    pub(crate) keeper: Option<Keeper>,
    pub(crate) corks: u32,
    /// What the server asked and nobody has begun to answer.
    pub(crate) asked: VecDeque<(PeerRequestHandle, InputRequest)>,
    /// What is being answered.
    pub(crate) jobs: Vec<(PeerRequestHandle, Arc<Job>)>,
    pub(crate) peer: Option<Box<Peer>>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) closed: Option<CloseReason>,
    /// The connection is to end: whatever holds writes back does so no more.
    pub(crate) closing: bool,
    /// From then on nothing is waited for while the process is stopped, but its end.
    pub(crate) patience_until: Option<std::time::Instant>,
    /// Tells the thread that stops the process of it.
    pub(crate) hurry: Option<UnixStream>,
    pub(crate) leaving: Leaving,
    pub(crate) exit: Option<Exit>,
    /// All that comes after the exit has come.
    pub(crate) over: bool,
    /// What is done as soon as the lock is free.
    after: After,
}

/// What must not be done under the lock, since it runs code of others or starts a thread.
#[derive(Default)]
pub(crate) struct After {
    pub(crate) wakes: Vec<Waker>,
    /// Wakers that are of no use any more; seldom more than one.
    spent: Option<Waker>,
    more_spent: Vec<Waker>,
    /// The leader has to be told of what happened.
    pub(crate) ring: bool,
    pub(crate) parting: Option<Parting>,
    pub(crate) begun: Vec<Arc<Job>>,
    pub(crate) withdrawn: Vec<Arc<Job>>,
}

/// What a connection is made of.
pub(crate) struct Parts {
    pub(crate) link: Link,
    pub(crate) child: Option<Child>,
    pub(crate) stderr: Option<Async<OwnedFd>>,
    pub(crate) log: Option<LogLines>,
    pub(crate) unwrapped: Option<String>,
    pub(crate) clock: Clock,
    pub(crate) responder: Option<Arc<dyn Responder>>,
    pub(crate) tap: Option<Arc<TapQueue>>,
    pub(crate) ladder: StopLadder,
    pub(crate) watch: Watch,
}

/// The state, locked. When it is let go, whom there is something for is woken: earlier it would run into the lock.
pub(crate) struct Locked<'a> {
    /// Goes before the next, so that the lock is free by then.
    guard: MutexGuard<'a, State>,
    after: AfterLock<'a>,
}

struct AfterLock<'a> {
    shared: &'a Shared,
    /// Apart from the rest: with every call one goes, and mostly nothing else.
    spent: Option<Waker>,
    after: Option<After>,
}

impl Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.guard
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.guard
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if self.after.shared.signals.release() {
            self.guard.after.ring = true;
        }
        self.after.spent = self.guard.after.spent.take();
        if !self.guard.after.is_empty() {
            self.after.after = Some(std::mem::take(&mut self.guard.after));
        }
    }
}

impl Drop for AfterLock<'_> {
    fn drop(&mut self) {
        if let Some(after) = self.after.take() {
            after.run(self.shared);
        }
    }
}

impl After {
    const fn is_empty(&self) -> bool {
        !self.ring
            && self.wakes.is_empty()
            && self.more_spent.is_empty()
            && self.parting.is_none()
            && self.begun.is_empty()
            && self.withdrawn.is_empty()
    }

    /// A waker is of no use any more.
    pub(crate) fn spend(&mut self, waker: Waker) {
        if let Some(waker) = self.spent.replace(waker) {
            self.more_spent.push(waker);
        }
    }

    fn run(self, shared: &Shared) {
        for waker in self.wakes {
            wake(waker);
        }
        if self.ring {
            shared.signals.ring();
        }
        for job in self.begun {
            job.begin();
        }
        for job in self.withdrawn {
            job.withdraw();
        }
        if let Some(parting) = self.parting {
            parting.begin();
        }
    }
}

impl State {
    pub(crate) const fn after(&mut self) -> &mut After {
        &mut self.after
    }

    fn read_line(&mut self, bells: &Bells, now: Instant) -> Step {
        match &mut self.link {
            Link::Line(line) => line.read(bells, &mut self.taps, now),
            Link::Http(_) => Step::Enough,
        }
    }

    /// Whoever waits for something else than a call looks again.
    pub(crate) fn wake_guests(&mut self, shared: &Shared) {
        self.after.wakes.extend(self.guests.wake_all());
        if matches!(self.leader, Seat::Guest(_)) && self.leader != self.polled {
            self.after.wakes.extend(shared.signals.leader());
        }
    }

    fn wake_call(&mut self, shared: &Shared, request: RequestHandle, waiter: Option<Waker>) {
        if let Some(waiter) = waiter {
            self.after.wakes.push(waiter);
        } else if self.leader == Seat::Call(request) && self.leader != self.polled {
            self.after.wakes.extend(shared.signals.leader());
        }
    }
}

impl Shared {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        let taps = Taps::new(parts.tap.clone(), parts.clock);
        let state = State {
            link: parts.link,
            taps,
            alarm: Alarm::default(),
            child: parts.child,
            stderr: parts.stderr,
            stderr_armed: false,
            ring: Ring::default(),
            log: parts.log,
            calls: Calls::default(),
            guests: Guests::default(),
            leader: Seat::Watch,
            pointed: None,
            polled: Seat::Watch,
            turns: 0,
            suspect: None,
            seen: 0,
            notices: Notices::default(),
            keeper: None,
            corks: 0,
            asked: VecDeque::new(),
            jobs: Vec::new(),
            peer: None,
            verdict: None,
            violations: Vec::new(),
            closed: None,
            closing: false,
            patience_until: None,
            hurry: None,
            leaving: Leaving::default(),
            exit: None,
            over: false,
            after: After::default(),
        };
        Arc::new_cyclic(|me| {
            let signals = Arc::new(Signals::new(parts.watch, me.clone()));
            Self {
                pid: state.child.as_ref().map(Child::id),
                state: Mutex::new(state),
                bells: Bells::new(&signals),
                signals,
                clock: parts.clock,
                responder: parts.responder,
                tap: parts.tap,
                unwrapped: parts.unwrapped,
                ladder: parts.ladder,
                me: me.clone(),
            }
        })
    }

    /// Whoever panicked while holding the lock left the machine between two of its calls at worst.
    pub(crate) fn lock(&self) -> Locked<'_> {
        let guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.signals.hold();
        Locked { guard, after: AfterLock { shared: self, spent: None, after: None } }
    }

    /// Writes what waits, as far as it goes without waiting.
    pub(crate) fn flush(&self, state: &mut State, now: Instant) {
        let failed = match &mut state.link {
            Link::Line(line) => line.flush(&self.bells, &mut state.taps, now).is_err(),
            Link::Http(net) => {
                net.flush(&self.signals, now);
                false
            }
        };
        if failed {
            self.stop_writing(state, now);
        }
    }

    /// After a write failed, or to drop what waits.
    pub(crate) fn stop_writing(&self, state: &mut State, now: Instant) {
        match &mut state.link {
            Link::Line(line) => line.stop_writing(now),
            Link::Http(net) => net.cut_off(&self.signals, now),
        }
        self.deliver(state, now);
        self.give_up_if_deaf(state, now);
    }

    /// A server that reads no more is of no use once nothing is open, whether it goes on writing or not.
    pub(crate) fn give_up_if_deaf(&self, state: &mut State, now: Instant) {
        if !matches!(&state.link, Link::Line(line) if line.is_deaf()) {
            return;
        }
        // Its last words may say why.
        self.read_input(state, now);
        if let Link::Line(line) = &mut state.link
            && line.is_deaf()
        {
            line.end_input(now);
            self.deliver(state, now);
        }
    }

    /// Reads what is there, within a bound.
    pub(crate) fn read_input(&self, state: &mut State, now: Instant) {
        let readable = match &state.link {
            Link::Line(_) => {
                let read = |state: &mut State| state.read_line(&self.bells, now);
                return self.read_stream(state, read, MAX_READS, now);
            }
            Link::Http(net) => net.readable(),
        };
        for connection in readable {
            let read = |state: &mut State| match &mut state.link {
                Link::Line(_) => Step::Enough,
                Link::Http(net) => net.read(&self.signals, connection, now),
            };
            self.read_stream(state, read, MAX_HTTP_READS, now);
        }
    }

    /// Reads what is there of one stream, so much of it that others get their turn.
    fn read_stream(&self, state: &mut State, read: impl Fn(&mut State) -> Step, reads: usize, now: Instant) {
        for _ in 0..reads {
            match read(state) {
                Step::More => self.deliver(state, now),
                Step::Enough => return,
            }
        }
    }

    /// Reads what the child said on stderr. Whether there may be more at once.
    pub(crate) fn read_stderr(&self, state: &mut State) -> bool {
        let Some(source) = state.stderr.take() else { return false };
        let mut got = Got::Bytes { len: 0, full: true };
        for _ in 0..MAX_READS {
            got = self.take_stderr(state, source.as_fd());
            if !matches!(got, Got::Bytes { full: true, .. }) {
                break;
            }
        }
        if !matches!(got, Got::End { .. }) {
            state.stderr = Some(source);
        }
        matches!(got, Got::Bytes { full: true, .. })
    }

    /// One read of what the child said on stderr.
    pub(crate) fn take_stderr(&self, state: &mut State, source: BorrowedFd<'_>) -> Got {
        let buffer = state.ring.read_buffer();
        let before = buffer.len();
        let got = wire::read_stderr(source, buffer);
        if let Some(log) = &mut state.log {
            log.feed(buffer.get(before..).unwrap_or_default(), self.clock.now());
        }
        got
    }

    /// Hands every event to whom it belongs.
    pub(crate) fn deliver(&self, state: &mut State, now: Instant) {
        while let Some(event) = state.link.poll_event() {
            match event {
                Event::Finished { request, outcome } => {
                    let waiter = state.calls.finish(request, outcome);
                    state.wake_call(self, request, waiter);
                    state.wake_keeper_for(request);
                }
                Event::Progress { request, progress } => {
                    let waiter = state.calls.report(request, progress);
                    state.wake_call(self, request, waiter);
                }
                Event::Notification { subscription, method, .. }
                    if !state.keeper.as_ref().is_none_or(|keeper| keeper.wants(subscription, &method)) => {}
                Event::Notification { subscription, method, params } => {
                    state.notices.push(Notification::new(subscription, method, params));
                    state.wake_keeper();
                    state.wake_guests(self);
                }
                Event::Renewed(peer) if state.keeper.is_some() => state.renew(peer),
                Event::Renewed(peer) => {
                    state.peer = Some(peer);
                    state.notices.renewed();
                    state.wake_guests(self);
                }
                Event::PeerRequest { handle, request, .. } => self.asked(state, handle, request, now),
                Event::PeerRequestEnded { handle } => self.withdrawn(state, handle),
                Event::Ready(peer) => {
                    state.peer = Some(peer);
                    state.wake_guests(self);
                }
                Event::Verdict(verdict) => {
                    state.verdict = Some(verdict);
                    state.wake_keeper();
                }
                Event::Violation(violation) => {
                    state.violations.push(violation);
                    state.violations.truncate(MAX_VIOLATIONS);
                }
                Event::Closed(reason) => {
                    state.closed = Some(reason);
                    self.withdraw_all(state);
                    self.part(state, now);
                    state.wake_guests(self);
                    state.wake_keeper();
                }
                _ => {}
            }
        }
    }
}
