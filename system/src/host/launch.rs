//! How the servers of a host are reached.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{Config, Start};
use sanswire::host::{Carrier, Mask};

use crate::command::Command;
use crate::http::HttpTarget;
use crate::options::{StderrMode, StopLadder};
use crate::stderr::set_first_mask;

/// A connection of which nothing comes is given up so long before the host gives the attempt up, a tenth of its time at
/// most: what it says of a server that is stopped then (its exit status, its last words) is worth more.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The options of a runtime's connections, as far as a host sets or reads them.
pub trait Connecting: Clone {
    /// The client's configuration.
    fn config(&self) -> &Config;
    /// The same, to be changed.
    fn config_mut(&mut self) -> &mut Config;
    /// How patiently a child is stopped.
    fn stop_mut(&mut self) -> &mut StopLadder;
    /// What the server is called in a log.
    fn server_name_mut(&mut self) -> &mut Option<String>;
    /// What happens to a child's stderr.
    fn stderr(&self) -> &StderrMode;
}

/// How a server of a host is reached, each time that it is.
///
/// Of the options the host sets three by itself: what is known of the server's era, how long connecting may take
/// ([`connect_timeout`](sanswire::host::ServerConfig::connect_timeout) counts), and the closer. The stop ladder gets no
/// more time than the host has for its own end, a server without a name for logs gets the host's, and a log without a
/// mask gets [`HostConfig::mask`](sanswire::host::HostConfig::mask).
#[derive(Clone, Debug)]
pub struct Launch<O> {
    way: Way,
    options: O,
}

/// What a server is reached over.
#[derive(Clone, Debug)]
pub enum Way {
    /// The pipes of a process of its own.
    Process(Command),
    /// A TCP port: `host:port`.
    Tcp(String),
    /// A Unix socket.
    Unix(PathBuf),
    /// HTTP.
    Http(Box<HttpTarget>),
}

impl<O> Launch<O> {
    /// A process of its own, as `Client::connect` starts it.
    #[must_use]
    pub const fn command(command: Command, options: O) -> Self {
        Self { way: Way::Process(command), options }
    }

    /// A server that listens on a TCP port: `host:port`.
    #[must_use]
    pub fn tcp(address: impl Into<String>, options: O) -> Self {
        Self { way: Way::Tcp(address.into()), options }
    }

    /// A server that listens on a Unix socket.
    #[must_use]
    pub fn unix(path: impl AsRef<Path>, options: O) -> Self {
        Self { way: Way::Unix(path.as_ref().into()), options }
    }

    /// A server that is reached over HTTP.
    #[must_use]
    pub fn http(target: HttpTarget, options: O) -> Self {
        Self { way: Way::Http(Box::new(target)), options }
    }

    /// What it is reached over.
    #[must_use]
    pub const fn way(&self) -> &Way {
        &self.way
    }

    /// As they were given.
    #[must_use]
    pub const fn options(&self) -> &O {
        &self.options
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
}

impl<O: Connecting> Launch<O> {
    /// What its lines in a log begin with, unless its options say something else.
    pub(super) fn named(mut self, server: &str) -> Self {
        self.options.server_name_mut().get_or_insert_with(|| server.into());
        self
    }

    /// Has the log that it writes to hide the host's secrets, unless it was told what to hide.
    pub(super) fn hide(&self, mask: &Mask) {
        if let StderrMode::Log(log) = self.options.stderr() {
            set_first_mask(log, mask);
        }
    }

    /// The options of a connection that is opened between `now` and `until`, and can be shut within `shutdown` when the time
    /// comes.
    #[must_use]
    pub fn options_for(&self, start: Start, (now, until): (Instant, Instant), shutdown: Duration) -> O {
        let mut options = self.options.clone();
        let config = options.config_mut();
        config.start = start;
        let limits = &mut config.limits;
        let left = until.saturating_since(now);
        limits.connect = left.saturating_sub((left / 10).min(LAST_WORDS)).max(Duration::from_millis(1));
        limits.close_flush = limits.close_flush.min(shutdown / 2);
        let most = shutdown.saturating_sub(limits.close_flush);
        let stop = options.stop_mut();
        stop.total = stop.total.min(most);
        options
    }
}
