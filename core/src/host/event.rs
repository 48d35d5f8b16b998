//! What a host asks of whoever drives it, and what it tells.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use super::Provenance;
use super::catalog::{Change, FilterWarning};
use super::link::{SessionNumber, Status};
use super::policy::{ApprovalHandle, ApprovalRequest, Decision, NotAsked, NotReleased};
use super::results::Presented;
use crate::client::{InputRequired, Progress, RequestOptions, Start, Verdict};
use crate::error::Violation;
use crate::exchange::{Challenge, HttpRefusal};
use crate::jsonrpc::{ErrorObject, RawJson};
use crate::mcp::{Method, Revision};
use crate::time::Instant;
use crate::waist::Rejection;

/// Names one connection to one server, from the attempt to open it to its end. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientHandle {
    pub(crate) slot: u32,
    pub(crate) session: SessionNumber,
}

impl ClientHandle {
    /// Which attempt to reach its server it came of.
    #[must_use]
    pub const fn session(self) -> SessionNumber {
        self.session
    }
}

/// Names a call. Counts up, is never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallHandle(pub(crate) u64);

impl CallHandle {
    /// As a number.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// Names a request to one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKey {
    /// It is a call.
    Call(CallHandle),
    /// It belongs to reading that client's listing, at first or anew; there is one at a time.
    Listing(ClientHandle),
    /// It is that client's `subscriptions/listen` for changes of the list of tools (2026-07-28); there is one at a time.
    /// It ends with its client, and knows no deadline.
    Listen(ClientHandle),
}

/// What is to be done, in order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Effect {
    /// Open a connection, and hand its events to [`handle_client`](super::Host::handle_client). What cannot be opened
    /// at all is told by [`handle_not_opened`](super::Host::handle_not_opened).
    Open {
        /// Its name.
        client: ClientHandle,
        /// Its server.
        server: Arc<str>,
        /// What is known of the server's era.
        start: Start,
        /// When the host gives the attempt up and has it shut. A limit for connecting of the connection's own may
        /// be as long.
        until: Instant,
    },
    /// Shut a connection, opened or not. Nothing waits for that, and nothing of it is heard any more. Each
    /// [`Open`](Self::Open) is followed by one of these in the end, also if its connection ended by itself or was never
    /// there. The outcomes of calls that were made on it are handed over as ever, since those wait for them; other
    /// requests need none.
    Shut {
        /// The connection.
        client: ClientHandle,
        /// Its server.
        server: Arc<str>,
        /// The attempt failed: the connection ended, was not ready in time, or its tools were not listed in time. What
        /// runs of it still has nothing to bring to a good end: kill it at once.
        failed: bool,
    },
    /// Make a request, and hand its outcome to [`handle_outcome`](super::Host::handle_outcome), also if it was refused.
    Request {
        /// Its name.
        key: RequestKey,
        /// The connection.
        client: ClientHandle,
        /// What is asked.
        method: Method,
        /// With what.
        params: Option<RawJson>,
        /// Its limits.
        options: Box<RequestOptions>,
    },
    /// Go on with a call that asked for input.
    Resume {
        /// Its name.
        key: RequestKey,
        /// The connection.
        client: ClientHandle,
        /// What was asked.
        from: Box<InputRequired>,
        /// What is answered.
        answers: crate::client::InputAnswers,
        /// Its limits.
        options: Box<RequestOptions>,
    },
    /// Give a request up. Its outcome matters no more.
    Cancel {
        /// The request.
        key: RequestKey,
        /// The connection.
        client: ClientHandle,
    },
}

/// What a host tells.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A server's status is another.
    Status {
        /// The server.
        server: Arc<str>,
        /// Its status now.
        status: Status,
    },
    /// A server was connected: it can be called.
    Connected {
        /// The server.
        server: Arc<str>,
        /// The revision that is spoken.
        revision: Revision,
        /// How many of its tools are offered.
        tools: usize,
    },
    /// What was learnt of a server's era. Give it as [`Start::Remembered`] when the server is configured the next time;
    /// until then the host remembers it. Never told of a server whose revision is pinned.
    Verdict {
        /// The server.
        server: Arc<str>,
        /// What.
        verdict: Verdict,
    },
    /// Whether a connected server answers, as was asked by [`check_health`](super::Host::check_health).
    Health {
        /// The server.
        server: Arc<str>,
        /// Why it does not, masked and bounded; `None`: it does.
        error: Option<String>,
    },
    /// Every server was tried once, whatever came of it. Comes once.
    Started,
    /// What is offered changed, or will change at the next turn.
    Tools {
        /// The server whose listing changed.
        server: Arc<str>,
        /// What changed.
        change: Change,
        /// It is offered as before until [`begin_turn`](super::Host::begin_turn).
        staged: bool,
    },
    /// Something a person should know.
    Warning(Warning),
    /// Somebody is to be asked about a call; [`answer`](super::Host::answer) it.
    Approval(Box<ApprovalRequest>),
    /// A question needs no answer any more.
    ApprovalEnded(ApprovalHandle),
    /// A call makes progress.
    Progress {
        /// The call.
        call: CallHandle,
        /// How far it is.
        progress: Progress,
    },
    /// A server asks something in the course of a call (2026-07-28); [`resume`](super::Host::resume) it.
    InputRequired {
        /// The call.
        call: CallHandle,
        /// What is asked.
        input: Box<InputRequired>,
    },
    /// A call is over. Each accepted call gives exactly one of these.
    Finished {
        /// The call.
        call: CallHandle,
        /// How it ended.
        end: Box<CallEnd>,
    },
}

