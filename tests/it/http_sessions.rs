//! Sessions of the older revisions over HTTP: the stream they push on, streams that are resumed, sessions that are
//! forgotten, and the transport of 2024-11-05.

use std::time::Duration;

use sanswire::client::{Config, Event, Outcome, Verdict};
use sanswire::error::CloseReason;
use sanswire::exchange::RefusedFor;
use sanswire::http::Url;
use sanswire::http::client::{End, Kind, Target};
use sanswire::mcp::{Method, Revision};
use sanswire_tests::http_rig::{JSON, Rig, SSE, Sent, URL};
use sanswire_tests::peer::initialize_result;
use serde_json::json;

const SECOND: Duration = Duration::from_secs(1);
const GONE: &[u8] = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#;

fn renewed(rig: &Rig) -> usize {
    rig.events.iter().filter(|event| matches!(event, Event::Renewed(_))).count()
}

#[test]
fn b_75_session_404_not_renewed() {
    // P-214 H-104
    let mut rig = Rig::legacy("2025-11-25", Some("old"));
    let lists: Vec<_> = (0..10).map(|_| rig.request(Method::ToolsList, json!({}))).collect();
    let call = rig.call("x", json!({}));
    let sent: Vec<Sent> = (0..11).map(|_| rig.take()).collect();
    for one in &sent {
        rig.answer(one, 404, &[JSON], GONE);
    }
    assert_eq!(rig.outcome(call), Some(Outcome::SessionGone { maybe_ran: false }), "never sent again");
    assert_eq!(renewed(&rig), 0);
    // Exactly one handshake for all of them, without the old id; what is asked meanwhile waits for it.
    let late = rig.request(Method::PromptsList, json!({}));
    rig.handshake("2025-11-25", Some("new"));
    assert_eq!(renewed(&rig), 1);
    let mut asked = 0;
    for _ in 0..11 {
        let again = rig.take();
        assert_eq!(again.field("mcp-session-id"), Some("new"));
        if again.method() == "tools/list" {
            asked += 1;
            assert!(sent.iter().all(|one| one.message()["id"] != again.message()["id"]), "a new id");
            assert_eq!(again.message()["params"]["_meta"]["progressToken"], again.message()["id"]);
        }
        rig.reply(&again, json!({"tools": [], "prompts": []}));
    }
    assert_eq!(asked, 10);
    for list in lists {
        rig.result(list);
    }
    rig.result(late);
    rig.quiet();
    assert_eq!(rig.client.session_id(), Some("new"));
}

#[test]
fn b_75_a_second_404_is_an_error() {
    let mut rig = Rig::legacy("2025-11-25", Some("old"));
    let list = rig.request(Method::ToolsList, json!({}));
    let sent = rig.take();
    rig.answer(&sent, 404, &[JSON], GONE);
    rig.handshake("2025-11-25", Some("new"));
    let again = rig.take();
    rig.answer(&again, 404, &[], b"");
    assert_eq!(rig.outcome(list), Some(Outcome::SessionGone { maybe_ran: true }));
    assert_eq!(rig.closed(), Some(&CloseReason::SessionGone));
    rig.quiet();
}

#[test]
fn a_session_is_renewed_as_often_as_it_was_used() {
    let mut rig = Rig::legacy("2025-11-25", Some("0"));
    for n in 1..5 {
        let list = rig.request(Method::ToolsList, json!({}));
        let sent = rig.take();
        rig.answer(&sent, 404, &[], b"");
        rig.handshake("2025-11-25", Some(&n.to_string()));
        let again = rig.take();
        rig.reply(&again, json!({"tools": []}));
        rig.result(list);
    }
    assert_eq!(renewed(&rig), 4);
}

#[test]
fn an_old_id_is_not_kept_where_the_new_session_has_none() {
    let mut rig = Rig::legacy("2025-11-25", Some("old"));
    let list = rig.request(Method::ToolsList, json!({}));
    let sent = rig.take();
    rig.answer(&sent, 404, &[], b"");
    rig.handshake("2025-11-25", None);
    let again = rig.take();
    assert_eq!(again.field("mcp-session-id"), None);
    rig.reply(&again, json!({"tools": []}));
    rig.result(list);
}

