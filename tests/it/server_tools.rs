//! Calls of tools: what is refused, what is reported, and what of a result reaches each revision.

use sanswire::error::ApiError;
use sanswire::jsonrpc::{ErrorObject, RawJson};
use sanswire::mcp::Revision;
use sanswire::server::{Principal, Reply, ToolFilter, UnknownTool};
use sanswire_tests::served::{LEGACY, MODERN, Rig, complete, config, modern, modern_with, raw, request};
use serde_json::{Value, json};

fn call(id: u64, name: &str) -> Value {
    request(id, "tools/call", json!({"name": name}))
}

/// What a client of this revision gets for `result`, as an answer to `method`.
fn result_in(revision: &str, method: &str, params: Value, result: &Value) -> Value {
    let mut rig = Rig::legacy(config(), if revision == MODERN { "2025-11-25" } else { revision });
    rig.side.machine.catalog_mut().prompt(&raw(&json!({"name": "p"}))).unwrap();
    rig.side.machine.catalog_mut().resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    rig.take();
    let message = if revision == MODERN { modern(1, method, params) } else { request(1, method, params) };
    let answer = rig.answered(message, &complete(result));
    assert_eq!(answer["id"], 1);
    answer["result"].clone()
}

fn called(revision: &str, result: &Value) -> Value {
    result_in(revision, "tools/call", json!({"name": "a"}), result)
}

#[test]
fn a_malformed_call_is_refused_and_values_are_the_tools_own_affair() {
    // P-246 P-247 H-182
    for wrap in [request as fn(u64, &str, Value) -> Value, modern] {
        let mut rig = Rig::legacy(config(), "2025-11-25");
        for params in [
            json!({}),
            json!({"name": 5}),
            json!({"name": null}),
            json!({"name": ["a"]}),
            json!({"name": "a", "arguments": []}),
            json!({"name": "a", "arguments": "x"}),
            json!({"name": "a", "arguments": 0}),
        ] {
            assert_eq!(rig.refused(wrap(1, "tools/call", params.clone())), -32602, "{params}");
        }
        assert!(rig.open.is_empty());
        let odd = json!({"name": "a", "arguments": {"n": "not a number"}, "task": {"ttl": 5}});
        let reported = rig.report(wrap(2, "tools/call", odd));
        rig.respond(reported.request, &Reply::tool_error("n must be a number")).unwrap();
        let result = rig.one()["result"].clone();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"], json!([{"type": "text", "text": "n must be a number"}]));
    }
}

#[test]
fn an_unknown_tool_gets_what_the_setting_says_and_a_hidden_one_the_same() {
    // C-18 P-246
    for (setting, is_error) in [(UnknownTool::ProtocolError, false), (UnknownTool::ToolError, true)] {
        let mut config = config();
        config.unknown_tool = setting;
        config.tool_filter = Some(ToolFilter::new(|principal: &Principal, tool: &str| {
            tool != "hidden" || principal.name() == Some("root")
        }));
        let mut rig = Rig::legacy(config, "2025-11-25");
        rig.tool(&json!({"name": "hidden"}));
        for message in [call, |id, name: &str| modern(id, "tools/call", json!({"name": name}))] {
            let unknown = rig.ask(message(1, "nowhere"));
            let hidden = rig.ask(message(1, "hidden"));
            let replaced = unknown.to_string().replace("nowhere", "hidden");
            assert_eq!(replaced, hidden.to_string(), "a hidden tool cannot be told from none");
            assert_eq!(unknown["result"]["isError"].as_bool(), is_error.then_some(true));
            assert_eq!(unknown["error"]["code"].as_i64(), (!is_error).then_some(-32602));
            let list = rig.ask(modern(2, "tools/list", json!({})));
            assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 3, "and is not listed");
        }
        rig.side.machine.set_principal(Principal::named("root"));
        let seen = rig.report(modern(3, "tools/call", json!({"name": "hidden"})));
        assert_eq!(seen.context.principal.name(), Some("root"));
    }
}

#[test]
fn a_server_without_tools_has_no_such_method() {
    let mut rig = Rig::bare(config());
    rig.initialize("2025-11-25", json!({}));
    for method in
        ["tools/call", "tools/list", "resources/read", "prompts/get", "prompts/list", "resources/list"]
    {
        assert_eq!(rig.refused(request(1, method, json!({"name": "a"}))), -32601, "{method}");
        assert_eq!(rig.refused(modern(1, method, json!({"name": "a"}))), -32601, "{method}");
    }
}

