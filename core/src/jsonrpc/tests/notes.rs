//! Notes that are taken while a line is read.

use super::*;
use alloc::format;
use alloc::string::String;
use proptest::prelude::*;

/// Notes of `a`, of `b`, and of the `a` inside `in`; with `known` those that are asked for at once are told so.
#[derive(Debug, Default)]
struct Places {
    known: bool,
    went_in: bool,
    a: Span,
    b: Span,
    inner: Span,
}

impl Places {
    fn told_at_once() -> Self {
        Self { known: true, ..Self::default() }
    }

    fn found<'a>(&self, frame: &'a [u8]) -> [Option<&'a [u8]>; 3] {
        [self.a, self.b, self.inner].map(|span| span.of(frame).map(JsonRef::as_bytes))
    }
}

impl Notes for Places {
    const TAKEN: bool = true;

    fn note_at_once(&mut self, inside: bool, text: &[u8]) -> Option<(usize, Note<'_>)> {
        if !self.known || !text.starts_with(b"\"a\":") {
            return None;
        }
        Some((4, self.note(inside, b"a")))
    }

    fn note(&mut self, inside: bool, name: &[u8]) -> Note<'_> {
        let span = match (inside, name) {
            (false, b"a") => &mut self.a,
            (false, b"b") => &mut self.b,
            (true, b"a") => &mut self.inner,
            (false, b"in") if !self.went_in => {
                self.went_in = true;
                return Note::Inside;
            }
            _ => return Note::Pass,
        };
        if span.is_some() { Note::Pass } else { Note::Value(span) }
    }
}

/// Reads with notes: they change nothing of what is read, and say what is there.
fn noted(frame: &[u8], max_depth: u16) {
    let told = format!("{:?} to {max_depth} levels", String::from_utf8_lossy(frame));
    let expected = parse(Bytes::copy_from_slice(frame), max_depth);
    for mut places in [Places::default(), Places::told_at_once()] {
        let found = parse_noting(Bytes::copy_from_slice(frame), max_depth, &mut places);
        assert_eq!(found, expected, "{told}");
        let Ok(message) = found else { continue };
        let params = match message {
            Message::Request { params, .. } | Message::Notification { params, .. } => params,
            Message::Result { .. } | Message::Error { .. } => None,
        };
        let Some(params) = params else { continue };
        let view = params.view();
        let inner = view.get("in").and_then(|inside| inside.get("a"));
        let there = [view.get("a"), view.get("b"), inner].map(|value| value.map(JsonRef::as_bytes));
        assert_eq!(places.found(frame), there, "{told}");
        // The same notes can be taken later.
        let mut later = Places { known: places.known, ..Places::default() };
        take_notes(&params, &mut later);
        assert_eq!(later.found(params.place().0), there, "{told}");
    }
}

#[test]
fn notes_are_taken_of_members_however_they_are_written() {
    let table = [
        (r#"{"a":1,"b":"x","in":{"a":[2]}}"#, [Some("1"), Some("\"x\""), Some("[2]")]),
        (r#"{ "a" : 1 , "b" : "x" , "in" : { "a" : [2] } }"#, [Some("1"), Some("\"x\""), Some("[2]")]),
        (r#"{"\u0061":-1,"in":{"\u0061":{"a":0}}}"#, [Some("-1"), None, Some(r#"{"a":0}"#)]),
        (r#"{"a":"é\"","b":"\u00e9"}"#, [Some(r#""é\"""#), Some(r#""\u00e9""#), None]),
        (r#"{"a":1,"a":2,"in":{"a":3,"a":4},"in":{"a":5}}"#, [Some("1"), None, Some("3")]),
        (r#"{"in":5,"b":12.5e1}"#, [None, Some("12.5e1"), None]),
        (r#"{"in":{},"b":{}}"#, [None, Some("{}"), None]),
        (r#"{"x":{"a":1},"y":[{"b":2}]}"#, [None; 3]),
        ("{}", [None; 3]),
        ("{ }", [None; 3]),
    ];
    for (params, expected) in table {
        let frame = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params},"id":1}}"#);
        for mut places in [Places::default(), Places::told_at_once()] {
            parse_noting(Bytes::copy_from_slice(frame.as_bytes()), 9, &mut places).unwrap();
            assert_eq!(
                places.found(frame.as_bytes()),
                expected.map(|value| value.map(str::as_bytes)),
                "{frame}"
            );
        }
        noted(frame.as_bytes(), 9);
    }
    // Whatever is no object has no members.
    let mut places = Places::default();
    take_notes(&json(r#"["a",1]"#), &mut places);
    assert_eq!(places.found(b""), [None; 3]);
}

#[test]
fn what_is_noted_counts_its_levels_like_anything_else() {
    for params in [r#"{"a":{"x":[1]}}"#, r#"{"in":{"a":[1]}}"#, r#"{"in":{"x":{}}}"#, r#"{"in":{}}"#, "{}"] {
        for max_depth in 0..6 {
            noted(format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#).as_bytes(), max_depth);
        }
    }
}

#[test]
fn a_fault_in_what_is_noted_stands_where_it_does_without_notes() {
    for params in [
        r#"{"a":"x\y"}"#,
        r#"{"a" : "\n\x"}"#,
        "{\"a\":\"x\ty\"}",
        "{\"in\":{\"a\":\"x\ty\"}}",
        r#"{"a":01}"#,
        r#"{"in":{"a":1.}}"#,
        r#"{"a":1 "b":2}"#,
        r#"{"a":1,}"#,
        r#"{"a\x":1}"#,
        "{\"a\ty\":1}",
        "{\"in\":{\"a\ty\":1}}",
        r#"{"a" 1}"#,
        r#"{"é":"#,
    ] {
        noted(format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#).as_bytes(), 9);
    }
}

proptest! {
    #[test]
    fn notes_change_nothing_of_what_is_read(
        members in prop::collection::vec(
            (
                prop::sample::select(alloc::vec!["a", "b", "in", "\\u0061", "long enough a name", "é"]),
                prop::sample::select(alloc::vec![
                    r#""x""#, "7", "-0.5", "[1,{}]", "{}", r#"{"a":1}"#, r#"{"b":{"a":[]},"a":"é"}"#, "null", r#""\n""#,
                ]),
                any::<bool>(),
            ),
            0..5,
        ),
        max_depth in 0u16..7,
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        change in 0u8..4,
    ) {
        let member = |(name, value, spaced): &(&str, &str, bool)| {
            let space = if *spaced { " " } else { "" };
            format!("\"{name}\"{space}:{space}{value}{space}")
        };
        let params = members.iter().map(member).collect::<Vec<String>>().join(",");
        let mut frame = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{{params}}}}}"#).into_bytes();
        let at = place.index(frame.len());
        match change {
            0 => frame[at] = byte,
            1 => frame.truncate(at),
            2 => frame.insert(at, byte),
            _ => {}
        }
        noted(&frame, max_depth);
    }
}
