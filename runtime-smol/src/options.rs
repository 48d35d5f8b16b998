//! How a connection is made and ended, and what the embedder may plug in.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use sanswire::client::Config;
use sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_system::{Recorder, Responder as BlockingResponder, StderrMode, StopLadder, Tap, Wrap};

use crate::closer::Closer;
use crate::threads;
use crate::watch::Watch;

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
    /// Ends the connection from elsewhere, while it is being opened too.
    pub closer: Option<Closer>,
    /// The sandbox that a server's process is started in. Servers that are reached over a socket have none.
    pub wrap: Option<Arc<dyn Wrap>>,
    /// Start a server without its sandbox where [`wrap`](Self::wrap) says that there is none on this system;
    /// [`Client::unwrapped`](crate::Client::unwrapped) tells. Off by default: such a server is not started.
    pub allow_unwrapped: bool,
    /// Looks after the connection while nobody waits for it. None is set by default: then a thread of this process's does
    /// it, one for all connections.
    pub watch: Option<Watch>,
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
            watch: None,
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
            .field("watch", &self.watch)
            .finish()
    }
}

/// An answer in the making.
pub type Answering<'a> = Pin<Box<dyn Future<Output = InputAnswer> + Send + 'a>>;

/// Answers what a server asks, in both eras.
///
/// Requests of the older revisions are answered within the [`Watch`] of the connection, four at once; they must not block
/// it ([`OnThread`] is for those that do). A request that the server withdraws, or whose connection ends, has its future
/// dropped. Rounds of input (2026-07-28) are answered within the future that makes the call. No other call waits for either.
///
/// A closure that takes a request and gives a future is one:
///
/// ```
/// # use std::sync::Arc;
/// # use sanswire_smol::{ConnectOptions, sanswire::mcp::types::input::{InputAnswer, InputRequest}};
/// let mut options = ConnectOptions::new("example", "1.0");
/// options.responder = Some(Arc::new(|_: InputRequest| async { InputAnswer::Cancel }));
/// ```
pub trait Responder: Send + Sync {
    /// Answers one request.
    fn respond<'a>(&'a self, request: &'a InputRequest) -> Answering<'a>;
}

impl<F, A> Responder for F
where
    F: Fn(InputRequest) -> A + Send + Sync,
    A: Future<Output = InputAnswer> + Send + 'static,
{
    fn respond<'a>(&'a self, request: &'a InputRequest) -> Answering<'a> {
        Box::pin(self(request.clone()))
    }
}

/// A responder that blocks, a question to a person at a terminal for example: each answer is made on a thread of its own.
#[derive(Clone)]
pub struct OnThread(Arc<dyn BlockingResponder>);

impl OnThread {
    /// Answers as this one does.
    #[must_use]
    pub fn new(responder: Arc<dyn BlockingResponder>) -> Self {
        Self(responder)
    }
}

impl fmt::Debug for OnThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnThread")
    }
}

impl Responder for OnThread {
    fn respond<'a>(&'a self, request: &'a InputRequest) -> Answering<'a> {
        let (responder, request) = (Arc::clone(&self.0), request.clone());
        let answer = threads::run("sanswire-handler", move || responder.respond(&request));
        Box::pin(async move {
            match answer {
                Ok(answer) => answer.await.unwrap_or_else(crate::jobs::failed),
                Err(_) => InputAnswer::Cancel,
            }
        })
    }
}
