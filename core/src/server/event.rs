//! What a server tells its application, and what the application gives back.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;

use crate::error::Violation;
use crate::exchange::Origin;
use crate::jsonrpc::{ErrorObject, RawJson};
use crate::mcp::types::input::KeyedInput;
use crate::mcp::types::lifecycle::{ClientCapabilities, Implementation};
use crate::mcp::types::log::LogLevel;
use crate::mcp::{Era, Method, Revision, codes};
use crate::server::plain::text_result;

/// Names a request that the application has to answer. Counts up, is never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestHandle(pub(crate) u64);

/// Names a request of the application's that the client has to answer (revisions up to 2025-11-25).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerRequestHandle(pub(crate) u64);

/// On whose behalf a message came, as far as the transport could establish it. A name, never a secret.
///
/// Nothing that a client says of itself goes in here.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal(Option<Arc<str>>);

impl Principal {
    /// Nobody was established.
    #[must_use]
    pub const fn anonymous() -> Self {
        Self(None)
    }

    /// This one. Use a name that stays the same over restarts: sealed state is bound to it.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self(Some(name.into()))
    }

    /// As [`name`](Self::name), shared.
    pub(crate) fn shared(&self) -> Option<Arc<str>> {
        self.0.clone()
    }

    /// Its name, unless it is anonymous.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// What a server tells its application.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The client asks for something that only the application can do. Takes at most one
    /// [`respond`](crate::server::Session::respond), and none once [`Cancelled`](Self::Cancelled) came.
    ///
    /// The parameters have the shape that the method asks for; the types of
    /// [`mcp::types::request`](crate::mcp::types::request) read them.
    Request {
        /// Where to send the answer.
        request: RequestHandle,
        /// `tools/call`, `resources/read`, `resources/subscribe`, `resources/unsubscribe`, `prompts/get` or
        /// `completion/complete`.
        method: Method,
        /// An object, `_meta` included.
        params: RawJson,
        /// What is known of the asker.
        context: Box<Context>,
    },
    /// A request is no longer wanted, or cannot be answered any more. Stop working on it; an answer is refused.
    Cancelled {
        /// The request.
        request: RequestHandle,
        /// What the client said about it, cut to 256 bytes; untrusted text.
        reason: Option<Box<str>>,
    },
    /// What became of a [`request_input`](crate::server::Session::request_input). Each that was accepted gives
    /// exactly one of these.
    Answered {
        /// The request of the application's.
        peer: PeerRequestHandle,
        /// The answer, or why there is none.
        outcome: PeerOutcome,
    },
    /// The client tells something: that it is ready, or that its roots changed.
    Notification {
        /// What it is.
        method: Method,
        /// Its parameters.
        params: Option<RawJson>,
    },
    /// The client did something wrong; the connection goes on.
    Violation(Violation),
    /// The connection is over. The last event.
    Closed(CloseReason),
}

/// How a request for input ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PeerOutcome {
    /// The client's result: an object, not checked further. Untrusted.
    Result(RawJson),
    /// The client's error.
    Error(ErrorObject),
    /// Ours: no answer within [`Limits::peer_request`](crate::limits::Limits::peer_request).
    TimedOut,
    /// Ours: the request it was asked for is over.
    Cancelled,
    /// Ours: the connection ended first.
    Lost,
    /// The answer was longer than a message may be.
    TooLarge {
        /// Its bytes.
        len: u64,
        /// The limit.
        limit: usize,
    },
    /// The answer was unusable.
    Invalid(Violation),
}

/// Why a server's connection ended. Final.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CloseReason {
    /// We closed it.
    Local,
    /// The client ended its output; what was admitted before has been answered, or its time ran out.
    Eof,
    /// The client reads no more.
    Unread,
    /// The client was silent, and did not answer a ping ([`KeepAlive`](crate::server::KeepAlive)).
    PingTimedOut,
    /// The client broke the protocol once too often.
    Protocol(Violation),
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("closed by this side"),
            Self::Eof => f.write_str("the client ended its output"),
            Self::Unread => f.write_str("the client reads no more"),
            Self::PingTimedOut => f.write_str("the client did not answer a ping"),
            Self::Protocol(violation) => write!(f, "the client broke the protocol: {violation}"),
        }
    }
}

