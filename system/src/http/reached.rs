//! How a connection came about, step by step: for diagnosis.

use std::net::SocketAddr;
use std::time::Duration;

use sanswire::http::Authority;

/// How a connection over HTTP was made. Holds no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reached {
    /// The address that answered: the server's, or that of the proxy.
    pub address: SocketAddr,
    /// How long it took to learn its addresses.
    pub named: Duration,
    /// How long it took until one answered.
    pub connected: Duration,
    /// The proxy, if there is one between.
    pub proxy: Option<Proxied>,
    /// What is spoken with the server below HTTP; `None`: nothing, all of it is in the clear.
    pub tls: Option<Secured>,
    /// How long all of it took.
    pub took: Duration,
}

impl Reached {
    /// A connection to this address, with nothing between or on it so far.
    #[must_use]
    pub const fn new(address: SocketAddr, named: Duration, connected: Duration) -> Self {
        Self { address, named, connected, proxy: None, tls: None, took: Duration::ZERO }
    }
}

impl Proxied {
    /// A proxy that was asked for a way to the server, and gave it.
    #[must_use]
    pub const fn new(authority: Authority, opened: Duration) -> Self {
        Self { authority, opened }
    }
}

impl Secured {
    /// What was agreed on.
    #[must_use]
    pub const fn new(version: &'static str, suite: String, shown: bool, negotiated: Duration) -> Self {
        Self { version, suite, shown, negotiated }
    }
}

/// The proxy that a connection goes through.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proxied {
    /// Where it is.
    pub authority: Authority,
    /// How long it took to open a way to the server.
    pub opened: Duration,
}

/// The TLS of a connection. The server's certificate was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Secured {
    /// Its version: `TLS 1.3`.
    pub version: &'static str,
    /// The name of the methods that were agreed on.
    pub suite: String,
    /// Whether a certificate of ours was at hand to be shown.
    pub shown: bool,
    /// How long the negotiation took.
    pub negotiated: Duration,
}
