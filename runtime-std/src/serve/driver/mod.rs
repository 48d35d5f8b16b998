//! Reads, writes, waits: moves the bytes of a server's connections and hands requests to its application.
//!
//! One machine a connection, all behind one lock, held for machine calls and for reads and writes that cannot
//! block, never while waiting and never while a handler runs.
//!
//! - **The lead.** One thread waits for input: the one that has the lead. It reads, runs the handlers of what it read
//!   one after another, and writes all their answers at once. So a quick call costs no other thread.
//! - **The keeper** is the thread that serves, and runs no handler: it reads until the first request that needs one,
//!   and starts a *worker* to lead from there. Then it looks once a tick whether the leader is in the same handler
//!   as a tick before. If so it takes the lead: sends the answers that are ready, reads, and gives the lead to
//!   another worker as soon as there is a request to run. When all workers that may be are at work, the keeper goes
//!   on reading and writing, so that cancels and pings still get through, and requests wait. While nothing is
//!   called it sleeps.
//! - **A worker** whose handler took so long that it lost the lead answers, writes, and runs what waits; with nothing
//!   there it waits to be given the lead, or ends if enough of them do.
//!
//! Whoever does not lead and leaves something for the leader to do (bytes in a full pipe, an earlier deadline, a
//! request) ends its wait: see [`Driver::unlock`].

mod connection;
pub(in crate::serve) mod hub;
mod keeper;
mod lead;
mod listen;
mod table;
mod traffic;
mod worker;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, Thread};

use sanswire::Instant;
use sanswire::error::ApiError;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::{ListKind, Notice, PeerOutcome};
use sanswire_system::clock::Clock;
use sanswire_system::serve::ServeError;

use crate::os::{Conn, StdioEnds};
use crate::serve::call::Job;
use crate::serve::server::Inner;
use connection::Connection;
use hub::{Ends, Hub};
use listen::Listening;
use table::{Connections, Table};
pub(in crate::serve) use traffic::Traffic;

/// Some connections at work: one over standard input and output, or all of a listener.
pub(crate) struct Driver {
    server: Arc<Inner>,
    clock: Clock,
    hub: Hub,
    state: Mutex<State>,
    /// Counts what handlers the leader begins and ends: odd while one runs. Changed under the lock.
    beat: AtomicU64,
    /// The keeper is to look at the state: the lead is its own, or all is over.
    summons: AtomicBool,
    /// A worker ended.
    left: Condvar,
    keeper: Thread,
    max_threads: usize,
}

struct State {
    traffic: Box<dyn Traffic>,
    listening: Option<Listening>,
    lead: Lead,
    /// The leader waits; until when at the latest.
    waits: Option<Option<Instant>>,
    keeper_sleeps: bool,
    /// How many workers there are.
    workers: usize,
    /// How many have been started.
    started: u64,
    /// Workers that wait to be given the lead.
    idle: Vec<(u64, Thread)>,
    threads: Vec<(u64, JoinHandle<()>)>,
    /// Workers that are at their very end.
    ended: Vec<u64>,
    /// The system gave no thread when one was asked for last; not to be asked again before then.
    no_thread_until: Option<Instant>,
    /// Why the listener accepts nobody any more.
    failed: Option<io::Error>,
    /// Nothing is left to serve.
    over: bool,
    /// Threads to wake as soon as the lock is free.
    wakes: Vec<Thread>,
}

type Locked<'a> = MutexGuard<'a, State>;

/// Who waits for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lead {
    Keeper,
    Worker(u64),
}

/// How a server is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stop {
    /// What is open may finish.
    Drain,
    /// What is open is cancelled.
    Now,
}

impl Driver {
    /// A driver that is kept by this thread.
    fn new(server: &Arc<Inner>, hub: Hub, clock: Clock, traffic: Box<dyn Traffic>) -> Arc<Self> {
        let state = State {
            traffic,
            listening: None,
            lead: Lead::Keeper,
            waits: None,
            keeper_sleeps: false,
            workers: 0,
            started: 0,
            idle: Vec::new(),
            threads: Vec::new(),
            ended: Vec::new(),
            no_thread_until: None,
            failed: None,
            over: false,
            wakes: Vec::new(),
        };
        Arc::new(Self {
            server: Arc::clone(server),
            clock,
            hub,
            state: Mutex::new(state),
            beat: AtomicU64::new(0),
            summons: AtomicBool::new(false),
            left: Condvar::new(),
            keeper: std::thread::current(),
            max_threads: server.serving.max_threads(),
        })
    }

    /// Serves standard input and output until the connection is over.
    pub(crate) fn stdio(server: &Arc<Inner>) -> Result<(), ServeError> {
        let ends = Arc::new(StdioEnds::take().map_err(system)?);
        let hub = Hub::stdio(Arc::clone(&ends)).map_err(system)?;
        Self::one(server, hub, Ends::Stdio(Arc::clone(&ends)))?.keep();
        // A handler that was left behind holds the driver, and that holds them.
        ends.leave();
        Ok(())
    }

