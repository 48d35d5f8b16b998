//! What a runtime keeps of a host beside the machine, and does for it: the calls that somebody waits for, the connections,
//! what observers are to be told. Knows no thread and no task, only what to wake.
//!
//! ```text
//!  whoever calls the machine ──▶ settle ──▶ deeds, done without the runtime's lock: open, shut, cancel, wake
//!                                  ├──▶ a call's place: its question, its request, its input, its end
//!                                  ├──▶ a connection's place: requests that no call waits for
//!                                  └──▶ what is observed
//! ```
//!
//! Nothing of a host passes through one thread or task: who waits for a call does what it takes, step by step ([`Step`]),
//! and each connection has a keeper of its own ([`Todo`]).

mod health;
mod link;
mod observed;
mod slot;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::calls::{CallRefused, CallRequest};
use super::event::{CallHandle, ClientHandle, Effect, Event, RequestKey};
use super::link::Status;
use super::machine::Host;
use super::policy::ApprovalRequest;
use crate::client::{Outcome, Progress, Start};
use crate::error::ApiError;
use crate::time::Instant;

pub use health::health_of;
pub use link::{Job, Link, Todo};
pub use observed::Observed;
pub use slot::{Asked, Slot, Step, Work};

/// The most connections of one server that are being shut while another is opened: one whose processes are slow to end
/// must not fill the system with them.
const MAX_LEAVING: usize = 4;

/// What a runtime waits with, and what it speaks to servers through.
pub trait Kinds {
    /// What sleeps until there is something for it: a thread, a task.
    type Waiter: Clone;
    /// An open connection. Clones are the same.
    type Client: Clone;
    /// Ends a request that somebody else waits for.
    type Canceller;
    /// Ends a connection, while it is being opened too. Clones are the same.
    type Closer: Clone + Default;
}

/// A host with its open calls and its connections, for whatever lock a runtime keeps it behind.
///
/// The machine is called directly. Whoever has called it [settles](Self::settle), lets go of the lock and does what came of
/// it: nothing here waits, and no code of an embedder runs here, but for the hooks of a waist.
pub struct Desk<K: Kinds> {
    /// The host.
    pub machine: Host,
    /// What an observer is to be told; `None`: nobody observes.
    pub observed: Option<Observed>,
    calls: BTreeMap<CallHandle, Slot<K>>,
    links: BTreeMap<ClientHandle, Link<K>>,
    settled: Settled<K>,
}

/// What is to be done once the lock is free, in any order: what is shut before it is opened never opens.
pub enum Deed<K: Kinds> {
    /// Open a connection.
    Open(Attempt<K::Closer>),
    /// Have a connection closed.
    Shut(K::Closer),
    /// Have a connection killed: nothing came of it.
    Kill(K::Closer),
    /// Give a request up.
    Cancel(K::Canceller),
    /// Wake somebody.
    Wake(K::Waiter),
}

/// A connection that is to be opened.
#[derive(Clone, Debug)]
pub struct Attempt<C> {
    /// Its name.
    pub client: ClientHandle,
    /// Its server.
    pub server: Arc<str>,
    /// What is known of the server's era.
    pub start: Start,
    /// When the host gives it up.
    pub until: Instant,
    /// Ends it.
    pub closer: C,
}

/// What came of calling the machine.
pub struct Settled<K: Kinds> {
    /// To be done once the lock is free.
    pub deeds: Vec<Deed<K>>,
    /// Whether something changed that others wait for: every server was tried, a connection is to be shut.
    pub changed: bool,
    /// Whether there is something new to observe.
    pub observed: bool,
}

impl<K: Kinds> Default for Settled<K> {
    fn default() -> Self {
        Self { deeds: Vec::new(), changed: false, observed: false }
    }
}

impl<K: Kinds> fmt::Debug for Desk<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("calls", &self.calls.len())
            .field("links", &self.links.len())
            .finish_non_exhaustive()
    }
}

impl<K: Kinds> Desk<K> {
    /// Of a new host; `observes`: somebody wants to know what it tells.
    #[must_use]
    pub fn new(machine: Host, observes: bool) -> Self {
        Self {
            machine,
            observed: observes.then(Observed::default),
            calls: BTreeMap::new(),
            links: BTreeMap::new(),
            settled: Settled::default(),
        }
    }

