//! The transport of 2024-11-05: one stream to read, and an address to post to.

use sanswire::client::{Config, Outcome};
use sanswire::error::CloseReason;
use sanswire::exchange::RefusedFor;
use sanswire::http::Url;
use sanswire::http::client::{End, Kind, Target};
use sanswire::mcp::{Method, Revision};
use sanswire_tests::http_rig::{JSON, Rig, SSE, Sent, URL};
use sanswire_tests::peer::initialize_result;
use serde_json::json;

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
    // P-491
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
