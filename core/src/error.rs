//! The four kinds of error, kept apart by whose fault they are.
//!
//! | whose fault | type | carried by |
//! |---|---|---|
//! | the caller's | [`ApiError`] | the `Result` of an application call; the machine is unchanged |
//! | the configuration's | [`ConfigError`] | `new` only |
//! | the peer's, survivable | [`Violation`] | an event; costs one unit of the violation budget |
//! | the peer's, final | [`CloseReason`] | the last event |
//!
//! Errors of the transport belong to the runtime; a machine sees them only as an end of input or of output.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::exchange::{Challenge, HttpRefusal};
use crate::http::h1;
use crate::jsonrpc::{ErrorObject, Fault, RequestId};
use crate::mcp::types::input::InputKind;
use crate::mcp::{Method, Revision};

/// An application call was refused. Nothing was sent and the machine is unchanged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ApiError {
    /// The connection is not ready yet: wait for the `Ready` event.
    NotReady,
    /// The handle is unknown: its request is over, or was never made here.
    UnknownRequest,
    /// The parameters cannot be sent; the text says why.
    BadParams(&'static str),
    /// The encoded message would be longer than the peer's limit of `limit` bytes. Send less, or raise
    /// `max_message_bytes`.
    TooLarge {
        /// Bytes of the message.
        len: usize,
        /// The limit it exceeds.
        limit: usize,
    },
    /// `limit` requests of this kind are open already. Wait for one to finish.
    TooManyInFlight {
        /// The limit that was reached.
        limit: usize,
    },
    /// Too much waits to be written. Try again after some of it has left.
    OutboundFull,
    /// The call went through as many rounds of input as are allowed.
    TooManyRounds {
        /// The limit that was reached.
        limit: u32,
    },
    /// The negotiated revision has no such method in this direction.
    WrongEra {
        /// What was asked for.
        method: Method,
        /// What was negotiated.
        revision: Revision,
    },
    /// The client did not declare that it can give this kind of input, so it must not be asked.
    MissingCapability {
        /// The kind.
        kind: InputKind,
    },
    /// The connection is closed, or its peer no longer reads.
    Closed,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady => f.write_str("the connection is not ready yet; wait for it"),
            Self::UnknownRequest => f.write_str("no such open request; it is over"),
            Self::BadParams(why) => write!(f, "the parameters cannot be sent: {why}"),
            Self::TooLarge { len, limit } => {
                write!(
                    f,
                    "the message has {len} bytes, the limit is {limit}; send less or raise max_message_bytes"
                )
            }
            Self::TooManyInFlight { limit } => {
                write!(f, "{limit} requests are open already; wait for one to finish")
            }
            Self::OutboundFull => f.write_str("too much waits to be written; the peer reads too slowly"),
            Self::TooManyRounds { limit } => write!(f, "the server asked for input {limit} times; giving up"),
            Self::WrongEra { method, revision } => {
                write!(f, "revision {revision} has no {method} from this side")
            }
            Self::MissingCapability { kind } => {
                write!(f, "the client did not declare that it can answer this ({kind:?})")
            }
            Self::Closed => f.write_str("the connection is closed"),
        }
    }
}

impl core::error::Error for ApiError {}

/// A limit in a configuration is out of bounds; nothing was built.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigError {
    /// The field's name.
    pub field: &'static str,
    /// The least it may be.
    pub min: u64,
    /// The most it may be.
    pub max: u64,
    /// What it was.
    pub got: u64,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; set it to between {} and {}", self.field, self.got, self.min, self.max)
    }
}

impl core::error::Error for ConfigError {}

