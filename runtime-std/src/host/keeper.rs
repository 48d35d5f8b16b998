//! The thread that looks after one connection: opens it, tells the host of it, makes the requests that no call waits
//! for, and shuts it.

use std::sync::{Arc, PoisonError};
use std::thread::Builder;

use sanswire::Instant;
use sanswire::client::{Event, Verdict};
use sanswire::host::desk::{self, Job, Todo};
use sanswire::host::link::loses_session;
use sanswire::host::{ClientHandle, RequestKey};
use sanswire_system::{ConnectError, Exit};

use super::launch;
use super::shared::Shared;
use super::timer::STACK;
use crate::client::Client;
use crate::closer::Closer;
use crate::pending::Pending;
use crate::shared::Keeper;

type Attempt = desk::Attempt<Closer>;

pub(super) fn spawn(host: &Arc<Shared>, attempt: Attempt) -> std::io::Result<()> {
    let host = Arc::clone(host);
    let thread = Builder::new().name("sanswire-keeper".into()).stack_size(STACK);
    thread.spawn(move || keep(&host, attempt)).map(drop)
}

fn keep(host: &Arc<Shared>, attempt: Attempt) {
    let client = attempt.client;
    let mut leaving = Leaving { host, client, exit: None };
    if !host.lock().desk.arrive(client, std::thread::current()) {
        return;
    }
    if !host.wait_for_room(client, attempt.until) {
        let why = "too many of its earlier processes have not ended yet; end them by hand";
        return host.act(|machine, now| machine.handle_not_opened(client, why, now));
    }
    let Some(launch) = host.launches.get(&attempt.server) else { return };
    let Attempt { start, until, closer, server, .. } = attempt;
    let mut options = launch.options_for(start, (host.clock.now(), until), host.shutdown_total);
    options.closer = Some(closer.clone());
    match launch::open(launch.way(), options) {
        Ok(connection) => {
            host.lock().ends.opened(&server);
            Keeping { host, client, connection: &connection, told: None, open: Vec::new() }.run();
            // Calls cannot be made any more.
            let detached = host.lock().desk.detach(client);
            drop(detached);
            if host.lock().desk.has_failed(client) {
                closer.closing().begin_kill();
            }
            leaving.exit = Some(connection.close());
        }
        Err(error) => {
            let why = error.to_string();
            if let ConnectError::Closed { exit: Some(exit), .. } = &error {
                leaving.exit = Some(Exit::clone(exit));
            }
            host.lock().ends.not_opened(server, error);
            host.act(|machine, now| machine.handle_not_opened(client, &why, now));
        }
    }
}

/// An open connection.
struct Keeping<'a> {
    host: &'a Arc<Shared>,
    client: ClientHandle,
    connection: &'a Client,
    /// What was told of its era.
    told: Option<Verdict>,
    /// Its requests that are out. It waits for none of them, so that none holds up another.
    open: Vec<(RequestKey, Pending)>,
}

impl Keeping<'_> {
    /// Until the connection has ended, or is to be shut.
    fn run(mut self) {
        let shared = self.connection.shared();
        shared.lock().keeper = Some(Keeper { thread: std::thread::current(), open: Vec::new() });
        self.host.lock().desk.attach(self.client, self.connection.clone());
        self.tell_verdict();
        self.tell(Event::Ready(Box::new(self.connection.peer().clone())));
        loop {
            if self.tell_news() {
                return;
            }
            let todo = self.host.lock().desk.todo(self.client);
            match todo {
                Todo::Request(job) => self.make(job),
                Todo::Drop(key) => self.open.retain(|(open, _)| *open != key),
                Todo::Leave => return,
                // Whoever has something for this thread leaves it first, and unparks it then.
                Todo::Nothing => std::thread::park(),
            }
        }
    }

    fn tell(&self, event: Event) {
        self.host.act(|machine, now| machine.handle_client(self.client, event, now));
    }

    fn tell_verdict(&mut self) {
        let verdict = self.connection.verdict();
        if verdict != self.told {
            self.told.clone_from(&verdict);
            if let Some(verdict) = verdict {
                self.tell(Event::Verdict(verdict));
            }
        }
    }

    /// What came in. True: the end.
    fn tell_news(&mut self) -> bool {
        // In this order: what came before the end is told before it.
        let mut closed = self.connection.is_closed();
        self.tell_verdict();
        let renewed = self.connection.shared().lock().renewed.take();
        if let Some(peer) = renewed {
            self.tell(Event::Renewed(peer));
        }
        loop {
            let Some(notice) = self.connection.shared().lock().notices.pop() else { break };
            let (subscription, method, params) = (notice.subscription, notice.method, notice.params);
            self.tell(Event::Notification { subscription, method, params });
        }
        let mut over = Vec::new();
        self.open.retain_mut(|(key, pending)| match pending.try_take() {
            Some(outcome) => {
                over.push((*key, outcome));
                false
            }
            None => true,
        });
        if !over.is_empty() {
            self.watch_open();
        }
        if over.iter().any(|(_, outcome)| loses_session(outcome)) {
            closed = self.connection.is_closed();
        }
        if closed.is_some() {
            // The end of the connection says of it what there is to say, and why.
            over.retain(|(_, outcome)| !loses_session(outcome));
        }
        for (key, outcome) in over {
            self.host.act(|machine, now| machine.handle_outcome(key, Ok(outcome), now));
        }
        match closed {
            Some(reason) => {
                self.tell(Event::Closed(reason));
                true
            }
            None => false,
        }
    }

    fn make(&mut self, job: Job) {
        let Job { key, method, params, options } = job;
        match self.connection.start(method, params, &options) {
            Err(error) => self.host.act(|machine, now| machine.handle_outcome(key, Err(error), now)),
            Ok(pending) => {
                self.open.push((key, pending));
                self.watch_open();
            }
        }
    }

    /// What is out is another: this thread is woken when one of these ends.
    fn watch_open(&self) {
        if let Some(keeper) = &mut self.connection.shared().lock().keeper {
            keeper.open.clear();
            keeper.open.extend(self.open.iter().map(|(_, pending)| pending.handle()));
        }
    }
}

/// Tells that a connection is gone, by unwinding too: the end of the host waits for it.
struct Leaving<'a> {
    host: &'a Arc<Shared>,
    client: ClientHandle,
    exit: Option<Exit>,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.host.leave(self.client, self.exit.take());
        if std::thread::panicking() {
            // Nobody else would, and its time would have to run out first.
            let why =
                "the thread that looks after it panicked; see to the code of its sandbox, if it has any";
            self.host.act(|machine, now| machine.handle_not_opened(self.client, why, now));
        }
    }
}

impl Shared {
    /// Waits until few enough connections of its server are being shut. False: not in time.
    fn wait_for_room(&self, client: ClientHandle, until: Instant) -> bool {
        let mut state = self.lock();
        loop {
            if state.desk.has_room(client) {
                return true;
            }
            let left = until.saturating_since(self.clock.now());
            if left.is_zero() {
                return false;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn leave(&self, client: ClientHandle, exit: Option<Exit>) {
        let mut state = self.lock();
        let Some(link) = state.desk.leave(client) else { return };
        if let Some(exit) = exit {
            state.ends.exited(client, link.server(), exit);
        }
        self.changed.notify_all();
        drop(state);
        // What is left of it may take its time.
        drop(link);
    }
}
