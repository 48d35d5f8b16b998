//! Streams of a session: a disconnect is no cancel, and a client gets what it missed, of that stream alone.

use sanswire::error::ApiError;
use sanswire::http::endpoint::{EndpointConfig, ReplyShape};
use sanswire::mcp::types::input::{InputKind, InputRequest};
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::{Notice, Reply};
use sanswire_tests::served::{modern, raw, request};
use sanswire_tests::web::{PLAIN, Web, config};
use serde_json::{Value, json};

fn call(id: u64) -> Value {
    request(id, "tools/call", json!({"name": "a", "_meta": {"progressToken": id}}))
}

/// Progress of the request that was reported at this place.
fn progress(web: &mut Web, place: usize, progress: f64) {
    let open = web.open[place].clone();
    let notice = Notice::Progress { progress, total: None, message: None };
    web.endpoint.notify(open.session, open.request, &notice, web.now).unwrap();
    web.drain();
}

/// What came on a stream: progress, log data, and the answer's text.
fn said(web: &Web, n: u64) -> Vec<String> {
    let messages = web.answers[&n].messages();
    let said = messages.iter().map(|message| {
        let params = &message["params"];
        if let Some(text) = message["result"]["content"][0]["text"].as_str() {
            return text.to_owned();
        }
        params["data"].as_str().map_or_else(|| params["progress"].to_string(), Into::into)
    });
    said.collect()
}

fn last_id(web: &Web, n: u64) -> String {
    web.answers[&n].events().into_iter().filter_map(|event| event.id).next_back().unwrap()
}

#[test]
fn a_stream_begins_with_an_event_without_data_where_clients_know_that() {
    // P-191
    for (revision, primed) in
        [("2024-11-05", None), ("2025-03-26", None), ("2025-06-18", None), ("2025-11-25", Some(""))]
    {
        let mut web = Web::new(config());
        let id = web.initialize(revision, &json!({}));
        let n = web.post(&id, &call(1));
        progress(&mut web, 0, 1.0);
        let events = web.answers[&n].events();
        assert_eq!(events[0].data.is_empty().then_some(""), primed, "{revision}");
        assert_eq!(events[0].id.is_some(), revision != "2024-11-05", "{revision}");
        let push = web.get(&id, None);
        assert_eq!(web.answers[&push].events().len(), usize::from(primed.is_some()));
    }
}

#[test]
fn a_disconnect_is_no_cancel_and_what_was_missed_comes_on_the_next_stream() {
    // P-196 P-198 P-199 P-202 P-207
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({}));
    let n = web.post(&id, &call(1));
    progress(&mut web, 0, 1.0);
    let seen = last_id(&web, n);
    web.leave(n);
    assert!(web.cancelled.is_empty());
    progress(&mut web, 0, 2.0);
    let again = web.get(&id, Some(&seen));
    assert_eq!((said(&web, again), web.answers[&again].over), (vec!["2".into()], false));
    progress(&mut web, 0, 3.0);
    web.leave(again);
    web.reply(0, "answer");
    let last = web.get(&id, Some(&seen));
    assert_eq!(said(&web, last), ["2", "3", "answer"]);
    assert!(web.answers[&last].over, "the answer is the end");
    let all: Vec<_> = web.answers[&last].events().into_iter().map(|event| event.id.unwrap()).collect();
    let end = web.get(&id, all.last().map(String::as_str));
    assert_eq!((said(&web, end).len(), web.answers[&end].over), (0, true));
    web.pass(61_000);
    let late = web.get(&id, Some(&seen));
    assert_eq!(web.answers[&late].status(), 400, "it was kept for a while");
    assert_eq!(web.endpoint.retained_bytes(), 0);
}

