//! From a line to a message, in one pass.

use super::fault::JsonFault;
use super::grammar::{self, ASCII, CONTROLS, UTF8};
use super::noted::{self, Notes, Span};
use super::{ErrorObject, Fault, FaultKind, IdFault, JsonRef, Kind, MethodText, Part, RawJson, RequestId};
use super::{JsonStr, error};
use bytes::Bytes;

/// A message of JSON-RPC 2.0. Payloads share the frame that they came in.
///
/// `params` is an object or absent (`null` counts as absent). A result may be of any kind: whether an empty array
/// can stand for an empty object is the session's decision.
///
/// Source: JSON-RPC 2.0 §4, §5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Asks for a result.
    Request {
        /// The sender's id, to be sent back as it is.
        id: RequestId,
        /// What to do.
        method: MethodText,
        /// An object.
        params: Option<RawJson>,
    },
    /// Says something that nobody answers.
    Notification {
        /// What it is about.
        method: MethodText,
        /// An object.
        params: Option<RawJson>,
    },
    /// The good end of a request.
    Result {
        /// The request's id.
        id: RequestId,
        /// Any value.
        result: RawJson,
    },
    /// The bad end of a request.
    Error {
        /// The request's id; `None` if the peer left it out or wrote `null`, since it could not read it.
        id: Option<RequestId>,
        /// What went wrong.
        error: ErrorObject,
    },
}

impl Message {
    /// The method of a request or a notification.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        match self {
            Self::Request { method, .. } | Self::Notification { method, .. } => Some(method.as_str()),
            Self::Result { .. } | Self::Error { .. } => None,
        }
    }

    /// The id, where there is one.
    #[must_use]
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Request { id, .. } | Self::Result { id, .. } => Some(id),
            Self::Error { id, .. } => id.as_ref(),
            Self::Notification { .. } => None,
        }
    }
}

/// Reads one frame: a line without its LF, or the body of an HTTP message.
///
/// One validating pass over all of it: grammar, UTF-8, at most `max_depth` levels
/// ([`MAX_DEPTH`](super::MAX_DEPTH) at most; the message itself is the first), and the members of the envelope
/// found on the way. A byte order mark in front is passed over. The frame is moved into the message, not copied;
/// about 1,400 instructions for a small request, 5 a byte for structured text, 1.7 for long strings.
///
/// A `method` is looked at before an `id` is matched with anything, so a request can never complete a call, and
/// a message with an `id` that is none is a fault, never a notification.
///
/// # Errors
/// [`Fault`] says what is wrong and keeps the id where that could be read: a request's sender can be told, and a
/// call that it answers can be ended. The frame is dropped.
pub fn parse(frame: Bytes, max_depth: u16) -> Result<Message, Fault> {
    parse_noting(frame, max_depth, &mut ())
}

/// As [`parse`], taking notes of what stands where in the parameters, counted from the start of the frame.
pub(crate) fn parse_noting(frame: Bytes, max_depth: u16, notes: &mut impl Notes) -> Result<Message, Fault> {
    let end = frame.len();
    parse_part(frame, 0, end, max_depth, notes)
}

/// As [`parse`], for the part of `frame` between `start` and `end`.
pub(super) fn parse_part(
    frame: Bytes,
    start: usize,
    end: usize,
    max_depth: u16,
    notes: &mut impl Notes,
) -> Result<Message, Fault> {
    let bytes = frame.get(start..end).unwrap_or_default();
    let mut marks = Marks::default();
    let scanned = scan(bytes, max_depth, &mut marks, notes);
    if (scanned.is_err() || marks.duplicate.is_some() || bytes.first() != Some(&b'{'))
        && let Some((kind, offset)) = refuse(bytes, &marks, scanned)
    {
        return Err(marks.fault(bytes, kind, offset));
    }
    marks.message(frame, start, end)
}

/// What the pass found. All places are counted from the start of the part that was read.
#[derive(Default)]
struct Marks {
    jsonrpc: Span,
    id: Span,
    method: Span,
    params: Span,
    result: Span,
    error: Span,
    duplicate: Option<(Part, usize)>,
    two_ids: bool,
    escaped_method: bool,
}

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn scan<N: Notes>(bytes: &[u8], max_depth: u16, marks: &mut Marks, notes: &mut N) -> Result<(), JsonFault> {
    let text = grammar::classify(bytes)?;
    let mut at = 0;
    if text != ASCII && bytes.starts_with(BYTE_ORDER_MARK) {
        at = BYTE_ORDER_MARK.len();
    }
    let end = match text {
        ASCII => members::<ASCII, N>(bytes, at, max_depth, marks, notes),
        UTF8 => members::<UTF8, N>(bytes, at, max_depth, marks, notes),
        _ => members::<CONTROLS, N>(bytes, at, max_depth, marks, notes),
    }?;
    if end == bytes.len() { Ok(()) } else { grammar::nothing_follows(bytes, end) }
}

