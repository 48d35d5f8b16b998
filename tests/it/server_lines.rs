//! Lines, ids, batches and junk, as a server sees them.

use sanswire::error::Violation;
use sanswire::server::{CloseReason, Reply};
use sanswire_tests::served::{LEGACY, Rig, config, modern, request};
use serde_json::{Value, json};

fn codes(said: &[Value]) -> Vec<(Value, Option<i64>)> {
    said.iter().map(|answer| (answer["id"].clone(), answer["error"]["code"].as_i64())).collect()
}

#[test]
fn b_01_malformed_line_first() {
    // C-20 P-002 P-008
    let mut rig = Rig::new(config());
    rig.send_raw(include_bytes!("../cases/b-01.bin"));
    let said = rig.take();
    assert_eq!(codes(&said), [(json!(null), Some(-32700)), (json!(7), None), (json!(1), None)]);
    assert!(said[0].get("id").is_none(), "the member is left out, not null");
    assert_eq!(said[1]["result"], json!({}), "the byte order mark was passed over");
}

#[test]
fn b_11_string_request_id() {
    // P-003 P-007
    let mut rig = Rig::new(config());
    rig.send_raw(include_bytes!("../cases/b-11.jsonl"));
    let ids: Vec<String> = rig.take().iter().map(|answer| answer["id"].to_string()).collect();
    assert_eq!(ids, [r#""init-1""#, r#""2""#, r#""""#, "-5", "0", "9007199254740993"]);
    for id in ["2", "\"2\"", "-0", "123456789012345678901234567890", r#""\u00e9\n""#] {
        rig.send_raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").as_bytes());
        let sent: Value = serde_json::from_str(id).unwrap();
        assert_eq!(rig.one()["id"], sent, "{id}");
    }
}

#[test]
fn ids_that_are_none_are_refused_without_one() {
    // P-004
    let mut rig = Rig::legacy(config(), "2025-11-25");
    rig.take();
    for id in ["null", "1.5", "1e3", "true", "[1]", "{}"] {
        rig.send_raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").as_bytes());
        let answer = rig.one();
        assert_eq!(answer["error"]["code"], -32600, "{id}");
        assert!(answer.get("id").is_none(), "{answer}");
    }
    rig.still_works();
}

#[test]
fn b_17_same_id_twice_in_flight() {
    // P-005 P-006
    let mut rig = Rig::new(config());
    rig.send_raw(include_bytes!("../cases/b-17.jsonl"));
    let said = rig.take();
    assert_eq!(codes(&said), [(json!(1), None), (json!(7), Some(-32600))]);
    assert_eq!(rig.violations(), [Violation::DuplicateId { id: 7_i64.into() }]);
    let (request, reported) = rig.open.first_key_value().map(|(key, value)| (*key, value.clone())).unwrap();
    assert_eq!((rig.open.len(), &reported.params["name"]), (1, &json!("a")));
    rig.respond(request, &Reply::text("from a")).unwrap();
    let answer = rig.one();
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(7), &json!("from a")));
    let again = rig.report(self::request(7, "tools/call", json!({"name": "b"})));
    assert_eq!(again.params["name"], "b", "an id that is over may be used again");
    let other_type = rig.report(self::request("7", "tools/call", json!({"name": "b"})));
    assert_ne!(other_type.request, again.request);
}

#[test]
fn a_subscription_keeps_its_id_taken() {
    let mut rig = Rig::new(config());
    rig.send(&modern(1, "subscriptions/listen", json!({"notifications": {}})));
    rig.take();
    assert_eq!(rig.refused(modern(1, "tools/list", json!({}))), -32600);
}

#[test]
fn b_19_batch_array_silence() {
    let mut rig = Rig::new(config());
    rig.send_raw(include_bytes!("../cases/b-19.jsonl"));
    let said = rig.take();
    let expected =
        [(json!(1), None), (json!(null), Some(-32600)), (json!(null), Some(-32600)), (json!(4), None)];
    assert_eq!(codes(&said), expected);
    assert!(said[1].get("id").is_none() && said[2].get("id").is_none());
    for revision in LEGACY.into_iter().filter(|revision| *revision != "2025-03-26") {
        let mut rig = Rig::legacy(config(), revision);
        rig.take();
        rig.send_raw(b" [{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]\n");
        assert_eq!(rig.one()["error"]["code"], -32600, "{revision}");
    }
    let mut early = Rig::new(config());
    let initialize = request(1, "initialize", json!({"protocolVersion": "2025-03-26"}));
    early.send(&json!([initialize]));
    assert_eq!(early.one()["error"]["code"], -32600, "P-015: no handshake in a batch");
}

