use proptest::prelude::*;
use sanswire::jsonrpc::RawJson;

use super::*;

fn value(text: &str) -> RawJson {
    let mut plain = text.trim_start_matches('\u{feff}').to_owned();
    json_strip_comments::strip(&mut plain).unwrap_or_else(|error| panic!("{error}: {text}"));
    RawJson::parse_str(&plain).unwrap_or_else(|fault| panic!("{fault}: {text}"))
}

/// Names and values, in order.
fn members(value: &RawJson) -> Vec<(String, String)> {
    let member = |(name, value): (sanswire::jsonrpc::JsonStr<'_>, sanswire::jsonrpc::JsonRef<'_>)| {
        let text = String::from_utf8_lossy(value.as_bytes());
        // White space between tokens is no part of a value; here strings hold none.
        (name.decode().into_owned(), text.split_whitespace().collect())
    };
    value.view().members().map(member).collect()
}

#[test]
fn a_member_goes_in_as_its_neighbours_stand() {
    let entry = "{\n  \"command\": \"x\",\n  \"args\": []\n}";
    for (before, after) in [
        ("{}", "{\n  \"n\": {\n    \"command\": \"x\",\n    \"args\": []\n  }\n}"),
        ("{ /* none */ }", "{ /* none */ \n  \"n\": {\n    \"command\": \"x\",\n    \"args\": []\n  }\n}"),
        (
            "{\n  // none\n}\n",
            "{\n  // none\n  \"n\": {\n    \"command\": \"x\",\n    \"args\": []\n  }\n}\n",
        ),
        (
            "{\n\t\"a\": 1 // mine\n\t// later\n}",
            "{\n\t\"a\": 1, // mine\n\t\"n\": {\n\t\t\"command\": \"x\",\n\t\t\"args\": []\n\t}\n\t// later\n}",
        ),
        (
            "{\r\n    \"a\": 1,\r\n}",
            "{\r\n    \"a\": 1,\r\n    \"n\": {\r\n        \"command\": \"x\",\r\n        \"args\": []\r\n    },\r\n}",
        ),
        ("{\"a\":1}", "{\"a\":1, \"n\": {\n  \"command\": \"x\",\n  \"args\": []\n}}"),
        ("{\"a\":1 // c\n}", "{\"a\":1, \"n\": {\n  \"command\": \"x\",\n  \"args\": []\n} // c\n}"),
    ] {
        assert_eq!(insert(before, &[], "n", entry).as_deref(), Ok(after), "{before}");
        value(after);
    }
    let nested = "{\n  \"x\": [{\"}\": \"\\\"{\"}], # odd\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}";
    let put = insert(nested, &["mcpServers"], "b\"", "{}");
    assert_eq!(put.as_deref(), Ok(nested.replace("\"a\": {}", "\"a\": {},\n    \"b\\\"\": {}").as_str()));
}

#[test]
fn a_member_goes_out_with_its_line_and_nothing_else() {
    for (before, after) in [
        ("{\n  \"a\": 1,\n  \"n\": 2,\n  \"c\": 3\n}", "{\n  \"a\": 1,\n  \"c\": 3\n}"),
        ("{\n  \"a\": 1,\n  \"n\": 2\n}", "{\n  \"a\": 1\n}"),
        (
            "{\n  \"a\": 1, // one\n  \"n\": {\n    \"x\": 2\n  }\n  // end\n}",
            "{\n  \"a\": 1 // one\n  // end\n}",
        ),
        ("{\n  \"n\": 2, // two\n  \"c\": 3\n}", "{\n  // two\n  \"c\": 3\n}"),
        ("{\"a\": 1, \"n\": 2, \"c\": 3}", "{\"a\": 1, \"c\": 3}"),
        ("{\"a\": 1, \"n\": 2}", "{\"a\": 1}"),
        ("{ \"n\": 2 }", "{ }"),
        ("{\"n\": 2 /* two */, \"c\": 3}", "{ /* two */ \"c\": 3}"),
        ("{\"a\": 1, \"n\": 2, \"\\u006e\": 3}", "{\"a\": 1}"),
        ("{\"a\": 1}", "{\"a\": 1}"),
    ] {
        assert_eq!(remove(before, &[], "n").as_deref(), Ok(after), "{before}");
        value(after);
    }
    let flag = "{\"s\": {\"disabled\": true /* for now */}}";
    let (off, found) = replace(flag, &["s"], "disabled", "false").unwrap_or_default();
    assert!(found && off == flag.replace("true", "false"), "{off}");
    assert_eq!(replace(flag, &["s"], "enabled", "true"), Ok((flag.into(), false)));
}

