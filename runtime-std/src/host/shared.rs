//! What all threads of a host share: one machine behind one lock, held for decisions. Whatever comes of them is done
//! without it.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::Duration;

use sanswire::Instant;
use sanswire::host::link::SessionNumber;
use sanswire::host::policy::ApprovalRequest;
use sanswire::host::{
    CallHandle, CallRefused, CallRequest, ClientHandle, Effect, Event, Host as Machine, RequestKey,
};
use sanswire_system::clock::Clock;
use sanswire_system::{ConnectError, Exit};

use super::keeper::{self, Attempt};
use super::launch::Launch;
use super::link::{Job, Link};
use super::observing::Observed;
use super::slot::{Asked, Slot, Work};
use super::surface::Approver;
use crate::closer::Closer;
use crate::pending::Canceller;

/// One host, as all of its threads see it.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Something changed that is waited for: every server was tried, a connection is gone, the host is closed.
    pub(super) changed: Condvar,
    /// The timer's sleep is too long.
    pub(super) timer: Condvar,
    /// There is something to observe, or it was.
    pub(super) observe: Condvar,
    pub(super) clock: Clock,
    pub(super) launches: BTreeMap<Arc<str>, Launch>,
    pub(super) shutdown_total: Duration,
}

pub(super) struct State {
    pub(super) machine: Machine,
    pub(super) calls: BTreeMap<CallHandle, Slot>,
    pub(super) links: BTreeMap<ClientHandle, Link>,
    pub(super) approver: Option<Arc<dyn Approver>>,
    pub(super) observed: Option<Observed>,
    /// Of the last connection of each server that is gone.
    pub(super) exits: BTreeMap<Arc<str>, (SessionNumber, Exit)>,
    /// Why the last attempt at each server came to nothing.
    pub(super) not_opened: BTreeMap<Arc<str>, Arc<ConnectError>>,
    /// How long the timer sleeps. `None`: until it is woken.
    pub(super) timer_until: Option<Instant>,
    pub(super) closing: bool,
    pub(super) closed: Option<Vec<(String, Exit)>>,
}

pub(super) type Locked<'a> = MutexGuard<'a, State>;

/// What is to be done without the lock.
enum Deed {
    Open(Attempt),
    Shut(Closer),
    Kill(Closer),
    Cancel(Canceller),
    Wake(Thread),
}

impl Shared {
    pub(super) fn new(
        machine: Machine,
        clock: Clock,
        launches: BTreeMap<Arc<str>, Launch>,
        shutdown_total: Duration,
        observed: Option<Observed>,
    ) -> Arc<Self> {
        let state = State {
            machine,
            calls: BTreeMap::new(),
            links: BTreeMap::new(),
            approver: None,
            observed,
            exits: BTreeMap::new(),
            not_opened: BTreeMap::new(),
            timer_until: None,
            closing: false,
            closed: None,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            timer: Condvar::new(),
            observe: Condvar::new(),
            clock,
            launches,
            shutdown_total,
        })
    }

    /// A thread that panicked while it held the lock left the machine between two of its calls at worst.
    pub(super) fn lock(&self) -> Locked<'_> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls the machine, and does what comes of it.
    pub(super) fn act<R>(self: &Arc<Self>, call: impl FnOnce(&mut Machine, Instant) -> R) -> R {
        let mut state = self.lock();
        let now = self.clock.now();
        let result = call(&mut state.machine, now);
        self.settle(state);
        result
    }

    /// Asks for a call, of which this thread will do what is to be done.
    pub(super) fn begin(
        self: &Arc<Self>,
        request: CallRequest,
        wants_progress: bool,
    ) -> Result<CallHandle, CallRefused> {
        let mut state = self.lock();
        let now = self.clock.now();
        let call = state.machine.call(request, now)?;
        let progress = wants_progress.then(Default::default);
        state.calls.insert(call, Slot { progress, ..Slot::default() });
        self.settle(state);
        Ok(call)
    }

    /// Takes out all that the machine has, lets go of the lock, and does what is to be done.
    pub(super) fn settle<'a>(self: &'a Arc<Self>, mut state: Locked<'a>) {
        let mut deeds = Vec::new();
        loop {
            self.drain(&mut state, &mut deeds);
            let next = state.machine.poll_timeout();
            if next.is_some() && (state.timer_until.is_none() || next < state.timer_until) {
                state.timer_until = next;
                self.timer.notify_one();
            }
            drop(state);
            let mut failed = None;
            while let Some(deed) = deeds.pop() {
                if let Err(not_opened) = self.perform(deed) {
                    failed = Some(not_opened);
                    break;
                }
            }
            let Some((client, error)) = failed else { return };
            state = self.lock();
            state.links.remove(&client);
            let error = format!("the system could not provide a thread ({error}); close some connections");
            let now = self.clock.now();
            state.machine.handle_not_opened(client, &error, now);
        }
    }

    /// They may be done in any order: what is shut before it is opened never opens.
    fn perform(self: &Arc<Self>, deed: Deed) -> Result<(), (ClientHandle, std::io::Error)> {
        match deed {
            Deed::Open(attempt) => {
                let client = attempt.client;
                return keeper::spawn(self, attempt).map_err(|error| (client, error));
            }
            Deed::Shut(closer) => closer.begin(),
            Deed::Kill(closer) => closer.begin_kill(),
            Deed::Cancel(canceller) => canceller.cancel(),
            Deed::Wake(thread) => thread.unpark(),
        }
        Ok(())
    }

    fn drain(&self, state: &mut State, deeds: &mut Vec<Deed>) {
        loop {
            if let Some(effect) = state.machine.poll_effect() {
                if matches!(effect, Effect::Shut { .. }) {
                    self.changed.notify_all();
                }
                state.take_effect(effect, deeds);
            } else if let Some(event) = state.machine.poll_event() {
                if matches!(event, Event::Started) {
                    self.changed.notify_all();
                }
                if state.observe(&event) {
                    self.observe.notify_all();
                }
                state.take_event(event, deeds);
            } else {
                return;
            }
        }
    }
}

