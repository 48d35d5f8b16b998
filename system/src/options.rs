//! What an embedder may choose and plug in, whatever the runtime.

use std::sync::Arc;
use std::time::Duration;

use sanswire::http::{ResponseHead, Verb};
use sanswire::mcp::types::input::{InputAnswer, InputRequest};

use crate::http::Reached;
use crate::stderr_log::StderrLog;

/// What happens to a child's stderr. A server behind a socket has none.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum StderrMode {
    /// It is always read, and the last 64 KiB are kept
    /// (`Client::stderr_tail`).
    #[default]
    Ring,
    /// As [`Ring`](Self::Ring), and line by line it goes into a log as well, which all servers may share.
    Log(Arc<StderrLog>),
    /// It is this process's.
    Inherit,
    /// It goes nowhere.
    Discard,
}

impl StderrMode {
    /// What suits a program: into its log, if it keeps one. If not, a program that draws on a terminal
    /// (`interactive`) keeps the end of it for errors and shows nothing, and any other lets it through to its own.
    #[must_use]
    pub fn by_default(log: Option<Arc<StderrLog>>, interactive: bool) -> Self {
        match (log, interactive) {
            (Some(log), _) => Self::Log(log),
            (None, true) => Self::Ring,
            (None, false) => Self::Inherit,
        }
    }
}

/// How a child is stopped: its stdin is closed; after `eof` its process group gets SIGTERM; after `term` more,
/// SIGKILL. `total` bounds all of it, the last wait included. What is no Unix has neither groups nor SIGTERM:
/// there the child is killed after `eof`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StopLadder {
    /// How long to wait after its stdin was closed. 2 s.
    pub eof: Duration,
    /// How long to wait after SIGTERM, and for whoever else holds the child's pipes open. 2 s.
    pub term: Duration,
    /// The bound of the whole. 10 s.
    pub total: Duration,
}

impl StopLadder {
    /// A ladder of these rungs.
    #[must_use]
    pub const fn new(eof: Duration, term: Duration, total: Duration) -> Self {
        Self { eof, term, total }
    }
}

impl Default for StopLadder {
    fn default() -> Self {
        Self::new(Duration::from_secs(2), Duration::from_secs(2), Duration::from_secs(10))
    }
}

/// Answers what a server asks, in both eras.
///
/// Requests of the older revisions run on threads of the client's own, four at most, made on demand. Rounds of
/// input (2026-07-28) run on the thread that makes the call. No other call waits for either.
pub trait Responder: Send + Sync {
    /// Answers one request.
    fn respond(&self, request: &InputRequest) -> InputAnswer;
}

/// Sees every message, in the order in which they were read and written. Runs on a thread of its own; what it
/// cannot keep up with (8 MiB) is dropped, the oldest first, and [`lost`](Self::lost) tells.
pub trait Tap: Send + Sync {
    /// One message, without its LF, cut to 1 MiB. `at` is the time since the connection began.
    fn message(&self, direction: Direction, at: Duration, line: &[u8]);

    /// So many messages were dropped before the next one.
    fn lost(&self, count: u64) {
        let _ = count;
    }

    /// Over HTTP: a connection was made.
    fn reached(&self, at: Duration, how: &Reached) {
        let _ = (at, how);
    }

    /// Over HTTP: an answer began, to a request of this kind. Fields of its head may be secrets: the id of a session.
    fn answered(&self, at: Duration, request: &Verb, head: &ResponseHead) {
        let _ = (at, request, head);
    }
}

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To the server.
    Sent,
    /// From the server.
    Received,
}
