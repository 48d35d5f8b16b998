//! Heads: what stands in front of a body.

use alloc::boxed::Box;
use core::fmt;

use crate::http::fields::Fields;

/// Names one HTTP exchange of a [`Client`](crate::http::Client) or an [`Endpoint`](crate::http::Endpoint): a request
/// with its answer. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HttpHandle(u64);

impl HttpHandle {
    /// The `n`th.
    #[must_use]
    pub const fn numbered(n: u64) -> Self {
        Self(n)
    }

    /// Which it is.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// A request's method. HTTP's word; ours is another to tell it from [`Method`](crate::mcp::Method).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verb {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `DELETE`
    Delete,
    /// Any other token, as it stands.
    Other(Box<str>),
}

impl Verb {
    /// As it stands on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
            Self::Other(name) => name,
        }
    }

    /// The method of this name. Methods are case-sensitive.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "GET" => Self::Get,
            "POST" => Self::Post,
            "DELETE" => Self::Delete,
            other => Self::Other(other.into()),
        }
    }
}

/// The head of a request. What frames the body (`Content-Length`, `Transfer-Encoding`) and the connection
/// (`Connection`, `Expect`) is not among the fields of one that is sent: [`h1`](crate::http::h1) writes it.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// What is to be done.
    pub verb: Verb,
    /// The target as it stands in the request line: a path with its query.
    pub target: Box<str>,
    /// The fields. One that is sent has its `Host` here.
    pub fields: Fields,
}

/// The query is left out: it may be a secret.
impl fmt::Debug for RequestHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, query) = self.target.split_once('?').map_or((&*self.target, ""), |(path, _)| (path, "?…"));
        f.debug_struct("RequestHead")
            .field("verb", &self.verb)
            .field("target", &format_args!("{path}{query}"))
            .field("fields", &self.fields)
            .finish()
    }
}

/// The head of an answer. As for [`RequestHead`], framing is not among the fields of one that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status: three digits.
    pub status: u16,
    /// The fields.
    pub fields: Fields,
}

impl ResponseHead {
    /// A head without fields.
    #[must_use]
    pub const fn new(status: u16) -> Self {
        Self { status, fields: Fields::new() }
    }

    /// Whether it says that its content is of this type, such as `text/event-stream`. Parameters and case are passed over.
    ///
    /// Source: RFC 9110, section 8.3.1.
    #[must_use]
    pub fn is_of_type(&self, wanted: &str) -> bool {
        let of_type = |value: &str| {
            let essence = value.split(';').next().unwrap_or_default();
            essence.trim().eq_ignore_ascii_case(wanted)
        };
        self.fields.text("content-type").is_some_and(of_type)
    }
}