impl State {
    /// A question about this call that another one's thread should ask, which is not there.
    pub(super) fn unasked(&mut self, call: CallHandle) -> Option<Box<ApprovalRequest>> {
        let machine = &self.machine;
        self.calls.values_mut().filter(|slot| !slot.attended).find_map(|slot| {
            slot.question.take_if(|question| machine.asked_about(question.handle).contains(&call))
        })
    }

    fn take_effect(&mut self, effect: Effect, deeds: &mut Vec<Deed>) {
        match effect {
            Effect::Open { client, server, start, until } => {
                let closer = Closer::new();
                self.links.insert(client, Link::new(Arc::clone(&server), closer.clone()));
                deeds.push(Deed::Open(Attempt { client, server, start, until, closer }));
            }
            Effect::Shut { client, failed, .. } => {
                let Some(link) = self.links.get_mut(&client) else { return };
                (link.shut, link.failed) = (true, failed);
                let closer = link.closer.clone();
                deeds.push(if failed { Deed::Kill(closer) } else { Deed::Shut(closer) });
                deeds.extend(link.keeper.clone().map(Deed::Wake));
            }
            // One that is nobody's call is the host's own: whether a server still answers.
            Effect::Request { key: RequestKey::Call(call), client, method, params, options }
                if self.calls.contains_key(&call) =>
            {
                self.work(call, Work { client, what: Asked::Request(method, params), options }, deeds);
            }
            Effect::Resume { key: RequestKey::Call(call), client, from, answers, options } => {
                self.work(call, Work { client, what: Asked::Resume(from, answers), options }, deeds);
            }
            Effect::Request { key, client, method, params, options } => {
                let Some(link) = self.links.get_mut(&client) else { return };
                link.request(Job { key, method, params, options });
                deeds.extend(link.keeper.clone().map(Deed::Wake));
            }
            Effect::Cancel { key: RequestKey::Call(call), .. } if self.calls.contains_key(&call) => {
                let Some(slot) = self.calls.get_mut(&call) else { return };
                slot.work = None;
                deeds.extend(slot.running.cancel().map(Deed::Cancel));
            }
            Effect::Cancel { key, client } => {
                let Some(link) = self.links.get_mut(&client) else { return };
                link.cancel(key);
                deeds.extend(link.keeper.clone().map(Deed::Wake));
            }
            _ => {}
        }
    }

    fn work(&mut self, call: CallHandle, work: Work, deeds: &mut Vec<Deed>) {
        let Some(slot) = self.calls.get_mut(&call) else { return };
        slot.server = self.links.get(&work.client).map(|link| Arc::clone(&link.server));
        slot.work = Some(work);
        deeds.extend(slot.waiter.take().map(Deed::Wake));
    }

    /// Puts a question to the thread of a call that it is about: the first that has one.
    fn ask(&mut self, request: Box<ApprovalRequest>, deeds: &mut Vec<Deed>) {
        let calls = self.machine.asked_about(request.handle);
        let attended = |call: &&CallHandle| self.calls.get(*call).is_some_and(|slot| slot.attended);
        let Some(call) = calls.iter().find(attended).or_else(|| calls.first()) else { return };
        let Some(slot) = self.calls.get_mut(call) else { return };
        slot.question = Some(request);
        deeds.extend(slot.waiter.take().map(Deed::Wake));
    }

    fn take_event(&mut self, event: Event, deeds: &mut Vec<Deed>) {
        let slot = match event {
            Event::Approval(request) => return self.ask(request, deeds),
            Event::ApprovalEnded(question) => {
                return self.calls.values_mut().for_each(|slot| slot.withdraw(question));
            }
            Event::Progress { call, progress } => {
                let Some(slot) = self.calls.get_mut(&call) else { return };
                slot.report(progress);
                slot
            }
            Event::InputRequired { call, input } => {
                let Some(slot) = self.calls.get_mut(&call) else { return };
                slot.input = Some(input);
                slot
            }
            Event::Finished { call, end } => {
                let Some(slot) = self.calls.get_mut(&call) else { return };
                slot.end = Some(end);
                // Whatever ended it, nobody waits for its request any more.
                slot.work = None;
                deeds.extend(slot.running.cancel().map(Deed::Cancel));
                deeds.extend(slot.waiter.take().map(Deed::Wake));
                // Others that are the same may wait for the answer as well.
                if let Some(question) = slot.question.take() {
                    self.ask(question, deeds);
                }
                return;
            }
            _ => return,
        };
        deeds.extend(slot.waiter.take().map(Deed::Wake));
    }

    /// For whoever observes. Whether somebody does.
    fn observe(&mut self, event: &Event) -> bool {
        let of_one_call =
            matches!(event, Event::Progress { .. } | Event::InputRequired { .. } | Event::Finished { .. });
        match &mut self.observed {
            Some(observed) if !of_one_call => {
                observed.push(event.clone());
                true
            }
            _ => false,
        }
    }
}
