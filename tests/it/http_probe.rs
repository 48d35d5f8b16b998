//! How a client over HTTP finds out the era of a server, and what it says where there is none.

use std::time::Duration;

use sanswire::client::Event;
use sanswire::error::CloseReason;
use sanswire::exchange::RefusedFor;
use sanswire::http::client::End;
use sanswire::mcp::{Era, Method};
use sanswire_tests::http_rig::{JSON, Rig};
use serde_json::json;

/// Status, fields and content.
type Answer<'a> = (u16, Vec<(&'a str, &'a str)>, String);

#[test]
fn the_era_is_what_the_answer_to_the_probe_says() {
    // P-064: the table of statuses and contents.
    let error = |code: i64| format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no"}}}}"#);
    let legacy: [Answer<'_>; 9] = [
        (400, vec![], String::new()),
        (400, vec![("Content-Type", "text/html")], "<html>".into()),
        (400, vec![JSON], error(-32000)),
        (404, vec![JSON], error(-32601)),
        (405, vec![], String::new()),
        (422, vec![JSON], r#"{"detail":[]}"#.into()),
        (200, vec![JSON], error(-32602)),
        (202, vec![], String::new()),
        (200, vec![("Content-Type", "text/html")], "<html>".into()),
    ];
    for (status, fields, body) in legacy {
        let mut rig = Rig::unknown();
        let probe = rig.take();
        rig.answer(&probe, status, &fields, body.as_bytes());
        rig.handshake("2025-11-25", None);
        let ready = rig
            .events
            .iter()
            .find_map(|event| if let Event::Ready(peer) = event { Some(peer) } else { None });
        assert_eq!(ready.unwrap().era, Era::Legacy, "{status} {body}");
        let get = rig.take();
        rig.answer(&get, 405, &[], b"");
        rig.request(Method::ToolsList, json!({}));
        let next = rig.take();
        for sent in [get, next] {
            assert_eq!(sent.field("mcp-protocol-version"), Some("2025-11-25"), "{status} {body}");
        }
    }
    let silent: [Answer<'_>; 5] = [
        (406, vec![JSON], error(-32600)),
        (429, vec![], String::new()),
        (500, vec![JSON], error(-32603)),
        (503, vec![], String::new()),
        (301, vec![("Location", "/x")], String::new()),
    ];
    for (status, fields, body) in silent {
        let mut rig = Rig::unknown();
        let probe = rig.take();
        rig.answer(&probe, status, &fields, body.as_bytes());
        let Some(CloseReason::HttpRefused(refusal)) = rig.closed() else {
            panic!("{status}: {:?}", rig.events)
        };
        assert_eq!(refusal.status, status);
        assert!(!rig.events.iter().any(|event| matches!(event, Event::Verdict(_))));
        rig.quiet();
    }
    for status in [200, 400, 500] {
        let mut rig = Rig::unknown();
        let probe = rig.take();
        rig.answer(&probe, status, &[JSON], error(-32021).as_bytes());
        assert!(matches!(rig.closed(), Some(CloseReason::Refused { .. })), "{status}: {:?}", rig.events);
        rig.quiet();
    }
}

#[test]
fn a_probe_is_waited_for_alone_and_within_the_connect_limit() {
    let mut rig = Rig::unknown();
    let probe = rig.take();
    rig.wait(Duration::from_millis(14_999));
    assert_eq!(rig.closed(), None);
    rig.quiet();
    rig.wait(Duration::from_millis(1));
    let waiting_for = Method::ServerDiscover;
    assert_eq!(rig.closed(), Some(&CloseReason::ConnectTimeout { waiting_for, limit_ms: 15_000 }));
    assert_eq!(rig.closed, [probe.exchange]);
}

#[test]
fn a_server_that_cannot_be_reached_is_no_old_one() {
    // P-064
    let mut rig = Rig::unknown();
    let probe = rig.queued().unwrap();
    rig.end(&probe, End::Unreachable);
    assert_eq!(rig.closed(), Some(&CloseReason::Unreachable));
    rig.quiet();
    // One that breaks off may be: it is asked to shake hands once.
    let mut rig = Rig::unknown();
    let probe = rig.take();
    rig.end(&probe, End::Broken);
    rig.handshake("2025-11-25", None);
    assert!(rig.events.iter().any(|event| matches!(event, Event::Ready(_))));
}

#[test]
fn an_answer_that_says_nothing_is_told_if_the_handshake_fails_too() {
    let mut rig = Rig::unknown();
    let probe = rig.take();
    rig.answer(&probe, 200, &[("Content-Type", "text/html")], b"<html>");
    let initialize = rig.take();
    rig.answer(&initialize, 500, &[], b"");
    let Some(CloseReason::HttpRefused(refusal)) = rig.closed() else { panic!("{:?}", rig.events) };
    assert_eq!((refusal.status, &refusal.why), (200, &RefusedFor::ContentType("text/html".into())));
}
