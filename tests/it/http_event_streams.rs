//! Answers over HTTP that are event streams, however they are cut.

use std::time::Duration;

use sanswire::client::{Event, Outcome};
use sanswire::error::Violation;
use sanswire::http::client::End;
use sanswire::mcp::Method;
use sanswire_tests::http_rig::{JSON, Rig, SSE};
use serde_json::{Value, json};

/// Runs `check` with the text whole, byte by byte, and cut in two at every place.
pub(crate) fn every_split(text: &[u8], mut check: impl FnMut(&[&[u8]])) {
    check(&[text]);
    check(&text.chunks(1).collect::<Vec<_>>());
    for at in 1..text.len() {
        let (one, two) = text.split_at(at);
        check(&[one, two]);
    }
}

/// An event stream, with the id of the open request in place of `$`.
fn streamed(mut rig: Rig, list: Method, stream: &str, check: impl Fn(&Rig, Value)) {
    let request = rig.request(list.clone(), json!({}));
    let sent = rig.take();
    let text = stream.replace('$', &sent.message()["id"].to_string());
    let mut first = Some((rig, request, sent));
    every_split(text.as_bytes(), |pieces| {
        let (mut rig, request, sent) = first.take().unwrap_or_else(|| {
            let mut rig = Rig::legacy("2025-11-25", None);
            let request = rig.request(list.clone(), json!({}));
            let sent = rig.take();
            (rig, request, sent)
        });
        rig.answer_in(&sent, 200, &[("Content-Type", "Text/Event-Stream; charset=utf-8")], pieces);
        check(&rig, rig.result(request));
    });
}

#[test]
fn b_67_sse_crlf() {
    // P-142 P-147
    let stream = concat!(
        ": ping\r\nevent: message\r\nid: 1\r\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":$,\"result\":{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}]}}\r\n\r\n"
    );
    for rig in [Rig::legacy("2025-11-25", None), Rig::legacy("2025-11-25", Some("s"))] {
        streamed(rig, Method::ToolsList, stream, |rig, result| {
            assert_eq!(result["tools"][0]["name"], "echo");
            assert!(rig.violations().is_empty());
        });
    }
}

#[test]
fn b_69_sse_multi_line_data() {
    let stream = concat!(
        "event: message\ndata: {\ndata:  \"jsonrpc\": \"2.0\",\ndata:\"id\": $,\nx-note: ignore me\ndata:\n",
        "data:  \"result\": {\"content\": [{\"type\": \"text\", \"text\": \"ok\"}]}\ndata: }\n\n"
    );
    streamed(Rig::legacy("2025-11-25", None), Method::ToolsList, stream, |_, result| {
        assert_eq!(result["content"][0]["text"], "ok");
    });
    // What cannot be read is an error for the open request.
    let mut rig = Rig::modern();
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.answer(&sent, 200, &[SSE], b"data: {\ndata: nonsense\n\n");
    assert_eq!(rig.outcome(call), Some(Outcome::Lost { maybe_ran: true }));
    assert!(matches!(rig.violations()[..], [Violation::Malformed(_), Violation::Unanswered { .. }]));
}

#[test]
fn b_71_sse_empty_priming_event() {
    // P-147
    let stream = concat!(
        "id: 0\nretry: 3000\ndata: \n\n: keep-alive\n\nevent: ping\ndata: {}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":$,\"result\":{\"tools\":[]}}\n\n"
    );
    streamed(Rig::legacy("2025-11-25", None), Method::ToolsList, stream, |rig, result| {
        assert_eq!(result["tools"], json!([]));
        assert!(rig.violations().is_empty(), "nothing is parsed that is no message");
    });
}

#[test]
fn b_73_sse_closed_without_reply() {
    // P-150
    let streams: [(&str, End, bool); 5] = [
        (": hello\n", End::Whole, true),
        (
            "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$,\"progress\":1}}\n\n",
            End::Whole,
            true,
        ),
        ("data: {\"json", End::Broken, false),
        (": hello\n", End::Broken, false),
        ("", End::Broken, false),
    ];
    for (stream, end, clean) in streams {
        for mut rig in [Rig::modern(), Rig::legacy("2025-11-25", Some("s"))] {
            let call = rig.call("x", json!({}));
            let sent = rig.take();
            rig.head(&sent, 200, &[SSE]);
            rig.body(&sent, stream.replace('$', &sent.message()["id"].to_string()).as_bytes());
            rig.end(&sent, end.clone());
            assert_eq!(rig.outcome(call), Some(Outcome::Lost { maybe_ran: true }), "{stream}");
            assert_eq!(!rig.violations().is_empty(), clean, "{stream}: how it ended is told");
            rig.wait(Duration::from_secs(30));
            rig.quiet();
        }
    }
    let mut rig = Rig::modern();
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.answer(&sent, 200, &[JSON], b"");
    assert_eq!(rig.outcome(call), Some(Outcome::Lost { maybe_ran: true }));
    assert_eq!(rig.violations(), [&Violation::Unanswered { method: Method::ToolsCall }]);
}

#[test]
fn b_85_first_event_is_not_the_reply() {
    let stream = concat!(
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$,\"progress\":1}}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"working\"}}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":$,\"method\":\"ping\"}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":$,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"the result\"}]}}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"bye\"}}\n\n",
    );
    // The id is one digit: a place for it is a place for the cut.
    every_split(stream.replace('$', "2").as_bytes(), |pieces| {
        let mut rig = Rig::legacy("2025-11-25", Some("s"));
        let call = rig.call("x", json!({}));
        let sent = rig.take();
        assert_eq!(sent.message()["id"], 2);
        rig.answer_in(&sent, 200, &[SSE], pieces);
        assert_eq!(rig.result(call)["content"][0]["text"], "the result");
        let pong = rig.take();
        assert_eq!(pong.message(), json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
        assert_eq!(pong.field("mcp-session-id"), Some("s"));
        assert!(matches!(rig.violations()[..], [Violation::UnknownResponseId { .. }]));
        let progress = rig.events.iter().filter(|event| matches!(event, Event::Progress { .. })).count();
        let logs = rig.events.iter().filter(|event| matches!(event, Event::Notification { .. })).count();
        assert_eq!((progress, logs), (1, 1));
    });
}
