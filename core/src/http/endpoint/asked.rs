//! What the head of a request says: which answers it takes, what its body is, and what it repeats of it.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::http::fields::Fields;
use crate::http::mirror::{self, Mirrored};
use crate::jsonrpc::{JsonRef, JsonStr};
use crate::mcp::{Era, Method, Revision};
use crate::server::{Catalog, Config, Head};

pub(super) const VERSION: &str = "MCP-Protocol-Version";
pub(super) const SESSION: &str = "Mcp-Session-Id";
pub(super) const LAST_EVENT: &str = "Last-Event-ID";
pub(super) const METHOD: &str = "Mcp-Method";
pub(super) const NAME: &str = "Mcp-Name";

/// A field that may stand once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Once<'a> {
    Absent,
    Value(&'a str),
    /// It stands more than once, or is no plain text.
    Bad,
}

impl<'a> Once<'a> {
    pub(super) fn of(fields: &'a Fields, name: &str) -> Self {
        let mut all = fields.all(name);
        let Some(value) = all.next() else { return Self::Absent };
        let alone = value.is_ascii() && all.next().is_none();
        match core::str::from_utf8(value) {
            Ok(text) if alone => Self::Value(text),
            Ok(_) | Err(_) => Self::Bad,
        }
    }
}

/// Where a message belongs, by its head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belongs<'a> {
    /// The id of a session.
    pub(super) session: Once<'a>,
    version: Named,
}

/// The version that a head names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Nothing,
    Revision(Revision),
    /// Something else, or more than one.
    Unknown,
}

impl<'a> Belongs<'a> {
    pub(super) fn by(fields: &'a Fields) -> Self {
        let version = match Once::of(fields, VERSION) {
            Once::Absent => Named::Nothing,
            Once::Value(date) => Revision::from_date(date).map_or(Named::Unknown, Named::Revision),
            Once::Bad => Named::Unknown,
        };
        Self { session: Once::of(fields, SESSION), version }
    }

    /// Whether it names a revision without sessions.
    pub(super) fn is_modern(self) -> bool {
        matches!(self.version, Named::Revision(revision) if revision.era() == Era::Modern)
    }

    /// Whether it names a revision with sessions that is served.
    pub(super) fn is_legacy(self, config: &Config) -> bool {
        matches!(self.version, Named::Revision(revision) if revision.era() == Era::Legacy && config.serves(revision))
    }

    /// Whether it names no version at all.
    pub(super) fn names_none(self) -> bool {
        self.version == Named::Nothing
    }
}

/// Which kinds of answer a client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accepts {
    /// What the `Accept` fields say. None at all takes everything.
    ///
    /// Spec: RFC 9110, section 12.5.1.
    pub(super) fn of(fields: &Fields) -> Self {
        // How closely a type was named by the closest range, and whether it is taken.
        let (mut json, mut events) = ((0, false), (0, false));
        let mut any = false;
        for range in fields.all("Accept").flat_map(|value| parts(value, b',')) {
            let mut parts = parts(range, b';').map(<[u8]>::trim_ascii);
            let kind = parts.next().unwrap_or_default();
            any |= !kind.is_empty();
            let is = |name: &[u8]| kind.eq_ignore_ascii_case(name);
            let (to_json, to_events) = match () {
                () if is(b"application/json") => (3, 0),
                () if is(b"text/event-stream") => (0, 3),
                () if is(b"application/*") => (2, 0),
                () if is(b"text/*") => (0, 2),
                () if is(b"*/*") => (1, 1),
                () => continue,
            };
            let taken = !parts.any(is_zero_weight);
            for (named, closely) in [(&mut json, to_json), (&mut events, to_events)] {
                if closely > 0 && closely >= named.0 {
                    *named = (closely, taken);
                }
            }
        }
        if any { Self { json: json.1, events: events.1 } } else { Self { json: true, events: true } }
    }
}

/// What stands between such bytes.
fn parts(text: &[u8], between: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    core::iter::from_fn(move || {
        let text = rest?;
        let end = memchr::memchr(between, text);
        rest = end.and_then(|end| text.get(end + 1..));
        text.get(..end.unwrap_or(text.len()))
    })
}

/// Whether this parameter says that the range is not wanted.
fn is_zero_weight(parameter: &[u8]) -> bool {
    let mut halves = parameter.splitn(2, |byte| *byte == b'=');
    let name = halves.next().unwrap_or_default().trim_ascii();
    let value = halves.next().unwrap_or_default().trim_ascii();
    name.eq_ignore_ascii_case(b"q")
        && value.first() == Some(&b'0')
        && value.iter().all(|byte| b"0.".contains(byte))
}

/// Whether the body is JSON in UTF-8, and not packed in some way. Its type has to be said.
///
/// Spec: RFC 9110, sections 8.3 and 8.4; RFC 8259, section 8.1.
pub(super) fn is_json(fields: &Fields) -> bool {
    let plain = fields.all("Content-Encoding").all(|value| value.eq_ignore_ascii_case(b"identity"));
    let Once::Value(value) = Once::of(fields, "Content-Type") else { return false };
    let mut parts = parts(value.as_bytes(), b';').map(<[u8]>::trim_ascii);
    let kind = parts.next().unwrap_or_default();
    let utf8 = parts.all(|parameter| {
        let mut halves = parameter.splitn(2, |byte| *byte == b'=').map(<[u8]>::trim_ascii);
        let (name, mut value) = (halves.next().unwrap_or_default(), halves.next().unwrap_or(b"utf-8"));
        while let [b'"', rest @ ..] | [rest @ .., b'"'] = value {
            value = rest;
        }
        !name.eq_ignore_ascii_case(b"charset") || value.eq_ignore_ascii_case(b"utf-8")
    });
    plain && utf8 && kind.eq_ignore_ascii_case(b"application/json")
}

