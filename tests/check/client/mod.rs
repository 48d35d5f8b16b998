//! The checks of clients: each finds the client that has the fault, and no check of its subject finds anything else; a client
//! that does not speak passes nothing.

mod calls;
mod framing;
mod ids;
mod listing;
mod modern;
mod opening;
mod process;
mod requests;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use sanswire::mcp::Revision;
use sanswire_check::{ClientPlan, Command, Verdict, clients, run_client};

use crate::found;

/// A fault, and the checks that find it: these, and no others of their subjects.
type Fault = (&'static str, &'static [&'static str]);

/// All of them.
fn faults() -> impl Iterator<Item = &'static Fault> {
    [
        opening::FAULTS,
        modern::FAULTS,
        framing::FAULTS,
        ids::FAULTS,
        requests::FAULTS,
        listing::FAULTS,
        calls::FAULTS,
        process::FAULTS,
    ]
    .into_iter()
    .flatten()
}

/// What the name of a check begins with: what it is about.
fn subject(check: &str) -> String {
    let words = if check.starts_with("client-") { 2 } else { 1 };
    check.split_inclusive('-').take(words).collect()
}

fn plan(fault: &str) -> ClientPlan {
    let client = Command::new(env!("CARGO_BIN_EXE_faulty_client")).arg(fault);
    ClientPlan::new(
        client.args(["{server-command}", "{server-args}"]),
        Command::new(env!("CARGO_BIN_EXE_check_relay")),
    )
}

#[test]
fn a_correct_client_passes_everything() {
    let report = run_client(&plan("none"));
    assert_eq!((report.status(), report.revisions.len()), (0, 5), "{report}");
    assert!(report.results.iter().all(|it| matches!(it.verdict, Verdict::Passed)), "{report}");
    let tried: BTreeSet<_> = report.results.iter().map(|it| it.check.id).collect();
    assert_eq!(tried, clients().map(|check| check.id).collect(), "every check was tried");
    assert_eq!(report.peer.as_deref(), Some("faulty 1"));
}

#[test]
fn each_fault_of_a_client_is_found_by_the_checks_that_are_about_it() {
    let (left, wrong) = (Mutex::new(faults()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some((fault, by)) = next else { return };
                    let mut plan = plan(fault);
                    plan.only = by.iter().map(|check| subject(check)).collect();
                    plan.revisions = vec![Revision::NEWEST_LEGACY, Revision::NEWEST_MODERN];
                    plan.patience = Duration::from_secs(6);
                    let report = run_client(&plan);
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
fn every_check_of_clients_has_a_fault_that_it_finds() {
    let found: BTreeSet<_> = faults().flat_map(|(_, by)| by.iter().copied()).collect();
    assert_eq!(found, clients().map(|check| check.id).collect());
}

#[test]
fn a_client_that_does_not_speak_passes_nothing() {
    for fault in ["dead", "mute", "junk"] {
        let report = run_client(&plan(fault));
        assert_eq!((report.status(), report.results.len()), (4, 0), "{fault}: {report}");
        assert!(report.to_string().starts_with("the client could not be checked: expected"), "{report}");
    }
    let nowhere =
        ClientPlan::new(Command::new("/nowhere/no-such-client").arg("{server}"), Command::new("relay"));
    let report = run_client(&nowhere);
    assert_eq!(report.status(), 4);
    assert!(report.to_string().contains("a program that can be started"), "{report}");
    let report = run_client(&ClientPlan::new(Command::new("client"), Command::new("relay")));
    assert!(report.status() == 4 && report.to_string().contains("{server}"), "{report}");
}
