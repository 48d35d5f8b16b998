//! What can be wrong with one element of a list or one content block, and how members are read.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

use crate::jsonrpc::{JsonRef, JsonStr, Kind};

/// Why a value is not what its schema asks for. A `null` counts as absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Flaw {
    /// It is no object.
    NotAnObject(Kind),
    /// A required member is absent.
    Missing(&'static str),
    /// Of two members, of which one is required, neither is there.
    MissingBoth(&'static str, &'static str),
    /// A required member is of the wrong kind.
    WrongKind {
        /// The member.
        member: &'static str,
        /// What it is.
        found: Kind,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject(found) => write!(f, "it is {found}, not an object"),
            Self::Missing(member) => write!(f, "it has no {member}"),
            Self::MissingBoth(one, other) => write!(f, "it has neither {one} nor {other}"),
            Self::WrongKind { member, found } => write!(f, "its {member} is {found}"),
        }
    }
}

impl core::error::Error for Flaw {}

/// A member that is there and not `null`.
pub(super) fn member<'a>(value: JsonRef<'a>, name: &str) -> Option<JsonRef<'a>> {
    value.get(name).filter(|found| !found.is_null())
}

/// An optional string; `None` if it is absent or of another kind.
pub(super) fn string<'a>(value: JsonRef<'a>, name: &str) -> Option<JsonStr<'a>> {
    value.get(name).and_then(JsonRef::str)
}

/// An optional string, decoded.
pub(super) fn text<'a>(value: JsonRef<'a>, name: &str) -> Option<Cow<'a, str>> {
    string(value, name).map(JsonStr::decode)
}

/// An optional boolean; `default` if it is absent or of another kind.
pub(super) fn flag(value: Option<JsonRef<'_>>, name: &str, default: bool) -> bool {
    value.and_then(|value| value.get(name)).and_then(JsonRef::as_bool).unwrap_or(default)
}

/// What a required string is, given what stands there.
pub(super) fn required<'a>(found: Option<JsonRef<'a>>, member: &'static str) -> Result<JsonStr<'a>, Flaw> {
    let found = found.filter(|found| !found.is_null()).ok_or(Flaw::Missing(member))?;
    found.str().ok_or(Flaw::WrongKind { member, found: found.kind() })
}

/// The object that a required object is.
pub(super) fn object(value: JsonRef<'_>) -> Result<(), Flaw> {
    if value.kind() == Kind::Object { Ok(()) } else { Err(Flaw::NotAnObject(value.kind())) }
}

/// A copy of at most `max` bytes, for a diagnostic.
pub(super) fn bounded(text: JsonStr<'_>, max: usize) -> String {
    cut(&text.decode(), max).into()
}

/// The first `max` bytes, or a few less where a character would be cut.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