#[test]
fn a_404_without_a_session_is_the_end_of_its_request_alone() {
    let mut rig = Rig::legacy("2025-11-25", None);
    let list = rig.request(Method::ToolsList, json!({}));
    let sent = rig.take();
    rig.answer(&sent, 404, &[], b"");
    assert!(matches!(rig.outcome(list), Some(Outcome::Refused(_))));
    assert_eq!(rig.closed(), None);
    rig.quiet();
}

#[test]
fn a_renewal_that_fails_ends_everything() {
    for (status, body) in [(500, "no"), (401, "no")] {
        let mut rig = Rig::legacy("2025-11-25", Some("old"));
        let list = rig.request(Method::ToolsList, json!({}));
        let sent = rig.take();
        rig.answer(&sent, 404, &[], b"");
        let initialize = rig.take();
        rig.answer(&initialize, status, &[], body.as_bytes());
        assert!(rig.outcome(list).is_some());
        assert!(matches!(rig.closed(), Some(CloseReason::HttpRefused(_) | CloseReason::Challenged(_))));
    }
    let mut rig = Rig::legacy("2025-11-25", Some("old"));
    rig.request(Method::ToolsList, json!({}));
    let sent = rig.take();
    rig.answer(&sent, 404, &[], b"");
    let _silent = rig.take();
    rig.wait(SECOND * 15);
    assert!(matches!(
        rig.closed(),
        Some(CloseReason::ConnectTimeout { waiting_for: Method::Initialize, .. })
    ));
}

#[test]
fn nothing_secret_stands_in_what_is_printed() {
    // P-210
    let mut target = Target::new(Url::parse(&format!("{URL}?key=secret-query")).unwrap());
    target.add_field("Authorization", b"Bearer secret-token").unwrap();
    let mut config = Config::new("rig", "1");
    config.start = sanswire::client::Start::Remembered(Verdict::Legacy);
    let now = sanswire::Instant::ZERO;
    let mut client = sanswire::http::Client::new(config, target.clone(), [1; 32], now).unwrap();
    let mut printed = format!("{target:?}");
    let mut next = |client: &mut sanswire::http::Client| {
        let effect = client.poll_effect().unwrap();
        printed.push_str(&format!("{effect:?}{client:?}"));
        let sanswire::http::client::Effect::Open { exchange, head, body, .. } = effect else { panic!() };
        assert_eq!(head.fields.text("authorization"), Some("Bearer secret-token"));
        (exchange, body)
    };
    let (exchange, body) = next(&mut client);
    let sent: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let mut head = sanswire::http::ResponseHead::new(200);
    head.fields.push("content-type", b"application/json").unwrap();
    head.fields.push("mcp-session-id", b"secret-session").unwrap();
    client.handle_head(exchange, &head, now);
    let reply = json!({"jsonrpc": "2.0", "id": sent["id"], "result": initialize_result("2025-11-25")});
    client.handle_body(exchange, reply.to_string().into(), now);
    client.handle_end(exchange, End::Whole, now);
    assert_eq!(client.session_id(), Some("secret-session"));
    next(&mut client);
    assert!(printed.contains("mcp.example") && !printed.contains("secret"), "{printed}");
}

#[test]
fn b_77_get_stream_refused() {
    for status in [400, 403, 404, 405, 406, 501] {
        let mut rig = Rig::remembering(Verdict::Legacy);
        rig.handshake("2025-11-25", Some("s"));
        let get = rig.take();
        rig.answer(&get, status, &[("Content-Type", "text/plain")], b"Cannot GET /mcp\n");
        rig.wait(SECOND * 600);
        rig.quiet();
        let list = rig.request(Method::ToolsList, json!({}));
        let sent = rig.take();
        assert_eq!(sent.field("mcp-session-id"), Some("s"), "{status}: the session lives on");
        rig.reply(&sent, json!({"tools": []}));
        rig.result(list);
    }
    let mut rig = Rig::remembering(Verdict::Legacy);
    rig.handshake("2025-11-25", Some("s"));
    let mut pauses = Vec::new();
    for _ in 0..9 {
        let get = rig.take();
        rig.answer(&get, 500, &[], b"");
        let from = rig.now;
        while rig.is_quiet() {
            rig.wait(SECOND / 2);
        }
        pauses.push(rig.now.saturating_since(from).as_secs());
    }
    assert!(pauses.is_sorted() && pauses[0] <= 2, "{pauses:?}");
    assert!(pauses[8] >= 60 && pauses[8] <= 63, "growing pauses, within the bound: {pauses:?}");
    let modern = Rig::modern();
    modern.quiet();
}