/// What is known of whoever made a request. Holds for this request alone.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Context {
    /// The revision the request is made in, and is answered in.
    pub revision: Revision,
    /// On whose behalf, as the transport established it.
    pub principal: Principal,
    /// What the client can give for this request.
    pub capabilities: ClientCapabilities,
    /// The least level of log messages it wants; `None`: it wants none.
    pub log_level: Option<LogLevel>,
    /// Whether it wants to hear of progress.
    pub wants_progress: bool,
    /// What an earlier round of this call left for this one (2026-07-28).
    pub round: Option<Box<InputRound>>,
    pub(crate) client: Who,
}

/// Where a client's name stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Who {
    Unsaid,
    Session(Arc<Implementation>),
    Told(RawJson),
}

impl Context {
    /// Session or stateless.
    #[must_use]
    pub const fn era(&self) -> Era {
        self.revision.era()
    }

    /// The client's name and version, as it says. For display only, never for decisions.
    #[must_use]
    pub fn client(&self) -> Option<Implementation> {
        match &self.client {
            Who::Unsaid => None,
            Who::Session(client) => Some((**client).clone()),
            Who::Told(raw) => Some(Implementation::read(raw.view())),
        }
    }
}

/// What a client sends along when it goes on with a call that asked for input (2026-07-28). All of it is
/// hostile input.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InputRound {
    /// The answers by key: an object of objects. Keys that were never asked for are to be ignored, missing ones to
    /// be asked for again.
    pub responses: Option<RawJson>,
    /// The state of the last answer. Open it with [`state::Seal`](crate::server::state::Seal) if it was sealed.
    pub state: Option<String>,
}

impl InputRound {
    /// The answer under `key`.
    #[must_use]
    pub fn response(&self, key: &str) -> Option<RawJson> {
        let responses = self.responses.as_ref()?;
        responses.view().get(key).and_then(|response| responses.slice_of(response))
    }
}

/// An answer to a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// The result: an object in the shape of the newest revision. What a revision adds (`resultType`, the server's
    /// name, caching hints) is put in, and what an older one does not have is left out, by the session.
    Complete(RawJson),
    /// The call cannot go on without input (2026-07-28). At least one of the two is there.
    InputRequired {
        /// What is asked, each under a key of its own.
        requests: Vec<KeyedInput>,
        /// Comes back with the answers. Seal it if anything hangs on it.
        state: Option<String>,
    },
    /// An error.
    Error(ErrorObject),
}

impl Reply {
    /// There is no such resource. The code is that of the request's revision.
    ///
    /// Spec: MCP server/resources, "Error Handling".
    #[must_use]
    pub fn resource_not_found(uri: &str) -> Self {
        let data = RawJson::object(|w| {
            w.string("uri", uri);
        });
        Self::Error(ErrorObject {
            code: codes::RESOURCE_NOT_FOUND,
            message: "resource not found".into(),
            data: Some(data),
        })
    }

    /// The result of a tool: one text block.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Complete(text_result(text, false))
    }

    /// A tool failed: one text block that says why, for the model.
    ///
    /// Spec: MCP server/tools, "Error Handling".
    #[must_use]
    pub fn tool_error(text: &str) -> Self {
        Self::Complete(text_result(text, true))
    }
}

/// What an application may tell while it works on a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// How far it is. Grows with every report.
    Progress {
        /// How far.
        progress: f64,
        /// How far in all, if known.
        total: Option<f64>,
        /// In words.
        message: Option<String>,
    },
    /// A log message. No secrets, personal data or internals.
    Log {
        /// How serious it is.
        level: LogLevel,
        /// Who logs.
        logger: Option<String>,
        /// What happened.
        data: RawJson,
    },
}

/// What a server session asks of its link.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send this.
    Send {
        /// Where to: the shared stream, the stream of one exchange, or the one that a legacy HTTP client listens
        /// to.
        to: Origin,
        /// The encoded message, which ends in LF and has no other. None: there is nothing to say, which on an
        /// exchange is an empty answer, or the end of what was begun.
        message: Option<Bytes>,
        /// Nothing more follows on this exchange.
        last: bool,
        /// The HTTP status, if nothing was sent on this exchange before.
        status: u16,
    },
}
