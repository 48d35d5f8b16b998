//! Requests that stand alone (2026-07-28): their heads agree with them, their streams are theirs alone, and closing one
//! is giving it up.

use sanswire::error::ApiError;
use sanswire::http::HttpHandle;
use sanswire::mcp::types::input::{InputKind, InputRequest};
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::{ListKind, Notice, Reply};
use sanswire_tests::served::{complete, modern, modern_with, request};
use sanswire_tests::web::{PLAIN, Web, config, modern_fields, refs};
use serde_json::{Value, json};

fn call(id: u64) -> Value {
    modern(id, "tools/call", json!({"name": "a"}))
}

/// Status and code of a request with these fields beside or instead of the good ones; without a value: absent.
fn with(web: &mut Web, body: &Value, fields: &[(&str, &str)]) -> (u16, Option<i64>) {
    let good = modern_fields(body);
    let mut all = refs(&good);
    for (name, value) in fields {
        all.retain(|(is, _)| !is.eq_ignore_ascii_case(name) || name.starts_with('+'));
        if !value.is_empty() {
            all.push((name.trim_start_matches('+'), value));
        }
    }
    let n = web.post_with(&all, body);
    if let Some(last) = web.open.pop() {
        let empty = complete(&json!({"content": [], "messages": [], "contents": []}));
        web.endpoint.respond(last.session, last.request, &empty, web.now).unwrap();
        web.drain();
    }
    (web.answers[&n].status(), web.answers[&n].code())
}

const GOOD: (u16, Option<i64>) = (200, None);
const MISMATCH: (u16, Option<i64>) = (400, Some(-32020));

#[test]
fn b_35_what_the_head_repeats_agrees_with_the_body_to_the_letter() {
    // P-152 P-172 P-175 P-179
    let mut web = Web::new(config());
    let get = modern(1, "prompts/get", json!({"name": "p"}));
    let read = modern(1, "resources/read", json!({"uri": "x:y"}));
    let list = modern(1, "tools/list", json!({}));
    for (body, fields, expected) in [
        (&call(1), &[("Mcp-Name", "b")][..], MISMATCH),
        (&call(1), &[("Mcp-Name", "A")], MISMATCH),
        (&call(1), &[("Mcp-Name", "")], MISMATCH),
        (&call(1), &[("mcp-name", "a")], GOOD),
        (&call(1), &[("MCP-NAME", "  a ")], GOOD),
        (&call(1), &[("Mcp-Name", "=?base64?YQ==?=")], GOOD),
        (&call(1), &[("Mcp-Name", "=?Base64?YQ==?=")], MISMATCH),
        (&call(1), &[("Mcp-Name", "=?base64?YQ=?=")], MISMATCH),
        (&call(1), &[("+Mcp-Name", "a")], MISMATCH),
        (&get, &[("Mcp-Name", "q")], MISMATCH),
        (&get, &[], GOOD),
        (&read, &[("Mcp-Name", "x:z")], MISMATCH),
        (&read, &[], GOOD),
        (&list, &[], GOOD),
        (&list, &[("Mcp-Name", "whatever")], GOOD),
        (&list, &[("Mcp-Method", "Tools/List")], MISMATCH),
        (&list, &[("Mcp-Method", "")], MISMATCH),
        (&list, &[("+Mcp-Method", "tools/list")], MISMATCH),
        (&list, &[("MCP-Protocol-Version", "")], MISMATCH),
        (&list, &[("MCP-Protocol-Version", "2025-11-25")], MISMATCH),
        (&list, &[("mcp-protocol-version", "2026-07-28")], GOOD),
        (&list, &[("+MCP-Protocol-Version", "2026-07-28")], MISMATCH),
    ] {
        assert_eq!(with(&mut web, body, fields), expected, "{body} {fields:?}");
    }
}

