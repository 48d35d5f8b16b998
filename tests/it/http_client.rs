//! The client over HTTP: what its requests say, and what it makes of answers.

use std::time::Duration;

use sanswire::client::{Link as _, Outcome, RequestOptions};
use sanswire::error::{CloseReason, Violation};
use sanswire::exchange::{HttpRefusal, RefusedFor};
use sanswire::http::client::End;
use sanswire::mcp::Method;
use sanswire_tests::http_rig::{JSON, Rig, SSE};
use sanswire_tests::peer::{discover_result, initialize_result};
use serde_json::json;

use crate::http_event_streams::every_split;

/// The field that names what of an answer cannot be used.
fn why(outcome: Option<Outcome>) -> RefusedFor {
    match outcome {
        Some(Outcome::Refused(HttpRefusal { why, .. })) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_modern_request_says_in_its_head_what_its_message_says() {
    // P-135 P-136 P-137 P-138 P-151 P-156 P-157
    let mut rig = Rig::unknown();
    let probe = rig.take();
    assert_eq!(probe.head.verb.as_str(), "POST");
    assert_eq!(&*probe.head.target, "/mcp");
    assert_eq!(probe.to.to_string(), "https://mcp.example:8443");
    assert_eq!(probe.field("host"), Some("mcp.example:8443"));
    assert_eq!(probe.field("accept"), Some("application/json, text/event-stream"));
    assert_eq!(probe.field("content-type"), Some("application/json"));
    assert_eq!(probe.field("accept-encoding"), Some("identity"));
    assert_eq!(probe.field("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(probe.field("mcp-method"), Some("server/discover"));
    assert_eq!(probe.field("mcp-name"), None);
    rig.reply(&probe, discover_result(&["2026-07-28"]));
    let table = [
        (Method::ToolsCall, json!({"name": "echo", "arguments": {}}), Some("echo")),
        (Method::PromptsGet, json!({"name": "Größe"}), Some("=?base64?R3LDtsOfZQ==?=")),
        (Method::ResourcesRead, json!({"uri": "file:///a b"}), Some("file:///a b")),
        (Method::ResourcesList, json!({"name": "x"}), None),
    ];
    for (method, params, name) in table {
        rig.request(method.clone(), params);
        let sent = rig.take();
        assert_eq!(sent.field("mcp-method"), Some(method.as_str()));
        assert_eq!(sent.field("mcp-name"), name, "{method}");
        assert_eq!(sent.field("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(sent.field("mcp-session-id"), None);
        assert!(sent.message()["method"].is_string() && !sent.body.ends_with(b"\n"));
    }
}

#[test]
fn a_page_of_tools_is_asked_for_by_its_cursor() {
    let mut rig = Rig::modern();
    rig.client.list_tools(Some("next"), &RequestOptions::default(), rig.now).unwrap();
    rig.wait(Duration::ZERO);
    let sent = rig.take();
    assert_eq!(sent.field("mcp-method"), Some("tools/list"));
    assert_eq!(sent.message()["params"]["cursor"], "next");
}

#[test]
fn an_older_session_is_named_in_every_request() {
    // P-189 P-211 P-216 P-217 P-215
    let mut rig = Rig::remembering(sanswire::client::Verdict::Legacy);
    rig.handshake("2025-06-18", Some("s-1"));
    let get = rig.take();
    assert_eq!((get.head.verb.as_str(), get.field("accept")), ("GET", Some("text/event-stream")));
    rig.head(&get, 200, &[SSE]);
    rig.request(Method::ToolsList, json!({}));
    let list = rig.take();
    assert_eq!(list.field("mcp-method"), None);
    rig.close();
    let delete = rig.take();
    assert_eq!(delete.head.verb.as_str(), "DELETE");
    for sent in [&get, &list, &delete] {
        assert_eq!(sent.field("mcp-session-id"), Some("s-1"));
        assert_eq!(sent.field("mcp-protocol-version"), Some("2025-06-18"));
    }
    assert_eq!(rig.closed(), None, "the last word is waited for");
    assert!(rig.client.wants_input(), "and the answer to it is read");
    rig.answer(&delete, 405, &[], b"");
    assert_eq!(rig.closed(), Some(&CloseReason::Local));
    assert!(!rig.client.wants_input());
}

#[test]
fn what_is_not_taken_in_time_is_not_waited_for() {
    let mut rig = Rig::legacy("2025-11-25", Some("s"));
    rig.close();
    let delete = rig.take();
    rig.wait(Duration::from_secs(10));
    assert_eq!(rig.closed(), Some(&CloseReason::Local));
    assert!(rig.closed.contains(&delete.exchange));
}

#[test]
fn b_65_notification_answered_200_null() {
    let bodies: [&[u8]; 4] = [b"null", b"", b"{}", br#"{"jsonrpc":"2.0","id":null,"result":{}}"#];
    for body in bodies {
        every_split(if body.is_empty() { b" " } else { body }, |pieces| {
            let mut rig = Rig::remembering(sanswire::client::Verdict::Legacy);
            let initialize = rig.take();
            rig.reply(&initialize, initialize_result("2025-11-25"));
            let initialized = rig.take();
            rig.answer_in(&initialized, 200, &[JSON], pieces);
            let get = rig.take();
            assert_eq!(get.head.verb.as_str(), "GET");
            rig.answer(&get, 405, &[], b"");
            assert_eq!(rig.violations().len(), usize::from(body.len() > 4), "{:?}", rig.violations());
            let list = rig.request(Method::ToolsList, json!({}));
            let sent = rig.take();
            rig.reply(&sent, json!({"tools": []}));
            rig.result(list);
        });
    }
    for status in [400, 404, 500] {
        let mut rig = Rig::remembering(sanswire::client::Verdict::Legacy);
        let initialize = rig.take();
        rig.reply(&initialize, initialize_result("2025-11-25"));
        let initialized = rig.take();
        rig.answer(&initialized, status, &[], b"no");
        let method = Some(Method::Initialized);
        assert_eq!(rig.violations(), [&Violation::NotTaken { method, status }]);
        assert_eq!(rig.closed(), None, "the session goes on");
    }
}

#[test]
fn b_81_redirect_308() {
    // H-155
    let mut rig = Rig::legacy("2025-11-25", Some("s"));
    let call = rig.call("x", json!({"a": 1}));
    let first = rig.take();
    rig.answer(&first, 308, &[("Location", "/mcp/docs/d1")], b"");
    let second = rig.take();
    assert_eq!(&*second.head.target, "/mcp/docs/d1");
    assert_eq!((&second.to, &second.body, &second.head.verb), (&first.to, &first.body, &first.head.verb));
    assert_eq!(second.head.fields, first.head.fields, "all fields go along");
    rig.answer(&second, 307, &[("Location", "/mcp/#frag")], b"");
    let third = rig.take();
    rig.reply(&third, json!({"content": []}));
    rig.result(call);

    let refused = |location: &str| {
        let mut rig = Rig::modern();
        let call = rig.call("x", json!({}));
        let sent = rig.take();
        rig.answer(&sent, 308, &[("Location", location)], b"");
        rig.quiet();
        why(rig.outcome(call))
    };
    assert_eq!(refused("https://other.example/mcp"), RefusedFor::OtherOrigin("https://other.example".into()));
    assert_eq!(
        refused("http://mcp.example:8443/mcp"),
        RefusedFor::OtherOrigin("http://mcp.example:8443".into())
    );
    let mut rig = Rig::modern();
    let call = rig.call("x", json!({}));
    for _ in 0..=5 {
        let sent = rig.take();
        rig.answer(&sent, 307, &[("Location", "/mcp/")], b"");
    }
    assert_eq!(why(rig.outcome(call)), RefusedFor::TooManyRedirects(5));
    rig.quiet();
}

#[test]
fn b_83_compressed_json_body() {
    for coding in ["gzip", "br", "zstd", "Deflate"] {
        for kind in [JSON, SSE] {
            let mut rig = Rig::modern();
            let call = rig.call("x", json!({}));
            let sent = rig.take();
            rig.head(&sent, 200, &[kind, ("Content-Encoding", coding)]);
            assert_eq!(why(rig.outcome(call)), RefusedFor::ContentCoding(coding.into()));
            rig.body(&sent, b"\x1f\x8b\x08\x00");
            rig.end(&sent, End::Whole);
            assert!(rig.violations().is_empty());
        }
    }
    let mut rig = Rig::modern();
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    let text = json!({"jsonrpc": "2.0", "id": sent.message()["id"], "result": {"resultType": "complete", "content": []}});
    rig.answer(&sent, 200, &[JSON, ("Content-Encoding", "identity")], text.to_string().as_bytes());
    rig.result(call);
}

#[test]
fn b_89_unauthorized_without_challenge() {
    // P-064
    let body = br#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Unauthorized: Authentication required"},"id":null}"#;
    every_split(body, |pieces| {
        let mut rig = Rig::unknown();
        let probe = rig.take();
        rig.answer_in(&probe, 401, &[JSON], pieces);
        let Some(CloseReason::Challenged(challenge)) = rig.closed() else { panic!("{:?}", rig.events) };
        assert_eq!((challenge.status, challenge.challenge.as_deref()), (401, None));
        assert_eq!(challenge.message.as_deref(), Some("Unauthorized: Authentication required"));
        rig.quiet();
    });
    let mut rig = Rig::modern();
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    let wanted =
        r#"Bearer error="insufficient_scope", scope="a b", resource_metadata="https://mcp.example/m""#;
    rig.answer(&sent, 403, &[("WWW-Authenticate", wanted), ("Content-Type", "text/plain")], b"more, please");
    let Some(Outcome::Challenged(challenge)) = rig.outcome(call) else { panic!("{:?}", rig.events) };
    assert_eq!(challenge.bearer("scope").as_deref(), Some("a b"));
    assert_eq!(challenge.bearer("resource_metadata").as_deref(), Some("https://mcp.example/m"));
    assert_eq!(challenge.message.as_deref(), Some("more, please"));
}

#[test]
fn a_modern_call_is_given_up_by_closing_its_stream() {
    // P-148 is the server's half.
    let mut rig = Rig::modern();
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.head(&sent, 200, &[SSE]);
    rig.cancel(call);
    assert_eq!(rig.closed, [sent.exchange]);
    rig.quiet();
    assert_eq!(rig.outcome(call), Some(Outcome::Cancelled));
}

#[test]
fn an_older_call_is_given_up_by_a_notice() {
    // P-200
    let mut rig = Rig::legacy("2025-11-25", Some("s"));
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.cancel(call);
    let notice = rig.take();
    assert_eq!(notice.message()["method"], "notifications/cancelled");
    assert_eq!(notice.message()["params"]["requestId"], sent.message()["id"]);
    assert!(rig.closed.is_empty());
    rig.wait(Duration::from_secs(3));
    assert_eq!(rig.closed, [sent.exchange], "its stream is not kept for ever");
}

#[test]
fn an_error_in_the_content_is_the_answer_whatever_the_status_and_the_id() {
    // P-186
    for (status, id) in
        [(200, None), (400, None), (404, Some("\"server-error\"")), (500, Some("null")), (413, None)]
    {
        for kind in [Rig::modern as fn() -> Rig, || Rig::legacy("2025-11-25", None)] {
            let mut rig = kind();
            let call = rig.call("x", json!({}));
            let sent = rig.take();
            let own = sent.message()["id"].to_string();
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32601,"message":"none"}}}}"#,
                id.unwrap_or(&own)
            );
            rig.answer(&sent, status, &[JSON], body.as_bytes());
            let Some(Outcome::Error(error)) = rig.outcome(call) else { panic!("{status}: {:?}", rig.events) };
            assert_eq!(error.code, -32601);
        }
    }
    for (status, fields, body) in [
        (413, vec![], &b""[..]),
        (431, vec![("Content-Type", "text/html")], b"<html>"),
        (500, vec![JSON], br#"{"detail":"x"}"#),
        (503, vec![JSON], b"nonsense"),
        (599, vec![JSON, ("Content-Encoding", "gzip")], b"\x1f\x8b"),
    ] {
        let mut rig = Rig::modern();
        let call = rig.call("x", json!({}));
        let sent = rig.take();
        rig.answer(&sent, status, &fields, body);
        assert_eq!(rig.outcome(call), Some(Outcome::Refused(HttpRefusal::new(status))));
        assert!(rig.violations().is_empty(), "{status}");
    }
}

#[test]
fn a_success_of_another_type_is_refused_by_name() {
    let mut rig = Rig::modern();
    let call = rig.call("x", json!({}));
    let sent = rig.take();
    rig.answer(&sent, 200, &[("Content-Type", "text/html; charset=x")], b"<html>");
    assert_eq!(why(rig.outcome(call)), RefusedFor::ContentType("text/html".into()));
}

#[test]
fn what_never_left_did_not_run() {
    let mut rig = Rig::modern();
    let calls: Vec<_> = (0..4).map(|_| rig.call("x", json!({}))).collect();
    let sent: Vec<_> = (0..4).map(|_| rig.queued().unwrap()).collect();
    rig.end(&sent[0], End::Unreachable);
    rig.end(&sent[1], End::Broken);
    rig.client.handle_sent(sent[2].exchange, rig.now);
    rig.end(&sent[2], End::Broken);
    rig.head(&sent[3], 200, &[JSON]);
    rig.end(&sent[3], End::Broken);
    let ran: Vec<_> = calls.iter().map(|call| rig.outcome(*call)).collect();
    let lost = |maybe_ran| Some(Outcome::Lost { maybe_ran });
    assert_eq!(ran, [lost(false), lost(false), lost(true), lost(true)]);
}

#[test]
fn an_answer_that_is_too_long_fails_its_own_call() {
    for kind in [JSON, SSE] {
        let mut config = sanswire::client::Config::new("rig", "1");
        config.limits.max_message_bytes = 4096;
        let url = sanswire::http::Url::parse(sanswire_tests::http_rig::URL).unwrap();
        let mut rig = Rig::new(config, sanswire::http::client::Target::new(url));
        let probe = rig.take();
        rig.reply(&probe, discover_result(&["2026-07-28"]));
        let call = rig.call("x", json!({}));
        let sent = rig.take();
        let text = json!({"jsonrpc": "2.0", "id": sent.message()["id"], "result": {"x": "y".repeat(5000)}})
            .to_string();
        let body = if kind == SSE { format!("data: {text}\n\n") } else { text.clone() };
        rig.answer_in(&sent, 200, &[kind], &body.as_bytes().chunks(100).collect::<Vec<_>>());
        let len = text.len() as u64;
        assert_eq!(rig.outcome(call), Some(Outcome::TooLarge { len, limit: 4096 }));
        assert!(rig.client.retained_bytes() < 8192);
    }
}

#[test]
fn answers_that_are_read_at_once_share_a_bound() {
    let mut config = sanswire::client::Config::new("rig", "1");
    config.limits.max_message_bytes = 4096;
    config.limits.max_queued_event_bytes = 4096;
    let url = sanswire::http::Url::parse(sanswire_tests::http_rig::URL).unwrap();
    let mut rig = Rig::new(config, sanswire::http::client::Target::new(url));
    let probe = rig.take();
    rig.reply(&probe, discover_result(&["2026-07-28"]));
    let calls: Vec<_> = (0..5).map(|_| rig.call("x", json!({}))).collect();
    let sent: Vec<_> = (0..5).map(|_| rig.take()).collect();
    for (sent, kind) in sent.iter().zip([JSON, SSE, JSON, SSE, JSON]) {
        let text = json!({"jsonrpc": "2.0", "id": sent.message()["id"], "result": {"resultType": "complete", "x": "y".repeat(3900)}});
        rig.head(sent, 200, &[kind]);
        rig.body(sent, if kind == SSE { format!("data: {text}") } else { text.to_string() }.as_bytes());
        assert!(rig.client.retained_bytes() <= 3 * 4096 + 8192, "{}", rig.client.retained_bytes());
    }
    let outcomes: Vec<_> = calls.iter().map(|call| rig.outcome(*call)).collect();
    assert!(outcomes[..2].iter().all(Option::is_none), "{outcomes:?}");
    assert!(matches!(outcomes[4], Some(Outcome::TooLarge { .. })), "{outcomes:?}");
    for (n, sent) in sent.iter().enumerate() {
        rig.body(sent, if n % 2 == 1 { b"\n\n" } else { b"" });
        rig.end(sent, End::Whole);
    }
    rig.result(calls[0]);
    rig.result(calls[1]);
    rig.quiet();
}
