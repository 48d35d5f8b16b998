//! A report for people.

use std::fmt;

use super::Report;
use crate::check::Strength;
use crate::finding::shown;
use crate::transcript::{From, Transcript};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(found) = &self.unreached {
            writeln!(f, "the server could not be checked: {}", found.finding)?;
            return lines(f, &found.transcript);
        }
        let revisions: Vec<_> = self.revisions.iter().map(|revision| revision.as_str()).collect();
        let server = self.peer.as_deref().unwrap_or("a server without a name");
        writeln!(f, "{}, {}", shown(server.as_bytes()), revisions.join(", "))?;
        for (strength, word) in
            [(Strength::Must, "fails"), (Strength::Should, "should be mended"), (Strength::Advice, "advice")]
        {
            for (result, found) in self.findings(strength) {
                writeln!(f, "\n{} ({word}, {}): {}", result.check.id, result.revision, result.check.title)?;
                writeln!(f, "  {}", found.finding)?;
                writeln!(f, "  {}", result.check.explain)?;
                if let Some(url) = result.check.source.url(result.revision) {
                    writeln!(f, "  {url}")?;
                }
                lines(f, &found.transcript)?;
            }
        }
        let skipped: Vec<_> = self.skipped().collect();
        if !skipped.is_empty() {
            writeln!(f, "\nnot tried:")?;
        }
        for (result, why) in &skipped {
            writeln!(f, "  {} ({}): {why}", result.check.id, result.revision)?;
        }
        let found = |strength| self.findings(strength).count();
        write!(
            f,
            "\n{} passed, {} failed, {} to mend, {} of advice, {} not tried",
            self.passed(),
            found(Strength::Must),
            found(Strength::Should),
            found(Strength::Advice),
            skipped.len()
        )
    }
}

fn lines(f: &mut fmt::Formatter<'_>, transcript: &Transcript) -> fmt::Result {
    for entry in transcript.entries() {
        let mark = match entry.from {
            From::Check => ">",
            From::Server => "<",
            From::Stderr => "!",
            From::Event => "-",
        };
        let line = entry.bytes.strip_suffix(b"\n").unwrap_or(&entry.bytes);
        writeln!(f, "  {:>6} ms {mark} {}", entry.at.as_millis(), shown(line))?;
    }
    if transcript.left_out() > 0 {
        writeln!(f, "  ({} lines in the middle left out)", transcript.left_out())?;
    }
    Ok(())
}
