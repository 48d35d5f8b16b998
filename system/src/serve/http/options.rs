//! How a server meets its clients over HTTP.

use std::time::Duration;

use sanswire::http::endpoint::{EndpointConfig, Names, ReplyShape, Token};
use sanswire::http::h1;
use sanswire::http::site::SiteConfig;
use sanswire::server::{Config, Principal};

use crate::serve::Refusals;

/// How a server meets its clients over HTTP. How much memory that comes to, with all connections at their worst, says
/// `Server::worst_case_http_bytes`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The path of the endpoint.
    pub path: String,
    /// Which `Host` fields are welcome. Loopback names only, by default.
    pub hosts: Names,
    /// Which `Origin` fields are welcome. Loopback names only, by default. Pages of a browser need more: only those of
    /// origins that are listed by name, loopback ones as well, may read what they are answered (CORS).
    pub origins: Names,
    /// Who may come. Empty: anybody.
    pub tokens: Vec<Token>,
    /// The bounds of each connection. What waits to be written is bounded by
    /// [`max_outbound_bytes`](Self::max_outbound_bytes) instead, for all of them together.
    pub connection: h1::Limits,
    /// How long a connection may rest where there are as many as there may be
    /// (`Server::set_max_connections`), or as the system has descriptors for: of those that rest for longer, without a
    /// request or a stream, the one that does for the longest is closed for a newcomer. Where none does, the newcomer is
    /// sent away, or waits for a descriptor.
    pub yields_after: Duration,
    /// Legacy sessions that may be open at once. Past that whoever has the most of them makes room.
    pub max_sessions: usize,
    /// How long a legacy session lasts in which nothing happens.
    pub session_idle: Duration,
    /// After so long a silence on a stream a comment is sent. A call that takes longer is answered by a stream.
    pub keep_alive: Duration,
    /// What an answer looks like: JSON where that will do, by default.
    pub replies: ReplyShape,
    /// Streams that may be open for notices alone.
    pub max_streams: usize,
    /// Bytes of bodies and heads that are being read, of all connections together: 256 MiB, and never less than one
    /// message. Who comes past that is sent away (503).
    pub max_body_bytes: usize,
    /// Bytes that wait to be written on one exchange before it takes no more notices: 1 MiB.
    pub max_stream_bytes: usize,
    /// Bytes that wait to be written, of all connections together: 256 MiB, and never less than one message. Past that
    /// whoever takes its answer the slowest is cut off.
    pub max_outbound_bytes: usize,
    /// Bytes that a legacy session keeps for a client that comes back for them.
    pub max_replay_bytes: usize,
    /// Where what `hosts` and `origins` refuse is told. Nowhere, by default.
    pub refusals: Option<Refusals>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        let config = EndpointConfig::new(Config::new("", ""));
        Self {
            path: config.path,
            hosts: config.hosts,
            origins: config.origins,
            tokens: config.tokens,
            connection: h1::Limits::default(),
            yields_after: Duration::from_secs(5),
            max_sessions: config.max_sessions,
            session_idle: config.session_idle,
            keep_alive: config.keep_alive,
            replies: config.replies,
            max_streams: config.max_streams,
            max_body_bytes: config.max_body_bytes,
            max_stream_bytes: config.max_stream_bytes,
            max_outbound_bytes: config.max_outbound_bytes,
            max_replay_bytes: config.max_replay_bytes,
            refusals: None,
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

    /// Welcomes pages of this origin, written as in `https://example.org`, or `http://localhost:6274` for one on this
    /// computer: their browser is told which requests they may make, and they may read the answers.
    #[must_use]
    pub fn origin(mut self, origin: &str) -> Self {
        add(&mut self.origins, origin);
        self
    }

    /// The most bytes that a site with these options ever holds; the catalog is aside.
    #[must_use]
    pub fn worst_case_bytes(&self, server: &Config, max_connections: usize) -> usize {
        self.clone().site(server.clone(), max_connections).worst_case_bytes(max_connections)
    }

    /// What the site is told of it.
    #[must_use]
    pub fn site(self, server: Config, max_connections: usize) -> SiteConfig {
        let mut endpoint = EndpointConfig::new(server);
        endpoint.path = self.path;
        endpoint.hosts = self.hosts;
        endpoint.origins = self.origins;
        endpoint.tokens = self.tokens;
        endpoint.max_sessions = self.max_sessions;
        endpoint.session_idle = self.session_idle;
        endpoint.keep_alive = self.keep_alive;
        endpoint.replies = self.replies;
        endpoint.max_streams = self.max_streams;
        endpoint.max_body_bytes = self.max_body_bytes;
        endpoint.max_stream_bytes = self.max_stream_bytes;
        endpoint.max_outbound_bytes = self.max_outbound_bytes;
        endpoint.max_replay_bytes = self.max_replay_bytes;
        let mut site = SiteConfig::new(endpoint);
        site.connection = self.connection;
        site.yields_after = self.yields_after;
        site.for_connections(max_connections)
    }
}

