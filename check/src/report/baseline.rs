//! Findings that are known and accepted, so that only new ones fail.

use std::error::Error;
use std::fmt;

use sanswire::jsonrpc::{JsonRef, Kind, RawJson};
use sanswire::mcp::Revision;

use super::{Report, Verdict};

/// The version of the file's format.
const VERSION: u64 = 1;

/// A finding that is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Of this check.
    pub check: String,
    /// In this revision, or in each.
    pub revision: Option<Revision>,
    /// Why it is accepted, in words of whoever accepts it.
    pub note: String,
}

/// Findings that are accepted. Everything else that a check finds is new.
///
/// As a file it is JSON:
///
/// ```json
/// {
///   "baseline": 1,
///   "accepted": [
///     {"check": "ids-zero", "revision": "2025-11-25", "note": "until the next release"}
///   ]
/// }
/// ```
///
/// Without `revision` it is accepted in each; other members are left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// All that is accepted.
    pub accepted: Vec<Accepted>,
}

/// Why a file is no baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaselineError {
    /// It is no JSON.
    NotJson,
    /// It is of a later format than this program reads.
    Version(u64),
    /// Something in it is not what it has to be.
    Misfit {
        /// Which: `accepted[3].revision`.
        at: String,
        /// What it has to be.
        want: &'static str,
    },
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson => f.write_str("it is no JSON"),
            Self::Version(version) => {
                write!(
                    f,
                    "it has format {version}, and this program reads format {VERSION}: a newer one may read it"
                )
            }
            Self::Misfit { at, want } => write!(f, "{at} is not {want}"),
        }
    }
}

impl Error for BaselineError {}

impl Baseline {
    /// Reads a file.
    ///
    /// # Errors
    /// The file is no baseline, and why.
    pub fn read(text: &[u8]) -> Result<Self, BaselineError> {
        let json = RawJson::from_slice(text, 16).map_err(|_| BaselineError::NotJson)?;
        let view = json.view();
        let misfit = |at: &str, want| BaselineError::Misfit { at: at.to_owned(), want };
        match view.get("baseline").map(JsonRef::as_u64) {
            Some(Some(VERSION)) => {}
            Some(Some(version)) => return Err(BaselineError::Version(version)),
            _ => return Err(misfit("baseline", "the number 1")),
        }
        let list = view.get("accepted").filter(|it| it.kind() == Kind::Array);
        let list = list.ok_or_else(|| misfit("accepted", "an array"))?;
        let accepted = list.elements().enumerate().map(|(n, it)| Accepted::read(n, it));
        Ok(Self { accepted: accepted.collect::<Result<_, _>>()? })
    }

    /// The file: one finding a line, to be compared and commented on.
    #[must_use]
    pub fn to_text(&self) -> String {
        let lines: Vec<_> =
            self.accepted.iter().map(|it| format!("\n    {}", it.to_json().as_str())).collect();
        let end = if lines.is_empty() { "" } else { "\n  " };
        format!("{{\n  \"baseline\": {VERSION},\n  \"accepted\": [{}{end}]\n}}\n", lines.join(","))
    }
}

impl Accepted {
    fn read(n: usize, it: JsonRef<'_>) -> Result<Self, BaselineError> {
        let misfit = |member, want| BaselineError::Misfit { at: format!("accepted[{n}].{member}"), want };
        let text = |member| it.get(member).map(|it| it.str().map(|text| text.decode().into_owned()));
        let check = text("check").flatten().ok_or_else(|| misfit("check", "the name of a check"))?;
        let revision = match text("revision") {
            None => None,
            Some(date) => {
                let known = date.and_then(|date| Revision::from_date(&date));
                Some(known.ok_or_else(|| misfit("revision", "the date of a revision"))?)
            }
        };
        let note = text("note").unwrap_or(Some(String::new())).ok_or_else(|| misfit("note", "a text"))?;
        Ok(Self { check, revision, note })
    }

    pub(super) fn to_json(&self) -> RawJson {
        RawJson::object(|w| {
            w.string("check", &self.check);
            if let Some(revision) = self.revision {
                w.string("revision", revision.as_str());
            }
            w.string("note", &self.note);
        })
    }

    fn is_about(&self, check: &str, revision: Revision) -> bool {
        self.check == check && self.revision.is_none_or(|only| only == revision)
    }
}