#[test]
fn designated_arguments_are_repeated_in_the_head() {
    // P-172 P-174 P-175 P-176 P-177 P-178 P-179
    let mut web = Web::new(config());
    let table: [(Value, &[(&str, &str)], _); 17] = [
        (json!({}), &[], GOOD),
        (json!({"region": null}), &[], GOOD),
        (json!({"region": null}), &[("Mcp-Param-Region", "null")], MISMATCH),
        (json!({}), &[("Mcp-Param-Region", "eu")], MISMATCH),
        (json!({"region": "eu"}), &[], MISMATCH),
        (json!({"region": "eu"}), &[("Mcp-Param-Region", "eu")], GOOD),
        (json!({"region": "eu"}), &[("mcp-param-REGION", "eu")], GOOD),
        (json!({"region": "eu"}), &[("Mcp-Param-Region", "EU")], MISMATCH),
        (json!({"region": "eu"}), &[("Mcp-Param-Region", "eu"), ("+Mcp-Param-Region", "eu")], MISMATCH),
        (json!({"region": "Hello, 世界"}), &[("Mcp-Param-Region", "=?base64?SGVsbG8sIOS4lueVjA==?=")], GOOD),
        (json!({"region": "Hello, 世界"}), &[("Mcp-Param-Region", "Hello, 世界")], MISMATCH),
        (json!({"region": "x"}), &[("Mcp-Param-Region", "=?base64?!!!?=")], MISMATCH),
        (json!({"limit": 42}), &[("Mcp-Param-Limit", "42.0")], GOOD),
        (json!({"limit": 42}), &[("Mcp-Param-Limit", "43")], MISMATCH),
        (json!({"limit": 42}), &[("Mcp-Param-Limit", "0x2a")], MISMATCH),
        (json!({"other": "eu"}), &[("Mcp-Param-Other", "us"), ("Mcp-Param-Nothing", "1")], GOOD),
        (json!({"region": "eu", "limit": 1}), &[("Mcp-Param-Region", "eu"), ("Mcp-Param-Limit", "1")], GOOD),
    ];
    for (arguments, fields, expected) in &table {
        let body = modern(1, "tools/call", json!({"name": "marked", "arguments": arguments}));
        assert_eq!(with(&mut web, &body, fields), *expected, "{arguments} {fields:?}");
    }
    let body = modern(1, "tools/call", json!({"name": "marked"}));
    assert_eq!(with(&mut web, &body, &[("Mcp-Param-Region", "eu")]), MISMATCH, "no arguments at all");
    // On a session's call nothing is repeated.
    let id = web.initialize("2025-11-25", &json!({}));
    let body = request(1, "tools/call", json!({"name": "marked", "arguments": {"region": "eu"}}));
    web.post(&id, &body);
    assert_eq!(web.open.len(), 1);
}

#[test]
fn statuses_of_requests_that_stand_alone() {
    // P-041 P-042 P-154
    let mut web = Web::new(config());
    for method in
        ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "x/y"]
    {
        assert_eq!(with(&mut web, &modern("i", method, json!({})), &[]), (404, Some(-32601)), "{method}");
    }
    let mut lacking = call(1);
    lacking["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    assert_eq!(with(&mut web, &lacking, &[]), (400, Some(-32602)));
    lacking["params"].as_object_mut().unwrap().remove("_meta");
    assert_eq!(with(&mut web, &lacking, &[]), (400, Some(-32602)), "its head says that it should have one");
    let unknown = modern(1, "tools/call", json!({"name": "nowhere"}));
    assert_eq!(with(&mut web, &unknown, &[]), (200, Some(-32602)));
    let n = web.post_with(&PLAIN, &request(1, "tools/list", json!({})));
    assert_eq!(web.answers[&n].status(), 400, "neither stands alone nor has a session");
    assert_eq!(web.answers[&n].json()["id"], 1);
    assert!(web.answers[&n].json()["error"]["message"].as_str().unwrap().contains("Mcp-Session-Id"));
}

#[test]
fn no_request_takes_anything_from_another() {
    // P-049 P-185
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({"roots": {}}));
    let body = call(1);
    let fields = modern_fields(&body);
    let mut fields = refs(&fields);
    fields.push(("Mcp-Session-Id", &id));
    web.post_with(&fields, &body);
    let mut bare = modern_fields(&body);
    bare.push(("Mcp-Session-Id", "no session at all".into()));
    web.post_with(&refs(&bare), &body);
    for open in &web.open {
        assert!(!open.context.capabilities.roots && open.context.revision.as_str() == "2026-07-28");
    }
    assert_eq!(web.open.len(), 2, "whatever session the head names");
    assert_eq!(web.open[0].session, web.open[1].session);
    web.leave(4);
    assert_eq!(web.cancelled.len(), 1);
}

#[test]
fn b_17_two_exchanges_with_one_id_are_answered_each_by_its_own() {
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({}));
    let old = request(7, "tools/call", json!({"name": "a"}));
    for stands_alone in [true, false] {
        let both = [(); 2].map(|()| if stands_alone { web.modern(&call(7)) } else { web.post(&id, &old) });
        assert_eq!(web.open.len(), 2);
        web.reply(1, "second");
        web.reply(0, "first");
        for (n, text) in both.into_iter().zip(["first", "second"]) {
            let answer = web.answers[&n].json();
            assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(7), &json!(text)));
        }
    }
}

#[test]
fn leaving_gives_a_request_up_and_nothing_more_is_sent_for_it() {
    // P-148 P-149 H-191
    let mut web = Web::new(config());
    let silent = web.modern(&call(1));
    let token = json!({"progressToken": 1});
    let talking = web.modern(&modern_with(2, "tools/call", json!({"name": "a"}), token));
    let progress = Notice::Progress { progress: 1.0, total: None, message: None };
    let open = web.open.clone();
    web.endpoint.notify(open[1].session, open[1].request, &progress, web.now).unwrap();
    web.drain();
    for (n, open) in [silent, talking].into_iter().zip(open) {
        web.leave(n);
        assert_eq!(web.cancelled.last(), Some(&(open.session, open.request)));
        for refused in [
            web.endpoint.respond(open.session, open.request, &Reply::text("x"), web.now),
            web.endpoint.notify(open.session, open.request, &progress, web.now),
        ] {
            assert!(refused.is_err());
        }
        web.drain();
        web.endpoint.handle_gone(HttpHandle::numbered(n), web.now);
        web.pass(60_000);
    }
    assert_eq!((web.cancelled.len(), web.endpoint.exchanges()), (2, 0));
    let before = web.head(sanswire_tests::web::head("POST", "/mcp", &PLAIN), None);
    web.leave(before);
    assert_eq!((web.cancelled.len(), web.endpoint.exchanges()), (2, 0), "nothing was asked yet");
}

