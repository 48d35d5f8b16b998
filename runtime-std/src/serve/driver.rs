//! Reads, writes, waits: moves the bytes of a server's connections and hands requests to its application.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sanswire::error::{ApiError, ConfigError};
use sanswire::jsonrpc::ErrorObject;
use sanswire::mcp::codes;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::{
    Event, LineConnection, ListKind, Notice, PeerOutcome, PeerRequestHandle, Reply, RequestHandle,
};
use sanswire::{Instant, Machine};

use crate::clock::Clock;
use crate::serve::call::{Call, Cancel, Job};
use crate::serve::server::Inner;

/// One connection at work.
pub(crate) struct Driver {
    server: Arc<Inner>,
    clock: Clock,
    state: Mutex<State>,
}

struct State {
    machine: LineConnection,
    open: BTreeMap<RequestHandle, Arc<Cancel>>,
    asked: BTreeMap<PeerRequestHandle, Sender<PeerOutcome>>,
    closed: bool,
}

impl Driver {
    pub(crate) fn new(server: Arc<Inner>) -> Result<Self, ConfigError> {
        let clock = Clock::start();
        let machine = server.connection(clock.now())?;
        let state = State { machine, open: BTreeMap::new(), asked: BTreeMap::new(), closed: false };
        Ok(Self { server, clock, state: Mutex::new(state) })
    }

    pub(crate) const fn server(&self) -> &Arc<Inner> {
        &self.server
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Serves standard input and output until the input ends.
    pub(crate) fn run_stdio(self: &Arc<Self>) -> io::Result<()> {
        let mut input = io::stdin().lock();
        let mut block = vec![0; 16 * 1024];
        loop {
            let n = match input.read(&mut block) {
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let mut rest = block.get(..n).unwrap_or_default();
            while !rest.is_empty() {
                let mut state = self.lock();
                let taken = state.machine.handle_input(rest, self.now());
                rest = rest.get(taken..).unwrap_or_default();
                self.deliver(&mut state);
                state.machine.handle_timeout(self.now());
                self.flush(&mut state);
            }
            if n == 0 {
                break;
            }
        }
        let mut state = self.lock();
        state.machine.handle_eof(self.now());
        self.deliver(&mut state);
        while !state.closed {
            drop(state);
            std::thread::sleep(std::time::Duration::from_millis(2));
            state = self.lock();
            state.machine.handle_timeout(self.now());
            self.deliver(&mut state);
        }
        Ok(())
    }

    fn deliver(self: &Arc<Self>, state: &mut State) {
        loop {
            self.flush(state);
            let Some(event) = state.machine.poll_event() else { return };
            match event {
                Event::Request { request, method, params, context } => {
                    let cancel = Arc::new(Cancel::default());
                    state.open.insert(request, Arc::clone(&cancel));
                    let job = Job { request, method, params, context, cancel };
                    let driver = Arc::clone(self);
                    std::thread::spawn(move || driver.work(&job));
                }
                Event::Cancelled { request, .. } => {
                    if let Some(cancel) = state.open.remove(&request) {
                        cancel.set();
                    }
                }
                Event::Answered { peer, outcome } => {
                    if let Some(waiter) = state.asked.remove(&peer) {
                        drop(waiter.send(outcome));
                    }
                }
                Event::Closed(_) => state.closed = true,
                _ => {}
            }
        }
    }

    fn work(self: &Arc<Self>, job: &Job) {
        let call = Call::new(self, job);
        let reply = self.server.answer(&call);
        let mut state = self.lock();
        if state.open.remove(&job.request).is_some()
            && state.machine.respond(job.request, &reply, self.now()).is_err()
        {
            let reply = internal_error("the answer could not be sent");
            drop(state.machine.respond(job.request, &reply, self.now()));
        }
        self.deliver(&mut state);
    }

    /// Tells the client something about an open request. What finds no room is dropped.
    pub(crate) fn notify(&self, job: &Job, notice: &Notice) {
        let mut state = self.lock();
        drop(state.machine.notify(job.request, notice, self.now()));
        self.flush(&mut state);
    }

    /// Asks the client, in a session, and waits for what becomes of it.
    pub(crate) fn ask(&self, job: &Job, request: &InputRequest) -> Result<PeerOutcome, ApiError> {
        let (sender, answer) = channel();
        {
            let mut state = self.lock();
            let peer = state.machine.request_input(job.request, request, self.now())?;
            state.asked.insert(peer, sender);
            self.flush(&mut state);
        }
        Ok(answer.recv().unwrap_or(PeerOutcome::Lost))
    }

    /// A list of this server's changed.
    pub(crate) fn list_changed(&self, kind: ListKind) {
        let mut state = self.lock();
        state.machine.set_catalog(self.server.catalog());
        state.machine.list_changed(kind, self.now());
        self.flush(&mut state);
    }

    /// A resource changed.
    pub(crate) fn resource_updated(&self, uri: &str) {
        let mut state = self.lock();
        drop(state.machine.resource_updated(uri, self.now()));
        self.flush(&mut state);
    }

    /// Ends: nothing new is taken, what is open may finish.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        let drain = state.machine.session().config().limits.drain;
        state.machine.shutdown(drain, self.now());
        self.flush(&mut state);
    }

    fn flush(&self, state: &mut State) {
        let mut out = io::stdout().lock();
        while !state.machine.transmit().is_empty() {
            let wrote = out.write_all(state.machine.transmit()).and_then(|()| out.flush());
            match wrote {
                Ok(()) => {
                    let len = state.machine.transmit().len();
                    state.machine.handle_written(len, self.now());
                }
                Err(_) => state.machine.handle_write_closed(self.now()),
            }
        }
    }
}

fn internal_error(message: &str) -> Reply {
    Reply::Error(ErrorObject::new(codes::INTERNAL_ERROR, message))
}