fn add(names: &mut Names, name: &str) {
    match names {
        Names::These(names) => names.push(name.into()),
        Names::Loopback => *names = Names::These(vec![name.into()]),
        Names::Any => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, EndpointConfig, HttpOptions, Names, ReplyShape};
    use std::time::Duration;

    #[test]
    fn what_is_set_reaches_the_endpoint() {
        let mut options =
            HttpOptions::default().token("alice", "secret").host("example.org").origin("https://a.org");
        options.path = "/here".into();
        options.max_sessions = 7;
        options.session_idle = Duration::from_secs(70);
        options.keep_alive = Duration::from_secs(8);
        options.replies = ReplyShape::Stream;
        options.max_streams = 9;
        options.max_replay_bytes = 10;
        options.max_stream_bytes = 11;
        (options.max_body_bytes, options.max_outbound_bytes) = (1 << 30, 1 << 31);
        let config = options.site(Config::new("s", "1"), 100).endpoint;
        assert_eq!((&*config.path, config.tokens.len()), ("/here", 1));
        assert_eq!(config.hosts, Names::These(vec!["example.org".into()]));
        assert_eq!(config.origins, Names::These(vec!["https://a.org".into()]));
        assert_eq!((config.max_sessions, config.session_idle.as_secs()), (7, 70));
        assert_eq!((config.keep_alive.as_secs(), config.replies), (8, ReplyShape::Stream));
        assert_eq!((config.max_streams, config.max_replay_bytes, config.max_stream_bytes), (9, 10, 11));
        assert_eq!((config.max_body_bytes, config.max_outbound_bytes), (1 << 30, 1 << 31));
        config.check().unwrap();
    }

    #[test]
    fn the_worst_case_is_a_sum_of_what_is_set() {
        let server = Config::new("s", "1");
        let of = |options: &HttpOptions, connections| options.worst_case_bytes(&server, connections);
        let options = HttpOptions::default();
        let least = of(&options, 100);
        let each = of(&options, 101) - least;
        assert!((1 << 20..2 << 20).contains(&each), "{each}");
        let mut more = options.clone();
        more.connection.max_head_bytes += 1000;
        assert_eq!(of(&more, 100), least + 100 * 4000);
        let mut more = options.clone();
        more.max_sessions += 1;
        assert!(of(&more, 100) >= least + 2 * options.max_replay_bytes);
        let endpoint = options.clone().site(server.clone(), 100).endpoint.worst_case_bytes();
        assert!(least > endpoint + 100 * each && of(&options, usize::MAX) == usize::MAX);
    }

    #[test]
    fn bounds_follow_what_is_served() {
        let mut server = Config::new("s", "1");
        server.limits.max_message_bytes = 1 << 30;
        let config = HttpOptions::default().site(server, 1 << 20).endpoint;
        assert_eq!((config.max_body_bytes, config.max_outbound_bytes), (1 << 30, 1 << 30));
        assert_eq!(config.max_exchanges, 1 << 20);
        let mut options = HttpOptions::default();
        (options.max_body_bytes, options.max_outbound_bytes) = (0, 0);
        let server = Config::new("s", "1");
        let one_message = server.limits.max_message_bytes;
        let config = options.site(server, 1).endpoint;
        assert_eq!((config.max_body_bytes, config.max_outbound_bytes), (one_message, one_message));
        config.check().unwrap();
        let config = HttpOptions::default().site(Config::new("s", "1"), usize::MAX);
        config.check().unwrap();
        let least = EndpointConfig::new(Config::new("s", "1")).max_exchanges;
        assert_eq!(HttpOptions::default().site(Config::new("s", "1"), 1).endpoint.max_exchanges, least);
    }
}