#[test]
fn every_modern_result_has_its_type_and_our_name_beside_the_tools_own_meta() {
    // P-017 P-046
    let text = json!([{"type": "text", "text": "x"}]);
    let result = called(MODERN, &json!({"content": text}));
    let server = json!({"name": "served", "version": "1.0"});
    let expected = json!({"resultType": "complete", "content": text,
        "_meta": {"io.modelcontextprotocol/serverInfo": server}});
    assert_eq!(result, expected);
    let own =
        json!({"content": text, "_meta": {"a": 1, "io.modelcontextprotocol/serverInfo": {"name": "forged"}}});
    let result = called(MODERN, &own);
    assert_eq!(result["_meta"], json!({"a": 1, "io.modelcontextprotocol/serverInfo": server}));
    for (own, expected) in [
        (json!({"content": text, "resultType": "complete"}), "complete"),
        (json!({"_meta": null, "content": text}), "complete"),
    ] {
        assert_eq!(called(MODERN, &own)["resultType"], expected);
    }
    for revision in LEGACY {
        let modern_like =
            json!({"content": text, "resultType": "complete", "ttlMs": 5, "cacheScope": "public"});
        assert_eq!(called(revision, &modern_like), json!({"content": text}), "{revision}");
    }
    let mut quiet = config();
    quiet.announce_server = false;
    let mut rig = Rig::new(quiet);
    let answer =
        rig.answered(modern(1, "tools/call", json!({"name": "a"})), &complete(&json!({"content": text})));
    assert_eq!(answer["result"], json!({"resultType": "complete", "content": text}));
}

#[test]
fn a_result_that_is_none_is_refused_and_the_request_stays_open() {
    let mut rig = Rig::new(config());
    let reported = rig.report(modern(1, "tools/call", json!({"name": "a"})));
    for bad in [json!([]), json!("x"), json!(null), json!({"resultType": "task"}), json!({"resultType": 5})] {
        let error = rig.side.machine.respond(reported.request, &complete(&bad), rig.now).unwrap_err();
        assert!(matches!(error, ApiError::BadParams(_)), "{bad}: {error}");
    }
    rig.respond(reported.request, &Reply::text("x")).unwrap();
    let error = rig.side.machine.respond(reported.request, &Reply::text("y"), rig.now).unwrap_err();
    assert_eq!(error, ApiError::UnknownRequest, "golden rule 2: one answer");
    assert_eq!(rig.take().len(), 1);
}

