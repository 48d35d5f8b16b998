//! Where a server is, and how to get there.

use std::path::PathBuf;

use crate::http::ProxyAddress;
use sanswire::http::client::{Kind, Target};
use sanswire::http::{FieldFault, Url, UrlFault};

/// Where a server is, and how to get there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpTarget {
    /// The endpoint, and what it is told with every request.
    pub target: Target,
    /// Certificates of authorities that are trusted besides those of the system: a PEM file.
    pub ca_file: Option<PathBuf>,
    /// The certificate chain and the key that this client shows: PEM files.
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    /// By which proxy.
    pub proxy: Proxy,
    /// Connect to addresses of the public network only, redirect hops included, and by no proxy, which would look them
    /// up itself: for servers whose address came from strangers. Off by default.
    pub public_only: bool,
    /// Connections that may be open at once, streams included; two more for what others may wait for.
    pub max_connections: usize,
}

/// By which proxy a server is reached.
///
/// What runs on this computer is reached without one, unless [`At`](Self::At) says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Proxy {
    /// What `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` say, in either case.
    #[default]
    Environment,
    /// None.
    Direct,
    /// This one, always.
    At(ProxyAddress),
}

impl HttpTarget {
    /// A server at `url`, with the defaults.
    ///
    /// # Errors
    /// What is wrong with the address. The error does not repeat it.
    pub fn new(url: &str) -> Result<Self, UrlFault> {
        Ok(Self {
            target: Target::new(Url::parse(url)?),
            ca_file: None,
            client_certificate: None,
            proxy: Proxy::default(),
            public_only: false,
            max_connections: 64,
        })
    }

    /// Adds a field to every request.
    ///
    /// # Errors
    /// The name is no token or one that the transport sets itself; the value holds control characters.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, FieldFault> {
        self.target.add_field(name, value.as_bytes())?;
        Ok(self)
    }

    /// Which of the two HTTP transports the server speaks.
    #[must_use]
    pub const fn kind(mut self, kind: Kind) -> Self {
        self.target.kind = kind;
        self
    }
}
