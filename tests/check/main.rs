//! Each check finds the server that has the fault, and no check of its subject finds anything else; a server that does not
//! speak passes nothing.

mod client;
mod reports;
mod server;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use sanswire::jsonrpc::RawJson;
use sanswire_check::{Call, Command, Plan, Report, Verdict, all, run};

use crate::server::faults;

fn server(fault: &str) -> Command {
    Command::new(env!("CARGO_BIN_EXE_faulty_server")).arg(fault)
}

fn check(fault: &str, only: Vec<String>) -> Report {
    let mut plan = Plan::new(server(fault));
    plan.only = only;
    plan.calls = ["picture", "fail", "ask"].map(|name| Call::new(name, RawJson::empty_object())).into();
    plan.read_only_calls = true;
    plan.start = Duration::from_secs(20);
    plan.answer = Duration::from_secs(4);
    plan.slow_start = Duration::from_secs(5);
    if ["one-at-a-time", "stale-lock"].contains(&fault) {
        // What one process leaves or holds is met by the next one.
        plan.jobs = 1;
    }
    run(&plan)
}

fn found(report: &Report) -> BTreeSet<&'static str> {
    let results = report.results.iter().filter(|it| matches!(it.verdict, Verdict::Found(_)));
    results.map(|it| it.check.id).collect()
}

/// What the name of a check begins with: what it is about.
fn subject(check: &str) -> String {
    check.split_inclusive('-').next().unwrap_or_default().to_owned()
}

#[test]
fn a_correct_server_passes_everything() {
    let report = check("none", Vec::new());
    assert_eq!((report.status(), report.revisions.len()), (0, 5), "{report}");
    assert!(report.results.iter().all(|it| matches!(it.verdict, Verdict::Passed)), "{report}");
    let tried: BTreeSet<_> = report.results.iter().map(|it| it.check.id).collect();
    assert_eq!(tried, all().map(|check| check.id).collect(), "every check was tried");
    assert_eq!(report.peer.as_deref(), Some("faulty 1"));
}

#[test]
fn each_fault_is_found_by_the_checks_that_are_about_it() {
    let (left, wrong) = (Mutex::new(faults()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some((fault, by)) = next else { return };
                    let report = check(fault, by.iter().map(|check| subject(check)).collect());
                    if found(&report) != by.iter().copied().collect() {
                        wrong.lock().unwrap().push(format!("{fault}: expected {by:?}: {report}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_tool_is_called_that_the_plan_does_not_allow() {
    let mut plan = Plan::new(server("dies-of-calls"));
    plan.only = vec!["content-".into(), "tools-".into()];
    let report = run(&plan);
    let why = |report: &Report| -> Vec<_> { report.skipped().map(|(_, why)| why.to_owned()).collect() };
    assert_eq!(found(&report), BTreeSet::new(), "{report}");
    assert_eq!(why(&report).len(), 2 * 7, "{report}");
    assert!(why(&report).iter().all(|why| why.contains("--call")), "{report}");
    // And whoever says that it changes nothing is not one that says nothing.
    let report = check("nothing-is-read-only", vec!["content-wrong".into()]);
    assert_eq!(why(&report).len(), 2, "{report}");
    plan.read_only_calls = true;
    assert!(!found(&run(&plan)).is_empty(), "the tool was called");
}

#[test]
fn every_check_has_a_fault_that_it_finds() {
    let found: BTreeSet<_> = faults().flat_map(|(_, by)| by.iter().copied()).collect();
    assert_eq!(found, all().map(|check| check.id).collect());
}

#[test]
fn a_server_that_does_not_speak_passes_nothing() {
    for fault in ["dead", "mute", "junk"] {
        let mut plan = Plan::new(server(fault));
        plan.start = Duration::from_millis(300);
        let report = run(&plan);
        assert_eq!((report.status(), report.results.len()), (4, 0), "{fault}: {report}");
        assert!(report.to_string().starts_with("the server could not be checked: expected"), "{report}");
    }
    let report = run(&Plan::new(Command::new("/nowhere/no-such-server")));
    assert_eq!(report.status(), 4);
    assert!(report.to_string().contains("a program that can be started"), "{report}");
}