#[test]
fn b_45_structured_only_result() {
    // P-244
    let structured = json!({"b": [1, "x"], "a": null});
    let text = json!([{"type": "text", "text": structured.to_string()}]);
    for result in [
        json!({"structuredContent": structured}),
        json!({"structuredContent": structured, "content": []}),
        json!({"structuredContent": structured, "content": null}),
    ] {
        for revision in LEGACY.into_iter().chain([MODERN]) {
            let got = called(revision, &result);
            let block: Value = serde_json::from_str(got["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(block, structured, "{revision}");
            let has_it = revision >= "2025-06-18";
            assert_eq!(got.get("structuredContent"), has_it.then_some(&structured), "{revision}");
        }
    }
    let _ = text;
    assert_eq!(called("2025-11-25", &json!({})), json!({"content": []}), "content is required");
    for value in [json!(5), json!([1]), json!(null), json!("x")] {
        let result = json!({"structuredContent": value});
        let got = called(MODERN, &result);
        assert_eq!(got.get("structuredContent"), Some(&value), "any value is one");
        let got = called("2025-11-25", &result);
        assert_eq!(got.get("structuredContent"), None, "objects only");
        assert_eq!(got["content"][0]["text"], value.to_string());
    }
}

#[test]
fn b_43_content_null_members() {
    let result = json!({
        "content": [
            {"type": "text", "text": "null", "annotations": null, "_meta": null},
            {"type": "resource", "resource": {"uri": "x:y", "text": "t", "blob": null, "mimeType": null}, "_meta": null},
        ],
        "isError": null,
        "structuredContent": {"kept": null},
    });
    for revision in LEGACY.into_iter().chain([MODERN]) {
        let got = called(revision, &result);
        assert_eq!(got["content"][0], json!({"type": "text", "text": "null"}), "{revision}");
        let resource = json!({"type": "resource", "resource": {"uri": "x:y", "text": "t"}});
        assert_eq!(got["content"][1], resource, "{revision}");
        assert!(got.get("isError").is_none(), "{revision}");
        if revision >= "2025-06-18" {
            assert_eq!(
                got["structuredContent"],
                json!({"kept": null}),
                "a value of the tool's is left alone"
            );
        }
    }
}

#[test]
fn older_revisions_get_the_blocks_they_know() {
    let result = json!({"content": [
        {"type": "text", "text": "t", "annotations": {"priority": 1, "lastModified": "2025-01-01"}, "_meta": {"m": 1}},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///a", "name": "a", "icons": [{"src": "https://a/b"}], "title": "A"},
        {"type": "resource", "resource": {"uri": "x:y", "text": "t", "_meta": {"m": 1}}},
        {"type": "new_in_2030", "x": 1},
    ]});
    let all = called("2025-11-25", &result);
    assert_eq!(all, result, "the newest with a handshake has them all");
    let b = called("2025-06-18", &result)["content"].clone();
    let mut without_icons = result["content"].clone();
    without_icons[2].as_object_mut().unwrap().remove("icons");
    assert_eq!(b, without_icons);
    let a = called("2025-03-26", &result)["content"].clone();
    assert_eq!(a[0], json!({"type": "text", "text": "t", "annotations": {"priority": 1}}));
    assert_eq!(a[1]["type"], "audio");
    assert_eq!(a[2], json!({"type": "text", "text": "a: file:///a"}));
    assert_eq!(a[3], json!({"type": "resource", "resource": {"uri": "x:y", "text": "t"}}));
    assert_eq!(a[4], json!({"type": "new_in_2030", "x": 1}), "what nobody knows is passed on");
    let oldest = called("2024-11-05", &result)["content"].clone();
    assert_eq!(oldest[1]["type"], "text");
    assert!(oldest[1]["text"].as_str().unwrap().contains("audio/wav"));
    assert_eq!(oldest[2], a[2]);
}

#[test]
fn prompts_resources_and_completions_are_fitted_as_well() {
    // P-261 P-335
    let link = json!({"type": "resource_link", "uri": "file:///a", "name": "a"});
    let messages = json!({"messages": [{"role": "user", "content": link}], "description": null});
    let get = |revision| result_in(revision, "prompts/get", json!({"name": "p"}), &messages);
    assert_eq!(get("2025-11-25"), json!({"messages": [{"role": "user", "content": link}]}));
    let text = json!({"type": "text", "text": "a: file:///a"});
    assert_eq!(get("2024-11-05"), json!({"messages": [{"role": "user", "content": text}]}));
    assert!(get(MODERN).get("ttlMs").is_none(), "a prompt is not kept");

    let contents = json!({"contents": [{"uri": "x:y", "text": "t", "_meta": {"m": 1}}]});
    let read = |revision| result_in(revision, "resources/read", json!({"uri": "x:y"}), &contents);
    assert_eq!(read("2025-06-18"), contents);
    assert_eq!(read("2025-03-26"), json!({"contents": [{"uri": "x:y", "text": "t"}]}));
    let modern_read = read(MODERN);
    assert_eq!((&modern_read["ttlMs"], &modern_read["cacheScope"]), (&json!(0), &json!("private")));
    let hinted = json!({"contents": [], "ttlMs": 9, "cacheScope": "public"});
    let hinted = result_in(MODERN, "resources/read", json!({"uri": "x:y"}), &hinted);
    assert_eq!((&hinted["ttlMs"], &hinted["cacheScope"]), (&json!(9), &json!("public")));
    let odd = json!({"contents": [], "ttlMs": -9, "cacheScope": 4});
    let odd = result_in(MODERN, "resources/read", json!({"uri": "x:y"}), &odd);
    assert_eq!((&odd["ttlMs"], &odd["cacheScope"]), (&json!(0), &json!("private")), "P-262");

    let complete =
        json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}});
    let many: Vec<String> = (0..150).map(|n| n.to_string()).collect();
    let values = json!({"completion": {"values": many, "total": 150}});
    let cut = result_in("2025-11-25", "completion/complete", complete.clone(), &values)["completion"].clone();
    assert_eq!(cut["values"].as_array().unwrap().len(), 100);
    assert_eq!((&cut["hasMore"], &cut["total"]), (&json!(true), &json!(150)));
    let few = json!({"completion": {"values": ["x"], "hasMore": false}});
    assert_eq!(result_in("2025-11-25", "completion/complete", complete, &few), few);
}

