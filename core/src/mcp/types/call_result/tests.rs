use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::mcp::types::content::Content;
use crate::mcp::types::flaw::Flaw;

fn result(text: &str) -> CallToolResult {
    CallToolResult::new(RawJson::parse_str(text).expect(text))
}

fn unknown(block: &ContentBlock<'_>) -> Option<Flaw> {
    let Content::Unknown { flaw, .. } = block.content() else { panic!("{block:?}") };
    flaw
}

#[test]
fn b_43_null_members_leave_the_rest_of_the_result_usable() {
    let result = result(
        r#"{"content":[{"type":"text","text":"hi","annotations":null,"_meta":null},
        {"type":"image","data":"aGk=","mimeType":null},
        {"type":"resource","resource":{"uri":"file:///a","text":null,"blob":null}}],
        "structuredContent":null,"isError":null}"#,
    );
    let blocks: Vec<_> = result.content().collect();
    let [text, image, resource] = blocks.as_slice() else { panic!("three blocks") };
    assert_eq!(text.text().as_deref(), Some("hi"));
    assert!(text.meta().is_none() && text.annotations().for_anyone());
    assert_eq!(unknown(image), Some(Flaw::Missing("mimeType")));
    assert_eq!(
        image.raw().get("data").and_then(JsonRef::str).map(|data| data.decode()).as_deref(),
        Some("aGk=")
    );
    assert_eq!(unknown(resource), Some(Flaw::MissingBoth("text", "blob")));
    assert!(!result.is_error());
    assert!(result.structured_content().is_some_and(JsonRef::is_null), "a null that was sent is a value");
    assert_eq!(result.flaw(), None);
    assert_eq!(result.text(), "hi");
}

#[test]
fn b_45_content_and_structured_content_are_given_as_sent() {
    let table = [
        (r#"{"content":[],"structuredContent":{"n":5}}"#, 0, Some(r#"{"n":5}"#), None),
        (r#"{"structuredContent":[1,2]}"#, 0, Some("[1,2]"), None),
        (r#"{"content":[],"structuredContent":0}"#, 0, Some("0"), None),
        (r#"{"content":null,"structuredContent":null}"#, 0, Some("null"), None),
        (r#"{"content":[{"type":"text","text":"a"}]}"#, 1, None, None),
        (r#"{"content":[]}"#, 0, None, None),
        ("{}", 0, None, Some(ResultFlaw::Empty)),
        (r#"{"content":null}"#, 0, None, Some(ResultFlaw::Empty)),
        (r#"{"content":"a"}"#, 0, None, Some(ResultFlaw::ContentNotAnArray(Kind::String))),
        ("[]", 0, None, Some(ResultFlaw::NotAnObject(Kind::Array))),
    ];
    for (text, blocks, structured, flaw) in table {
        let result = result(text);
        assert_eq!(result.content().count(), blocks, "{text}");
        let found = result.structured_content().map(|value| value.as_bytes().to_vec());
        assert_eq!(found.as_deref(), structured.map(str::as_bytes), "{text}");
        assert_eq!(result.flaw(), flaw, "{text}");
        assert!(flaw.is_none_or(|flaw| !flaw.to_string().is_empty()));
    }
}

#[test]
fn only_a_true_is_an_error() {
    for (text, expected) in [
        (r#"{"content":[],"isError":true}"#, true),
        (r#"{"content":[],"isError":false}"#, false),
        (r#"{"content":[],"isError":null}"#, false),
        (r#"{"content":[],"isError":"true"}"#, false),
        (r#"{"content":[]}"#, false),
    ] {
        assert_eq!(result(text).is_error(), expected, "{text}");
    }
}

#[test]
fn the_text_of_all_text_blocks_is_joined_by_line_feeds() {
    let table = [
        (r#"{"content":[{"type":"text","text":"a\n\u00e9\ud83d\ude00"}]}"#, 1, "a\né😀"),
        (
            r#"{"content":[{"text":"late","type":"text"},{"type":"text","text":""},{"type":"text","text":"c"}]}"#,
            3,
            "late\n\nc",
        ),
        (
            r#"{"content":[{"type":"text","text":null},{"type":"text"},{"type":"image","text":"no"},7,{"type":"text","text":"x"}]}"#,
            1,
            "x",
        ),
        (r#"{"content":[{"\u0074ype":"\u0074ext","\u0074ext":"esc"}]}"#, 1, "esc"),
        (r#"{"content":[{"type":"text","text":"first","text":"second"}]}"#, 1, "first"),
        (
            r#"{"_meta":{"content":[{"type":"text","text":"no"}]},"isError":true,"content":[{"type":"text","text":"yes"}]}"#,
            1,
            "yes",
        ),
        (r#"{"content":{"type":"text","text":"no"}}"#, 0, ""),
        (r#"{"content":[{"type":"text","text":"lone \ud83d half"}]}"#, 1, "lone \u{fffd} half"),
        ("[]", 0, ""),
        ("{}", 0, ""),
    ];
    for (text, blocks, expected) in table {
        let mut out = String::new();
        assert_eq!(result(text).append_text(&mut out), blocks, "{text}");
        assert_eq!(out, expected, "{text}");
        let mut out = String::from("before ");
        result(text).append_text(&mut out);
        assert_eq!(out, format!("before {expected}"), "{text}");
    }
}

#[test]
fn long_text_is_decoded_into_room_of_its_raw_length() {
    let text = "line of text\\n".repeat(10_000);
    let raw_len = text.len();
    let result = result(&format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"isError":false}}"#));
    let mut out = String::new();
    result.append_text(&mut out);
    assert_eq!(out.len(), raw_len - 10_000);
    assert!((raw_len..=raw_len + 16).contains(&out.capacity()), "{} for {raw_len}", out.capacity());
}

/// A block that is JSON, and what `text` has to make of it.
fn block() -> impl Strategy<Value = (serde_json::Value, Option<String>)> {
    let text = "[a\"\\\\\n é😀{}]{0,12}";
    prop_oneof![
        text.prop_map(|text| (serde_json::json!({"type": "text", "text": text}), Some(text))),
        text.prop_map(|text| (serde_json::json!({"text": text, "type": "text", "x": [text]}), Some(text))),
        Just((serde_json::json!({"type": "image", "data": "", "mimeType": "image/png"}), None)),
        Just((serde_json::json!({"type": "text", "text": 5}), None)),
        Just((serde_json::json!(["text"]), None)),
        Just((serde_json::json!({"type": "new", "text": "no"}), None)),
    ]
}

proptest! {
    /// The quick way and the way through the blocks agree, and agree with what went in.
    #[test]
    fn text_is_what_the_blocks_say(blocks in prop::collection::vec(block(), 0..6), spread in any::<bool>()) {
        let (values, texts): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
        let whole = serde_json::json!({"isError": false, "content": values, "structuredContent": {"content": values}});
        let sent = if spread { serde_json::to_string_pretty(&whole).expect("text") } else { whole.to_string() };
        let result = result(&sent);
        let expected: Vec<String> = texts.into_iter().flatten().collect();
        let through_blocks: Vec<_> =
            result.content().filter_map(|block| block.text().map(|text| text.into_owned())).collect();
        prop_assert_eq!(&through_blocks, &expected);
        prop_assert_eq!(result.text(), expected.join("\n"));
        for (block, value) in result.content().zip(&values) {
            let again: serde_json::Value = serde_json::from_slice(block.raw().as_bytes()).expect("a block");
            prop_assert_eq!(&again, value);
        }
    }
}