    /// Takes out all that the machine has. What is to be done for it, and for what was put here since.
    #[must_use = "nothing of it happens by itself"]
    pub fn settle(&mut self) -> Settled<K> {
        loop {
            if let Some(effect) = self.machine.poll_effect() {
                self.settled.changed |= matches!(effect, Effect::Shut { .. });
                self.take_effect(effect);
            } else if let Some(event) = self.machine.poll_event() {
                self.settled.changed |= matches!(event, Event::Started);
                self.observe(&event);
                self.take_event(event);
            } else {
                return core::mem::take(&mut self.settled);
            }
        }
    }

    fn take_effect(&mut self, effect: Effect) {
        match effect {
            Effect::Open { client, server, start, until } => {
                let closer = K::Closer::default();
                self.links.insert(client, Link::new(server.clone(), closer.clone()));
                self.deed(Deed::Open(Attempt { client, server, start, until, closer }));
            }
            Effect::Shut { client, failed, .. } => {
                let Some(link) = self.links.get_mut(&client) else { return };
                let closer = link.shut(failed);
                self.deed(if failed { Deed::Kill(closer) } else { Deed::Shut(closer) });
                self.wake_keeper(client);
            }
            // One that is nobody's call is the host's own: whether a server still answers.
            Effect::Request { key: RequestKey::Call(call), client, method, params, options }
                if self.calls.contains_key(&call) =>
            {
                self.work(call, Work { client, what: Asked::Request(method, params), options });
            }
            Effect::Resume { key: RequestKey::Call(call), client, from, answers, options } => {
                self.work(call, Work { client, what: Asked::Resume(from, answers), options });
            }
            Effect::Request { key, client, method, params, options } => {
                let Some(link) = self.links.get_mut(&client) else { return };
                link.request(Job { key, method, params, options });
                self.wake_keeper(client);
            }
            Effect::Cancel { key: RequestKey::Call(call), .. } if self.calls.contains_key(&call) => {
                let canceller = self.calls.get_mut(&call).and_then(Slot::cancel);
                self.settled.deeds.extend(canceller.map(Deed::Cancel));
            }
            Effect::Cancel { key, client } => {
                let Some(link) = self.links.get_mut(&client) else { return };
                link.cancel(key);
                self.wake_keeper(client);
            }
            Effect::Resume { .. } => {}
        }
    }

    fn take_event(&mut self, event: Event) {
        match event {
            Event::Approval(request) => self.ask(request),
            Event::ApprovalEnded(question) => {
                for slot in self.calls.values_mut() {
                    self.settled.deeds.extend(slot.withdraw(question).map(Deed::Wake));
                }
            }
            Event::Progress { call, progress } => {
                if let Some(slot) = self.calls.get_mut(&call) {
                    slot.report(progress);
                    self.wake(call);
                }
            }
            Event::InputRequired { call, input } => {
                if let Some(slot) = self.calls.get_mut(&call) {
                    slot.input = Some(input);
                    self.wake(call);
                }
            }
            Event::Finished { call, end } => {
                let Some(slot) = self.calls.get_mut(&call) else { return };
                slot.end = Some(end);
                // Whatever ended it, nobody waits for its request any more.
                let (canceller, question) = (slot.cancel(), slot.question.take());
                self.settled.deeds.extend(canceller.map(Deed::Cancel));
                self.wake(call);
                // Others that are the same may wait for the answer as well.
                if let Some(question) = question {
                    self.ask(question);
                }
            }
            Event::Status { .. }
            | Event::Connected { .. }
            | Event::Verdict { .. }
            | Event::Health { .. }
            | Event::Started
            | Event::Tools { .. }
            | Event::Warning(_) => {}
        }
    }

    /// For whoever observes. What belongs to one call alone goes to whoever makes it.
    fn observe(&mut self, event: &Event) {
        let of_one_call =
            matches!(event, Event::Progress { .. } | Event::InputRequired { .. } | Event::Finished { .. });
        if let Some(observed) = self.observed.as_mut().filter(|_| !of_one_call) {
            observed.push(event.clone());
            self.settled.observed = true;
        }
    }

    fn deed(&mut self, deed: Deed<K>) {
        self.settled.deeds.push(deed);
    }

    fn wake(&mut self, call: CallHandle) {
        let waiter = self.calls.get_mut(&call).and_then(|slot| slot.waiter.take());
        self.settled.deeds.extend(waiter.map(Deed::Wake));
    }

    fn wake_keeper(&mut self, client: ClientHandle) {
        let keeper = self.links.get(&client).and_then(|link| link.keeper.clone());
        self.settled.deeds.extend(keeper.map(Deed::Wake));
    }

    fn work(&mut self, call: CallHandle, work: Work) {
        let server = self.links.get(&work.client).map(|link| link.server.clone());
        if let Some(slot) = self.calls.get_mut(&call) {
            (slot.server, slot.work) = (server, Some(work));
            self.wake(call);
        }
    }

