//! What a server does that it should not, and what comes of that.

use std::time::Duration;

use sanswire::client::Outcome;
use sanswire::error::CloseReason;

use super::{Bench, text_of};

pub(super) fn brings_too_much(bench: &Bench) {
    let mut setup = bench.setup();
    setup.config.limits.max_message_bytes = 64 * 1024;
    let mut session = bench.open_with(&[], setup);
    let outcome = session.outcome("big", r#"{"bytes":200000}"#);
    assert!(matches!(outcome, Outcome::TooLarge { limit: 65_536, .. }), "{outcome:?}");
    session.goes_on();
    assert_eq!(session.count("call big"), 1);
}

pub(super) fn survives_junk(bench: &Bench) {
    let mut session = bench.open(&[]);
    assert_eq!(session.tool("junk", "{}"), "said");
    assert_eq!(session.client.violations(), 1);
    session.goes_on();
}

pub(super) fn survives_a_second_answer(bench: &Bench) {
    let mut session = bench.open(&[]);
    assert_eq!(session.tool("twice", "{}"), "once");
    session.goes_on();
    // It may as well have crossed a cancel.
    assert_eq!(session.client.violations(), 0);
}

pub(super) fn loses_a_call(bench: &Bench) {
    // H-225
    let mut session = bench.open(&[]);
    let open = session.start("hold", "{}");
    session.until("call hold", 1);
    let lost = session.outcome("die", "{}");
    assert_eq!(lost, Outcome::Lost { maybe_ran: true });
    assert_eq!(session.client.wait(open), Outcome::Lost { maybe_ran: true });
    session.client.pass(Duration::from_millis(50));
    assert_eq!((session.count("call die"), session.count("call hold")), (1, 1), "nothing is made again");
    if bench.cell.is_http() {
        return;
    }
    assert_eq!(session.client.closed(), Some(CloseReason::Eof));
    let refused = session.client.start(
        sanswire::mcp::Method::ToolsCall,
        super::call_of("echo", "{}"),
        &super::no_options(),
    );
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(session.count("start"), 1);
}

pub(super) fn is_half_closed(bench: &Bench) {
    let mut session = bench.open(&[]);
    let open = session.start("hold", "{}");
    let outcome = session.outcome("half-close", "{}");
    assert_eq!(outcome, Outcome::Lost { maybe_ran: true });
    assert_eq!(session.client.wait(open), Outcome::Lost { maybe_ran: true });
    assert_eq!(session.client.closed(), Some(CloseReason::Eof));
    // Our half ends as well, which the server sees.
    session.client.close();
    session.until("end", 1);
}

pub(super) fn is_forgotten(bench: &Bench) {
    // H-226
    let mut session = bench.open(&[]);
    assert_eq!(session.tool("forget", "{}"), "forgotten");
    let outcome = session.outcome("echo", r#"{"text":"lost"}"#);
    assert!(matches!(outcome, Outcome::SessionGone { .. }), "{outcome:?}");
    // A new one is opened by itself.
    session.until("initialize", 2);
    let request = session.start("echo", r#"{"text":"again"}"#);
    assert_eq!(text_of(session.client.wait(request)), "again");
    assert_eq!((session.count("404 call echo"), session.count("call echo")), (1, 1), "nothing is made again");
    assert_eq!(session.count("initialize"), 2);
}
