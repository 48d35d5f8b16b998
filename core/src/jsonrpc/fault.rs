//! What can be wrong with a line, by name.

use super::{ErrorFlaw, IdFault, Kind, RequestId};
use core::fmt;

/// Why a text is not one JSON value, and where.
///
/// Source: RFC 8259 §2 to §8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonFault {
    /// What is wrong.
    pub kind: JsonFaultKind,
    /// The byte at which it was noticed, counted from the start of the text.
    pub offset: usize,
}

/// What is wrong with a text that should have been JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonFaultKind {
    /// The text ends inside a value, or holds none.
    UnexpectedEnd,
    /// A byte that cannot stand here.
    UnexpectedByte,
    /// A control character stands in a string as it is; it must be escaped.
    ControlInString,
    /// A backslash is followed by something that is no escape.
    BadEscape,
    /// A number with a leading zero, a lone sign, or no digit after a point or an `e`.
    BadNumber,
    /// Something follows the value.
    TrailingBytes,
    /// The bytes are not UTF-8.
    NotUtf8,
    /// Arrays and objects are nested deeper than allowed.
    TooDeep,
}

impl JsonFault {
    pub(super) const fn new(kind: JsonFaultKind, offset: usize) -> Self {
        Self { kind, offset }
    }
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            JsonFaultKind::UnexpectedEnd => "the text ends too early",
            JsonFaultKind::UnexpectedByte => "unexpected byte",
            JsonFaultKind::ControlInString => "control character in a string",
            JsonFaultKind::BadEscape => "bad escape in a string",
            JsonFaultKind::BadNumber => "malformed number",
            JsonFaultKind::TrailingBytes => "something follows the value",
            JsonFaultKind::NotUtf8 => "not UTF-8",
            JsonFaultKind::TooDeep => "nested too deeply",
        };
        write!(f, "{what} at byte {}", self.offset)
    }
}

impl core::error::Error for JsonFault {}

/// Why a line is not a JSON-RPC message.
///
/// A fault never completes a call by itself; what follows from it is the session's decision. A reply can be
/// matched by [`id`](Self::id); a request is told from a broken notification by [`has_id`](Self::has_id).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The message's id, if one could be read (also from the front part of a line that breaks off later).
    pub id: Option<RequestId>,
    /// Whether a top-level `method` was seen: then the line was meant as a request or a notification.
    pub has_method: bool,
    /// Whether a top-level `id` was seen, readable or not: then the line was not meant as a notification.
    pub has_id: bool,
    /// Where in the frame it was noticed, in bytes: the start of the member at fault, or the byte that broke
    /// the grammar.
    pub offset: usize,
}

/// The kinds of [`Fault`]. Where several apply, the one that stands first here is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Not UTF-8 text.
    NotUtf8,
    /// Nested deeper than allowed.
    TooDeep,
    /// Not JSON.
    NotJson(JsonFault),
    /// An array: a batch, which only revision 2025-03-26 knows ([`parse_batch`](super::parse_batch)).
    Batch,
    /// A batch without elements.
    EmptyBatch,
    /// Valid JSON, but neither an object nor an array.
    NotAnObject(Kind),
    /// A member that must be unique stands twice, whatever its spelling.
    DuplicateMember(Part),
    /// No `jsonrpc` member.
    MissingVersion,
    /// `jsonrpc` is not the string `2.0`.
    WrongVersion,
    /// The `id` is none.
    BadId(IdFault),
    /// A `method` that is not a string.
    MethodNotString(Kind),
    /// A `method` beside `result` or `error`; says which.
    MethodWithResult(Part),
    /// `params` is neither object nor null.
    ParamsNotStructured(Kind),
    /// Both `result` and `error`.
    BothResultAndError,
    /// None of `method`, `result`, `error`.
    NoMethodResultOrError,
    /// A `result` without an `id`.
    ResultWithoutId,
    /// `error` is no error object.
    ErrorMalformed(ErrorFlaw),
}

impl From<JsonFault> for FaultKind {
    fn from(fault: JsonFault) -> Self {
        match fault.kind {
            JsonFaultKind::NotUtf8 => Self::NotUtf8,
            JsonFaultKind::TooDeep => Self::TooDeep,
            JsonFaultKind::UnexpectedEnd
            | JsonFaultKind::UnexpectedByte
            | JsonFaultKind::ControlInString
            | JsonFaultKind::BadEscape
            | JsonFaultKind::BadNumber
            | JsonFaultKind::TrailingBytes => Self::NotJson(fault),
        }
    }
}

/// A member of the envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// `jsonrpc`
    Jsonrpc,
    /// `id`
    Id,
    /// `method`
    Method,
    /// `params`
    Params,
    /// `result`
    Result,
    /// `error`
    Error,
}

impl Part {
    /// The member's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jsonrpc => "jsonrpc",
            Self::Id => "id",
            Self::Method => "method",
            Self::Params => "params",
            Self::Result => "result",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => f.write_str("not UTF-8"),
            Self::TooDeep => f.write_str("nested too deeply"),
            Self::NotJson(fault) => write!(f, "not JSON: {fault}"),
            Self::Batch => f.write_str("a batch"),
            Self::EmptyBatch => f.write_str("an empty batch"),
            Self::NotAnObject(kind) => write!(f, "{kind} instead of an object"),
            Self::DuplicateMember(part) => write!(f, "`{}` stands twice", part.name()),
            Self::MissingVersion => f.write_str("`jsonrpc` is missing"),
            Self::WrongVersion => f.write_str("`jsonrpc` is not \"2.0\""),
            Self::BadId(fault) => write!(f, "bad `id`: {fault}"),
            Self::MethodNotString(kind) => write!(f, "`method` is {kind}, not a string"),
            Self::MethodWithResult(part) => write!(f, "`method` beside `{}`", part.name()),
            Self::ParamsNotStructured(kind) => write!(f, "`params` is {kind}, not an object"),
            Self::BothResultAndError => f.write_str("both `result` and `error`"),
            Self::NoMethodResultOrError => f.write_str("none of `method`, `result` and `error`"),
            Self::ResultWithoutId => f.write_str("`result` without `id`"),
            Self::ErrorMalformed(flaw) => write!(f, "malformed `error`: {flaw}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl core::error::Error for Fault {}
