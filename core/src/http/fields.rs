//! Header fields: names and values as they stand in a head.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// The fields of a head, in their order. Names compare without case; values are bytes without CR, LF and NUL, and
/// without white space at their ends.
///
/// Source: RFC 9110, section 5.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Fields {
    list: Vec<(Box<str>, Box<[u8]>)>,
}

/// Why a field cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldFault {
    /// The name is no token.
    Name,
    /// The value holds CR, LF, NUL or another control character.
    Value,
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "a field's name is letters, digits and a few signs, nothing else",
            Self::Value => "a field's value holds no control characters",
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
        Self { list: Vec::new() }
    }

    /// Adds one at the end. White space around the value goes.
    ///
    /// # Errors
    /// The name is no token, or the value holds a control character other than a tab.
    pub fn push(&mut self, name: &str, value: &[u8]) -> Result<(), FieldFault> {
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(FieldFault::Name);
        }
        if value.iter().any(|byte| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f) {
            return Err(FieldFault::Value);
        }
        self.list.push((name.into(), trimmed(value).into()));
        Ok(())
    }

    /// Adds one whose name and value are known to be fine; left out if they are not.
    pub(crate) fn add(&mut self, name: &'static str, value: &str) {
        let pushed = self.push(name, value.as_bytes());
        debug_assert!(pushed.is_ok(), "{name}");
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
        self.iter().filter(move |(is, _)| is.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.list.iter().map(|(name, value)| (&**name, &**value))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// Whether a byte may stand in a token: RFC 9110, section 5.6.2.
pub(crate) const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}

fn trimmed(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