#[test]
fn ids_are_of_one_stream_and_one_event() {
    // P-204 P-205 P-207
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({}));
    let streams = [web.post(&id, &call(1)), web.post(&id, &call(2)), web.get(&id, None)];
    for n in 1..4 {
        for place in [0, 1] {
            progress(&mut web, place, f64::from(n));
        }
        web.endpoint.log(LogLevel::Error, None, &raw(&json!(format!("log {n}"))), web.now);
        web.drain();
    }
    let ids = |web: &Web, n: u64| -> Vec<String> {
        web.answers[&n].events().into_iter().map(|event| event.id.unwrap()).collect()
    };
    let mut all: Vec<_> = streams.iter().flat_map(|n| ids(&web, *n)).collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!((count, all.len()), (12, 12));
    for (n, expected) in streams.into_iter().zip([["2", "3"], ["2", "3"], ["log 2", "log 3"]]) {
        let ids = ids(&web, n);
        let stream = |id: &str| id.split('-').next().unwrap().to_owned();
        assert!(ids.iter().all(|id| stream(id) == stream(&ids[0])), "{ids:?}");
        let again = web.get(&id, Some(&ids[1]));
        assert_eq!(said(&web, again), expected);
        assert!(web.answers[&n].over, "it is carried by the new one");
    }
    for unknown in ["7777-1", "x", "1", "-", "1-x", "1-+1", "99999999999999999999-1"] {
        let n = web.get(&id, Some(unknown));
        assert_eq!(web.answers[&n].status(), 400, "{unknown}");
    }
    // Another session's ids mean nothing.
    let other = web.initialize("2025-11-25", &json!({}));
    let n = web.get(&other, Some(&all[0]));
    assert_eq!(web.answers[&n].status(), 400);
}

#[test]
fn a_client_that_left_before_anything_was_sent_gets_nothing_but_is_not_cancelled() {
    // P-199
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({"roots": {}}));
    let n = web.post(&id, &call(1));
    web.leave(n);
    assert!(web.cancelled.is_empty());
    progress(&mut web, 0, 1.0);
    let roots = InputRequest { kind: InputKind::ListRoots, params: None };
    let open = web.open[0].clone();
    let asked = web.endpoint.request_input(open.session, open.request, &roots, web.now);
    assert_eq!(asked, Err(ApiError::Closed), "nobody would hear it");
    web.reply(0, "x");
    assert_eq!(web.endpoint.exchanges(), 0);
    let n = web.post(
        &id,
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    assert_eq!(web.answers[&n].status(), 202);
}

#[test]
fn a_cancel_ends_the_stream_of_what_it_cancels() {
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({}));
    let (silent, talking) = (web.post(&id, &call(1)), web.post(&id, &call(2)));
    progress(&mut web, 1, 1.0);
    for request in [1, 2] {
        let params = json!({"requestId": request});
        web.post(&id, &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }
    assert_eq!((web.cancelled.len(), web.endpoint.exchanges()), (2, 0));
    assert_eq!((said(&web, silent).len(), said(&web, talking).len()), (0, 1), "no answers");
}

#[test]
fn a_stream_is_closed_before_its_answer_and_the_client_told_when_to_come_back() {
    // P-193
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({}));
    let n = web.post(&id, &call(1));
    let open = web.open[0].clone();
    web.endpoint.close_stream(open.session, open.request, web.now).unwrap();
    web.drain();
    let events = web.answers[&n].events();
    assert!(web.answers[&n].over);
    let told: Vec<_> = events.iter().map(|event| (event.id.is_some(), event.retry)).collect();
    assert_eq!(told, [(true, None), (false, Some(1000))]);
    web.endpoint.close_stream(open.session, open.request, web.now).unwrap();
    progress(&mut web, 0, 1.0);
    let again = web.get(&id, events[0].id.as_deref());
    assert_eq!(said(&web, again), ["1"]);
    web.endpoint.close_stream(open.session, open.request, web.now).unwrap();
    web.drain();
    assert!(web.answers[&again].over);
    web.reply(0, "x");
    let last = web.get(&id, Some(&last_id(&web, again)));
    assert_eq!((said(&web, last), web.answers[&last].over), (vec!["x".into()], true));
    assert_eq!(web.endpoint.close_stream(open.session, open.request, web.now), Err(ApiError::UnknownRequest));
}