impl Report {
    /// Accepts what the baseline accepts: those findings are told, and do not count. What it accepts of checks that passed
    /// wherever they were tried, or that do not exist, is [stale](Report::stale).
    pub fn accept(&mut self, baseline: &Baseline) {
        for accepted in &baseline.accepted {
            let (mut tried, mut used) = (false, false);
            for result in &mut self.results {
                if !accepted.is_about(result.check.id, result.revision) {
                    continue;
                }
                match &result.verdict {
                    Verdict::Passed => tried = true,
                    Verdict::Found(finding) => {
                        used = true;
                        result.verdict = Verdict::Accepted(finding.clone(), accepted.note.clone());
                    }
                    Verdict::Accepted(..) => used = true,
                    Verdict::Skipped(_) => {}
                }
            }
            let exists = crate::all().chain(crate::clients()).any(|check| check.id == accepted.check);
            if !used && (tried || !exists) {
                self.stale.push(accepted.clone());
            }
        }
    }

    /// A baseline that accepts all that was found, with the notes of what is accepted already.
    #[must_use]
    pub fn baseline(&self) -> Baseline {
        let accepted = self.results.iter().filter_map(|it| {
            let note = match &it.verdict {
                Verdict::Found(finding) => finding.to_string(),
                Verdict::Accepted(_, note) => note.clone(),
                Verdict::Passed | Verdict::Skipped(_) => return None,
            };
            Some(Accepted { check: it.check.id.to_owned(), revision: Some(it.revision), note })
        });
        Baseline { accepted: accepted.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn what_is_accepted_is_told_and_does_not_fail() {
        let mut report = samples::report();
        assert_eq!(report.status(), 6);
        let baseline = report.baseline();
        let read = Baseline::read(baseline.to_text().as_bytes()).unwrap();
        assert_eq!(read, baseline);
        let found = report.results.iter().filter(|it| matches!(it.verdict, Verdict::Found(_))).count();
        report.accept(&read);
        assert_eq!((report.status(), report.accepted().count(), report.stale.len()), (0, found, 0));
        assert_eq!(report.baseline(), baseline, "notes are kept");
    }

    #[test]
    fn one_revision_is_accepted_or_all() {
        let mut report = samples::report();
        let (check, revision) = (report.results[0].check.id, report.results[0].revision);
        let of = |revision| Accepted { check: check.into(), revision, note: "known".into() };
        let other = Revision::ALL.into_iter().find(|it| *it != revision);
        report.accept(&Baseline { accepted: vec![of(other)] });
        assert_eq!(report.accepted().count(), 0);
        report.accept(&Baseline { accepted: vec![of(None)] });
        let [(result, _, note)] = report.accepted().collect::<Vec<_>>()[..] else { panic!("{report}") };
        assert_eq!((result.check.id, result.revision, note), (check, revision, "known"));
    }

    #[test]
    fn what_was_mended_is_stale_and_what_was_not_tried_is_not() {
        let mut report = samples::report();
        let of = |id: &str| Accepted { check: id.into(), revision: None, note: String::new() };
        let id = |wanted: fn(&Verdict) -> bool| {
            report.results.iter().find(|it| wanted(&it.verdict)).unwrap().check.id
        };
        let passed = of(id(|it| *it == Verdict::Passed));
        let skipped = of(id(|it| matches!(it, Verdict::Skipped(_))));
        let gone = of("no-such-check");
        report.accept(&Baseline { accepted: vec![passed.clone(), skipped, gone.clone()] });
        assert_eq!((report.status(), &report.stale), (6, &vec![passed, gone]));
    }

    #[test]
    fn what_is_no_baseline_says_why() {
        for (text, says) in [
            ("", "it is no JSON"),
            ("[]", "baseline is not the number 1"),
            (r#"{"baseline":2,"accepted":[]}"#, "a newer one may read it"),
            (r#"{"baseline":1}"#, "accepted is not an array"),
            (r#"{"baseline":1,"accepted":[{}]}"#, "accepted[0].check is not the name of a check"),
            (
                r#"{"baseline":1,"accepted":[{"check":"a"},{"check":"a","revision":"1999"}]}"#,
                "accepted[1].revision is not the date of a revision",
            ),
            (r#"{"baseline":1,"accepted":[{"check":"a","note":1}]}"#, "accepted[0].note is not a text"),
        ] {
            let error = Baseline::read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert_eq!(Baseline::read(Baseline::default().to_text().as_bytes()), Ok(Baseline::default()));
    }
}
