//! By which proxy a server is reached: one that was named, or what the environment says.

use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;

use sanswire::http::{Authority, Scheme, Url, UrlFault};

use crate::http::bypass::{Bypass, is_below};

/// A proxy for HTTP: where it is, and what it is told about who we are.
///
/// It is asked for a tunnel (`CONNECT`), also to a server without TLS: so there is one way for both, the proxy neither
/// changes nor holds back nor remembers what passes, and each connection still belongs to one server.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyAddress {
    authority: Authority,
    /// The value of `Proxy-Authorization`. A secret.
    authorization: Option<Box<str>>,
}

/// Why a text names no usable proxy. Never holds the text, which may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyAddressFault {
    /// A scheme other than `http` and `https`, `socks5` for example.
    Scheme,
    /// The name or the password in front of the host is no text after its `%` escapes are read, or holds control
    /// characters.
    Credentials,
    /// The rest is no address.
    Address(UrlFault),
}

impl fmt::Display for ProxyAddressFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme => f.write_str("only proxies at http:// and https:// addresses are supported"),
            Self::Credentials => f.write_str("the name or the password in it is not properly escaped"),
            Self::Address(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for ProxyAddressFault {}

/// Without what it is told: that is a secret.
impl fmt::Debug for ProxyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyAddress")
            .field("authority", &self.authority)
            .field("authorization", &self.authorization.is_some())
            .finish()
    }
}

impl ProxyAddress {
    /// Reads `http://name:password@host:port`: scheme, name and password may be left out; a path is passed over.
    ///
    /// # Errors
    /// What is wrong with it. The error does not repeat it.
    pub fn parse(text: &str) -> Result<Self, ProxyAddressFault> {
        let (scheme, rest) = text.trim().split_once("://").unwrap_or(("http", text.trim()));
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => "http",
            "https" => "https",
            _ => return Err(ProxyAddressFault::Scheme),
        };
        let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, host) = match rest.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, rest),
        };
        let url = Url::parse(&format!("{scheme}://{host}/")).map_err(ProxyAddressFault::Address)?;
        let authorization = user.filter(|user| !user.is_empty()).map(basic).transpose()?;
        Ok(Self { authority: url.authority().clone(), authorization })
    }

    /// Where it is.
    #[must_use]
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Its host and port.
    #[must_use]
    pub fn place(&self) -> String {
        host_and_port(&self.authority.host, self.authority.port)
    }
}

/// What a proxy is told in `Proxy-Authorization`. A secret.
#[must_use]
pub fn authorization(proxy: &ProxyAddress) -> Option<&str> {
    proxy.authorization.as_deref()
}

/// As in the target of `CONNECT`: the port is always there.
#[must_use]
pub fn host_and_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// RFC 7617, section 2. What stands before the first colon is the name.
fn basic(user: &str) -> Result<Box<str>, ProxyAddressFault> {
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let (name, password) = (unescaped(name)?, unescaped(password)?);
    let control = |text: &str| text.chars().any(char::is_control);
    if name.contains(':') || control(&name) || control(&password) {
        return Err(ProxyAddressFault::Credentials);
    }
    Ok(format!("Basic {}", sanswire::base64::encode(format!("{name}:{password}").as_bytes())).into())
}

fn unescaped(text: &str) -> Result<String, ProxyAddressFault> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let mut digit =
                || rest.next().and_then(|digit| char::from(digit).to_digit(16)).map(|digit| digit as u8);
            match (digit(), digit()) {
                (Some(high), Some(low)) => high << 4 | low,
                _ => return Err(ProxyAddressFault::Credentials),
            }
        } else {
            byte
        });
    }
    String::from_utf8(bytes).map_err(|_| ProxyAddressFault::Credentials)
}

/// What the environment says about proxies, read once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ambient {
    https: Option<Named>,
    http: Option<Named>,
    bypass: Bypass,
}

/// What one variable says. Whether it is usable matters only if it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    variable: &'static str,
    address: Result<ProxyAddress, ProxyAddressFault>,
}

