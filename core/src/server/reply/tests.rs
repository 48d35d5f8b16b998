//! What becomes of results, in every revision.

use super::*;
use alloc::string::{String, ToString};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn replies() -> Replies {
    Replies::new(&Config::new("s", "1"))
}

fn read(message: Vec<u8>) -> Value {
    assert_eq!(message.iter().filter(|byte| **byte == b'\n').count(), 1, "one line");
    serde_json::from_slice(&message).expect("JSON")
}

/// An answer, behind a message that waits already.
fn answer(
    replies: &Replies,
    id: &str,
    method: &Method,
    revision: Revision,
    raw: &RawJson,
) -> Result<Vec<u8>, ApiError> {
    let mut out = b"{\n".to_vec();
    replies.complete(&mut out, &RequestId::from(id), method, revision, raw)?;
    assert_eq!(out.get(..2), Some(&b"{\n"[..]));
    Ok(out.split_off(2))
}

fn complete(method: &Method, revision: Revision, result: &str) -> Value {
    let raw = RawJson::parse_str(result).expect(result);
    read(answer(&replies(), "1", method, revision, &raw).expect(result))["result"].take()
}

#[test]
fn members_are_known_however_they_are_spelled() {
    let result =
        r#"{"\u005fmeta":{"a":1},"c\u006fntent":[{"type":"text","text":"x"}],"resultTyp\u0065":"complete"}"#;
    let modern = complete(&Method::ToolsCall, Revision::V2026_07_28, result);
    let info = json!({"name": "s", "version": "1"});
    let expected = json!({"resultType": "complete", "content": [{"type": "text", "text": "x"}],
        "_meta": {"a": 1, meta::SERVER_INFO: info}});
    assert_eq!(modern, expected);
    let legacy = complete(&Method::ToolsCall, Revision::V2025_11_25, result);
    assert_eq!(legacy, json!({"content": [{"type": "text", "text": "x"}], "_meta": {"a": 1}}));
}