#[test]
fn what_is_pushed_is_told_and_its_stream_goes_on_where_it_was() {
    // P-206 P-194 P-189
    let mut rig = Rig::remembering(Verdict::Legacy);
    rig.handshake("2025-11-25", Some("s"));
    let get = rig.take();
    assert_eq!(get.field("last-event-id"), None);
    rig.head(&get, 200, &[SSE]);
    rig.body(&get, b"id: 7\nretry: 5000\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
    assert!(rig.events.iter().any(|event| matches!(event, Event::Notification { .. })));
    rig.body(&get, b"data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n");
    let pong = rig.take();
    assert_eq!(pong.message()["id"], "p");
    rig.answer(&pong, 202, &[], b"");
    rig.end(&get, End::Whole);
    rig.wait(SECOND * 4);
    rig.quiet();
    rig.wait(SECOND);
    let again = rig.take();
    assert_eq!((again.head.verb.as_str(), again.field("last-event-id")), ("GET", Some("7")));
}

#[test]
fn an_answer_whose_stream_breaks_is_fetched_by_get() {
    // P-192 P-194 P-206
    let mut rig = Rig::legacy("2025-11-25", Some("s"));
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.head(&sent, 200, &[SSE]);
    rig.body(&sent, b"id: a-1\nretry: 2000\ndata:\n\n");
    rig.end(&sent, End::Broken);
    assert_eq!(rig.outcome(call), None);
    rig.wait(SECOND);
    rig.quiet();
    rig.wait(SECOND);
    let get = rig.take();
    assert_eq!((get.head.verb.as_str(), get.field("last-event-id")), ("GET", Some("a-1")));
    assert_eq!(get.field("mcp-session-id"), Some("s"));
    rig.head(&get, 200, &[SSE]);
    // The server lets go on purpose, and is asked again.
    rig.body(&get, b"id: a-2\ndata:\n\n");
    rig.end(&get, End::Whole);
    rig.wait(SECOND * 2);
    let get = rig.take();
    assert_eq!(get.field("last-event-id"), Some("a-2"));
    let id = &sent.message()["id"];
    let reply = format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}));
    rig.answer(&get, 200, &[SSE], reply.as_bytes());
    rig.result(call);
    rig.wait(SECOND * 10);
    rig.quiet();
}

#[test]
fn b_73_a_stream_that_brings_nothing_new_is_asked_for_once() {
    let mut rig = Rig::legacy("2025-03-26", None);
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.answer(&sent, 200, &[SSE], b"id: 1\ndata:\n\n");
    rig.wait(SECOND);
    let get = rig.take();
    rig.answer(&get, 200, &[SSE], b": nothing\n\n");
    assert_eq!(rig.outcome(call), Some(Outcome::Lost { maybe_ran: true }));
    for status in [404, 405, 400] {
        let mut rig = Rig::legacy("2025-11-25", Some("s"));
        let call = rig.call("x", json!({}));
        let sent = rig.take();
        rig.answer(&sent, 200, &[SSE], b"id: 1\ndata:\n\n");
        rig.wait(SECOND);
        let get = rig.take();
        rig.answer(&get, status, &[], b"");
        assert_eq!(rig.outcome(call), Some(Outcome::Lost { maybe_ran: true }));
        rig.quiet();
    }
    // Not under the oldest revision, and not under the newest.
    for (mut rig, wait) in [(Rig::modern(), 60), (Rig::legacy("2024-11-05", None), 60)] {
        let call = rig.call("x", json!({}));
        let sent = rig.take();
        rig.answer(&sent, 200, &[SSE], b"id: 1\ndata:\n\n");
        assert_eq!(rig.outcome(call), Some(Outcome::Lost { maybe_ran: true }));
        rig.wait(SECOND * wait);
        rig.quiet();
    }
}

