//! What an endpoint does with clients that are slow, silent or too many, and how it ends.

use std::time::Duration;

use sanswire::error::ApiError;
use sanswire::http::HttpHandle;
use sanswire::http::endpoint::EndpointConfig;
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::{CloseReason, Event, ListKind, Notice, Reply};
use sanswire_tests::served::{modern, modern_with, raw, request};
use sanswire_tests::web::{PLAIN, Web, config, head, modern_fields, refs};
use serde_json::{Value, json};

fn call(id: u64) -> Value {
    modern_with(id, "tools/call", json!({"name": "a"}), json!({"progressToken": id}))
}

fn listen(id: &str) -> Value {
    modern(id, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
}

fn progress(n: f64) -> Notice {
    Notice::Progress { progress: n, total: None, message: None }
}

#[test]
fn silence_on_a_stream_is_broken_by_a_comment_and_a_late_answer_is_a_stream() {
    let mut web = Web::new(config());
    let id = web.initialize("2025-06-18", &json!({}));
    let old = request(1, "tools/call", json!({"name": "a"}));
    let all = [web.modern(&call(1)), web.modern(&listen("L")), web.post(&id, &old), web.get(&id, None)];
    let comments = |web: &Web, n: u64| {
        let text = std::str::from_utf8(&web.answers[&n].body).unwrap();
        text.split("\n\n").filter(|block| block.starts_with(':')).count()
    };
    web.pass(14_999);
    assert_eq!(web.answers[&all[0]].status(), 0);
    assert!(all.iter().all(|n| comments(&web, *n) == 0));
    web.pass(1);
    assert!(all.iter().all(|n| comments(&web, *n) == 1 && web.answers[n].streamed));
    web.pass(45_000);
    assert!(all.iter().all(|n| comments(&web, *n) == 4));
    let open = web.open[0].clone();
    web.pass(10_000);
    web.endpoint.notify(open.session, open.request, &progress(1.0), web.now).unwrap();
    web.drain();
    web.pass(10_000);
    assert_eq!((comments(&web, all[0]), comments(&web, all[1])), (4, 5), "it was not silent");
    // Bytes that wait to be written are a sign of life as well, once they are.
    web.endpoint.set_outbound(HttpHandle::numbered(all[1]), 100, web.now);
    web.pass(60_000);
    assert_eq!(comments(&web, all[1]), 5);
    web.reply(1, "old");
    web.reply(0, "new");
    assert_eq!(web.answers[&all[0]].messages().len(), 2);
    assert_eq!(web.answers[&all[2]].messages().len(), 1);
}

#[test]
fn a_client_that_reads_slowly_gets_no_more_notices_but_its_answer() {
    let mut web = Web::new(config());
    let n = web.modern(&call(1));
    let open = web.open[0].clone();
    let mut told = 0;
    let full = loop {
        let note = web.endpoint.notify(open.session, open.request, &progress(f64::from(told)), web.now);
        if note.is_err() {
            break note;
        }
        told += 1;
        assert!(told < 100_000, "what is not taken as effects counts as well");
    };
    assert_eq!(full, Err(ApiError::OutboundFull));
    web.drain();
    web.endpoint.set_outbound(HttpHandle::numbered(n), 1 << 20, web.now);
    let again = web.endpoint.notify(open.session, open.request, &progress(1e9), web.now);
    assert_eq!(again, Err(ApiError::OutboundFull));
    web.endpoint.set_outbound(HttpHandle::numbered(n), 1000, web.now);
    web.endpoint.notify(open.session, open.request, &progress(1e9), web.now).unwrap();
    web.endpoint.set_outbound(HttpHandle::numbered(n), 1 << 20, web.now);
    web.reply(0, "x");
    assert!(web.answers[&n].over);
}

#[test]
fn a_stream_of_notices_that_is_read_slowly_is_ended_in_good_order() {
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({}));
    let (slow, fine) = (web.modern(&listen("S")), web.modern(&listen("F")));
    let push = web.get(&id, None);
    for n in [slow, push] {
        web.endpoint.set_outbound(HttpHandle::numbered(n), 1 << 20, web.now);
    }
    web.endpoint.list_changed(ListKind::Tools, web.now);
    web.pass(1000);
    let last = web.answers[&slow].messages().pop().unwrap();
    assert_eq!((&last["id"], web.answers[&slow].over), (&json!("S"), true), "a result is its end");
    assert!(!web.answers[&fine].over && web.answers[&fine].messages().len() == 2);
    assert!(web.answers[&push].over && web.answers[&push].messages().is_empty());
    let seen = web.answers[&push].events()[0].id.clone();
    let again = web.get(&id, seen.as_deref());
    assert_eq!(web.answers[&again].messages().len(), 1, "it comes with the next");
}

