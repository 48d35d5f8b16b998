//! Header fields: names and values as they stand in a head.

use alloc::vec::Vec;
use core::fmt;

pub(crate) use crate::mcp::mirror::is_token;

/// The fields of a head, in their order. Names compare without case; values are bytes without CR, LF and NUL, and
/// without white space at their ends.
///
/// Source: RFC 9110, section 5.
#[derive(Clone, Default)]
pub struct Fields {
    /// All names and values, and of a head that was read what stood between them.
    text: Vec<u8>,
    spans: Vec<Span>,
}

/// Where a field stands in the text.
#[derive(Clone, Copy)]
struct Span {
    name: u32,
    name_end: u32,
    value: u32,
    value_end: u32,
}

/// Why a field cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldFault {
    /// The name is no token.
    Name,
    /// The value holds CR, LF, NUL or another control character.
    Value,
    /// The transport sets a field of this name itself.
    Reserved,
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "a field's name is letters, digits and a few signs, nothing else",
            Self::Value => "a field's value holds no control characters",
            Self::Reserved => "the transport sets this field itself",
        })
    }
}

impl core::error::Error for FieldFault {}

/// Names and lengths: values may be secrets.
impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (name, value) in self.iter() {
            map.entry(&name, &value.len());
        }
        map.finish()
    }
}

impl Fields {
    /// No fields.
    #[must_use]
    pub const fn new() -> Self {
        Self { text: Vec::new(), spans: Vec::new() }
    }

    /// No fields yet of a head that was read, with room for so many. See [`push_part`](Self::push_part).
    pub(crate) fn of(head: &[u8], fields: usize) -> Self {
        Self { text: head.to_vec(), spans: Vec::with_capacity(fields) }
    }

    /// Adds one at the end. White space around the value goes.
    ///
    /// # Errors
    /// The name is no token, or the value holds a control character other than a tab.
    pub fn push(&mut self, name: &str, value: &[u8]) -> Result<(), FieldFault> {
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(FieldFault::Name);
        }
        if value.iter().any(|byte| is_control(*byte)) {
            return Err(FieldFault::Value);
        }
        let value = trimmed(value);
        let name_start = self.text.len();
        self.text.extend_from_slice(name.as_bytes());
        let value_start = self.text.len();
        self.text.extend_from_slice(value);
        self.push_span((name_start, name.len()), (value_start, value.len()));
        Ok(())
    }

    /// Adds one that was checked and stands in `head`, of which these fields are.
    pub(crate) fn push_part(&mut self, head: &[u8], name: &[u8], value: &[u8]) {
        let place = |part: &[u8]| part.as_ptr().addr().wrapping_sub(head.as_ptr().addr());
        // Nothing may stand anywhere.
        let value_start = if value.is_empty() { place(name) } else { place(value) };
        self.push_span((place(name), name.len()), (value_start, value.len()));
    }

    /// Adds the one whose name and value begin there and are so long.
    fn push_span(&mut self, name: (usize, usize), value: (usize, usize)) {
        let place = |at: usize| u32::try_from(at).ok();
        let span = || {
            Some(Span {
                name: place(name.0)?,
                name_end: place(name.0.checked_add(name.1)?)?,
                value: place(value.0)?,
                value_end: place(value.0.checked_add(value.1)?)?,
            })
        };
        // None: four gigabytes of fields, which no peer takes.
        self.spans.extend(span());
    }

    /// Adds one whose name and value are known to be fine; left out if they are not.
    pub(crate) fn add(&mut self, name: &'static str, value: &str) {
        let pushed = self.push(name, value.as_bytes());
        debug_assert!(pushed.is_ok(), "{name}");
    }

    /// As [`add`](Self::add), for a name that is not ours.
    pub(crate) fn copy(&mut self, name: &str, value: &[u8]) {
        let _ = self.push(name, value);
    }

    /// The value of the first field of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.all(name).next()
    }

    /// The value of the one field of this name, as text. `None`: there is none, there are more, or it is no ASCII.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        let mut all = self.all(name);
        let value = all.next().filter(|value| value.is_ascii())?;
        if all.next().is_some() { None } else { core::str::from_utf8(value).ok() }
    }

    /// The values of all fields of this name.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.raw().filter(move |(is, _)| is.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.raw().map(|(name, value)| (core::str::from_utf8(name).unwrap_or_default(), value))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Bytes of memory held, spare room included.
    pub(crate) fn retained_bytes(&self) -> usize {
        self.text.capacity() + self.spans.capacity() * size_of::<Span>()
    }

    /// Names and values as bytes: looking for one costs no check of all names.
    pub(crate) fn raw(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let part = |from: u32, to: u32| self.text.get(from as usize..to as usize).unwrap_or_default();
        self.spans.iter().map(move |span| (part(span.name, span.name_end), part(span.value, span.value_end)))
    }
}

/// The same names and values in the same order.
impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        self.raw().eq(other.raw())
    }
}

impl Eq for Fields {}

/// Whether a byte may not stand in a value.
pub(crate) const fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t') || byte == 0x7f
}

/// Without blanks and tabs at either end.
pub(crate) fn trimmed(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
