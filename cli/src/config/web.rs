//! From an entry on the web to what is sent where.

use std::path::{Path, PathBuf};

use sanswire::http::client::Kind as Transport;
use sanswire_std::{HttpTarget, Proxy};

use super::entry::Entry;
use super::expand::{Piece, Rules, pieces};
use super::kind::Kind;
use super::launch::{Expansion, Values, variable_secrets};
use super::remote::{Speaks, is_no_proxy, proxy_address, shown};
use super::{headers, secrets};
use crate::failure::Failure;

/// A server on the web, with everything put in.
#[cfg_attr(test, derive(Debug))]
pub(crate) struct Web {
    pub(crate) url: String,
    /// What is sent with every request, beside what the transport writes itself.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) speaks: Speaks,
    ca_file: Option<PathBuf>,
    client_certificate: Option<(PathBuf, PathBuf)>,
    proxy: Option<String>,
    public_only: bool,
    /// What must not be shown.
    pub(crate) secrets: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// Where the server of `entry` is, and what is sent to it. `None`: it is not on the web. Fails where a variable that is
/// needed has no value.
pub(crate) fn web(entry: &Entry) -> Result<Option<Web>, Failure> {
    let Kind::Http(remote) = &entry.kind else { return Ok(None) };
    let wrong = |why| Failure::usage(format!("{}: {why}", entry.place())).of(&entry.name);
    let values = Values::of(entry);
    let mut out = Expansion::of(entry, &values);
    let everywhere = entry.origin.rules().everywhere();
    let url = if everywhere { out.put_in(&remote.url, "url")?.text } else { remote.url.clone() };
    let mut sent = Vec::with_capacity(remote.headers.len());
    for (name, value) in &remote.headers {
        let expanded = out.put_in(value, &format!("headers.{name}"))?;
        out.secrets.extend(variable_secrets(&expanded.values));
        let said = headers::finish(name, &expanded.text).map_err(wrong)?;
        if said.is_empty() && headers::is_authorization(name) {
            let place = entry.place();
            out.warnings.push(format!("{place}: headers.{name} is empty, and is not sent"));
            continue;
        }
        sent.push((name.clone(), said));
    }
    if let Some(name) = &remote.bearer_env {
        let token = bearer(name)
            .map_err(|why| wrong(why).hint("it wants the name of a variable that holds the token"))?;
        sent.push(("Authorization".into(), format!("Bearer {token}")));
    }
    out.secrets.extend(variable_secrets(&sent));
    for (name, value) in &sent {
        secrets::sent(name, value, &mut out.secrets);
    }
    secrets::within(&url, &mut out.secrets);
    secrets::query(&url, &mut out.secrets);
    if let Some(proxy) = &remote.proxy {
        secrets::user(proxy, &mut out.secrets);
    }
    let folder = entry.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let path = |path: &String| folder.join(path);
    let key = remote.client_key.as_ref().or(remote.client_cert.as_ref());
    let plain = |url: &str| url.trim().get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"));
    if plain(&url) && remote.proxy.as_deref().is_none_or(|proxy| plain(proxy) || is_no_proxy(proxy)) {
        for member in [("ca_file", &remote.ca_file), ("client_cert", &remote.client_cert)] {
            if let (name, Some(_)) = member {
                let place = entry.place();
                out.warnings
                    .push(format!("{place}: {name} has no effect: certificates count with https:// only"));
            }
        }
    }
    let (secrets, warnings) = (out.secrets, out.warnings);
    Ok(Some(Web {
        url: url.trim().to_owned(),
        headers: sent,
        speaks: remote.speaks,
        ca_file: remote.ca_file.as_ref().map(path),
        client_certificate: remote.client_cert.as_ref().map(path).zip(key.map(path)),
        proxy: remote.proxy.clone(),
        public_only: remote.public_only,
        secrets,
        warnings,
    }))
}

/// The token in a variable, without the name of its scheme.
fn bearer(name: &str) -> Result<String, String> {
    // What does not look like the usual names may be a token in the wrong place, and is not repeated.
    let usual = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let named = if usual { name } else { "that bearer_env names" };
    let said = std::env::var(name).map_err(|_| format!("the variable {named} is not set"))?;
    let said = said.trim();
    let token = match said.split_once(' ') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bearer") => rest.trim_start(),
        _ => said,
    };
    if token.is_empty() {
        return Err(format!("the variable {named} is empty"));
    }
    if token.eq_ignore_ascii_case("bearer") {
        return Err(format!("the variable {named} holds no token, but the word {token} alone"));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!(
            "what the variable {named} holds is no token: it has white space or odd characters"
        ));
    }
    Ok(token.to_owned())
}

