//! A report for people at a terminal.

use std::fmt;

use sanswire::mcp::Revision;

use super::Report;
use super::groups::{Group, revisions};
use crate::check::{Role, Strength};
use crate::finding::{BRIEF, brief};
use crate::transcript::{From, Transcript};

/// A report as text: what to mend first, then each finding with its proof, then what was not tried.
///
/// Nothing in it does anything to a terminal, but for colours, where they are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    report: &'a Report,
    verbose: bool,
    colour: bool,
}

impl Report {
    /// As text, without colours, and without what passed.
    #[must_use]
    pub const fn text(&self) -> Text<'_> {
        Text { report: self, verbose: false, colour: false }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

/// How something is written on a terminal.
#[derive(Clone, Copy)]
enum Ink {
    Bold,
    Red,
    Yellow,
    Green,
    Dim,
}

impl Strength {
    /// What stands in front of a finding.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Advice => "advice",
        }
    }
}

impl Text<'_> {
    /// Whether what passed is listed too.
    #[must_use]
    pub const fn verbose(self, verbose: bool) -> Self {
        Self { verbose, ..self }
    }

    /// Whether it is coloured.
    #[must_use]
    pub const fn colour(self, colour: bool) -> Self {
        Self { colour, ..self }
    }

    fn ink(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Bold => 1,
            Ink::Red => 31,
            Ink::Yellow => 33,
            Ink::Green => 32,
            Ink::Dim => 2,
        };
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn label(self, strength: Strength, width: usize) -> String {
        let ink = match strength {
            Strength::Must => Ink::Red,
            Strength::Should => Ink::Yellow,
            Strength::Advice => Ink::Dim,
        };
        self.ink(ink, &format!("{:width$}", strength.label()))
    }

    fn heading(self, f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
        writeln!(f, "\n{}", self.ink(Ink::Bold, text))
    }

    fn summary(self, f: &mut fmt::Formatter<'_>, groups: &[Group<'_>]) -> fmt::Result {
        let report = self.report;
        writeln!(f, "{}", self.ink(Ink::Bold, &brief(&report.peer_name(), BRIEF)))?;
        writeln!(f, "  speaks {}", revisions(report.revisions.iter().copied()))?;
        for unspoken in &report.unspoken {
            writeln!(f, "  does not speak {}: {}", unspoken.revision, brief(&unspoken.why, BRIEF))?;
        }
        writeln!(f, "  {}", report.counts())?;
        if groups.is_empty() {
            return Ok(());
        }
        self.heading(f, "What to mend first")?;
        let width = groups.iter().map(|it| it.check.id.len()).max().unwrap_or_default();
        for group in groups {
            let (check, strength) = (group.check, self.label(group.check.strength, 6));
            writeln!(f, "  {strength}  {:width$}  {} ({})", check.id, check.title, group.revisions())?;
        }
        Ok(())
    }

    fn finding(self, f: &mut fmt::Formatter<'_>, group: &Group<'_>) -> fmt::Result {
        let (check, finding) = (group.check, group.finding);
        writeln!(
            f,
            "\n{} {}: {}",
            self.label(check.strength, 0),
            self.ink(Ink::Bold, check.id),
            check.title
        )?;
        writeln!(f, "  in        {}", group.revisions())?;
        writeln!(f, "  expected  {}", brief(&finding.expected, BRIEF))?;
        writeln!(f, "  got       {}", brief(&finding.got, BRIEF))?;
        writeln!(f, "  correct   {}", check.explain)?;
        let Some(newest) = group.newest() else { return Ok(()) };
        if let Some(url) = check.source.url(newest.revision) {
            writeln!(f, "  see       {url}")?;
        }
        if newest.transcript.entries().next().is_some() {
            writeln!(f, "  what was said in {}:", newest.revision)?;
        }
        self.lines(f, &newest.transcript)
    }

    fn lines(self, f: &mut fmt::Formatter<'_>, transcript: &Transcript) -> fmt::Result {
        let left_out = transcript.left_out();
        for (n, entry) in transcript.entries().enumerate() {
            if left_out > 0 && n == transcript.kept_of_the_beginning() {
                writeln!(f, "              ({left_out} lines left out)")?;
            }
            let mark = match entry.from {
                From::Check => ">",
                From::Server | From::Client => "<",
                From::Stdout => ":",
                From::Stderr => "!",
                From::Event => "-",
            };
            writeln!(f, "  {:>6} ms {mark} {}", entry.at.as_millis(), entry.shown(BRIEF))?;
        }
        Ok(())
    }

    fn details(self, f: &mut fmt::Formatter<'_>, groups: &[Group<'_>]) -> fmt::Result {
        let more = match self.report.role {
            Role::Server => "",
            Role::Client => ", : its standard output",
        };
        let peer = self.report.role.as_str();
        let marks = format!("> the check, < the {peer}{more}, ! its standard error, - what happened");
        self.heading(f, &format!("Each of them ({marks})"))?;
        groups.iter().try_for_each(|group| self.finding(f, group))
    }

    fn baseline(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report;
        if report.accepted().next().is_some() {
            self.heading(f, "Accepted by the baseline")?;
        }
        for (result, finding, note) in report.accepted() {
            let why = if note.is_empty() { finding.to_string() } else { brief(note, BRIEF).into_owned() };
            let strength = self.label(result.check.strength, 6);
            writeln!(
                f,
                "  {strength}  {} ({}): {}",
                result.check.id,
                result.revision,
                crate::finding::harmless(&why)
            )?;
        }
        if !report.stale.is_empty() {
            self.heading(f, "In the baseline, and not found any more: take it out")?;
        }
        for stale in &report.stale {
            let revision = stale.revision.map_or("all revisions", Revision::as_str);
            writeln!(f, "  {} ({revision})", crate::finding::shown(stale.check.as_bytes()))?;
        }
        Ok(())
    }

    fn not_tried(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = self.report.skipped_by_reason();
        if !reasons.is_empty() {
            self.heading(f, "Not tried")?;
        }
        for (why, checks) in reasons {
            writeln!(f, "  {}: {}", brief(why, BRIEF), checks.join(", "))?;
        }
        Ok(())
    }

    fn passed(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.heading(f, "Passed")?;
        for (check, results) in self.report.passed_checks() {
            let spoken = revisions(results.iter().map(|it| it.revision));
            writeln!(f, "  {}: {} ({spoken})", check.id, check.title)?;
        }
        Ok(())
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report;
        if let Some(found) = &report.unreached {
            writeln!(f, "the {} could not be checked: {}", report.role.as_str(), found.finding)?;
            return self.lines(f, &found.transcript);
        }
        let groups = report.groups();
        self.summary(f, &groups)?;
        if !groups.is_empty() {
            self.details(f, &groups)?;
        }
        self.baseline(f)?;
        self.not_tried(f)?;
        if self.verbose {
            self.passed(f)?;
        }
        let ink = if report.status() == 0 { Ink::Green } else { Ink::Red };
        write!(f, "\n{}", self.ink(ink, &report.counts()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use crate::Verdict;

    #[test]
    fn the_gravest_is_told_first_and_nothing_is_left_out() {
        let mut report = samples::report();
        let text = report.to_string();
        let order = [
            "sample <server> & \"more\" 1.0\n  speaks 2025-11-25, 2026-07-28\n",
            "  does not speak 2024-11-05: it answers with 2025-11-25\n",
            "  1 passed, 1 failed, 2 to mend, 1 of advice, 1 not tried\n",
            "\nWhat to mend first\n  MUST    ",
            "  SHOULD  lifecycle-exit-on-eof",
            "(2025-11-25, 2026-07-28)\n  advice  ",
            "\nMUST ",
            "  expected  an answer\n  got       none <b>at all</b>",
            "  what was said in 2026-07-28:\n       0 ms > {",
            " ms < {",
            " ms ! a log line",
            " ms - the end of standard output",
            "\nSHOULD lifecycle-exit-on-eof: ",
            "\nadvice ",
            "\nNot tried\n  the server does not declare tools: framing-",
            "\n1 passed, 1 failed, 2 to mend, 1 of advice, 1 not tried",
        ];
        let mut rest = text.as_str();
        for part in order {
            let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in {rest}"));
            rest = &rest[at + part.len()..];
        }
        assert_eq!(rest, "");
        assert!(!text.contains("Passed") && !text.contains("baseline") && !text.contains('\x1b'), "{text}");
        let verbose = report.text().verbose(true).to_string();
        assert!(verbose.contains("\nPassed\n  lifecycle-unknown-method: "), "{verbose}");
        let coloured = report.text().colour(true).to_string();
        assert!(coloured.contains("\x1b[31mMUST\x1b[0m "), "{coloured}");

        let mut baseline = report.baseline();
        baseline.accepted[0].note = "until \x1b[2J then".into();
        baseline.accepted[1].check = "gone".into();
        report.accept(&baseline);
        let text = report.to_string();
        assert!(text.contains("\nAccepted by the baseline\n  MUST    "), "{text}");
        assert!(text.contains(": until \\u{1b}[2J then\n"), "{text}");
        assert!(text.contains("take it out\n  gone (2025-11-25)\n"), "{text}");
        assert!(text.ends_with("1 to mend, 0 of advice, 3 accepted, 1 not tried"), "{text}");
    }

    #[test]
    fn a_server_that_cannot_be_spoken_to_is_told_with_what_it_did() {
        let text = samples::unreached().to_string();
        assert!(
            text.starts_with("the server could not be checked: expected an answer, got the end of its output\n       0 ms > "),
            "{text}"
        );
    }

    #[test]
    fn what_is_left_out_of_a_transcript_is_told_where_it_stood() {
        let mut report = samples::report();
        let lines: Vec<_> = (0..200).map(|n| format!("line {n}")).collect();
        report.results[0].transcript = samples::said(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        report.results[0].verdict = Verdict::Found(samples::finding("x", "y"));
        let text = report.to_string();
        assert!(text.contains("< line 62\n              (75 lines left out)\n"), "{text}");
        assert!(text.contains("line 199\n") && !text.contains("line 100\n"), "{text}");
    }
}
