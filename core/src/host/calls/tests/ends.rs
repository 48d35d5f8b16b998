//! Ends: each call has one, whatever happens, and a model is told of it.

use super::*;
use crate::client::Progress;
use crate::error::Violation;
use crate::exchange::{Challenge, HttpRefusal};
use crate::http::h1::Fault;
use crate::jsonrpc::ErrorObject;

#[test]
fn every_outcome_of_a_request_is_an_end_of_its_own_kind() {
    // H-242, H-234
    let refused = Challenge::new(401, None);
    let said = ErrorObject::new(-32000, "no\u{202e} s3cr3t");
    #[rustfmt::skip]
    let table = [
        (Ok(Outcome::Complete(json(r#"{"content":[{"type":"text","text":"hi"}]}"#))), "completed", "hi"),
        (Ok(Outcome::Complete(json("{}"))), "completed", "(no content)"),
        (Ok(Outcome::Complete(json(r#"{"isError":true,"content":[{"type":"text","text":"s3cr3t"}]}"#))),
            "tool_error", "***"),
        (Ok(Outcome::Error(said)), "protocol_error",
            "protocol_error: the server answered with error -32000: no\\u{202e} ***"),
        (Ok(Outcome::Invalid(Violation::Batch)), "protocol_error",
            "protocol_error: the server's answer cannot be used: a JSON-RPC batch, which the negotiated revision does not have"),
        (Ok(Outcome::Invalid(Violation::Http(Fault::Version))), "protocol_error",
            "protocol_error: the server's answer cannot be used: the answer is no correct HTTP/1.1: it speaks another version of HTTP; it may or may not have run: verify the state before you call it again"),
        (Ok(Outcome::TooLarge { len: 9, limit: 8 }), "protocol_error",
            "protocol_error: the server's answer has 9 bytes, the limit is 8 (max_message_bytes)"),
        (Ok(Outcome::Refused(HttpRefusal::new(500))), "protocol_error",
            "protocol_error: the server refused the request: HTTP status 500"),
        (Ok(Outcome::Challenged(refused)), "protocol_error",
            "protocol_error: the server wants other credentials; log in to it first"),
        (Err(ApiError::TooManyInFlight { limit: 3 }), "protocol_error",
            "protocol_error: the call was not sent: 3 requests are open already; wait for one to finish"),
        (Ok(Outcome::Cancelled), "disconnected",
            "disconnected: the connection to the server was lost; it may or may not have run: verify the state before you call it again"),
    ];
    for (outcome, kind, told) in table {
        let mut world = World::open(|config| config.mask = Mask::new(["s3cr3t"]));
        let call = world.call("s/t", "{}");
        world.outcome(call, outcome.clone());
        assert_eq!(world.told(call), (kind, told.into()), "{outcome:?}");
        assert_eq!(world.ends[&call].tool, Some(Provenance::new("s", "t")));
        assert_eq!(world.ends[&call].decision.map(|decision| decision.reason), Some(Reason::ServerAllow));
        assert!(world.servers.lost.is_empty(), "only a connection that ended is lost: {outcome:?}");
        // What still comes is of nobody's.
        world.outcome(call, outcome);
        assert!(!world.cancel(call));
        assert_eq!((world.sent.len(), world.calls.retained_bytes()), (0, 0));
    }
}

#[test]
fn a_result_is_told_within_bounds_and_kept_as_it_was_sent() {
    // H-085
    let mut world = World::open(|config| config.results.max_result_bytes = 4);
    let call = world.call("s/t", "{}");
    let raw = r#"{"content":[{"type":"text","text":"abcdefgh"}],"structuredContent":{"n":1.0}}"#;
    world.completes(call, raw);
    let CallOutcome::Completed(result) = world.end(call) else { panic!() };
    assert_eq!(result.raw.as_ref().map(RawJson::as_str), Some(raw));
    assert_eq!(result.presented.text, "abcd\n<truncated output shown=4 total=8>");
    let told = "abcd\n<truncated output shown=4 total=8>\n<rest: mcp_more handle=1 offset=4>";
    assert_eq!(world.told(call).1, told);
    let rest = result.presented.rest.unwrap();
    let page = world.calls.page(&Principal::named("ann"), rest, None, at(0)).unwrap();
    assert_eq!((page.text, page.next), ("efgh", None));
    let other = world.calls.page(&Principal::named("bob"), rest, None, at(0));
    assert_eq!(other, Err(PageFault::Unknown));
    assert!(world.calls.retained_bytes() > 0);
    world.pass(30 * 60 * 1000);
    assert_eq!(world.calls.retained_bytes(), 0);
}

#[test]
fn progress_is_told_as_it_stands_and_never_behind_the_end() {
    let mut world = World::open(|_| {});
    let (call, other) = (world.call("s/t", "{}"), world.call("s/u", "{}"));
    let of = |progress| Progress { progress, total: None, message: None };
    for n in [1.0, 2.0] {
        world.calls.handle_progress(call, of(n), at(0));
        world.calls.handle_progress(other, of(n), at(0));
    }
    world.completes(other, "{}");
    world.calls.handle_progress(other, of(3.0), at(0));
    world.drain();
    let [Event::Progress { call: whose, progress }] = world.events.as_slice() else {
        panic!("{:?}", world.events)
    };
    assert_eq!((*whose, progress.progress), (call, 2.0));
}

#[test]
fn a_call_can_be_given_up_in_every_state() {
    // H-074, H-247
    for state in ["asked", "waiting", "not taken out", "sent", "parked"] {
        let mut world = if state == "asked" { World::new(|_| {}) } else { World::open(|_| {}) };
        if state == "waiting" {
            world.road("s", Road::Pending);
        }
        let call = if state == "not taken out" {
            let request = world.request("s/t", "{}");
            world.calls.begin(request, &mut world.servers, at(0)).unwrap()
        } else {
            world.call("s/t", "{}")
        };
        if state == "parked" {
            let asked = json(r#"{"requestState":"x"}"#);
            let input = crate::client::InputRequired::read(
                &asked,
                Method::ToolsCall,
                json("{}"),
                1,
                crate::exchange::Partition::default(),
            );
            world.outcome(call, Ok(Outcome::InputRequired(Box::new(input.unwrap()))));
        }
        assert!(world.cancel(call) && !world.cancel(call), "{state}");
        assert_eq!(world.told(call).0, "cancelled", "{state}");
        let given_up: &[CallHandle] = if state == "sent" { &[call] } else { &[] };
        assert_eq!((world.cancelled.as_slice(), world.sent.len()), (given_up, 0), "{state}");
        world.road("s", Road::Open);
        world.settled("s");
        if let Some(asked) = world.asked.first() {
            let asked = asked.handle;
            assert!(!world.answer_to(asked, Answer::AllowOnce), "{state}");
        }
        world.completes(call, "{}");
        world.pass(3_600_000);
        assert_eq!((world.sent.len(), world.ends.len(), world.calls.poll_timeout()), (0, 1, None), "{state}");
    }
}

#[test]
fn a_closed_host_ends_every_call_once_and_takes_no_more() {
    let mut world = World::new(|config| config.servers.get_mut("r").unwrap().mode = ServerMode::Allow);
    let calls = [world.call("s/t", "{}"), world.call("s/t", "{}"), world.call("r/t", "{}")];
    world.calls.close(at(0));
    world.drain();
    for call in calls {
        assert_eq!(world.told(call).0, "cancelled");
    }
    assert_eq!((world.cancelled.as_slice(), world.ended.as_slice()), (&[calls[2]][..], &[1][..]));
    let request = world.request("r/t", "{}");
    assert_eq!(world.begin(request), Err(CallRefused::Closed));
    world.calls.close(at(1));
    world.drain();
    assert_eq!(world.ends.len(), 3);
}

#[test]
fn what_is_turned_away_at_once_is_told_why_and_leaves_no_trace() {
    let mut world = World::open(|config| (config.max_calls, config.max_call_bytes) = (2, 20));
    for (tool, arguments, why) in [
        ("s/t", "[1]", CallRefused::BadArguments),
        ("s/t", "null", CallRefused::BadArguments),
        ("s/x", "{}", CallRefused::UnknownTool),
        ("x/t", "{}", CallRefused::UnknownTool),
        ("s/t", r#"{"a":"0123456789ab"}"#, CallRefused::TooLarge(20)),
    ] {
        let request = world.request(tool, arguments);
        assert_eq!(world.begin(request), Err(why.clone()), "{tool} {arguments}");
        assert!(!why.to_string().is_empty());
    }
    assert_eq!(world.calls.retained_bytes(), 0);
    let first = world.call("s/t", r#"{"a":"0123456"}"#);
    let request = world.request("s/u", "{}");
    assert_eq!(world.begin(request), Ok(CallHandle(first.as_u64() + 1)));
    let request = world.request("s/u", "{}");
    assert_eq!(world.begin(request.clone()), Err(CallRefused::TooMany(2)));
    // An end takes a place until it was taken out.
    world.calls.cancel(first, at(0));
    let again = world.calls.begin(request.clone(), &mut world.servers, at(0));
    assert_eq!(again, Err(CallRefused::TooMany(2)));
    world.drain();
    assert!(world.begin(request).is_ok());
    for (max_calls, max_call_bytes, field) in [(0, 1, "max_calls"), (1, 0, "max_call_bytes")] {
        let config = HostConfig { max_calls, max_call_bytes, ..HostConfig::default() };
        assert_eq!(Calls::new(&config).unwrap_err().field, field);
    }
}

#[test]
fn a_frame_around_the_arguments_does_not_stay() {
    let mut world = World::new(|_| {});
    let frame = json(&format!(r#"{{"big":"{}","arguments":{{"a":1}}}}"#, "x".repeat(100_000)));
    let arguments = frame.slice_of(frame.view().get("arguments").unwrap());
    let call = world.begin(CallRequest::new("1", Target::Exposed("mcp__s__t".into()), arguments)).unwrap();
    assert!(world.is_open(call) && world.calls.retained_bytes() < 1000, "{}", world.calls.retained_bytes());
}