/// The token of an `Authorization` field.
///
/// Spec: RFC 6750, section 2.1.
pub(super) fn bearer(fields: &Fields) -> Option<&str> {
    let Once::Value(value) = Once::of(fields, "Authorization") else { return None };
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

/// The arguments that tools want repeated in the head, by the tool's name as it stands on the wire. Tools that want
/// none, or something that cannot be, are not here.
#[derive(Debug, Default)]
pub(super) struct Designated(BTreeMap<Box<[u8]>, Vec<Mirrored>>);

impl Designated {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let wanted = catalog.tools().filter_map(|(name, tool)| {
            let wanted = mirror::mirrored(tool.view().get("inputSchema")?).ok()?;
            (!wanted.is_empty()).then(|| (name.as_bytes().into(), wanted))
        });
        Self(wanted.collect())
    }

    fn of_tool(&self, tool: JsonStr<'_>) -> &[Mirrored] {
        let found = match self.0.is_empty() {
            true => None,
            false if tool.is_escaped() => self.0.get(tool.decode().as_bytes()),
            false => self.0.get(tool.raw()),
        };
        found.map(Vec::as_slice).unwrap_or_default()
    }
}

/// The head of a message, which repeats parts of its body.
pub(super) struct Said<'a> {
    pub(super) fields: &'a Fields,
    pub(super) designated: &'a Designated,
}

impl Said<'_> {
    fn once(&self, name: &str) -> Once<'_> {
        Once::of(self.fields, name)
    }
}

const fn has_name(method: &Method) -> bool {
    matches!(method, Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead)
}

/// Spec: MCP 2026-07-28 basic/transports, "Standard Headers", "Custom Headers from Tool Parameters" and "Server
/// Validation".
impl Head for Said<'_> {
    fn is_modern(&self) -> bool {
        Belongs::by(self.fields).is_modern()
    }

    fn lacks(&self, method: &Method) -> Option<&'static str> {
        let lacking = |name, absent, bad| match self.once(name) {
            Once::Absent => Some(absent),
            Once::Bad => Some(bad),
            Once::Value(_) => None,
        };
        lacking(
            VERSION,
            "the field MCP-Protocol-Version is missing",
            "the field MCP-Protocol-Version is not one plain text",
        )
        .or_else(|| {
            lacking(METHOD, "the field Mcp-Method is missing", "the field Mcp-Method is not one plain text")
        })
        .or_else(|| {
            let name = has_name(method).then_some(NAME)?;
            lacking(name, "the field Mcp-Name is missing", "the field Mcp-Name is not one plain text")
        })
    }

    fn differs(
        &self,
        version: JsonStr<'_>,
        method: &Method,
        name: Option<JsonStr<'_>>,
    ) -> Option<&'static str> {
        if self.once(VERSION).is_not(|said| version.eq_str(said)) {
            return Some("the field MCP-Protocol-Version and the body name different versions");
        }
        if self.once(METHOD).is_not(|said| said == method.as_str()) {
            return Some("the field Mcp-Method and the body name different methods");
        }
        let name = name.filter(|_| has_name(method))?;
        let same = |said: &str| mirror::decode_text(said.as_bytes()).is_some_and(|said| name.eq_str(&said));
        self.once(NAME).is_not(same).then_some("the field Mcp-Name and the body differ")
    }

    fn differs_in_arguments(
        &self,
        tool: JsonStr<'_>,
        arguments: Option<JsonRef<'_>>,
    ) -> Option<&'static str> {
        self.designated.of_tool(tool).iter().find_map(|wanted| {
            let value = arguments.and_then(|arguments| mirror::value_at(arguments, &wanted.path));
            let mut said =
                self.fields.iter().filter(|(name, _)| is_param(name, &wanted.name)).map(|(_, said)| said);
            match (value, said.next(), said.next()) {
                (None, None, _) => None,
                (Some(value), Some(said), None) if mirror::agrees(wanted.kind, value, said) => None,
                (Some(_), None, _) => Some("a field Mcp-Param-… of this tool is missing"),
                (_, Some(_), Some(_)) => Some("a field Mcp-Param-… of this tool stands twice"),
                (_, Some(_), None) => Some("a field Mcp-Param-… of this tool and its argument differ"),
            }
        })
    }
}

impl Once<'_> {
    fn is_not(self, it: impl Fn(&str) -> bool) -> bool {
        !matches!(self, Self::Value(value) if it(value))
    }
}

fn is_param(field: &str, name: &str) -> bool {
    field.split_at_checked(mirror::PARAM_PREFIX.len()).is_some_and(|(prefix, rest)| {
        prefix.eq_ignore_ascii_case(mirror::PARAM_PREFIX) && rest.eq_ignore_ascii_case(name)
    })
}
