//! Arguments that the head repeats: found in listings, written, and corrected once.

use std::time::Duration;

use sanswire::client::{Link as _, Outcome, RequestOptions};
use sanswire::error::{ApiError, Violation};
use sanswire::http::mirror::Why;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire_tests::http_rig::{JSON, Rig, SSE, Sent};
use serde_json::{Value, json};

fn tool(name: &str, properties: &Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
}

fn page(tools: &[Value]) -> Value {
    json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"})
}

/// Lists the tools; they are these.
fn listed(rig: &mut Rig, tools: &[Value]) -> Value {
    let list = rig.request(Method::ToolsList, json!({}));
    let sent = rig.take();
    rig.reply(&sent, page(tools));
    rig.result(list)
}

fn params(sent: &Sent) -> Vec<(String, String)> {
    let all = sent.head.fields.iter().filter(|(name, _)| name.to_ascii_lowercase().starts_with("mcp-param-"));
    all.map(|(name, value)| (name.to_owned(), String::from_utf8(value.to_vec()).unwrap())).collect()
}

#[test]
fn designated_arguments_stand_in_the_head() {
    // P-159 P-168 P-169 P-170
    let mut rig = Rig::modern();
    let properties = json!({
        "region": {"type": "string", "x-mcp-header": "Region"},
        "n": {"type": ["integer", "null"], "x-mcp-header": "N"},
        "deep": {"type": "object", "properties": {"dry": {"type": "boolean", "x-mcp-header": "Dry-Run"}}},
        "plain": {"type": "string"},
    });
    listed(&mut rig, &[tool("query", &properties), tool("other", &json!({}))]);
    rig.call("query", json!({"region": "Köln", "n": 42, "deep": {"dry": true}, "plain": "x"}));
    let sent = rig.take();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut got = params(&sent);
    got.sort();
    assert_eq!(
        got,
        [
            pair("Mcp-Param-Dry-Run", "true"),
            pair("Mcp-Param-N", "42"),
            pair("Mcp-Param-Region", "=?base64?S8O2bG4=?="),
        ]
    );
    rig.call("query", json!({"n": null, "deep": {}, "region": ""}));
    assert_eq!(params(&rig.take()), [pair("Mcp-Param-Region", "")], "absent and null give no field");
    rig.call("other", json!({"region": "x"}));
    assert_eq!(params(&rig.take()), []);
    // What was listed last counts.
    listed(&mut rig, &[tool("query", &json!({"plain": {"type": "string", "x-mcp-header": "Plain"}}))]);
    rig.call("query", json!({"region": "x", "plain": "y"}));
    assert_eq!(params(&rig.take()), [pair("Mcp-Param-Plain", "y")]);
}

#[test]
fn an_argument_of_another_type_is_refused_before_it_is_sent() {
    // P-164
    let mut rig = Rig::modern();
    listed(&mut rig, &[tool("query", &json!({"n": {"type": "integer", "x-mcp-header": "N"}}))]);
    for bad in [json!("1"), json!(1.5), json!(true), json!(9_007_199_254_740_992_i64)] {
        let arguments = RawJson::parse_str(&json!({"n": bad}).to_string()).unwrap();
        let options = RequestOptions::default();
        let called = rig.client.call_tool("query", Some(&arguments), &options, rig.now);
        assert!(matches!(called, Err(ApiError::BadParams(_))), "{bad}");
        let params = json!({"name": "query", "arguments": {"n": bad}}).to_string();
        let params = RawJson::parse_str(&params).unwrap();
        let called = rig.client.request(Method::ToolsCall, Some(params), &options, rig.now);
        assert!(matches!(called, Err(ApiError::BadParams(_))), "{bad}");
    }
    rig.quiet();
}

#[test]
fn tools_that_cannot_be_called_are_left_out_and_named() {
    // P-166 P-167
    let text = concat!(
        r#"{"jsonrpc":"2.0","id":$,"result":{"resultType":"complete","tools":[ {"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}},"#,
        r#"{ "name" : "good", "inputSchema": {"type":"object"}, "x":1.50 },{"name":"worse","inputSchema":{"x-mcp-header":"B"}},"#,
        r#"{"name":"fine","inputSchema":{"type":"object","properties":{"a":{"type":"string","x\u002dmcp-header":"A"}}}}],"nextCursor":"c","ttlMs":0}}"#,
    );
    let kept = concat!(
        r#"{"resultType":"complete","tools":[{ "name" : "good", "inputSchema": {"type":"object"}, "x":1.50 },"#,
        r#"{"name":"fine","inputSchema":{"type":"object","properties":{"a":{"type":"string","x\u002dmcp-header":"A"}}}}],"nextCursor":"c","ttlMs":0}"#,
    );
    for kind in [JSON, SSE] {
        let mut rig = Rig::modern();
        let list = rig.request(Method::ToolsList, json!({}));
        let sent = rig.take();
        let mut body = text.replace('$', &sent.message()["id"].to_string());
        if kind == SSE {
            body = format!("data: {body}\n\n");
        }
        rig.answer(&sent, 200, &[kind], body.as_bytes());
        let Some(Outcome::Complete(result)) = rig.outcome(list) else { panic!("{:?}", rig.events) };
        assert_eq!(result.as_str(), kept, "the others stay byte for byte");
        let left_out = |tool: &str, why| Violation::ToolLeftOut { tool: tool.into(), why };
        assert_eq!(rig.violations(), [&left_out("bad", Why::Type), &left_out("worse", Why::Position)]);
        rig.call("fine", json!({"a": "z"}));
        assert_eq!(params(&rig.take()).len(), 1);
    }
    // Nothing of the kind under the older revisions.
    let mut rig = Rig::legacy("2025-11-25", None);
    let tools = [tool("bad", &json!({"a": {"type": "number", "x-mcp-header": "A"}}))];
    let list = rig.request(Method::ToolsList, json!({}));
    let sent = rig.take();
    rig.reply(&sent, json!({"tools": tools}));
    assert_eq!(rig.result(list)["tools"], json!(tools));
    rig.call("bad", json!({"a": 1}));
    assert_eq!(params(&rig.take()), []);
}