#[test]
fn the_one_revision_with_batches_has_them_answered_one_by_one() {
    // P-014
    let mut rig = Rig::legacy(config(), "2025-03-26");
    rig.take();
    rig.send_raw(b"\xef\xbb\xbf [");
    let call = request(3, "tools/call", json!({"name": "a"}));
    let rest = json!([
        request(2, "ping", json!({})),
        {"jsonrpc": "2.0", "method": "notifications/unheard/of"},
        call,
        {"jsonrpc": "2.0", "id": 4},
        5,
        [request(6, "ping", json!({}))],
        request(7, "tools/call", json!({"name": "b"})),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}},
    ]);
    rig.send_raw(format!("{}\n", &rest.to_string()[1..]).as_bytes());
    let none = json!(null);
    let expected =
        [(json!(2), None), (json!(4), Some(-32600)), (none.clone(), Some(-32600)), (none, Some(-32600))];
    assert_eq!(codes(&rig.take()), expected);
    assert_eq!((rig.open.len(), rig.cancelled.len()), (1, 1));
    let handle = *rig.open.first_key_value().unwrap().0;
    rig.respond(handle, &Reply::text("a")).unwrap();
    assert_eq!(rig.one()["id"], 3);
    rig.send_raw(b"[]\n");
    assert_eq!(rig.one()["error"]["code"], -32600, "an empty one is refused as ever");
}

#[test]
fn a_batch_longer_than_the_queues_is_refused_as_a_whole() {
    let mut config = config();
    config.limits.max_queued_events = 10;
    let mut rig = Rig::legacy(config, "2025-03-26");
    rig.take();
    rig.send(&json!(vec![request(2, "ping", json!({})); 11]));
    let answer = rig.one();
    assert_eq!(answer["error"]["code"], -32600);
    assert!(answer.get("id").is_none());
    assert_eq!(rig.violations(), [Violation::BatchTooLong { limit: 10 }]);
    rig.send(&json!(vec![request(2, "ping", json!({})); 10]));
    assert_eq!(rig.take().len(), 10);
}

#[test]
fn b_21_params_null() {
    // H-190
    let mut rig = Rig::new(config());
    rig.send_raw(include_bytes!("../cases/b-21.jsonl"));
    let said = rig.take();
    let expected = [(json!(1), None), (json!(2), None), (json!(3), Some(-32602)), (json!(4), Some(-32602))];
    assert_eq!(codes(&said), expected);
    let reported = rig.open.first_key_value().unwrap().1;
    assert_eq!(reported.params["name"], "echo");
    let params = sanswire_tests::served::raw(&reported.params);
    let call = sanswire::mcp::types::request::CallTool::read(&params).unwrap();
    assert_eq!(call.arguments.as_str(), "{}");
}

