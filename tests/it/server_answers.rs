//! What a server's application may answer, what its refusals are called, and what reaches it.

use sanswire::error::ApiError;
use sanswire::jsonrpc::ErrorObject;
use sanswire::mcp::types::input::InputKind;
use sanswire::server::Reply;
use sanswire_tests::served::{
    LEGACY, MODERN, Reported, Rig, complete, config, meta, modern, modern_with, raw, request,
};
use serde_json::{Value, json};

fn both() -> [fn(u64, &str, Value) -> Value; 2] {
    [request, modern]
}

fn refused_by(rig: &mut Rig, reported: &Reported, result: &Value) {
    let error = rig.side.machine.respond(reported.request, &complete(result), rig.now).unwrap_err();
    assert!(matches!(error, ApiError::BadParams(_)), "{result}: {error}");
    assert_eq!(rig.take(), [] as [Value; 0], "and nothing is sent");
}

#[test]
fn a_tool_keeps_to_its_output_schema() {
    // P-242
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "t": {"type": "string"}}});
    for message in both() {
        let mut rig = Rig::legacy(config(), "2025-11-25");
        rig.tool(&json!({"name": "sum", "outputSchema": schema}));
        rig.take();
        let reported = rig.report(message(1, "tools/call", json!({"name": "sum"})));
        for bad in [
            json!({"content": []}),
            json!({"structuredContent": null}),
            json!({"structuredContent": [1]}),
            json!({"structuredContent": {"t": "x"}}),
            json!({"structuredContent": {"n": "1"}}),
        ] {
            refused_by(&mut rig, &reported, &bad);
        }
        rig.respond(reported.request, &complete(&json!({"structuredContent": {"n": 1}}))).unwrap();
        assert_eq!(rig.one()["result"]["structuredContent"], json!({"n": 1}));
        let failed = rig.answered(message(2, "tools/call", json!({"name": "sum"})), &Reply::tool_error("no"));
        assert_eq!(failed["result"]["isError"], true, "a failure has no such result");
        // What was promised when the call came is what counts.
        let reported = rig.report(message(3, "tools/call", json!({"name": "sum"})));
        rig.tool(&json!({"name": "sum"}));
        refused_by(&mut rig, &reported, &json!({"content": []}));
        let later = rig.answered(message(4, "tools/call", json!({"name": "sum"})), &Reply::text("t"));
        assert!(later["result"].get("structuredContent").is_none());
    }
}

#[test]
fn what_a_prompt_hands_out_is_whole() {
    // P-357 P-358 P-363
    let messages = |content: Value| json!({"messages": [{"role": "user", "content": content}]});
    for message in both() {
        let mut rig = Rig::legacy(config(), "2025-11-25");
        rig.side.machine.catalog_mut().prompt(&raw(&json!({"name": "p"}))).unwrap();
        rig.take();
        for injected in [json!({"a": {"role": "system"}}), json!({"a": ["x"]}), json!({"a": 5}), json!(["x"])]
        {
            let params = json!({"name": "p", "arguments": injected});
            assert_eq!(rig.refused(message(1, "prompts/get", params)), -32602, "arguments are texts");
        }
        let reported = rig.report(message(2, "prompts/get", json!({"name": "p", "arguments": {"a": "x"}})));
        for bad in [
            json!({}),
            json!({"messages": [{"role": "system", "content": {"type": "text", "text": "obey"}}]}),
            messages(json!({"type": "text"})),
            messages(json!({"type": "image", "data": "no base64!", "mimeType": "image/png"})),
            messages(json!({"type": "audio", "data": "aGk=", "mimeType": "loud"})),
            messages(json!({"type": "resource", "resource": {"uri": "x:y", "text": "t"}})),
            messages(json!({"type": "resource", "resource": {"uri": "x:y", "mimeType": "text/plain"}})),
        ] {
            refused_by(&mut rig, &reported, &bad);
        }
        let good = messages(json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}));
        rig.respond(reported.request, &complete(&good)).unwrap();
        assert_eq!(rig.one()["result"]["messages"], good["messages"]);
    }
}

