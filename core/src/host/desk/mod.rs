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

mod calls;
mod connections;
mod health;
mod link;
mod observed;
mod slot;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::event::{CallHandle, ClientHandle, Effect, Event, RequestKey};
use super::machine::Host;
use super::policy::ApprovalRequest;
use crate::client::Start;
use crate::time::Instant;

pub use health::health_of;
pub use link::{Job, Link, Todo};
pub use observed::Observed;
pub use slot::{Asked, Slot, Step, Work};

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

#[cfg(test)]
mod tests;
