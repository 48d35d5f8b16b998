//! Whose message an over-long line is, found without keeping it.

use crate::jsonrpc::{JsonStr, MAX_DEPTH, MAX_ID_BYTES, RawJson, RequestId};
use alloc::vec::Vec;
use core::mem;

/// The longest spelling of a name that matters: every letter of `method` as `\u00xx`.
const MAX_NAME_BYTES: usize = 36;

/// Reads a JSON object of any length piece by piece, and keeps of it only its top-level `id` and whether there
/// is a top-level `method`.
///
/// It holds at most [`MAX_ID_BYTES`]; the result does not depend on how the text was cut. It follows strings and
/// brackets, not the whole grammar: a text that is no object at its top level gives nothing. Of two ids neither
/// counts, and an id that is none is not found.
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    place: Place,
    /// Open brackets; the message itself is the first.
    depth: u64,
    /// The raw text of the name, or of the id, that is being read.
    text: Vec<u8>,
    id: Option<RequestId>,
    ids: u8,
    has_method: bool,
}

/// Where in the text the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// In front of the object; so many bytes of a byte order mark were seen.
    #[default]
    Start,
    Mark(u8),
    /// Behind `{` (where `}` may follow), or behind a comma.
    FirstName,
    Name,
    InName {
        escape: bool,
    },
    Colon {
        id: bool,
    },
    Value {
        id: bool,
    },
    /// In a value that is looked into only for its end.
    Inside {
        string: bool,
        escape: bool,
    },
    /// In a number or a literal.
    Scalar,
    /// In the id, being kept.
    Id {
        string: bool,
        escape: bool,
    },
    AfterValue,
    Done,
    /// Not an object, or not JSON: nothing counts.
    Lost,
}

impl Scanner {
    /// A scanner in front of a text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next piece. Strings are skipped by search, the rest goes byte by byte.
    pub fn feed(&mut self, mut piece: &[u8]) {
        while let Some(&byte) = piece.first() {
            if self.place == Place::Lost {
                return;
            }
            if self.place == (Place::Inside { string: true, escape: false }) {
                let plain = memchr::memchr2(b'"', b'\\', piece).unwrap_or(piece.len());
                if plain > 0 {
                    piece = piece.get(plain..).unwrap_or_default();
                    continue;
                }
            }
            // A number ends at the byte behind it, which is then read again.
            if self.step(byte) {
                piece = piece.get(1..).unwrap_or_default();
            }
        }
    }

    /// What was found, if the text is over.
    #[must_use]
    pub fn finish(self) -> (Option<RequestId>, bool) {
        if self.place == Place::Done {
            (self.id.filter(|_| self.ids == 1), self.has_method)
        } else {
            (None, false)
        }
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        self.text.capacity() + self.id.as_ref().map_or(0, RequestId::heap_bytes)
    }

    fn step(&mut self, byte: u8) -> bool {
        let space = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        self.place = match (self.place, byte) {
            (Place::Start | Place::Mark(3), b'{') => {
                self.depth = 1;
                Place::FirstName
            }
            (Place::Start, 0xef) => Place::Mark(1),
            (Place::Mark(1), 0xbb) => Place::Mark(2),
            (Place::Mark(2), 0xbf) => Place::Mark(3),
            (
                Place::Start
                | Place::Mark(3)
                | Place::FirstName
                | Place::Name
                | Place::Colon { .. }
                | Place::Value { .. }
                | Place::AfterValue
                | Place::Done,
                _,
            ) if space => self.place,
            (Place::FirstName | Place::Name, b'"') => {
                self.text.clear();
                Place::InName { escape: false }
            }
            (Place::FirstName | Place::AfterValue, b'}') => Place::Done,
            (Place::InName { escape: false }, b'"') => self.name_ends(),
            (Place::InName { escape }, _) => {
                self.keep(byte, MAX_NAME_BYTES);
                Place::InName { escape: !escape && byte == b'\\' }
            }
            (Place::Colon { id }, b':') => Place::Value { id },
            (Place::Value { id: true }, b'"' | b'-' | b'0'..=b'9') => {
                self.text.clear();
                self.keep(byte, MAX_ID_BYTES);
                Place::Id { string: byte == b'"', escape: false }
            }
            (Place::Value { .. }, b'{' | b'[') => {
                self.depth = 2;
                Place::Inside { string: false, escape: false }
            }
            (Place::Value { .. }, b'"') => Place::Inside { string: true, escape: false },
            (Place::Value { .. }, b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => Place::Scalar,
            (Place::AfterValue, b',') => Place::Name,
            (Place::Inside { string: true, escape: true }, _) => {
                Place::Inside { string: true, escape: false }
            }
            (Place::Inside { string: true, escape: false }, b'\\') => {
                Place::Inside { string: true, escape: true }
            }
            (Place::Inside { string: true, escape: false }, b'"') if self.depth == 1 => Place::AfterValue,
            (Place::Inside { string: true, escape: false }, b'"') => {
                Place::Inside { string: false, escape: false }
            }
            (Place::Inside { string: false, .. }, b'"') => Place::Inside { string: true, escape: false },
            (Place::Inside { string: false, .. }, b'{' | b'[') => {
                self.depth += 1;
                self.place
            }
            (Place::Inside { string: false, .. }, b'}' | b']') => {
                self.depth -= 1;
                if self.depth == 1 { Place::AfterValue } else { self.place }
            }
            (Place::Inside { .. }, _) => self.place,
            (Place::Scalar, b',' | b'}') => {
                self.place = Place::AfterValue;
                return false;
            }
            (Place::Scalar, _) if space => Place::AfterValue,
            (Place::Scalar, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'E' | b'+' | b'-') => Place::Scalar,
            (Place::Id { string: true, escape: false }, b'"') => {
                self.keep(byte, MAX_ID_BYTES);
                self.id_ends();
                Place::AfterValue
            }
            (Place::Id { string: true, escape }, _) => {
                self.keep(byte, MAX_ID_BYTES);
                Place::Id { string: true, escape: !escape && byte == b'\\' }
            }
            (Place::Id { string: false, .. }, b',' | b'}' | b' ' | b'\t' | b'\r' | b'\n') => {
                self.id_ends();
                self.place = Place::AfterValue;
                return false;
            }
            (Place::Id { string: false, .. }, _) => {
                self.keep(byte, MAX_ID_BYTES);
                self.place
            }
            _ => Place::Lost,
        };
        true
    }

    /// Keeps one byte more than `max`, so that a text that is too long can be told.
    fn keep(&mut self, byte: u8, max: usize) {
        if self.text.len() <= max {
            if self.text.capacity() == 0 {
                self.text.reserve_exact(MAX_ID_BYTES + 1);
            }
            self.text.push(byte);
        }
    }

    fn name_ends(&mut self) -> Place {
        let name = mem::take(&mut self.text);
        let name_is =
            |expected: &str| name.len() <= MAX_NAME_BYTES && JsonStr::trusted(&name).eq_str(expected);
        let id = name_is("id");
        self.ids = self.ids.saturating_add(u8::from(id));
        self.has_method |= name_is("method");
        self.text = name;
        Place::Colon { id }
    }

    fn id_ends(&mut self) {
        // Only brackets and quotes were followed so far: the id itself is checked in full.
        self.id =
            RawJson::from_slice(&self.text, MAX_DEPTH).ok().and_then(|raw| RequestId::parse(raw.view()).ok());
    }
}
