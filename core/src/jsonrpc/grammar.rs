//! The grammar of JSON, checked in one pass that keeps nothing but one bit a level.
//!
//! A pre-pass ([`classify`]) says which of three kinds of text it is, and the pass is compiled once for each:
//! almost every line is plain ASCII without controls, and there a string need only be searched for its end.
//!
//! Source: RFC 8259 §2 to §8.

use super::fault::{JsonFault, JsonFaultKind as Why};
use super::words;

/// The deepest nesting that can be asked for: one bit of a `u128` says of each level whether it is an object.
pub const MAX_DEPTH: u16 = 128;

/// Every byte lies in 0x20..0x80.
pub(super) const ASCII: u8 = 0;
/// Valid UTF-8 without controls.
pub(super) const UTF8: u8 = 1;
/// Valid UTF-8 with controls somewhere, so each string has to be looked at for them.
pub(super) const CONTROLS: u8 = 2;

/// Finds the kind of text, and checks that it is UTF-8.
#[inline]
pub(super) fn classify(bytes: &[u8]) -> Result<u8, JsonFault> {
    if !words::any_unusual(bytes) {
        return Ok(ASCII);
    }
    classify_unusual(bytes)
}

#[inline(never)]
fn classify_unusual(bytes: &[u8]) -> Result<u8, JsonFault> {
    if let Err(fault) = core::str::from_utf8(bytes) {
        return Err(JsonFault::new(Why::NotUtf8, fault.valid_up_to()));
    }
    Ok(if words::any_control(bytes) { CONTROLS } else { UTF8 })
}

/// Checks that `bytes` holds one value with nothing but white space around it; gives its start and end.
pub(super) fn document(bytes: &[u8], max_depth: u16) -> Result<(usize, usize), JsonFault> {
    let start = skip_space(bytes, 0);
    let end = match classify(bytes)? {
        ASCII => value::<ASCII>(bytes, start, max_depth),
        UTF8 => value::<UTF8>(bytes, start, max_depth),
        _ => value::<CONTROLS>(bytes, start, max_depth),
    }?;
    nothing_follows(bytes, end)?;
    Ok((start, end))
}

pub(super) fn nothing_follows(bytes: &[u8], end: usize) -> Result<(), JsonFault> {
    let rest = skip_space(bytes, end);
    if rest < bytes.len() { Err(JsonFault::new(Why::TrailingBytes, rest)) } else { Ok(()) }
}

/// The first byte at or after `at` that is not white space.
#[inline(always)]
pub(super) fn skip_space(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b) if *b <= b' ' => skip_space_slowly(bytes, at),
        _ => at,
    }
}

#[inline(never)]
fn skip_space_slowly(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

#[cold]
#[inline(never)]
pub(super) fn unexpected<T>(bytes: &[u8], at: usize) -> Result<T, JsonFault> {
    let kind = if at < bytes.len() { Why::UnexpectedByte } else { Why::UnexpectedEnd };
    Err(JsonFault::new(kind, at.min(bytes.len())))
}

#[cold]
#[inline(never)]
fn fault<T>(kind: Why, at: usize) -> Result<T, JsonFault> {
    Err(JsonFault::new(kind, at))
}

/// Checks one value that starts at `at` (no white space in front) and gives its end.
#[inline(never)]
pub(super) fn value<const TEXT: u8>(bytes: &[u8], mut at: usize, max_depth: u16) -> Result<usize, JsonFault> {
    let max_depth = u32::from(max_depth.min(MAX_DEPTH));
    let mut objects = 0u128; // the lowest bit is the innermost level: 1 is an object
    let mut depth = 0u32;
    'value: loop {
        match bytes.get(at) {
            Some(b'"') => at = string::<TEXT>(bytes, at + 1)?.end + 1,
            Some(open @ (b'{' | b'[')) => {
                if depth == max_depth {
                    return fault(Why::TooDeep, at);
                }
                let is_object = *open == b'{';
                at = skip_space(bytes, at + 1);
                // Both closing brackets lie two above their opening ones.
                if bytes.get(at) == Some(&(*open + 2)) {
                    at += 1;
                } else {
                    objects = objects << 1 | u128::from(is_object);
                    depth += 1;
                    if is_object {
                        at = name::<TEXT>(bytes, at)?.1;
                    }
                    continue 'value;
                }
            }
            Some(b'-' | b'0'..=b'9') => at = number(bytes, at)?,
            Some(b't') => at = literal(bytes, at, *b"true")?,
            Some(b'n') => at = literal(bytes, at, *b"null")?,
            Some(b'f') => at = literal(bytes, at + 1, *b"alse")?,
            Some(b' ' | b'\t' | b'\n' | b'\r') => {
                at = skip_space_slowly(bytes, at);
                continue 'value;
            }
            _ => return unexpected(bytes, at),
        }
        loop {
            if depth == 0 {
                return Ok(at);
            }
            match bytes.get(at) {
                Some(b',') => {
                    at = skip_space(bytes, at + 1);
                    if objects & 1 == 1 {
                        at = name::<TEXT>(bytes, at)?.1;
                    }
                    continue 'value;
                }
                Some(b'}') if objects & 1 == 1 => {}
                Some(b']') if objects & 1 == 0 => {}
                Some(b' ' | b'\t' | b'\n' | b'\r') => {
                    at = skip_space_slowly(bytes, at);
                    continue;
                }
                _ => return unexpected(bytes, at),
            }
            at += 1;
            objects >>= 1;
            depth -= 1;
        }
    }
}

