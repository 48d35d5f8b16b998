//! The grammar of JSON, checked in one pass that keeps nothing but one bit a level.
//!
//! A pre-pass ([`classify`]) says which of three kinds of text it is, and the pass is compiled once for each:
//! almost every line is plain ASCII without controls, and there a string need only be searched for its end.
//!
//! Source: RFC 8259 §2 to §8.

use super::fault::{JsonFault, JsonFaultKind as Why};
use super::{utf8, words};

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
    if let Err(at) = utf8::check(bytes) {
        return Err(JsonFault::new(Why::NotUtf8, at));
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

/// Checks one value, behind white space if there is some, and gives its end.
#[inline(never)]
pub(super) fn value<const TEXT: u8>(bytes: &[u8], mut at: usize, max_depth: u16) -> Result<usize, JsonFault> {
    let max_depth = u32::from(max_depth.min(MAX_DEPTH));
    let mut objects = 0u128; // the lowest bit is the innermost level: 1 is an object
    let mut depth = 0u32;
    // The likely byte is asked for first; white space comes last, on a path of its own.
    'value: loop {
        match bytes.get(at) {
            Some(b'"') => match string::<TEXT>(bytes, at + 1) {
                Some(content) => at = content.end + 1,
                None => return string_fault(bytes, at + 1),
            },
            Some(b'{') => {
                if depth == max_depth {
                    return fault(Why::TooDeep, at);
                }
                at += 1;
                if bytes.get(at) != Some(&b'"') {
                    at = skip_space(bytes, at);
                }
                if bytes.get(at) == Some(&b'}') {
                    at += 1;
                } else {
                    objects = objects << 1 | 1;
                    depth += 1;
                    let Some(next) = name::<TEXT>(bytes, at) else { return name_fault::<TEXT, _>(bytes, at) };
                    at = next;
                    continue 'value;
                }
            }
            Some(b'[') => {
                if depth == max_depth {
                    return fault(Why::TooDeep, at);
                }
                at = skip_space(bytes, at + 1);
                if bytes.get(at) == Some(&b']') {
                    at += 1;
                } else {
                    objects <<= 1;
                    depth += 1;
                    continue 'value;
                }
            }
            Some(b'-' | b'0'..=b'9') => at = number(bytes, at)?,
            Some(b't') => at = literal(bytes, at, *b"true")?,
            Some(b'n') => at = literal(bytes, at, *b"null")?,
            Some(b'f') => at = literal(bytes, at + 1, *b"alse")?,
            _ => {
                at = space_here(bytes, at)?;
                continue 'value;
            }
        }
        loop {
            if depth == 0 {
                return Ok(at);
            }
            let is_object = objects as u8 & 1;
            match bytes.get(at) {
                Some(b',') => {
                    at += 1;
                    if is_object == 1 {
                        if bytes.get(at) != Some(&b'"') {
                            at = skip_space(bytes, at);
                        }
                        let Some(next) = name::<TEXT>(bytes, at) else {
                            return name_fault::<TEXT, _>(bytes, at);
                        };
                        at = next;
                    }
                    continue 'value;
                }
                // `}` lies 0x20 above `]`.
                Some(close) if *close == b']' | is_object << 5 => {
                    at += 1;
                    objects >>= 1;
                    depth -= 1;
                }
                _ => at = space_here(bytes, at)?,
            }
        }
    }
}

/// The end of the white space that must stand here, since nothing else that may does.
#[inline(never)]
fn space_here(bytes: &[u8], at: usize) -> Result<usize, JsonFault> {
    match skip_space_slowly(bytes, at) {
        end if end > at => Ok(end),
        _ => unexpected(bytes, at),
    }
}

/// Where the content of a string ends, and whether it holds escapes.
#[derive(Clone, Copy)]
pub(super) struct Content {
    pub(super) end: usize,
    pub(super) escaped: bool,
}

