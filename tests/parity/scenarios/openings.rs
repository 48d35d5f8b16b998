//! How a connection comes about, and how it does not.

use std::time::Duration;

use sanswire::client::Start;
use sanswire::error::CloseReason;
use sanswire::mcp::{Era, Method};

use super::{Bench, opening};
use crate::axes::Transport;
use crate::client::{Fault, Setup};

pub(super) fn connects(bench: &Bench) {
    // H-221 H-228
    let mut session = bench.open(&[]);
    let peer = session.client.peer();
    assert_eq!(peer.revision, bench.revision());
    session.goes_on();
    assert_eq!(session.client.violations(), 0);
    if !bench.cell.is_scripted() {
        assert_eq!((&*peer.server.name, &*peer.server.version), ("served", "1"));
        return;
    }
    assert_eq!(&*peer.server.name, if bench.cell.is_modern() { "new" } else { "old" });
    assert_eq!(peer.instructions.as_deref(), Some("be kind"));
    let record = session.site.record();
    let opened: Vec<_> = record.iter().filter(|entry| !entry.starts_with("GET")).collect();
    let started = opened[0].split(' ').next().unwrap();
    let opened: Vec<&str> =
        std::iter::once(started).chain(opened[1..].iter().map(|it| it.as_str())).collect();
    let expected = opening(&bench.cell);
    assert_eq!(opened[..expected.len()], *expected);
    assert_eq!(opened.len(), expected.len() + 1, "{opened:?}");
}

pub(super) fn finds_the_revision(bench: &Bench) {
    let mut setup = bench.setup();
    setup.config.start = Start::Unknown;
    let mut session = bench.open_with(&[], setup);
    session.goes_on();
    if !bench.cell.is_scripted() {
        // Who knows all of them speaks the newest.
        assert_eq!(session.client.peer().revision, sanswire::mcp::Revision::V2026_07_28);
        return;
    }
    // Those of a handshake are offered one revision, and the server's answer is another.
    assert_eq!(session.client.peer().revision, bench.revision());
    assert_eq!(session.count("server/discover"), 1, "nothing was known of it");
    assert_eq!(session.count("initialize"), usize::from(bench.revision().era() == Era::Legacy));
}

pub(super) fn nobody_is_there(bench: &Bench) {
    // H-221
    let fault = bench.nobody();
    let expected = match bench.cell.transport {
        Transport::Stdio => matches!(fault, Some(Fault::NoProgram)),
        Transport::Tcp => matches!(fault, Some(Fault::NoListener)),
        Transport::Http => matches!(fault, Some(Fault::Unreachable)),
    };
    assert!(expected, "{fault:?}");
}

/// Why there is no connection, and the record of the server.
fn fault(bench: &Bench, flags: &[&str], setup: &Setup) -> (CloseReason, Vec<String>) {
    let site = bench.site(flags);
    match site.connect(setup) {
        Err(Fault::Closed(reason)) => (reason, site.record()),
        Err(fault) => panic!("{fault:?}"),
        Ok(_) => panic!("it is connected"),
    }
}

fn opened_by(bench: &Bench) -> Method {
    if bench.cell.is_modern() { Method::ServerDiscover } else { Method::Initialize }
}

pub(super) fn is_refused(bench: &Bench) {
    let (reason, record) = fault(bench, &["refuse"], &bench.setup());
    let CloseReason::Refused { method, error } = reason else { panic!("{reason:?}") };
    assert_eq!((method, error.code), (opened_by(bench), -32603));
    assert_opened_only(bench, &record);
}

pub(super) fn dies_at_once(bench: &Bench) {
    let (reason, record) = fault(bench, &["die-at-once"], &bench.setup());
    // Over HTTP it was an exchange that broke off, and the server may well be there.
    let died = bench.cell.is_modern() && !bench.cell.is_http();
    assert_eq!(reason, if died { CloseReason::DiedOnProbe } else { CloseReason::Eof });
    assert_opened_only(bench, &record);
}

pub(super) fn is_given_up(bench: &Bench) {
    // H-223
    let mut setup = bench.setup();
    setup.config.limits.connect = Duration::from_millis(150);
    let (reason, record) = fault(bench, &["stall"], &setup);
    let expected = CloseReason::ConnectTimeout { waiting_for: opened_by(bench), limit_ms: 150 };
    assert_eq!(reason, expected);
    assert_opened_only(bench, &record);
}

pub(super) fn is_closed_meanwhile(bench: &Bench) {
    // H-224
    let setup = Setup { close_after: Some(Duration::from_millis(150)), ..bench.setup() };
    let (reason, record) = fault(bench, &["stall"], &setup);
    assert_eq!(reason, CloseReason::Local);
    assert_opened_only(bench, &record);
}

/// Nothing came but what opens a session, at most once: a program that is slow to begin may not have read it.
fn assert_opened_only(bench: &Bench, record: &[String]) {
    let opener = opened_by(bench);
    let closed = format!("closed {}", opener.as_str());
    let came: Vec<_> = record.iter().filter(|entry| !entry.starts_with("start") && *entry != "end").collect();
    let expected = |entry: &str| entry == opener.as_str() || entry == closed;
    assert!(came.iter().all(|entry| expected(entry)), "{record:?}");
    assert!(came.iter().filter(|entry| ***entry == opener.as_str()).count() <= 1, "{record:?}");
}