fn mismatch(rig: &mut Rig, sent: &Sent) {
    let id = &sent.message()["id"];
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32020, "message": "Mcp-Param-Region is missing"}});
    rig.answer(sent, 400, &[JSON], error.to_string().as_bytes());
}

#[test]
fn a_call_that_is_refused_for_its_head_is_corrected_once() {
    // P-173 P-150
    let mut rig = Rig::modern();
    let call = rig.call("query", json!({"region": "eu"}));
    let first = rig.take();
    assert_eq!(params(&first), []);
    mismatch(&mut rig, &first);
    assert_eq!(rig.outcome(call), None);
    let list = rig.take();
    assert_eq!(list.message()["method"], "tools/list");
    let mut other = page(&[tool("other", &json!({}))]);
    other["nextCursor"] = json!("more");
    rig.reply(&list, other);
    let list = rig.take();
    assert_eq!(list.message()["params"]["cursor"], "more");
    let tools = page(&[tool("query", &json!({"region": {"type": "string", "x-mcp-header": "Region"}}))]);
    let event = json!({"jsonrpc": "2.0", "id": list.message()["id"], "result": tools});
    let stream =
        format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}}\n\ndata: {event}\n\n");
    rig.answer(&list, 200, &[SSE], stream.as_bytes());
    let second = rig.take();
    assert_eq!(params(&second), [("Mcp-Param-Region".to_owned(), "eu".to_owned())]);
    assert_ne!(second.message()["id"], first.message()["id"], "a new id");
    assert_eq!(second.message()["params"]["_meta"]["progressToken"], second.message()["id"]);
    assert_eq!(second.message()["params"]["arguments"], json!({"region": "eu"}));
    rig.reply(&second, json!({"resultType": "complete", "content": []}));
    rig.result(call);

    // Once is enough.
    let call = rig.call("query", json!({"region": "eu"}));
    for method in ["tools/call", "tools/list", "tools/call"] {
        let sent = rig.take();
        assert_eq!(sent.message()["method"], method);
        if method == "tools/list" { rig.reply(&sent, page(&[])) } else { mismatch(&mut rig, &sent) }
    }
    let Some(Outcome::Error(error)) = rig.outcome(call) else { panic!("{:?}", rig.events) };
    assert_eq!(error.code, -32020);
    rig.quiet();
}

#[test]
fn an_error_about_another_request_is_no_reason_to_send_a_call_again() {
    // What ran must not run twice because a server mixed up its answers.
    let error = |id: &Value, code: i64| {
        let data = json!({"supported": ["2026-07-28"]});
        json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", "data": data}})
            .to_string()
    };
    for code in [-32020, -32022] {
        // All there is in an answer, and before the answer.
        let mut rig = Rig::modern();
        let call = rig.call("query", json!({}));
        let sent = rig.take();
        rig.answer(&sent, 200, &[JSON], error(&json!(77), code).as_bytes());
        assert!(matches!(rig.outcome(call), Some(Outcome::Lost { maybe_ran: true })), "{:?}", rig.events);
        rig.quiet();

        let call = rig.call("query", json!({}));
        let sent = rig.take();
        let done = json!({"jsonrpc": "2.0", "id": sent.message()["id"],
            "result": {"resultType": "complete", "content": []}});
        let stream = format!("data: {}\n\ndata: {done}\n\n", error(&json!(77), code));
        rig.answer(&sent, 200, &[SSE], stream.as_bytes());
        assert_eq!(rig.result(call)["content"], json!([]));
        rig.quiet();

        // One that names it, or nothing and stands alone, is about it.
        for id in [None, Some(())] {
            let mut rig = Rig::modern();
            rig.call("query", json!({}));
            let sent = rig.take();
            let id = id.map(|()| sent.message()["id"].clone());
            let mut error: Value = serde_json::from_str(&error(&Value::Null, code)).unwrap();
            match id {
                Some(id) => error["id"] = id,
                None => drop(error.as_object_mut().unwrap().remove("id")),
            }
            rig.answer(&sent, 200, &[JSON], error.to_string().as_bytes());
            assert!(rig.queued().is_some(), "{error}");
        }
    }
}

#[test]
fn a_correction_that_fails_leaves_the_refusal() {
    for status in [200, 404, 503] {
        let mut rig = Rig::modern();
        let call = rig.call("query", json!({}));
        let sent = rig.take();
        mismatch(&mut rig, &sent);
        let list = rig.take();
        rig.answer(&list, status, &[JSON], b"nonsense");
        let Some(Outcome::Error(error)) = rig.outcome(call) else { panic!("{:?}", rig.events) };
        assert_eq!(error.code, -32020);
    }
    let mut rig = Rig::modern();
    let call = rig.call("query", json!({}));
    let sent = rig.take();
    mismatch(&mut rig, &sent);
    let list = rig.take();
    rig.wait(Duration::from_secs(30));
    assert!(matches!(rig.outcome(call), Some(Outcome::TimedOut { .. })));
    assert_eq!(rig.closed, [list.exchange]);
}
