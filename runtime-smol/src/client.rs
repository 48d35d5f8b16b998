//! The client: calls that are awaited.

use std::fmt;
use std::future::Future;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_lite::{AsyncRead, AsyncWrite};
use sanswire::client::{Notification, Peer, Stats, Verdict};
use sanswire::error::{CloseReason, Violation};
use sanswire::http::client::Kind;
use sanswire::jsonrpc::RawJson;
use sanswire_system::closing::Closable as _;
use sanswire_system::{Command, ConnectError, Exit, HttpTarget};

use crate::connect::{self, Owned};
use crate::options::ConnectOptions;
use crate::shared::Shared;

/// A connection to one server. Clones share it; any number of tasks may use it at once, on any executors.
///
/// What waits for a call drives the connection, for all who wait; a [`Watch`](crate::Watch) does it while nobody waits. When
/// the last clone goes without [`close`](Self::close), nothing is waited for: what is open is cancelled, what does not leave
/// at once is dropped, and the server's process is stopped by the ladder of [`ConnectOptions::stop`] behind the back of
/// the program. A program that ends before that leaves the rest to the system: its servers have seen the end of their
/// stdin, and on Linux are killed.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    owned: Owned,
    peer: Peer,
    started_in: Duration,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.inner.peer.server)
            .field("revision", &self.inner.peer.revision)
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Starts a server and opens a session with it. Ready when the session is. Dropping the future ends the server that
    /// was started.
    ///
    /// The server leads a process group of its own. On Linux the kernel kills it when this process ends in
    /// whatever way.
    ///
    /// # Errors
    /// [`ConnectError`] says what happened. A server that was started has ended by then.
    pub fn connect(
        command: &Command,
        options: ConnectOptions,
    ) -> impl Future<Output = Result<Self, ConnectError>> + Send + use<> {
        connect::process(command.clone(), options)
    }

    /// Connects to a server that listens on a TCP port, one message a line. Names are looked up on a thread.
    ///
    /// # Errors
    /// [`ConnectError`] says what happened.
    pub async fn connect_tcp(
        address: impl ToSocketAddrs + Send + 'static,
        options: ConnectOptions,
    ) -> Result<Self, ConnectError> {
        connect::tcp(address, options).await
    }

    /// Connects to a server that listens on a Unix socket, one message a line.
    ///
    /// # Errors
    /// [`ConnectError`] says what happened.
    pub fn connect_unix<P: AsRef<Path>>(
        path: P,
        options: ConnectOptions,
    ) -> impl Future<Output = Result<Self, ConnectError>> + Send + use<P> {
        connect::unix(path.as_ref().into(), options)
    }

    /// Connects to a server at the other end of any stream, one message a line: what another program's transport gives, a
    /// pipe within this process. It is read and written under the lock of the connection, and so must not call it back.
    ///
    /// # Errors
    /// [`ConnectError`] says what happened.
    pub async fn connect_stream(
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        options: ConnectOptions,
    ) -> Result<Self, ConnectError> {
        connect::stream(Box::new(stream), options).await
    }

    /// Connects to a server over HTTP. Ready when the session is; dropping the future closes what was opened. Names are
    /// looked up, and files with certificates read, on threads of their own.
    ///
    /// # Errors
    /// [`ConnectError`] says what happened.
    pub fn connect_http(
        target: &HttpTarget,
        options: ConnectOptions,
    ) -> impl Future<Output = Result<Self, ConnectError>> + Send + use<> {
        connect::http(target.clone(), options)
    }

    pub(crate) fn new(owned: Owned, peer: Peer, started_in: Duration) -> Self {
        Self { inner: Arc::new(Inner { owned, peer, started_in }) }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.inner.owned.shared()
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

    /// Which of the two transports over HTTP is spoken. `None` for every other kind of connection.
    #[must_use]
    pub fn http_kind(&self) -> Option<Kind> {
        self.shared().lock().link.http_kind()
    }

    /// How long it took from the start until the session was ready.
    #[must_use]
    pub fn started_in(&self) -> Duration {
        self.inner.started_in
    }

    /// What was counted of the server's faults and left-overs.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared().lock().link.session().stats().clone()
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
        let mut state = self.shared().lock();
        self.shared().read_stderr(&mut state);
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

    /// Waits for the next notification, oldest first. `None` once the connection is over and all were taken. Up to
    /// 1024 wait (8 MiB); past that the oldest go. Dropping the future loses none.
    pub async fn next_notification(&self) -> Option<Notification> {
        self.shared()
            .until(|state| match state.notices.pop() {
                None if state.closed.is_none() => None,
                notice => Some(notice),
            })
            .await
    }

    /// The next notification, if there is one. Reads nothing.
    #[must_use]
    pub fn try_next_notification(&self) -> Option<Notification> {
        self.shared().lock().notices.pop()
    }

    /// How many notifications were dropped because nobody took them in time.
    #[must_use]
    pub fn notifications_lost(&self) -> u64 {
        self.shared().lock().notices.lost()
    }

    /// Hands a big result that is no longer needed back, so that its memory is used for the next one. Does
    /// nothing if a view of it is held elsewhere.
    pub fn recycle(&self, result: RawJson) {
        self.shared().lock().link.recycle(result);
    }

    /// Ends the connection: gives up what is open, lets what waits leave, closes the server's stdin, and stops
    /// it by the ladder of [`ConnectOptions::stop`]. Ready when the process is gone; bounded by
    /// [`Limits::close_flush`](sanswire::limits::Limits::close_flush) and
    /// [`StopLadder::total`](crate::StopLadder::total). A second call gives the same. Once it was polled the end takes its
    /// course, whether anybody waits for it or not.
    pub async fn close(&self) -> Exit {
        self.shared().close().await
    }

    /// Ends the connection at once: drops what is open and what waits to leave, and kills the server's process group.
    /// For a server of no use, one whose listing failed for example. Ready when the process is gone; bounded as
    /// [`close`](Self::close), and waits 5 s for the system at most.
    pub async fn kill(&self) -> Exit {
        self.shared().hurry(Instant::now());
        self.shared().cut_off();
        self.shared().close().await
    }
}