#[test]
fn past_the_bound_of_all_that_waits_the_slowest_is_cut_off() {
    let mut all = config();
    all.server.limits.max_message_bytes = 100_000;
    all.max_outbound_bytes = 300_000;
    let mut web = Web::new(all);
    let (one, two, three) = (web.modern(&call(1)), web.modern(&call(2)), web.modern(&listen("L")));
    let big = Reply::text(&"x".repeat(90_000));
    web.respond(0, &big).unwrap();
    web.endpoint.set_outbound(HttpHandle::numbered(one), 90_000, web.now);
    web.endpoint.set_outbound(HttpHandle::numbered(two), 120_000, web.now);
    web.endpoint.set_outbound(HttpHandle::numbered(three), 80_000, web.now);
    web.drain();
    assert!(![one, two, three].iter().any(|n| web.answers[n].cut));
    web.endpoint.set_outbound(HttpHandle::numbered(three), 100_000, web.now);
    web.drain();
    let cut = [one, two, three].map(|n| web.answers[&n].cut);
    assert_eq!((cut, web.cancelled.len()), ([false, true, false], 1));
    // An answer that was given counts until it is written.
    for bytes in [200_001, 0] {
        web.endpoint.set_outbound(HttpHandle::numbered(one), bytes, web.now);
        web.drain();
    }
    assert!(web.answers[&one].cut);
    // No more is taken on than there is room for.
    web.endpoint.set_outbound(HttpHandle::numbered(three), 300_000, web.now);
    let n = web.modern(&call(4));
    assert_eq!(web.answers[&n].status(), 503);
    web.leave(three);
    web.modern(&call(4));
    assert_eq!(web.open.len(), 1);
}

fn few() -> EndpointConfig {
    let mut all = config();
    all.max_exchanges = 4;
    all.max_streams = 2;
    all
}

#[test]
fn exchanges_and_streams_are_counted_and_so_is_who_is_away() {
    let mut web = Web::new(few());
    let id = web.initialize("2025-11-25", &json!({}));
    let old = request(1, "tools/call", json!({"name": "a"}));
    let away = web.post(&id, &old);
    web.leave(away);
    let away = web.post(&id, &old);
    let open = web.open[1].clone();
    web.endpoint.close_stream(open.session, open.request, web.now).unwrap();
    web.drain();
    assert_eq!((web.endpoint.exchanges(), web.answers[&away].over), (0, true));
    let one = web.modern(&call(1));
    web.modern(&call(2));
    let refused = |web: &mut Web| {
        let n = web.modern(&call(9));
        let status = web.answers[&n].status();
        if status == 0 {
            web.leave(n);
        }
        status
    };
    assert_eq!(refused(&mut web), 503, "two are open, two are away");
    web.leave(one);
    assert_eq!(refused(&mut web), 0);
    let seen = web.answers[&away].events()[0].id.clone();
    let again = web.get(&id, seen.as_deref());
    let full = web.modern(&call(3));
    assert_eq!(refused(&mut web), 503, "who comes back is counted once");
    web.leave(again);
    assert_eq!(refused(&mut web), 503, "and so is who leaves again");
    web.leave(full);
    assert_eq!(refused(&mut web), 0);
    web.reply(0, "x");
    assert_eq!(refused(&mut web), 0);
    web.reply(0, "x");
    let n = web.send(head("DELETE", "/mcp", &[PLAIN[0], ("Mcp-Session-Id", &id)]), b"");
    assert_eq!(web.answers[&n].status(), 200);

    let mut web = Web::new(few());
    let id = web.initialize("2025-11-25", &json!({}));
    let streams = [web.get(&id, None), web.modern(&listen("L"))];
    let none = [web.get(&id, None), web.modern(&listen("M"))];
    assert!(none.iter().all(|n| web.answers[n].status() == 503));
    web.leave(streams[0]);
    let n = web.modern(&listen("M"));
    assert_eq!((web.answers[&n].status(), web.endpoint.exchanges()), (200, 2));
}

#[test]
fn sessions_that_end_leave_nobody_away() {
    let mut web = Web::new(few());
    for _ in 0..10 {
        let id = web.initialize("2025-11-25", &json!({}));
        for n in 0..2 {
            let n = web.post(&id, &request(n, "tools/call", json!({"name": "a"})));
            web.leave(n);
        }
        let n = web.send(head("DELETE", "/mcp", &[PLAIN[0], ("Mcp-Session-Id", &id)]), b"");
        assert_eq!(web.answers[&n].status(), 200);
    }
    assert_eq!((web.cancelled.len(), web.open.len()), (20, 0));
}

