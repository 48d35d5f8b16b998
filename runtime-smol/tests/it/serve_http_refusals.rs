//! Serving over HTTP: what is refused, and for whom there is no room.

use std::sync::atomic::Ordering;
use std::time::Duration;

use async_io::Timer;
use sanswire_smol::Refusals;

use crate::common::{Env, eventually, trials};
use crate::http_peer::{Wire, call, modern_with, post, with};
use crate::serve_http::{options, server};

trials! {
    each: a_connection_that_rests_makes_room;
    once: what_is_no_request_is_refused_by_its_status, who_has_no_token_is_sent_away_before_the_body,
        what_a_setting_refuses_is_told, who_comes_when_there_are_enough_is_told_so,
        as_many_handlers_run_as_may, junk_is_answered_and_ends_the_connection
}

async fn a_connection_that_rests_makes_room(_: Env) {
    let (server, seen) = server();
    server.set_max_connections(3);
    let mut all = options();
    all.yields_after = Duration::from_millis(50);
    with(&server, all, async |address| {
        let mut works = Wire::connect(address).await;
        works.send(&call(1, "nap", r#"{"ms":500}"#)).await;
        eventually("it runs", || seen.running.load(Ordering::SeqCst) == 1).await;
        let mut first = Wire::connect(address).await;
        first.echoes(2).await;
        let mut second = Wire::connect(address).await;
        second.echoes(3).await;
        Timer::after(Duration::from_millis(100)).await;
        second.echoes(4).await;
        // The one that has rested for the longest goes, and it alone.
        let mut third = Wire::connect(address).await;
        third.echoes(5).await;
        assert!(first.ended().await);
        second.echoes(6).await;
        assert_eq!(works.answer().await.said(), (1, "awake".into()));
    })
    .await;
}

async fn what_is_no_request_is_refused_by_its_status() {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let cases = [
            (
                "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n".to_owned(),
                [400, 405],
            ),
            ("POST /else HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n".into(), [404, 404]),
            (post(&[], "{"), [400, 400]),
            (post(&[("Mcp-Session-Id", "none")], r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), [404, 404]),
            (post(&[("Origin", "https://evil.example")], "{}"), [403, 403]),
            (post(&[], "{}").replace("localhost", "evil.example"), [403, 403]),
        ];
        for (request, statuses) in cases {
            let mut wire = Wire::connect(address).await;
            wire.send(&request).await;
            let answer = wire.answer().await;
            assert!(statuses.contains(&answer.status), "{request}: {answer:?}");
        }
    })
    .await;
}

async fn who_has_no_token_is_sent_away_before_the_body() {
    let (server, _) = server();
    let all = options().token("alice", "s3cret").token("bob", "other");
    with(&server, all, async |address| {
        let echo = r#""name":"echo","arguments":{"text":"in"}"#;
        for (token, status) in [(None, 401), (Some("Bearer wrong"), 401), (Some("Bearer s3cret"), 200)] {
            let mut wire = Wire::connect(address).await;
            let fields: Vec<_> = token.map(|token| ("Authorization", token)).into_iter().collect();
            let request = modern_with(&fields, 1, "tools/call", Some("echo"), echo);
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            wire.send(head).await;
            wire.send("\r\n\r\n").await;
            if status == 200 {
                wire.send(body).await;
            }
            assert_eq!(wire.answer().await.status, status, "{token:?}");
        }
    })
    .await;
}

async fn what_a_setting_refuses_is_told() {
    let (server, _) = server();
    let refusals = Refusals::new();
    let mut all = options();
    all.refusals = Some(refusals.clone());
    with(&server, all, async |address| {
        for _ in 0..2 {
            let mut wire = Wire::connect(address).await;
            wire.send(&post(&[("Origin", "https://evil.example")], "{}")).await;
            assert_eq!(wire.answer().await.status, 403);
        }
        let mut told = 0;
        while told < 2 {
            let refusal = refusals.recv().await;
            assert_eq!((refusal.setting, &*refusal.value), ("origins", "https://evil.example"));
            told += refusal.count;
        }
        assert_eq!(refusals.total(), 2);
    })
    .await;
}

async fn who_comes_when_there_are_enough_is_told_so() {
    let (server, seen) = server();
    server.set_max_connections(1);
    with(&server, options(), async |address| {
        let mut works = Wire::connect(address).await;
        works.send(&call(1, "nap", r#"{"ms":300}"#)).await;
        eventually("it runs", || seen.running.load(Ordering::SeqCst) == 1).await;
        for _ in 0..20 {
            let mut late = Wire::connect(address).await;
            let answer = late.answer().await;
            assert_eq!((answer.status, answer.field("retry-after")), (503, Some("1")));
            assert!(late.ended().await);
        }
        assert_eq!(works.answer().await.said(), (1, "awake".into()));
    })
    .await;
}

async fn as_many_handlers_run_as_may() {
    let (server, seen) = server();
    server.set_max_handlers(3);
    with(&server, options(), async |address| {
        let mut wires = Vec::new();
        for n in 0..10 {
            let mut wire = Wire::connect(address).await;
            wire.send(&call(n, "nap", r#"{"ms":10}"#)).await;
            wires.push(wire);
        }
        for (n, wire) in (0..).zip(&mut wires) {
            assert_eq!(wire.answer().await.said(), (n, "awake".into()));
        }
        assert_eq!(seen.most.load(Ordering::SeqCst), 3);
    })
    .await;
}

async fn junk_is_answered_and_ends_the_connection() {
    let (server, _) = server();
    with(&server, options(), async |address| {
        for junk in ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "POST /mcp HTTP/3.0\r\n\r\n"] {
            let mut wire = Wire::connect(address).await;
            wire.send(junk).await;
            let answer = wire.answer().await;
            assert!((400..600).contains(&answer.status), "{answer:?}");
            assert!(wire.ended().await);
        }
        Wire::connect(address).await.echoes(1).await;
    })
    .await;
}
