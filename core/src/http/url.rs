//! Addresses of HTTP resources.
//!
//! Strict: what RFC 3986 does not allow is refused, not mended, so that nobody reads an address in another way than we
//! do. Names that are not ASCII come in their `xn--` form.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};

/// The longest address that is read, in bytes.
pub const MAX_URL: usize = 8192;

/// `http` or `https`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Plain.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// As it stands in an address.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port where an address names none.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// Who to connect to, and how: what an origin is. Displays as one: `https://host:port`, the port left out where it is
/// the scheme's own.
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

impl Authority {
    /// What a `Host` field says: the host, an IPv6 address in brackets, and the port unless it is the scheme's own.
    #[must_use]
    pub fn host_field(&self) -> String {
        let host = &self.host;
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_string() };
        if self.port == self.scheme.default_port() { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host_field())
    }
}

/// An absolute `http` or `https` address, without user information and fragment. The path and the query stay as they
/// were written. Two are equal if the same request would be made of them.
///
/// `Debug` leaves the query out: people put secrets there. A copy is shared.
#[derive(Clone)]
pub struct Url(Arc<Parts>);

struct Parts {
    authority: Authority,
    // Shared: each exchange has its own, and a target may be as long as an address.
    target: Arc<str>,
    text: Arc<str>,
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
    /// It is longer than [`MAX_URL`].
    Length,
}

impl fmt::Display for UrlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "an address begins with http:// or https://",
            Self::Host => "the host is missing or cannot be one",
            Self::Port => "the port must be a number from 1 to 65535",
            Self::UserInfo => "names and passwords do not belong into an address; use a header",
            Self::Character => "the address holds a character that must be escaped",
            Self::Length => "the address is longer than 8192 bytes",
        })
    }
}

impl core::error::Error for UrlFault {}

impl PartialEq for Url {
    fn eq(&self, other: &Self) -> bool {
        self.0.authority == other.0.authority && self.0.target == other.0.target
    }
}

impl Eq for Url {}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, query) = split_query(&self.0.text);
        write!(f, "{path}{}", if query.is_some() { "?…" } else { "" })
    }
}

impl Url {
    /// Reads an absolute address. A fragment goes.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, UrlFault> {
        if text.len() > MAX_URL {
            return Err(UrlFault::Length);
        }
        let (scheme, rest) = text.split_once("://").ok_or(UrlFault::Scheme)?;
        let scheme = [Scheme::Http, Scheme::Https]
            .into_iter()
            .find(|known| scheme.eq_ignore_ascii_case(known.as_str()))
            .ok_or(UrlFault::Scheme)?;
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        check_characters(target)?;
        check_characters(fragment)?;
        let authority = read_authority(scheme, authority)?;
        let text = text.split('#').next().unwrap_or_default().into();
        let target = if target.starts_with('/') { target.into() } else { format!("/{target}").into() };
        Ok(Self(Arc::new(Parts { authority, target, text })))
    }

    /// The address that `location` means, seen from this one. A fragment goes.
    ///
    /// # Errors
    /// What is wrong with it.
    ///
    /// Source: RFC 3986, section 5.2.
    pub fn join(&self, location: &str) -> Result<Self, UrlFault> {
        let location = location.split('#').next().unwrap_or_default();
        if has_scheme(location) {
            return Self::parse(location);
        }
        if let Some(rest) = location.strip_prefix("//") {
            return Self::parse(&format!("{}://{rest}", self.0.authority.scheme.as_str()));
        }
        let (base, base_query) = split_query(&self.0.target);
        let (path, query) = split_query(location);
        let (path, query) = if path.is_empty() {
            (base.to_owned(), query.or(base_query))
        } else if path.starts_with('/') {
            (without_dots(path), query)
        } else {
            let folder = base.rfind('/').map_or("/", |slash| base.get(..=slash).unwrap_or("/"));
            (without_dots(&format!("{folder}{path}")), query)
        };
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        Self::parse(&format!("{}{path}{query}", self.0.authority))
    }

    /// As it was written, without a fragment. It may hold secrets where people put them into the query.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// Who to connect to.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.0.authority
    }

    /// What stands in the request line: path and query, `/` if there is none.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.0.target
    }
}

fn split_query(target: &str) -> (&str, Option<&str>) {
    target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)))
}

fn has_scheme(text: &str) -> bool {
    let end = text.find([':', '/', '?']).filter(|end| text.as_bytes().get(*end) == Some(&b':'));
    let scheme = end.and_then(|end| text.get(..end)).unwrap_or_default();
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// RFC 3986, section 5.2.4, for a path that begins with a slash.
fn without_dots(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or(0)),
            _ => {
                out.push('/');
                out.push_str(segment);
                continue;
            }
        }
        if last {
            out.push('/');
        }
    }
    out
}

/// Path, query and fragment: `pchar`, `/` and `?`, with whole escapes.
fn check_characters(text: &str) -> Result<(), UrlFault> {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fine = match byte {
            b'%' => [bytes.next(), bytes.next()]
                .into_iter()
                .all(|digit| digit.is_some_and(|digit| digit.is_ascii_hexdigit())),
            b'/' | b'?' | b':' | b'@' => true,
            _ => is_unreserved(byte) || is_sub_delimiter(byte),
        };
        if !fine {
            return Err(UrlFault::Character);
        }
    }
    Ok(())
}

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

const fn is_sub_delimiter(byte: u8) -> bool {
    matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=')
}

fn read_authority(scheme: Scheme, text: &str) -> Result<Authority, UrlFault> {
    if text.contains('@') {
        return Err(UrlFault::UserInfo);
    }
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(UrlFault::Host)?;
        let host: Ipv6Addr = host.parse().map_err(|_| UrlFault::Host)?;
        let port = rest.strip_prefix(':');
        if port.is_none() && !rest.is_empty() {
            return Err(UrlFault::Host);
        }
        (host.to_string(), port)
    } else {
        let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
        check_name(host)?;
        (host.to_ascii_lowercase(), port)
    };
    let port = match port {
        None => scheme.default_port(),
        Some(digits) if digits.len() <= 5 && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|port| *port != 0).ok_or(UrlFault::Port)?
        }
        Some(_) => return Err(UrlFault::Port),
    };
    Ok(Authority { scheme, host: host.into(), port })
}

/// A name as it is looked up, or an IPv4 address. What ends in digits is an address in full or nothing: `127.1` means
/// one to some and none to others.
fn check_name(host: &str) -> Result<(), UrlFault> {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let name = host.strip_suffix('.').unwrap_or(host);
    if host.len() > 253 || !name.split('.').all(label) {
        return Err(UrlFault::Host);
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    let number = last.bytes().all(|byte| byte.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if number && host.parse::<Ipv4Addr>().is_err() {
        return Err(UrlFault::Host);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
