//! How an endpoint is set up.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use sha2::{Digest, Sha256};

use crate::error::ConfigError;
use crate::http::endpoint::names;
use crate::http::endpoint::streams::MIN_WAITING_BYTES;
use crate::mcp::{Era, Revision};
use crate::server::{Config, MAX_WATCHED, Principal, SHARES};

/// How an endpoint is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EndpointConfig {
    /// What is served. Its [`Limits`](crate::limits::Limits) are those of one legacy session, and those of a message; the
    /// requests of 2026-07-28 are bounded by what stands here.
    pub server: Config,
    /// Where: the path of the one endpoint. Others are not found (404).
    pub path: String,
    /// Which `Host` fields are welcome.
    pub hosts: Names,
    /// Which `Origin` fields are welcome; a request without one always is. Pages of origins that are listed by name may
    /// read what they are answered, and their browsers are told so before they ask (CORS); no others are.
    pub origins: Names,
    /// Who may come. Empty: anybody, anonymously.
    pub tokens: Vec<Token>,
    /// What an answer looks like.
    pub replies: ReplyShape,
    /// Legacy sessions that may be open at once. Past that, of whoever has the most of them, the one that was idle for the
    /// longest goes: so nobody takes the sessions of those who have fewer. Where none may go: 503. Those who come without
    /// a token are one principal.
    pub max_sessions: usize,
    /// How long a legacy session without an open request or stream lasts.
    pub session_idle: Duration,
    /// After so long a silence on a stream a comment is sent. A request that was not answered for so long is answered by
    /// a stream, where the client takes one.
    pub keep_alive: Duration,
    /// Exchanges that may be open at once, and requests whose client is away; past that 503. Beside them the batches of all
    /// sessions (2025-03-26) may have so many requests open; past that each is answered by an error.
    pub max_exchanges: usize,
    /// Streams that may be open for notices alone (`subscriptions/listen`, GET); past that they are refused.
    pub max_streams: usize,
    /// Bytes of bodies and heads that are being read, all together; past that 503.
    pub max_body_bytes: usize,
    /// Bytes that wait to be written on one exchange before it takes no more notices.
    pub max_stream_bytes: usize,
    /// Bytes that wait to be written, all together. Past that whoever takes its answer the slowest is cut off.
    pub max_outbound_bytes: usize,
    /// Bytes of messages that a legacy session keeps for a client that comes back for them. 0: events have no ids, and
    /// nothing can be resumed.
    pub max_replay_bytes: usize,
    /// What a client whose stream is closed before its answer is told to wait for before it comes back.
    pub retry: Duration,
}

/// What an answer looks like, where the client leaves the choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplyShape {
    /// JSON, if nothing was sent before it; else a stream of events.
    #[default]
    Json,
    /// Always a stream of events. In sessions of 2025-03-26 and later each answer can be resumed then.
    Stream,
}

impl EndpointConfig {
    /// The defaults, for this server: at `/mcp`, for loopback names only, for anybody.
    #[must_use]
    pub fn new(server: Config) -> Self {
        Self {
            server,
            path: "/mcp".into(),
            hosts: Names::Loopback,
            origins: Names::Loopback,
            tokens: Vec::new(),
            replies: ReplyShape::Json,
            max_sessions: 1024,
            session_idle: Duration::from_secs(30 * 60),
            keep_alive: Duration::from_secs(15),
            max_exchanges: 16 * 1024,
            max_streams: 4096,
            max_body_bytes: 256 * 1024 * 1024,
            max_stream_bytes: 1024 * 1024,
            max_outbound_bytes: 256 * 1024 * 1024,
            max_replay_bytes: 1024 * 1024,
            retry: Duration::from_secs(1),
        }
    }

