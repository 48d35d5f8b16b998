//! Members by name: several at once is what one after the other is.

use super::*;
use alloc::format;
use alloc::string::String;
use proptest::prelude::*;

const START: &[u8; 9] = br#"{"name":""#;
const NEXT: &[u8; 13] = br#","arguments":"#;

fn texts(found: [Option<JsonRef<'_>>; 2]) -> [Option<&[u8]>; 2] {
    found.map(|value| value.map(JsonRef::as_bytes))
}

/// Whichever way two members are asked for.
fn each_way_finds(text: &str, expected: [Option<&str>; 2]) {
    let raw = json(text);
    let expected = expected.map(|value| value.map(str::as_bytes));
    let names = ["name", "arguments"];
    assert_eq!(texts(names.map(|name| raw.view().get(name))), expected, "{text}");
    assert_eq!(texts(raw.view().get_each(names)), expected, "{text}");
    assert_eq!(texts(raw.view().get_both(names)), expected, "{text}");
    assert_eq!(texts(raw.view().text_and_object(names, START, NEXT)), expected, "{text}");
}

#[test]
fn of_members_that_stand_twice_the_first_counts_however_they_are_asked_for() {
    let table = [
        (r#"{"name":"a","arguments":{"x":[1]}}"#, [Some(r#""a""#), Some(r#"{"x":[1]}"#)]),
        (r#"{"name":"a","arguments":{},"more":{}}"#, [Some(r#""a""#), Some("{}")]),
        (r#"{"name":"a","arguments":{},"name":"b","arguments":[]}"#, [Some(r#""a""#), Some("{}")]),
        (r#"{"name":"a","name":"b"}"#, [Some(r#""a""#), None]),
        (r#"{"arguments":1,"arguments":2,"name":3}"#, [Some("3"), Some("1")]),
        (r#"{"name":"a","arguments":[1]}"#, [Some(r#""a""#), Some("[1]")]),
        (r#"{"name":"a","arguments":5}"#, [Some(r#""a""#), Some("5")]),
        (r#"{"name":"a","arguments":"x","y":{}}"#, [Some(r#""a""#), Some(r#""x""#)]),
        (r#"{"name":"a","arguments":null,"y":{}}"#, [Some(r#""a""#), Some("null")]),
        (r#"{"name":"a\"","arguments":{}}"#, [Some(r#""a\"""#), Some("{}")]),
        (
            r#"{"name":"a much longer name than most","arguments":{}}"#,
            [Some(r#""a much longer name than most""#), Some("{}")],
        ),
        (r#"{"name":"a" ,"arguments":{}}"#, [Some(r#""a""#), Some("{}")]),
        (r#"{"name":"a","argumentz":{}}"#, [Some(r#""a""#), None]),
        (r#"{"nome":"a","arguments":{}}"#, [None, Some("{}")]),
        (r#"{"\u006eame":1}"#, [Some("1"), None]),
        (r#"{"name":"a"}"#, [Some(r#""a""#), None]),
        ("{}", [None, None]),
        (r#"["name",1,"arguments",2]"#, [None, None]),
    ];
    for (text, expected) in table {
        each_way_finds(text, expected);
    }
    let raw = json(r#"{"c":1,"b":2,"a":3,"b":4}"#);
    let [a, b, c, d] = raw.view().get_each(["a", "b", "c", "d"]).map(|value| value.and_then(JsonRef::as_i64));
    assert_eq!([a, b, c, d], [Some(3), Some(2), Some(1), None]);
}

proptest! {
    #[test]
    fn two_members_at_once_are_what_one_after_the_other_is(
        members in prop::collection::vec(
            (
                prop::sample::select(alloc::vec!["name", "arguments", "\\u006eame", "names", "a"]),
                prop::sample::select(alloc::vec![r#""a""#, "{}", r#"{"name":[{}]}"#, "[]", "-1", r#""\"""#, "\"é\""]),
                any::<bool>(),
            ),
            0..5,
        ),
    ) {
        let member = |(name, value, spaced): &(&str, &str, bool)| {
            let space = if *spaced { " " } else { "" };
            format!("\"{name}\"{space}:{space}{value}{space}")
        };
        let text = format!("{{{}}}", members.iter().map(member).collect::<Vec<String>>().join(","));
        let first = |wanted| {
            let decoded = |name: &str| name.replace("\\u006e", "n");
            members.iter().find(|(name, ..)| decoded(name) == wanted).map(|(_, value, _)| *value)
        };
        each_way_finds(&text, [first("name"), first("arguments")]);
    }
}

#[test]
fn a_boolean_is_one_of_two() {
    let read = |text| json(text).view().as_bool();
    assert_eq!(
        [read("true"), read("false"), read("null"), read("\"true\"")],
        [Some(true), Some(false), None, None]
    );
}

#[test]
fn walks_tell_how_far_they_are_and_not_what_they_see() {
    let raw = json(r#"{"secret":1,"b":2}"#);
    let mut members = raw.view().members();
    members.next();
    assert_eq!(format!("{members:?}"), "Members(11 of 18 bytes read)");
    let raw = json("[77,8]");
    let mut elements = raw.view().elements();
    elements.next();
    assert_eq!(format!("{elements:?}"), "Elements(3 of 6 bytes read)");
    let text = json(r#""secret""#);
    assert_eq!(format!("{:?}", text.view().str().unwrap()), "JsonStr(6 bytes)");
}