#[test]
fn when_it_is_shut_down_what_is_open_may_finish_and_nothing_new_begins() {
    // H-191
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({}));
    let idle = web.initialize("2025-11-25", &json!({}));
    let old = request(1, "tools/call", json!({"name": "a"}));
    let (modern, legacy, push, theirs) =
        (web.modern(&call(1)), web.post(&id, &old), web.get(&id, None), web.get(&idle, None));
    let late = web.modern(&call(2));
    let reading = web.head(head("POST", "/mcp", &refs(&modern_fields(&call(3)))), Some(5));
    web.endpoint.shutdown(Duration::from_secs(10), web.now);
    web.drain();
    for n in [push, theirs] {
        assert!(web.answers[&n].over, "streams of notices end");
    }
    assert_eq!((web.answers[&reading].status(), web.endpoint.sessions()), (503, 1));
    for n in [web.modern(&call(4)), web.post(&id, &old), web.get(&id, None)] {
        assert_eq!(web.answers[&n].status(), 503);
    }
    assert!(!web.endpoint.is_over());
    web.reply(1, "old");
    web.reply(0, "new");
    for (n, text) in [(modern, "new"), (legacy, "old")] {
        assert_eq!(web.answers[&n].json()["result"]["content"][0]["text"], text);
    }
    assert!(!web.endpoint.is_over());
    web.pass(10_000);
    assert_eq!((web.answers[&late].status(), web.cancelled.len()), (503, 1), "its time is over");
    assert!(web.endpoint.is_over());
    let closed = web.told.iter().filter(|(_, event)| matches!(event, Event::Closed(CloseReason::Local)));
    assert_eq!(closed.count(), 3, "two sessions, and where requests stand alone");
    assert_eq!(web.endpoint.poll_timeout(), None);
}

#[test]
fn events_that_nobody_takes_hold_bodies_back() {
    let mut all = config();
    all.server.limits.max_queued_events = 3;
    let mut web = Web::new(all);
    let body = call(1).to_string();
    let fields = modern_fields(&call(1));
    for n in 1000..1003 {
        assert!(web.endpoint.wants_input());
        let exchange = HttpHandle::numbered(n);
        web.endpoint.handle_head(exchange, head("POST", "/mcp", &refs(&fields)), None, web.now);
        web.endpoint.handle_body(exchange, body.clone().into(), web.now);
        web.endpoint.handle_body_end(exchange, web.now);
    }
    assert!(!web.endpoint.wants_input());
    assert!(web.endpoint.retained_bytes() > 3 * body.len() / 2);
    assert!(web.endpoint.poll_event().is_some() && web.endpoint.wants_input());
}

#[test]
fn what_waits_for_a_stream_is_bounded() {
    let mut web = Web::new(config());
    web.initialize("2025-11-25", &json!({}));
    let text = raw(&json!("x".repeat(30_000)));
    for _ in 0..1000 {
        web.endpoint.log(LogLevel::Error, None, &text, web.now);
    }
    assert!(web.endpoint.retained_bytes() <= config().max_replay_bytes);
    let little = raw(&json!(1));
    let id = web.initialize("2025-11-25", &json!({}));
    for _ in 0..1000 {
        web.endpoint.log(LogLevel::Error, None, &little, web.now);
    }
    let n = web.get(&id, None);
    assert_eq!(web.answers[&n].messages().len(), 256);
}

/// A batch of calls in a session of the one revision that has them, for a client that takes these kinds of answer.
fn batch(web: &mut Web, id: &str, accept: &str, calls: u64) -> u64 {
    let all: Vec<Value> = (0..calls).map(|n| request(n, "tools/call", json!({"name": "a"}))).collect();
    let fields = [
        ("Host", "localhost"),
        ("Content-Type", "application/json"),
        ("Accept", accept),
        ("Mcp-Session-Id", id),
    ];
    web.post_with(&fields, &json!(all))
}

#[test]
fn a_batch_is_answered_in_one_text_no_longer_than_a_message_and_by_errors_past_that() {
    let mut all = config();
    all.server.limits.max_message_bytes = 64 * 1024;
    let limit = all.server.limits.max_message_bytes;
    for (size, whole) in [(30, 20), (10_000, 6), (40_000, 1), (65_000, 1)] {
        let mut web = Web::new(all.clone());
        let id = web.initialize("2025-03-26", &json!({}));
        let n = batch(&mut web, &id, "application/json", 20);
        while !web.open.is_empty() {
            web.reply(0, &"x".repeat(size));
        }
        let answer = &web.answers[&n];
        let told = answer.json();
        let told = told.as_array().unwrap();
        assert_eq!(told.len(), 20, "each is answered");
        let (fine, long): (Vec<_>, Vec<_>) = told.iter().partition(|answer| answer["result"].is_object());
        assert_eq!(fine.len(), whole, "{size}");
        for (answer, id) in told.iter().zip(0..) {
            assert_eq!(answer["id"], id, "in its place, whatever it is");
        }
        for error in long {
            assert_eq!(error["error"]["code"], -32603);
            assert!(error["error"]["message"].as_str().unwrap().contains("too long together"), "{error}");
        }
        assert!(answer.body.len() <= limit + 20 * 300, "{}", answer.body.len());
        // As a stream each comes by itself, and none is too long.
        let n = batch(&mut web, &id, "application/json, text/event-stream", 20);
        while !web.open.is_empty() {
            web.reply(0, &"x".repeat(size));
        }
        let told = web.answers[&n].messages();
        assert!(told.len() == 20 && told.iter().all(|answer| answer["result"].is_object()), "{size}");
    }
}

