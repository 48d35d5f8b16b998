//! What came of it.

mod badge;
mod baseline;
mod format;
mod github;
mod groups;
mod html;
mod json;
mod junit;
mod markup;
mod mask;
#[cfg(test)]
mod samples;
mod sarif;
mod text;

use std::time::Duration;

use sanswire::mcp::Revision;

pub use baseline::{Accepted, Baseline, BaselineError};
pub use format::Format;
pub use text::Text;

use crate::check::{Check, Role, Strength};
use crate::finding::Finding;
use crate::transcript::Transcript;

/// What came of a check in one revision.
#[derive(Debug)]
pub struct Result {
    /// Which.
    pub check: &'static Check,
    /// In which revision.
    pub revision: Revision,
    /// What came of it.
    pub verdict: Verdict,
    /// What was said meanwhile: the proof of a finding; shortened if it passed.
    pub transcript: Transcript,
    /// How long it took, the start of a process included if one was started for it.
    pub took: Duration,
}

impl Result {
    pub(crate) fn new(
        check: &'static Check,
        revision: Revision,
        verdict: Verdict,
        mut transcript: Transcript,
        took: Duration,
    ) -> Self {
        if !matches!(verdict, Verdict::Found(_)) {
            transcript.shorten();
        }
        Self { check, revision, verdict, transcript, took }
    }

    /// It was not tried.
    pub(crate) fn skipped(check: &'static Check, revision: Revision, why: String) -> Self {
        let transcript = Transcript::new();
        Self { check, revision, verdict: Verdict::Skipped(why), transcript, took: Duration::ZERO }
    }
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The server does what it has to.
    Passed,
    /// It does not.
    Found(Finding),
    /// It does not, and a [`Baseline`] says that this is known, with its note.
    Accepted(Finding, String),
    /// It was not tried, and why.
    Skipped(String),
}

/// A finding that is of no check, and its proof.
#[derive(Debug)]
pub struct Found {
    /// What it is.
    pub finding: Finding,
    /// What was said meanwhile.
    pub transcript: Transcript,
}

/// A revision that was tried and that the server does not speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unspoken {
    /// Which.
    pub revision: Revision,
    /// What showed it: `it answers with 2025-11-25`.
    pub why: String,
}

/// What came of all of them.
#[derive(Debug)]
pub struct Report {
    /// What was checked.
    pub role: Role,
    /// What it calls itself: a name, and a version behind a space.
    pub peer: Option<String>,
    /// The revisions that it speaks, of those that were tried.
    pub revisions: Vec<Revision>,
    /// The others that were tried.
    pub unspoken: Vec<Unspoken>,
    /// Why it could not be spoken to at all.
    pub unreached: Option<Found>,
    /// In the order of the checks, and for each the oldest revision first.
    pub results: Vec<Result>,
    /// What a baseline accepts and nothing was found of.
    pub stale: Vec<Accepted>,
}

impl Report {
    /// The findings of a strength.
    pub fn findings(&self, strength: Strength) -> impl Iterator<Item = (&Result, &Finding)> {
        self.results.iter().filter(move |it| it.check.strength == strength).filter_map(|it| {
            match &it.verdict {
                Verdict::Found(finding) => Some((it, finding)),
                Verdict::Passed | Verdict::Accepted(..) | Verdict::Skipped(_) => None,
            }
        })
    }

    /// The findings that a baseline accepts, with its notes.
    pub fn accepted(&self) -> impl Iterator<Item = (&Result, &Finding, &str)> {
        self.results.iter().filter_map(|it| match &it.verdict {
            Verdict::Accepted(finding, note) => Some((it, finding, note.as_str())),
            Verdict::Passed | Verdict::Found(_) | Verdict::Skipped(_) => None,
        })
    }

    /// How many passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.results.iter().filter(|it| matches!(it.verdict, Verdict::Passed)).count()
    }

    /// What was not tried, and why.
    pub fn skipped(&self) -> impl Iterator<Item = (&Result, &str)> {
        self.results.iter().filter_map(|it| match &it.verdict {
            Verdict::Skipped(why) => Some((it, why.as_str())),
            Verdict::Passed | Verdict::Found(_) | Verdict::Accepted(..) => None,
        })
    }

    /// The status to exit with: 0 if nothing fails, 6 if something does, 4 if the server could not be spoken to.
    #[must_use]
    pub fn status(&self) -> u8 {
        if self.unreached.is_some() {
            4
        } else if self.findings(Strength::Must).next().is_some() {
            6
        } else {
            0
        }
    }
}
