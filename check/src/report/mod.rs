//! What came of it.

mod json;
mod text;

use sanswire::mcp::Revision;

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
}

/// What came of a check.
#[derive(Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// The server does what it has to.
    Passed,
    /// It does not.
    Found(Box<Found>),
    /// It was not tried, and why.
    Skipped(String),
}

/// A finding and its proof.
#[derive(Debug)]
pub struct Found {
    /// What it is.
    pub finding: Finding,
    /// What was said meanwhile.
    pub transcript: Transcript,
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
    /// Why it could not be spoken to at all.
    pub unreached: Option<Found>,
    /// In the order of the checks, and for each the oldest revision first.
    pub results: Vec<Result>,
}

impl Report {
    /// The findings of a strength.
    pub fn findings(&self, strength: Strength) -> impl Iterator<Item = (&Result, &Found)> {
        self.results.iter().filter(move |it| it.check.strength == strength).filter_map(|it| {
            match &it.verdict {
                Verdict::Found(found) => Some((it, &**found)),
                Verdict::Passed | Verdict::Skipped(_) => None,
            }
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
            Verdict::Passed | Verdict::Found(_) => None,
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