/// Checks a member's name and the colon behind it; gives what follows.
#[inline(always)]
fn name<const TEXT: u8>(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    colon(bytes, string::<TEXT>(bytes, at + 1)?.end + 1)
}

/// As [`string`], for the name of a member, which may be a long one that is known.
#[inline(always)]
pub(super) fn name_end<const TEXT: u8>(bytes: &[u8], start: usize) -> Option<Content> {
    if TEXT == CONTROLS {
        return long_string::<TEXT>(bytes, start, start);
    }
    match words::near_quote::<6>(bytes, start, TEXT == ASCII) {
        Ok(end) => Some(Content { end, escaped: false }),
        Err(at) => long_string::<TEXT>(bytes, start, at),
    }
}

/// The place behind the colon that must stand at `at`, or behind white space.
#[inline(always)]
pub(super) fn colon(bytes: &[u8], at: usize) -> Option<usize> {
    let at = if bytes.get(at) == Some(&b':') { at } else { skip_space(bytes, at) };
    (bytes.get(at) == Some(&b':')).then_some(at + 1)
}

/// Why there is no member's name at `at`.
#[cold]
#[inline(never)]
pub(super) fn name_fault<const TEXT: u8, T>(bytes: &[u8], at: usize) -> Result<T, JsonFault> {
    if bytes.get(at) != Some(&b'"') {
        return unexpected(bytes, at);
    }
    match string::<TEXT>(bytes, at + 1) {
        Some(content) => unexpected(bytes, skip_space(bytes, content.end + 1)),
        None => string_fault(bytes, at + 1),
    }
}

/// Checks a string whose content starts at `start`, up to its closing quote; [`string_fault`] says what is wrong.
// An `Option` of this size comes back in registers, a `Result` would not.
#[inline(always)]
pub(super) fn string<const TEXT: u8>(bytes: &[u8], start: usize) -> Option<Content> {
    if TEXT == CONTROLS {
        return long_string::<TEXT>(bytes, start, start);
    }
    match words::near_quote::<5>(bytes, start, TEXT == ASCII) {
        Ok(end) => Some(Content { end, escaped: false }),
        Err(at) => long_string::<TEXT>(bytes, start, at),
    }
}

/// The rest of a string of which nothing was found up to `at`.
#[inline(never)]
fn long_string<const TEXT: u8>(bytes: &[u8], start: usize, mut at: usize) -> Option<Content> {
    let mut escaped = false;
    loop {
        at = words::find_special(bytes, at, TEXT == ASCII);
        match bytes.get(at)? {
            b'"' => break,
            _ => {
                escaped = true;
                at = match bytes.get(at + 1) {
                    Some(b'n' | b'"' | b'\\' | b'/' | b't' | b'r' | b'b' | b'f') => at + 2,
                    _ => unicode_escape(bytes, at).ok()?,
                };
            }
        }
    }
    if TEXT == CONTROLS && words::any_control(bytes.get(start..at)?) {
        return None;
    }
    Some(Content { end: at, escaped })
}

/// Why no string starts at `start`: looks for it again, byte by byte.
#[cold]
#[inline(never)]
pub(super) fn string_fault<T>(bytes: &[u8], start: usize) -> Result<T, JsonFault> {
    let mut at = start;
    loop {
        at = match bytes.get(at) {
            None => return unexpected(bytes, at),
            Some(0..0x20) => return fault(Why::ControlInString, at),
            Some(b'\\') => match bytes.get(at + 1) {
                Some(b'n' | b'"' | b'\\' | b'/' | b't' | b'r' | b'b' | b'f') => at + 2,
                _ => unicode_escape(bytes, at)?,
            },
            // Not to be met: then there would be no fault.
            Some(b'"') => return fault(Why::UnexpectedByte, at),
            Some(_) => at + 1,
        };
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
pub(super) fn number(bytes: &[u8], start: usize) -> Result<usize, JsonFault> {
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
