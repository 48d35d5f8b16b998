//! A report for what shows tests: JUnit's XML, as Jenkins, GitLab and others read it.
//!
//! A suite is a revision. A broken MUST is a failure. A broken SHOULD, advice, and what a baseline accepts are skipped
//! tests: the one state that every reader shows with its text and that fails nothing. Text beside a test that passed is
//! shown by few.

use std::time::Duration;

use super::markup::escaped;
use super::{Report, Result, Verdict};
use crate::check::Strength;
use crate::finding::{BRIEF, Finding, brief};
use crate::transcript::Transcript;

/// How much of a line goes into the file.
const MOST: usize = 1000;

impl Report {
    /// As JUnit's XML.
    #[must_use]
    pub fn to_junit(&self) -> String {
        let failures = self.findings(Strength::Must).count();
        let errors = usize::from(self.unreached.is_some());
        let time = seconds(self.results.iter().map(|it| it.took).sum());
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{time}\">\n",
            escaped(&format!("sanswire check: {}", brief(&self.peer_name(), BRIEF))),
            self.results.len() + errors,
        );
        if let Some(found) = &self.unreached {
            out.push_str("  <testsuite name=\"opening\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0.000\">\n");
            out.push_str("    <testcase name=\"the other side can be spoken to\" classname=\"opening\" time=\"0.000\">\n");
            out.push_str(&with_text(
                "error",
                "unreached",
                &found.finding.to_string(),
                &lines(&found.transcript),
            ));
            out.push_str("    </testcase>\n  </testsuite>\n");
        }
        for revision in &self.revisions {
            let results: Vec<_> = self.results.iter().filter(|it| it.revision == *revision).collect();
            suite(&mut out, revision.as_str(), &results);
        }
        out.push_str("</testsuites>\n");
        out
    }
}

fn suite(out: &mut String, name: &str, results: &[&Result]) {
    let failures = results.iter().filter(|it| fails(it)).count();
    let skipped = results.iter().filter(|it| it.verdict != Verdict::Passed && !fails(it)).count();
    let time = seconds(results.iter().map(|it| it.took).sum());
    out.push_str(&format!(
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"{time}\">\n",
        results.len()
    ));
    for result in results {
        case(out, name, result);
    }
    out.push_str("  </testsuite>\n");
}

fn fails(result: &Result) -> bool {
    result.check.strength == Strength::Must && matches!(result.verdict, Verdict::Found(_))
}

fn case(out: &mut String, revision: &str, result: &Result) {
    let check = result.check;
    let subject = check.id.split('-').next().unwrap_or_default();
    out.push_str(&format!(
        "    <testcase name=\"{}\" classname=\"{revision}.{subject}\" time=\"{}\"",
        escaped(&format!("{}: {}", check.id, check.title)),
        seconds(result.took)
    ));
    let inside = match &result.verdict {
        Verdict::Passed => {
            out.push_str("/>\n");
            return;
        }
        Verdict::Skipped(why) => skipped(&format!("not tried: {}", brief(why, BRIEF)), None),
        Verdict::Accepted(finding, note) => {
            let note = if note.is_empty() { "without a note" } else { note };
            skipped(&format!("accepted: {}", brief(note, BRIEF)), Some(&proof(result, finding)))
        }
        Verdict::Found(finding) if check.strength == Strength::Must => {
            with_text("failure", "MUST", &finding.to_string(), &proof(result, finding))
        }
        Verdict::Found(finding) => {
            skipped(&format!("{}: {finding}", check.strength.label()), Some(&proof(result, finding)))
        }
    };
    out.push_str(&format!(">\n{inside}    </testcase>\n"));
}

fn with_text(element: &str, kind: &str, message: &str, text: &str) -> String {
    format!(
        "      <{element} type=\"{kind}\" message=\"{}\">{}</{element}>\n",
        escaped(message),
        escaped(text)
    )
}

fn skipped(message: &str, proof: Option<&str>) -> String {
    let beside = proof.map(|proof| format!("      <system-out>{}</system-out>\n", escaped(proof)));
    format!("      <skipped message=\"{}\"/>\n{}", escaped(message), beside.unwrap_or_default())
}

/// What a person needs to mend it.
fn proof(result: &Result, finding: &Finding) -> String {
    let url = result.check.source.url(result.revision).unwrap_or_default();
    format!(
        "expected {}\ngot {}\n{}\n{url}\n\n{}",
        brief(&finding.expected, MOST),
        brief(&finding.got, MOST),
        result.check.explain,
        lines(&result.transcript)
    )
}

fn lines(transcript: &Transcript) -> String {
    let line = |entry: &crate::transcript::Entry| {
        format!("{:>6} ms {:6} {}\n", entry.at.as_millis(), entry.from.as_str(), entry.shown(MOST))
    };
    transcript.entries().map(line).collect()
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::super::samples;

    #[test]
    fn only_what_must_be_fails_and_everything_is_told() {
        let mut report = samples::report();
        let xml = report.to_junit();
        for part in [
            "<testsuites name=\"sanswire check: sample &lt;server&gt; &amp; &quot;more&quot; 1.0\" tests=\"6\" failures=\"1\" errors=\"0\" ",
            "<testsuite name=\"2025-11-25\" tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\" time=\"1.500\">",
            "<testsuite name=\"2026-07-28\" tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"2\" time=\"6.000\">",
            "<failure type=\"MUST\" message=\"expected an answer, got none &lt;b&gt;at all&lt;/b&gt;",
            "<skipped message=\"SHOULD: expected an exit, got a process that runs on\"/>\n      <system-out>expected an exit&#10;",
            "<skipped message=\"advice: ",
            "<skipped message=\"not tried: the server does not declare tools\"/>\n    </testcase>",
            "classname=\"2026-07-28.lifecycle\" time=\"1.500\"/>",
        ] {
            assert!(xml.contains(part), "{part}: {xml}");
        }
        report.accept(&report.baseline());
        let xml = report.to_junit();
        assert!(
            !xml.contains("<failure") && xml.contains("<skipped message=\"accepted: expected an answer"),
            "{xml}"
        );
        let xml = samples::unreached().to_junit();
        assert!(
            xml.contains("tests=\"1\" failures=\"0\" errors=\"1\"") && xml.contains("<error type="),
            "{xml}"
        );
    }
}