#[test]
fn a_stream_that_cannot_be_resumed_is_not_closed_before_its_answer() {
    // P-195
    let mut all = config();
    all.max_replay_bytes = 0;
    for (revision, config) in [("2025-06-18", config()), ("2025-03-26", config()), ("2025-11-25", all)] {
        let mut web = Web::new(config);
        let id = web.initialize(revision, &json!({}));
        let n = web.post(&id, &call(1));
        let open = web.open[0].clone();
        let closed = web.endpoint.close_stream(open.session, open.request, web.now);
        assert!(matches!(closed, Err(ApiError::BadParams(_))), "{revision}");
        web.reply(0, "x");
        assert_eq!(web.answers[&n].status(), 200);
    }
    let mut web = Web::new(config());
    web.modern(&modern(1, "tools/call", json!({"name": "a"})));
    let open = web.open[0].clone();
    assert!(web.endpoint.close_stream(open.session, open.request, web.now).is_err());
    let id = web.initialize("2025-11-25", &json!({}));
    web.post_with(&[PLAIN[0], PLAIN[1], ("Accept", "application/json"), ("Mcp-Session-Id", &id)], &call(1));
    let open = web.open[1].clone();
    assert!(web.endpoint.close_stream(open.session, open.request, web.now).is_err());
}

#[test]
fn without_ids_a_stream_that_broke_off_is_lost() {
    let mut all = config();
    all.max_replay_bytes = 0;
    let mut web = Web::new(all);
    let id = web.initialize("2025-11-25", &json!({}));
    let n = web.post(&id, &call(1));
    progress(&mut web, 0, 1.0);
    assert!(web.answers[&n].events().iter().all(|event| event.id.is_none()));
    web.leave(n);
    progress(&mut web, 0, 2.0);
    web.reply(0, "x");
    let push = web.get(&id, None);
    web.leave(push);
    let n = web.get(&id, Some("1-1"));
    assert_eq!((web.answers[&n].status(), web.endpoint.retained_bytes()), (400, 0));
}

#[test]
fn a_request_of_the_servers_that_was_missed_comes_again_and_is_answered() {
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({"roots": {}}));
    let n = web.post(&id, &call(1));
    progress(&mut web, 0, 1.0);
    let seen = last_id(&web, n);
    web.leave(n);
    let roots = InputRequest { kind: InputKind::ListRoots, params: None };
    let open = web.open[0].clone();
    web.endpoint.request_input(open.session, open.request, &roots, web.now).unwrap();
    web.drain();
    let again = web.get(&id, Some(&seen));
    let asked = web.answers[&again].messages().pop().unwrap();
    assert_eq!(asked["method"], "roots/list");
    let n = web.post(&id, &json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}}));
    assert_eq!(web.answers[&n].status(), 202);
}

fn replay(bytes: usize) -> EndpointConfig {
    let mut all = config();
    all.max_replay_bytes = bytes;
    all.replies = ReplyShape::Stream;
    all
}

#[test]
fn what_is_kept_is_bounded_and_the_oldest_goes_first() {
    let mut web = Web::new(replay(10_000));
    let id = web.initialize("2025-11-25", &json!({}));
    let mut first = Vec::new();
    for n in 0..50 {
        let exchange = web.post(&id, &call(n));
        web.reply(0, &"x".repeat(500));
        assert!(web.endpoint.retained_bytes() <= 10_000);
        first.push(web.answers[&exchange].events()[0].id.clone());
    }
    let get = |web: &mut Web, id: &str, n: usize| {
        let last = first[n].clone();
        let n = web.get(id, last.as_deref());
        web.answers[&n].clone()
    };
    assert_eq!(get(&mut web, &id, 0).status(), 400, "forgotten");
    assert_eq!(get(&mut web, &id, 49).messages().len(), 1, "kept");
    // One that is longer than all that may be kept is sent, and not kept.
    let exchange = web.post(&id, &call(100));
    web.reply(0, &"x".repeat(20_000));
    assert_eq!(said(&web, exchange)[0].len(), 20_000);
    assert_eq!(web.endpoint.retained_bytes(), 0);
}

#[test]
fn an_answer_that_is_long_is_the_same_event_in_pieces() {
    let mut web = Web::new(replay(1 << 20));
    let id = web.initialize("2025-11-25", &json!({}));
    let long = "line\n\"quoted\"".repeat(5000);
    let n = web.post(&id, &call(1));
    web.reply(0, &long);
    assert_eq!(said(&web, n), [long.as_str()]);
    let primed = web.answers[&n].events()[0].id.clone();
    let again = web.get(&id, primed.as_deref());
    let data = |n: u64| web.answers[&n].events().pop().map(|event| (event.id, event.data));
    assert_eq!(data(again), data(n));
    let plain = web.modern(&modern(1, "tools/call", json!({"name": "a"})));
    web.respond(0, &Reply::text(&long)).unwrap();
    assert_eq!(said(&web, plain), [long.as_str()]);
}