#[test]
fn a_long_result_is_copied_as_it_is_without_line_breaks() {
    let long = "y".repeat(200_000);
    let spaced = format!("{{ \"content\" : [\n{{\"type\":\"text\",\r\n\"text\":\"{long}\"}} ] }}");
    let mut rig = Rig::new(config());
    let reply = Reply::Complete(RawJson::parse_str(&spaced).unwrap());
    let answer = rig.answered(modern(1, "tools/call", json!({"name": "a"})), &reply);
    assert_eq!(answer["result"]["content"][0]["text"], long);
}

#[test]
fn a_long_text_stands_between_short_answers_and_within_the_limit() {
    let mut config = config();
    config.limits.max_message_bytes = 200_000;
    let mut rig = Rig::new(config);
    rig.initialize("2025-11-25", json!({}));
    let [text, too_long] = [190_000, 199_990].map(|len| "line\n".chars().cycle().take(len * 5 / 6).collect());
    let (text, too_long): (String, String) = (text, too_long);
    let calls = [call(1, "a"), call(2, "a"), modern(3, "tools/call", json!({"name": "a"})), call(4, "a")];
    let calls = calls.map(|call| rig.report(call).request);
    let refused = rig.respond(calls[1], &Reply::text(&too_long));
    assert!(matches!(refused, Err(ApiError::TooLarge { limit: 200_000, .. })), "{refused:?}");
    rig.stuck = true;
    for (call, text) in calls.into_iter().zip(["short", &text, &text, "short"]) {
        rig.respond(call, &Reply::text(text)).unwrap();
    }
    rig.stuck = false;
    rig.drain();
    let said = rig.take();
    let texts: Vec<_> = said.iter().map(|answer| &answer["result"]["content"][0]["text"]).collect();
    assert_eq!(texts, ["short", &text, &text, "short"]);
    assert_eq!(said.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(said[2]["result"]["resultType"], "complete");
}

#[test]
fn errors_have_the_code_of_the_requests_revision() {
    // P-029 P-343 P-344 P-346 P-347 P-024 P-027
    let mut rig = Rig::new(config());
    rig.initialize("2025-11-25", json!({"elicitation": {"url": {}}}));
    rig.side.machine.catalog_mut().resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    let gone = Reply::resource_not_found("x:z");
    for (message, code) in [
        (request(1, "resources/read", json!({"uri": "x:z"})), -32002),
        (modern(2, "resources/read", json!({"uri": "x:z"})), -32602),
    ] {
        let error = rig.answered(message, &gone)["error"].clone();
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!("x:z")));
    }
    let go = json!({"mode": "url", "message": "m", "url": "https://a/", "elicitationId": "e"});
    let mut url_needed = ErrorObject::new(-32042, "go there first");
    url_needed.data = Some(raw(&json!({"elicitations": [go]})));
    let url_needed = Reply::Error(url_needed);
    let modern_call = rig.report(modern(3, "tools/call", json!({"name": "a"})));
    assert!(rig.respond(modern_call.request, &url_needed).is_err(), "2025-11-25 alone knows it");
    let legacy_call = rig.report(call(4, "a"));
    rig.respond(legacy_call.request, &url_needed).unwrap();
    assert_eq!(rig.one()["error"]["code"], -32042);
    for reserved in [-32050, -32099, -32023] {
        let reply = Reply::Error(ErrorObject::new(reserved, "mine"));
        assert!(rig.respond(modern_call.request, &reply).is_err(), "{reserved} is not ours to define");
    }
    rig.respond(modern_call.request, &Reply::Error(ErrorObject::new(17, "mine"))).unwrap();
    assert_eq!(rig.one()["error"], json!({"code": 17, "message": "mine"}));
}