#[test]
fn minus_32042_lists_what_has_to_be_done_first() {
    // P-371
    let go = json!({"mode": "url", "message": "m", "url": "https://a/", "elicitationId": "e"});
    let needed = |elicitations: Value| {
        let mut error = ErrorObject::new(-32042, "first do this");
        error.data = Some(raw(&json!({"elicitations": elicitations})));
        Reply::Error(error)
    };
    let without = |name: &str| {
        let mut go = go.clone();
        go.as_object_mut().unwrap().remove(name);
        go
    };
    let with = |name: &str, value: Value| {
        let mut go = go.clone();
        go[name] = value;
        go
    };
    let session = |capabilities: Value| {
        let mut rig = Rig::new(config());
        rig.initialize("2025-11-25", capabilities);
        let reported = rig.report(request(1, "tools/call", json!({"name": "a"})));
        (rig, reported.request)
    };
    let (mut rig, call) = session(json!({"elicitation": {"url": {}}}));
    for bad in [
        json!(null),
        json!([]),
        json!([5]),
        json!([go, without("elicitationId")]),
        json!([without("url")]),
        json!([without("message")]),
        json!([without("mode")]),
        json!([with("mode", json!("form"))]),
        json!([with("url", json!("http://a.example/"))]),
    ] {
        let answer = rig.respond(call, &needed(bad.clone()));
        assert!(matches!(answer, Err(ApiError::BadParams(_))), "{bad}: {answer:?}");
    }
    assert!(rig.respond(call, &Reply::Error(ErrorObject::new(-32042, "no list"))).is_err());
    rig.respond(call, &needed(json!([go]))).unwrap();
    let error = rig.one()["error"].clone();
    assert_eq!((&error["code"], &error["data"]["elicitations"]), (&json!(-32042), &json!([go])));
    for capabilities in [json!({}), json!({"elicitation": {}})] {
        let (mut rig, call) = session(capabilities);
        let answer = rig.respond(call, &needed(json!([go])));
        assert_eq!(answer, Err(ApiError::MissingCapability { kind: InputKind::ElicitUrl }));
    }
}

#[test]
fn a_file_address_that_leads_upwards_does_not_reach_the_application() {
    // P-352
    for message in both() {
        let mut rig = Rig::legacy(config(), "2025-11-25");
        rig.side.machine.catalog_mut().resource(&raw(&json!({"uri": "file:///srv/a", "name": "a"}))).unwrap();
        rig.take();
        for bad in [
            "file:///srv/../etc/passwd",
            "file:///srv/%2e%2e/etc",
            "FILE:///srv/..%2fetc",
            "file:///srv/x\\..",
        ] {
            assert_eq!(rig.refused(message(1, "resources/read", json!({"uri": bad}))), -32602, "{bad}");
        }
        rig.report(message(2, "resources/read", json!({"uri": "file:///srv/a..b/..."})));
        rig.report(message(3, "resources/read", json!({"uri": "git:///a/../b"})));
    }
    let mut rig = Rig::legacy(config(), "2025-11-25");
    rig.side.machine.catalog_mut().resource(&raw(&json!({"uri": "file:///srv/a", "name": "a"}))).unwrap();
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        assert_eq!(rig.refused(request(1, method, json!({"uri": "file:///srv/.."}))), -32602);
    }
}

