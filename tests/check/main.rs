//! Each check finds the server that has the fault, and no check finds anything else; a server that does not speak passes
//! nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use sanswire_check::{Command, Plan, Report, Verdict, all, run};

fn server(fault: &str) -> Command {
    Command::new(env!("CARGO_BIN_EXE_faulty_server")).arg(fault)
}

fn check(fault: &str, only: &[&str]) -> Report {
    let mut plan = Plan::new(server(fault));
    plan.only = only.iter().map(|&id| id.to_owned()).collect();
    plan.start = Duration::from_secs(20);
    plan.answer = Duration::from_secs(2);
    run(&plan)
}

fn found(report: &Report) -> BTreeSet<&'static str> {
    let results = report.results.iter().filter(|it| matches!(it.verdict, Verdict::Found(_)));
    results.map(|it| it.check.id).collect()
}

/// A fault, and the checks that find it: these and no others.
const FAULTS: &[(&str, &[&str])] = &[
    ("banner", &["framing-stdout-pure"]),
    ("no-pieces", &["framing-split-line"]),
    ("three-lines", &["framing-joined-lines"]),
    ("indented", &["framing-stdout-pure", "framing-no-newline-inside"]),
    ("splits-at-unicode", &["framing-unicode-line-separators"]),
    ("no-carriage-return", &["framing-carriage-return"]),
    ("falsy-ids", &["ids-zero", "ids-empty-string"]),
    ("unsigned-ids", &["ids-negative"]),
    ("double-ids", &["ids-past-double"]),
    ("parsed-ids", &["ids-number-in-string"]),
    ("short-ids", &["ids-long-string"]),
    ("any-version", &["lifecycle-unknown-version"]),
    ("refuses-version", &["lifecycle-unknown-version"]),
    ("stays", &["lifecycle-exit-on-eof"]),
    ("silent-about-methods", &["lifecycle-unknown-method"]),
    ("dies-of-methods", &["lifecycle-unknown-method"]),
    ("invalid-methods", &["lifecycle-unknown-method"]),
];

#[test]
fn a_correct_server_passes_everything() {
    let report = check("none", &[]);
    assert_eq!((report.status(), report.revisions.len()), (0, 5), "{report}");
    assert!(report.results.iter().all(|it| matches!(it.verdict, Verdict::Passed)), "{report}");
    let tried: BTreeSet<_> = report.results.iter().map(|it| it.check.id).collect();
    assert_eq!(tried, all().map(|check| check.id).collect(), "every check was tried");
    assert_eq!(report.server.as_deref(), Some("faulty 1"));
}

#[test]
fn each_fault_is_found_by_the_checks_that_are_about_it() {
    for (fault, by) in FAULTS {
        let report = check(fault, &[]);
        let expected: BTreeSet<_> = by.iter().copied().collect();
        assert_eq!(found(&report), expected, "{fault}: {report}");
    }
}

#[test]
fn every_check_has_a_fault_that_it_finds() {
    let found: BTreeSet<_> = FAULTS.iter().flat_map(|(_, by)| by.iter().copied()).collect();
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
