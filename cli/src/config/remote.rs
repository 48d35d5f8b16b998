//! A server on the web, as it is written: where it is, what it is sent, and how to get there.

use clap::ValueEnum;
use sanswire::http::Url;
use sanswire::jsonrpc::{JsonRef, ObjectWriter};
use sanswire_std::ProxyAddress;

use super::headers;
use super::kind::{Words, pairs};
use crate::json::{member, text};

/// A server on the web. References in the values of headers, and in an address where its file's rules say so, stand as
/// they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) url: String,
    /// As they stand in the file, but fit to be sent.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) speaks: Speaks,
    /// The variable whose value is sent as a bearer token.
    pub(crate) bearer_env: Option<String>,
    /// Certificates of authorities: a path, from the folder of the file.
    pub(crate) ca_file: Option<String>,
    /// Our own certificate, and its key if that stands in another file.
    pub(crate) client_cert: Option<String>,
    pub(crate) client_key: Option<String>,
    /// The address of a proxy; `none`: by none, whatever the environment says.
    pub(crate) proxy: Option<String>,
    /// It must be on the public network.
    pub(crate) public_only: bool,
}

/// Which of the two ways a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Speaks {
    /// Whichever it knows, the newer one first
    #[default]
    Auto,
    /// Streamable HTTP, nothing else
    #[value(alias = "streamable-http")]
    Http,
    /// The older way, with a stream of events beside the requests; nothing else
    Sse,
}

/// Whether this is said of a server that is to be reached by no proxy.
pub(super) fn is_no_proxy(proxy: &str) -> bool {
    proxy.trim().eq_ignore_ascii_case("none")
}

/// Reads the address of a proxy. What stands in it may be secret, and is not repeated.
pub(super) fn proxy_address(proxy: &str) -> Result<ProxyAddress, String> {
    ProxyAddress::parse(proxy).map_err(|fault| {
        format!("its proxy cannot be used: {fault}; give one as http://HOST:PORT, or none, which is no proxy")
    })
}

/// Members of ours that only a server on the web has.
pub(super) const MEMBERS: [&str; 7] =
    ["headers", "bearer_env", "ca_file", "client_cert", "client_key", "proxy", "public_only"];

impl Speaks {
    /// Its name in a file; `None`: it is not said.
    pub(crate) const fn written(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Http => Some("http"),
            Self::Sse => Some("sse"),
        }
    }

    /// What an entry says. `old`: its address is called as programs call those of the older way.
    ///
    /// `http` is taken at its word in a file of ours. Other programs mean by it whatever is no stream of events, and some
    /// of them try the older way as well.
    fn read(value: JsonRef<'_>, old: bool, own: bool) -> Result<Self, String> {
        let said = ["type", "transport"].into_iter().find_map(|name| Some((name, text(value, name)?)));
        let Some((name, said)) = said else { return Ok(if old { Self::Sse } else { Self::Auto }) };
        match said.as_str() {
            "sse" => Ok(Self::Sse),
            "http" | "remote" | "streamable-http" | "streamableHttp" | "streamable_http" if old => {
                Ok(Self::Sse)
            }
            "http" if own => Ok(Self::Http),
            "streamable-http" | "streamableHttp" | "streamable_http" => Ok(Self::Http),
            "http" | "remote" => Ok(Self::Auto),
            "auto" if own => Ok(Self::Auto),
            said => Err(format!("{name} is {said:?}, not http or sse")),
        }
    }
}

