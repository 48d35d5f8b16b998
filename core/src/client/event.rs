//! What a client tells its application.

use alloc::boxed::Box;
use alloc::string::String;
use core::time::Duration;

use crate::client::input::InputRequired;
use crate::error::{CloseReason, Violation};
use crate::exchange::{Challenge, HttpRefusal};
use crate::jsonrpc::{ErrorObject, RawJson};
use crate::mcp::types::input::InputRequest;
use crate::mcp::types::lifecycle::{CacheHint, Implementation, ServerCapabilities};
use crate::mcp::{Era, Method, Revision};

/// Names a request of the application's. Counts up, is never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestHandle(pub(crate) u64);

/// Names a request of the server's that waits for the application's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerRequestHandle(pub(crate) u64);

/// What a client tells its application.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The server is known; requests may be made from here on.
    Ready(Box<Peer>),
    /// The server had forgotten the session (revisions up to 2025-11-25 over HTTP), and a new one was opened: what was
    /// read of it before may be stale, subscriptions and its log level are gone.
    Renewed(Box<Peer>),
    /// What the next start should remember. May come again after [`Ready`](Self::Ready).
    Verdict(Verdict),
    /// A request is over. Each accepted request gives exactly one of these.
    Finished {
        /// The request.
        request: RequestHandle,
        /// How it ended.
        outcome: Outcome,
    },
    /// A request makes progress.
    Progress {
        /// The request.
        request: RequestHandle,
        /// How far it is.
        progress: Progress,
    },
    /// The server tells something.
    Notification {
        /// The `subscriptions/listen` request it belongs to (2026-07-28).
        subscription: Option<RequestHandle>,
        /// What it is.
        method: Method,
        /// Its parameters.
        params: Option<RawJson>,
    },
    /// The server asks something (revisions up to 2025-11-25). Takes one
    /// [`answer`](crate::client::Session::answer).
    PeerRequest {
        /// Where to send the answer.
        handle: PeerRequestHandle,
        /// What is asked.
        request: InputRequest,
        /// The call it belongs to, where the transport tells.
        during: Option<RequestHandle>,
    },
    /// A request of the server's needs no answer any more: it was withdrawn, or its time ran out.
    PeerRequestEnded {
        /// The request.
        handle: PeerRequestHandle,
    },
    /// The peer did something wrong; the connection goes on.
    Violation(Violation),
    /// The connection is over. The last event.
    Closed(CloseReason),
}

/// How a request ended. The peer's word and ours are never mixed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The peer's result, complete.
    Complete(RawJson),
    /// The peer wants input first (2026-07-28); go on with [`resume`](crate::client::Session::resume).
    InputRequired(Box<InputRequired>),
    /// The peer's error.
    Error(ErrorObject),
    /// Ours: time ran out.
    TimedOut {
        /// Which of the two deadlines.
        which: Deadline,
        /// How long it was.
        limit: Duration,
        /// Whether an answer came whose id differs from the request's only in its JSON type.
        mistyped_reply: bool,
    },
    /// Ours: the application gave it up.
    Cancelled,
    /// Ours: the connection ended first. `maybe_ran`: it had begun to leave, so the peer may have acted on it.
    Lost {
        /// Whether the peer may have acted on it.
        maybe_ran: bool,
    },
    /// Ours: the server has forgotten the session that it was sent in (HTTP links only). A new one is opened by itself;
    /// if that is not to be had, the connection closes. `maybe_ran`: the server may have acted on it before.
    SessionGone {
        /// Whether the server may have acted on it.
        maybe_ran: bool,
    },
    /// Ours: the answer was longer than a message may be, and was skipped.
    TooLarge {
        /// Its bytes.
        len: u64,
        /// The limit.
        limit: usize,
    },
    /// The answer was unusable.
    Invalid(Violation),
    /// The HTTP server refused the exchange (HTTP links only).
    Refused(HttpRefusal),
    /// The server wants other credentials (HTTP links only).
    Challenged(Challenge),
}

/// The two deadlines of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deadline {
    /// Nothing was heard of it for so long.
    Idle,
    /// It took so long in all.
    Absolute,
}

/// A progress report.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How far; grows with every report.
    pub progress: f64,
    /// How far in all, if known.
    pub total: Option<f64>,
    /// In words, cut to 4 KiB.
    pub message: Option<String>,
}

/// The server, as it introduced itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    /// Session or stateless.
    pub era: Era,
    /// The revision that requests are made in.
    pub revision: Revision,
    /// Its name and version; for display only.
    pub server: Implementation,
    /// What it can do.
    pub capabilities: ServerCapabilities,
    /// How to use it, in words; untrusted.
    pub instructions: Option<String>,
    /// How long this introduction may be kept (2026-07-28).
    pub cache: CacheHint,
    /// The whole result of `initialize` or `server/discover`.
    pub raw: RawJson,
}

/// What was learnt of a server's era, to be remembered for the next start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It answers `server/discover`: probe it again, and wait.
    Modern,
    /// It opens with `initialize`: do that at once.
    Legacy,
    /// It speaks modern versions, none of them ours. Nothing to remember but the failure.
    ModernOther,
    /// It ended on the probe: open with `initialize` at once.
    Died,
}
