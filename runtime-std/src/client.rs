//! The client: calls that block.

use std::net::ToSocketAddrs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::listing::{Listed, Step};
use sanswire::client::{
    InputAnswers, InputRequired, Listing, Outcome, Peer, Progress, RequestHandle, RequestOptions, Stats,
    Verdict,
};
use sanswire::error::{ApiError, CloseReason, Violation};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;

use crate::command::Command;
use crate::connect;
use crate::error::ConnectError;
use crate::exit::Exit;
use crate::lead::Waited;
use crate::notices::Notification;
use crate::options::{ConnectOptions, StderrMode};
use crate::pending::{Cork, Pending};
use crate::shared::{Locked, Shared};

/// How long a tap may take to tell the last messages of a connection.
pub(crate) const TAP_PATIENCE: Duration = Duration::from_secs(1);
/// How long to wait before a server that only wants to be asked again is asked again; doubles with the rounds.
const ASK_AGAIN: Duration = Duration::from_millis(50);
const ASK_AGAIN_MOST: Duration = Duration::from_secs(2);

/// A connection to one server. Clones share it; any number of threads may use it at once.
///
/// A call blocks its own thread and nobody else's. The thread that waits does the reading, for all; a thread of
/// the client's own does it while nobody calls. When the last clone goes, the connection is closed as by
/// [`close`](Self::close), which may take as long as the stop ladder allows.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    peer: Peer,
    started_in: Duration,
    watcher: Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.inner.peer.server)
            .field("revision", &self.inner.peer.revision)
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Starts a server and opens a session with it. Blocks until the session is ready.
    ///
    /// The server leads a process group of its own. On Linux the kernel kills it when this process ends in
    /// whatever way.
    ///
    /// # Errors
    /// [`ConnectError`] says what happened. A server that was started has ended when this returns.
    pub fn connect(command: &Command, options: ConnectOptions) -> Result<Self, ConnectError> {
        connect::process(command, &options)
    }

    /// Connects to a server that listens on a TCP port, one message a line.
    ///
    /// # Errors
    /// [`ConnectError`] says what happened.
    pub fn connect_tcp(address: impl ToSocketAddrs, options: ConnectOptions) -> Result<Self, ConnectError> {
        connect::tcp(address, &options)
    }

    /// Connects to a server that listens on a Unix socket, one message a line.
    ///
    /// # Errors
    /// [`ConnectError`] says what happened.
    pub fn connect_unix(path: impl AsRef<Path>, options: ConnectOptions) -> Result<Self, ConnectError> {
        connect::unix(path.as_ref(), &options)
    }

    pub(crate) fn new(
        shared: Arc<Shared>,
        peer: Peer,
        started_in: Duration,
        watcher: JoinHandle<()>,
    ) -> Self {
        Self { inner: Arc::new(Inner { shared, peer, started_in, watcher: Mutex::new(Some(watcher)) }) }
    }

    fn shared(&self) -> &Shared {
        &self.inner.shared
    }

    /// The server, as it introduced itself.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.inner.peer
    }

    /// What the next start should remember of the server's era.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.shared().lock().verdict.clone()
    }

    /// How long it took from the start until the session was ready.
    #[must_use]
    pub fn started_in(&self) -> Duration {
        self.inner.started_in
    }

    /// What was counted of the server's faults and left-overs.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared().lock().machine.session().stats().clone()
    }

    /// What the server did wrong: the first 32 faults. [`Stats::violations`] counts them all.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        self.shared().lock().violations.clone()
    }

    /// The last 64 KiB that the server wrote to stderr, control characters escaped. Empty unless
    /// [`StderrMode::Ring`] was chosen.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        let shared = self.shared();
        let mut state = shared.lock();
        if state.stderr_open && shared.stderr_mode == StderrMode::Ring {
            shared.read_stderr(&mut state);
        }
        state.ring.text()
    }

    /// Why the connection is over, if it is.
    #[must_use]
    pub fn is_closed(&self) -> Option<CloseReason> {
        self.shared().lock().closed.clone()
    }

    /// How the server's process ended, if it has.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.shared().lock().exit.clone()
    }

    /// The number of the server's process.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.shared().pid
    }

    /// Makes a request and waits for its end. Rounds of input are the caller's
    /// ([`resume`](Self::resume)); see [`complete`](Self::complete).
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn call(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
    ) -> Result<Outcome, ApiError> {
        self.request(None, |state, now| state.machine.request(method, params, options, now))
    }

    /// As [`call`](Self::call). Progress is reported on this thread; a slow callback delays this call only, and
    /// misses reports once 64 wait.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn call_with(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Result<Outcome, ApiError> {
        self.request(Some(on_progress), |state, now| state.machine.request(method, params, options, now))
    }

    /// Calls a tool. Rounds of input go to the responder, on this thread; without one the outcome is
    /// [`Outcome::InputRequired`].
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent (or no more, after a round of input).
    pub fn call_tool(
        &self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
    ) -> Result<Outcome, ApiError> {
        let first =
            self.request(None, |state, now| state.machine.call_tool(name, arguments, options, now))?;
        self.go_on(first, options, None)
    }

    /// As [`call_with`](Self::call_with), and rounds of input go to the responder, on this thread; without one
    /// the outcome is [`Outcome::InputRequired`]. If the responder refuses what cannot be refused otherwise, the
    /// call is given up: [`Outcome::Cancelled`].
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent (or no more, after a round of input).
    pub fn complete(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Result<Outcome, ApiError> {
        let first = self.call_with(method, params, options, on_progress)?;
        self.go_on(first, options, Some(on_progress))
    }

    fn go_on(
        &self,
        first: Outcome,
        options: &RequestOptions,
        mut on_progress: Option<&mut dyn FnMut(&Progress)>,
    ) -> Result<Outcome, ApiError> {
        let mut outcome = first;
        loop {
            let Outcome::InputRequired(input) = outcome else { return Ok(outcome) };
            let Some(responder) = &self.shared().responder else { return Ok(Outcome::InputRequired(input)) };
            if input.requests().is_empty() {
                let doubled = ASK_AGAIN.saturating_mul(1 << input.round().min(16));
                std::thread::sleep(doubled.min(ASK_AGAIN_MOST));
            }
            let answers = InputAnswers::collect(&input, |request| responder.respond(request));
            let next = self.request(
                on_progress.as_mut().map(|progress| &mut **progress as &mut dyn FnMut(&Progress)),
                |state, now| state.machine.resume(&input, &answers, options, now),
            );
            outcome = match next {
                Err(ApiError::BadParams(_)) => return Ok(Outcome::Cancelled),
                next => next?,
            };
        }
    }

    /// Goes on with a call that asked for input, and waits for its end.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent, and `from` can be used again.
    pub fn resume(
        &self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
    ) -> Result<Outcome, ApiError> {
        self.request(None, |state, now| state.machine.resume(from, answers, options, now))
    }

    /// Makes a request and does not wait. The request leaves at once, or with the [`Cork`] that is held.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn start(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
    ) -> Result<Pending, ApiError> {
        self.begin(|state, now| state.machine.request(method, params, options, now))
    }

    /// Calls a tool and does not wait; see [`start`](Self::start).
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn start_tool(
        &self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
    ) -> Result<Pending, ApiError> {
        self.begin(|state, now| state.machine.call_tool(name, arguments, options, now))
    }

    fn begin(
        &self,
        ask: impl FnOnce(&mut Locked<'_>, Instant) -> Result<RequestHandle, ApiError>,
    ) -> Result<Pending, ApiError> {
        let shared = self.shared();
        let mut state = shared.lock();
        let now = shared.clock.now();
        let request = ask(&mut state, now)?;
        state.calls.insert(request, false);
        if state.corks == 0 {
            shared.flush(&mut state, now);
            shared.kick(&mut state);
        }
        shared.unlock(state);
        Ok(Pending::new(Arc::clone(&self.inner.shared), request))
    }

    /// Holds back what [`start`](Self::start) and [`notify`](Self::notify) would write, so that many requests
    /// leave in one write: when the cork goes, or when any thread waits for a call. Hold it briefly: an answer to a
    /// ping waits for it too.
    pub fn cork(&self) -> Cork<'_> {
        Cork::new(self.shared())
    }

    /// A whole listing, page after page, under the caps of the limits. `method` is one of the four list methods.
    ///
    /// # Errors
    /// [`ApiError`] of the first page. What ends a later one stands in [`Listed::cut`].
    pub fn list(&self, method: Method, options: &RequestOptions) -> Result<Listed, ApiError> {
        let mut listing = Listing::new(method, &self.shared().lock().machine.session().config().limits);
        let (method, params) = listing.first();
        let mut outcome = self.call(method, params, options)?;
        loop {
            match listing.next(outcome) {
                Step::Done(listed) => return Ok(listed),
                Step::Request(method, params) => {
                    outcome = match self.call(method, params, options) {
                        Ok(outcome) => outcome,
                        Err(ApiError::Closed) => Outcome::Lost { maybe_ran: false },
                        Err(error) => return Err(error),
                    };
                }
            }
        }
    }

    /// Asks whether the server is there (revisions up to 2025-11-25).
    ///
    /// # Errors
    /// [`ApiError::WrongEra`] where the revision has no ping; else as [`call`](Self::call).
    pub fn ping(&self, options: &RequestOptions) -> Result<Outcome, ApiError> {
        self.call(Method::Ping, None, options)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn notify(&self, method: Method, params: Option<RawJson>) -> Result<(), ApiError> {
        let shared = self.shared();
        let mut state = shared.lock();
        let now = shared.clock.now();
        state.machine.notify(method, params, now)?;
        if state.corks == 0 {
            shared.flush(&mut state, now);
            shared.kick(&mut state);
        }
        shared.unlock(state);
        Ok(())
    }

    /// The next notification, oldest first; waits up to `timeout` for one. `None` at once when the connection is
    /// over. Up to 1024 wait (8 MiB); past that the oldest go.
    #[must_use]
    pub fn next_notification(&self, timeout: Duration) -> Option<Notification> {
        let shared = self.shared();
        let mut state = shared.lock();
        let until = shared.clock.later(timeout);
        loop {
            if let Some(notice) = state.notices.pop() {
                return Some(notice);
            }
            let left = until.saturating_since(shared.clock.now());
            if state.closed.is_some() || left.is_zero() {
                return None;
            }
            state.notices.readers += 1;
            state = shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.notices.readers -= 1;
        }
    }

    /// How many notifications were dropped because nobody took them in time.
    #[must_use]
    pub fn notifications_lost(&self) -> u64 {
        self.shared().lock().notices.lost()
    }

    /// Hands a big result that is no longer needed back, so that its memory is used for the next one. Does
    /// nothing if a view of it is held elsewhere.
    pub fn recycle(&self, result: RawJson) {
        self.shared().lock().machine.recycle(result);
    }

    /// Ends the connection: gives up what is open, lets what waits leave, closes the server's stdin, and stops
    /// it by the ladder of [`ConnectOptions::stop`]. Returns when the process is gone; bounded by
    /// [`Limits::close_flush`](sanswire::limits::Limits::close_flush) and
    /// [`StopLadder::total`](crate::StopLadder::total). A second call returns the same.
    pub fn close(&self) -> Exit {
        self.inner.close()
    }

    fn request(
        &self,
        progress: Option<&mut dyn FnMut(&Progress)>,
        ask: impl FnOnce(&mut Locked<'_>, Instant) -> Result<RequestHandle, ApiError>,
    ) -> Result<Outcome, ApiError> {
        let shared = self.shared();
        let mut open = Open { shared, request: None };
        let mut state = shared.lock();
        let now = shared.clock.now();
        let request = ask(&mut state, now)?;
        open.request = Some(request);
        if progress.is_none() {
            match shared.lead_call(state, request, now) {
                Ok(outcome) => {
                    open.request = None;
                    return Ok(outcome);
                }
                Err(locked) => state = locked,
            }
        }
        state.calls.insert(request, progress.is_some());
        match shared.wait_call(state, request, now, None, progress) {
            Waited::Finished(outcome) => {
                open.request = None;
                Ok(outcome)
            }
            // Without a patience of its own a wait ends with the call.
            Waited::NotYet => Ok(Outcome::Cancelled),
        }
    }
}

/// A call of this thread's that is given up if the thread unwinds.
struct Open<'a> {
    shared: &'a Shared,
    request: Option<RequestHandle>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request {
            self.shared.abandon(request, None);
        }
    }
}

impl Inner {
    fn close(&self) -> Exit {
        let shared = &*self.shared;
        let mut state = shared.lock();
        if state.closed.is_none() {
            let now = shared.clock.now();
            state.machine.close(now);
            shared.deliver(&mut state, now);
            shared.wake_leader(&mut state);
            shared.lead_until(state, |state| state.closed.is_some());
            state = shared.lock();
        }
        shared.wake_watcher(&mut state);
        shared.unlock(state);
        let mut state = shared.lock();
        let exit = loop {
            if let Some(exit) = &state.exit {
                break exit.clone();
            }
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        drop(state);
        let watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(watcher) = watcher {
            let _ = watcher.join();
            if let Some(tap) = &shared.tap {
                tap.finish(TAP_PATIENCE);
            }
        }
        exit
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}
