//! Sessions over HTTP: how they begin, whose they are, what belongs to them, how they end.

use std::collections::BTreeSet;
use std::time::Duration;

use sanswire::http::endpoint::{Effect, EndpointConfig, Token};
use sanswire::http::h1::Body;
use sanswire::http::{Endpoint, HttpHandle};
use sanswire::mcp::types::input::{InputKind, InputRequest};
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::{CloseReason, Event, ListKind, PeerOutcome, Principal};
use sanswire_tests::served::{LEGACY, raw, request};
use sanswire_tests::web::{PLAIN, Web, config, head};
use serde_json::{Value, json};

fn call(id: u64) -> Value {
    request(id, "tools/call", json!({"name": "a"}))
}

fn initialize() -> Value {
    request(0, "initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}}))
}

/// A POST in a session, with more fields; its exchange.
fn post_with(web: &mut Web, id: &str, more: &[(&str, &str)], body: &Value) -> u64 {
    let mut fields = PLAIN.to_vec();
    fields.push(("Mcp-Session-Id", id));
    fields.extend(more);
    web.post_with(&fields, body)
}

#[test]
fn an_id_goes_with_the_answer_to_initialize_and_is_needed_from_then_on() {
    // P-187 P-208 P-212 P-213
    let mut web = Web::new(config());
    for revision in LEGACY {
        let id = web.initialize(revision, &json!({}));
        assert_eq!(id.len(), 43, "{revision}");
        assert!(id.bytes().all(|byte| matches!(byte, 0x21..=0x7e)));
        let n = web.post(&id, &request(1, "tools/list", json!({})));
        assert_eq!((web.answers[&n].status(), web.answers[&n].field("Mcp-Session-Id")), (200, None));
        let n = web.post_with(&PLAIN, &call(1));
        assert_eq!(web.answers[&n].status(), 400, "without it");
        let n = web.post_with(&PLAIN, &request(1, "ping", json!({})));
        assert_eq!(web.answers[&n].status(), 400);
        let mut other = id.clone();
        let last = other.pop();
        other.push(if last == Some('A') { 'E' } else { 'A' });
        for wrong in [&other, "x", &format!("{id}x"), &id[..42]] {
            let n = web.post(wrong, &call(1));
            assert_eq!((web.answers[&n].status(), web.answers[&n].json()["id"].as_u64()), (404, Some(1)));
        }
        let n = post_with(&mut web, &id, &[("Mcp-Session-Id", &id)], &call(1));
        assert_eq!(web.answers[&n].status(), 400, "two are none");
    }
    assert_eq!((web.endpoint.sessions(), web.open.len()), (4, 0));
}

#[test]
fn ids_come_of_the_seed_and_of_nothing_else() {
    // P-209 P-220
    let ids = |seed: u8| {
        let mut web = Web::new(config());
        web.endpoint = Endpoint::new(config(), [seed; 32], web.now).unwrap();
        (0..50).map(|_| web.initialize("2025-06-18", &json!({}))).collect::<BTreeSet<_>>()
    };
    let (one, other) = (ids(1), ids(2));
    assert_eq!((one.len(), one.intersection(&other).count()), (50, 0));
    assert_eq!(one, ids(1));
}

#[test]
fn what_is_refused_opens_nothing() {
    let mut web = Web::new(config());
    let n = web.post_with(&PLAIN, &request(1, "initialize", json!({})));
    assert_eq!((web.answers[&n].code(), web.answers[&n].field("Mcp-Session-Id")), (Some(-32602), None));
    let id = web.initialize("2025-11-25", &json!({}));
    let n = web.post(&id, &initialize());
    assert_eq!((web.answers[&n].code(), web.answers[&n].field("Mcp-Session-Id")), (Some(-32600), None));
    let n = web.post("ended", &initialize());
    assert_eq!(web.answers[&n].status(), 404, "an old session is not gone on with by a new one");
    assert_eq!((web.endpoint.sessions(), web.told.len()), (1, 1), "{:?}", web.told);
}

#[test]
fn a_session_is_its_principals_own() {
    // P-220 P-221 P-474
    let mut all = config();
    all.tokens = ["ann", "bob"].map(|name| Token::new(Principal::named(name), name)).into();
    let mut web = Web::new(all);
    let as_who = |who: &'static str| [PLAIN[0], PLAIN[1], PLAIN[2], ("Authorization", who)];
    let n = web.post_with(&as_who("Bearer ann"), &initialize());
    let id = web.answers[&n].field("Mcp-Session-Id").unwrap().to_owned();
    for (who, status) in [("Bearer ann", 0), ("Bearer bob", 404), ("Bearer eve", 401)] {
        let mut fields = as_who(who).to_vec();
        fields.push(("Mcp-Session-Id", &id));
        let n = web.post_with(&fields, &call(1));
        assert_eq!(web.answers[&n].status(), status, "{who}");
        if status != 0 {
            for verb in ["GET", "DELETE"] {
                let n = web.send(head(verb, "/mcp", &fields), b"");
                assert_eq!(web.answers[&n].status(), status, "{who} {verb}");
            }
        }
    }
    assert_eq!((web.endpoint.sessions(), web.open.len()), (1, 1));
}

#[test]
fn the_version_in_a_head_is_one_of_a_session_or_missing() {
    // P-218 P-219
    let mut web = Web::new(config());
    let id = web.initialize("2025-06-18", &json!({}));
    let list = request(1, "tools/list", json!({}));
    for (version, status) in [
        (None, 200),
        (Some("2025-06-18"), 200),
        (Some("2025-03-26"), 200),
        (Some("2024-11-05"), 200),
        (Some("1.0"), 400),
        (Some("2025-06-19"), 400),
        (Some(""), 400),
    ] {
        let version = version.map(|version| ("MCP-Protocol-Version", version));
        let more: Vec<_> = version.into_iter().collect();
        let n = post_with(&mut web, &id, &more, &list);
        assert_eq!(web.answers[&n].status(), status, "{version:?}");
        let n = post_with(&mut web, &id, &more, &json!({"jsonrpc": "2.0", "method": "notifications/x"}));
        assert_eq!(web.answers[&n].status(), if status == 200 { 202 } else { 400 });
        let mut fields = vec![PLAIN[0], ("Accept", "text/event-stream"), ("Mcp-Session-Id", &id)];
        fields.extend(&more);
        let n = web.send(head("GET", "/mcp", &fields), b"");
        assert_eq!(web.answers[&n].status(), status);
        web.leave(n);
    }
    let twice = [("MCP-Protocol-Version", "2025-06-18"); 2];
    let n = post_with(&mut web, &id, &twice, &list);
    assert_eq!(web.answers[&n].status(), 400);
    // Without the field it is read as one of a revision that had none.
    let n = web.post_with(&[PLAIN[0], PLAIN[1], PLAIN[2], ("MCP-Protocol-Version", "1.0")], &initialize());
    assert_eq!((web.answers[&n].status(), web.endpoint.sessions()), (400, 1));
}

#[test]
fn what_the_client_is_asked_comes_on_the_stream_of_its_request_and_is_answered_by_a_post() {
    // P-139 P-140 P-197
    let mut web = Web::new(config());
    let id = web.initialize("2025-06-18", &json!({"roots": {}}));
    let push = web.get(&id, None);
    let n = web.post(&id, &call(1));
    let roots = InputRequest { kind: InputKind::ListRoots, params: None };
    let open = web.open[0].clone();
    let peer = web.endpoint.request_input(open.session, open.request, &roots, web.now).unwrap();
    web.drain();
    let asked = web.answers[&n].messages().pop().unwrap();
    assert_eq!(asked["method"], "roots/list");
    assert!(web.answers[&push].messages().is_empty(), "not there");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}});
    for status in [202, 400] {
        let n = web.post(&id, &answer);
        assert_eq!((web.answers[&n].status(), web.answers[&n].body.len()), (status, 0), "once");
    }
    let told = web.told.iter().find_map(|(_, event)| match event {
        Event::Answered { peer, outcome: PeerOutcome::Result(_) } => Some(*peer),
        _ => None,
    });
    assert_eq!(told, Some(peer));
    web.reply(0, "x");
    assert!(web.answers[&n].over);
    // Who takes no stream cannot be asked.
    let fields = [PLAIN[0], PLAIN[1], ("Accept", "application/json"), ("Mcp-Session-Id", &id)];
    web.post_with(&fields, &call(2));
    let open = web.open[0].clone();
    assert!(web.endpoint.request_input(open.session, open.request, &roots, web.now).is_err());
}

