//! How the servers of a host are reached.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::Start;
use sanswire::host::{Carrier, Mask};
use sanswire_system::stderr::set_first_mask;
use sanswire_system::{Command, ConnectError, HttpTarget, StderrMode};

use crate::client::Client;
use crate::closer::Closer;
use crate::options::ConnectOptions;

/// A connection of which nothing comes is given up so long before the host gives the attempt up, a tenth of its time at
/// most: what it says of a server that is stopped then (its exit status, its last words) is worth more.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How a server of a host is reached, each time that it is.
///
/// Of the options the host sets three by itself: what is known of the server's era, how long connecting may take
/// ([`connect_timeout`](sanswire::host::ServerConfig::connect_timeout) counts), and the closer. The stop ladder gets no
/// more time than the host has for its own end, a server without a name for logs gets the host's, and a log without a
/// mask gets [`HostConfig::mask`](sanswire::host::HostConfig::mask).
#[derive(Clone, Debug)]
pub struct Launch {
    way: Way,
    options: ConnectOptions,
}

#[derive(Clone, Debug)]
enum Way {
    Process(Command),
    Tcp(String),
    Unix(PathBuf),
    Http(Box<HttpTarget>),
}

impl Launch {
    /// A process of its own, as [`Client::connect`] starts it.
    #[must_use]
    pub const fn command(command: Command, options: ConnectOptions) -> Self {
        Self { way: Way::Process(command), options }
    }

    /// A server that listens on a TCP port: `host:port`.
    #[must_use]
    pub fn tcp(address: impl Into<String>, options: ConnectOptions) -> Self {
        Self { way: Way::Tcp(address.into()), options }
    }

    /// A server that listens on a Unix socket.
    #[must_use]
    pub fn unix(path: impl AsRef<Path>, options: ConnectOptions) -> Self {
        Self { way: Way::Unix(path.as_ref().into()), options }
    }

    /// A server that is reached over HTTP.
    #[must_use]
    pub fn http(target: HttpTarget, options: ConnectOptions) -> Self {
        Self { way: Way::Http(Box::new(target)), options }
    }

    /// What its lines in a log begin with, unless its options say something else.
    pub(super) fn named(mut self, server: &str) -> Self {
        self.options.server_name.get_or_insert_with(|| server.into());
        self
    }

    /// Has the log that it writes to hide the host's secrets, unless it was told what to hide.
    pub(super) fn hide(&self, mask: &Mask) {
        if let StderrMode::Log(log) = &self.options.stderr {
            set_first_mask(log, mask);
        }
    }

    /// For displays.
    pub(super) const fn transport(&self) -> &'static str {
        match self.way {
            Way::Process(_) => "stdio",
            Way::Tcp(_) => "tcp",
            Way::Unix(_) => "unix",
            Way::Http(_) => "http",
        }
    }

    /// What its calls share.
    pub(super) const fn carrier(&self) -> Carrier {
        match self.way {
            Way::Process(_) | Way::Tcp(_) | Way::Unix(_) => Carrier::Stream,
            Way::Http(_) => Carrier::Exchanges,
        }
    }

    pub(super) const fn options(&self) -> &ConnectOptions {
        &self.options
    }

    /// Opens a connection between `now` and `until`. It can be shut within `shutdown`, when the time comes.
    pub(super) fn open(
        &self,
        start: Start,
        (now, until): (Instant, Instant),
        shutdown: Duration,
        closer: &Closer,
    ) -> Result<Client, ConnectError> {
        let mut options = self.options.clone();
        options.config.start = start;
        let limits = &mut options.config.limits;
        let left = until.saturating_since(now);
        limits.connect = left.saturating_sub((left / 10).min(LAST_WORDS)).max(Duration::from_millis(1));
        limits.close_flush = limits.close_flush.min(shutdown / 2);
        options.stop.total = options.stop.total.min(shutdown.saturating_sub(limits.close_flush));
        options.closer = Some(closer.clone());
        match &self.way {
            Way::Process(command) => Client::connect(command, options),
            Way::Tcp(address) => Client::connect_tcp(address, options),
            Way::Unix(path) => Client::connect_unix(path, options),
            Way::Http(target) => Client::connect_http(target, options),
        }
    }
}
