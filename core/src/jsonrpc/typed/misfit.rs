//! Why a value does not fit a type.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::jsonrpc::Kind;

/// How much of a name that the peer chose is repeated, in characters.
const NAME_CHARS: usize = 64;

/// Why a value does not fit a type: where in it, and what was expected there. Never what stood there, which may be
/// secret.
///
/// `Display` is a sentence about the place: "filter.tags\[2\] must be a string, not null".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    path: String,
    why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// It is of another kind, or of the right kind and out of bounds.
    Expected {
        expected: Cow<'static, str>,
        found: Option<Kind>,
    },
    Missing,
    Twice,
    /// There is no such member; there are these.
    Unknown(&'static [&'static str]),
    /// It is none of these.
    OneOf(&'static [&'static str]),
    /// An array has more elements than this.
    TooLong(usize),
    /// In the type's own words.
    Said(String),
}

impl Misfit {
    /// The place: `filter.tags[2]`. Empty if it is the value as a whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn found(expected: &'static str, found: Kind) -> Self {
        Self::here(Why::Expected { expected: expected.into(), found: Some(found) })
    }

    pub(super) fn too_long(most: usize) -> Self {
        Self::here(Why::TooLong(most))
    }

    /// A variant that holds something was given as its name alone.
    pub(super) fn variant_alone(name: &str) -> Self {
        let expected = format!("an object with the member {}", bounded(name));
        Self::here(Why::Expected { expected: expected.into(), found: Some(Kind::String) })
    }

    /// The same, seen from the object around it, where the value is the member `name`.
    #[must_use]
    pub fn in_member(mut self, name: &str) -> Self {
        let name = bounded(name);
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }

    pub(super) fn in_element(mut self, index: usize) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("[{index}]{dot}{}", self.path);
        self
    }

    const fn here(why: Why) -> Self {
        Self { path: String::new(), why }
    }
}

fn bounded(name: &str) -> String {
    if name.is_empty() {
        return "\"\"".into();
    }
    name.chars().take(NAME_CHARS).collect()
}

fn kind(found: Unexpected<'_>) -> Option<Kind> {
    Some(match found {
        Unexpected::Bool(_) => Kind::Bool,
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => Kind::Number,
        Unexpected::Str(_) | Unexpected::Char(_) => Kind::String,
        Unexpected::Unit | Unexpected::Option => Kind::Null,
        Unexpected::Seq => Kind::Array,
        Unexpected::Map => Kind::Object,
        Unexpected::Bytes(_)
        | Unexpected::NewtypeStruct
        | Unexpected::Enum
        | Unexpected::UnitVariant
        | Unexpected::NewtypeVariant
        | Unexpected::TupleVariant
        | Unexpected::StructVariant
        | Unexpected::Other(_) => return None,
    })
}

impl de::Error for Misfit {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self::here(Why::Said(what.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::here(Why::Expected { expected: expected.to_string().into(), found: kind(found) })
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::here(Why::Expected { expected: expected.to_string().into(), found: None })
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::here(Why::Expected { expected: expected.to_string().into(), found: None })
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::here(Why::OneOf(expected))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::here(Why::Unknown(expected)).in_member(field)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::here(Why::Missing).in_member(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::here(Why::Twice).in_member(field)
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.path.is_empty() { "it" } else { &self.path })?;
        match &self.why {
            Why::Expected { expected, found: Some(found) } if !is_closer(expected, *found) => {
                write!(f, " must be {expected}, not {found}")
            }
            Why::Expected { expected, .. } => write!(f, " must be {expected}"),
            Why::Missing => f.write_str(" is missing"),
            Why::Twice => f.write_str(" is given twice"),
            Why::Unknown([]) => f.write_str(" is not known; nothing is expected here"),
            Why::Unknown(known) => write!(f, " is not known; there is {}", list(known)),
            Why::OneOf(known) => write!(f, " must be one of {}", list(known)),
            Why::TooLong(most) => write!(f, " must have {most} elements at most"),
            Why::Said(said) => write!(f, ": {said}"),
        }
    }
}

/// A number is expected and one was found: what is wrong is not its kind.
fn is_closer(expected: &str, found: Kind) -> bool {
    found == Kind::Number && (expected.starts_with("an integer") || expected == "a number")
}

fn list(names: &[&str]) -> String {
    names.join(", ")
}

impl core::error::Error for Misfit {}
