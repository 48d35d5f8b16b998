use super::*;
use alloc::borrow::Cow;
use alloc::string::String;

#[test]
fn each_way_to_break_the_grammar_is_named_where_it_is() {
    use JsonFaultKind::*;
    let table: [(&str, JsonFaultKind, usize); 48] = [
        ("", UnexpectedEnd, 0),
        ("  ", UnexpectedEnd, 2),
        ("{", UnexpectedEnd, 1),
        ("[1", UnexpectedEnd, 2),
        ("[1,", UnexpectedEnd, 3),
        ("{\"a\"", UnexpectedEnd, 4),
        ("{\"a\":", UnexpectedEnd, 5),
        ("{\"a\":1", UnexpectedEnd, 6),
        ("\"abc", UnexpectedEnd, 4),
        ("\"abc\\", UnexpectedEnd, 5),
        ("\"\\u12", UnexpectedEnd, 5),
        ("-", UnexpectedEnd, 1),
        ("1.", UnexpectedEnd, 2),
        ("1e+", UnexpectedEnd, 3),
        ("tru", UnexpectedEnd, 3),
        ("[1,]", UnexpectedByte, 3),
        ("[,1]", UnexpectedByte, 1),
        ("[1 2]", UnexpectedByte, 3),
        ("[1}", UnexpectedByte, 2),
        ("{\"a\":1]", UnexpectedByte, 6),
        ("{1:2}", UnexpectedByte, 1),
        ("{\"a\" 1}", UnexpectedByte, 5),
        ("{\"a\":1,}", UnexpectedByte, 7),
        ("{,}", UnexpectedByte, 1),
        ("nul!", UnexpectedByte, 3),
        ("True", UnexpectedByte, 0),
        ("'a'", UnexpectedByte, 0),
        ("+1", UnexpectedByte, 0),
        (".5", UnexpectedByte, 0),
        ("NaN", UnexpectedByte, 0),
        ("[\u{a0}1]", UnexpectedByte, 1),
        ("01", BadNumber, 1),
        ("-x", BadNumber, 1),
        ("1.x", BadNumber, 2),
        ("1ex", BadNumber, 2),
        ("\"\\x\"", BadEscape, 1),
        ("\"\\u12g4\"", BadEscape, 1),
        ("\"a\tb\"", ControlInString, 2),
        (r#""\n\"\\\/\t\r\b\f\x""#, BadEscape, 17),
        ("\"\\n\\\"\u{7f}\\u00e9\t\"", ControlInString, 12),
        (r#""\n\u0041"#, UnexpectedEnd, 9),
        (r#"{"a\x":1}"#, BadEscape, 3),
        ("{\"a\tb\":1}", ControlInString, 3),
        (r#"{"a":1,"b\n"#, UnexpectedEnd, 11),
        (r#"{"a":1,"b"  1}"#, UnexpectedByte, 12),
        ("[1,-]", BadNumber, 4),
        ("1 2", TrailingBytes, 2),
        ("{}}", TrailingBytes, 2),
    ];
    for (text, kind, offset) in table {
        let found = RawJson::parse_str(text).map(|raw| raw.len());
        assert_eq!(found, Err(JsonFault { kind, offset }), "{text:?}");
    }
}

#[test]
fn a_control_is_found_wherever_it_stands_in_a_string_long_or_short() {
    for len in [0, 1, 7, 8, 9, 31, 32, 33, 100, 1000] {
        for at in [0, len / 2, len] {
            for control in ["\0", "\u{1f}", "\n", "\r"] {
                let mut text = "x".repeat(len);
                text.insert_str(at, control);
                let text = alloc::format!("[\"{text}\"]");
                let fault = RawJson::parse_str(&text).unwrap_err();
                assert_eq!(fault, JsonFault { kind: JsonFaultKind::ControlInString, offset: 2 + at });
            }
        }
    }
}

#[test]
fn text_is_decoded_by_the_rules_and_borrowed_where_it_can_be() {
    let table = [
        (r#""plain""#, "plain"),
        (r#""""#, ""),
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r#""\u0041\u00e9\u8a9e\uFFFF""#, "A\u{e9}\u{8a9e}\u{ffff}"),
        (r#""\ud83d\ude00""#, "\u{1f600}"),
        (r#""a\u0000b""#, "a\0b"),
        // Half a pair: the text is kept, the half is not.
        (r#""\ud83d""#, "\u{fffd}"),
        (r#""\ude00""#, "\u{fffd}"),
        (r#""\ud83dx""#, "\u{fffd}x"),
        (r#""\ud83d\n""#, "\u{fffd}\n"),
        (r#""\ud83d\u0041""#, "\u{fffd}A"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
        (r#""\udc00\udc00""#, "\u{fffd}\u{fffd}"),
        (r#""\ud83dxude00""#, "\u{fffd}xude00"),
        (r#""\ud83d\nde00""#, "\u{fffd}\nde00"),
        (r#""\ud83d\uE000""#, "\u{fffd}\u{e000}"),
        (r#""\ud800\udc00\udbff\uDFFF""#, "\u{10000}\u{10ffff}"),
        (r#""\u0041""#, "A"),
        (r#""\u0041\u0042""#, "AB"),
    ];
    for (text, expected) in table {
        let raw = json(text);
        let literal = raw.view().str().unwrap();
        assert_eq!(literal.decode(), expected, "{text}");
        assert!(literal.eq_str(expected), "{text}");
        assert_eq!(matches!(literal.decode(), Cow::Borrowed(_)), !text.contains('\\'));
        let mut fresh = String::new();
        literal.decode_into(&mut fresh);
        let mut appended = String::from("x");
        literal.decode_into(&mut appended);
        assert_eq!((&fresh[..], &appended[1..]), (expected, expected));
    }
}

#[test]
fn names_are_compared_by_value_and_nothing_else_is_equal() {
    let raw = json(r#"{"a":1,"\u0061b":2,"a":3,"\\":4,"\\\\":5}"#);
    let get = |name| raw.view().get(name).and_then(JsonRef::as_i64);
    assert_eq!([get("a"), get("ab"), get("\\"), get("\\\\")], [Some(1), Some(2), Some(4), Some(5)]);
    assert_eq!([get("b"), get(""), get("\\u0061b"), get("abc"), get("\\\\\\\\")], [None; 5]);
}

#[test]
fn a_text_with_escapes_is_equal_to_what_it_means_alone() {
    let raw = json(r#""ab\u0063de\n""#);
    let literal = raw.view().str().unwrap();
    assert!(literal.eq_str("abcde\n"));
    for other in ["xbcde\n", "abxde\n", "abcxe\n", "abcde", "abcde\nf", "abc", "a", ""] {
        assert!(!literal.eq_str(other), "{other:?}");
    }
}

#[test]
fn walking_yields_members_and_elements_in_order_whatever_they_hold() {
    let raw =
        json(r#" { "a\"}" : [ "]\\" , {"b":"{\\\"["} , [] , -1.5e3 ] , "c":{} , "d" : "\\" , "e":null } "#);
    let names: Vec<_> = raw.view().members().map(|(name, _)| name.decode().into_owned()).collect();
    assert_eq!(names, ["a\"}", "c", "d", "e"]);
    let values: Vec<_> = raw.view().members().map(|(_, value)| value.as_bytes()).collect();
    assert_eq!(values[1..], [&b"{}"[..], br#""\\""#, b"null"]);
    let kinds: Vec<_> = raw.view().get("a\"}").unwrap().elements().map(JsonRef::kind).collect();
    assert_eq!(kinds, [Kind::String, Kind::Object, Kind::Array, Kind::Number]);
    for text in ["[]", "{}", "[ ]", "{ }", "1", "\"[1]\"", "null", "true"] {
        assert_eq!(json(text).view().members().count() + json(text).view().elements().count(), 0, "{text}");
    }
}

#[test]
fn numbers_and_booleans_are_read_by_kind() {
    let n = |text| json(text);
    assert_eq!(n("5").view().as_u64(), Some(5));
    assert_eq!(n("-5").view().as_i64(), Some(-5));
    assert_eq!(
        (n("-5").view().as_u64(), n("5.0").view().as_u64(), n("5e0").view().as_i64()),
        (None, None, None)
    );
    assert_eq!(n("18446744073709551615").view().as_u64(), Some(u64::MAX));
    assert_eq!(n("18446744073709551616").view().as_u64(), None);
    assert_eq!(n("100000000000000000000000").view().as_u64(), None);
    assert_eq!(n("-9223372036854775808").view().as_i64(), Some(i64::MIN));
    assert_eq!(n("-9223372036854775809").view().as_i64(), None);
    assert_eq!((n("0.1").view().as_f64(), n("1e999").view().as_f64()), (Some(0.1), None));
    assert_eq!((n("\"5\"").view().as_i64(), n("\"5\"").view().as_f64()), (None, None));
    assert_eq!((n("true").view().as_bool(), n("0").view().as_bool()), (Some(true), None));
    assert!(n("null").view().is_null());
}

#[test]
fn serde_values_go_in_and_out() {
    let raw = RawJson::serialize(&["a", "b\n"]).unwrap();
    assert_eq!(raw.as_str(), r#"["a","b\n"]"#);
    assert_eq!(raw.decode::<Vec<String>>().unwrap(), ["a", "b\n"]);
    assert!(raw.decode::<u8>().is_err());
    assert_eq!((RawJson::null().as_str(), RawJson::empty_object().as_str()), ("null", "{}"));
    assert_eq!(RawJson::from_static(" [1] ").unwrap(), json("[1]"));
}

#[test]
fn a_part_is_one_only_if_it_lies_inside() {
    let frame = json("[[1,2,3],[4],[5]]");
    let all: Vec<_> = frame.view().elements().map(|part| frame.slice_of(part).unwrap()).collect();
    let [first, second, third] = &all[..] else { panic!("three") };
    for (part, other) in [(second, first), (second, third), (first, second), (third, second), (first, &frame)]
    {
        assert_eq!(part.slice_of(other.view()), None, "{} in {}", other.as_str(), part.as_str());
    }
    assert_eq!(second.slice_of(second.view()).as_ref(), Some(second));
    assert_eq!((second.bytes(), second.bytes().as_ptr()), ("[4]".into(), second.as_bytes().as_ptr()));
    assert_eq!((second.len(), second.clone().into_frame()), (3, "[[1,2,3],[4],[5]]".into()));
}

#[test]
fn values_are_equal_by_their_bytes() {
    assert_eq!(json(" 1 "), json("1"));
    assert_ne!(json("1.0"), json("1"));
    assert_ne!(json("{ }"), json("{}"));
}