    /// Serves one socket until the connection is over.
    pub(crate) fn socket(server: &Arc<Inner>, conn: Conn) -> Result<(), ServeError> {
        Self::one(server, Hub::sockets().map_err(system)?, Ends::Socket(conn))?.keep();
        Ok(())
    }

    /// A driver of one connection.
    fn one(server: &Arc<Inner>, hub: Hub, ends: Ends) -> Result<Arc<Self>, ServeError> {
        let clock = Clock::start();
        let machine = server.offered.connection(clock.now()).map_err(ServeError::Config)?;
        let mut table = Table::new(server, Connections::One);
        table.add(&hub, Connection::new(machine, ends)).map_err(system)?;
        Ok(Self::new(server, hub, clock, Box::new(table)))
    }

    pub(crate) const fn server(&self) -> &Arc<Inner> {
        &self.server
    }

    /// A thread that panicked while it held the lock left a machine between two of its calls at worst.
    fn lock(&self) -> Locked<'_> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of the lock, after a look at whether the leader has to know of what changed; then wakes whom there
    /// is something for: a thread that is woken earlier would run into the lock.
    fn unlock(&self, mut state: Locked<'_>) {
        if let Some(until) = state.waits
            && self.concerns_leader(&state, until)
        {
            // Once is enough.
            state.waits = None;
            self.hub.wake();
        }
        Self::release(state);
    }

    fn release(mut state: Locked<'_>) {
        if state.wakes.is_empty() {
            return;
        }
        let wakes = std::mem::take(&mut state.wakes);
        drop(state);
        wakes.iter().for_each(Thread::unpark);
    }

    /// Whether there is something that ends the leader's wait.
    fn concerns_leader(&self, state: &State, until: Option<Instant>) -> bool {
        let earlier = match (state.traffic.deadline(), until) {
            (Some(at), Some(until)) => at < until,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let may_run = state.traffic.has_ready() && (state.lead != Lead::Keeper || self.may_appoint(state));
        state.over || earlier || may_run || self.hub.is_outdated()
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    /// After anything that may have ended a connection.
    fn see_end(&self, state: &mut State) {
        if state.over || state.traffic.len() > 0 || state.listening.is_some() {
            return;
        }
        state.over = true;
        let idle = std::mem::take(&mut state.idle);
        state.wakes.extend(idle.into_iter().map(|(_, thread)| thread));
        self.summon(state);
    }

    /// Has the keeper look at the state.
    fn summon(&self, state: &mut State) {
        state.keeper_sleeps = false;
        self.summons.store(true, Ordering::Relaxed);
        state.wakes.push(self.keeper.clone());
    }

    /// After something was put into machines: writes, and hands out what came of it.
    fn tend(&self, state: &mut State, now: Instant) {
        state.traffic.tend(&self.hub, now);
        self.see_end(state);
    }

    /// Tells the client something about an open request. What finds no room is dropped.
    pub(crate) fn notify(&self, job: &Job, notice: &Notice) {
        let now = self.now();
        let mut state = self.lock();
        state.traffic.notify(job, notice, now);
        self.tend(&mut state, now);
        self.unlock(state);
    }

    /// Closes the stream of a request.
    pub(crate) fn close_stream(&self, job: &Job) -> bool {
        let now = self.now();
        let mut state = self.lock();
        let closed = state.traffic.close_stream(job, now);
        self.tend(&mut state, now);
        self.unlock(state);
        closed
    }

    /// Asks the client, in a session, and waits for what becomes of it.
    ///
    /// # Errors
    /// As [`request_input`](sanswire::server::Session::request_input): nothing was asked.
    pub(crate) fn ask(&self, job: &Job, request: &InputRequest) -> Result<PeerOutcome, ApiError> {
        let (sender, answer) = channel();
        let now = self.now();
        let mut state = self.lock();
        state.traffic.ask(job, request, sender, now)?;
        self.tend(&mut state, now);
        self.unlock(state);
        // The machine tells how each question ends; the sender goes with the connection.
        let outcome = if self.is_keeper() { self.read_until(&answer) } else { answer.recv().ok() };
        Ok(outcome.unwrap_or(PeerOutcome::Lost))
    }

    /// A list of this server's changed.
    pub(crate) fn list_changed(&self, kind: ListKind) {
        self.change(|traffic, now| {
            // Looked at under the lock: of two changes at once, none puts back what was there before the other.
            traffic.set_catalog(self.server.offered.catalog());
            traffic.list_changed(kind, now);
        });
    }

    /// A resource changed. Clients for whom there is no room hear of the next change.
    pub(crate) fn resource_updated(&self, uri: &str) {
        self.change(|traffic, now| traffic.resource_updated(uri, now));
    }

    /// Ends: nothing new is taken.
    pub(crate) fn stop(&self, how: Stop) {
        self.stop_accepting(&mut self.lock(), None);
        self.change(|traffic, now| traffic.stop(how, now));
    }

    fn change(&self, change: impl Fn(&mut dyn Traffic, Instant)) {
        let now = self.now();
        let mut state = self.lock();
        change(&mut *state.traffic, now);
        self.tend(&mut state, now);
        self.unlock(state);
    }
}

/// Any failure of the system that keeps from serving.
fn system(error: io::Error) -> ServeError {
    ServeError::System(error)
}