impl Remote {
    /// Reads what an entry says beside its address. What is odd goes into `odd`.
    pub(super) fn read(
        value: JsonRef<'_>,
        url: String,
        old: bool,
        words: Words,
        odd: &mut Vec<String>,
    ) -> Result<Self, String> {
        if url.trim().is_empty() {
            return Err("url is empty".into());
        }
        let mut this = Self { speaks: Speaks::read(value, old, words.strict)?, url, ..Self::default() };
        for (name, said) in pairs(value, words.headers)? {
            match headers::check(&name, &said) {
                Ok(said) => this.headers.push((name, said)),
                Err(why) if words.strict => return Err(why),
                Err(why) => odd.push(why),
            }
        }
        if words.strict {
            for (name, to) in [
                ("bearer_env", &mut this.bearer_env),
                ("ca_file", &mut this.ca_file),
                ("client_cert", &mut this.client_cert),
                ("client_key", &mut this.client_key),
                ("proxy", &mut this.proxy),
            ] {
                *to = words_of(value, name)?;
            }
            if let Some(only) = member(value, "public_only") {
                this.public_only = only
                    .as_bool()
                    .ok_or_else(|| format!("public_only is {}, not true or false", only.kind()))?;
            }
            this.check()?;
        }
        Ok(this)
    }

    /// Whether a header says who we are.
    pub(crate) fn has_authorization(&self) -> bool {
        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
    }

    /// What does not go together.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.bearer_env.is_some() && self.has_authorization() {
            return Err("bearer_env and a header Authorization say the same thing; leave one out".into());
        }
        if self.client_key.is_some() && self.client_cert.is_none() {
            return Err("client_key is the key of a client_cert, which is not there".into());
        }
        if let Some(proxy) = self.at_proxy() {
            if self.public_only {
                return Err(
                    "public_only and a proxy do not go together: a proxy connects to whatever it likes"
                        .into(),
                );
            }
            proxy_address(proxy)?;
        }
        Ok(())
    }

    /// The address of the proxy that it is reached by, whatever the environment says.
    fn at_proxy(&self) -> Option<&str> {
        self.proxy.as_deref().filter(|proxy| !is_no_proxy(proxy))
    }

    /// As it stands in a file of ours; what is empty is left out.
    pub(crate) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.string("url", &self.url);
        if let Some(speaks) = self.speaks.written() {
            w.string("type", speaks);
        }
        if !self.headers.is_empty() {
            w.object("headers", |w| {
                for (name, value) in &self.headers {
                    w.string(name, value);
                }
            });
        }
        for (name, value) in [
            ("bearer_env", &self.bearer_env),
            ("ca_file", &self.ca_file),
            ("client_cert", &self.client_cert),
            ("client_key", &self.client_key),
            ("proxy", &self.proxy),
        ] {
            if let Some(value) = value {
                w.string(name, value);
            }
        }
        if self.public_only {
            w.bool("public_only", true);
        }
    }
}

/// A string that is not blank; none if it is not there.
fn words_of(value: JsonRef<'_>, name: &str) -> Result<Option<String>, String> {
    let Some(said) = member(value, name) else { return Ok(None) };
    let text = said.str().ok_or_else(|| format!("{name} is {}, not a string", said.kind()))?;
    let text = text.decode().trim().to_owned();
    if text.is_empty() { Err(format!("{name} is empty")) } else { Ok(Some(text)) }
}

/// An address begins with `http://` or `https://`, in whatever case.
pub(crate) fn check_url(url: &str) -> Result<(), String> {
    let lower = url.trim().to_ascii_lowercase();
    let rest = lower.strip_prefix("http://").or_else(|| lower.strip_prefix("https://"));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') => {
            Url::parse(url.trim()).map(drop).map_err(|fault| fault.to_string())
        }
        _ => Err("an address begins with http:// or https:// and a host".into()),
    }
}

/// An address as it is shown: it may hold a password, or a key in its query.
pub(crate) fn shown(url: &str) -> String {
    let address = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_at(address.find("://").map_or(0, |at| at + 3));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}{host}{path}")
}