/// Something a person should know. Texts of servers in it are masked and bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A server could not be connected. Comes again only after it was connected in between.
    ServerFailed {
        /// The server.
        server: Arc<str>,
        /// Why.
        error: String,
    },
    /// So many servers of so many are not connected, once all were tried.
    Summary {
        /// Those that are not.
        failed: usize,
        /// Those that are to be used.
        enabled: usize,
    },
    /// An entry of a server's filter names nothing.
    Filter {
        /// The server.
        server: Arc<str>,
        /// Which.
        warning: FilterWarning,
    },
    /// A listing could not be read; what was offered stays.
    ListingFailed {
        /// The server.
        server: Arc<str>,
        /// Why.
        error: String,
    },
    /// A listing is not whole: a bound was reached.
    ListingCut {
        /// The server.
        server: Arc<str>,
        /// Which.
        why: String,
    },
}

/// How a call ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallEnd {
    /// The tool, as it was resolved. `None`: the call was one of the host's own tools.
    pub tool: Option<Provenance>,
    /// What was decided about it last, and by which step. `None`: as above.
    pub decision: Option<Decision>,
    /// How.
    pub outcome: CallOutcome,
}

/// How a call ended: a closed set.
#[derive(Clone, Debug)]
pub enum CallOutcome {
    /// The tool ran and gave a result.
    Completed(ToolResult),
    /// The tool ran and says that it failed, or a tool of the host's own could not do what was asked.
    ToolError(ToolResult),
    /// It was not made.
    Denied(Denial),
    /// Time ran out. The connection stays.
    TimedOut(Duration),
    /// Whoever made it gave it up.
    Cancelled,
    /// The connection was lost. If `maybe_ran`, the tool may have run: look before calling it again.
    Disconnected {
        /// Whether the tool may have run.
        maybe_ran: bool,
    },
    /// The server cannot be called.
    Unavailable {
        /// Its status.
        status: Status,
        /// Its last error, masked and bounded; may be empty.
        error: String,
    },
    /// The server answered with an error or with something unusable.
    ProtocolError(ProtocolFault),
}

/// What a call gave.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolResult {
    /// As a model gets to see it.
    pub presented: Presented,
    /// As the server sent it. `None`: of a tool of the host's own.
    pub raw: Option<RawJson>,
}

/// Why a call was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// It was decided so.
    Decided(Decision),
    /// Somebody was asked and it was not released.
    NotReleased(NotReleased),
    /// Nobody could be asked.
    NotAsked(NotAsked),
    /// It was let through, but the waist refused it.
    Rejected(Rejection),
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decided(decision) => decision.fmt(f),
            Self::NotReleased(why) => why.fmt(f),
            Self::NotAsked(why) => why.fmt(f),
            Self::Rejected(why) => write!(f, "{why}. {}", why.advice()),
        }
    }
}

/// What was wrong with an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ProtocolFault {
    /// It is an error.
    Error(ErrorObject),
    /// It is unusable.
    Invalid(Violation),
    /// It is longer than a message may be.
    TooLarge {
        /// Its bytes.
        len: u64,
        /// The limit.
        limit: usize,
    },
    /// It asks for input, and with it open calls would hold more bytes of that than they may.
    InputTooLarge {
        /// The limit: [`HostConfig::max_call_bytes`](super::HostConfig::max_call_bytes).
        limit: usize,
    },
    /// The request was refused over HTTP.
    Refused(HttpRefusal),
    /// Other credentials are wanted.
    Challenged(Challenge),
    /// The request could not be sent.
    NotSent(crate::error::ApiError),
}

impl CallOutcome {
    /// Its name: `completed`, `tool_error`, `denied`, `timeout`, `cancelled`, `disconnected`, `unavailable` or
    /// `protocol_error`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Completed(_) => "completed",
            Self::ToolError(_) => "tool_error",
            Self::Denied(_) => "denied",
            Self::TimedOut(_) => "timeout",
            Self::Cancelled => "cancelled",
            Self::Disconnected { .. } => "disconnected",
            Self::Unavailable { .. } => "unavailable",
            Self::ProtocolError(_) => "protocol_error",
        }
    }
}
