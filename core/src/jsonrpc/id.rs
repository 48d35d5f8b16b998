//! Request ids, kept exactly as they came.

use super::encode::{write_i64, write_string};
use super::{JsonRef, Kind};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// The longest id that is accepted, in bytes of its JSON text, quotes included.
///
/// An id is copied into tables, replies and cancels, so it must not be the peer's way to make us hold bytes.
pub const MAX_ID_BYTES: usize = 512;

/// The id of a request: a string or an integer.
///
/// Type and digits are kept: `2` and `"2"` differ, and so do `0` and `-0`; an integer of any length comes back
/// digit for digit. Strings are equal when their decoded values are, however they were escaped. The order is
/// total and means nothing; it lets ids be keys of ordered maps.
///
/// 24 bytes; an integer that fits an `i64` allocates nothing.
///
/// Source: JSON-RPC 2.0 §4; MCP basic, "Requests" (string or integer, never null).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(Repr);

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Repr {
    Integer(i64),
    /// An integer whose text is not what the `i64` would be written as.
    Digits(Box<str>),
    Text(Box<str>),
}

/// Why a value cannot be an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdFault {
    /// `null`, which JSON-RPC knows and MCP forbids.
    Null,
    /// A number with a fraction or an exponent.
    Fractional,
    /// A boolean, an array or an object.
    NotStringOrInteger(Kind),
    /// More than [`MAX_ID_BYTES`].
    TooLong,
    /// A string with half of a surrogate pair: it has no value that could be compared or sent back.
    LoneSurrogate,
}

impl RequestId {
    /// Takes an id from a JSON value. At most one allocation of [`MAX_ID_BYTES`].
    ///
    /// # Errors
    /// [`IdFault`] if it is neither string nor integer, or too long: answer with an error that has no id.
    pub fn parse(raw: JsonRef<'_>) -> Result<Self, IdFault> {
        let bytes = raw.as_bytes();
        match raw.kind() {
            Kind::Number => match raw.as_i64() {
                Some(value) if bytes != b"-0" => Ok(Self(Repr::Integer(value))),
                _ => Self::parse_rare_number(bytes),
            },
            Kind::String if bytes.len() > MAX_ID_BYTES => Err(IdFault::TooLong),
            Kind::String => {
                let text = raw.str().and_then(|text| text.decode_exact()).ok_or(IdFault::LoneSurrogate)?;
                Ok(Self(Repr::Text(Box::from(&*text))))
            }
            Kind::Null => Err(IdFault::Null),
            kind @ (Kind::Bool | Kind::Array | Kind::Object) => Err(IdFault::NotStringOrInteger(kind)),
        }
    }

    #[inline(never)]
    fn parse_rare_number(bytes: &[u8]) -> Result<Self, IdFault> {
        if bytes.iter().any(|b| matches!(b, b'.' | b'e' | b'E')) {
            return Err(IdFault::Fractional);
        }
        if bytes.len() > MAX_ID_BYTES {
            return Err(IdFault::TooLong);
        }
        Ok(Self(Repr::Digits(String::from_utf8_lossy(bytes).into())))
    }

    /// The value of an integer id that is written as an `i64` is; `None` for strings and for rarer integers.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Integer(value) => Some(value),
            Repr::Digits(_) | Repr::Text(_) => None,
        }
    }

    /// The decoded value of a string id; `None` for integers.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::Text(text) => Some(text),
            Repr::Integer(_) | Repr::Digits(_) => None,
        }
    }

    /// Appends the id as JSON.
    #[inline]
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Repr::Integer(value) => write_i64(out, *value),
            Repr::Digits(digits) => out.extend_from_slice(digits.as_bytes()),
            Repr::Text(text) => write_string(out, text),
        }
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            Repr::Integer(_) => 0,
            Repr::Digits(text) | Repr::Text(text) => text.len(),
        }
    }
}

impl From<i64> for RequestId {
    fn from(value: i64) -> Self {
        Self(Repr::Integer(value))
    }
}

impl From<u64> for RequestId {
    fn from(value: u64) -> Self {
        Self(match i64::try_from(value) {
            Ok(value) => Repr::Integer(value),
            Err(_) => Repr::Digits(value.to_string().into()),
        })
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self(Repr::Text(text.into()))
    }
}

/// As in JSON, but for one thing: a string is escaped the way Rust does it.
impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Integer(value) => value.fmt(f),
            Repr::Digits(digits) => f.write_str(digits),
            Repr::Text(text) => fmt::Debug::fmt(text, f),
        }
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestId({self})")
    }
}

impl fmt::Display for IdFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Fractional => f.write_str("a number with a fraction or an exponent"),
            Self::NotStringOrInteger(kind) => write!(f, "{kind}"),
            Self::TooLong => write!(f, "longer than {MAX_ID_BYTES} bytes"),
            Self::LoneSurrogate => f.write_str("half of a surrogate pair"),
        }
    }
}

impl core::error::Error for IdFault {}
