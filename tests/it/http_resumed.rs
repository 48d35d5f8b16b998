//! Streams of the older revisions over HTTP: the one that a server pushes on, and those that are resumed.

use std::time::Duration;

use sanswire::client::{Config, Event, Outcome, Start, Verdict};
use sanswire::error::CloseReason;
use sanswire::http::Url;
use sanswire::http::client::{End, Target};
use sanswire::mcp::Method;
use sanswire_tests::http_rig::{Rig, SSE, Sent, URL};
use serde_json::json;

const SECOND: Duration = Duration::from_secs(1);

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
    for get in [get, again] {
        assert_eq!(get.field("accept"), Some("text/event-stream"));
    }
}

#[test]
fn a_server_that_asks_for_no_pause_is_not_asked_without_end() {
    /// When the stream was asked for again, from one end to the next, in so much time.
    fn pauses(rig: &mut Rig, says: impl Fn(usize) -> String, time: Duration) -> Vec<u64> {
        let end = rig.now.saturating_add(time);
        let (mut all, mut since) = (Vec::new(), rig.now);
        while rig.now < end {
            // Whatever is due at an instant is done within it.
            rig.wait(Duration::ZERO);
            if rig.is_quiet() {
                rig.wait(Duration::from_millis(10));
                continue;
            }
            let get = rig.take();
            assert_eq!(get.head.verb.as_str(), "GET");
            all.push((rig.now.as_micros() - since.as_micros()) / 1000);
            rig.answer(&get, 200, &[SSE], says(all.len()).as_bytes());
            since = rig.now;
        }
        all
    }
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let nothing = |_| "retry: 0\n\n".to_owned();
    let places = |n| format!("id: {n}\nretry: 0\ndata:\n\n");
    let news = |n| format!("id: {n}\nretry: 0\ndata: {notice}\n\n");
    let opened = || {
        let mut rig = Rig::remembering(Verdict::Legacy);
        rig.handshake("2025-11-25", Some("s"));
        let get = rig.take();
        rig.answer(&get, 200, &[SSE], b"id: 0\nretry: 0\ndata:\n\n");
        rig
    };
    for says in [&nothing as &dyn Fn(usize) -> String, &places] {
        let asked = pauses(&mut opened(), says, SECOND * 600);
        assert!(asked.len() < 25 && asked.iter().all(|pause| *pause >= 100), "{asked:?}");
        assert!(asked.is_sorted() && asked.last().is_some_and(|last| *last <= 60_010), "{asked:?}");
    }
    // Where each brings a message, it is the shortest pause.
    let asked = pauses(&mut opened(), news, SECOND * 10);
    assert!(
        (90..=110).contains(&asked.len()) && asked[1..].iter().all(|pause| (100..=110).contains(pause)),
        "{asked:?}"
    );
    // The answer to a call, too.
    let mut rig = Rig::legacy("2025-11-25", Some("s"));
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.answer(&sent, 200, &[SSE], places(0).as_bytes());
    let asked = pauses(&mut rig, places, SECOND * 29);
    assert!((5..12).contains(&asked.len()) && asked[0] >= 100 && asked.is_sorted(), "{asked:?}");
    assert_eq!(rig.outcome(call), None);
    // Within bounds of one's own.
    let mut target = Target::new(Url::parse(URL).unwrap());
    (target.min_retry, target.max_retry) = (SECOND * 3, SECOND * 5);
    let mut config = Config::new("rig", "1");
    config.start = Start::Remembered(Verdict::Legacy);
    let mut rig = Rig::new(config, target);
    rig.handshake("2025-11-25", Some("s"));
    let get = rig.take();
    rig.answer(&get, 200, &[SSE], b"retry: 0\n\n");
    let asked = pauses(&mut rig, nothing, SECOND * 30);
    assert!(
        (3000..=3010).contains(&asked[0]) && asked[1..].iter().all(|pause| (5000..=5010).contains(pause)),
        "{asked:?}"
    );
}

#[test]
fn an_answer_whose_stream_breaks_is_fetched_by_get() {
    // P-189 P-192 P-194 P-206
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
    assert_eq!(get.field("accept"), Some("text/event-stream"));
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

/// What was taken may have run, though nobody is there any more who could say so.
#[test]
fn an_answer_that_cannot_be_fetched_was_asked_for() {
    let mut rig = Rig::legacy("2025-11-25", Some("s"));
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.answer(&sent, 200, &[SSE], b"id: 1\ndata:\n\n");
    while rig.outcome(call).is_none() {
        rig.wait(SECOND);
        if let Some(get) = rig.queued() {
            rig.end(&get, End::Unreachable);
        }
    }
    assert_eq!(rig.outcome(call), Some(Outcome::Lost { maybe_ran: true }));
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