/// Reads an object and marks its members; a value of another kind is checked only.
#[inline(always)]
fn members<const TEXT: u8, N: Notes>(
    bytes: &[u8],
    at: usize,
    max_depth: u16,
    marks: &mut Marks,
    notes: &mut N,
) -> Result<usize, JsonFault> {
    let mut at = grammar::skip_space(bytes, at);
    if bytes.get(at) != Some(&b'{') || max_depth == 0 {
        return grammar::value::<TEXT>(bytes, at, max_depth);
    }
    at = grammar::skip_space(bytes, at + 1);
    if bytes.get(at) == Some(&b'}') {
        return Ok(at + 1);
    }
    let max_depth = max_depth.min(grammar::MAX_DEPTH) - 1;
    loop {
        let (part, start) = match known_member(bytes, at) {
            Some((part, start)) => (Some(part), start),
            None => any_member::<TEXT>(bytes, at)?,
        };
        let start = grammar::skip_space(bytes, start);
        if let Some(part) = part {
            // Marked before the value is read, so that a line that breaks off in it still tells of the member.
            marks.begin(part, start);
        }
        at = match bytes.get(start) {
            Some(b'"') => match grammar::string::<TEXT>(bytes, start + 1) {
                Some(value) => {
                    marks.escaped_method |= value.escaped && part == Some(Part::Method);
                    value.end + 1
                }
                None => return grammar::string_fault(bytes, start + 1),
            },
            Some(b'0'..=b'9') => grammar::number(bytes, start)?,
            Some(b'{') if N::TAKEN && part == Some(Part::Params) => {
                noted::object::<TEXT, N>(bytes, start, max_depth, false, notes)?
            }
            _ => grammar::value::<TEXT>(bytes, start, max_depth)?,
        };
        if let Some(part) = part {
            marks.slot(part).end = at;
        }
        at = grammar::skip_space(bytes, at);
        match bytes.get(at) {
            Some(b',') => at = grammar::skip_space(bytes, at + 1),
            Some(b'}') => return Ok(at + 1),
            _ => return grammar::unexpected(bytes, at),
        }
    }
}

/// The member at `at`, and what follows its colon, if it is one of the envelope as everybody writes it. One word
/// tells: most of the names fill it to the byte.
#[inline(always)]
pub(super) fn known_member(bytes: &[u8], at: usize) -> Option<(Part, usize)> {
    let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk::<8>()?);
    let is = |name: &[u8; 8]| word == u64::from_le_bytes(*name);
    let (part, len) = if is(b"\"method\"") {
        (Part::Method, 8)
    } else if is(b"\"params\"") {
        (Part::Params, 8)
    } else if is(b"\"result\"") {
        (Part::Result, 8)
    } else if is(b"\"jsonrpc") && bytes.get(at + 8) == Some(&b'"') {
        (Part::Jsonrpc, 9)
    } else if word as u32 == u32::from_le_bytes(*b"\"id\"") {
        (Part::Id, 4)
    } else {
        return None;
    };
    (bytes.get(at + len) == Some(&b':')).then_some((part, at + len + 1))
}

/// Any member, by the grammar.
#[inline(never)]
fn any_member<const TEXT: u8>(bytes: &[u8], at: usize) -> Result<(Option<Part>, usize), JsonFault> {
    let open = at + 1;
    let named = if bytes.get(at) == Some(&b'"') { grammar::string::<TEXT>(bytes, open) } else { None };
    let Some(content) = named else { return grammar::name_fault::<TEXT, _>(bytes, at) };
    let Some(start) = grammar::colon(bytes, content.end + 1) else {
        return grammar::name_fault::<TEXT, _>(bytes, at);
    };
    let name = bytes.get(open..content.end).unwrap_or_default();
    Ok((if content.escaped { escaped_part(name) } else { part(name) }, start))
}

fn part(name: &[u8]) -> Option<Part> {
    match name {
        b"jsonrpc" => Some(Part::Jsonrpc),
        b"id" => Some(Part::Id),
        b"method" => Some(Part::Method),
        b"params" => Some(Part::Params),
        b"result" => Some(Part::Result),
        b"error" => Some(Part::Error),
        _ => None,
    }
}

/// A name with escapes counts as what it means, or two parsers could be made to disagree.
#[cold]
#[inline(never)]
fn escaped_part(name: &[u8]) -> Option<Part> {
    part(JsonStr::trusted(name).decode().as_bytes())
}