#[test]
fn a_notice_that_belongs_to_no_request_goes_to_one_stream_the_newest() {
    // P-201 P-203
    let mut web = Web::new(config());
    let id = web.initialize("2025-06-18", &json!({}));
    let log = |web: &mut Web, text: &str| {
        web.endpoint.log(LogLevel::Error, None, &raw(&json!(text)), web.now);
        web.drain();
    };
    let data = |web: &Web, n: u64| -> Vec<String> {
        let messages = web.answers[&n].messages();
        messages.iter().map(|message| message["params"]["data"].as_str().unwrap_or("list").into()).collect()
    };
    log(&mut web, "early");
    let one = web.get(&id, None);
    assert_eq!(data(&web, one), ["early"], "it waited");
    let two = web.get(&id, None);
    log(&mut web, "a");
    web.endpoint.list_changed(ListKind::Tools, web.now);
    web.pass(1000);
    assert_eq!((data(&web, one), data(&web, two)), (vec!["early".into()], vec!["a".into(), "list".into()]));
    web.leave(two);
    log(&mut web, "b");
    assert_eq!(data(&web, one), ["early", "b"], "the other one again");
    web.leave(one);
    log(&mut web, "c");
    let three = web.get(&id, None);
    assert_eq!(data(&web, three), ["c"], "what was sent is not sent to another");
    let four: Vec<u64> = (0..4).map(|_| web.get(&id, None)).collect();
    assert!(web.answers[&three].over, "four are enough");
    assert!(four.iter().all(|n| !web.answers[n].over));
    // Other sessions have their own.
    let other = web.initialize("2025-06-18", &json!({}));
    let theirs = web.get(&other, None);
    web.post(&other, &request(1, "logging/setLevel", json!({"level": "emergency"})));
    log(&mut web, "d");
    assert_eq!((data(&web, four[3]), data(&web, theirs).len()), (vec!["d".into()], 0));
}