    /// Whether every setting is within its bounds.
    ///
    /// # Errors
    /// The first that is not, and its bounds.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.server.check()?;
        let within = |field, min: u64, max: u64, got: u64| {
            if (min..=max).contains(&got) { Ok(()) } else { Err(ConfigError { field, min, max, got }) }
        };
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let most = u64::from(u32::MAX);
        let one_message = self.server.limits.max_message_bytes as u64;
        within("path (which begins with a slash)", 1, 1, u64::from(names::is_path(&self.path)))?;
        within("hosts (names, with or without a port)", 1, 1, u64::from(self.hosts.all(names::is_host)))?;
        within("origins (with their scheme)", 1, 1, u64::from(self.origins.all(names::is_origin)))?;
        let empty = Token::new(Principal::anonymous(), "");
        let tokens = self.tokens.iter().all(|token| token.hash != empty.hash);
        within("tokens (none of them empty)", 1, 1, u64::from(tokens))?;
        within("max_sessions", 1, 1 << 20, self.max_sessions as u64)?;
        within("session_idle", 1000, most * 1000, millis(self.session_idle))?;
        within("keep_alive", 1000, most, millis(self.keep_alive))?;
        within("max_exchanges", 1, 1 << 24, self.max_exchanges as u64)?;
        within("max_streams", 0, 1 << 24, self.max_streams as u64)?;
        within("max_body_bytes", one_message, most * most, self.max_body_bytes as u64)?;
        within("max_stream_bytes", 1, most * most, self.max_stream_bytes as u64)?;
        within("max_outbound_bytes", one_message, most * most, self.max_outbound_bytes as u64)?;
        within("max_replay_bytes", 0, most * most, self.max_replay_bytes as u64)?;
        within("retry", 0, most, millis(self.retry))
    }

    /// The most bytes that an endpoint ever holds, its allocator's rounding, the catalog and the connections below aside, if
    /// its effects are taken after each call and what waits is told by
    /// [`set_outbound`](crate::http::Endpoint::set_outbound). Bytes already handed to the application are the application's.
    ///
    /// | what | how much |
    /// |---|---|
    /// | bodies and heads that are being read, in buffers that double | 2 × `max_body_bytes`, and a message that moves |
    /// | what waits to be written | 2 × `max_outbound_bytes` |
    /// | what one call adds to that: the answers to a batch, what a client comes back for, a notice to each stream | 2 × (`max_queued_out_bytes` + a message + `max_replay_bytes`), 10 KiB × (`max_streams` + sessions), and 1 KiB for each element of a batch |
    /// | events that wait; one body over | 2 × (`max_queued_event_bytes` + a message) + 2 KiB × `max_queued_events` |
    /// | exchanges, with what was asked on each, and as many requests of batches | 2 KiB × `max_exchanges`, twice where 2025-03-26 is served |
    /// | sessions: what each keeps on its streams and for a stream to come (64 KiB at least), what it asked its client, and the rest | `max_sessions` × (2 × `max_replay_bytes` + 256 × `max_peer_requests` + 64 KiB) |
    /// | watched addresses: of sessions, and of requests that stand alone | 4.25 KiB × `max_resource_subscriptions` × 64 (no more than 65,536 addresses), twice |
    ///
    /// The settings `max_queued_…`, `max_peer_requests`, `max_resource_subscriptions` and the longest message are those of
    /// [`server.limits`](crate::limits::Limits).
    #[must_use]
    pub fn worst_case_bytes(&self) -> usize {
        // An open request with what finds it again, an exchange, and two ids of the client's.
        const ENTRY: usize = 2 * 1024;
        const EVENT: usize = 1024;
        const REFUSAL: usize = 1024;
        const NOTICE: usize = 10 * 1024;
        const PEER: usize = 256;
        const SESSION: usize = 64 * 1024;
        let sum = |parts: &[usize]| parts.iter().fold(0, |sum: usize, part| sum.saturating_add(*part));
        let limits = &self.server.limits;
        let message = limits.max_message_bytes;
        let sessions = if self.server.newest(Era::Legacy).is_some() { self.max_sessions } else { 0 };
        let batches = self.server.serves(Revision::V2025_03_26);

        let bodies = self.max_body_bytes.saturating_mul(2).saturating_add(message);
        let out = self.max_outbound_bytes.saturating_mul(2);
        let turn = sum(&[limits.max_queued_out_bytes, message, self.max_replay_bytes]).saturating_mul(2);
        let notices = self.max_streams.saturating_add(sessions).saturating_mul(NOTICE);
        let refusals = if batches { limits.max_queued_events.saturating_mul(REFUSAL) } else { 0 };
        let events = limits
            .max_queued_event_bytes
            .saturating_add(message)
            .saturating_add(limits.max_queued_events.saturating_mul(EVENT))
            .saturating_mul(2);
        let requests = self.max_exchanges.saturating_mul(ENTRY * (1 + usize::from(batches)));
        let waiting = self.max_replay_bytes.max(MIN_WAITING_BYTES);
        let each =
            sum(&[self.max_replay_bytes, waiting, limits.max_peer_requests.saturating_mul(PEER), SESSION]);
        let shares = |many: usize| limits.max_resource_subscriptions.saturating_mul(many).min(MAX_WATCHED);
        let watched = shares(SHARES).saturating_add(shares(sessions.min(SHARES)));
        let watched = watched.saturating_mul(4096 + 256);
        sum(&[
            bodies,
            out,
            turn,
            notices,
            refusals,
            events,
            requests,
            sessions.saturating_mul(each),
            watched,
            64 * 1024,
        ])
    }
}

/// Which names are welcome in `Host` or `Origin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// `localhost`, `127.0.0.1` and `[::1]`, at any port: so that no page of a browser gets here by a name of its own.
    Loopback,
    /// These: host names, which without a port stand for any port; origins with their scheme, which without a port stand
    /// for the one of their scheme. Loopback names are welcome as well.
    These(Vec<Box<str>>),
    /// All: something in front has checked.
    Any,
}

impl Names {
    fn all(&self, is_one: fn(&str) -> bool) -> bool {
        match self {
            Self::These(names) => names.iter().all(|name| is_one(name)),
            Self::Loopback | Self::Any => true,
        }
    }
}

/// A bearer token, and who has it. Kept as a hash.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    pub(crate) hash: [u8; 32],
    pub(crate) principal: Principal,
}

impl Token {
    /// `principal` shows itself by `secret`, which should be long and random.
    #[must_use]
    pub fn new(principal: Principal, secret: &str) -> Self {
        Self { hash: Sha256::digest(secret.as_bytes()).into(), principal }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("principal", &self.principal).finish_non_exhaustive()
    }
}