/// What the pass itself found to be wrong.
#[cold]
#[inline(never)]
fn refuse(bytes: &[u8], marks: &Marks, scanned: Result<(), JsonFault>) -> Option<(FaultKind, usize)> {
    if let Err(fault) = scanned {
        return Some((fault.into(), fault.offset));
    }
    let start = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let start = grammar::skip_space(bytes, start);
    match JsonRef::trusted(bytes.get(start..).unwrap_or_default()).kind() {
        Kind::Object => {}
        Kind::Array => return Some((FaultKind::Batch, start)),
        kind @ (Kind::Null | Kind::Bool | Kind::Number | Kind::String) => {
            return Some((FaultKind::NotAnObject(kind), start));
        }
    }
    marks.duplicate.map(|(part, at)| (FaultKind::DuplicateMember(part), at))
}

impl Marks {
    #[inline(always)]
    fn slot(&mut self, part: Part) -> &mut Span {
        match part {
            Part::Jsonrpc => &mut self.jsonrpc,
            Part::Id => &mut self.id,
            Part::Method => &mut self.method,
            Part::Params => &mut self.params,
            Part::Result => &mut self.result,
            Part::Error => &mut self.error,
        }
    }

    #[inline(always)]
    fn begin(&mut self, part: Part, start: usize) {
        let slot = self.slot(part);
        let again = slot.start != 0;
        *slot = Span { start, end: 0 };
        if again {
            self.duplicate.get_or_insert((part, start));
            self.two_ids |= part == Part::Id;
        }
    }

    /// The id, as far as one can be told. Of two ids neither counts.
    fn readable_id(&self, bytes: &[u8]) -> Option<RequestId> {
        if self.two_ids {
            return None;
        }
        RequestId::parse(self.id.of(bytes)?).ok()
    }

    #[cold]
    #[inline(never)]
    fn fault(&self, bytes: &[u8], kind: FaultKind, offset: usize) -> Fault {
        Fault {
            kind,
            id: self.readable_id(bytes),
            has_method: self.method.start != 0,
            has_id: self.id.start != 0,
            offset,
        }
    }

    /// What the members amount to. `base` and `end` bound the part of `frame` that was read.
    #[inline]
    fn message(&self, frame: Bytes, base: usize, end: usize) -> Result<Message, Fault> {
        let bytes = frame.get(base..end).unwrap_or_default();
        let fault = |kind, offset| Err(self.fault(bytes, kind, offset));

        match self.jsonrpc.of(bytes) {
            Some(version) if version.as_bytes() == b"\"2.0\"" => {}
            Some(version) if version.str().is_some_and(|text| text.eq_str("2.0")) => {}
            Some(_) => return fault(FaultKind::WrongVersion, self.jsonrpc.start),
            None => return fault(FaultKind::MissingVersion, 0),
        }
        let id = match self.id.of(bytes) {
            None => None,
            Some(raw) => match RequestId::parse(raw) {
                Ok(id) => Some(id),
                Err(IdFault::Null) if self.error.is_some() && !self.method.is_some() => None,
                Err(why) => return fault(FaultKind::BadId(why), self.id.start),
            },
        };

        if let Some(method) = self.method.of(bytes) {
            let Some(name) = method.str() else {
                return fault(FaultKind::MethodNotString(method.kind()), self.method.start);
            };
            if self.result.is_some() {
                return fault(FaultKind::MethodWithResult(Part::Result), self.result.start);
            }
            if self.error.is_some() {
                return fault(FaultKind::MethodWithResult(Part::Error), self.error.start);
            }
            let has_params = match self.params.of(bytes).map(JsonRef::kind) {
                None | Some(Kind::Null) => false,
                Some(Kind::Object) => true,
                Some(kind) => return fault(FaultKind::ParamsNotStructured(kind), self.params.start),
            };
            let method = MethodText::new(name, self.escaped_method);
            let params =
                has_params.then(|| RawJson::trusted(frame, base + self.params.start, base + self.params.end));
            return Ok(match id {
                Some(id) => Message::Request { id, method, params },
                None => Message::Notification { method, params },
            });
        }

        match (self.result.is_some(), self.error.of(bytes)) {
            (true, None) => {
                let Some(id) = id else { return fault(FaultKind::ResultWithoutId, self.result.start) };
                let result = RawJson::trusted(frame, base + self.result.start, base + self.result.end);
                Ok(Message::Result { id, result })
            }
            (false, Some(raw)) => match error::read(raw) {
                Ok((code, message, data)) => {
                    let place = data.map(|data| {
                        let start = data.as_bytes().as_ptr().addr() - frame.as_ptr().addr();
                        (start, start + data.as_bytes().len())
                    });
                    let data = place.map(|(start, end)| RawJson::trusted(frame, start, end));
                    Ok(Message::Error { id, error: ErrorObject { code, message, data } })
                }
                Err(flaw) => fault(FaultKind::ErrorMalformed(flaw), self.error.start),
            },
            (true, Some(_)) => fault(FaultKind::BothResultAndError, self.error.start),
            (false, None) => fault(FaultKind::NoMethodResultOrError, 0),
        }
    }
}
