//! What is asked, and what comes of it.

use std::time::Duration;

use sanswire::client::{Deadline, Outcome};
use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::types::tool::tools;
use sanswire::mcp::{Method, codes};

use super::{Bench, call_of, no_options, raw, text_of};
use crate::scripted::TOOLS;

pub(super) fn discovers(bench: &Bench) {
    // H-221
    let mut session = bench.open(&[]);
    let mut names = Vec::new();
    let mut params = raw("{}");
    loop {
        let page = session.client.start(Method::ToolsList, params, &no_options()).unwrap();
        let Outcome::Complete(page) = session.client.wait(page) else { panic!("no page") };
        names.extend(tools(&page).items.into_iter().map(|tool| tool.name().to_string()));
        let Some(cursor) = page.view().get("nextCursor").and_then(JsonRef::str) else { break };
        params = RawJson::object(|w| {
            w.string("cursor", &cursor.decode());
        });
    }
    assert_eq!(names, TOOLS);
    assert_eq!(session.count("tools/list"), 3);
}

pub(super) fn calls(bench: &Bench) {
    // H-221
    let mut session = bench.open(&[]);
    for text in ["", "one", "zwei ✓", "a\nb\r\nc\u{2028}", "=?base64?eA==?="] {
        let arguments = RawJson::object(|w| {
            w.string("text", text);
        });
        assert_eq!(session.tool("echo", arguments.as_str()), text);
    }
    assert_eq!(session.count("call echo"), 5);
}

pub(super) fn calls_at_once(bench: &Bench) {
    let mut session = bench.open(&[]);
    let open: Vec<_> = (0..100).map(|n| session.start("echo", &format!(r#"{{"text":"{n}"}}"#))).collect();
    for (n, request) in open.into_iter().enumerate() {
        assert_eq!(text_of(session.client.wait(request)), n.to_string());
    }
    let mut recorded = session.recorded("call echo");
    assert_eq!(recorded.len(), 100);
    recorded.sort();
    recorded.dedup();
    assert_eq!(recorded.len(), 100, "each has an id of its own");
}

pub(super) fn errors(bench: &Bench) {
    let mut session = bench.open(&[]);
    let code = |outcome| match outcome {
        Outcome::Error(error) => error.code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code(session.outcome("no-such", "{}")), codes::INVALID_PARAMS);
    let unknown = session.client.start(Method::from_name("no/such"), raw("{}"), &no_options()).unwrap();
    assert_eq!(code(session.client.wait(unknown)), codes::METHOD_NOT_FOUND);
    session.goes_on();
}

pub(super) fn fails(bench: &Bench) {
    // H-221
    let mut session = bench.open(&[]);
    let Outcome::Complete(result) = session.outcome("boom", "{}") else { panic!("no result") };
    let is_error = result.view().get("isError").map(|flag| flag.as_bytes().to_vec());
    assert_eq!(is_error.as_deref(), Some(&b"true"[..]), "{}", result.as_str());
    session.goes_on();
}

pub(super) fn progresses(bench: &Bench) {
    let mut session = bench.open(&[]);
    let params = call_of("progress", r#"{"n":3,"ms":5}"#);
    let (outcome, told) = session.client.complete(Method::ToolsCall, params, &no_options()).unwrap();
    assert_eq!(text_of(outcome), "done");
    assert_eq!(told, [1.0, 2.0, 3.0]);
}

pub(super) fn cancels(bench: &Bench) {
    let mut session = bench.open(&[]);
    let request = session.start("hold", "{}");
    assert_eq!(session.tool("echo", r#"{"text":"meanwhile"}"#), "meanwhile");
    session.until("call hold", 1);
    session.client.cancel(request);
    session.until_given_up("hold");
    session.goes_on();
    assert_eq!(session.count("call hold"), 1);
}

pub(super) fn is_let_go_of(bench: &Bench) {
    let mut session = bench.open(&[]);
    let request = session.start("hold", "{}");
    session.until("call hold", 1);
    session.client.give_up(request);
    session.until_given_up("hold");
    // An answer that comes all the same is nobody's.
    let request = session.start("sleep", r#"{"ms":50}"#);
    session.until("call sleep", 1);
    session.client.give_up(request);
    session.client.pass(Duration::from_millis(60));
    session.goes_on();
    assert_eq!(session.client.violations(), 0);
}

pub(super) fn idles(bench: &Bench) {
    let mut session = bench.open(&[]);
    let mut options = no_options();
    options.idle = Some(Duration::from_millis(100));
    let request = session.start_with("hold", "{}", &options);
    let outcome = session.client.wait(request);
    let Outcome::TimedOut { which: Deadline::Idle, limit, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(limit, Duration::from_millis(100));
    session.until_given_up("hold");
    session.goes_on();
    assert_eq!(session.count("call hold"), 1);
}

pub(super) fn takes_too_long(bench: &Bench) {
    let mut session = bench.open(&[]);
    let mut options = no_options();
    (options.idle, options.absolute) = (Some(Duration::from_secs(20)), Some(Duration::from_millis(150)));
    let params = call_of("progress", r#"{"n":1000,"ms":20}"#);
    let (outcome, told) = session.client.complete(Method::ToolsCall, params, &options).unwrap();
    assert!(matches!(outcome, Outcome::TimedOut { which: Deadline::Absolute, .. }), "{outcome:?}");
    assert!(told.len() < 1000);
    session.until_given_up("progress");
    session.goes_on();
}

pub(super) fn brings_much(bench: &Bench) {
    let mut session = bench.open(&[]);
    // More than any pipe holds.
    assert_eq!(session.tool("big", r#"{"bytes":800000}"#).len(), 800_000);
    let text = "y".repeat(250_000);
    assert_eq!(session.tool("echo", &format!(r#"{{"text":"{text}"}}"#)), text);
}

pub(super) fn asks(bench: &Bench) {
    let mut session = bench.open(&[]);
    let params = call_of("ask", "{}");
    let (outcome, _) = session.client.complete(Method::ToolsCall, params, &no_options()).unwrap();
    let text = text_of(outcome);
    assert!(text.contains(r#""said":"yes""#) && text.contains("accept"), "{text}");
    let calls = if bench.cell.is_modern() { 2 } else { 1 };
    assert_eq!((session.count("call ask"), session.count("response")), (calls, 2 - calls));
}

pub(super) fn is_pinged(bench: &Bench) {
    let mut session = bench.open(&[]);
    assert_eq!(session.tool("ping", "{}"), "{}");
    assert_eq!(session.recorded("response"), [r#"response "ping""#]);
}

pub(super) fn is_told_of_a_change(bench: &Bench) {
    let mut session = bench.open(&[]);
    let listens = bench.cell.is_modern().then(|| {
        let params = raw(r#"{"notifications":{"toolsListChanged":true}}"#);
        let request = session.client.start(Method::SubscriptionsListen, params, &no_options()).unwrap();
        let first = session.client.notification(super::LONG).unwrap();
        assert_eq!(first, (Method::SubscriptionsAcknowledged, Some(request)));
        request
    });
    assert_eq!(session.tool("change", "{}"), "changed");
    let told = session.client.notification(super::LONG).unwrap();
    assert_eq!(told, (Method::ToolsListChanged, listens));
    let more = session.client.notification(Duration::from_millis(50));
    assert_eq!(more, None, "it is told once");
}