#[test]
fn the_client_ends_its_session_and_its_id_is_worth_nothing_any_more() {
    // P-213 H-192
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({}));
    let open = web.post(&id, &call(1));
    let push = web.get(&id, None);
    let end = |web: &mut Web, id: &str| {
        let n = web.send(head("DELETE", "/mcp", &[PLAIN[0], ("Mcp-Session-Id", id)]), b"");
        web.answers[&n].status()
    };
    assert_eq!(end(&mut web, &id), 200);
    assert_eq!((web.cancelled.len(), web.answers[&open].status(), web.answers[&push].over), (1, 404, true));
    assert!(matches!(web.told.last(), Some((_, Event::Closed(CloseReason::Eof)))), "{:?}", web.told);
    for n in [web.post(&id, &call(2)), web.get(&id, None), web.post(&id, &initialize())] {
        assert_eq!(web.answers[&n].status(), 404);
    }
    assert_eq!((end(&mut web, &id), web.endpoint.sessions(), web.endpoint.exchanges()), (404, 0, 0));
}

#[test]
fn nothing_secret_stands_in_what_an_endpoint_prints() {
    let mut all = config();
    // As bytes are printed.
    all.server.cursor_key = Some([0xe1; 32]);
    all.tokens = vec![Token::new(Principal::named("ann"), "secret-token")];
    let mut printed = format!("{all:?}");
    let now = sanswire::Instant::ZERO;
    let mut endpoint = Endpoint::new(all, [0xe2; 32], now).unwrap();
    let mut fields = PLAIN.to_vec();
    fields.push(("Authorization", "Bearer secret-token"));
    let client = json!({"name": "secret-content", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let body = request(0, "initialize", params).to_string();
    let exchange = HttpHandle::numbered(1);
    endpoint.handle_head(exchange, head("POST", "/mcp", &fields), Some(body.len() as u64), now);
    let (mut id, mut told) = (String::new(), 0);
    for step in 0..3 {
        match step {
            0 => endpoint.handle_body(exchange, body.clone().into(), now),
            1 => endpoint.handle_body_end(exchange, now),
            _ => {}
        }
        printed += &format!("{endpoint:?}");
        while let Some(effect) = endpoint.poll_effect() {
            printed += &format!("{effect:?}");
            if let Effect::Respond { head, body, .. } = effect {
                id = head.fields.text("mcp-session-id").unwrap().to_owned();
                told = usize::from(body != Body::Empty);
            }
        }
    }
    assert_eq!((endpoint.sessions(), told), (1, 1));
    for secret in ["225, 225", "226, 226", "secret", "protocolVersion", &*id] {
        assert!(!printed.contains(secret), "{secret}: {printed}");
    }
}

fn small() -> EndpointConfig {
    let mut all = config();
    all.max_sessions = 2;
    all.session_idle = Duration::from_secs(100);
    all
}

#[test]
fn a_session_in_which_nothing_happens_ends() {
    let mut web = Web::new(small());
    let (idle, busy) = (web.initialize("2025-06-18", &json!({})), web.initialize("2025-06-18", &json!({})));
    let alive = |web: &mut Web, id: &str| {
        let n = web.post(id, &request(1, "ping", json!({})));
        web.answers[&n].status() == 200
    };
    web.pass(60_000);
    web.post(&busy, &call(1));
    web.pass(60_000);
    assert!(!alive(&mut web, &idle) && alive(&mut web, &busy));
    web.pass(1_000_000);
    assert_eq!(web.endpoint.sessions(), 1, "a request is open");
    web.reply(0, "x");
    web.pass(99_000);
    let stream = web.get(&busy, None);
    web.pass(1_000_000);
    assert_eq!(web.endpoint.sessions(), 1, "a stream is");
    web.leave(stream);
    web.pass(101_000);
    assert_eq!((web.endpoint.sessions(), web.endpoint.poll_timeout()), (0, None));
    let closed = web.told.iter().filter(|(_, event)| matches!(event, Event::Closed(CloseReason::Local)));
    assert_eq!(closed.count(), 2);
}

#[test]
fn past_the_limit_the_one_that_was_idle_the_longest_goes() {
    let mut web = Web::new(small());
    let first = web.initialize("2025-06-18", &json!({}));
    web.pass(10);
    let second = web.initialize("2025-06-18", &json!({}));
    web.pass(10);
    web.post(&first, &call(1));
    let third = web.initialize("2025-06-18", &json!({}));
    let n = web.post(&second, &call(1));
    assert_eq!((web.answers[&n].status(), web.endpoint.sessions()), (404, 2), "the first is busy");
    web.get(&third, None);
    let n = web.post_with(&PLAIN, &initialize());
    assert_eq!(web.answers[&n].status(), 503, "none is idle");
    web.reply(0, "x");
    let n = web.post_with(&PLAIN, &initialize());
    assert_eq!(web.answers[&n].status(), 200);
}

#[test]
fn a_batch_is_one_array_where_json_is_all_that_is_taken_and_a_stream_otherwise() {
    let mut web = Web::new(config());
    let id = web.initialize("2025-03-26", &json!({}));
    let ping = |id: u64| request(id, "ping", json!({}));
    let json_alone = [PLAIN[0], PLAIN[1], ("Accept", "application/json"), ("Mcp-Session-Id", &id)];
    let n = web.post_with(&json_alone, &json!([ping(1), ping(2), call(3)]));
    web.reply(0, "x");
    let ids: Vec<_> =
        web.answers[&n].json().as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, [1, 2, 3]);
    let n = web.post_with(&json_alone, &json!([ping(1)]));
    assert_eq!(web.answers[&n].json().as_array().unwrap().len(), 1);
    let n = web.post(&id, &json!([ping(1), ping(2)]));
    assert_eq!((web.answers[&n].messages().len(), web.answers[&n].over), (2, true));
    let n = web.post(&id, &json!([{"jsonrpc": "2.0", "method": "notifications/x"}]));
    assert_eq!(web.answers[&n].status(), 202);
    for empty in [json!([]), json!("[")] {
        let n = web.send(head("POST", "/mcp", &json_alone), empty.as_str().unwrap_or("[]").as_bytes());
        assert_eq!(web.answers[&n].status(), 400);
        assert!(web.answers[&n].code().is_some(), "one error, no list");
    }
    let newer = web.initialize("2025-06-18", &json!({}));
    let n = web.post(&newer, &json!([ping(1)]));
    assert_eq!((web.answers[&n].status(), web.answers[&n].code()), (400, Some(-32600)));
    assert_eq!(web.endpoint.exchanges(), 0);
}

#[test]
fn a_client_that_breaks_the_rules_once_too_often_loses_its_session_alone() {
    let mut all = config();
    all.server.limits.violation_budget = 2;
    let mut web = Web::new(all);
    let (bad, good) = (web.initialize("2025-06-18", &json!({})), web.initialize("2025-06-18", &json!({})));
    let open = web.post(&bad, &call(1));
    for _ in 0..3 {
        let n = web.post(&bad, &json!({"jsonrpc": "2.0", "id": 5, "result": {}}));
        assert!(web.answers[&n].status() >= 400);
    }
    assert_eq!((web.endpoint.sessions(), web.answers[&open].status()), (1, 404));
    let n = web.post(&good, &request(1, "ping", json!({})));
    assert_eq!(web.answers[&n].status(), 200);
}
