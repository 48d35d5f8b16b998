//! A host and its server: what is done when a connection is lost, counted by the server itself.

use std::time::Duration;

use sanswire::host::link::Status;
use sanswire::host::{CallHandle, CallOutcome};

use super::{Bench, LONG};
use crate::hosts::{self, Host, request};

/// A host, and the cell it is in.
struct Hosted<'a> {
    host: Box<dyn Host>,
    bench: &'a Bench,
}

impl<'a> Hosted<'a> {
    fn open(bench: &'a Bench, flags: &[&str]) -> Self {
        Self::limited(bench, flags, None)
    }

    fn limited(bench: &'a Bench, flags: &[&str], limit: Option<Duration>) -> Self {
        let hosted = Self { host: hosts::open(bench, flags, limit), bench };
        assert_eq!(hosted.host.status(), Status::Connected);
        hosted
    }

    fn start(&mut self, tool: &str, arguments: &str) -> CallHandle {
        self.host.start(request(tool, arguments))
    }

    fn call(&mut self, tool: &str, arguments: &str) -> CallOutcome {
        let call = self.start(tool, arguments);
        self.host.end(call)
    }

    /// The standing check: a call gets through.
    fn goes_on(&mut self) {
        let echo = self.call("echo", r#"{"text":"on"}"#);
        assert_eq!(text(echo, &*self.host), "on");
    }

    fn count(&self, start: &str) -> usize {
        self.host.record().iter().filter(|entry| entry.starts_with(start)).count()
    }

    /// A session over HTTP is known to be forgotten once something was asked in it.
    fn find_out(&mut self) {
        if self.bench.cell.is_http() && !self.bench.cell.is_modern() {
            let lost = self.call("echo", "{}");
            let nothing_ran = matches!(lost, CallOutcome::Disconnected { maybe_ran: false });
            assert!(nothing_ran, "{lost:?}: {:?}", self.host.record());
        }
    }

    /// How often a session was opened, or tried to be.
    fn openings(&self) -> usize {
        self.count(if self.bench.cell.is_modern() { "server/discover" } else { "initialize" })
    }

    fn until(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        let (mut waited, step) = (Duration::ZERO, Duration::from_millis(5));
        while !done(self) {
            assert!(waited < LONG, "never {what}: {:?}", self.host.record());
            waited += step;
            self.host.pass(step);
        }
    }

    fn until_status(&mut self, status: Status) {
        self.until(status.as_str(), |hosted| hosted.host.status() == status);
    }
}

fn text(outcome: CallOutcome, host: &dyn Host) -> String {
    match outcome {
        CallOutcome::Completed(result) => result.presented.text,
        other => panic!("{other:?}: {:?}", host.record()),
    }
}

fn is_lost(outcome: &CallOutcome) -> bool {
    matches!(outcome, CallOutcome::Disconnected { maybe_ran: true })
}

pub(super) fn opens(bench: &Bench) {
    let mut hosted = Hosted::open(bench, &[]);
    hosted.goes_on();
    assert!(hosted.host.offers("echo") && hosted.host.offers("grandchild"));
    assert!(matches!(hosted.call("boom", "{}"), CallOutcome::ToolError(_)));
    assert_eq!((hosted.openings(), hosted.count("tools/list"), hosted.count("call echo")), (1, 3, 1));
    hosted.host.close();
    assert_eq!(hosted.host.status(), Status::Unavailable);
}

pub(super) fn reconnects(bench: &Bench) {
    // H-105 H-225
    let mut hosted = Hosted::open(bench, &[]);
    let open = hosted.start("hold", "{}");
    hosted.until("held", |hosted| hosted.count("call hold") == 1);
    let lost = hosted.call("die", "{}");
    assert!(is_lost(&lost), "{lost:?}");
    let lost = hosted.host.end(open);
    assert!(is_lost(&lost), "{lost:?}");
    hosted.find_out();
    hosted.goes_on();
    hosted.until_status(Status::Connected);
    // Without a session nothing was lost but the calls.
    let openings = if bench.cell.is_http() && bench.cell.is_modern() { 1 } else { 2 };
    assert_eq!(hosted.openings(), openings, "one death, one new start");
    let calls = ["call die", "call hold", "call echo"].map(|call| hosted.count(call));
    assert_eq!(calls, [1, 1, 1], "nothing is made again");
    if !bench.cell.is_http() {
        assert_eq!(hosted.count("tools/list"), 3, "the listing stays");
    }
}

pub(super) fn is_capped(bench: &Bench) {
    // H-108 H-114 H-225
    let mut hosted = Hosted::open(bench, &["again=die-at-once"]);
    let lost = hosted.call("die", "{}");
    assert!(is_lost(&lost), "{lost:?}");
    hosted.find_out();
    hosted.until_status(Status::Unavailable);
    // Three attempts; over HTTP the client has tried itself before.
    let all = if bench.cell.is_http() { 5 } else { 4 };
    assert_eq!(hosted.openings(), all);
    let refused = hosted.call("echo", "{}");
    let unavailable = matches!(refused, CallOutcome::Unavailable { status: Status::Unavailable, .. });
    assert!(unavailable, "{refused:?}");
    hosted.host.pass(Duration::from_millis(50));
    assert_eq!((hosted.openings(), hosted.count("call echo")), (all, 0), "nothing is started");
    assert!(hosted.host.offers("echo"), "the tools stay");
    // By hand it is tried again, and the counter begins anew.
    hosted.host.reconnect();
    hosted.until("tried again", |hosted| hosted.openings() == all + 3);
    hosted.until_status(Status::Unavailable);
}

pub(super) fn is_closed_meanwhile(bench: &Bench) {
    // H-224
    let mut hosted = Hosted::open(bench, &["again=stall"]);
    let lost = hosted.call("die", "{}");
    assert!(is_lost(&lost), "{lost:?}");
    let waits = hosted.start("echo", "{}");
    hosted.until("tried again", |hosted| hosted.openings() == 2);
    assert_eq!(hosted.host.status(), Status::Reconnecting);
    hosted.host.close();
    let end = hosted.host.end(waits);
    assert!(matches!(end, CallOutcome::Cancelled), "{end:?}");
    assert_eq!(hosted.host.status(), Status::Unavailable);
    assert_eq!((hosted.openings(), hosted.count("call echo")), (2, 0));
}

pub(super) fn times_out(bench: &Bench) {
    // H-224
    let limit = Duration::from_millis(250);
    let mut hosted = Hosted::limited(bench, &[], Some(limit));
    let end = hosted.call("hold", "{}");
    assert!(matches!(end, CallOutcome::TimedOut(of) if of == limit), "{end:?}");
    hosted.host.pass(Duration::from_millis(50));
    assert_eq!((hosted.host.status(), hosted.openings()), (Status::Connected, 1), "nothing was lost");
    hosted.goes_on();
}

pub(super) fn is_told_of_a_change(bench: &Bench) {
    // H-207
    let mut hosted = Hosted::open(bench, &[]);
    if bench.cell.is_modern() {
        hosted.until("listened", |hosted| hosted.count("subscriptions/listen") == 1);
    }
    assert!(!hosted.host.offers("grown"));
    let changed = hosted.call("change", "{}");
    assert_eq!(text(changed, &*hosted.host), "changed");
    hosted.until("listed again", |hosted| hosted.count("tools/list") == 6);
    // Its last page may be on its way, and it is offered at the next turn.
    let mut turns = 0;
    hosted.host.pass(Duration::from_millis(20));
    assert!(!hosted.host.offers("grown"), "a turn has the tools that it began with");
    while !hosted.host.offers("grown") {
        turns += 1;
        assert!(turns < 1000, "it is never offered");
        hosted.host.pass(Duration::from_millis(5));
        hosted.host.begin_turn();
    }
    assert_eq!(hosted.count("tools/list"), 6);
}