/// Host and port of an address, as they stand there.
pub(crate) fn host(url: &str) -> String {
    let shown = shown(url);
    let rest = shown.split_once("://").map_or(shown.as_str(), |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use sanswire::jsonrpc::RawJson;

    use super::*;

    fn own(members: &str) -> Result<(Remote, Vec<String>), String> {
        let entry = RawJson::parse_str(&format!("{{\"url\":\"https://x\"{members}}}")).expect("JSON");
        let mut odd = Vec::new();
        Ok((Remote::read(entry.view(), "https://x".into(), false, Words::OWN, &mut odd)?, odd))
    }

    #[test]
    fn every_name_of_a_transport_means_one_of_three() {
        // C-24
        let read = |said: &str, old: bool, own: bool| {
            let said = RawJson::parse_str(said).expect("JSON");
            Speaks::read(said.view(), old, own)
        };
        for (said, ours, theirs) in [
            ("{}", Some(Speaks::Auto), Some(Speaks::Auto)),
            (r#"{"type":"http"}"#, Some(Speaks::Http), Some(Speaks::Auto)),
            (r#"{"transport":"http"}"#, Some(Speaks::Http), Some(Speaks::Auto)),
            (r#"{"type":"streamable-http"}"#, Some(Speaks::Http), Some(Speaks::Http)),
            (r#"{"type":"streamableHttp"}"#, Some(Speaks::Http), Some(Speaks::Http)),
            (r#"{"type":"streamable_http"}"#, Some(Speaks::Http), Some(Speaks::Http)),
            (r#"{"type":"remote"}"#, Some(Speaks::Auto), Some(Speaks::Auto)),
            (r#"{"type":"auto"}"#, Some(Speaks::Auto), None),
            (r#"{"type":"sse"}"#, Some(Speaks::Sse), Some(Speaks::Sse)),
            (r#"{"type":"stdio"}"#, None, None),
            (r#"{"type":"websocket"}"#, None, None),
        ] {
            assert_eq!(read(said, false, true).ok(), ours, "{said}");
            assert_eq!(read(said, false, false).ok(), theirs, "{said}");
        }
        assert_eq!(read("{}", true, false), Ok(Speaks::Sse));
        assert_eq!(read(r#"{"type":"http"}"#, true, false), Ok(Speaks::Sse));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (remote, odd) = own(
            r#","type":"http","headers":{"A":"b"},"bearer_env":"T","ca_file":"ca.pem","client_cert":"c.pem",
            "client_key":"k.pem","proxy":"http://p:1""#,
        )
        .expect("fine");
        assert_eq!((odd, remote.bearer_env.as_deref()), (Vec::new(), Some("T")));
        let (public, _) = own(r#","public_only":true,"proxy":"none""#).expect("fine");
        assert!(public.public_only);
        for remote in [remote, public] {
            let written = crate::json::object(|w| remote.write(w));
            let read = Remote::read(written.view(), remote.url.clone(), false, Words::OWN, &mut Vec::new());
            assert_eq!(read, Ok(remote));
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (members, says) in [
            (r#","bearer_env":"T","headers":{"authorization":"x"}"#, "leave one out"),
            (r#","bearer_env":1"#, "bearer_env is a number, not a string"),
            (r#","bearer_env":" ""#, "bearer_env is empty"),
            (r#","client_key":"k""#, "client_cert, which is not there"),
            (r#","public_only":"yes""#, "public_only is a string, not true or false"),
            (r#","public_only":true,"proxy":"http://p""#, "do not go together"),
            (
                r#","proxy":"socks5://p:1""#,
                "http:// and https:// addresses are supported; give one as http://HOST:PORT",
            ),
            (r#","proxy":"http://me:pw@""#, "the host is missing"),
            (r#","headers":{"Host":"y"}"#, "belongs to the transport"),
        ] {
            let why = own(members).expect_err(members);
            assert!(why.contains(says), "{members}: {why}");
        }
    }

    #[test]
    fn b_99_an_address_is_shown_without_what_may_be_secret() {
        for (url, shows, at) in [
            ("https://u:p@ss@host:1/@scope/x?key=1", "https://host:1/@scope/x", "host:1"),
            ("http://host#y", "http://host", "host"),
            ("HTTP://[::1]:8/?k=v#t", "HTTP://[::1]:8/", "[::1]:8"),
            ("nonsense?x", "nonsense", "nonsense"),
            ("me:pw@proxy:3128", "proxy:3128", "proxy:3128"),
        ] {
            assert_eq!((shown(url).as_str(), host(url).as_str()), (shows, at), "{url}");
        }
    }
}