/// Where the content of a string ends, and whether it holds escapes.
#[derive(Clone, Copy)]
pub(super) struct Content {
    pub(super) end: usize,
    pub(super) escaped: bool,
}

/// Checks a member's name and the colon behind it; gives its content and where the value starts.
#[inline(always)]
pub(super) fn name<const TEXT: u8>(bytes: &[u8], at: usize) -> Result<(Content, usize), JsonFault> {
    if bytes.get(at) != Some(&b'"') {
        return unexpected(bytes, at);
    }
    let content = string::<TEXT>(bytes, at + 1)?;
    let mut at = content.end + 1;
    if bytes.get(at) != Some(&b':') {
        at = skip_space(bytes, at);
        if bytes.get(at) != Some(&b':') {
            return unexpected(bytes, at);
        }
    }
    Ok((content, skip_space(bytes, at + 1)))
}

/// Checks a string whose content starts at `start`, up to its closing quote.
#[inline(always)]
pub(super) fn string<const TEXT: u8>(bytes: &[u8], start: usize) -> Result<Content, JsonFault> {
    let mut at = start;
    let mut escaped = false;
    loop {
        at = if TEXT == ASCII {
            words::find_special::<true>(bytes, at)
        } else {
            words::find_special::<false>(bytes, at)
        };
        match bytes.get(at) {
            Some(b'"') => break,
            Some(_) => {
                escaped = true;
                at = escape(bytes, at)?;
            }
            None => return unexpected(bytes, at),
        }
    }
    if TEXT == CONTROLS {
        let content = bytes.get(start..at).unwrap_or_default();
        if let Some(control) = content.iter().position(|&b| b < 0x20) {
            return fault(Why::ControlInString, start + control);
        }
    }
    Ok(Content { end: at, escaped })
}

/// Checks the escape whose backslash stands at `at`; gives its end.
#[inline(always)]
fn escape(bytes: &[u8], at: usize) -> Result<usize, JsonFault> {
    match bytes.get(at + 1) {
        Some(b'n' | b'"' | b'\\' | b'/' | b't' | b'r' | b'b' | b'f') => Ok(at + 2),
        _ => unicode_escape(bytes, at),
    }
}

#[inline(never)]
fn unicode_escape(bytes: &[u8], at: usize) -> Result<usize, JsonFault> {
    match bytes.get(at + 1) {
        Some(b'u') => {}
        Some(_) => return fault(Why::BadEscape, at),
        None => return unexpected(bytes, at + 1),
    }
    for digit in at + 2..at + 6 {
        match bytes.get(digit) {
            Some(b) if b.is_ascii_hexdigit() => {}
            Some(_) => return fault(Why::BadEscape, at),
            None => return unexpected(bytes, digit),
        }
    }
    Ok(at + 6)
}

#[inline(always)]
fn literal(bytes: &[u8], at: usize, word: [u8; 4]) -> Result<usize, JsonFault> {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
        Some(found) if *found == word => Ok(at + 4),
        _ => bad_literal(bytes, at, word),
    }
}

#[cold]
#[inline(never)]
fn bad_literal(bytes: &[u8], at: usize, word: [u8; 4]) -> Result<usize, JsonFault> {
    let rest = bytes.get(at..).unwrap_or_default();
    let same = rest.iter().zip(&word).take_while(|(a, b)| a == b).count();
    unexpected(bytes, at + same)
}

#[inline(always)]
fn digits(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Checks a number that starts at `at`; gives its end.
#[inline(always)]
fn number(bytes: &[u8], start: usize) -> Result<usize, JsonFault> {
    let mut at = start;
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        Some(b'1'..=b'9') => digits(bytes, at + 1),
        Some(_) => return fault(Why::BadNumber, at),
        None => return unexpected(bytes, at),
    };
    match bytes.get(at) {
        Some(b'.' | b'e' | b'E') => fraction(bytes, at),
        Some(b'0'..=b'9') => fault(Why::BadNumber, at), // a leading zero
        _ => Ok(at),
    }
}

#[inline(never)]
fn fraction(bytes: &[u8], mut at: usize) -> Result<usize, JsonFault> {
    let some_digits = |at: usize| match digits(bytes, at) {
        end if end > at => Ok(end),
        end if end < bytes.len() => fault(Why::BadNumber, end),
        end => unexpected(bytes, end),
    };
    if bytes.get(at) == Some(&b'.') {
        at = some_digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at = some_digits(at + 1 + usize::from(signed))?;
    }
    Ok(at)
}