#[test]
fn a_batch_gets_no_more_requests_open_than_all_sessions_may_have() {
    let mut all = config();
    all.max_exchanges = 30;
    let mut web = Web::new(all);
    let ids: Vec<String> = (0..3).map(|_| web.initialize("2025-03-26", &json!({}))).collect();
    let batches: Vec<u64> = ids.iter().map(|id| batch(&mut web, id, "application/json", 20)).collect();
    assert_eq!(web.open.len(), 30);
    let refused = web.answers[&batches[2]].json();
    let refused = refused.as_array().unwrap();
    assert!(refused.len() == 20 && refused.iter().all(|answer| answer["error"]["code"] == -32603));
    // Whoever sends one request is not refused for it, and there is room again for what was answered.
    web.post(&ids[2], &request(99, "tools/call", json!({"name": "a"})));
    assert_eq!(web.open.len(), 31);
    while !web.open.is_empty() {
        web.reply(0, "done");
    }
    batch(&mut web, &ids[2], "application/json", 20);
    assert_eq!(web.open.len(), 20);
    let n = web.send(head("DELETE", "/mcp", &[("Host", "localhost"), ("Mcp-Session-Id", &ids[2])]), b"");
    assert_eq!((web.answers[&n].status(), web.open.len()), (200, 0));
    batch(&mut web, &ids[0], "application/json", 30);
    assert_eq!(web.open.len(), 30, "of a session that is over nothing is counted");
}

#[test]
fn all_sessions_watch_as_much_as_some_of_them_alone() {
    let mut all = config();
    all.server.capabilities.resources = true;
    all.server.limits.max_resource_subscriptions = 2;
    let mut web = Web::new(all);
    let ids: Vec<String> = (0..70).map(|_| web.initialize("2025-11-25", &json!({}))).collect();
    let watch = |web: &mut Web, id: &str, uri: &str| {
        let n = web.post(id, &request(1, "resources/subscribe", json!({"uri": uri})));
        if !web.open.is_empty() {
            web.respond(0, &Reply::Complete(raw(&json!({})))).unwrap();
        }
        web.answers[&n].json()["result"].is_object()
    };
    for id in &ids {
        for uri in ["x:1", "x:2", "x:3"] {
            watch(&mut web, id, uri);
        }
    }
    let watched = |web: &mut Web| ids.iter().filter(|id| !watch(web, id, "x:9")).count();
    assert_eq!(watched(&mut web), 70, "64 have two, and the others none");
    // One that goes leaves its part to others.
    web.send(head("DELETE", "/mcp", &[("Host", "localhost"), ("Mcp-Session-Id", &ids[0])]), b"");
    assert!(watch(&mut web, &ids[69], "x:1") && watch(&mut web, &ids[69], "x:2"));
    assert!(!watch(&mut web, &ids[69], "x:3"), "two each");
    assert!(!watch(&mut web, &ids[68], "x:1"), "no more of all");
}

#[test]
fn the_worst_case_is_a_sum_of_what_the_settings_say() {
    let all = config();
    let worst = all.worst_case_bytes();
    let more = |change: &dyn Fn(&mut EndpointConfig)| {
        let mut all = config();
        change(&mut all);
        all.worst_case_bytes() - worst
    };
    assert!(more(&|all| all.max_body_bytes += 1000) >= 1000);
    assert!(more(&|all| all.max_outbound_bytes += 1000) >= 1000);
    assert!(more(&|all| all.max_replay_bytes += 1) >= all.max_sessions);
    assert!(more(&|all| all.max_sessions += 1) >= all.max_replay_bytes);
    let mut stateless = config();
    stateless.server.revisions.retain(|revision| revision.as_str() == "2026-07-28");
    assert!(stateless.worst_case_bytes() < 3 << 29, "{}", stateless.worst_case_bytes());
    let defaults = EndpointConfig::new(sanswire_tests::served::config()).worst_case_bytes();
    assert!(defaults < 4 << 30, "{defaults}");
}