impl Ambient {
    /// Reads it by way of `get`, `std::env::var_os` for example. In lower case the names come first; an empty value is none.
    #[must_use]
    pub fn read(get: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let named = |names: &[&'static str]| {
            let set = |name: &&'static str| Some((*name, get(name).filter(|value| !value.is_empty())?));
            let (variable, value) = names.iter().find_map(set)?;
            let value = value.into_string().map_err(|_| ProxyAddressFault::Address(UrlFault::Character));
            Some(Named { variable, address: value.and_then(|value| ProxyAddress::parse(&value)) })
        };
        // A web server hands a request's field `Proxy` to the programs it runs as HTTP_PROXY: strangers must not choose.
        // Where the case of a name means nothing, it is the other one as well.
        let http: &[_] = match get("REQUEST_METHOD") {
            Some(_) if cfg!(windows) => &["all_proxy", "ALL_PROXY"],
            Some(_) => &["http_proxy", "all_proxy", "ALL_PROXY"],
            None => &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
        };
        let list = ["no_proxy", "NO_PROXY"].iter().find_map(|name| get(name).filter(|list| !list.is_empty()));
        Self {
            https: named(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
            http: named(http),
            bypass: list.map(|list| Bypass::parse(&list.to_string_lossy())).unwrap_or_default(),
        }
    }

    /// The proxy for a server, if it is to be reached by one: never what runs on this computer.
    ///
    /// # Errors
    /// The variable that names it, and what is wrong with its value.
    pub fn proxy_for(
        &self,
        to: &Authority,
    ) -> Result<Option<&ProxyAddress>, (&'static str, ProxyAddressFault)> {
        let named = match to.scheme {
            Scheme::Https => &self.https,
            Scheme::Http => &self.http,
        };
        match named {
            Some(named) if !is_loopback(&to.host) && !self.bypass.holds(&to.host, to.port) => {
                named.address.as_ref().map(Some).map_err(|fault| (named.variable, *fault))
            }
            _ => Ok(None),
        }
    }
}

/// Whether a host is this computer, by its name or address.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => is_below(host, "localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ambient(variables: &[(&str, &str)]) -> Ambient {
        Ambient::read(&|name| {
            variables.iter().find(|(is, _)| *is == name).map(|(_, value)| OsString::from(value))
        })
    }

    fn to(url: &str) -> Authority {
        Url::parse(url).unwrap().authority().clone()
    }

    /// The host of the proxy for `url`, or `-`; the variable that is wrong.
    fn by(variables: &[(&str, &str)], url: &str) -> String {
        match ambient(variables).proxy_for(&to(url)) {
            Ok(proxy) => proxy.map_or("-".into(), |proxy| proxy.authority.host.to_string()),
            Err((variable, _)) => format!("!{variable}"),
        }
    }

    #[test]
    fn addresses_of_proxies() {
        let read = |text: &str| {
            let address = ProxyAddress::parse(text).unwrap();
            let Authority { scheme, host, port } = address.authority;
            (scheme, host.to_string(), port, address.authorization.map(String::from))
        };
        let plain = |scheme, host: &str, port, authorization: Option<&str>| {
            (scheme, host.into(), port, authorization.map(String::from))
        };
        for (text, expected) in [
            ("http://proxy:3128", plain(Scheme::Http, "proxy", 3128, None)),
            ("HTTPS://Proxy", plain(Scheme::Https, "proxy", 443, None)),
            (" proxy.example:8080 ", plain(Scheme::Http, "proxy.example", 8080, None)),
            ("10.0.0.1", plain(Scheme::Http, "10.0.0.1", 80, None)),
            ("http://[::1]:3128/path?query#fragment", plain(Scheme::Http, "::1", 3128, None)),
            (
                "http://Aladdin:open%20sesame@proxy:1",
                plain(Scheme::Http, "proxy", 1, Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")),
            ),
            // name:p@ss:word
            ("u:p@ss:w@proxy:1", plain(Scheme::Http, "proxy", 1, Some("Basic dTpwQHNzOnc="))),
            ("http://name@proxy", plain(Scheme::Http, "proxy", 80, Some("Basic bmFtZTo="))),
            ("http://@proxy", plain(Scheme::Http, "proxy", 80, None)),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn addresses_that_are_none() {
        for (text, fault) in [
            ("socks5://proxy:1080", ProxyAddressFault::Scheme),
            ("ftp://proxy", ProxyAddressFault::Scheme),
            ("http://a:%zz@proxy", ProxyAddressFault::Credentials),
            ("http://a:%4@proxy", ProxyAddressFault::Credentials),
            ("http://a:%ff@proxy", ProxyAddressFault::Credentials),
            ("http://a:%0d%0a@proxy", ProxyAddressFault::Credentials),
            ("http://a%3ab:c@proxy", ProxyAddressFault::Credentials),
            ("http://", ProxyAddressFault::Address(UrlFault::Host)),
            ("http://proxy:0", ProxyAddressFault::Address(UrlFault::Port)),
        ] {
            assert_eq!(ProxyAddress::parse(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let address = ProxyAddress::parse("http://name:hunter2@proxy:3128").unwrap();
        let shown = format!("{address:?} {:?}", ambient(&[("all_proxy", "http://name:hunter2@proxy")]));
        assert!(!shown.contains("hunter2") && !shown.contains("Basic"), "{shown}");
        assert!(!shown.contains(&sanswire::base64::encode(b"name:hunter2")), "{shown}");
    }

    #[test]
    fn which_variable_counts() {
        let all = [
            ("https_proxy", "s"),
            ("HTTPS_PROXY", "upper-s"),
            ("http_proxy", "h"),
            ("HTTP_PROXY", "upper-h"),
            ("all_proxy", "a"),
            ("ALL_PROXY", "upper-a"),
        ];
        let https = ["s", "upper-s", "a", "upper-a", "-"];
        let http = ["h", "upper-h", "a", "upper-a", "-"];
        for (url, expected) in [("https://x.org", https), ("http://x.org", http)] {
            let mut left: Vec<_> = all.to_vec();
            for expected in expected {
                assert_eq!(by(&left, url), expected, "{url} {left:?}");
                left.retain(|(_, value)| *value != expected);
            }
        }
        assert_eq!(by(&[("https_proxy", ""), ("HTTPS_PROXY", "upper-s")], "https://x.org"), "upper-s");
    }

    #[test]
    fn a_request_to_a_web_server_chooses_no_proxy() {
        let mut all = vec![("HTTP_PROXY", "strangers"), ("REQUEST_METHOD", "GET")];
        assert_eq!(by(&all, "http://x.org"), "-");
        assert_eq!(by(&all[..1], "http://x.org"), "strangers");
        all.push(("ALL_PROXY", "a"));
        assert_eq!(by(&all, "http://x.org"), "a");
        if !cfg!(windows) {
            all.push(("http_proxy", "h"));
            assert_eq!(by(&all, "http://x.org"), "h");
        }
    }

    #[test]
    fn who_is_reached_without_one() {
        let variables = [("all_proxy", "p"), ("no_proxy", "a.org"), ("NO_PROXY", "b.org")];
        for (url, expected) in [
            ("https://a.org", "-"),
            ("http://sub.a.org:8080", "-"),
            ("https://b.org", "p"),
            ("http://localhost:3000", "-"),
            ("http://x.localhost", "-"),
            ("https://127.9.9.9", "-"),
            ("http://[::1]:1", "-"),
            ("http://[::ffff:127.0.0.1]:1", "-"),
            ("http://notlocalhost", "p"),
            ("http://localhost.org", "p"),
            ("http://128.0.0.1", "p"),
        ] {
            assert_eq!(by(&variables, url), expected, "{url}");
        }
    }

    #[test]
    fn a_variable_that_cannot_be_read_is_told_when_it_is_used() {
        let variables = [("https_proxy", "socks5://p"), ("no_proxy", "a.org")];
        assert_eq!(by(&variables, "https://x.org"), "!https_proxy");
        assert_eq!(by(&variables, "https://a.org"), "-");
        assert_eq!(by(&variables, "http://x.org"), "-");
    }
}
