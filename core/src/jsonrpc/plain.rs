//! Requests as nearly everybody writes them: read without looking at each member's name.

use super::grammar::{self, ASCII, UTF8};
use super::noted::{self, Notes, Span};
use super::words;

/// A request with a small integer as its id, a short method and an object as its parameters.
pub(crate) struct PlainRequest<'a> {
    pub(crate) id: i64,
    pub(crate) method: &'a [u8],
    pub(crate) params: Span,
}

/// Reads a frame that is written as `{"jsonrpc":"2.0","id":…,"method":…,"params":{…}}`, or with the first two members
/// behind the others, without white space between the four. Checks as much as [`parse`](super::parse) does.
///
/// `None` for anything else, whether it is right or wrong: [`parse`](super::parse) tells. The notes are worth nothing
/// then.
#[inline]
pub(crate) fn plain_request<'a, N: Notes>(
    frame: &'a [u8],
    max_depth: u16,
    notes: &mut N,
) -> Option<PlainRequest<'a>> {
    if !words::any_unusual(frame) {
        return read::<ASCII, N>(frame, max_depth, notes);
    }
    if grammar::classify(frame).ok()? == UTF8 { read::<UTF8, N>(frame, max_depth, notes) } else { None }
}

#[inline(always)]
fn read<'a, const TEXT: u8, N: Notes>(
    frame: &'a [u8],
    max_depth: u16,
    notes: &mut N,
) -> Option<PlainRequest<'a>> {
    let max_depth = max_depth.min(grammar::MAX_DEPTH).checked_sub(1)?;
    let mut at = Place { frame, at: 0 };
    if at.pass(br#"{"jsonrpc":"2.0","id":"#) {
        let id = at.id()?;
        if !at.pass(br#","method":""#) {
            return None;
        }
        let method = at.name()?;
        let params = at.params::<TEXT, N>(max_depth, notes)?;
        return at.is_end().then_some(PlainRequest { id, method, params });
    }
    if !at.pass(br#"{"method":""#) {
        return None;
    }
    let method = at.name()?;
    let params = at.params::<TEXT, N>(max_depth, notes)?;
    if !at.pass(br#","jsonrpc":"2.0","id":"#) {
        return None;
    }
    let id = at.id()?;
    at.is_end().then_some(PlainRequest { id, method, params })
}

struct Place<'a> {
    frame: &'a [u8],
    at: usize,
}

impl<'a> Place<'a> {
    #[inline(always)]
    fn pass<const N: usize>(&mut self, text: &[u8; N]) -> bool {
        let found = self.frame.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        let is = found == Some(text);
        self.at += if is { N } else { 0 };
        is
    }

    /// An integer without a sign, of at most eighteen digits and no more than it needs.
    #[inline(always)]
    fn id(&mut self) -> Option<i64> {
        let start = self.at;
        let mut value = 0i64;
        while let Some(digit @ b'0'..=b'9') = self.frame.get(self.at) {
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            self.at += 1;
        }
        let digits = self.at - start;
        let zero_in_front = digits > 1 && self.frame.get(start) == Some(&b'0');
        ((1..=18).contains(&digits) && !zero_in_front).then_some(value)
    }

    /// A short name without escapes, and the quote behind it.
    #[inline(always)]
    fn name(&mut self) -> Option<&'a [u8]> {
        let end = words::near_quote::<3>(self.frame, self.at, false).ok()?;
        let name = self.frame.get(self.at..end)?;
        self.at = end + 1;
        Some(name)
    }

    #[inline(always)]
    fn params<const TEXT: u8, N: Notes>(&mut self, max_depth: u16, notes: &mut N) -> Option<Span> {
        if !self.pass(br#","params":{"#) {
            return None;
        }
        let start = self.at - 1;
        self.at = noted::object::<TEXT, N>(self.frame, start, max_depth, false, notes).ok()?;
        Some(Span { start, end: self.at })
    }

    #[inline(always)]
    fn is_end(&self) -> bool {
        self.frame.get(self.at) == Some(&b'}') && self.at + 1 == self.frame.len()
    }
}
