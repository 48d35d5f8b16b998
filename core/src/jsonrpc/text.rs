//! String literals and what they mean.

use super::words;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, mem};

/// A string literal of valid JSON, without its quotes.
///
/// `Debug` prints the length only: what a peer sends may be secret.
///
/// Source: RFC 8259 §7, §8.2.
#[derive(Clone, Copy)]
pub struct JsonStr<'a> {
    raw: &'a [u8],
}

impl<'a> JsonStr<'a> {
    #[inline(always)]
    pub(crate) const fn trusted(raw: &'a [u8]) -> Self {
        Self { raw }
    }

    /// The literal's text as it was sent, escapes and all.
    #[inline]
    #[must_use]
    pub fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// Whether it holds escapes. Searches the text.
    #[must_use]
    pub fn is_escaped(self) -> bool {
        words::has_backslash(self.raw)
    }

    /// The text: borrowed if there is no escape, else unescaped into one allocation of the raw length.
    ///
    /// Half of a surrogate pair becomes U+FFFD. UTF-8 is checked once more on the way (about 0.4 instructions a
    /// byte for ASCII), which is what a `str` costs without `unsafe`.
    #[must_use]
    pub fn decode(self) -> Cow<'a, str> {
        if !self.is_escaped() {
            return Cow::Borrowed(utf8(self.raw));
        }
        Cow::Owned(self.unescape(Vec::new()).0)
    }

    /// As [`decode`](Self::decode), appended to `out`, which grows once by at most the raw length.
    pub fn decode_into(self, out: &mut String) {
        if !self.is_escaped() {
            out.push_str(utf8(self.raw));
        } else if out.is_empty() {
            *out = self.unescape(mem::take(out).into_bytes()).0;
        } else {
            out.push_str(&self.decode());
        }
    }

    /// The text, or `None` if it holds half of a surrogate pair.
    pub(super) fn decode_exact(self) -> Option<Cow<'a, str>> {
        if !self.is_escaped() {
            return Some(Cow::Borrowed(utf8(self.raw)));
        }
        let (text, whole) = self.unescape(Vec::new());
        whole.then_some(Cow::Owned(text))
    }

    /// Whether the text is `text`. Allocates nothing.
    #[inline]
    #[must_use]
    pub fn eq_str(self, text: &str) -> bool {
        if self.raw.len() > text.len() {
            return self.eq_unescaped(text);
        }
        // An escape is longer than what it stands for. Equal as written means equal, but for backslashes.
        self.raw == text.as_bytes() && !text.as_bytes().contains(&b'\\')
    }

    #[inline(never)]
    fn eq_unescaped(self, mut text: &str) -> bool {
        if self.raw.len() > text.len() * 6 || !self.is_escaped() {
            return false;
        }
        let mut rest = self.raw;
        while let Some(b) = rest.first() {
            if *b == b'\\' {
                let (found, used) = unescape(rest);
                match text.strip_prefix(found.unwrap_or(char::REPLACEMENT_CHARACTER)) {
                    Some(left) => text = left,
                    None => return false,
                }
                rest = rest.get(used..).unwrap_or_default();
            } else {
                let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
                let (front, back) = rest.split_at(plain);
                match text.get(plain..) {
                    Some(left) if text.as_bytes().starts_with(front) => text = left,
                    _ => return false,
                }
                rest = back;
            }
        }
        text.is_empty()
    }

    /// The text, and whether every escape was a character. `out` is empty; its room is used.
    fn unescape(self, mut out: Vec<u8>) -> (String, bool) {
        out.reserve(self.raw.len());
        let mut whole = true;
        let mut rest = self.raw;
        loop {
            let (plain, escape) = rest.split_at(words::find_backslash(rest));
            out.extend_from_slice(plain);
            rest = escape;
            match rest {
                [] => break,
                [_, b'n', ..] => {
                    out.push(b'\n');
                    rest = rest.get(2..).unwrap_or_default();
                }
                [_, same @ (b'"' | b'\\'), ..] => {
                    out.push(*same);
                    rest = rest.get(2..).unwrap_or_default();
                }
                _ => {
                    let (found, used) = unescape(rest);
                    whole &= found.is_some();
                    let found = found.unwrap_or(char::REPLACEMENT_CHARACTER);
                    out.extend_from_slice(found.encode_utf8(&mut [0; 4]).as_bytes());
                    rest = rest.get(used..).unwrap_or_default();
                }
            }
        }
        // Only what was valid and whole characters went in.
        (String::from_utf8(out).unwrap_or_default(), whole)
    }
}

impl fmt::Debug for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonStr({} bytes)", self.raw.len())
    }
}

/// Valid JSON is valid UTF-8, so the default is never taken.
#[inline]
fn utf8(raw: &[u8]) -> &str {
    core::str::from_utf8(raw).unwrap_or_default()
}

/// The character of the escape at the start of `text` (`None`: half a surrogate pair), and its length.
fn unescape(text: &[u8]) -> (Option<char>, usize) {
    let simple = match text.get(1) {
        Some(b'u') => return unescape_unicode(text),
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(other) => char::from(*other),
        None => return (None, 1),
    };
    (Some(simple), 2)
}

fn unescape_unicode(text: &[u8]) -> (Option<char>, usize) {
    let Some(unit) = hex(text, 2) else { return (None, text.len().min(6)) };
    if let Some(found) = char::from_u32(unit) {
        return (Some(found), 6);
    }
    // A surrogate. Only a high one followed at once by an escaped low one is half of a character.
    if unit < 0xdc00
        && text.get(6) == Some(&b'\\')
        && text.get(7) == Some(&b'u')
        && let Some(low @ 0xdc00..=0xdfff) = hex(text, 8)
    {
        return (char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)), 12);
    }
    (None, 6)
}

fn hex(text: &[u8], at: usize) -> Option<u32> {
    text.get(at..at + 4)?.iter().try_fold(0, |value, b| Some(value << 4 | char::from(*b).to_digit(16)?))
}