#[test]
fn a_subscription_is_a_stream_of_its_own_until_somebody_ends_it() {
    // P-048 P-143 P-144
    let mut web = Web::new(config());
    let wanted = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["x:y"]}});
    let n = web.modern(&modern("L", "subscriptions/listen", wanted.clone()));
    let other = web.modern(&modern("M", "subscriptions/listen", json!({"notifications": {}})));
    web.endpoint.list_changed(ListKind::Tools, web.now);
    web.pass(1000);
    web.endpoint.resource_updated("x:y", web.now);
    web.drain();
    let messages = web.answers[&n].messages();
    let methods: Vec<_> = messages.iter().map(|message| message["method"].as_str().unwrap()).collect();
    let expected = [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
        "notifications/resources/updated",
    ];
    assert_eq!(methods, expected);
    for message in &messages {
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "L");
        assert!(message.get("id").is_none());
    }
    assert_eq!(web.answers[&other].messages().len(), 1, "what it did not ask for it does not get");
    web.modern(&call(1));
    let open = web.open[0].clone();
    let roots = InputRequest { kind: InputKind::ListRoots, params: None };
    let asked = web.endpoint.request_input(open.session, open.request, &roots, web.now);
    assert!(matches!(asked, Err(ApiError::WrongEra { .. })), "nor is anything asked on another");
    web.reply(0, "x");
    assert!(web.endpoint.is_watched("x:y"));
    web.leave(n);
    assert!(!web.endpoint.is_watched("x:y"));
    web.endpoint.shutdown(std::time::Duration::from_secs(1), web.now);
    web.drain();
    let last = web.answers[&other].messages().pop().unwrap();
    assert_eq!((&last["id"], web.answers[&other].over), (&json!("M"), true), "ended in good order");
    assert!(web.endpoint.is_over());
}

#[test]
fn who_takes_json_alone_gets_json_alone() {
    let mut web = Web::new(config());
    let meta = json!({"progressToken": 1, "io.modelcontextprotocol/logLevel": "debug"});
    let body = modern_with(1, "tools/call", json!({"name": "a"}), meta);
    let mut fields = modern_fields(&body);
    fields.iter_mut().find(|(name, _)| *name == "Accept").unwrap().1 = "application/json".into();
    let n = web.post_with(&refs(&fields), &body);
    let open = web.open[0].clone();
    let log =
        Notice::Log { level: LogLevel::Error, logger: None, data: sanswire_tests::served::raw(&json!(1)) };
    for notice in [Notice::Progress { progress: 1.0, total: None, message: None }, log] {
        web.endpoint.notify(open.session, open.request, &notice, web.now).unwrap();
    }
    web.pass(60_000);
    web.drain();
    assert_eq!(web.answers[&n].status(), 0, "not even a sign of life can be given");
    web.reply(0, "x");
    assert_eq!(web.answers[&n].json()["result"]["content"][0]["text"], "x");
}

#[test]
fn what_has_no_session_is_refused_or_dropped() {
    // P-140
    let mut web = Web::new(config());
    let modern_head = [PLAIN[0], PLAIN[1], PLAIN[2], ("MCP-Protocol-Version", "2026-07-28")];
    let old_head = [PLAIN[0], PLAIN[1], PLAIN[2], ("MCP-Protocol-Version", "2025-11-25")];
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    for (fields, body, status) in [
        (&modern_head, &notification, 202),
        (&old_head, &notification, 400),
        (&modern_head, &response, 400),
        (&old_head, &response, 400),
        (&modern_head, &json!([call(1)]), 400),
        (&modern_head, &json!({"jsonrpc": "2.0", "method": "notifications/x", "params": 1}), 400),
    ] {
        let n = web.post_with(fields, body);
        assert_eq!(web.answers[&n].status(), status, "{fields:?} {body}");
    }
    assert!(web.open.is_empty());
}

#[test]
fn nobody_can_end_it_for_the_others() {
    let mut all = config();
    all.server.limits.violation_budget = 3;
    all.server.limits.max_junk_lines = 3;
    let mut web = Web::new(all);
    for _ in 0..20 {
        let n = web.send(sanswire_tests::web::head("POST", "/mcp", &PLAIN), b"{");
        assert_eq!((web.answers[&n].status(), web.answers[&n].code()), (400, Some(-32700)));
    }
    assert_eq!(with(&mut web, &call(1), &[]), GOOD);
}