#[test]
fn requests_wait_until_the_handshake_was_taken() {
    let mut rig = Rig::remembering(Verdict::Legacy);
    let initialize = rig.take();
    rig.reply(&initialize, initialize_result("2025-11-25"));
    let initialized = rig.take();
    let gone = rig.request(Method::ToolsList, json!({}));
    let list = rig.request(Method::ToolsList, json!({}));
    rig.cancel(gone);
    rig.quiet();
    rig.answer(&initialized, 202, &[], b"");
    assert_eq!(rig.take().head.verb.as_str(), "GET");
    rig.quiet();
    rig.wait(SECOND);
    let sent = rig.take();
    rig.reply(&sent, json!({"tools": []}));
    rig.result(list);
    rig.quiet();
}

#[test]
fn requests_wait_for_the_stream_that_the_server_asks_on() {
    // Begun, refused, broken off before its head, never answered.
    let outcomes: [fn(&mut Rig, &Sent); 4] = [
        |rig, get| rig.head(get, 200, &[SSE]),
        |rig, get| rig.head(get, 405, &[]),
        |rig, get| rig.end(get, End::Broken),
        |rig, _| {
            rig.wait(SECOND / 5);
            rig.quiet();
            rig.wait(SECOND / 20);
        },
    ];
    for outcome in outcomes {
        let mut rig = Rig::remembering(Verdict::Legacy);
        rig.handshake("2025-11-25", Some("s"));
        let call = rig.call("x", json!({}));
        let get = rig.take();
        assert_eq!(get.head.verb.as_str(), "GET");
        rig.quiet();
        outcome(&mut rig, &get);
        let sent = rig.take();
        rig.reply(&sent, json!({"content": []}));
        rig.result(call);
        // Once is enough.
        rig.call("x", json!({}));
        assert_eq!(rig.take().method(), "tools/call");
    }
    // Of a session that is over nobody waits for anything.
    let mut rig = Rig::remembering(Verdict::Legacy);
    rig.handshake("2025-11-25", None);
    let call = rig.call("x", json!({}));
    rig.close();
    assert!(rig.outcome(call).is_some());
    assert_eq!(rig.closed(), Some(&CloseReason::Local));
}

#[test]
fn an_answer_of_2025_03_26_may_be_a_batch() {
    let mut rig = Rig::legacy("2025-03-26", None);
    let list = rig.request(Method::ToolsList, json!({}));
    let sent = rig.take();
    let batch = json!([
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}},
        {"jsonrpc": "2.0", "id": sent.message()["id"], "result": {"tools": []}},
    ]);
    rig.answer(&sent, 200, &[JSON], batch.to_string().as_bytes());
    rig.result(list);
    assert!(rig.violations().is_empty());
}

fn old_target() -> Target {
    let mut target = Target::new(Url::parse(URL).unwrap());
    target.kind = Kind::Sse;
    target
}

fn endpoint(rig: &mut Rig, get: &Sent) {
    assert_eq!((get.head.verb.as_str(), get.field("accept")), ("GET", Some("text/event-stream")));
    rig.head(get, 200, &[SSE]);
    rig.body(get, b"event: endpoint\ndata: /messages?id=7\n\n");
}

fn say(rig: &mut Rig, get: &Sent, message: &serde_json::Value) {
    rig.body(get, format!("event: message\ndata: {message}\n\n").as_bytes());
}

/// The rest of the opening over the oldest transport.
fn old_handshake(rig: &mut Rig, get: &Sent) {
    let initialize = rig.take();
    assert_eq!((&*initialize.head.target, initialize.head.verb.as_str()), ("/messages?id=7", "POST"));
    rig.answer(&initialize, 202, &[], b"Accepted");
    let id = initialize.message()["id"].clone();
    say(rig, get, &json!({"jsonrpc": "2.0", "id": id, "result": initialize_result("2024-11-05")}));
    let initialized = rig.take();
    rig.answer(&initialized, 202, &[], b"Accepted");
    rig.quiet();
    let list = rig.request(Method::ToolsList, json!({}));
    let sent = rig.take();
    assert_eq!(&*sent.head.target, "/messages?id=7");
    rig.answer(&sent, 202, &[], b"Accepted");
    say(rig, get, &json!({"jsonrpc": "2.0", "id": sent.message()["id"], "result": {"tools": []}}));
    rig.result(list);
    assert_eq!(rig.client.kind(), Some(Kind::Sse));
    assert_eq!(rig.client.session().revision(), Some(Revision::V2024_11_05));
}

