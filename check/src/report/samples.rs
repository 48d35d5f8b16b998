//! Reports of nothing that ever ran, for the tests of what is made of them.

use std::time::Duration;

use sanswire::mcp::Revision;

use super::{Found, Report, Result, Unspoken, Verdict};
use crate::check::{Check, Role, Strength};
use crate::finding::Finding;
use crate::transcript::{From, Transcript};

pub(super) fn finding(expected: &str, got: &str) -> Finding {
    Finding::new(expected, got)
}

pub(super) fn found(expected: &str, got: &str) -> Verdict {
    Verdict::Found(finding(expected, got))
}

/// What the server said, each on a line of its own.
pub(super) fn said(lines: &[&str]) -> Transcript {
    let mut transcript = Transcript::new();
    transcript.push(From::Check, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    lines.iter().for_each(|line| transcript.push(From::Server, line.as_bytes()));
    transcript.push(From::Stderr, b"a log line");
    transcript.push(From::Event, b"the end of standard output");
    transcript
}

pub(super) fn check(strength: Strength) -> &'static Check {
    crate::all().find(|check| check.strength == strength).unwrap()
}

/// One finding of each strength, one that passed, and one that was not tried.
pub(super) fn report() -> Report {
    let [.., older, newer] = Revision::ALL;
    let result = |check, revision, verdict| Result {
        check,
        revision,
        verdict,
        transcript: said(&["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"]),
        took: Duration::from_millis(1500),
    };
    let mut musts = crate::all().filter(|check| check.strength == Strength::Must).skip(1);
    Report {
        role: Role::Server,
        peer: Some("sample <server> & \"more\" 1.0".into()),
        revisions: vec![older, newer],
        unspoken: vec![Unspoken { revision: Revision::ALL[0], why: "it answers with 2025-11-25".into() }],
        unreached: None,
        results: vec![
            result(check(Strength::Must), newer, found("an answer", "none <b>at all</b> & \"so\" on")),
            result(check(Strength::Should), older, found("an exit", "a process that runs on")),
            result(check(Strength::Should), newer, found("an exit", "a process that runs on")),
            result(check(Strength::Advice), newer, found("a short list", "a long one")),
            result(musts.next().unwrap(), newer, Verdict::Passed),
            Result::skipped(musts.next().unwrap(), older, "the server does not declare tools".into()),
        ],
        stale: Vec::new(),
    }
}

/// One that could not be spoken to.
pub(super) fn unreached() -> Report {
    let found = Found { finding: finding("an answer", "the end of its output"), transcript: said(&[]) };
    Report { peer: None, revisions: Vec::new(), unreached: Some(found), results: Vec::new(), ..report() }
}

/// Each format by its name, of this report.
pub(super) fn all_formats(report: &Report) -> Vec<(&'static str, String)> {
    vec![("text", report.to_string()), ("json", report.to_json().as_str().to_owned())]
}
