//! Walking JSON that is known to be valid: no checks, no recursion, nothing kept.

use super::grammar::skip_space;
use super::{Cursor, JsonStr, number, words};
use core::fmt;

/// The kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number
    Number,
    /// A string
    String,
    /// An array
    Array,
    /// An object
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// One JSON value, borrowed, known to be valid and without white space around it.
///
/// `Debug` prints kind and length only: what a peer sends may be secret.
///
/// Source: RFC 8259 §3.
#[derive(Clone, Copy)]
pub struct JsonRef<'a> {
    bytes: &'a [u8],
}

impl<'a> JsonRef<'a> {
    /// The caller has checked that `bytes` is one value.
    #[inline(always)]
    pub(crate) const fn trusted(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// What kind of value it is. Looks at one byte.
    #[inline]
    #[must_use]
    pub fn kind(self) -> Kind {
        match self.bytes.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    /// The value's text.
    #[inline]
    #[must_use]
    pub fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Whether it is `null`.
    #[inline]
    #[must_use]
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The members of an object, in order, duplicates included; nothing if it is no object. One pass over the
    /// object's text in all.
    #[inline]
    #[must_use]
    pub fn members(self) -> Members<'a> {
        Members { bytes: self.bytes, at: if self.kind() == Kind::Object { 1 } else { self.bytes.len() } }
    }

    /// The elements of an array, in order; nothing if it is no array. One pass over the array's text in all.
    #[inline]
    #[must_use]
    pub fn elements(self) -> Elements<'a> {
        Elements { bytes: self.bytes, at: if self.kind() == Kind::Array { 1 } else { self.bytes.len() } }
    }

    /// The value of the first member of that name, compared as decoded text. Walks up to that member.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Self> {
        self.members().find(|(found, _)| found.eq_str(name)).map(|(_, value)| value)
    }

    /// As [`get`](Self::get), for a short text and an object. Walks once, and for no longer than it must.
    ///
    /// `start` is how everybody writes an object whose first member is that text, and `next` what comes between its
    /// value and the object, which is the second.
    #[inline]
    pub(crate) fn text_and_object<const A: usize, const B: usize>(
        self,
        names: [&str; 2],
        start: &[u8; A],
        next: &[u8; B],
    ) -> [Option<Self>; 2] {
        if let Some((head, rest)) = self.bytes.split_first_chunk::<A>()
            && head == start
            && let Ok(end) = words::near_quote::<3>(rest, 0, false)
            && let Some((between, object)) =
                rest.get(end + 1..).and_then(|rest| rest.split_first_chunk::<B>())
            && between == next
            && object.first() == Some(&b'{')
        {
            let text = self.bytes.get(A - 1..A + end + 1).map(Self::trusted);
            return [text, object.get(..container_end(object, 1)).map(Self::trusted)];
        }
        self.get_both(names)
    }

    /// As [`get`](Self::get), for several names. Walks once.
    pub(crate) fn get_each<const N: usize>(self, names: [&str; N]) -> [Option<Self>; N] {
        let mut found = [None; N];
        let mut missing = N;
        for (name, value) in self.members() {
            let wanted =
                found.iter_mut().zip(names).find(|(place, wanted)| place.is_none() && name.eq_str(wanted));
            if let Some((place, _)) = wanted {
                *place = Some(value);
                missing -= 1;
                if missing == 0 {
                    break;
                }
            }
        }
        found
    }

    /// As [`get`](Self::get), for two names. Walks once.
    #[inline(never)]
    pub(crate) fn get_both(self, names: [&str; 2]) -> [Option<Self>; 2] {
        let mut found = [None; 2];
        let mut at = Cursor::new(self);
        if !at.enter(b'{') {
            return found;
        }
        while let Some(name) = at.member() {
            let value = at.value();
            let [first, second] = &mut found;
            if first.is_none() && name.eq_str(names[0]) {
                *first = Some(value);
            } else if second.is_none() && name.eq_str(names[1]) {
                *second = Some(value);
            }
            if first.is_some() && second.is_some() {
                break;
            }
        }
        found
    }

    /// The literal of a string; `None` for other kinds.
    #[inline]
    #[must_use]
    pub fn str(self) -> Option<JsonStr<'a>> {
        match self.bytes {
            [b'"', content @ .., b'"'] => Some(JsonStr::trusted(content)),
            _ => None,
        }
    }

    /// The value of a boolean; `None` for other kinds.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        match self.bytes.first() {
            Some(b't') => Some(true),
            Some(b'f') => Some(false),
            _ => None,
        }
    }

    /// The value of a number that is written as a plain integer and fits: `5`, not `5.0` or `5e0`.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        number::signed(self.bytes)
    }

    /// As [`as_i64`](Self::as_i64), without a sign.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        number::unsigned(self.bytes)
    }

    /// The nearest `f64` of a number; `None` for other kinds, and where the number is beyond the range.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        if self.kind() != Kind::Number {
            return None;
        }
        core::str::from_utf8(self.bytes).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
    }
}

