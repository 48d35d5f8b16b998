//! Sessions of the older revisions over HTTP: how they begin, and what happens to one that is forgotten.

use std::time::Duration;

use sanswire::client::{Config, Event, Outcome, Verdict};
use sanswire::error::{CloseReason, Violation};
use sanswire::http::Url;
use sanswire::http::client::{End, Target};
use sanswire::mcp::Method;
use sanswire_tests::http_rig::{JSON, Rig, Sent, URL};
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
    assert_eq!(rig.outcome(list), Some(Outcome::SessionGone { maybe_ran: false }));
    assert_eq!(rig.closed(), Some(&CloseReason::SessionGone));
    rig.quiet();
}

#[test]
fn a_404_to_the_end_of_the_handshake_leaves_it_to_the_first_request() {
    // P-214
    let ready = || {
        let mut rig = Rig::remembering(Verdict::Legacy);
        let initialize = rig.take();
        let result = json!({"jsonrpc": "2.0", "id": 1, "result": initialize_result("2025-11-25")});
        rig.answer(&initialize, 200, &[JSON, ("Mcp-Session-Id", "s")], result.to_string().as_bytes());
        let initialized = rig.take();
        rig.answer(&initialized, 404, &[], b"");
        let method = Some(Method::Initialized);
        assert_eq!(rig.violations(), [&Violation::NotTaken { method, status: 404 }]);
        let get = rig.take();
        rig.answer(&get, 404, &[], b"");
        let list = rig.request(Method::ToolsList, json!({}));
        let sent = rig.take();
        assert_eq!(sent.field("mcp-session-id"), Some("s"));
        (rig, list, sent)
    };
    let (mut rig, list, sent) = ready();
    rig.reply(&sent, json!({"tools": []}));
    rig.result(list);
    assert_eq!(renewed(&rig), 0);
    // It knows none: once anew, and that is all.
    let (mut rig, list, sent) = ready();
    rig.answer(&sent, 404, &[], b"");
    rig.handshake("2025-11-25", Some("new"));
    let again = rig.take();
    rig.answer(&again, 404, &[], b"");
    assert_eq!(rig.outcome(list), Some(Outcome::SessionGone { maybe_ran: false }));
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
