//! How a server meets its clients, and how that ends.

use std::fmt;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sanswire_system::serve::ServeError;

use crate::os::{Conn, Listener};
#[cfg(all(unix, not(sanswire_plain)))]
use crate::os::{UnixListener, UnixStream};
use crate::serve::driver::{Driver, Stop};
use crate::serve::server::{Inner, Server};

const MAX_THREADS: usize = 64;
const MAX_CONNECTIONS: usize = 10_000;

/// What a server is at.
pub(crate) struct Serving {
    max_threads: AtomicUsize,
    max_connections: AtomicUsize,
    drivers: Mutex<Drivers>,
}

#[derive(Default)]
struct Drivers {
    drivers: Vec<Weak<Driver>>,
    /// The server was stopped, and serves nobody who comes later either.
    stop: Option<Stop>,
}

impl Default for Serving {
    fn default() -> Self {
        Self {
            max_threads: AtomicUsize::new(MAX_THREADS),
            max_connections: AtomicUsize::new(MAX_CONNECTIONS),
            drivers: Mutex::default(),
        }
    }
}

impl Server {
    /// How many handlers may run at once, over standard input and output or for one listener: 64 unless set, at
    /// least 1. For what is served from now on. Further requests wait; cancels, pings and listings do not. Those of one
    /// connection wait as long as they hold less than
    /// [`max_queued_event_bytes`](sanswire::limits::Limits::max_queued_event_bytes); what comes then is refused (-32603). No
    /// connection of a listener gets more than half of the threads.
    ///
    /// A handler that takes less than a millisecond runs on the thread that read its request, so that as many
    /// threads are started as there are handlers that take longer at the same time.
    pub fn set_max_threads(&self, threads: usize) {
        self.inner.serving.max_threads.store(threads.max(1), Ordering::Relaxed);
    }

    /// How many connections a listener may have open: 10,000 unless set. For what is served from now on. Whoever
    /// comes when there are so many is sent away: the connection is closed, over HTTP behind a 503. There, one that rests
    /// makes room first (see [`yields_after`](crate::HttpOptions::yields_after)).
    pub fn set_max_connections(&self, connections: usize) {
        self.inner.serving.max_connections.store(connections, Ordering::Relaxed);
    }

    /// Serves one client over standard input and output. Returns when the client has ended its output and its
    /// requests are answered, or cannot be answered any more, or when a [`Stopper`] says so.
    ///
    /// Meanwhile both belong to the connection alone: what else this process prints goes to standard error, and
    /// what else it reads from standard input, children included, is empty.
    ///
    /// Handlers that go on though their requests are over are waited for half a second, and left behind then.
    ///
    /// # Errors
    /// [`ServeError`] says what was missing. How a client behaves is no error.
    pub fn serve_stdio(&self) -> Result<(), ServeError> {
        self.inner.serve(|| Driver::stdio(&self.inner))
    }

    /// Serves all who connect, each line of a connection a message. Returns when a [`Stopper`] says so and all
    /// connections are over. Meanwhile the listener does not block, for others who share it neither.
    ///
    /// # Errors
    /// As [`serve_stdio`](Self::serve_stdio); the listener failed, and all its connections are over.
    pub fn serve_tcp(&self, listener: TcpListener) -> Result<(), ServeError> {
        let from = Listener::tcp(listener).map_err(ServeError::System)?;
        self.inner.serve(|| Driver::listener(&self.inner, from))
    }

    /// As [`serve_tcp`](Self::serve_tcp), over a Unix socket. Its file is not removed in the end.
    ///
    /// # Errors
    /// As there.
    #[cfg(all(unix, not(sanswire_plain)))]
    pub fn serve_unix(&self, listener: UnixListener) -> Result<(), ServeError> {
        let from = Listener::unix(listener).map_err(ServeError::System)?;
        self.inner.serve(|| Driver::listener(&self.inner, from))
    }

    /// Serves one client over a TCP connection. Returns as [`serve_stdio`](Self::serve_stdio).
    ///
    /// # Errors
    /// As there.
    pub fn serve_tcp_stream(&self, stream: TcpStream) -> Result<(), ServeError> {
        let from = Conn::tcp(stream).map_err(ServeError::System)?;
        self.inner.serve(|| Driver::socket(&self.inner, from))
    }

    /// Serves one client over a connection of a Unix socket. Returns as [`serve_stdio`](Self::serve_stdio).
    ///
    /// # Errors
    /// As there.
    #[cfg(all(unix, not(sanswire_plain)))]
    pub fn serve_unix_stream(&self, stream: UnixStream) -> Result<(), ServeError> {
        let from = Conn::unix(stream).map_err(ServeError::System)?;
        self.inner.serve(|| Driver::socket(&self.inner, from))
    }

    /// What ends this server's connections from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper { inner: Arc::clone(&self.inner) }
    }
}

/// Ends a server's connections from another thread, or from what watches for signals: the library itself installs no
/// signal handler, so a server that is to end in good order on SIGTERM calls [`stop`](Self::stop) when it comes.
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

impl Inner {
    pub(super) fn serve(&self, serve: impl FnOnce() -> Result<(), ServeError>) -> Result<(), ServeError> {
        let served = serve();
        self.offered.governor.flush();
        served
    }
}

impl Serving {
    pub(crate) fn max_threads(&self) -> usize {
        self.max_threads.load(Ordering::Relaxed)
    }

    pub(crate) fn max_connections(&self) -> usize {
        self.max_connections.load(Ordering::Relaxed)
    }

    /// A driver begins. Whatever ends this server ends it, even if that came before.
    pub(crate) fn enter(&self, driver: &Arc<Driver>) {
        let stop = {
            let mut serving = self.lock();
            // Or one that serves a connection at a time would keep something of each.
            serving.drivers.retain(|driver| driver.strong_count() > 0);
            serving.drivers.push(Arc::downgrade(driver));
            serving.stop
        };
        if let Some(how) = stop {
            driver.stop(how);
        }
    }

    fn stop(&self, how: Stop) {
        let how = {
            let mut serving = self.lock();
            let how = if serving.stop.is_some() { Stop::Now } else { how };
            serving.stop = Some(how);
            how
        };
        self.drivers().iter().for_each(|driver| driver.stop(how));
    }

    fn lock(&self) -> MutexGuard<'_, Drivers> {
        self.drivers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those at work.
    pub(crate) fn drivers(&self) -> Vec<Arc<Driver>> {
        let mut serving = self.lock();
        serving.drivers.retain(|driver| driver.strong_count() > 0);
        serving.drivers.iter().filter_map(Weak::upgrade).collect()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use crate::Server;

    #[test]
    fn connections_that_are_over_are_forgotten() {
        let server = Server::builder("s", "1").build().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        for _ in 0..10 {
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, _) = listener.accept().unwrap();
            drop(client);
            server.serve_tcp_stream(stream).unwrap();
        }
        assert_eq!(server.inner.serving.lock().drivers.len(), 1);
    }
}
