//! What went wrong is told as what it was: HTTP that is none, a session that was forgotten, two transports that both
//! will not do.

use std::time::Duration;

use sanswire::client::era::next_start;
use sanswire::client::{Event, Outcome, Start, Verdict};
use sanswire::error::{CloseReason, Violation};
use sanswire::exchange::HttpRefusal;
use sanswire::http::client::End;
use sanswire::http::h1::Fault;
use sanswire::mcp::Method;
use sanswire_tests::http_rig::{JSON, Rig, SSE, Sent};
use serde_json::json;

/// What came of an answer: fields, and some of the content.
type Begun<'a> = (&'a [(&'a str, &'a str)], &'a [u8]);

const FAULTS: [Fault; 7] = [
    Fault::HeadTooLong,
    Fault::TooManyFields,
    Fault::Head("a field has no name"),
    Fault::Framing("a chunk has no size"),
    Fault::Slow,
    Fault::Unasked,
    Fault::Version,
];

/// How a call ends whose answer came so far, and then was none.
fn ends(mut rig: Rig, begun: &[(&str, &str)], content: &[u8], fault: Fault) -> Option<Outcome> {
    let (call, other) = (rig.call("x", json!({})), rig.call("y", json!({})));
    let (sent, beside) = (rig.take(), rig.take());
    if !begun.is_empty() {
        rig.head(&sent, 200, begun);
        rig.body(&sent, content);
    }
    rig.end(&sent, End::Faulty(fault));
    // It is the end of that call alone.
    rig.reply(&beside, json!({"content": []}));
    rig.result(other);
    assert_eq!(rig.closed(), None);
    rig.outcome(call)
}

#[test]
fn a_fault_of_http_is_told_as_that_fault() {
    let begun: [Begun<'_>; 3] = [(&[], b""), (&[JSON], br#"{"jsonrpc":"#), (&[SSE], b"data: {\"json")];
    for fault in FAULTS {
        for (fields, content) in begun {
            for rig in [Rig::modern(), Rig::legacy("2025-11-25", Some("a"))] {
                let outcome = ends(rig, fields, content, fault);
                assert_eq!(outcome, Some(Outcome::Invalid(Violation::Http(fault))), "{fields:?}");
            }
        }
    }
    // What ends in its middle was cut off: nobody says more of it.
    for (fields, content) in begun {
        let outcome = ends(Rig::modern(), fields, content, Fault::Truncated);
        assert_eq!(outcome, Some(Outcome::Lost { maybe_ran: true }), "{fields:?}");
    }
}

#[test]
fn a_handshake_that_is_answered_by_no_http_says_so() {
    for fault in FAULTS {
        let mut rig = Rig::unknown();
        let probe = rig.take();
        rig.end(&probe, End::Faulty(fault));
        let initialize = rig.take();
        assert_eq!(initialize.method(), "initialize");
        rig.end(&initialize, End::Faulty(fault));
        assert_eq!(rig.closed(), Some(&CloseReason::Protocol(Violation::Http(fault))));
        rig.quiet();
    }
}

#[test]
fn a_refusal_with_a_spoilt_body_is_that_refusal() {
    let mut rig = Rig::modern();
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.head(&sent, 503, &[JSON]);
    rig.end(&sent, End::Faulty(Fault::Framing("a chunk has no size")));
    assert_eq!(rig.outcome(call), Some(Outcome::Refused(HttpRefusal::new(503))));
}

#[test]
fn a_forgotten_session_is_told_to_every_call_in_it() {
    let mut rig = Rig::legacy("2025-11-25", Some("old"));
    let list = rig.request(Method::ToolsList, json!({}));
    let sent = rig.take();
    rig.answer(&sent, 404, &[], b"");
    rig.handshake("2025-11-25", Some("new"));
    let again = rig.take();
    let call = rig.call("x", json!({}));
    let _open = rig.take();
    let late = rig.call("y", json!({}));
    let _unsent = rig.queued().unwrap();
    rig.answer(&again, 404, &[], b"");
    assert_eq!(rig.closed(), Some(&CloseReason::SessionGone));
    let gone = |maybe_ran| Some(Outcome::SessionGone { maybe_ran });
    // What was answered with it did not run.
    assert_eq!([list, call, late].map(|of| rig.outcome(of)), [gone(false), gone(true), gone(false)]);
}

/// A client whose handshake was refused over streamable HTTP with 405, and the GET that looks for the older transport.
fn refused(error: Option<i64>) -> (Rig, Sent, CloseReason) {
    let mut rig = Rig::unknown();
    let probe = rig.take();
    rig.answer(&probe, 404, &[], b"");
    let initialize = rig.take();
    let first = match error {
        None => {
            rig.answer(&initialize, 405, &[], b"");
            CloseReason::HttpRefused(HttpRefusal::new(405).into())
        }
        Some(code) => {
            let id = initialize.message()["id"].clone();
            let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}});
            rig.answer(&initialize, 405, &[JSON], error.to_string().as_bytes());
            let error = sanswire::jsonrpc::ErrorObject::new(code, "no");
            CloseReason::Refused { method: Method::Initialize, error }
        }
    };
    let get = rig.take();
    assert_eq!(get.head.verb.as_str(), "GET");
    (rig, get, first)
}

