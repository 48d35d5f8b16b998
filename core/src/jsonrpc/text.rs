//! String literals and what they mean.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

/// A string literal of valid JSON, without its quotes.
///
/// `Debug` prints the length only: what a peer sends may be secret.
///
/// Source: RFC 8259 §7, §8.2.
#[derive(Clone, Copy)]
pub struct JsonStr<'a> {
    raw: &'a [u8],
    /// Known to hold no backslash.
    plain: bool,
}

impl<'a> JsonStr<'a> {
    #[inline(always)]
    pub(crate) const fn trusted(raw: &'a [u8]) -> Self {
        Self { raw, plain: false }
    }

    #[inline(always)]
    pub(crate) const fn trusted_with(raw: &'a [u8], escaped: bool) -> Self {
        Self { raw, plain: !escaped }
    }

    /// The literal's text as it was sent, escapes and all.
    #[inline]
    #[must_use]
    pub fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// Whether it holds escapes. Searches the text unless that is known from the walk.
    #[inline]
    #[must_use]
    pub fn is_escaped(self) -> bool {
        !self.plain && memchr::memchr(b'\\', self.raw).is_some()
    }

    /// The text: borrowed if there is no escape, else unescaped into one allocation of the raw length.
    ///
    /// Half of a surrogate pair becomes U+FFFD. UTF-8 is checked once more on the way (about 0.4 instructions a
    /// byte for ASCII), which is what a `str` costs without `unsafe`.
    #[must_use]
    pub fn decode(self) -> Cow<'a, str> {
        if !self.is_escaped() {
            return String::from_utf8_lossy(self.raw);
        }
        let mut out = String::new();
        self.decode_into(&mut out);
        Cow::Owned(out)
    }

    /// As [`decode`](Self::decode), appended to `out`, which grows once by at most the raw length.
    pub fn decode_into(self, out: &mut String) {
        self.unescape_into(out);
    }

    /// The text, or `None` if it holds half of a surrogate pair.
    #[must_use]
    pub(crate) fn decode_exact(self) -> Option<Cow<'a, str>> {
        if !self.is_escaped() {
            return Some(String::from_utf8_lossy(self.raw));
        }
        let mut out = String::new();
        self.unescape_into(&mut out).then_some(Cow::Owned(out))
    }

    /// Whether the text is `text`. Allocates nothing.
    #[inline]
    #[must_use]
    pub fn eq_str(self, text: &str) -> bool {
        if self.raw == text.as_bytes() {
            // Equal as written means equal in value, unless a backslash stands there.
            return !self.is_escaped();
        }
        self.is_escaped() && self.eq_unescaped(text)
    }

    #[cold]
    #[inline(never)]
    fn eq_unescaped(self, mut text: &str) -> bool {
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
                if !text.as_bytes().starts_with(front) {
                    return false;
                }
                match text.get(plain..) {
                    Some(left) => text = left,
                    None => return false,
                }
                rest = back;
            }
        }
        text.is_empty()
    }

    /// Whether every escape was a character.
    fn unescape_into(self, out: &mut String) -> bool {
        let text = String::from_utf8_lossy(self.raw);
        let text = &*text;
        out.reserve(text.len());
        let mut whole = true;
        let mut from = 0;
        let raw = text.as_bytes();
        while let Some(plain) = memchr::memchr(b'\\', raw.get(from..).unwrap_or_default()) {
            let at = from + plain;
            out.push_str(text.get(from..at).unwrap_or_default());
            let (found, used) = match raw.get(at + 1) {
                Some(b'n') => (Some('\n'), 2),
                _ => unescape(raw.get(at..).unwrap_or_default()),
            };
            whole &= found.is_some();
            out.push(found.unwrap_or(char::REPLACEMENT_CHARACTER));
            from = at + used;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        whole
    }
}

impl fmt::Debug for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonStr({} bytes)", self.raw.len())
    }
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
