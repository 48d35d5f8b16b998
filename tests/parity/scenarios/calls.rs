//! What is asked, and what comes of it.

use std::time::Duration;

use sanswire::client::{Deadline, Outcome};
use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::types::tool::tools;
use sanswire::mcp::{Method, codes};

use super::{Bench, call_of, no_options, raw, text_of};
use crate::axes::{Half, Runtime};
use crate::scripted::TOOLS;
use crate::served;

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
    if bench.cell.is_scripted() {
        assert_eq!((names, session.count("tools/list")), (TOOLS.map(str::to_owned).to_vec(), 3));
    } else {
        assert_eq!(names, served::TOOLS);
    }
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
    let calls = (0..100).map(|n| call_of("echo", &format!(r#"{{"text":"{n}"}}"#))).collect();
    let open = session.client.start_together(Method::ToolsCall, calls);
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

pub(super) fn survives_a_panic(bench: &Bench) {
    let mut session = bench.open(&[]);
    let Outcome::Error(error) = session.outcome("panic", "{}") else { panic!("no error") };
    assert_eq!(error.code, codes::INTERNAL_ERROR);
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
    let limit = Duration::from_millis(250);
    options.idle = Some(limit);
    let request = session.start_with("hold", "{}", &options);
    session.until("call hold", 1);
    let outcome = session.client.wait(request);
    let expected = Outcome::TimedOut { which: Deadline::Idle, limit, mistyped_reply: false };
    assert_eq!(outcome, expected);
    session.until_given_up("hold");
    session.goes_on();
    assert_eq!(session.count("call hold"), 1);
}

pub(super) fn takes_too_long(bench: &Bench) {
    let mut session = bench.open(&[]);
    let mut options = no_options();
    (options.idle, options.absolute) = (Some(Duration::from_secs(20)), Some(Duration::from_millis(300)));
    let params = call_of("progress", r#"{"n":1000,"ms":20}"#);
    let (outcome, told) = session.client.complete(Method::ToolsCall, params, &options).unwrap();
    assert!(matches!(outcome, Outcome::TimedOut { which: Deadline::Absolute, .. }), "{outcome:?}");
    assert!(told.len() < 1000);
    session.until_given_up("progress");
    session.goes_on();
}

pub(super) fn brings_much(bench: &Bench) {
    let mut session = bench.open(&[]);
    // More than any pipe holds, and a lot more where that takes no long time.
    let all_threads = (bench.cell.runtime, bench.cell.half) == (Runtime::Std, Half::Std);
    let (bytes, len) = if all_threads { (3_000_000, 1_000_000) } else { (300_000, 150_000) };
    assert_eq!(session.tool("big", &format!(r#"{{"bytes":{bytes}}}"#)).len(), bytes);
    let text = "y".repeat(len);
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

pub(super) fn cannot_be_asked(bench: &Bench) {
    let mut setup = bench.setup();
    setup.config.capabilities.elicitation_form = false;
    let mut session = bench.open_with(&[], setup);
    let Outcome::Complete(result) = session.outcome("ask", "{}") else { panic!("no result") };
    let is_error = result.view().get("isError").map(|flag| flag.as_bytes().to_vec());
    assert_eq!(is_error.as_deref(), Some(&b"true"[..]), "{}", result.as_str());
    session.goes_on();
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
    if !bench.cell.is_scripted() {
        // The stream on which a session is told of changes may be on its way still: the change is made until it is heard of.
        let mut told = None;
        for _ in 0..100 {
            told = session.client.notification(Duration::from_millis(200));
            if told.is_some() {
                break;
            }
            assert_eq!(session.tool("change", "{}"), "changed");
        }
        assert_eq!(told, Some((Method::ToolsListChanged, listens)));
        return;
    }
    let told = session.client.notification(super::LONG).unwrap();
    assert_eq!(told, (Method::ToolsListChanged, listens));
    let more = session.client.notification(Duration::from_millis(50));
    assert_eq!(more, None, "it is told once");
}