impl fmt::Debug for JsonRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonRef({:?}, {} bytes)", self.kind(), self.bytes.len())
    }
}

/// The members of an object: see [`JsonRef::members`].
#[derive(Clone)]
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (JsonStr<'a>, JsonRef<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.bytes;
        let open = skip_separator(bytes, self.at);
        if bytes.get(open) != Some(&b'"') {
            self.at = bytes.len();
            return None;
        }
        let end = string_end(bytes, open + 1);
        let name = JsonStr::trusted(bytes.get(open + 1..end)?);
        let colon = skip_space(bytes, end + 1);
        let start = skip_space(bytes, colon + 1);
        self.at = value_end(bytes, start);
        Some((name, JsonRef { bytes: bytes.get(start..self.at)? }))
    }
}

impl fmt::Debug for Members<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Members({} of {} bytes read)", self.at, self.bytes.len())
    }
}

/// The elements of an array: see [`JsonRef::elements`].
#[derive(Clone)]
pub struct Elements<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = JsonRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.bytes;
        let start = skip_separator(bytes, self.at);
        if matches!(bytes.get(start), None | Some(b']')) {
            self.at = bytes.len();
            return None;
        }
        self.at = value_end(bytes, start);
        Some(JsonRef { bytes: bytes.get(start..self.at)? })
    }
}

impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Elements({} of {} bytes read)", self.at, self.bytes.len())
    }
}

/// Skips white space and one comma.
#[inline(always)]
fn skip_separator(bytes: &[u8], at: usize) -> usize {
    let at = skip_space(bytes, at);
    if bytes.get(at) == Some(&b',') { skip_space(bytes, at + 1) } else { at }
}

/// Where the closing quote of a string stands whose content starts at `start`.
///
/// Looks for quotes only; one is escaped if an odd number of backslashes stands in front of it.
#[inline(always)]
pub(crate) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        at = words::find_quote(bytes, at);
        // In front of an empty string stands its opening quote.
        if bytes.get(at.wrapping_sub(1)) != Some(&b'\\') || at >= bytes.len() || is_end(bytes, start, at) {
            return at;
        }
        at += 1;
    }
}

#[inline(never)]
fn is_end(bytes: &[u8], start: usize, quote: usize) -> bool {
    let content = bytes.get(start..quote).unwrap_or_default();
    content.iter().rev().take_while(|b| **b == b'\\').count().is_multiple_of(2)
}

/// The end of the value that starts at `start`; always beyond `start`, unless the text ends there.
#[inline(always)]
pub(super) fn value_end(bytes: &[u8], start: usize) -> usize {
    let end = match bytes.get(start) {
        Some(b'"') => string_end(bytes, start + 1) + 1,
        Some(b'{' | b'[') => container_end(bytes, start + 1),
        _ => {
            let rest = bytes.get(start + 1..).unwrap_or_default();
            let inside = |b: &u8| !matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            start + 1 + rest.iter().take_while(|b| inside(b)).count()
        }
    };
    end.min(bytes.len())
}

/// The end of the container whose inside starts at `at`.
#[inline(never)]
fn container_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 1usize;
    while let Some(b) = bytes.get(at) {
        at += 1;
        if *b == b'"' {
            at = string_end(bytes, at) + 1;
            continue;
        }
        // One bit lies between the two pairs of brackets.
        match *b | 0x20 {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    at
}
