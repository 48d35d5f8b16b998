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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::{Message, parse};
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;
    use bytes::Bytes;
    use proptest::prelude::*;

    fn line(method_first: bool, id: &str, method: &str, params: &str) -> String {
        if method_first {
            format!(r#"{{"method":"{method}","params":{params},"jsonrpc":"2.0","id":{id}}}"#)
        } else {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
        }
    }

    fn params() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".into()),
            "-?[0-9]{1,4}",
            "\"[a-z\\\\é\u{1}]{0,30}\"",
            Just(r#"{"a":{"b":[1,{}]}}"#.into()),
        ];
        let names = prop::sample::select(alloc::vec!["name", "arguments", "_meta", "a b", "é", "\\u0061"]);
        prop::collection::vec((names, leaf, any::<bool>()), 0..4).prop_map(|members| {
            let member = |(name, value, spaced): (&str, String, bool)| match spaced {
                true => format!("\"{name}\" : {value} "),
                false => format!("\"{name}\":{value}"),
            };
            format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
        })
    }

    /// What is read straight through is what the other way finds. Whether it was read straight through.
    fn agrees(frame: &[u8], max_depth: u16) -> bool {
        let Some(plain) = plain_request(frame, max_depth, &mut ()) else { return false };
        match parse(Bytes::copy_from_slice(frame), max_depth) {
            Ok(Message::Request { id, method, params: Some(params) }) => {
                assert_eq!(id.as_i64(), Some(plain.id));
                assert_eq!(method.as_bytes(), plain.method);
                assert_eq!(Some(params.as_bytes()), plain.params.of(frame).map(|params| params.as_bytes()));
            }
            other => panic!("{other:?} of {}", String::from_utf8_lossy(frame)),
        }
        true
    }

    proptest! {
        #[test]
        fn what_is_read_straight_through_is_read_alike(
            method_first in any::<bool>(), id in "-?[0-9]{1,20}|0[0-9]|\"x\"", method in "[a-z/\\\\é]{1,30}",
            params in params(), max_depth in 0u16..8, cut in any::<prop::sample::Index>(), byte in any::<u8>(),
            change in 0u8..4,
        ) {
            let mut frame = line(method_first, &id, &method, &params).into_bytes();
            let at = cut.index(frame.len());
            match change {
                0 => frame[at] = byte,
                1 => frame.truncate(at),
                2 => frame.insert(at, byte),
                _ => {}
            }
            agrees(&frame, max_depth);
        }
    }

    #[test]
    fn what_everybody_writes_is_read_straight_through() {
        for method_first in [false, true] {
            for (id, params, max_depth, straight) in [
                ("0", "{}", 2, true),
                ("999999999999999999", r#"{"name":"é","arguments":{"a":[1]}}"#, 4, true),
                ("7", r#"{"name":"a","arguments":{"a":[1]}}"#, 3, false),
                ("7", "{}", 1, false),
                ("07", "{}", 9, false),
                ("-7", "{}", 9, false),
                ("1000000000000000000", "{}", 9, false),
                ("7", "[]", 9, false),
                ("7", "{}}", 9, false),
            ] {
                let line = line(method_first, id, "tools/call", params);
                assert_eq!(agrees(line.as_bytes(), max_depth), straight, "{line}");
            }
        }
        let plain = line(false, "1", "ping", "{}");
        for other in ["\u{feff}", " "] {
            assert!(!agrees(format!("{other}{plain}").as_bytes(), 9));
        }
        assert!(!agrees(format!("{plain} ").as_bytes(), 9));
    }
}