#[test]
fn what_both_transports_said_is_told() {
    for error in [None, Some(-32000)] {
        let check = |rig: &Rig, first: &CloseReason, second: &dyn Fn(&CloseReason) -> bool| {
            let Some(CloseReason::NoTransport { streamable, sse }) = rig.closed() else {
                panic!("{:?}", rig.events)
            };
            assert_eq!(&**streamable, first);
            assert!(second(sse), "{sse:?}");
            let told = rig.closed().unwrap().to_string();
            assert!(told.contains(&streamable.to_string()) && told.contains(&sse.to_string()), "{told}");
            rig.quiet();
        };
        // Refused as well.
        let (mut rig, get, first) = refused(error);
        rig.answer(&get, 406, &[], b"");
        check(&rig, &first, &|why| *why == CloseReason::HttpRefused(HttpRefusal::new(406).into()));
        // It wants to know who asks.
        let (mut rig, get, first) = refused(error);
        rig.answer(&get, 401, &[], b"");
        check(&rig, &first, &|why| matches!(why, CloseReason::Challenged(_)));
        // A stream that ends, or that names no address until the time is up.
        let (mut rig, get, first) = refused(error);
        rig.answer(&get, 200, &[SSE], b"event: other\ndata: x\n\n");
        check(&rig, &first, &|why| *why == CloseReason::Eof);
        let (mut rig, get, first) = refused(error);
        rig.head(&get, 200, &[SSE]);
        rig.wait(Duration::from_secs(15));
        check(&rig, &first, &|why| matches!(why, CloseReason::ConnectTimeout { .. }));
        // HTTP that is none.
        let (mut rig, get, first) = refused(error);
        rig.end(&get, End::Faulty(Fault::Version));
        check(&rig, &first, &|why| *why == CloseReason::Protocol(Violation::Http(Fault::Version)));
        // It names an address, and the handshake is refused there.
        let (mut rig, get, first) = refused(error);
        rig.head(&get, 200, &[SSE]);
        rig.body(&get, b"event: endpoint\ndata: /messages\n\n");
        let initialize = rig.take();
        rig.answer(&initialize, 500, &[], b"");
        check(&rig, &first, &|why| *why == CloseReason::HttpRefused(HttpRefusal::new(500).into()));
        // It is closed by this side: nothing failed.
        let (mut rig, ..) = refused(error);
        rig.close();
        assert_eq!(rig.closed(), Some(&CloseReason::Local));
    }
}

