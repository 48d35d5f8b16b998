//! Whose `Host` and `Origin` are welcome: no page of a browser gets here by a name that only points here.
//!
//! Spec: MCP basic/transports, "Security Warning"; RFC 9110, section 7.2; RFC 6454, section 7.

use crate::http::endpoint::config::Names;

/// A host and its port, as they stand in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place<'a> {
    name: &'a str,
    port: Option<u16>,
}

impl<'a> Place<'a> {
    /// `None`: it is none. A user in front of the name makes it none.
    fn read(text: &'a str) -> Option<Self> {
        let (name, rest) = if text.starts_with('[') {
            let end = text.find(']')? + 1;
            (text.get(..end)?, text.get(end..)?)
        } else {
            text.split_at(text.find(':').unwrap_or(text.len()))
        };
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let fine = match bare {
            Some(address) => {
                address.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'))
            }
            None => {
                name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
            }
        };
        let port = match rest.strip_prefix(':') {
            None => rest.is_empty().then_some(None)?,
            Some("") => None,
            Some(digits) => {
                Some(digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?)
            }
        };
        (fine && !name.is_empty() && bare != Some("")).then_some(Self { name, port })
    }

    fn is_loopback(self) -> bool {
        ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| self.name.eq_ignore_ascii_case(name))
    }
}

/// Whether this is a host, with or without a port.
pub(super) fn is_host(text: &str) -> bool {
    Place::read(text).is_some()
}

/// Whether this is an origin: with its scheme, or `null`.
pub(super) fn is_origin(text: &str) -> bool {
    text == "null" || origin(text).is_some()
}

/// Whether this is the path of an endpoint.
pub(super) fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#'))
}

/// The scheme and the place, with the port that its scheme has by default.
fn origin(text: &str) -> Option<(&str, Place<'_>)> {
    let (scheme, rest) = text.split_once("://")?;
    let mut place = Place::read(rest)?;
    if scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    {
        return None;
    }
    place.port = place.port.or_else(|| match scheme {
        _ if scheme.eq_ignore_ascii_case("http") => Some(80),
        _ if scheme.eq_ignore_ascii_case("https") => Some(443),
        _ => None,
    });
    Some((scheme, place))
}

impl Names {
    /// Whether the host of a `Host` field, or of a target, is welcome. Names compare without case.
    pub(super) fn welcome_host(&self, host: &str) -> bool {
        let Some(place) = Place::read(host) else { return false };
        match self {
            Self::Any => true,
            Self::Loopback => place.is_loopback(),
            Self::These(names) => {
                let is_it = |listed: Place<'_>| {
                    listed.name.eq_ignore_ascii_case(place.name)
                        && (listed.port.is_none() || listed.port == place.port)
                };
                place.is_loopback() || names.iter().filter_map(|name| Place::read(name)).any(is_it)
            }
        }
    }

    /// Whether the value of an `Origin` field is welcome. Schemes and names compare without case.
    pub(super) fn welcome_origin(&self, value: &str) -> bool {
        let loopback = || {
            origin(value).is_some_and(|(scheme, place)| {
                let web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
                web && place.is_loopback()
            })
        };
        *self == Self::Any || self.lists_origin(value) || loopback()
    }

    /// Whether it is listed by name: what is welcome unasked is not.
    pub(super) fn lists_origin(&self, value: &str) -> bool {
        let Self::These(names) = self else { return false };
        let Some((scheme, place)) = origin(value) else {
            return value == "null" && names.iter().any(|name| **name == *value);
        };
        let is_it = |(other, listed): (&str, Place<'_>)| {
            other.eq_ignore_ascii_case(scheme)
                && listed.name.eq_ignore_ascii_case(place.name)
                && listed.port == place.port
        };
        names.iter().filter_map(|name| origin(name)).any(is_it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn these(names: &[&str]) -> Names {
        Names::These(names.iter().map(|name| (*name).into()).collect())
    }

    #[test]
    fn b_87_loopback_names_are_welcome_at_any_port_and_others_where_they_are_listed() {
        let listed = these(&["mcp.example.com", "Other.example:8443", "[2001:db8::1]"]);
        for (host, loopback, these) in [
            ("localhost", true, true),
            ("LOCALHOST:8080", true, true),
            ("127.0.0.1:1", true, true),
            ("[::1]", true, true),
            ("[::1]:65535", true, true),
            ("localhost:", true, true),
            ("mcp.example.com", false, true),
            ("MCP.example.com:9", false, true),
            ("other.example:8443", false, true),
            ("other.example:8444", false, false),
            ("other.example", false, false),
            ("[2001:db8::1]:80", false, true),
            ("mcp.example.com.evil.example", false, false),
            ("evil-localhost", false, false),
            ("localhost.evil.example", false, false),
            ("localhost@evil.example", false, false),
            ("evil.example@localhost", false, false),
            ("localhost:65536", false, false),
            ("localhost:+80", false, false),
            ("localhost:80:80", false, false),
            ("[::1]x", false, false),
            ("[::1", false, false),
            ("[]", false, false),
            ("127.0.0.2", false, false),
            ("0.0.0.0", false, false),
            ("localhost/", false, false),
            ("", false, false),
        ] {
            assert_eq!(Names::Loopback.welcome_host(host), loopback, "{host}");
            assert_eq!(listed.welcome_host(host), these, "{host}");
            assert_eq!(Names::Any.welcome_host(host), is_host(host), "{host}");
        }
    }

    #[test]
    fn an_origin_is_welcome_with_its_scheme_and_port() {
        let listed = these(&["https://app.example", "http://app.example:8080", "vscode-webview://x"]);
        for (value, loopback, these) in [
            ("http://localhost", true, true),
            ("https://LOCALHOST:3000", true, true),
            ("http://[::1]:5", true, true),
            ("ftp://localhost", false, false),
            ("https://app.example", false, true),
            ("HTTPS://App.example:443", false, true),
            ("https://app.example:8443", false, false),
            ("http://app.example", false, false),
            ("http://app.example:8080", false, true),
            ("vscode-webview://x", false, true),
            ("https://evil.example", false, false),
            ("https://app.example.evil.example", false, false),
            ("null", false, false),
            ("", false, false),
            ("localhost", false, false),
            ("http://localhost/path", false, false),
        ] {
            assert_eq!(Names::Loopback.welcome_origin(value), loopback, "{value}");
            assert_eq!(listed.welcome_origin(value), these, "{value}");
            assert!(Names::Any.welcome_origin(value));
        }
        assert!(these(&["null"]).welcome_origin("null"));
    }

    #[test]
    fn what_is_no_name_can_be_no_setting() {
        for (text, host, origin, path) in [
            ("a.example", true, false, false),
            ("a.example:80", true, false, false),
            ("https://a.example", false, true, false),
            ("null", true, true, false),
            ("/mcp", false, false, true),
            ("/", false, false, true),
            ("/a?b", false, false, false),
            ("/a b", false, false, false),
            ("", false, false, false),
        ] {
            assert_eq!((is_host(text), is_origin(text), is_path(text)), (host, origin, path), "{text}");
        }
    }
}
