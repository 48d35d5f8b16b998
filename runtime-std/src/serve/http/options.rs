//! How a server meets its clients over HTTP.

use std::time::Duration;

use sanswire::http::endpoint::{EndpointConfig, Names, Token};
use sanswire::http::h1;
use sanswire::server::{Config, Principal};

/// As many as an endpoint takes.
const MAX_EXCHANGES: usize = 1 << 24;

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
    /// The bounds of each connection. What waits to be written is bounded by the endpoint instead, for all of them together:
    /// whoever takes its answer the slowest is cut off once it is too much.
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

impl HttpOptions {
    /// Lets `principal` in, who shows the bearer token `secret`. As soon as there is one token, nobody comes without.
    /// Only its hash is kept.
    #[must_use]
    pub fn token(mut self, principal: &str, secret: &str) -> Self {
        self.tokens.push(Token::new(Principal::named(principal), secret));
        self
    }

    /// Welcomes a name in `Host`, with or without a port: for an endpoint that is reached by more than loopback names.
    #[must_use]
    pub fn host(mut self, name: &str) -> Self {
        add(&mut self.hosts, name);
        self
    }

    /// Welcomes pages of this origin, written as in `https://example.org`.
    #[must_use]
    pub fn origin(mut self, origin: &str) -> Self {
        add(&mut self.origins, origin);
        self
    }

    /// What the endpoint is told of it.
    pub(super) fn endpoint(self, server: Config, max_connections: usize) -> EndpointConfig {
        let mut config = EndpointConfig::new(server);
        config.path = self.path;
        config.hosts = self.hosts;
        config.origins = self.origins;
        config.tokens = self.tokens;
        config.max_sessions = self.max_sessions;
        config.session_idle = self.session_idle;
        config.keep_alive = self.keep_alive;
        // A connection has one at a time.
        config.max_exchanges = config.max_exchanges.max(max_connections).min(MAX_EXCHANGES);
        let one_message = config.server.limits.max_message_bytes;
        config.max_body_bytes = config.max_body_bytes.max(one_message);
        config.max_outbound_bytes = config.max_outbound_bytes.max(one_message);
        config
    }
}

fn add(names: &mut Names, name: &str) {
    match names {
        Names::These(names) => names.push(name.into()),
        Names::Loopback => *names = Names::These(vec![name.into()]),
        Names::Any => {}
    }
}
