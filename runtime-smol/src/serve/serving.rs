//! How a server meets its clients, and how that ends.

use std::fmt;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_io::Async;
use futures_lite::{AsyncRead, AsyncWrite};
use sanswire_system::os::StdioEnds;
use sanswire_system::serve::ServeError;

use crate::serve::connection::Connection;
use crate::serve::http;
use crate::serve::hub::{Hub, NEWS, Signals};
use crate::serve::listening::{Listener, Listening};
use crate::serve::places::Places;
use crate::serve::server::{Inner, Server};
use crate::signals::Fire as _;
use crate::wire::Wire;

const MAX_HANDLERS: usize = 64;
const MAX_CONNECTIONS: usize = 10_000;
/// Connections that are over and not forgotten.
const SWEEP: usize = 16;

/// What a server is at.
pub(crate) struct Serving {
    max_handlers: AtomicUsize,
    max_connections: AtomicUsize,
    at: Mutex<At>,
}

#[derive(Default)]
struct At {
    hubs: Vec<Weak<Hub>>,
    /// So many of them are over. As soon as they are the most, they are forgotten.
    over: usize,
    listeners: Vec<Weak<Signals>>,
    /// Over HTTP.
    sites: Vec<Weak<http::Hub>>,
    /// The server was stopped, and serves nobody who comes later either.
    stop: Option<Stop>,
}

/// How a server is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// What is open may finish.
    Drain,
    /// What is open is cancelled.
    Now,
}

impl Default for Serving {
    fn default() -> Self {
        Self {
            max_handlers: AtomicUsize::new(MAX_HANDLERS),
            max_connections: AtomicUsize::new(MAX_CONNECTIONS),
            at: Mutex::default(),
        }
    }
}

impl Server {
    /// How many handlers may run at once, over one stream or for one listener: 64 unless set, at least 1. For what is
    /// served from now on. Further requests wait; cancels, pings and listings do not. Those of one connection wait as long as
    /// they hold less than [`max_queued_event_bytes`](sanswire::limits::Limits::max_queued_event_bytes); what comes then is
    /// refused (-32603). No connection of a listener gets more than half of them, and the one that has waited longest is next.
    /// Over HTTP those that nobody waits for any more give way (see [`Call::cancelled`](crate::Call::cancelled)).
    pub fn set_max_handlers(&self, handlers: usize) {
        self.inner().serving.max_handlers.store(handlers.max(1), Ordering::Relaxed);
    }

    /// How many connections a listener may have open: 10,000 unless set. For what is served from now on. Whoever
    /// comes when there are so many is sent away: the connection is closed, over HTTP behind a 503. There, one that rests
    /// makes room first (see [`yields_after`](crate::HttpOptions::yields_after)).
    pub fn set_max_connections(&self, connections: usize) {
        self.inner().serving.max_connections.store(connections, Ordering::Relaxed);
    }

    /// Serves one client over standard input and output, which meanwhile belong to the connection: what else is printed goes
    /// to standard error, and what else is read is empty. Afterwards, or when the future is dropped, both are as they were.
    /// Neither is ever set non-blocking, for they may be shared with others. Ends when the client has ended its output and its
    /// requests are answered, or cannot be answered any more, or when a [`Stopper`] says so.
    ///
    /// What was read from [`std::io::stdin`] before, and waits in its buffer, is not served. Handlers that go on though their
    /// requests are over are waited for half a second, and dropped then.
    ///
    /// # Errors
    /// [`ServeError`] says what was missing; somebody serves them already, for one. How a client behaves is no error.
    pub async fn serve_stdio(&self) -> Result<(), ServeError> {
        // Kept until all else is over: what a handler prints in the end must not reach the client either.
        let ends = Arc::new(StdioEnds::take().map_err(ServeError::System)?);
        let wire = Wire::stdio(Arc::clone(&ends)).map_err(ServeError::System)?;
        let served = self.serve_wire(wire).await;
        drop(ends);
        served
    }

    /// Serves all who connect, each line of a connection a message, in this one future. It ends when a [`Stopper`] says so
    /// and all connections are over. Meanwhile the listener does not block, for others who share it neither.
    ///
    /// To have many cores serve, accept yourself and spawn a [`serve_tcp_stream`](Self::serve_tcp_stream) for each
    /// connection.
    ///
    /// # Errors
    /// The listener failed, and all its connections are over.
    pub async fn serve_tcp(&self, listener: TcpListener) -> Result<(), ServeError> {
        let listener = Async::new(listener).map_err(ServeError::System)?;
        self.serve_listener(Listener::Tcp(listener)).await
    }

    /// As [`serve_tcp`](Self::serve_tcp), over a Unix socket. Its file is not removed in the end.
    ///
    /// # Errors
    /// As there.
    pub async fn serve_unix(&self, listener: UnixListener) -> Result<(), ServeError> {
        let listener = Async::new(listener).map_err(ServeError::System)?;
        self.serve_listener(Listener::Unix(listener)).await
    }

    async fn serve_listener(&self, listener: Listener) -> Result<(), ServeError> {
        let served = Listening::new(self.shared(), listener).await;
        self.flush_records().await;
        served.map_err(ServeError::System)
    }