#[test]
fn what_is_no_object_is_not_touched() {
    for text in [
        "",
        "[]",
        "1",
        "{",
        "{\"a\"",
        "{\"a\": ",
        "{\"a\": 1",
        "{\"a\": 1 \"b\": 2}",
        "{/* ",
        "{\"a\": \"x",
        "{a: 1}",
    ] {
        assert_eq!(insert(text, &[], "n", "1"), Err(Unreadable), "{text}");
    }
    assert_eq!(insert("{\"s\": 1}", &["s"], "n", "1"), Err(Unreadable));
    assert_eq!(insert("{}", &["s"], "n", "1"), Err(Unreadable));
}

/// White space and comments of all kinds.
fn gap() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just(String::new()),
        3 => "[ \t]{1,3}",
        3 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => "/\\*[a-z{}\",:]{0,6}\\*/",
        1 => "//[a-z{}\",:*]{0,6}\n",
        1 => "#[a-z{}\",]{0,6}\n",
    ];
    proptest::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

fn json() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?[1-9][0-9]{0,3}",
        "\"[a-z{}/,:#]{0,6}\"",
        Just(r#""\"\\\u007d""#.to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let list = (proptest::collection::vec((gap(), inner.clone(), gap()), 0..3), any::<bool>()).prop_map(
            |(elements, trailing)| {
                let mut parts: Vec<String> =
                    elements.iter().map(|(before, value, after)| format!("{before}{value}{after}")).collect();
                if trailing && !parts.is_empty() {
                    parts.push(String::new());
                }
                format!("[{}]", parts.join(","))
            },
        );
        prop_oneof![list, object_of(inner.boxed())]
    })
    .boxed()
}

fn object_of(values: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let member = (gap(), "[a-e]{1,2}", gap(), gap(), values, gap())
        .prop_map(|(a, name, b, c, value, d)| format!("{a}\"{name}\"{b}:{c}{value}{d}"));
    (proptest::collection::vec(member, 0..5), any::<bool>(), gap()).prop_map(|(members, trailing, end)| {
        let comma = if trailing && !members.is_empty() { "," } else { "" };
        format!("{{{}{comma}{end}}}", members.join(","))
    })
}

/// Whether all bytes of `part` stand in `whole`, in order.
fn is_within(part: &str, whole: &str) -> bool {
    let mut rest = whole.bytes();
    part.bytes().all(|byte| rest.any(|other| other == byte))
}

proptest! {
    #[test]
    fn all_else_stays_to_the_byte_where_a_member_goes_in_and_out(text in object_of(json()), lead in gap(), tail in gap()) {
        let text = format!("{lead}{text}{tail}");
        let before = members(&value(&text));
        let with = insert(&text, &[], "new", "{\n  \"x\": [1]\n}").map_err(|_| TestCaseError::fail("not put in"))?;
        let mut expected = before.clone();
        expected.push(("new".into(), "{\"x\":[1]}".into()));
        prop_assert_eq!(members(&value(&with)), expected, "{}", with);
        prop_assert!(is_within(&text, &with), "{}", with);
        let without = remove(&with, &[], "new").map_err(|_| TestCaseError::fail("not taken out"))?;
        if before.is_empty() {
            prop_assert!(members(&value(&without)).is_empty());
        } else {
            // A line break may be left where the brace had none before it.
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(bare(&without), bare(&text));
        }
        for (name, _) in &before {
            let less = remove(&text, &[], name).map_err(|_| TestCaseError::fail("not taken out"))?;
            let expected: Vec<_> = before.iter().filter(|(other, _)| other != name).cloned().collect();
            prop_assert_eq!(members(&value(&less)), expected, "{}", less);
            prop_assert!(is_within(&less, &text), "{}", less);
            let (other, found) = replace(&text, &[], name, "false").map_err(|_| TestCaseError::fail("not replaced"))?;
            prop_assert!(found);
            let expected: Vec<_> = before
                .iter()
                .map(|(other, value)| (other.clone(), if other == name { "false".into() } else { value.clone() }))
                .collect();
            prop_assert_eq!(members(&value(&other)), expected, "{}", other);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[{}\\[\\]\",:/*#a \\\\\n\u{feff}é-]{0,30}") {
        for path in [&[][..], &["a"]] {
            let _ = insert(&text, path, "a", "{}");
            let _ = remove(&text, path, "a");
            let _ = replace(&text, path, "a", "1");
        }
    }
}