#[test]
fn the_oldest_transport_posts_where_it_is_told_and_reads_one_stream() {
    // P-224
    let mut rig = Rig::new(Config::new("rig", "1"), old_target());
    let get = rig.take();
    rig.quiet();
    endpoint(&mut rig, &get);
    old_handshake(&mut rig, &get);
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.answer(&sent, 202, &[], b"");
    let other = rig.call("x", json!({}));
    let sent = rig.take();
    rig.answer(&sent, 404, &[], b"");
    assert!(matches!(rig.outcome(other), Some(Outcome::Refused(_))));
    rig.cancel(call);
    let notice = rig.take();
    assert_eq!(notice.method(), "notifications/cancelled");
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.answer(&sent, 202, &[], b"");
    rig.end(&get, End::Broken);
    assert_eq!(rig.outcome(call), Some(Outcome::Lost { maybe_ran: true }));
    assert!(rig.client.poll_event().is_none());
}

#[test]
fn a_handshake_that_is_refused_leads_to_the_oldest_transport() {
    // P-226
    for status in [400, 404, 405] {
        let mut rig = Rig::unknown();
        let probe = rig.take();
        rig.answer(&probe, status, &[], b"");
        let initialize = rig.take();
        rig.answer(
            &initialize,
            status,
            &[JSON],
            br#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no"}}"#,
        );
        let get = rig.take();
        endpoint(&mut rig, &get);
        old_handshake(&mut rig, &get);
    }
    // Nobody there: the refusal counts.
    for found in ["", "event: other\ndata: x\n\n"] {
        let mut rig = Rig::unknown();
        let probe = rig.take();
        rig.answer(&probe, 404, &[], b"");
        let initialize = rig.take();
        rig.answer(&initialize, 405, &[], b"");
        let get = rig.take();
        if found.is_empty() {
            rig.answer(&get, 404, &[], b"");
        } else {
            rig.answer(&get, 200, &[SSE], found.as_bytes());
        }
        let Some(CloseReason::NoTransport { streamable, .. }) = rig.closed() else {
            panic!("{:?}", rig.events)
        };
        let CloseReason::HttpRefused(refusal) = &**streamable else { panic!("{streamable:?}") };
        assert_eq!(refusal.status, 405);
        rig.quiet();
    }
    // A modern word is no such refusal, nor is any other status.
    for (status, body) in [
        (
            400,
            &br#"{"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"no","data":{"supported":[]}}}"#[..],
        ),
        (500, b""),
    ] {
        let mut rig = Rig::unknown();
        let probe = rig.take();
        rig.answer(&probe, 404, &[], b"");
        let initialize = rig.take();
        rig.answer(&initialize, status, &[JSON], body);
        assert!(rig.closed().is_some());
        rig.quiet();
    }
}

#[test]
fn the_oldest_transport_posts_nowhere_else() {
    for (named, origin) in [
        ("https://other.example/messages", Some("https://other.example")),
        ("http://mcp.example:8443/messages", Some("http://mcp.example:8443")),
        ("not an address", None),
    ] {
        let mut rig = Rig::new(Config::new("rig", "1"), old_target());
        let get = rig.take();
        rig.head(&get, 200, &[SSE]);
        rig.body(&get, format!("event: endpoint\ndata: {named}\n\n").as_bytes());
        let Some(CloseReason::HttpRefused(refusal)) = rig.closed() else { panic!("{:?}", rig.events) };
        let why = origin.map_or(RefusedFor::Redirect, |origin| RefusedFor::OtherOrigin(origin.into()));
        assert_eq!(refusal.why, why);
        rig.quiet();
    }
}