    /// Serves one client over a TCP connection. Ends when the client has ended its output and its requests are answered, or
    /// cannot be answered any more, or when a [`Stopper`] says so. Dropping the future ends it at once.
    ///
    /// Handlers that go on though their requests are over are waited for half a second, and dropped then. For as long a
    /// client that was told of the end may go on sending, so that the system does not cut off what it has yet to read.
    ///
    /// # Errors
    /// [`ServeError`] says what was missing. How a client behaves is no error.
    pub async fn serve_tcp_stream(&self, stream: TcpStream) -> Result<(), ServeError> {
        let wire = Async::new(stream).and_then(Wire::tcp).map_err(ServeError::System)?;
        self.serve_wire(wire).await
    }

    /// As [`serve_tcp_stream`](Self::serve_tcp_stream), over a connection of a Unix socket.
    ///
    /// # Errors
    /// As there.
    pub async fn serve_unix_stream(&self, stream: UnixStream) -> Result<(), ServeError> {
        let wire = Async::new(stream).map(Wire::Unix).map_err(ServeError::System)?;
        self.serve_wire(wire).await
    }

    /// As [`serve_tcp_stream`](Self::serve_tcp_stream), over any stream of bytes.
    ///
    /// # Errors
    /// As there.
    pub async fn serve_stream<S>(&self, stream: S) -> Result<(), ServeError>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.serve_wire(Wire::Foreign(Box::new(stream))).await
    }

    async fn serve_wire(&self, wire: Wire) -> Result<(), ServeError> {
        let most = self.inner().serving.max_handlers();
        let connection = Connection::new(self.shared(), wire, (&Places::new(most), most));
        connection.map_err(ServeError::Config)?.await;
        self.flush_records().await;
        Ok(())
    }

    /// What ends this server's connections from another task or thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper { inner: Arc::clone(self.shared()) }
    }
}

/// Ends a server's connections from another task or thread, or from what watches for signals: the library itself installs
/// no signal handler.
#[derive(Clone)]
pub struct Stopper {
    inner: Arc<Inner>,
}

impl fmt::Debug for Stopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stopper")
    }
}

impl Stopper {
    /// Takes nothing new; what is under way may finish within [`Limits::drain`](sanswire::limits::Limits::drain).
    /// The second time it is as [`stop_now`](Self::stop_now). A stopped server serves nobody later either.
    pub fn stop(&self) {
        self.inner.serving.stop(Stop::Drain);
    }

    /// Cancels what is under way and ends. Answers that are ready may leave within
    /// [`Limits::close_flush`](sanswire::limits::Limits::close_flush).
    pub fn stop_now(&self) {
        self.inner.serving.stop(Stop::Now);
    }
}

impl Serving {
    pub(super) fn max_handlers(&self) -> usize {
        self.max_handlers.load(Ordering::Relaxed)
    }

    pub(super) fn max_connections(&self) -> usize {
        self.max_connections.load(Ordering::Relaxed)
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.lock().stop.is_some()
    }

    /// A connection begins. Whatever ends this server ends it, even if that came before.
    pub(super) fn enter(&self, hub: &Arc<Hub>) {
        let stop = {
            let mut at = self.lock();
            at.hubs.push(Arc::downgrade(hub));
            at.stop
        };
        if let Some(how) = stop {
            hub.stop(how == Stop::Now);
        }
    }

    /// A connection is over.
    pub(super) fn leave(&self) {
        let mut at = self.lock();
        at.over += 1;
        if at.over > SWEEP.max(at.hubs.len() / 2) {
            at.hubs.retain(|hub| hub.strong_count() > 0);
            at.over = 0;
            let most = at.hubs.len() * 2;
            at.hubs.shrink_to(most);
        }
    }

    /// A site begins. Whatever ends this server ends it, even if that came before.
    pub(super) fn enter_site(&self, site: &Arc<http::Hub>) {
        let stop = {
            let mut at = self.lock();
            at.sites.retain(|site| site.strong_count() > 0);
            at.sites.push(Arc::downgrade(site));
            at.stop
        };
        if let Some(how) = stop {
            site.stop(how == Stop::Now);
        }
    }

    /// The sites that are open.
    pub(super) fn sites(&self) -> Vec<Arc<http::Hub>> {
        self.lock().sites.iter().filter_map(Weak::upgrade).collect()
    }

    /// A listener begins.
    pub(super) fn enter_listener(&self, signals: &Arc<Signals>) {
        let mut at = self.lock();
        at.listeners.retain(|listener| listener.strong_count() > 0);
        at.listeners.push(Arc::downgrade(signals));
    }

    fn stop(&self, how: Stop) {
        let (how, listeners) = {
            let mut at = self.lock();
            let how = if at.stop.is_some() { Stop::Now } else { how };
            at.stop = Some(how);
            (how, at.listeners.clone())
        };
        listeners.iter().filter_map(Weak::upgrade).for_each(|listener| listener.fire(NEWS));
        self.hubs().iter().for_each(|hub| hub.stop(how == Stop::Now));
        self.sites().iter().for_each(|site| site.stop(how == Stop::Now));
    }

    fn lock(&self) -> MutexGuard<'_, At> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connections that are open.
    pub(super) fn hubs(&self) -> Vec<Arc<Hub>> {
        self.lock().hubs.iter().filter_map(Weak::upgrade).collect()
    }
}
