//! Members of `params` that a reader will ask for, noted while the message is checked.

use super::fault::JsonFault;
use super::{JsonRef, JsonStr, RawJson, grammar};
use bytes::Bytes;

/// Where a value stands; empty if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    #[inline(always)]
    pub(crate) const fn is_some(self) -> bool {
        self.end != 0
    }

    /// The value, in the frame that was checked.
    pub(crate) fn raw(self, frame: Bytes) -> RawJson {
        RawJson::trusted(frame, self.start, self.end)
    }

    /// The value, in the text that was checked.
    #[inline(always)]
    pub(crate) fn of(self, text: &[u8]) -> Option<JsonRef<'_>> {
        if self.end == 0 { None } else { text.get(self.start..self.end).map(JsonRef::trusted) }
    }
}

/// What to do about a member.
pub(crate) enum Note<'a> {
    /// Nothing.
    Pass,
    /// Say where its value stands.
    Value(&'a mut Span),
    /// Go into its value, if that is an object, and ask about its members.
    Inside,
}

/// Notes of where members of `params` stand.
pub(crate) trait Notes {
    /// Whether any are taken.
    const TAKEN: bool;

    /// What to do about the member that `text` begins with, and the length of its name, quotes and colon: where that can
    /// be told at once, for it is one of those that come all the time, written as everybody does.
    fn note_at_once(&mut self, inside: bool, text: &[u8]) -> Option<(usize, Note<'_>)>;

    /// What to do about the member `name`: of `params`, or (`inside`) of the one that was gone into.
    fn note(&mut self, inside: bool, name: &[u8]) -> Note<'_>;
}

impl Notes for () {
    const TAKEN: bool = false;

    fn note_at_once(&mut self, _: bool, _: &[u8]) -> Option<(usize, Note<'_>)> {
        None
    }

    fn note(&mut self, _: bool, _: &[u8]) -> Note<'_> {
        Note::Pass
    }
}

/// Takes notes of parameters that were checked before, counted from the start of their frame.
pub(crate) fn take_notes(params: &RawJson, notes: &mut impl Notes) {
    let (frame, start) = params.place();
    if frame.get(start) == Some(&b'{') {
        // It is valid, so there is no fault to be told.
        let _ = object::<{ grammar::CONTROLS }, _>(frame, start, grammar::MAX_DEPTH, false, notes);
    }
}

/// Checks the object at `start`, takes notes, and gives its end.
#[inline(never)]
pub(super) fn object<const TEXT: u8, N: Notes>(
    bytes: &[u8],
    start: usize,
    max_depth: u16,
    inside: bool,
    notes: &mut N,
) -> Result<usize, JsonFault> {
    let Some(max_depth) = max_depth.checked_sub(1) else {
        return grammar::value::<TEXT>(bytes, start, max_depth);
    };
    let mut at = grammar::skip_space(bytes, start + 1);
    if bytes.get(at) == Some(&b'}') {
        return Ok(at + 1);
    }
    loop {
        let (start, note) = match notes.note_at_once(inside, bytes.get(at..).unwrap_or_default()) {
            Some((len, note)) => (at + len, note),
            None => note_slowly::<TEXT, N>(bytes, at, inside, notes)?,
        };
        let start = grammar::skip_space(bytes, start);
        let first = bytes.get(start);
        if let (Note::Inside, Some(b'{')) = (&note, first) {
            at = object::<TEXT, N>(bytes, start, max_depth, true, notes)?;
        } else {
            at = match first {
                Some(b'"') => match grammar::string::<TEXT>(bytes, start + 1) {
                    Some(value) => value.end + 1,
                    None => return grammar::string_fault(bytes, start + 1),
                },
                Some(b'0'..=b'9') => grammar::number(bytes, start)?,
                _ => grammar::value::<TEXT>(bytes, start, max_depth)?,
            };
            if let Note::Value(span) = note {
                *span = Span { start, end: at };
            }
        }
        at = grammar::skip_space(bytes, at);
        match bytes.get(at) {
            Some(b',') => at = grammar::skip_space(bytes, at + 1),
            Some(b'}') => return Ok(at + 1),
            _ => return grammar::unexpected(bytes, at),
        }
    }
}

/// Checks a member's name and colon by the grammar; gives what follows, and what to do about it.
#[inline(never)]
fn note_slowly<'n, const TEXT: u8, N: Notes>(
    bytes: &[u8],
    at: usize,
    inside: bool,
    notes: &'n mut N,
) -> Result<(usize, Note<'n>), JsonFault> {
    let open = at + 1;
    let named = if bytes.get(at) == Some(&b'"') { grammar::name_end::<TEXT>(bytes, open) } else { None };
    let Some(content) = named else { return grammar::name_fault::<TEXT, _>(bytes, at) };
    let Some(start) = grammar::colon(bytes, content.end + 1) else {
        return grammar::name_fault::<TEXT, _>(bytes, at);
    };
    let name = bytes.get(open..content.end).unwrap_or_default();
    Ok((start, if content.escaped { escaped(inside, name, notes) } else { notes.note(inside, name) }))
}

/// A name with escapes counts as what it means.
#[cold]
#[inline(never)]
fn escaped<'n, N: Notes>(inside: bool, name: &[u8], notes: &'n mut N) -> Note<'n> {
    notes.note(inside, JsonStr::trusted(name).decode().as_bytes())
}
