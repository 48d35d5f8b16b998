//! How an endpoint is set up.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::server::{Config, Principal};

/// How an endpoint is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EndpointConfig {
    /// What is served.
    pub server: Config,
    /// Where: the path of the one endpoint. Others are not found (404).
    pub path: String,
    /// Which `Host` fields are welcome.
    pub hosts: Names,
    /// Which `Origin` fields are welcome; a request without one always is.
    pub origins: Names,
    /// Who may come. Empty: anybody, anonymously.
    pub tokens: Vec<Token>,
    /// Legacy sessions that may be open at once; past that the one that was silent for the longest goes.
    pub max_sessions: usize,
    /// How long a legacy session without an open request or stream lasts.
    pub session_idle: Duration,
    /// After so long a silence on a stream a comment is sent.
    pub keep_alive: Duration,
    /// Exchanges that may be open at once; past that 503.
    pub max_exchanges: usize,
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
            max_sessions: 1024,
            session_idle: Duration::from_secs(30 * 60),
            keep_alive: Duration::from_secs(15),
            max_exchanges: 16 * 1024,
        }
    }
}

/// Which names are welcome in `Host` or `Origin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// `localhost`, `127.0.0.1` and `[::1]`, at any port: so that no page of a browser gets here by a name of its own.
    Loopback,
    /// These: host names with or without a port; origins with their scheme. Loopback names are welcome as well.
    These(Vec<Box<str>>),
    /// All: something in front has checked.
    Any,
}

/// A bearer token, and who has it. Kept as a hash.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    pub(crate) hash: [u8; 32],
    pub(crate) principal: Principal,
}

impl Token {
    /// `principal` shows itself by `secret`.
    #[expect(clippy::todo, reason = "a seam")]
    #[must_use]
    pub fn new(_principal: Principal, _secret: &str) -> Self {
        todo!()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("principal", &self.principal).finish_non_exhaustive()
    }
}
