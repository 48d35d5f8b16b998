//! What belongs together in a report that people read.

use sanswire::mcp::Revision;

use super::{Report, Result, Verdict};
use crate::check::{Check, Strength};
use crate::finding::Finding;

/// The findings of one check that say the same.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) check: &'static Check,
    /// What the newest of them says.
    pub(super) finding: &'a Finding,
    /// All of them, the oldest revision first.
    pub(super) results: Vec<&'a Result>,
}

impl Group<'_> {
    pub(super) fn revisions(&self) -> String {
        revisions(self.results.iter().map(|it| it.revision))
    }

    /// The newest of them, whose lines are the proof.
    pub(super) fn newest(&self) -> Option<&Result> {
        self.results.last().copied()
    }
}

/// Revisions in a sentence.
pub(super) fn revisions(all: impl Iterator<Item = Revision>) -> String {
    all.map(Revision::as_str).collect::<Vec<_>>().join(", ")
}

impl Report {
    /// The findings, the gravest first, those that say the same in several revisions told once.
    pub(super) fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for strength in [Strength::Must, Strength::Should, Strength::Advice] {
            for (result, finding) in self.findings(strength) {
                let mut same = groups.iter_mut().filter(|it| it.check.id == result.check.id);
                match same.find(|it| alike(it.finding, finding)) {
                    Some(group) => {
                        group.finding = finding;
                        group.results.push(result);
                    }
                    None => groups.push(Group { check: result.check, finding, results: vec![result] }),
                }
            }
        }
        groups
    }

    /// Why checks were not tried, and which: by their names, with the revisions where they were tried in others.
    pub(super) fn skipped_by_reason(&self) -> Vec<(&str, Vec<String>)> {
        let mut reasons: Vec<(&str, Vec<&Result>)> = Vec::new();
        for (result, why) in self.skipped() {
            match reasons.iter_mut().find(|(reason, _)| *reason == why) {
                Some((_, results)) => results.push(result),
                None => reasons.push((why, vec![result])),
            }
        }
        let names = |results: Vec<&Result>| {
            let same = |one: &&Result, other: &&Result| one.check.id == other.check.id;
            results.chunk_by(same).map(|results| self.named(results)).collect()
        };
        reasons.into_iter().map(|(why, results)| (why, names(results))).collect()
    }

    /// The name of the check of some results, with their revisions if it has others too.
    fn named(&self, results: &[&Result]) -> String {
        let id = results.first().map_or("", |it| it.check.id);
        if self.results.iter().filter(|it| it.check.id == id).count() == results.len() {
            return id.to_owned();
        }
        format!("{id} ({})", revisions(results.iter().map(|it| it.revision)))
    }

    /// What passed, and in which revisions.
    pub(super) fn passed_checks(&self) -> Vec<(&'static Check, Vec<&Result>)> {
        let mut passed: Vec<(&'static Check, Vec<&Result>)> = Vec::new();
        for result in self.results.iter().filter(|it| it.verdict == Verdict::Passed) {
            match passed.last_mut().filter(|(check, _)| check.id == result.check.id) {
                Some((_, results)) => results.push(result),
                None => passed.push((result.check, vec![result])),
            }
        }
        passed
    }

    /// Its name, or what stands for it.
    pub(super) fn peer_name(&self) -> String {
        let unnamed = format!("a {} without a name", self.role.as_str());
        self.peer.as_deref().map_or(unnamed, crate::finding::harmless)
    }

    /// How many there were of each kind, in words.
    pub(super) fn counts(&self) -> String {
        let found = |strength| self.findings(strength).count();
        let mut counts = format!(
            "{} passed, {} failed, {} to mend, {} of advice, ",
            self.passed(),
            found(Strength::Must),
            found(Strength::Should),
            found(Strength::Advice)
        );
        let accepted = self.accepted().count();
        if accepted > 0 {
            counts.push_str(&format!("{accepted} accepted, "));
        }
        counts + &format!("{} not tried", self.skipped().count())
    }
}

/// Whether two findings differ in numbers at most: ids and times do from one revision to the next.
fn alike(one: &Finding, other: &Finding) -> bool {
    let letters = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    letters(&one.expected) == letters(&other.expected) && letters(&one.got) == letters(&other.got)
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn what_says_the_same_is_told_once_and_the_gravest_first() {
        let mut report = samples::report();
        report.results[1].verdict = samples::found("an exit", "a process 12 that runs on");
        report.results[2].verdict = samples::found("an exit", "a process 345 that runs on");
        report.results.rotate_left(1);
        let groups = report.groups();
        let told: Vec<_> = groups.iter().map(|it| (it.check.strength, it.revisions())).collect();
        assert_eq!(
            told,
            [
                (Strength::Must, "2026-07-28".into()),
                (Strength::Should, "2025-11-25, 2026-07-28".into()),
                (Strength::Advice, "2026-07-28".into())
            ]
        );
        assert_eq!(groups[1].finding.got, "a process 345 that runs on");
        report.results[1].verdict = samples::found("an exit", "something else");
        assert_eq!(report.groups().len(), 4);
    }

    #[test]
    fn what_was_not_tried_is_told_by_reason() {
        let mut report = samples::report();
        report.results[1].verdict = Verdict::Skipped("nothing is listed".into());
        let id = |n: usize| report.results[n].check.id;
        assert_eq!(
            report.skipped_by_reason(),
            [
                ("nothing is listed", vec![format!("{} (2025-11-25)", id(1))]),
                ("the server does not declare tools", vec![id(5).to_owned()])
            ]
        );
    }
}
