//! What kind of server an entry is about, in the words that most programs share.

use sanswire::jsonrpc::{JsonRef, JsonStr, Kind as JsonKind};

use super::remote::{self, Remote};
use crate::json::{member, text};

/// What kind of server.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// A program to start.
    Command { program: String, args: Vec<String>, env: Vec<(String, String)>, cwd: Option<String> },
    /// A server on the web.
    Http(Remote),
    /// The built-in one.
    Demo,
    /// It cannot be used, for this reason.
    Broken(String),
}

/// How the members are called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// The environment.
    pub(super) env: &'static str,
    /// The address of a server that speaks Streamable HTTP, unless the type says otherwise.
    pub(super) http: &'static [&'static str],
    /// The address of one that speaks the older way.
    pub(super) sse: &'static [&'static str],
    /// Its headers.
    pub(super) headers: &'static str,
    /// A header that cannot be sent makes the entry useless, and is not just left out.
    pub(super) strict: bool,
}

impl Words {
    /// Those of most programs.
    pub(super) const COMMON: Self = Self {
        env: "env",
        http: &["url", "serverUrl", "httpUrl"],
        sse: &[],
        headers: "headers",
        strict: false,
    };
    /// Ours.
    pub(super) const OWN: Self = Self { strict: true, ..Self::COMMON };
}

impl Kind {
    /// Reads the kind. Presence of a command or an address decides; what is odd goes into `odd`.
    pub(super) fn read(value: JsonRef<'_>, words: Words, odd: &mut Vec<String>) -> Result<Self, String> {
        if value.kind() != JsonKind::Object {
            return Err(format!("it is {}, not an object", value.kind()));
        }
        let address = |names: &[&str]| names.iter().find_map(|name| text(value, name));
        let (http, sse) = (address(words.http), address(words.sse));
        let Some(command) = member(value, "command") else {
            let old = http.is_none();
            let url = http.or(sse).ok_or("it has neither command nor url")?;
            return Remote::read(value, url, old, words, odd).map(Self::Http);
        };
        if http.or(sse).is_some() {
            return Err("it has both command and url".into());
        }
        let web = remote::MEMBERS.iter().filter(|name| words.strict && member(value, name).is_some());
        odd.extend(web.map(|name| format!("{name:?} goes with url, and has no effect beside a command")));
        let mut all = match command.kind() {
            JsonKind::String => vec![text(value, "command").unwrap_or_default()],
            JsonKind::Array => strings(command, "command")?,
            other => return Err(format!("command is {other}, not a string or an array of strings")),
        };
        if let Some(args) = member(value, "args") {
            all.extend(strings(args, "args")?);
        }
        let mut all = all.into_iter();
        let program = all.next().filter(|program| !program.trim().is_empty()).ok_or("command is empty")?;
        let env = pairs(value, words.env)?;
        let cwd = member(value, "cwd").map(|cwd| cwd.str().ok_or("cwd is no string")).transpose()?;
        Ok(Self::Command { program, args: all.collect(), env, cwd: cwd.map(|cwd| cwd.decode().into_owned()) })
    }
}

/// Names and values of an object; none if it is not there.
pub(super) fn pairs(value: JsonRef<'_>, name: &str) -> Result<Vec<(String, String)>, String> {
    let Some(object) = member(value, name) else { return Ok(Vec::new()) };
    if object.kind() != JsonKind::Object {
        return Err(format!("{name} is {}, not an object", object.kind()));
    }
    let pair = |(key, value): (JsonStr<'_>, JsonRef<'_>)| {
        let key = key.decode().into_owned();
        let value = plain(value).ok_or_else(|| format!("{name}.{key} is {}", value.kind()))?;
        Ok((key, value))
    };
    object.members().map(pair).collect()
}

/// A string, or a number or boolean as it is written.
fn plain(value: JsonRef<'_>) -> Option<String> {
    match value.kind() {
        JsonKind::String => value.str().map(|text| text.decode().into_owned()),
        JsonKind::Number | JsonKind::Bool => Some(String::from_utf8_lossy(value.as_bytes()).into_owned()),
        JsonKind::Null | JsonKind::Array | JsonKind::Object => None,
    }
}

/// An array of strings.
pub(super) fn strings(value: JsonRef<'_>, name: &str) -> Result<Vec<String>, String> {
    if value.kind() != JsonKind::Array {
        return Err(format!("{name} is {}, not an array of strings", value.kind()));
    }
    let element = |(n, value)| plain(value).ok_or_else(|| format!("{name}[{n}] is {}", value.kind()));
    value.elements().enumerate().map(element).collect()
}
