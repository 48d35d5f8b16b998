//! Header fields: names and values as they stand in a head.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::octets::{is_control, token_len};

/// The fields of a head, in their order. Names compare without case; values are bytes without CR, LF and NUL, and
/// without white space at their ends.
///
/// Source: RFC 9110, section 5.
#[derive(Clone, Default)]
pub struct Fields {
    /// All names and values, and of a head that was read what stood between them.
    text: Cow<'static, [u8]>,
    spans: Cow<'static, [Span]>,
}

/// Where a field stands in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    name: u32,
    name_end: u32,
    value: u32,
    value_end: u32,
}

impl Span {
    /// `None`: it stands too far behind.
    pub(crate) fn new(name: Range<usize>, value: Range<usize>) -> Option<Self> {
        let place = |at: usize| u32::try_from(at).ok();
        Some(Self {
            name: place(name.start)?,
            name_end: place(name.end)?,
            value: place(value.start)?,
            value_end: place(value.end)?,
        })
    }

    /// Those of a text that is written down in the code, as it would stand in a head: so many lines of a name, a colon, a
    /// blank and a value.
    #[expect(clippy::indexing_slicing, reason = "of constants, so it happens when this is compiled")]
    pub(crate) const fn of_lines<const N: usize>(text: &[u8]) -> [Self; N] {
        let mut spans = [Self { name: 0, name_end: 0, value: 0, value_end: 0 }; N];
        let (mut line, mut at) = (0, 0);
        while (at as usize) < text.len() {
            match text[at as usize] {
                b':' if spans[line].value == 0 => (spans[line].name_end, spans[line].value) = (at, at + 2),
                b'\r' => spans[line].value_end = at,
                b'\n' if line + 1 < N => {
                    line += 1;
                    spans[line].name = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        spans
    }

    fn name_is(self, text: &[u8], name: &str) -> bool {
        // Names of another length are not looked at, which is most of them.
        (self.name_end - self.name) as usize == name.len()
            && same_name(part(text, self.name, self.name_end), name.as_bytes())
    }
}

/// Whether two names are the same but for the case of their letters.
pub(crate) fn same_name(one: &[u8], other: &[u8]) -> bool {
    // Mostly they are the same as they stand, which is seen at a glance.
    let same = |(one, other): (&u8, &u8)| one == other || one ^ other == 0x20 && one.is_ascii_alphabetic();
    one.len() == other.len() && one.iter().zip(other).all(same)
}

fn part(text: &[u8], from: u32, to: u32) -> &[u8] {
    text.get(from as usize..to as usize).unwrap_or_default()
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
        Self { text: Cow::Borrowed(&[]), spans: Cow::Borrowed(&[]) }
    }

    /// No fields, and room for so many whose names and values are so long together.
    pub(crate) fn with_room(fields: usize, bytes: usize) -> Self {
        Self { text: Cow::Owned(Vec::with_capacity(bytes)), spans: Cow::Owned(Vec::with_capacity(fields)) }
    }

    /// Those of a text that is written down in the code, and where each stands. They cost nothing as long as none is added.
    pub(crate) const fn fixed(text: &'static [u8], spans: &'static [Span]) -> Self {
        Self { text: Cow::Borrowed(text), spans: Cow::Borrowed(spans) }
    }

    /// Those of a head that was read and checked, and where each stands in it.
    pub(crate) fn of(head: &[u8], spans: Vec<Span>) -> Self {
        Self { text: Cow::Owned(head.to_vec()), spans: Cow::Owned(spans) }
    }

    /// Adds one at the end. White space around the value goes.
    ///
    /// # Errors
    /// The name is no token, or the value holds a control character other than a tab.
    pub fn push(&mut self, name: &str, value: &[u8]) -> Result<(), FieldFault> {
        if name.is_empty() || token_len(name.as_bytes()) < name.len() {
            return Err(FieldFault::Name);
        }
        self.push_value(name, value)
    }

    /// Adds one whose name is known to be fine.
    fn push_value(&mut self, name: &str, value: &[u8]) -> Result<(), FieldFault> {
        // Without a way out in the middle the compiler looks at many bytes at once.
        if value.iter().fold(false, |found, byte| found | is_control(*byte)) {
            return Err(FieldFault::Value);
        }
        let value = trimmed(value);
        let (name_at, value_at) = (self.text.len(), self.text.len() + name.len());
        // None: four gigabytes of fields, which no peer takes.
        if let Some(span) = Span::new(name_at..value_at, value_at..value_at + value.len()) {
            let text = self.text.to_mut();
            text.reserve(name.len() + value.len());
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(value);
            self.spans.to_mut().push(span);
        }
        Ok(())
    }

    /// Adds one whose name and value are known to be fine; a value that is not is left out.
    pub(crate) fn add(&mut self, name: &'static str, value: &str) {
        debug_assert!(token_len(name.as_bytes()) == name.len(), "{name}");
        let pushed = self.push_value(name, value.as_bytes());
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
        let named = self.spans.iter().filter(move |span| span.name_is(&self.text, name));
        named.map(|span| part(&self.text, span.value, span.value_end))
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
        let text = if let Cow::Owned(text) = &self.text { text.capacity() } else { 0 };
        let spans = if let Cow::Owned(spans) = &self.spans { spans.capacity() } else { 0 };
        text + spans * size_of::<Span>()
    }

    /// Names and values as bytes: looking for one costs no check of all names.
    pub(crate) fn raw(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.spans.iter().map(|span| {
            (part(&self.text, span.name, span.name_end), part(&self.text, span.value, span.value_end))
        })
    }
}

/// The same names and values in the same order.
impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        self.raw().eq(other.raw())
    }
}

impl Eq for Fields {}

/// Without blanks and tabs at either end.
pub(crate) fn trimmed(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_is_found_and_added_to() {
        const TEXT: &[u8] = b"Content-Type: text/plain; a=b:c\r\nAllow: GET\r\n";
        const SPANS: [Span; 2] = Span::of_lines(TEXT);
        let mut fields = Fields::fixed(TEXT, &SPANS);
        let mut same = Fields::new();
        same.add("Content-Type", "text/plain; a=b:c");
        same.add("Allow", "GET");
        assert_eq!((&fields, fields.retained_bytes()), (&same, 0));
        fields.add("B", "c");
        assert_eq!(fields.get("allow"), Some(&b"GET"[..]));
        assert_eq!((fields.text("b"), fields.len()), (Some("c"), 3));
    }

    #[test]
    fn names_are_the_same_in_whatever_case_and_nothing_else() {
        for one in 0..=u8::MAX {
            for other in 0..=u8::MAX {
                let (one, other) = ([b'a', one], [b'A', other]);
                assert_eq!(same_name(&one, &other), one.eq_ignore_ascii_case(&other), "{one:?} {other:?}");
            }
        }
        assert!(!same_name(b"a", b"ab"));
    }
}