#[test]
fn a_member_that_matters_stands_once() {
    let method = Method::ToolsCall;
    for (result, fine) in [
        (r#"{"content":[],"content":[]}"#, false),
        (r#"{"content":[],"c\u006fntent":null}"#, false),
        (r#"{"_meta":{},"content":[],"_meta":{}}"#, false),
        (r#"{"structuredContent":{},"structuredContent":{}}"#, false),
        (r#"{"ttlMs":1,"ttlMs":2}"#, false),
        (r#"{"resultType":"complete","resultType":"complete"}"#, false),
        (r#"{"messages":[],"messages":[],"isError":true}"#, true),
    ] {
        for revision in Revision::ALL {
            let raw = RawJson::parse_str(result).expect(result);
            let answer = answer(&replies(), "1", &method, revision, &raw);
            assert_eq!(answer.is_ok(), fine, "{result} {revision}");
        }
    }
}

#[test]
fn an_empty_result_is_one() {
    for (method, revision, expected) in [
        (Method::ResourcesSubscribe, Revision::V2025_11_25, json!({})),
        (Method::ToolsCall, Revision::V2025_11_25, json!({"content": []})),
    ] {
        assert_eq!(complete(&method, revision, "{}"), expected);
        assert_eq!(complete(&method, revision, "{ }"), expected);
    }
    let mut quiet = Config::new("s", "1");
    quiet.announce_server = false;
    let quiet = Replies::new(&quiet);
    let id = RequestId::from("x");
    let bare = RawJson::empty_object();
    let message = answer(&quiet, "x", &Method::PromptsGet, Revision::V2026_07_28, &bare).expect("a result");
    assert_eq!(read(message)["result"], json!({"resultType": "complete"}));
    assert_eq!(read(quiet.own(&id, Revision::V2025_11_25, None, |_| {}))["result"], json!({}));
    let listed = quiet.own(&id, Revision::V2025_11_25, None, |w| {
        w.bool("a", true);
    });
    assert_eq!(read(listed)["result"], json!({"a": true}));
}

fn results() -> impl Strategy<Value = Map<String, Value>> {
    let names = prop::sample::select(alloc::vec![
        "content",
        "structuredContent",
        "isError",
        "_meta",
        "ttlMs",
        "cacheScope",
        "resultType",
        "contents",
        "other",
    ]);
    let values = prop::sample::select(alloc::vec![
        json!(null),
        json!(5),
        json!("text"),
        json!([]),
        json!({}),
        json!({"a": null}),
        json!(true),
        json!([{"type": "text", "text": "x"}]),
        json!([{"type": "text", "text": "x", "annotations": null}, 7]),
        json!([{"type": "resource_link", "uri": "a:b", "name": "n", "icons": []}]),
    ]);
    prop::collection::btree_map(names, values, 0..6)
        .prop_map(|all| all.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

proptest! {
    #[test]
    fn whatever_an_application_gives_becomes_a_result_of_its_revision_or_is_refused(
        result in results(), revision in prop::sample::select(&Revision::ALL[..]), pretty in any::<bool>(),
    ) {
        let value = Value::Object(result.clone());
        let text = if pretty { serde_json::to_string_pretty(&value).expect("text") } else { value.to_string() };
        let raw = RawJson::parse_str(&text).expect("JSON");
        let answer = answer(&replies(), "i", &Method::ToolsCall, revision, &raw);
        let refused = result.get("resultType").is_some();
        prop_assert_eq!(answer.is_err(), refused);
        let Ok(answer) = answer else { return Ok(()) };
        let answer = read(answer);
        prop_assert_eq!(&answer["id"], &json!("i"));
        let got = answer["result"].as_object().expect("an object");
        let modern = revision.era() == Era::Modern;
        prop_assert_eq!(got.get("resultType").and_then(Value::as_str), modern.then_some("complete"));
        prop_assert!(got["content"].is_array() || result["content"] == got["content"], "{:?}", got);
        for (name, value) in got {
            prop_assert!(!value.is_null() || name == "structuredContent", "{} is null", name);
        }
        for gone in ["ttlMs", "cacheScope"] {
            prop_assert!(modern || got.get(gone).is_none());
        }
        let others = ["isError", "contents", "other"];
        for name in others.into_iter().filter(|name| result.get(*name).is_some_and(|value| !value.is_null())) {
            prop_assert_eq!(got.get(name), result.get(name));
        }
        prop_assert_eq!(got.get("_meta").is_some_and(|own| own.get(meta::SERVER_INFO).is_some()), modern);
    }
}

#[test]
fn a_long_text_in_parts_is_the_same_answer() {
    let replies = replies();
    for len in [crate::server::plain::LONG, 300_000] {
        let text = "a line\n".repeat(len / 7);
        let framed = RawJson::parse_str(&alloc::format!("[1,{}]", event_text(&text).as_str())).expect("JSON");
        let inside =
            framed.view().elements().nth(1).and_then(|value| framed.slice_of(value)).expect("inside");
        for raw in [event_text(&text), inside] {
            for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
                let whole = answer(&replies, "1", &Method::ToolsCall, revision, &raw).expect("a result");
                let id = RequestId::from("1");
                let parts = replies.long_text(&id, &Method::ToolsCall, revision, &raw);
                let (mut head, middle, tail) = parts.expect("a long text");
                assert_eq!(middle.as_ptr_range().end, raw.as_bytes().as_ptr_range().end, "it is not copied");
                head.extend_from_slice(&middle);
                head.extend_from_slice(tail);
                assert_eq!(head, whole);
            }
        }
        let other = RawJson::parse_str(&alloc::format!("{{\"a\":{}}}", event_text(&text).as_str()));
        let id = RequestId::from("1");
        let parts = replies.long_text(&id, &Method::ToolsCall, Revision::V2025_11_25, &other.expect("JSON"));
        assert!(parts.is_none());
        let twice = alloc::format!("[\"{}\",{}]", "x".repeat(framed.len() * 2), event_text(&text).as_str());
        let twice = RawJson::parse_str(&twice).expect("JSON");
        let inside = twice.view().elements().nth(1).and_then(|value| twice.slice_of(value)).expect("inside");
        let parts = replies.long_text(&id, &Method::ToolsCall, Revision::V2025_11_25, &inside);
        assert!(parts.is_none(), "it would keep three times its length alive");
    }
}

fn event_text(text: &str) -> RawJson {
    crate::server::plain::text_result(text, false)
}
