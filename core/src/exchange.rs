//! What passes between a session and the transport below it.
//!
//! A session never speaks of bytes or connections. It hands down *exchanges*: a message, facts about it that a
//! transport may need, and what kind of answer to expect. It is told when an exchange began to leave, what came
//! back, and how it ended. A pipe and HTTP render the same exchange differently.

use alloc::string::String;
use core::ops::Range;

use bytes::Bytes;

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
    /// The server refused it at the transport's level.
    Refused(HttpRefusal),
    /// The server wants other credentials.
    Challenged(Challenge),
}

/// An HTTP status that carried no usable JSON-RPC message.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpRefusal {
    /// The status.
    pub status: u16,
}

/// An authorization challenge.
#[derive(Clone, Debug, PartialEq)]
pub struct Challenge {
    /// The status: 401 or 403.
    pub status: u16,
    /// The `WWW-Authenticate` field, if there was one.
    pub challenge: Option<String>,
}