/// Something the peer did wrong that leaves the stream usable.
///
/// Carries facts, never the peer's text (except bounded names), so that it can be logged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Violation {
    /// A message that is no JSON-RPC; the fault names the member.
    Malformed(Fault),
    /// A message longer than `limit` bytes that answers no open call; it was skipped.
    MessageTooLong {
        /// Its bytes.
        len: u64,
        /// The limit.
        limit: usize,
    },
    /// A JSON-RPC batch, which only revision 2025-03-26 has.
    Batch,
    /// A batch of more than `limit` messages. Behind those only answers to open calls were taken; what else there
    /// was is dropped.
    BatchTooLong {
        /// The limit: [`max_queued_events`](crate::limits::Limits::max_queued_events).
        limit: usize,
    },
    /// A request whose id is that of an open request of the same peer; it was refused, and the first goes on.
    DuplicateId {
        /// The id.
        id: RequestId,
    },
    /// An answer to a request that was never made. `type_differs`: a request with the same digits is open, but
    /// its id is a number, not a string.
    UnknownResponseId {
        /// The id as it came.
        id: RequestId,
        /// Whether only the JSON type differs from an open request's id.
        type_differs: bool,
    },
    /// An error that names no request.
    UnattributedError {
        /// Its code.
        code: i64,
    },
    /// A message this side must not be sent under the negotiated revision.
    WrongDirection {
        /// Its method.
        method: Method,
    },
    /// A result that does not have the shape its method asks for; the text says what is wrong.
    BadResult {
        /// The method it answers.
        method: Method,
        /// What is wrong.
        why: &'static str,
    },
    /// A result of a kind that neither the revision nor a declared extension knows.
    UnknownResultType {
        /// The kind, cut to 64 bytes.
        name: Box<str>,
    },
    /// A result without `resultType` from a server that declared a modern revision; taken as complete. Told
    /// once a connection.
    MissingResultType,
    /// An empty array where an object belongs; taken as an empty object. Told once a connection.
    EmptyArrayAsObject,
    /// A notification with parameters that cannot be used; dropped.
    BadNotification {
        /// Its method.
        method: Method,
    },
    /// A success without an answer to the request (HTTP links only). The server may have acted on it.
    Unanswered {
        /// The request's method.
        method: Method,
    },
    /// A notification, or our answer to a request of the server's, was refused (HTTP links only).
    NotTaken {
        /// The notification's method; `None`: an answer.
        method: Option<Method>,
        /// The HTTP status.
        status: u16,
    },
    /// What came in answer is not HTTP/1.1 as it should be (HTTP links only). The server may have acted on the request.
    Http(h1::Fault),
    /// A session id that cannot be sent back; the session goes on without (HTTP links only).
    BadSessionId,
    /// A tool was left out of a listing: it designates arguments for the head in a way that cannot be followed (HTTP
    /// links only, 2026-07-28).
    ToolLeftOut {
        /// Its name, cut to 128 bytes.
        tool: Box<str>,
        /// What is wrong.
        why: crate::http::mirror::Why,
    },
    /// A modern change notice outside every subscription; delivered all the same. Told once a connection.
    UntaggedNotification {
        /// Its method.
        method: Method,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(fault) => write!(f, "what it sent as a message is no JSON-RPC: {fault}"),
            Self::MessageTooLong { len, limit } => {
                write!(f, "a message of {len} bytes was skipped; the limit is {limit} (max_message_bytes)")
            }
            Self::Batch => f.write_str("a JSON-RPC batch, which the negotiated revision does not have"),
            Self::BatchTooLong { limit } => {
                write!(f, "a batch of more than {limit} messages (max_queued_events); the rest was dropped")
            }
            Self::DuplicateId { .. } => {
                f.write_str("a request with the id of one that is open; it was refused")
            }
            Self::UnknownResponseId { type_differs: true, .. } => {
                f.write_str("an answer whose id is a string, but the request's id was a number")
            }
            Self::UnknownResponseId { .. } => f.write_str("an answer to a request that was never made"),
            Self::UnattributedError { code } => write!(f, "an error ({code}) that names no request"),
            Self::WrongDirection { method } => {
                write!(f, "{} is not the peer's to send under this revision", Bounded(method.as_str()))
            }
            Self::BadResult { method, why } => write!(f, "the result of {method} is unusable: {why}"),
            Self::UnknownResultType { name } => write!(f, "unknown result type {name:?}"),
            Self::MissingResultType => {
                f.write_str("results lack resultType: the server looks older than the version it declared")
            }
            Self::EmptyArrayAsObject => f.write_str("an empty array stands where an object belongs"),
            Self::BadNotification { method } => {
                write!(f, "a {} with unusable parameters was dropped", Bounded(method.as_str()))
            }
            Self::Unanswered { method } => {
                write!(f, "{} was answered without a message", Bounded(method.as_str()))
            }
            Self::NotTaken { method: Some(method), status } => {
                write!(f, "{} was refused with HTTP status {status}", Bounded(method.as_str()))
            }
            Self::NotTaken { method: None, status } => {
                write!(f, "the answer to its request was refused with HTTP status {status}")
            }
            Self::Http(fault) => write!(f, "the answer is no correct HTTP/1.1: {fault}"),
            Self::BadSessionId => f.write_str("the id of the session is not one to be sent back"),
            Self::ToolLeftOut { tool, why } => write!(f, "the tool {tool:?} was left out: {why}"),
            Self::UntaggedNotification { method } => {
                write!(f, "{} came outside every subscription", Bounded(method.as_str()))
            }
        }
    }
}

