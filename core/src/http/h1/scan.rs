//! A head while it comes: each line is found, checked and noted once, as soon as it is whole.

use alloc::vec::Vec;
use core::ops::Range;

use super::parse::Refusal;
use super::{Fault, Limits};
use crate::http::fields::{Fields, Span, same_name, trimmed};
use crate::octets::{is_control, is_token, token_len};

/// The most fields that are ever read of one head.
pub(super) const MAX_FIELDS: usize = 256;
/// Bytes of memory that so many take.
pub(super) const MAX_SPANS_BYTES: usize = MAX_FIELDS * size_of::<Span>();
/// Room for so many is made at once.
const FEW_FIELDS: usize = 12;

/// What is known of a head so far: where its fields stand, and what they say about the message.
#[derive(Debug, Default)]
pub(super) struct HeadScan {
    lines: Lines,
    /// How long the first line is, once it is there: it is not empty.
    first: usize,
    spans: Vec<Span>,
    pub(super) length: Option<u64>,
    pub(super) chunked: bool,
    pub(super) close: bool,
    pub(super) keep_alive: bool,
    pub(super) expects: bool,
}

impl HeadScan {
    /// Goes on with the head at the start of `unread`: all of it, its empty line included, once that is there.
    pub(super) fn read<'a>(
        &mut self,
        unread: &'a [u8],
        limits: &Limits,
    ) -> Result<Option<&'a [u8]>, Refusal> {
        while let Some(place) = self.lines.next(unread, limits)? {
            let (start, end) = (place.start, place.end);
            let line = unread.get(place).unwrap_or_default();
            if self.first == 0 {
                self.first = end;
            } else if line.is_empty() {
                let head = unread.get(..end + 2).unwrap_or_default();
                check_bytes(head)?;
                return Ok(Some(head));
            } else {
                self.field(line, start, limits)?;
            }
        }
        Ok(None)
    }

    /// The first line of `head`, which was read, and its fields.
    pub(super) fn take<'a>(&mut self, head: &'a [u8]) -> (&'a [u8], Fields) {
        let spans = core::mem::take(&mut self.spans);
        (head.get(..self.first).unwrap_or_default(), Fields::of(head, spans))
    }

    /// Bytes of memory held.
    pub(super) const fn retained_bytes(&self) -> usize {
        self.spans.capacity() * size_of::<Span>()
    }

    /// Notes the field of a line, which stands at `start`.
    fn field(&mut self, line: &[u8], start: usize, limits: &Limits) -> Result<(), Refusal> {
        if self.spans.len() >= limits.max_fields.min(MAX_FIELDS) {
            return Err(Fault::TooManyFields.into());
        }
        let colon = token_len(line);
        let (name, rest) = line.split_at_checked(colon).unwrap_or_default();
        let (1.., [b':', rest @ ..]) = (colon, rest) else {
            return Err(Fault::Head("a field's name is no token").into());
        };
        let value = trimmed(rest);
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let value_at = start + colon + 1 + blanks;
        self.note(name, value)?;
        let span = Span::new(start..start + colon, value_at..value_at + value.len());
        let len = self.spans.len();
        if len == self.spans.capacity() {
            self.spans.reserve_exact(len.max(FEW_FIELDS).min(MAX_FIELDS - len));
        }
        self.spans.push(span.ok_or(Fault::HeadTooLong)?);
        Ok(())
    }

    fn note(&mut self, name: &[u8], value: &[u8]) -> Result<(), Refusal> {
        let is = |other: &[u8]| same_name(name, other);
        match name.len() {
            14 if is(b"content-length") => {
                let length = length(value).ok_or(Fault::Framing("the length is no number"))?;
                if self.length.is_some_and(|before| before != length) {
                    return Err(Fault::Framing("there are two lengths").into());
                }
                self.length = Some(length);
            }
            17 if is(b"transfer-encoding") => {
                if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    let fault = Fault::Framing("its transfer coding is other than chunked");
                    return Err(Refusal { status: 501, fault });
                }
                self.chunked = true;
            }
            10 if is(b"connection") => {
                for option in value.split(|byte| *byte == b',').map(trimmed) {
                    self.close |= option.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            6 if is(b"expect") => self.expects |= value.eq_ignore_ascii_case(b"100-continue"),
            _ => {}
        }
        if self.chunked && self.length.is_some() {
            return Err(Fault::Framing("it has a length and comes in chunks").into());
        }
        Ok(())
    }
}

/// A length is digits, and few enough of them.
fn length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 19 || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(value.iter().fold(0, |length, digit| length * 10 + u64::from(digit - b'0')))
}

/// No control character anywhere but tabs and the ends of lines, which were checked before.
fn check_bytes(head: &[u8]) -> Result<(), Fault> {
    let control = |byte: u8| is_control(byte) && byte != b'\r' && byte != b'\n';
    // Without a way out in the middle the compiler looks at many bytes at once.
    if head.iter().fold(false, |found, byte| found | control(*byte)) {
        return Err(Fault::Head("it holds a control character"));
    }
    Ok(())
}

/// The search for lines: no byte is searched twice.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Up to where no line ends that is not known.
    searched: usize,
    /// Where the line begins that is not complete yet.
    line: usize,
}

impl Lines {
    /// Where the next line of the head at the start of `unread` stands, without its end. `None`: not all of it is there.
    pub(super) fn next(&mut self, unread: &[u8], limits: &Limits) -> Result<Option<Range<usize>>, Fault> {
        let window = unread.get(..limits.max_head_bytes).unwrap_or(unread);
        if self.searched == 0 && window.first().is_some_and(|first| !is_token(*first)) {
            return Err(Fault::Head("it is no HTTP"));
        }
        let rest = window.get(self.searched..).unwrap_or_default();
        let found = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
        let end = self.searched + found;
        match rest.get(found..).unwrap_or_default() {
            [b'\r', b'\n', ..] => {}
            [] | [b'\r'] => {
                self.searched = end;
                let too_long = unread.len() >= limits.max_head_bytes;
                return if too_long { Err(Fault::HeadTooLong) } else { Ok(None) };
            }
            [b'\r', ..] => return Err(Fault::Head("a CR stands alone")),
            [..] => return Err(Fault::Head("a line ends with LF alone")),
        }
        if matches!(window.get(self.line), Some(b' ' | b'\t')) {
            return Err(Fault::Head("a line is folded"));
        }
        let line = self.line..end;
        (self.line, self.searched) = (end + 2, end + 2);
        Ok(Some(line))
    }
}
