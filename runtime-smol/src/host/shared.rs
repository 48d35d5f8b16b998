//! What everybody who waits for a host shares: one machine behind one lock, held for decisions. Whatever comes of them is
//! done without it.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::ThreadId;
use std::time::Duration;

use async_io::Timer;
use sanswire::Instant;
use sanswire::client::RequestOptions;
use sanswire::host::desk::{self, Deed, Desk, health_of};
use sanswire::host::{CallHandle, CallRefused, CallRequest, ClientHandle, Host as Machine};
use sanswire::mcp::Method;
use sanswire_system::Exit;
use sanswire_system::clock::Clock;
use sanswire_system::host::Ends;

use super::keeper;
use super::launch::Launch;
use super::surface::Approver;
use crate::client::Client;
use crate::closer::Closer;
use crate::guests::Guests;
use crate::jobs::Job;
use crate::pending::Canceller;
use crate::wake::wake;
use crate::watch::Watch;

/// Hosts whose waiting is done by tasks.
pub(super) enum Tasks {}

impl desk::Kinds for Tasks {
    type Waiter = Waker;
    type Client = Client;
    type Canceller = Canceller;
    type Closer = Closer;
}

/// One host, as all who wait for it see it.
pub(super) struct Shared {
    state: Mutex<State>,
    pub(super) clock: Clock,
    pub(super) launches: BTreeMap<Arc<str>, Launch>,
    pub(super) shutdown_total: Duration,
    pub(super) watch: Watch,
}

pub(super) struct State {
    pub(super) desk: Desk<Tasks>,
    pub(super) approver: Option<Arc<dyn Approver>>,
    pub(super) ends: Ends,
    /// Those who wait for something that changes: every server was tried, a connection is gone, the host is closed.
    pub(super) waiting: Guests,
    /// The keepers of connections.
    pub(super) keepers: BTreeMap<ClientHandle, Arc<Job>>,
    /// What sees deadlines pass.
    pub(super) timing: Option<Arc<Job>>,
    /// When that looks next at the latest. `None`: when it is woken.
    pub(super) timer_until: Option<Instant>,
    /// What tells the observer.
    pub(super) observing: Option<Arc<Job>>,
    /// The thread on which the observer's code runs at this moment.
    pub(super) observer_on: Option<ThreadId>,
    /// When the end of the host is waited for no longer, once it has begun.
    pub(super) closing: Option<Instant>,
    pub(super) closed: Option<Vec<(String, Exit)>>,
}

pub(super) type Locked<'a> = MutexGuard<'a, State>;

impl Shared {
    pub(super) fn new(
        desk: Desk<Tasks>,
        clock: Clock,
        launches: BTreeMap<Arc<str>, Launch>,
        shutdown_total: Duration,
        watch: Watch,
    ) -> Arc<Self> {
        let state = State {
            desk,
            approver: None,
            ends: Ends::default(),
            waiting: Guests::default(),
            keepers: BTreeMap::new(),
            timing: None,
            timer_until: None,
            observing: None,
            observer_on: None,
            closing: None,
            closed: None,
        };
        Arc::new(Self { state: Mutex::new(state), clock, launches, shutdown_total, watch })
    }

    /// Whoever panicked while holding the lock left the machine between two of its calls at worst.
    pub(super) fn lock(&self) -> Locked<'_> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls the machine, and does what comes of it.
    pub(super) fn act<R>(self: &Arc<Self>, call: impl FnOnce(&mut Machine, Instant) -> R) -> R {
        let mut state = self.lock();
        let now = self.clock.now();
        let result = call(&mut state.desk.machine, now);
        self.settle(state);
        result
    }

    /// Asks for a call, of which whoever asks will do what is to be done.
    pub(super) fn begin(
        self: &Arc<Self>,
        request: CallRequest,
        wants_progress: bool,
    ) -> Result<CallHandle, CallRefused> {
        let mut state = self.lock();
        let now = self.clock.now();
        let call = state.desk.call(request, wants_progress, now)?;
        self.settle(state);
        Ok(call)
    }

