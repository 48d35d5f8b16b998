//! What all threads of a host share: one machine behind one lock, held for decisions. Whatever comes of them is done
//! without it.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Thread, ThreadId};
use std::time::Duration;

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
use crate::pending::Canceller;

/// Hosts whose waiting is done by threads.
pub(super) enum Threads {}

impl desk::Kinds for Threads {
    type Waiter = Thread;
    type Client = Client;
    type Canceller = Canceller;
    type Closer = Closer;
}

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
    pub(super) desk: Desk<Threads>,
    pub(super) approver: Option<Arc<dyn Approver>>,
    /// The thread that tells what is observed.
    pub(super) observing: Option<ThreadId>,
    pub(super) ends: Ends,
    /// How long the timer sleeps. `None`: until it is woken.
    pub(super) timer_until: Option<Instant>,
    pub(super) closing: bool,
    pub(super) closed: Option<Vec<(String, Exit)>>,
}

pub(super) type Locked<'a> = MutexGuard<'a, State>;

impl Shared {
    pub(super) fn new(
        desk: Desk<Threads>,
        clock: Clock,
        launches: BTreeMap<Arc<str>, Launch>,
        shutdown_total: Duration,
    ) -> Arc<Self> {
        let state = State {
            desk,
            approver: None,
            observing: None,
            ends: Ends::default(),
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
        let result = call(&mut state.desk.machine, now);
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
        let call = state.desk.call(request, wants_progress, now)?;
        self.settle(state);
        Ok(call)
    }

    /// Takes out all that the machine has, lets go of the lock, and does what is to be done.
    pub(super) fn settle<'a>(self: &'a Arc<Self>, mut state: Locked<'a>) {
        let mut left = Vec::new();
        loop {
            let settled = state.desk.settle();
            let mut deeds = settled.deeds;
            deeds.append(&mut left);
            if settled.changed {
                self.changed.notify_all();
            }
            if settled.observed {
                self.observe.notify_all();
            }
            let next = state.desk.machine.poll_timeout();
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
            left = deeds;
            state = self.lock();
            let gone = state.desk.leave(client);
            let error = format!("the system could not provide a thread ({error}); close some connections");
            let now = self.clock.now();
            state.desk.machine.handle_not_opened(client, &error, now);
            drop(gone);
        }
    }

    /// They may be done in any order: what is shut before it is opened never opens.
    fn perform(self: &Arc<Self>, deed: Deed<Threads>) -> Result<(), (ClientHandle, std::io::Error)> {
        match deed {
            Deed::Open(attempt) => {
                let client = attempt.client;
                return keeper::spawn(self, attempt).map_err(|error| (client, error));
            }
            Deed::Shut(closer) => closer.closing().begin(),
            Deed::Kill(closer) => closer.closing().begin_kill(),
            Deed::Cancel(canceller) => canceller.cancel(),
            Deed::Wake(thread) => thread.unpark(),
        }
        Ok(())
    }

    pub(super) fn health(&self, limit: Duration) -> Vec<(Arc<str>, Result<(), String>)> {
        let (connected, mask) = {
            let state = self.lock();
            (state.desk.connected(), state.desk.machine.config().mask.clone())
        };
        let mut options = RequestOptions::default();
        (options.idle, options.absolute) = (Some(limit), Some(limit));
        let ask = |client: Client| client.start(Method::ToolsList, None, &options);
        // All are asked before one is waited for; each has its own limit.
        let asked: Vec<_> = connected.into_iter().map(|(name, client)| (name, client.map(ask))).collect();
        let answers = asked.into_iter().map(|(name, asked)| {
            let answer = match asked {
                None => Err("the connection is lost".into()),
                Some(Err(error)) => Err(error.to_string()),
                Some(Ok(pending)) => health_of(&pending.wait(), &mask),
            };
            (name, answer)
        });
        answers.collect()
    }
}
