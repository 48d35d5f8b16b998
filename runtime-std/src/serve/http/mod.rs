//! Serving over HTTP.

use std::net::TcpListener;
use std::time::Duration;

use sanswire::http::endpoint::{Names, Token};
use sanswire::http::h1;

use crate::serve::server::{ServeError, Server};

/// How a server meets its clients over HTTP.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The path of the endpoint.
    pub path: String,
    /// Which `Host` fields are welcome. Loopback names only, by default.
    pub hosts: Names,
    /// Which `Origin` fields are welcome. Loopback names only, by default.
    pub origins: Names,
    /// Who may come. Empty: anybody.
    pub tokens: Vec<Token>,
    /// The bounds of each connection.
    pub connection: h1::Limits,
    /// Legacy sessions that may be open at once.
    pub max_sessions: usize,
    /// How long a legacy session lasts in which nothing happens.
    pub session_idle: Duration,
    /// After so long a silence on a stream a comment is sent.
    pub keep_alive: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            path: "/mcp".into(),
            hosts: Names::Loopback,
            origins: Names::Loopback,
            tokens: Vec::new(),
            connection: h1::Limits::default(),
            max_sessions: 1024,
            session_idle: Duration::from_secs(30 * 60),
            keep_alive: Duration::from_secs(15),
        }
    }
}

impl Server {
    /// Serves all who come over HTTP, in both eras, on one path. Returns when a [`Stopper`](crate::Stopper) says so and
    /// what was open is over.
    ///
    /// # Errors
    /// As [`serve_stdio`](Self::serve_stdio); the listener failed.
    #[expect(clippy::todo, reason = "a seam")]
    pub fn serve_http(&self, _listener: TcpListener, _options: HttpOptions) -> Result<(), ServeError> {
        todo!()
    }
}