    /// Puts a question to a call that it is about and that somebody waits for: the first of these. Where several wait, the
    /// one that looks first takes it.
    fn ask(&mut self, request: Box<ApprovalRequest>) {
        let calls = self.machine.asked_about(request.handle);
        let attended = |call: &&CallHandle| self.calls.get(*call).is_some_and(|slot| slot.attended);
        let Some(call) = calls.iter().find(attended).or_else(|| calls.first()) else { return };
        let Some(slot) = self.calls.get_mut(call) else { return };
        slot.question = Some(request);
        for call in calls {
            let waiter = self.calls.get_mut(call).and_then(|slot| slot.waiter.take());
            self.settled.deeds.extend(waiter.map(Deed::Wake));
        }
    }
}

/// What is done for a call.
impl<K: Kinds> Desk<K> {
    /// Asks for a call, which has its place here until it is [forgotten](Self::forget) or its end was taken.
    ///
    /// # Errors
    /// [`CallRefused`]: it was not accepted.
    pub fn call(
        &mut self,
        request: CallRequest,
        wants_progress: bool,
        now: Instant,
    ) -> Result<CallHandle, CallRefused> {
        let call = self.machine.call(request, now)?;
        self.calls.insert(call, Slot::new(wants_progress));
        Ok(call)
    }

    /// What whoever waits for a call is to do next.
    pub fn step(&mut self, call: CallHandle) -> Step {
        let Some(slot) = self.calls.get_mut(&call) else { return Step::Sleep };
        slot.attended = true;
        let step = slot.step();
        if matches!(step, Step::End(_)) {
            self.calls.remove(&call);
        } else if matches!(step, Step::Sleep)
            && let Some(question) = self.unasked(call)
        {
            if let Some(slot) = self.calls.get_mut(&call) {
                slot.asking = Some(question.handle);
            }
            return Step::Ask(question);
        }
        step
    }

    /// A question that is about this call too, and that nobody has begun to ask.
    fn unasked(&mut self, call: CallHandle) -> Option<Box<ApprovalRequest>> {
        let machine = &self.machine;
        self.calls.values_mut().find_map(|slot| {
            slot.question.take_if(|question| machine.asked_about(question.handle).contains(&call))
        })
    }

    /// There is nothing to do for a call: `waiter` is woken once there is. Who was to be woken before; `waiter` itself if
    /// there is no such call.
    pub fn sleep(&mut self, call: CallHandle, waiter: K::Waiter) -> Option<K::Waiter> {
        match self.calls.get_mut(&call) {
            Some(slot) => slot.waiter.replace(waiter),
            None => Some(waiter),
        }
    }

    /// Who is woken once there is something to do for a call.
    #[must_use]
    pub fn sleeper(&self, call: CallHandle) -> Option<&K::Waiter> {
        self.calls.get(&call)?.waiter.as_ref()
    }

    /// Whether a call is over, or was forgotten.
    #[must_use]
    pub fn is_over(&self, call: CallHandle) -> bool {
        self.calls.get(&call).is_none_or(|slot| slot.end.is_some())
    }

    /// The request of a call, if it is to be made now.
    pub fn work_of(&mut self, call: CallHandle) -> Option<Work> {
        self.calls.get_mut(&call)?.take_work()
    }

    /// A request that was taken out was made. False: it is not wanted any more, so drop it.
    pub fn opened(&mut self, call: CallHandle, canceller: K::Canceller) -> bool {
        self.calls.get_mut(&call).is_some_and(|slot| slot.running.opened(canceller))
    }

    /// What the request of a call came to.
    pub fn outcome(&mut self, call: CallHandle, outcome: Result<Outcome, ApiError>, now: Instant) {
        if let Some(slot) = self.calls.get_mut(&call) {
            slot.running = slot::Running::No;
        }
        self.machine.handle_outcome(RequestKey::Call(call), outcome, now);
    }

    /// Reports that wait for whoever waits for a call.
    pub fn take_progress(&mut self, call: CallHandle) -> VecDeque<Progress> {
        let waiting = self.calls.get_mut(&call).and_then(|slot| slot.progress.as_mut());
        waiting.map(core::mem::take).unwrap_or_default()
    }

    /// The server that a call was sent to last.
    #[must_use]
    pub fn server_of(&self, call: CallHandle) -> Option<Arc<str>> {
        self.calls.get(&call)?.server.clone()
    }