#[test]
fn what_a_refusal_by_both_means_for_the_next_start_is_what_the_first_means() {
    let refused = |status| CloseReason::HttpRefused(HttpRefusal::new(status).into());
    let both = |streamable: CloseReason, sse: CloseReason| CloseReason::NoTransport {
        streamable: streamable.into(),
        sse: sse.into(),
    };
    let legacy = Start::Remembered(Verdict::Legacy);
    assert_eq!(next_start(&both(refused(405), refused(404)), &legacy, 0), Some(Start::Unknown));
    assert_eq!(next_start(&both(refused(405), refused(404)), &legacy, 1), None);
    assert_eq!(next_start(&both(refused(405), refused(404)), &Start::Unknown, 0), None);
    // One that was taken in the end is no failure.
    let (mut rig, get, _) = self::refused(None);
    rig.head(&get, 200, &[SSE]);
    rig.body(&get, b"event: endpoint\ndata: /messages\n\n");
    let initialize = rig.take();
    rig.answer(&initialize, 202, &[], b"");
    let result = sanswire_tests::peer::initialize_result("2024-11-05");
    let message = json!({"jsonrpc": "2.0", "id": initialize.message()["id"], "result": result});
    rig.body(&get, format!("data: {message}\n\n").as_bytes());
    assert!(rig.events.iter().any(|event| matches!(event, Event::Ready(_))));
    rig.end(&get, End::Broken);
}

#[test]
fn a_request_that_one_of_several_servers_refuses_for_its_version_is_sent_once_more() {
    // P-057
    let refusal = |sent: &Sent, supported: &[&str]| {
        let data = json!({"supported": supported, "requested": "2026-07-28"});
        let error = json!({"code": -32022, "message": "no", "data": data});
        json!({"jsonrpc": "2.0", "id": sent.message()["id"], "error": error}).to_string()
    };
    let both = ["2026-07-28", "2025-11-25"];
    for method in ["tools/call", "tools/list"] {
        let ask = |rig: &mut Rig| rig.request(Method::from_name(method), json!({"name": "x"}));
        // By another one.
        let mut rig = Rig::modern();
        let asked = ask(&mut rig);
        let first = rig.take();
        rig.answer(&first, 400, &[JSON], refusal(&first, &both).as_bytes());
        let second = rig.take();
        assert_eq!((second.method(), rig.outcome(asked)), (method.into(), None));
        assert_ne!(first.message()["id"], second.message()["id"], "a new id");
        assert_eq!(second.field("mcp-protocol-version"), Some("2026-07-28"));
        rig.reply(&second, json!({"resultType": "complete", "content": [], "tools": []}));
        rig.result(asked);
        // Once is enough.
        let asked = ask(&mut rig);
        for _ in 0..2 {
            let sent = rig.take();
            rig.answer(&sent, 400, &[JSON], refusal(&sent, &both).as_bytes());
        }
        assert!(matches!(rig.outcome(asked), Some(Outcome::Error(error)) if error.code == -32022));
        rig.quiet();
        // One that does not know it is not asked again, and neither is one that names none.
        for supported in [&["2025-11-25"][..], &["2027-01-01"], &[]] {
            let asked = ask(&mut rig);
            let sent = rig.take();
            rig.answer(&sent, 400, &[JSON], refusal(&sent, supported).as_bytes());
            assert!(matches!(rig.outcome(asked), Some(Outcome::Error(error)) if error.code == -32022));
            rig.quiet();
        }
        assert_eq!(rig.closed(), None);
    }
    // In a session the version is agreed on.
    let mut rig = Rig::legacy("2025-11-25", Some("a"));
    let asked = rig.call("x", json!({}));
    let sent = rig.take();
    rig.answer(&sent, 400, &[JSON], refusal(&sent, &["2025-11-25"]).as_bytes());
    assert!(matches!(rig.outcome(asked), Some(Outcome::Error(_))));
    rig.quiet();
}
