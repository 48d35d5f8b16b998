//! The error object of a response.

use super::{JsonRef, Kind, RawJson};
use alloc::string::String;
use core::fmt;

/// What a peer says about a request that failed.
///
/// Source: JSON-RPC 2.0 §5.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorObject {
    /// The code, an integer.
    pub code: i64,
    /// A short sentence.
    pub message: String,
    /// Whatever else was sent. A `null` is kept as `None`.
    pub data: Option<RawJson>,
}

impl ErrorObject {
    /// An error without data.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same, to be kept for long: the message cut to 4 KiB, and without data that are longer than that.
    pub(crate) fn bounded(self) -> Self {
        const MOST: usize = 4096;
        let mut end = self.message.len().min(MOST);
        while !self.message.is_char_boundary(end) {
            end -= 1;
        }
        let message = String::from(self.message.get(..end).unwrap_or_default());
        let data = self.data.filter(|data| data.len() <= MOST).map(|data| data.to_compact());
        Self { code: self.code, message, data }
    }
}

/// What is wrong with an `error` member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorFlaw {
    /// Not an object.
    NotAnObject(Kind),
    /// No `code`.
    NoCode,
    /// `code` is not written as an integer that fits 64 bits.
    CodeNotInteger,
    /// No `message`.
    NoMessage,
    /// `message` is no string.
    MessageNotString(Kind),
}

impl fmt::Display for ErrorFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject(kind) => write!(f, "{kind} instead of an object"),
            Self::NoCode => f.write_str("`code` is missing"),
            Self::CodeNotInteger => f.write_str("`code` is no integer"),
            Self::NoMessage => f.write_str("`message` is missing"),
            Self::MessageNotString(kind) => write!(f, "`message` is {kind}"),
        }
    }
}

/// The members of an error object, `data` still borrowed. Of members that stand twice the first counts.
pub(super) fn read(error: JsonRef<'_>) -> Result<(i64, String, Option<JsonRef<'_>>), ErrorFlaw> {
    if error.kind() != Kind::Object {
        return Err(ErrorFlaw::NotAnObject(error.kind()));
    }
    let (mut code, mut message, mut data) = (None, None, None);
    for (name, value) in error.members() {
        let slot = if name.eq_str("code") {
            &mut code
        } else if name.eq_str("message") {
            &mut message
        } else if name.eq_str("data") {
            &mut data
        } else {
            continue;
        };
        slot.get_or_insert(value);
    }
    let code = code.ok_or(ErrorFlaw::NoCode)?.as_i64().ok_or(ErrorFlaw::CodeNotInteger)?;
    let message = message.ok_or(ErrorFlaw::NoMessage)?;
    let text = message.str().ok_or(ErrorFlaw::MessageNotString(message.kind()))?;
    Ok((code, text.decode().into_owned(), data.filter(|data| !data.is_null())))
}
