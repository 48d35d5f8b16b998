//! What is valid by a JSON Schema: the published ones of the protocol, and those that a server lists with its tools.
//!
//! It judges what it understands: all keywords of 2020-12 that need no regular expression, and those of older drafts that
//! differ. Where it does not understand, it says so, and does not guess: a check must not find what is not there.

mod assertions;
mod form;
mod judge;
mod published;
#[cfg(test)]
mod tests;
mod walk;

use serde_json::Value;

pub(crate) use form::{Dialect, flaw};
pub(crate) use judge::judge;
pub(crate) use published::published;
pub(crate) use walk::subschemas;

/// Whether a value fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It does.
    Fits,
    /// It does not.
    Misfit(Misfit),
    /// That depends on what is not understood here.
    Unknown,
}

/// Where a value does not fit, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// The place in the value, as a JSON Pointer: empty for the whole.
    pub(crate) at: String,
    /// What was to be there, in words: "has to be a string, and is a number".
    pub(crate) rule: String,
    /// Whether it is about which form this is at all, as the `type` of a content block says it.
    pub(crate) of_the_kind: bool,
}

/// It does not fit.
fn misfit(at: &str, rule: impl Into<String>) -> Fit {
    Fit::Misfit(Misfit { at: at.to_owned(), rule: rule.into(), of_the_kind: false })
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = if self.at.is_empty() { "the whole" } else { &self.at };
        write!(f, "{at} {}", self.rule)
    }
}

impl Fit {
    /// Both have to fit.
    fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Misfit(_) => self,
            Self::Fits => other(),
            Self::Unknown => match other() {
                Self::Fits => Self::Unknown,
                other => other,
            },
        }
    }
}

/// What kind of value it is, with its article.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The place one step further down.
fn step(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}
