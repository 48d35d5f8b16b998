//! The client: calls that block.

use std::net::ToSocketAddrs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sanswire::client::{Notification, Peer, Stats, Verdict};
use sanswire::error::{CloseReason, Violation};
use sanswire::http::client::Kind;
use sanswire::jsonrpc::RawJson;
use sanswire_system::closing::Closable as _;
use sanswire_system::{Command, ConnectError, Exit, HttpTarget};

use crate::connect;
use crate::options::ConnectOptions;
use crate::shared::Shared;

/// How long a tap may take to tell the last messages of a connection.
pub(crate) const TAP_PATIENCE: Duration = Duration::from_secs(1);

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

    /// Connects to a server that listens on a Unix socket, one message a line. What is no Unix is taken to
    /// have none: there it fails as [`Unsupported`](std::io::ErrorKind::Unsupported).
    ///
    /// # Errors
    /// [`ConnectError`] says what happened.
    pub fn connect_unix(path: impl AsRef<Path>, options: ConnectOptions) -> Result<Self, ConnectError> {
        connect::unix(path.as_ref(), &options)
    }

    /// Connects to a server over HTTP. Blocks until the session is ready.
    ///
    /// # Errors
    /// [`ConnectError`] says what happened.
    pub fn connect_http(target: &HttpTarget, options: ConnectOptions) -> Result<Self, ConnectError> {
        connect::http(target, &options)
    }

    pub(crate) fn new(
        shared: Arc<Shared>,
        peer: Peer,
        started_in: Duration,
        watcher: JoinHandle<()>,
    ) -> Self {
        Self { inner: Arc::new(Inner { shared, peer, started_in, watcher: Mutex::new(Some(watcher)) }) }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
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

    /// Which of the two ways a server that is reached over HTTP speaks, as far as that is known.
    #[must_use]
    pub fn http_kind(&self) -> Option<Kind> {
        self.shared().lock().machine.http_kind()
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
    /// [`StderrMode::Ring`](crate::StderrMode::Ring) or
    /// [`StderrMode::Log`](crate::StderrMode::Log) was chosen.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        let shared = self.shared();
        let mut state = shared.lock();
        if state.stderr_open {
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

    /// Why the server runs in no sandbox, though [`ConnectOptions::wrap`] was to provide one. Control characters are
    /// escaped. `None` unless [`ConnectOptions::allow_unwrapped`] let it start so.
    #[must_use]
    pub fn unwrapped(&self) -> Option<&str> {
        self.shared().unwrapped.as_deref()
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
            state.notice_readers += 1;
            state = shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.notice_readers -= 1;
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

    /// Ends the connection at once: drops what is open and what waits to leave, and kills the server's process group.
    /// For a server of no use, one whose listing failed for example. Returns when the process is gone; bounded as
    /// [`close`](Self::close), and waits 5 s for the system at most.
    pub fn kill(&self) -> Exit {
        self.shared().hurry(Instant::now());
        self.shared().cut_off();
        self.inner.close()
    }

    /// After the exit: waits for the threads behind it, for the tap no longer than `patience`.
    pub(crate) fn finish(&self, patience: Duration) {
        self.inner.finish(patience);
    }
}

impl Inner {
    fn close(&self) -> Exit {
        let exit = self.shared.close();
        self.finish(TAP_PATIENCE);
        exit
    }

    fn finish(&self, patience: Duration) {
        let watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(watcher) = watcher {
            let _ = watcher.join();
            if let Some(tap) = &self.shared.tap {
                tap.finish(patience.min(TAP_PATIENCE));
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}