    /// Whether the question that this call took is still open and its own to ask.
    #[must_use]
    pub fn is_asking(&self, call: CallHandle, question: &ApprovalRequest) -> bool {
        self.calls.get(&call).is_some_and(|slot| slot.asking == Some(question.handle))
    }

    /// The question that this call took was put to somebody, who answered it or leaves it open.
    pub fn asked(&mut self, call: CallHandle, question: &ApprovalRequest) {
        if let Some(slot) = self.calls.get_mut(&call) {
            slot.asking.take_if(|asking| *asking == question.handle);
        }
    }

    /// Whoever waited for this call asks no more: the question that it took goes to another call that is the same, if it
    /// is still open. Call it once the call is over.
    pub fn hand_on(&mut self, question: Box<ApprovalRequest>) {
        self.ask(question);
    }

    /// Nobody waits for a call any more, and nothing of it matters. What is left of it is best dropped without the lock.
    pub fn forget(&mut self, call: CallHandle) -> Option<Slot<K>> {
        self.calls.remove(&call)
    }
}

/// What is done for a connection.
impl<K: Kinds> Desk<K> {
    /// `keeper` looks after a connection from here on, and is woken for what there is to do. False: the connection is not
    /// wanted any more.
    pub fn arrive(&mut self, client: ClientHandle, keeper: K::Waiter) -> bool {
        let Some(link) = self.links.get_mut(&client) else { return false };
        link.keeper = Some(keeper);
        !link.shut
    }

    /// Whether a connection may be opened, or is not to be opened at all: too many of its server's may be being shut.
    #[must_use]
    pub fn has_room(&self, client: ClientHandle) -> bool {
        let Some(link) = self.links.get(&client).filter(|link| !link.shut) else { return true };
        let leaving = |other: &&Link<K>| other.shut && other.server == link.server;
        self.links.values().filter(leaving).count() < MAX_LEAVING
    }

    /// Calls can be made over a connection from here on.
    pub fn attach(&mut self, client: ClientHandle, connection: K::Client) {
        if let Some(link) = self.links.get_mut(&client) {
            link.client = Some(connection);
        }
    }

    /// Calls cannot be made any more. What is given is best dropped without the lock.
    pub fn detach(&mut self, client: ClientHandle) -> Option<K::Client> {
        self.links.get_mut(&client)?.client.take()
    }

    /// What a connection's keeper is to do next.
    pub fn todo(&mut self, client: ClientHandle) -> Todo {
        self.links.get_mut(&client).map_or(Todo::Leave, Link::next)
    }

    /// Whether a connection is to be shut, or is gone.
    #[must_use]
    pub fn is_shut(&self, client: ClientHandle) -> bool {
        self.links.get(&client).is_none_or(|link| link.shut)
    }

    /// Whether a connection is to be killed: nothing came of it.
    #[must_use]
    pub fn has_failed(&self, client: ClientHandle) -> bool {
        self.links.get(&client).is_some_and(|link| link.failed)
    }

    /// A connection is gone. What is left of it is best dropped without the lock.
    pub fn leave(&mut self, client: ClientHandle) -> Option<Link<K>> {
        self.links.remove(&client)
    }

    /// An open connection.
    #[must_use]
    pub fn connection(&self, client: ClientHandle) -> Option<K::Client> {
        self.links.get(&client)?.client.clone()
    }

    /// The connection by which a server can be called.
    #[must_use]
    pub fn current(&self, server: &str) -> Option<K::Client> {
        self.machine.state(server).filter(|state| state.status == Status::Connected)?;
        self.newest(server)
    }

    /// The servers that can be called, each with its connection; without one it is just lost.
    #[must_use]
    pub fn connected(&self) -> Vec<(Arc<str>, Option<K::Client>)> {
        let states = self.machine.states().into_iter().filter(|state| state.status == Status::Connected);
        states.map(|state| (state.name.clone(), self.newest(&state.name))).collect()
    }

    fn newest(&self, server: &str) -> Option<K::Client> {
        let links = self.links.values().rev().filter(|link| !link.shut && &*link.server == server);
        links.filter_map(|link| link.client.clone()).next()
    }

    /// The connections that are not gone, each with its server.
    pub fn links(&self) -> impl ExactSizeIterator<Item = (ClientHandle, &Arc<str>)> {
        self.links.iter().map(|(client, link)| (*client, &link.server))
    }

    /// What ends the connections that are not gone.
    #[must_use]
    pub fn closers(&self) -> Vec<K::Closer> {
        self.links.values().map(|link| link.closer.clone()).collect()
    }
}

#[cfg(test)]
mod tests;
