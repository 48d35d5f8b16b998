//! Serving over HTTP.
//!
//! ```text
//!   a socket ─┐
//!   a socket ─┼─ http::Site ─▶ Jobs, as those of any other connection
//!   a socket ─┘
//! ```

mod ends;
mod site;

use std::net::TcpListener;

use sanswire_system::clock::Clock;
use sanswire_system::serve::{HttpOptions, ServeError};

use crate::os::Listener;
use crate::serve::driver::Driver;
use crate::serve::server::Server;
use site::Site;

impl Server {
    /// Serves all who come over HTTP, in both eras, on one path. Returns when a [`Stopper`](crate::Stopper) says so and
    /// what was open is over. Meanwhile the listener does not block, for others who share it neither.
    ///
    /// One thread at a time reads all connections; a stream that is open, such as one of a subscription, needs none. Calls
    /// run in the order in which they came, however many of them one client has. Ids of sessions cannot be guessed: they
    /// come of the system's random bytes.
    ///
    /// # Errors
    /// As [`serve_stdio`](Self::serve_stdio); the listener failed, and all its connections are over.
    pub fn serve_http(&self, listener: TcpListener, options: HttpOptions) -> Result<(), ServeError> {
        let from = Listener::tcp(listener).map_err(ServeError::System)?;
        self.inner.serve(|| {
            let clock = Clock::start();
            let site = Site::open(&self.inner, options, clock.now())?;
            Driver::listen(&self.inner, from, clock, Box::new(site))
        })
    }

    /// The most bytes that [`serve_http`](Self::serve_http) ever holds with these options, whatever its clients do. The
    /// catalog, what handlers hold and the system's own buffers are aside.
    ///
    /// | what | how much |
    /// |---|---|
    /// | each connection: a head and what is read beside it, an event of it, a block that is written, what waits and is not counted yet | 4 × `connection.max_head_bytes` + 1.3 MiB, at most [`set_max_connections`](Self::set_max_connections) times |
    /// | all that waits to be written, bodies that are read, sessions, requests | [`EndpointConfig::worst_case_bytes`](sanswire::http::endpoint::EndpointConfig::worst_case_bytes) |
    /// | requests that wait for a thread | [`max_queued_event_bytes`](sanswire::limits::Limits::max_queued_event_bytes), and one message over, in buffers twice as long |
    ///
    /// A connection that rests holds nothing of that, and one that streams an answer holds what waits of it.
    #[must_use]
    pub fn worst_case_http_bytes(&self, options: &HttpOptions) -> usize {
        let max_connections = self.inner.serving.max_connections();
        options.worst_case_bytes(self.inner.offered.config(), max_connections)
    }
}
