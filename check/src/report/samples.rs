//! Reports of nothing that ever ran, for the tests of what is made of them.

use std::time::Duration;

use sanswire::mcp::Revision;

use super::{Format, Found, Report, Result, Unspoken, Verdict};
use crate::check::{Check, Role};
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

fn check(id: &str) -> &'static Check {
    crate::all().find(|check| check.id == id).unwrap()
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
    Report {
        role: Role::Server,
        peer: Some("sample <server> & \"more\" 1.0".into()),
        revisions: vec![older, newer],
        unspoken: vec![Unspoken { revision: Revision::ALL[0], why: "it answers with 2025-11-25".into() }],
        unreached: None,
        results: vec![
            result(
                check("lifecycle-unknown-version"),
                newer,
                found("an answer", "none <b>at all</b> & \"so\" on"),
            ),
            result(check("lifecycle-exit-on-eof"), older, found("an exit", "a process that runs on")),
            result(check("lifecycle-exit-on-eof"), newer, found("an exit", "a process that runs on")),
            result(check("framing-carriage-return"), newer, found("a short list", "a long one")),
            result(check("lifecycle-unknown-method"), newer, Verdict::Passed),
            Result::skipped(check("framing-stdout-pure"), older, "the server does not declare tools".into()),
        ],
        stale: Vec::new(),
    }
}

/// One that could not be spoken to.
pub(super) fn unreached() -> Report {
    let found = Found { finding: finding("an answer", "the end of its output"), transcript: said(&[]) };
    Report { peer: None, revisions: Vec::new(), unreached: Some(found), results: Vec::new(), ..report() }
}

/// Each format by its name, of this report. The service that draws badges is told no name.
pub(super) fn all_formats(report: &Report) -> Vec<(&'static str, String)> {
    let formats = Format::ALL.into_iter().filter(|it| *it != Format::Shields);
    formats.map(|format| (format.as_str(), report.to_format(format, Some("dist/index.js")))).collect()
}
