//! How a connection ends, whatever it is in the middle of.

use std::time::Duration;

use sanswire::client::Outcome;
use sanswire::error::{ApiError, CloseReason};
use sanswire::mcp::Method;

use super::{Bench, LONG, call_of, no_options};

/// Idle, with a call under way, with a full pipe; while it connects is a scenario of its own.
pub(super) fn shuts_down(bench: &Bench) {
    idle(bench);
    in_a_call(bench);
    with_a_full_pipe(bench);
}

fn idle(bench: &Bench) {
    let mut session = bench.open(&[]);
    session.goes_on();
    session.client.close();
    assert_eq!(session.client.closed(), Some(CloseReason::Local));
    let refused = session.client.start(Method::ToolsCall, call_of("echo", "{}"), &no_options());
    assert_eq!(refused, Err(ApiError::Closed));
    if !bench.cell.is_http() {
        session.until("end", 1);
    } else if !bench.cell.is_modern() {
        // A session that the server keeps is ended.
        session.until("DELETE", 1);
    }
    assert_eq!(session.count("call"), 1);
}

pub(super) fn in_a_call(bench: &Bench) {
    let mut session = bench.open(&[]);
    let request = session.start("hold", "{}");
    session.until("call hold", 1);
    session.client.close();
    assert_eq!(session.client.wait(request), Outcome::Cancelled);
    assert_eq!(session.client.closed(), Some(CloseReason::Local));
    assert_eq!(session.count("call"), 1);
    let refused = session.client.start(Method::ToolsCall, call_of("echo", "{}"), &no_options());
    assert_eq!(refused, Err(ApiError::Closed));
    if !bench.cell.is_scripted() {
        // Nobody waits for it any more, which its handler learns.
        session.until("cancelled 0", 1);
    }
}

/// Each of two clients of one server has its own.
pub(super) fn keeps_apart(bench: &Bench) {
    let mut one = bench.open(&[]);
    let mut two = one.beside(&bench.setup());
    let slow = one.start("hold", "{}");
    one.until("call hold", 1);
    assert_eq!(two.tool("echo", r#"{"text":"two"}"#), "two");
    two.client.close();
    one.goes_on();
    one.client.cancel(slow);
    one.until_given_up("hold");
    one.goes_on();
}

/// What is open may finish, and nothing more is begun.
pub(super) fn is_shut_down(bench: &Bench) {
    let mut session = bench.open(&[]);
    let open = session.start("sleep", r#"{"ms":150}"#);
    session.until("call sleep", 1);
    assert_eq!(session.tool("stop", "{}"), "stopped");
    let Outcome::Complete(_) = session.client.wait(open) else { panic!("what is open may finish") };
    if !bench.cell.is_http() {
        let (mut waited, step) = (Duration::ZERO, Duration::from_millis(5));
        while session.client.closed().is_none() {
            assert!(waited < LONG, "it is never over");
            session.client.pass(step);
            waited += step;
        }
        assert_eq!(session.client.closed(), Some(CloseReason::Eof));
        return;
    }
    // Where a connection is an exchange's, it is over when the next one does not get through.
    assert!(!matches!(session.outcome("echo", "{}"), Outcome::Complete(_)));
    assert_eq!(session.count("call echo"), 0);
}

fn with_a_full_pipe(bench: &Bench) {
    let mut setup = bench.setup();
    setup.config.limits.max_queued_out_bytes = 256 * 1024;
    setup.config.limits.close_flush = Duration::from_millis(100);
    let mut session = bench.open_with(&[], setup);
    assert_eq!(session.tool("deaf", "{}"), "deaf");
    let much = format!(r#"{{"text":"{}"}}"#, "x".repeat(100_000));
    let mut open = Vec::new();
    let full = loop {
        match session.client.start(Method::ToolsCall, call_of("echo", &much), &no_options()) {
            Ok(request) => open.push(request),
            Err(error) => break error,
        }
        assert!(open.len() < 1000, "it is never full");
    };
    assert_eq!(full, ApiError::OutboundFull);
    session.client.close();
    for request in open {
        assert_eq!(session.client.wait(request), Outcome::Cancelled);
    }
    assert_eq!(session.client.closed(), Some(CloseReason::Local));
}

/// Whether a process runs: a zombie does not.
fn runs(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

fn until_gone(pid: &str) {
    let end = std::time::Instant::now() + LONG;
    while runs(pid) {
        assert!(std::time::Instant::now() < end, "{pid} goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(super) fn leaves_nothing_behind(bench: &Bench) {
    // H-223 H-224
    let mut session = bench.open(&[]);
    let grandchild = session.tool("grandchild", "{}");
    assert!(runs(&grandchild));
    session.client.close();
    until_gone(&grandchild);
    let started = session.recorded("start");
    until_gone(started[0].strip_prefix("start ").unwrap());
}

pub(super) fn stops_the_stubborn(bench: &Bench) {
    // H-224
    let mut session = bench.open(&["ignore-end"]);
    session.goes_on();
    let started = session.recorded("start");
    let pid = started[0].strip_prefix("start ").unwrap();
    assert!(runs(pid));
    session.client.close();
    assert!(!runs(pid), "it is waited for");
    session.until("end", 1);
}