    /// Takes out all that the machine has, lets go of the lock, and does what is to be done.
    pub(super) fn settle<'a>(self: &'a Arc<Self>, mut state: Locked<'a>) {
        let settled = state.desk.settle();
        let mut wakes = Vec::new();
        if settled.changed {
            wakes.extend(state.waiting.wake_all());
        }
        let observing = state.observing.clone().filter(|_| settled.observed);
        let next = state.desk.machine.poll_timeout();
        let sooner = next.is_some() && (state.timer_until.is_none() || next < state.timer_until);
        if sooner {
            state.timer_until = next;
        }
        let timing = state.timing.clone().filter(|_| sooner);
        drop(state);
        for deed in settled.deeds {
            self.perform(deed);
        }
        observing.into_iter().chain(timing).for_each(Job::begin);
        wakes.into_iter().for_each(Waker::wake);
    }

    /// They may be done in any order: what is shut before it is opened never opens.
    fn perform(self: &Arc<Self>, deed: Deed<Tasks>) {
        match deed {
            Deed::Open(attempt) => {
                let client = attempt.client;
                let keeper = Job::new(self.watch.clone(), keeper::keep(Arc::clone(self), attempt));
                self.lock().keepers.insert(client, Arc::clone(&keeper));
                keeper.begin();
            }
            Deed::Shut(closer) => closer.closing().begin(),
            Deed::Kill(closer) => closer.closing().begin_kill(),
            Deed::Cancel(canceller) => canceller.cancel(),
            Deed::Wake(waker) => wake(waker),
        }
    }

    /// Waits until `found` finds something; it is told once `until` is over.
    pub(super) async fn until<T>(
        &self,
        until: Option<Instant>,
        mut found: impl FnMut(&mut State, bool) -> Option<T>,
    ) -> T {
        let left = until.map(|until| until.saturating_since(self.clock.now()));
        let mut timer = left.map(Timer::after);
        let mut late = false;
        let waiting = Waiting { host: self, guest: self.lock().waiting.next() };
        poll_fn(|cx| {
            late |= timer.as_mut().is_some_and(|timer| Pin::new(timer).poll(cx).is_ready());
            waiting.poll(cx, |state| found(state, late))
        })
        .await
    }

    pub(super) async fn health(&self, limit: Duration) -> Vec<(Arc<str>, Result<(), String>)> {
        let (connected, mask) = {
            let state = self.lock();
            (state.desk.connected(), state.desk.machine.config().mask.clone())
        };
        let mut options = RequestOptions::default();
        (options.idle, options.absolute) = (Some(limit), Some(limit));
        let ask = |client: Client| client.start(Method::ToolsList, None, &options);
        // All are asked before one is waited for; each has its own limit.
        let asked: Vec<_> = connected.into_iter().map(|(name, client)| (name, client.map(ask))).collect();
        let mut answers = Vec::with_capacity(asked.len());
        for (name, asked) in asked {
            let answer = match asked {
                None => Err("the connection is lost".into()),
                Some(Err(error)) => Err(error.to_string()),
                Some(Ok(pending)) => health_of(&pending.await, &mask),
            };
            answers.push((name, answer));
        }
        answers
    }
}

/// Somebody who waits for something that changes.
struct Waiting<'a> {
    host: &'a Shared,
    guest: u64,
}

impl Waiting<'_> {
    fn poll<T>(&self, cx: &mut Context<'_>, found: impl FnOnce(&mut State) -> Option<T>) -> Poll<T> {
        let mut state = self.host.lock();
        if let Some(found) = found(&mut state) {
            return Poll::Ready(found);
        }
        let spent = match state.waiting.waiter(self.guest) {
            Some(known) if known.will_wake(cx.waker()) => None,
            _ => state.waiting.set_waiter(self.guest, Some(cx.waker().clone())),
        };
        drop(state);
        drop(spent);
        Poll::Pending
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let spent = self.host.lock().waiting.set_waiter(self.guest, None);
        drop(spent);
    }
}