#[test]
fn each_code_means_what_it_is_defined_to_mean() {
    // P-028 P-348
    let mut config = config();
    config.limits.max_message_bytes = 4096;
    config.limits.max_in_flight = 1;
    config.limits.violation_budget = 1000;
    let mut rig = Rig::legacy(config, "2025-11-25");
    rig.side.machine.catalog_mut().resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    rig.report(modern("slow", "tools/call", json!({"name": "a"})));
    let mut other = meta();
    other["io.modelcontextprotocol/protocolVersion"] = json!("1999-01-01");
    let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\",\"params\":{}}}", "[".repeat(200));
    let long = request(1, "ping", json!({"x": "x".repeat(5000)})).to_string();
    let lines: [(&str, i64); 4] = [
        ("what?", -32700),
        (&deep, -32600),
        (&long, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
    ];
    for (line, code) in lines {
        rig.send_raw(format!("{line}\n").as_bytes());
        assert_eq!(rig.one()["error"]["code"], code, "{line}");
    }
    for (message, code) in [
        (json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}), -32600),
        (modern("slow", "tools/call", json!({"name": "a"})), -32600),
        (request(1, "initialize", json!({"protocolVersion": "2025-11-25"})), -32600),
        (request(1, "no/such", json!({})), -32601),
        (modern(1, "no/such", json!({})), -32601),
        (modern(1, "ping", json!({})), -32601),
        (modern(1, "prompts/list", json!({})), -32601),
        (modern(1, "tools/call", json!({"name": "nowhere"})), -32602),
        (modern(1, "tools/call", json!({})), -32602),
        (modern(1, "tools/list", json!({"cursor": "x"})), -32602),
        (request(1, "logging/setLevel", json!({"level": "loud"})), -32602),
        (
            request(1, "tools/list", json!({"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}})),
            -32602,
        ),
        (request(1, "tools/list", json!({"_meta": other})), -32022),
        (modern(1, "tools/call", json!({"name": "a"})), -32603),
        (modern(1, "resources/read", json!({"uri": "x:y"})), -32603),
        (request(1, "resources/read", json!({"uri": "x:y"})), -32603),
    ] {
        assert_eq!(rig.refused(message.clone()), code, "{message}");
    }
    rig.side.machine.shutdown(std::time::Duration::from_secs(5), rig.now);
    assert_eq!(rig.refused(modern(1, "resources/read", json!({"uri": "x:y"}))), -32603, "shutting down");
}

#[test]
fn nothing_is_assumed_about_what_stands_under_reserved_keys() {
    // P-037
    let odd = [json!(null), json!(5), json!("x"), json!([1]), json!({"a": {}}), json!(true)];
    let mut rig = Rig::legacy(config(), "2025-11-25");
    for key in [
        "io.modelcontextprotocol/later",
        "io.modelcontextprotocol/related-task",
        "io.modelcontextprotocol/subscriptionId",
        "io.modelcontextprotocol/clientInfo",
        "com.mcp/x",
        "traceparent",
        "baggage",
        "progressToken",
    ] {
        for value in &odd {
            let call = modern_with(1, "tools/call", json!({"name": "a"}), json!({key: value}));
            let answer = rig.answered(call.clone(), &Reply::text("t"));
            assert!(answer["result"]["content"].is_array(), "{call}");
            let call = request(2, "tools/call", json!({"name": "a", "_meta": {key: value}}));
            let reported = rig.report(call.clone());
            assert_eq!(reported.params["_meta"][key], *value, "and it is handed on as it is");
            rig.respond(reported.request, &complete(&json!({"content": [], "_meta": {key: value}}))).unwrap();
            assert_eq!(rig.one()["result"]["_meta"][key], *value);
        }
    }
    for revision in LEGACY {
        for value in &odd {
            let mut rig = Rig::new(config());
            let params =
                json!({"protocolVersion": revision, "capabilities": {}, "_meta": {"com.mcp/x": value}});
            assert!(rig.ask(request(1, "initialize", params))["result"].is_object());
        }
    }
}

#[test]
fn what_we_write_into_meta_has_a_prefix_that_names_its_owner() {
    // P-033
    let mut rig = Rig::new(config());
    let mut said = vec![
        rig.ask(modern(1, "server/discover", json!({}))),
        rig.ask(modern(2, "tools/list", json!({}))),
        rig.answered(modern(3, "tools/call", json!({"name": "a"})), &Reply::text("t")),
    ];
    rig.send(&modern("L", "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})));
    rig.side.machine.tools_changed(rig.now);
    rig.wait_ms(1000);
    rig.side.machine.end_subscriptions(rig.now);
    said.extend(rig.take());
    let mut keys = Vec::new();
    for message in &said {
        for part in ["result", "params"] {
            keys.extend(message[part]["_meta"].as_object().into_iter().flat_map(|meta| meta.keys()));
        }
    }
    assert!(keys.len() >= 7, "{keys:?}");
    assert!(keys.iter().all(|key| key.starts_with("io.modelcontextprotocol/")), "{keys:?}");
}
