//! Addresses of HTTP resources.

use alloc::boxed::Box;
use core::fmt;

/// `http` or `https`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Plain.
    Http,
    /// Over TLS.
    Https,
}

/// Who to connect to, and how: what an origin is.
///
/// Source: RFC 6454; RFC 9110, section 4.3.1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Authority {
    /// How.
    pub scheme: Scheme,
    /// The host: a name in lower case, an IPv4 address, or an IPv6 address without its brackets.
    pub host: Box<str>,
    /// The port, the scheme's own if none was named.
    pub port: u16,
}

/// An absolute `http` or `https` address, without user information and fragment. The path and the query stay as they
/// were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    authority: Authority,
    target: Box<str>,
}

/// Why a text is no usable address. Never holds the text, which may hold secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlFault {
    /// It begins with neither `http://` nor `https://`.
    Scheme,
    /// The host is missing or cannot be one.
    Host,
    /// The port is no number up to 65535, or 0.
    Port,
    /// It holds a name or password in front of the host: put them into a header.
    UserInfo,
    /// It holds a character that must be escaped (%20 for a blank).
    Character,
}

impl fmt::Display for UrlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "an address begins with http:// or https://",
            Self::Host => "the host is missing or cannot be one",
            Self::Port => "the port must be a number from 1 to 65535",
            Self::UserInfo => "names and passwords do not belong into an address; use a header",
            Self::Character => "the address holds a character that must be escaped",
        })
    }
}

impl core::error::Error for UrlFault {}

impl Url {
    /// Reads an absolute address.
    ///
    /// # Errors
    /// What is wrong with it.
    #[expect(clippy::todo, reason = "a seam")]
    pub fn parse(_text: &str) -> Result<Self, UrlFault> {
        todo!()
    }

    /// The address that `location` means, seen from this one (RFC 3986, section 5.2). A fragment goes.
    ///
    /// # Errors
    /// What is wrong with it.
    #[expect(clippy::todo, reason = "a seam")]
    pub fn join(&self, _location: &str) -> Result<Self, UrlFault> {
        todo!()
    }

    /// Who to connect to.
    #[must_use]
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }

    /// What stands in the request line: path and query, `/` if there is none.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }
}

impl fmt::Display for Authority {
    #[expect(
        clippy::todo,
        reason = "a seam: scheme://host:port, the port left out if it is the scheme's own"
    )]
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
