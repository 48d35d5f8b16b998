use alloc::format;

use proptest::prelude::*;

use super::*;
use crate::jsonrpc::RawJson;

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

fn read(schema: &str) -> Result<Vec<Mirrored>, Why> {
    mirrored(json(schema).view())
}

fn one(path: &[&str], name: &str, kind: ValueKind) -> Mirrored {
    Mirrored { path: path.iter().map(|name| (*name).into()).collect(), name: name.into(), kind }
}

// P-159, P-168: designated properties are found where they stand, nested ones as well.
#[test]
fn designated_properties_are_found_in_the_order_of_the_schema() {
    let schema = r#"{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "plain":{"type":"string"},
        "where":{"type":"object","properties":{"zone":{"type":["integer","null"],"x\u002dmcp-header":"Zone"}}},
        "dry":{"x-mcp-header":"Method","type":["boolean"]}
    }}"#;
    let expected = [
        one(&["region"], "Region", ValueKind::Text),
        one(&["where", "zone"], "Zone", ValueKind::Integer),
        one(&["dry"], "Method", ValueKind::Boolean),
    ];
    assert_eq!(read(schema).unwrap(), expected);
    let none = r#"{"type":"object","properties":{"x-mcp-header":{"type":"string"},"d":{"default":{"x-mcp-header":1}}}}"#;
    assert_eq!(read(none).unwrap(), [], "a property of that name, and a value, designate nothing");
    assert_eq!(read("true").unwrap(), []);
}