#[test]
fn other_calls_are_checked_before_they_are_reported() {
    // P-336 P-351 P-359 P-360
    let mut rig = Rig::legacy(config(), "2025-11-25");
    let catalog = rig.side.machine.catalog_mut();
    let needs = json!([{"name": "must", "required": true}, {"name": "may"}]);
    catalog.prompt(&raw(&json!({"name": "p", "arguments": needs}))).unwrap();
    catalog.resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    let reference = json!({"type": "ref/prompt", "name": "p"});
    let argument = json!({"name": "a", "value": "v"});
    for (method, params, good) in [
        ("prompts/get", json!({"name": "p", "arguments": {"must": "x"}}), true),
        ("prompts/get", json!({"name": "p", "arguments": {"may": "x"}}), false),
        ("prompts/get", json!({"name": "p"}), false),
        ("prompts/get", json!({"name": "p", "arguments": {"must": 5}}), false),
        ("prompts/get", json!({"name": "q"}), false),
        ("prompts/get", json!({}), false),
        ("resources/read", json!({"uri": "x:anything"}), true),
        ("resources/read", json!({"uri": "no address"}), false),
        ("resources/read", json!({"uri": 5}), false),
        ("resources/read", json!({}), false),
        ("resources/subscribe", json!({"uri": "x:y"}), true),
        ("resources/subscribe", json!({"uri": format!("x:{}", "y".repeat(5000))}), false),
        ("resources/unsubscribe", json!({"uri": "x:y"}), true),
        ("completion/complete", json!({"ref": reference, "argument": argument}), true),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "q"}, "argument": argument}),
            false,
        ),
        ("completion/complete", json!({"ref": reference}), false),
        ("completion/complete", json!({"argument": argument}), false),
    ] {
        if good {
            let reported = rig.report(request(1, method, params.clone()));
            assert_eq!((reported.method.as_str(), &reported.params), (method, &params));
            rig.respond(reported.request, &complete(&json!({"messages": []}))).unwrap();
            assert!(rig.one().get("result").is_some());
        } else {
            assert_eq!(rig.refused(request(1, method, params.clone())), -32602, "{method} {params}");
        }
    }
    let mut plain = Rig::legacy(sanswire::server::Config::new("plain", "1"), "2025-11-25");
    plain.side.machine.catalog_mut().resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    for method in ["completion/complete", "resources/subscribe", "logging/setLevel", "prompts/get"] {
        assert_eq!(
            plain.refused(request(1, method, json!({"uri": "x:y"}))),
            -32601,
            "{method} was not offered"
        );
    }
}

#[test]
fn a_context_holds_what_the_session_or_the_request_said() {
    let mut rig = Rig::new(config());
    rig.initialize("2025-06-18", json!({"elicitation": {}, "sampling": {"tools": {}}}));
    let context = rig.report(call(1, "a")).context;
    assert_eq!(context.revision, Revision::V2025_06_18);
    assert!(context.capabilities.elicitation_form && !context.capabilities.elicitation_url);
    assert!(context.capabilities.sampling_tools);
    assert_eq!(context.client().unwrap().name, "lines");
    assert!(!context.wants_progress && context.round.is_none());
    let more = json!({"progressToken": "t", "io.modelcontextprotocol/logLevel": "error",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}}});
    let context = rig.report(modern_with(2, "tools/call", json!({"name": "a"}), more)).context;
    assert!(
        context.wants_progress
            && context.capabilities.elicitation_url
            && !context.capabilities.elicitation_form
    );
    assert_eq!(context.log_level, Some(sanswire::mcp::types::log::LogLevel::Error));
    assert_eq!(context.principal, Principal::anonymous());
}

#[test]
fn at_the_limit_of_open_requests_further_ones_are_refused_and_cancels_still_come() {
    // H-195
    let mut config = config();
    config.limits.max_in_flight = 2;
    let mut rig = Rig::legacy(config, "2025-11-25");
    let first = rig.report(call(1, "a"));
    rig.report(call(2, "a"));
    assert_eq!(rig.refused(call(3, "a")), -32603);
    rig.still_works();
    rig.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    assert_eq!(rig.cancelled, [first.request]);
    rig.report(call(3, "a"));
}
