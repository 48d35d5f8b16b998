//! What passes between a session and the transport below it.
//!
//! A session never speaks of bytes or connections. It hands down *exchanges*: a message, facts about it that a
//! transport may need, and what kind of answer to expect. It is told when an exchange began to leave, what came
//! back, and how it ended. A pipe and HTTP render the same exchange differently.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use bytes::Bytes;

use crate::http::{AuthChallenge, h1};
use crate::jsonrpc::RawJson;
use crate::mcp::{Method, Revision};

/// Names one exchange of one session; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeHandle(u64);

impl ExchangeHandle {
    /// The exchange that carries the request of wire id `id`.
    pub(crate) const fn of_request(id: u64) -> Self {
        Self(id << 1)
    }

    /// The `n`th exchange that carries something else.
    pub(crate) const fn of_message(n: u64) -> Self {
        Self((n << 1) | 1)
    }

    /// The `n`th exchange of a link that a server session stands behind, where the link gives the names.
    #[must_use]
    pub const fn numbered(n: u64) -> Self {
        Self(n)
    }

    pub(crate) const fn number(self) -> u64 {
        self.0
    }

    pub(crate) const fn request_id(self) -> Option<u64> {
        if self.0 & 1 == 0 { Some(self.0 >> 1) } else { None }
    }
}

/// Whose credential and cache an exchange belongs to. The link holds the secret; a session only carries the
/// name along. 0 is the connection's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Partition(pub u32);

/// What answer an exchange expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyForm {
    /// None: a notification, or our answer to a request of the peer's.
    None,
    /// One response, with notifications before it.
    One,
    /// A stream of notifications that ends with a response.
    Stream,
}

/// Facts about a message that a transport may have to put in its head. HTTP mirrors them; a pipe ignores them.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadFacts {
    /// The revision the message is written in; `None` before one is known.
    pub revision: Option<Revision>,
    /// Its method; `None` for a response.
    pub method: Option<Method>,
}

/// One message on its way out.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// Its name.
    pub handle: ExchangeHandle,
    /// The encoded message. Ends in LF, and has no other.
    pub message: Bytes,
    /// What a transport may need to know of it.
    pub facts: HeadFacts,
    /// What answer to expect.
    pub reply: ReplyForm,
    /// Whose credential to send it with.
    pub partition: Partition,
    /// Where in `message` the parameters stand; empty: there are none, or no transport needs them.
    pub(crate) params_at: Range<usize>,
}

impl Exchange {
    /// The parameters of a request as they are sent, `_meta` included: a view into the message. A transport
    /// that mirrors names or arguments in its head reads them here; a pipe pays nothing for it.
    #[must_use]
    pub fn params(&self) -> Option<RawJson> {
        let Range { start, end } = self.params_at;
        (start < end).then(|| RawJson::trusted(self.message.clone(), start, end))
    }
}

/// What a session asks of its link.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send this message.
    Send(Exchange),
    /// The answer to `exchange` is no longer wanted. A transport that gives each exchange a stream of its own
    /// closes that stream under a modern revision; every other sends `notice`. Without a notice there is nothing
    /// to send.
    Abort {
        /// The exchange to give up.
        exchange: ExchangeHandle,
        /// The ready `notifications/cancelled`.
        notice: Option<Exchange>,
    },
}

/// Where a message came from, and, for a server, where one goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The one stream that all messages share.
    Stream,
    /// The stream of this exchange.
    Exchange(ExchangeHandle),
    /// A stream that the server pushes on (legacy HTTP).
    Push,
}

/// How an exchange's own stream ended. A link with one shared stream never reports this.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExchangeEnd {
    /// In good order.
    Finished,
    /// It broke off.
    Broken,
    /// What came is not HTTP as it should be.
    Faulty(h1::Fault),
    /// Nothing of it left: there was no connection to be had.
    Unreachable,
    /// The server has forgotten the session that it was sent in, and did nothing.
    SessionGone,
    /// The server refused it at the transport's level.
    Refused(HttpRefusal),
    /// The server wants other credentials.
    Challenged(Challenge),
}

/// An HTTP answer that carried no usable JSON-RPC message. Displays as what is wrong, without anything secret.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HttpRefusal {
    /// The status.
    pub status: u16,
    /// What of the answer cannot be used.
    pub why: RefusedFor,
}

/// What of an HTTP answer cannot be used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RefusedFor {
    /// The status says it all.
    Status,
    /// Its content is of this type, neither JSON nor an event stream; empty: of none.
    ContentType(Box<str>),
    /// Its content is in this coding, though none was asked for.
    ContentCoding(Box<str>),
    /// It points to another origin, where nothing is sent.
    OtherOrigin(Box<str>),
    /// It points to no address.
    Redirect,
    /// It points to this path, and is not one of 307 and 308: what is sent there would be another request. Cut; without
    /// a query, which may hold a secret.
    Moved(Box<str>),
    /// It points on and on; so many times it was followed.
    TooManyRedirects(u8),
}

impl HttpRefusal {
    /// A refusal by its status alone.
    #[must_use]
    pub const fn new(status: u16) -> Self {
        Self { status, why: RefusedFor::Status }
    }
}

impl fmt::Display for HttpRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP status {}", self.status)?;
        match &self.why {
            RefusedFor::Status => Ok(()),
            RefusedFor::ContentType(name) if name.is_empty() => f.write_str(" with content of no type"),
            RefusedFor::ContentType(name) => write!(f, " with {name:?}, neither JSON nor an event stream"),
            RefusedFor::ContentCoding(name) => {
                write!(f, " with content in the coding {name:?}, which was not asked for")
            }
            RefusedFor::OtherOrigin(origin) => {
                write!(f, ": it points to {origin}, another origin; name that address if it is meant")
            }
            RefusedFor::Redirect => f.write_str(": a redirect that points to no address"),
            RefusedFor::Moved(path) => {
                write!(
                    f,
                    ": it points to {path} on the same server, and may not be followed; name that address"
                )
            }
            RefusedFor::TooManyRedirects(limit) => write!(f, ": it redirects more than {limit} times"),
        }
    }
}

/// An authorization challenge.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Challenge {
    /// The status: 401 or 403.
    pub status: u16,
    /// The `WWW-Authenticate` field, several joined by commas, if there was one. Cut to 8 KiB.
    pub challenge: Option<String>,
    /// What the server says in the content: the message of a JSON-RPC error, or plain text. Cut to 4 KiB; the peer's
    /// text, so escape it before it is shown.
    pub message: Option<Box<str>>,
}

impl Challenge {
    /// A challenge without content.
    #[must_use]
    pub const fn new(status: u16, challenge: Option<String>) -> Self {
        Self { status, challenge, message: None }
    }

    /// The challenges of the field. [`AuthChallenge::get`] finds `resource_metadata`, `scope`, `error` and others in
    /// them: the peer's words, to be checked before they are used.
    #[must_use]
    pub fn challenges(&self) -> Vec<AuthChallenge> {
        AuthChallenge::read(self.challenge.as_deref().unwrap_or_default())
    }

    /// A parameter of the first `Bearer` challenge that has it.
    ///
    /// Source: RFC 6750, section 3; RFC 9728, section 5.1.
    #[must_use]
    pub fn bearer(&self, name: &str) -> Option<String> {
        let all = self.challenges();
        let mut bearers = all.iter().filter(|one| one.scheme().eq_ignore_ascii_case("bearer"));
        bearers.find_map(|one| one.get(name)).map(String::from)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.challenge.as_ref().map_or(0, String::capacity)
            + self.message.as_ref().map_or(0, |text| text.len())
    }
}