#[test]
fn what_is_no_message_gets_one_error_and_notifications_none() {
    // P-001 P-009 P-012 P-013
    let table: [(&str, Option<(Value, i64)>); 16] = [
        ("junk", Some((json!(null), -32700))),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", Some((json!(null), -32700))),
        ("42", Some((json!(null), -32600))),
        ("{}", Some((json!(null), -32600))),
        (r#"{"jsonrpc":"2.0","id":5}"#, Some((json!(5), -32600))),
        (r#"{"id":5,"method":"ping"}"#, Some((json!(5), -32600))),
        (r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, Some((json!(5), -32600))),
        (r#"{"jsonrpc":"2.0","id":5,"id":6,"method":"ping"}"#, Some((json!(null), -32600))),
        (r#"{"jsonrpc":"2.0","id":5,"method":7}"#, Some((json!(5), -32600))),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping","result":{}}"#, Some((json!(5), -32600))),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}"#, Some((json!(5), -32602))),
        (r#"{"jsonrpc":"2.0","method":"notifications/x","params":[1]}"#, None),
        (r#"{"jsonrpc":"2.0","id":5,"result":{}}"#, None),
        (r#"{"jsonrpc":"2.0","id":5,"result":{},"error":{"code":1,"message":""}}"#, None),
        (r#"{"jsonrpc":"2.0","result":{}}"#, None),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#, None),
    ];
    let mut rig = Rig::legacy(config(), "2025-11-25");
    rig.take();
    for (line, expected) in table {
        rig.send_raw(format!("{line}\n").as_bytes());
        let got = codes(&rig.take());
        let expected: Vec<_> = expected.map(|(id, code)| (id, Some(code))).into_iter().collect();
        assert_eq!(got, expected, "{line}");
    }
    assert_eq!(rig.violations().len(), 16, "each is told");
    let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\",\"params\":{}}}", "[".repeat(200));
    rig.send_raw(format!("{deep}\n").as_bytes());
    assert_eq!(rig.one()["error"]["code"], -32600, "nested too deeply");
    rig.still_works();
}

#[test]
fn junk_lines_in_a_row_end_the_connection_and_a_message_between_them_does_not() {
    // C-20
    let mut rig = Rig::legacy(config(), "2025-11-25");
    for _ in 0..3 {
        rig.take();
        rig.send_raw("x\n".repeat(100).as_bytes());
        assert_eq!(rig.take().len(), 100, "one error each");
        rig.still_works();
    }
    rig.take();
    rig.send_raw("x\n".repeat(200).as_bytes());
    assert_eq!(rig.take().len(), 101);
    assert!(matches!(rig.closed(), Some(CloseReason::Protocol(Violation::Malformed(_)))));
}

#[test]
fn violations_use_up_a_budget() {
    let mut config = config();
    config.limits.violation_budget = 3;
    let mut rig = Rig::new(config);
    for _ in 0..3 {
        rig.send_raw(b"junk\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        assert_eq!(rig.closed(), None);
    }
    rig.send_raw(b"junk\n");
    assert!(matches!(rig.closed(), Some(CloseReason::Protocol(_))));
}

#[test]
fn a_message_that_is_too_long_fails_alone() {
    // H-194
    let mut config = config();
    config.limits.max_message_bytes = 4096;
    let mut rig = Rig::legacy(config, "2025-11-25");
    rig.take();
    let fill = "x".repeat(5000);
    rig.send(&request("long", "tools/call", json!({"name": "a", "arguments": {"x": fill}})));
    let answer = rig.one();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("long"), &json!(-32600)));
    for silent in [
        json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"x": fill}}),
        json!({"jsonrpc": "2.0", "id": 9, "result": {"x": fill}}),
    ] {
        rig.send(&silent);
        assert_eq!(rig.take(), [] as [Value; 0]);
    }
    assert_eq!(rig.violations().len(), 3);
    let reported = rig.report(request(2, "tools/call", json!({"name": "a"})));
    let long = Reply::text(&fill);
    let error = rig.respond(reported.request, &long).unwrap_err();
    assert!(matches!(error, sanswire::error::ApiError::TooLarge { limit: 4096, .. }), "{error}");
    rig.respond(reported.request, &Reply::text("short")).unwrap();
    assert_eq!(rig.one()["id"], 2, "the request stays open");
    rig.still_works();
}

#[test]
fn b_07_utf8_split_across_reads() {
    let text = "\u{e9}\u{20ac}\u{1f600} na\u{ef}ve \u{4e2d}\u{6587}";
    let line =
        format!("{}\n", request(2, "tools/call", json!({"name": "echo", "arguments": {"text": text}})));
    let four = line.find('\u{1f600}').unwrap();
    let cuts: [Vec<usize>; 5] = [
        (1..line.len()).collect(),
        (1..line.len()).step_by(2).collect(),
        vec![four + 1],
        vec![four + 2],
        vec![four + 3],
    ];
    for cuts in cuts {
        let mut rig = Rig::legacy(config(), "2025-11-25");
        rig.take();
        let mut from = 0;
        for at in cuts.into_iter().chain([line.len()]) {
            rig.send_raw(&line.as_bytes()[from..at]);
            from = at;
        }
        let reported = rig.open.first_key_value().unwrap().1.clone();
        assert_eq!(reported.params["arguments"]["text"], text);
        rig.respond(reported.request, &Reply::text(text)).unwrap();
        assert_eq!(rig.one()["result"]["content"][0]["text"], text);
    }
}

#[test]
fn b_05_and_b_09_long_lines_and_odd_characters_arrive_unchanged() {
    let mut rig = Rig::legacy(config(), "2025-11-25");
    let text = format!("\u{2028}\u{2029}\u{85}\u{b}{}", "x".repeat(1 << 20));
    let call = request(2, "tools/call", json!({"name": "echo", "arguments": {"text": text}}));
    let reported = rig.report(call);
    assert_eq!(reported.params["arguments"]["text"], text);
    rig.respond(reported.request, &Reply::text(&text)).unwrap();
    assert_eq!(rig.one()["result"]["content"][0]["text"], text);
}
