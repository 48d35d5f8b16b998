//! Method names.

use super::JsonStr;
use alloc::boxed::Box;
use core::fmt;

const INLINE: usize = 38;

/// The name of a method, decoded. 40 bytes; up to 38 bytes of name are kept inside, without an allocation.
#[derive(Clone)]
pub struct MethodText(Repr);

#[derive(Clone)]
enum Repr {
    Inline { len: u8, text: [u8; INLINE] },
    Heap(Box<str>),
}

impl MethodText {
    #[inline]
    pub(super) fn new(literal: JsonStr<'_>, escaped: bool) -> Self {
        if escaped { Self::from(&*literal.decode()) } else { Self::from_utf8(literal.raw()) }
    }

    #[inline]
    fn from_utf8(name: &[u8]) -> Self {
        let mut text = [0; INLINE];
        match text.get_mut(..name.len()) {
            Some(room) => {
                room.copy_from_slice(name);
                Self(Repr::Inline { len: name.len() as u8, text })
            }
            None => Self(Repr::Heap(alloc::string::String::from_utf8_lossy(name).into())),
        }
    }

    /// The name. Checks the UTF-8 of a short one again; [`as_bytes`](Self::as_bytes) does not.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Inline { .. } => core::str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Repr::Heap(text) => text,
        }
    }

    /// The name's bytes.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { len, text } => text.get(..usize::from(*len)).unwrap_or_default(),
            Repr::Heap(text) => text.as_bytes(),
        }
    }
}

impl From<&str> for MethodText {
    fn from(name: &str) -> Self {
        Self::from_utf8(name.as_bytes())
    }
}

impl PartialEq for MethodText {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for MethodText {}

impl PartialEq<str> for MethodText {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for MethodText {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl fmt::Debug for MethodText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for MethodText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
