//! What looks after one connection: opens it, tells the host of it, makes the requests that no call waits for, and shuts it.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_lite::future::or;
use sanswire::client::{Event, Verdict};
use sanswire::host::desk::{self, Job, Todo};
use sanswire::host::link::loses_session;
use sanswire::host::{ClientHandle, RequestKey};
use sanswire_system::host::Way;
use sanswire_system::{ConnectError, Exit};

use super::launch;
use super::shared::Shared;
use crate::client::Client;
use crate::closer::Closer;
use crate::keeper::Keeper;
use crate::pending::Pending;

pub(super) async fn keep(host: Arc<Shared>, attempt: desk::Attempt<Closer>) {
    let desk::Attempt { client, server, start, until, closer } = attempt;
    let mut leaving = Leaving { host: &host, client, exit: None, over: false };
    let me = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
    if !host.lock().desk.arrive(client, me.clone()) {
        leaving.over = true;
        return;
    }
    let room =
        host.until(
            Some(until),
            |state, late| {
                if state.desk.has_room(client) { Some(true) } else { late.then_some(false) }
            },
        );
    if !room.await {
        leaving.fail("too many of its earlier processes have not ended yet; end them by hand");
        return;
    }
    let Some(launch) = host.launches.get(&server) else { return };
    let mut options = launch.options_for(start, (host.clock.now(), until), host.shutdown_total);
    options.closer = Some(closer.clone());
    options.watch.get_or_insert_with(|| host.watch.clone());
    match host.wanted(client, &closer, launch.way(), launch::open(launch.way(), options)).await {
        Some(Ok(connection)) => {
            host.lock().ends.opened(&server);
            Keeping { host: &host, client, connection: &connection, told: None, open: Vec::new() }
                .run(&me)
                .await;
            // Calls cannot be made any more.
            let detached = host.lock().desk.detach(client);
            drop(detached);
            let failed = host.lock().desk.has_failed(client);
            if failed {
                closer.closing().begin_kill();
            }
            leaving.exit = Some(connection.close().await);
        }
        Some(Err(error)) => {
            let why = error.to_string();
            if let ConnectError::Closed { exit: Some(exit), .. } = &error {
                leaving.exit = Some(Exit::clone(exit));
            }
            host.lock().ends.not_opened(server, error);
            leaving.fail(&why);
        }
        None => {}
    }
    leaving.over = true;
}

impl Shared {
    /// Opens a connection, unless it is not wanted any more before there is anything that would have to be ended.
    async fn wanted(
        &self,
        client: ClientHandle,
        closer: &Closer,
        way: &Way,
        opening: impl Future<Output = Result<Client, ConnectError>>,
    ) -> Option<Result<Client, ConnectError>> {
        let opened = async { Some(opening.await) };
        if matches!(way, Way::Process(_)) {
            // There may be a process at any time, and its end is waited for.
            return opened.await;
        }
        let shut = async {
            self.until(None, |state, _| {
                let given_up = state.desk.is_shut(client) && !closer.closing().has_begun();
                given_up.then_some(None)
            })
            .await
        };
        or(opened, shut).await
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
    async fn run(mut self, me: &Waker) {
        self.connection.shared().lock().keeper = Some(Keeper::new(me.clone()));
        self.host.lock().desk.attach(self.client, self.connection.clone());
        self.tell_verdict();
        self.tell(Event::Ready(Box::new(self.connection.peer().clone())));
        poll_fn(|cx| self.poll(cx)).await;
    }

    /// Whoever has something for this leaves it first, and wakes it then.
    fn poll(&mut self, _: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.tell_news() {
                return Poll::Ready(());
            }
            let todo = self.host.lock().desk.todo(self.client);
            match todo {
                Todo::Request(job) => self.make(job),
                Todo::Drop(key) => self.open.retain(|(open, _)| *open != key),
                Todo::Leave => return Poll::Ready(()),
                Todo::Nothing => return Poll::Pending,
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
        let renewed =
            self.connection.shared().lock().keeper.as_mut().and_then(|keeper| keeper.renewed.take());
        if let Some(peer) = renewed {
            self.tell(Event::Renewed(peer));
        }
        while let Some(notice) = self.connection.try_next_notification() {
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

    /// What is out is another: this is woken when one of these ends.
    fn watch_open(&self) {
        if let Some(keeper) = &mut self.connection.shared().lock().keeper {
            keeper.open.clear();
            keeper.open.extend(self.open.iter().map(|(_, pending)| pending.handle()));
        }
    }
}

/// Tells that a connection is gone, however that came: the end of the host waits for it.
struct Leaving<'a> {
    host: &'a Arc<Shared>,
    client: ClientHandle,
    exit: Option<Exit>,
    over: bool,
}

impl Leaving<'_> {
    fn fail(&mut self, why: &str) {
        self.over = true;
        self.host.act(|machine, now| machine.handle_not_opened(self.client, why, now));
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.host.leave(self.client, self.exit.take());
        if !self.over {
            // Nobody else would, and its time would have to run out first.
            self.fail(
                "what looks after it failed; see to the code of its tap or its responder, if it has any",
            );
        }
    }
}

impl Shared {
    fn leave(&self, client: ClientHandle, exit: Option<Exit>) {
        let mut state = self.lock();
        let keeper = state.keepers.remove(&client);
        let link = state.desk.leave(client);
        if let (Some(link), Some(exit)) = (&link, exit) {
            state.ends.exited(client, link.server(), exit);
        }
        let wakes: Vec<_> = state.waiting.wake_all().collect();
        drop(state);
        // What is left of it may be anybody's.
        drop((keeper, link));
        wakes.into_iter().for_each(Waker::wake);
    }
}