#[test]
fn a_way_to_a_designated_property_is_no_longer_than_it_may_be() {
    let marked =
        |name: &str| format!(r#"{{"properties":{{"{name}":{{"type":"string","x-mcp-header":"A"}}}}}}"#);
    let below = |name: &str, schema: &str| format!(r#"{{"properties":{{"{name}":{schema}}}}}"#);
    let (half, rest) = ("n".repeat(MAX_PATH / 2), "m".repeat(MAX_PATH / 2));
    assert_eq!(read(&below(&half, &marked(&rest))).map(|found| found.len()), Ok(1));
    assert_eq!(read(&below(&half, &marked(&format!("{rest}m")))), Err(Why::Path));
    // What designates nothing may have any name.
    let long = format!(
        r#"{{"properties":{{"{}":{{}},"a":{{"type":"string","x-mcp-header":"A"}}}}}}"#,
        "n".repeat(9000)
    );
    assert_eq!(read(&long).map(|found| found.len()), Ok(1));
}

// P-160, P-161, P-162, P-163, P-165: what a schema must not do.
#[test]
fn each_broken_rule_is_named() {
    let on = |property: &str| format!(r#"{{"type":"object","properties":{{"a":{property}}}}}"#);
    let named = |name: &str| on(&format!(r#"{{"type":"string","x-mcp-header":{name}}}"#));
    let typed = |kind: &str| on(&format!(r#"{{"type":{kind},"x-mcp-header":"A"}}"#));
    let marked = r#"{"type":"string","x-mcp-header":"A"}"#;
    let below = |keyword: &str| on(&format!(r#"{{"type":"object","{keyword}":{marked}}}"#));
    let listed = |keyword: &str| on(&format!(r#"{{"type":"object","{keyword}":[{marked}]}}"#));
    let mapped = |keyword: &str| format!(r#"{{"type":"object","{keyword}":{{"k":{marked}}}}}"#);
    let many: String =
        (0..=MAX_MIRRORED).map(|n| format!(r#""{n}":{{"type":"string","x-mcp-header":"N{n}"}},"#)).collect();
    let long = format!("\"{}\"", "n".repeat(MAX_NAME + 1));
    let table = [
        (named(r#""""#), Why::Name),
        (named("1"), Why::Name),
        (named(r#""a b""#), Why::Name),
        (named(r#""a:b""#), Why::Name),
        (named(r#""a\r\nb""#), Why::Name),
        (named(r#""ä""#), Why::Name),
        (named(&long), Why::Name),
        (typed(r#""number""#), Why::Type),
        (typed(r#""object""#), Why::Type),
        (typed(r#"["string","integer"]"#), Why::Type),
        (typed(r#"["null"]"#), Why::Type),
        (typed("[]"), Why::Type),
        (typed("7"), Why::Type),
        (on(r#"{"x-mcp-header":"A"}"#), Why::Type),
        (
            format!(r#"{{"properties":{{"a":{marked},"b":{{"type":"integer","x-mcp-header":"a"}}}}}}"#),
            Why::Twice,
        ),
        (format!(r#"{{"properties":{{{many}"z":{{}}}}}}"#), Why::TooMany),
        (r#"{"type":"string","x-mcp-header":"A"}"#.into(), Why::Position),
        (below("items"), Why::Position),
        (below("not"), Why::Position),
        (below("if"), Why::Position),
        (below("additionalProperties"), Why::Position),
        (listed("anyOf"), Why::Position),
        (listed("oneOf"), Why::Position),
        (listed("allOf"), Why::Position),
        (listed("prefixItems"), Why::Position),
        (mapped("$defs"), Why::Position),
        (mapped("patternProperties"), Why::Position),
        (below("items").replace(marked, &on(marked)), Why::Position),
    ];
    for (schema, why) in table {
        assert_eq!(read(&schema), Err(why), "{schema}");
    }
}

// P-169, P-164: how values convert, and the range of integers.
#[test]
fn values_become_text_or_are_refused() {
    let table = [
        (ValueKind::Text, r#""us-west1""#, Some("us-west1")),
        (ValueKind::Text, r#""us west 1""#, Some("us west 1")),
        (ValueKind::Text, r#""""#, Some("")),
        (ValueKind::Text, "1", None),
        (ValueKind::Integer, "42", Some("42")),
        (ValueKind::Integer, "-0", Some("0")),
        (ValueKind::Integer, "42.0", Some("42")),
        (ValueKind::Integer, "4.2e1", Some("42")),
        (ValueKind::Integer, "42.5", None),
        (ValueKind::Integer, r#""42""#, None),
        (ValueKind::Integer, "9007199254740991", Some("9007199254740991")),
        (ValueKind::Integer, "-9007199254740991", Some("-9007199254740991")),
        (ValueKind::Integer, "9007199254740992", None),
        (ValueKind::Integer, "-9007199254740992", None),
        (ValueKind::Integer, "1e300", None),
        (ValueKind::Boolean, "true", Some("true")),
        (ValueKind::Boolean, "false", Some("false")),
        (ValueKind::Boolean, r#""true""#, None),
    ];
    for (kind, value, expected) in table {
        assert_eq!(encode_value(kind, json(value).view()).as_deref(), expected, "{kind:?} {value}");
    }
}

// P-158, P-170, P-171, P-172: when text is marked Base64, and what a mark means.
#[test]
fn text_that_is_not_safe_is_marked_base64() {
    let table = [
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("a\tb", "=?base64?YQli?="),
        ("\u{7f}", "=?base64?fw==?="),
        ("=?base64?open", "=?base64?open"),
        ("", ""),
    ];
    for (text, field) in table {
        assert_eq!(encode_text(text), field);
        assert_eq!(decode_text(field.as_bytes()).as_deref(), Some(text), "{field}");
    }
    for wrong in
        ["=?base64?Zg?=", "=?base64?Z?=", "=?base64?Zg=\t?=", "=?base64?_w==?=", "=?base64?/w==?=", "ä"]
    {
        assert_eq!(decode_text(wrong.as_bytes()), None, "{wrong}");
    }
    assert_eq!(decode_text(b"=?BASE64?Zg==?=").as_deref(), Some("=?BASE64?Zg==?="), "markers are exact");
    assert_eq!(decode_text(b"=?base64??=").as_deref(), Some(""));
}

// P-168, P-176: no field for what is absent or null.
#[test]
fn a_value_is_found_at_its_exact_path() {
    let arguments = json(r#"{"a":{"b":{"c":7},"n":null},"s":"x"}"#);
    let at = |path: &[&str]| {
        let path: Vec<Box<str>> = path.iter().map(|name| (*name).into()).collect();
        value_at(arguments.view(), &path).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    assert_eq!(at(&["a", "b", "c"]).as_deref(), Some("7"));
    for none in [&["a", "n"][..], &["b"], &["c"], &["s", "x"], &["a", "b", "c", "d"]] {
        assert_eq!(at(none), None, "{none:?}");
    }
}

// P-178, P-179: integers are compared as numbers, texts by case.
#[test]
fn a_field_agrees_with_the_body_or_it_does_not() {
    let table = [
        (ValueKind::Text, r#""echo""#, "echo", true),
        (ValueKind::Text, r#""echo""#, "=?base64?ZWNobw==?=", true),
        (ValueKind::Text, r#""echo""#, "Echo", false),
        (ValueKind::Text, r#""echo""#, "=?base64?ZWNobw?=", false),
        (ValueKind::Integer, "42", "42.0", true),
        (ValueKind::Integer, "42.0", "42", true),
        (ValueKind::Integer, "42", "43", false),
        (ValueKind::Integer, "42", "", false),
        (ValueKind::Integer, "9007199254740991", "9007199254740992.0", false),
        (ValueKind::Boolean, "true", "true", true),
        (ValueKind::Boolean, "true", "True", false),
        (ValueKind::Boolean, "1", "1", false),
    ];
    for (kind, value, field, expected) in table {
        assert_eq!(agrees(kind, json(value).view(), field.as_bytes()), expected, "{kind:?} {value} {field}");
    }
}

proptest! {
    #[test]
    fn every_text_comes_back_and_is_a_fields_value(text in any::<String>()) {
        let field = encode_text(&text);
        prop_assert!(field.bytes().all(|byte| matches!(byte, 0x20..=0x7e)));
        prop_assert_eq!(field.trim_matches(' '), &*field);
        let back = decode_text(field.as_bytes());
        prop_assert_eq!(back.as_deref(), Some(&*text));
    }

    #[test]
    fn no_schema_and_no_field_breaks_the_reader(schema in "[\\[\\]{}:,\"a-z0-9\\\\ ]{0,64}", field in any::<Vec<u8>>()) {
        if let Ok(schema) = RawJson::parse_str(&schema) {
            let _ = mirrored(schema.view());
        }
        let _ = decode_text(&field);
    }

    #[test]
    fn what_is_encoded_agrees(number in any::<i64>(), text in any::<String>(), flag in any::<bool>()) {
        let text = RawJson::serialize(&text).unwrap();
        for (kind, value) in [
            (ValueKind::Integer, json(&format!("{number}"))),
            (ValueKind::Boolean, json(&format!("{flag}"))),
            (ValueKind::Text, text),
        ] {
            if let Some(field) = encode_value(kind, value.view()) {
                prop_assert!(agrees(kind, value.view(), field.as_bytes()));
            }
        }
    }
}