/// A name of the peer's choosing, cut and escaped for an error text.
struct Bounded<'a>(&'a str);

impl fmt::Display for Bounded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars().take(64) {
            if c.is_control() {
                write!(f, "{}", c.escape_default())?;
            } else {
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

/// Why a connection ended. Final.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CloseReason {
    /// We closed it.
    Local,
    /// The peer ended its output.
    Eof,
    /// The peer ended its output while the era was still being looked for: some servers die of the probe, or
    /// after having refused it. Start anew with the older handshake (see [`client::era::next_start`](crate::client::era::next_start)).
    DiedOnProbe,
    /// Not ready within the limit.
    ConnectTimeout {
        /// What was waited for.
        waiting_for: Method,
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// No common revision. `supported`: what the server named, if it did.
    Incompatible {
        /// Versions the server named, bounded.
        supported: Vec<String>,
    },
    /// The server refused to open a session.
    Refused {
        /// What was refused.
        method: Method,
        /// The server's error, its message cut to 4 KiB, longer data left out.
        error: ErrorObject,
    },
    /// The peer broke the protocol beyond repair, or once too often.
    Protocol(Violation),
    /// The HTTP session is gone (HTTP links only).
    SessionGone,
    /// The HTTP server refused what opens the conversation (HTTP links only).
    HttpRefused(Box<HttpRefusal>),
    /// The HTTP server wants other credentials before anything is opened (HTTP links only).
    Challenged(Box<Challenge>),
    /// No connection could be made, or none that may be used (HTTP links only).
    Unreachable,
    /// Neither streamable HTTP nor, as it was refused, the transport of 2024-11-05 will do (HTTP links only).
    NoTransport {
        /// What came of streamable HTTP.
        streamable: Box<Self>,
        /// What came of HTTP with SSE.
        sse: Box<Self>,
    },
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("closed by this side"),
            Self::Eof => f.write_str("the server ended its output"),
            Self::DiedOnProbe => f.write_str("the server ended its output on the first message"),
            Self::ConnectTimeout { waiting_for, limit_ms } => {
                write!(f, "no answer to {waiting_for} within {limit_ms} ms (connect)")
            }
            Self::Incompatible { supported } if supported.is_empty() => {
                f.write_str("no protocol version in common; the server named none")
            }
            Self::Incompatible { supported } => {
                f.write_str("no protocol version in common; the server speaks")?;
                for (n, version) in supported.iter().enumerate() {
                    write!(f, "{} {}", if n == 0 { "" } else { "," }, Bounded(version))?;
                }
                Ok(())
            }
            Self::Refused { method, error } => {
                write!(f, "the server refused {method} (error {})", error.code)
            }
            Self::Protocol(violation) => write!(f, "the server broke the protocol: {violation}"),
            Self::SessionGone => f.write_str("the server has forgotten the session"),
            Self::HttpRefused(refusal) => write!(f, "{refusal}"),
            Self::Challenged(challenge) => {
                write!(f, "HTTP status {}: the server wants other credentials", challenge.status)
            }
            Self::Unreachable => f.write_str("the server cannot be reached"),
            Self::NoTransport { streamable, sse } => {
                write!(f, "over streamable HTTP: {streamable}; over HTTP with SSE, the older way: {sse}")
            }
        }
    }
}