impl Web {
    /// Whether the files that it names are there. What is in them is read when it is needed.
    pub(crate) fn check_files(&self) -> Result<(), String> {
        let shown = self.client_certificate.as_ref();
        let files = [
            ("ca_file", self.ca_file.as_ref()),
            ("client_cert", shown.map(|(certificate, _)| certificate)),
            ("client_key", shown.map(|(_, key)| key)),
        ];
        for (member, path) in files {
            let Some(path) = path else { continue };
            let why = match std::fs::metadata(path) {
                Ok(found) if found.is_dir() => "it is a folder".to_owned(),
                Ok(_) => continue,
                Err(error) => error.to_string(),
            };
            return Err(format!("{member} {} cannot be read ({why}); correct the path", path.display()));
        }
        Ok(())
    }

    /// As the runtime wants it. Fails, with the reason, where an address or a header is none.
    pub(crate) fn target(&self) -> Result<HttpTarget, String> {
        let mut target =
            HttpTarget::new(&self.url).map_err(|fault| format!("its url cannot be used: {fault}"))?;
        for (name, value) in &self.headers {
            target = target.header(name, value).map_err(|fault| format!("the header {name}: {fault}"))?;
        }
        target = target.kind(match self.speaks {
            Speaks::Auto => Transport::Auto,
            Speaks::Http => Transport::Streamable,
            Speaks::Sse => Transport::Sse,
        });
        target.ca_file.clone_from(&self.ca_file);
        target.client_certificate.clone_from(&self.client_certificate);
        target.public_only = self.public_only;
        target.proxy = match self.proxy.as_deref() {
            None => Proxy::Environment,
            Some(proxy) if is_no_proxy(proxy) => Proxy::Direct,
            Some(proxy) => Proxy::At(proxy_address(proxy)?),
        };
        Ok(target)
    }
}

/// The value of a header as somebody wrote it, for a person who is to decide whether it may be sent: what would be put
/// in is shown, other text is not.
pub(crate) fn put_shown(value: &str, rules: Rules) -> String {
    let mut out = String::new();
    for piece in pieces(value, rules) {
        let scheme =
            |text: &str| ["bearer", "basic"].iter().any(|scheme| text.trim().eq_ignore_ascii_case(scheme));
        match piece {
            Piece::Reference(_, whole) => out.push_str(whole),
            Piece::Text(text) if scheme(text) => out.push_str(text),
            Piece::Text(_) if out.ends_with(HIDDEN) => {}
            Piece::Text(_) => out.push_str(HIDDEN),
        }
    }
    out
}

/// What stands for text that is not shown.
const HIDDEN: &str = "***";

/// An address as somebody wrote it: as [`put_shown`] in its query, and as it stands in front of that.
pub(crate) fn address_shown(url: &str, rules: Rules) -> String {
    let mut out = String::new();
    let mut in_query = false;
    for piece in pieces(url, if rules.everywhere() { rules } else { Rules::None }) {
        let text = match piece {
            Piece::Reference(_, whole) => {
                out.push_str(whole);
                continue;
            }
            Piece::Text(text) => text,
        };
        let mut query = text;
        if !in_query {
            let before;
            (before, query) = text.split_once('?').unwrap_or((text, ""));
            out.push_str(&if out.is_empty() { shown(before) } else { before.to_owned() });
            in_query = before.len() < text.len();
            out.push_str(if in_query { "?" } else { "" });
        }
        for (n, pair) in query.split('&').enumerate() {
            out.push_str(if n > 0 { "&" } else { "" });
            let name = pair.split_once('=').filter(|_| out.ends_with(['?', '&'])).map(|(name, _)| name);
            let value = name.map_or(pair, |name| pair.get(name.len() + 1..).unwrap_or_default());
            name.into_iter().for_each(|name| out.push_str(&format!("{name}=")));
            out.push_str(if value.is_empty() { "" } else { HIDDEN });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_put_in_is_shown_and_nothing_else() {
        for (value, shows) in [
            ("${TOKEN}", "${TOKEN}"),
            ("Bearer ${TOKEN}", "Bearer ${TOKEN}"),
            ("Bearer s3cret", "***"),
            ("s3cret${A}b", "***${A}***"),
            ("$${TOKEN}", "***"),
            ("", ""),
        ] {
            assert_eq!(put_shown(value, Rules::Own), shows, "{value}");
        }
        for (url, shows) in [
            ("https://x/mcp", "https://x/mcp"),
            ("https://u:p@x/mcp?key=k&v=2&flag#t", "https://x/mcp?key=***&v=***&***"),
            (
                "https://${env:H}/a/${env:P}?k=${env:K}x&l=m",
                "https://${env:H}/a/${env:P}?k=${env:K}***&l=***",
            ),
            ("${env:URL}", "${env:URL}"),
        ] {
            assert_eq!(address_shown(url, Rules::Editor), shows, "{url}");
        }
        assert_eq!(address_shown("https://x/${A}?b=${C}", Rules::Own), "https://x/${A}?b=***");
    }
}
