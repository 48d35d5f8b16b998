//! How a connection is made and ended.

use std::fmt;
use std::sync::Arc;

use sanswire::client::Config;
use sanswire_system::{Recorder, Responder, StderrMode, StopLadder, Tap, Wrap};

use crate::closer::Closer;

/// How a connection is made and ended.
#[derive(Clone)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// Who we are, what we can do, all limits and deadlines.
    pub config: Config,
    /// What the server is called in a log. The name of its program's file, if none is set.
    pub server_name: Option<String>,
    /// What happens to a child's stderr.
    pub stderr: StderrMode,
    /// How patiently a child is stopped.
    pub stop: StopLadder,
    /// Answers what the server asks. Declare in [`Config::capabilities`] what it can answer.
    pub responder: Option<Arc<dyn Responder>>,
    /// Sees every message.
    pub tap: Option<Arc<dyn Tap>>,
    /// Writes down what the machine is given and what it does ([`recording`](crate::recording)). Over HTTP these are requests,
    /// heads, bodies and their ends; what only the connections see is not recorded.
    pub recorder: Option<Recorder>,
    /// Start a server once more where that may help
    /// ([`next_start`](sanswire::client::era::next_start)): it died on the first message, or what was remembered
    /// of it proved wrong. On by default.
    pub restart: bool,
    /// Ends the connection from another thread, while it is being opened too.
    pub closer: Option<Closer>,
    /// The sandbox that a server's process is started in. Servers that are reached over a socket have none.
    pub wrap: Option<Arc<dyn Wrap>>,
    /// Start a server without its sandbox where [`wrap`](Self::wrap) says that there is none on this system;
    /// [`Client::unwrapped`](crate::Client::unwrapped) tells. Off by default: such a server is not started.
    pub allow_unwrapped: bool,
}

impl ConnectOptions {
    /// The defaults, for a client of this name and version.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            server_name: None,
            stderr: StderrMode::default(),
            stop: StopLadder::default(),
            responder: None,
            tap: None,
            recorder: None,
            restart: true,
            closer: None,
            wrap: None,
            allow_unwrapped: false,
        }
    }
}

impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("config", &self.config)
            .field("server_name", &self.server_name)
            .field("stderr", &self.stderr)
            .field("stop", &self.stop)
            .field("responder", &self.responder.is_some())
            .field("tap", &self.tap.is_some())
            .field("recorder", &self.recorder.is_some())
            .field("restart", &self.restart)
            .field("closer", &self.closer)
            .field("wrap", &self.wrap.is_some())
            .field("allow_unwrapped", &self.allow_unwrapped)
            .finish()
    }
}
