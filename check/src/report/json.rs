//! A report for programs.

use std::time::Duration;

use sanswire::jsonrpc::{ObjectWriter, RawJson};

use super::{Report, Result, Verdict};
use crate::check::{Check, Role, Source, Strength};
use crate::finding::{Finding, brief};
use crate::transcript::Transcript;

impl Check {
    /// What it is about, as JSON: `id`, `title`, `strength` (`must`, `should`, `advice`), `explain`.
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        RawJson::object(|w| write_check(w, self))
    }
}

impl Report {
    /// The whole report as JSON, as `docs/check-report.schema.json` describes it.
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        RawJson::object(|w| {
            w.u64("report", VERSION).string("role", self.role.as_str());
            if let Some(peer) = &self.peer {
                w.string("peer", peer);
            }
            w.u64("status", self.status().into());
            w.array_of_strings("revisions", self.revisions.iter().map(|it| it.as_str()));
            w.array("unspoken", |w| {
                for unspoken in &self.unspoken {
                    w.object(|w| {
                        w.string("revision", unspoken.revision.as_str()).string("why", &unspoken.why);
                    });
                }
            });
            let found = |strength| self.findings(strength).count() as u64;
            w.object("counts", |w| {
                w.u64("passed", self.passed() as u64).u64("failed", found(Strength::Must));
                w.u64("should", found(Strength::Should)).u64("advice", found(Strength::Advice));
                w.u64("accepted", self.accepted().count() as u64)
                    .u64("skipped", self.skipped().count() as u64);
            });
            if let Some(found) = &self.unreached {
                w.object("unreached", |w| {
                    write_finding(w, &found.finding);
                    write_transcript(w, &found.transcript);
                });
            }
            w.array("results", |w| {
                for result in &self.results {
                    w.object(|w| write_result(w, result));
                }
            });
            w.array("stale", |w| {
                for stale in &self.stale {
                    w.raw(stale.to_json().view());
                }
            });
        })
    }
}

/// The version of what a report is as JSON: another one is not read by the same program.
const VERSION: u64 = 1;
/// How much of a line programs get.
const MOST: usize = 4096;

impl Role {
    /// `server`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

impl Strength {
    /// `must`, `should` or `advice`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Advice => "advice",
        }
    }
}

fn write_check(w: &mut ObjectWriter<'_>, check: &Check) {
    w.string("id", check.id).string("title", check.title).string("strength", check.strength.as_str());
    if check.source == Source::Practice {
        w.bool("practice", true);
    }
    w.string("explain", check.explain);
}

fn write_result(w: &mut ObjectWriter<'_>, result: &Result) {
    let check = result.check;
    w.string("check", check.id).string("title", check.title).string("strength", check.strength.as_str());
    w.string("revision", result.revision.as_str());
    if let Some(url) = check.source.url(result.revision) {
        w.string("source", &url);
    }
    w.u64("ms", millis(result.took));
    match &result.verdict {
        Verdict::Passed => {
            w.string("verdict", "passed");
        }
        Verdict::Skipped(why) => {
            w.string("verdict", "skipped").string("why", why);
            return;
        }
        Verdict::Found(finding) => {
            w.string("verdict", "found").string("explain", check.explain);
            write_finding(w, finding);
        }
        Verdict::Accepted(finding, note) => {
            w.string("verdict", "accepted").string("note", note).string("explain", check.explain);
            write_finding(w, finding);
        }
    }
    write_transcript(w, &result.transcript);
}

fn write_finding(w: &mut ObjectWriter<'_>, finding: &Finding) {
    w.string("expected", &brief(&finding.expected, MOST)).string("got", &brief(&finding.got, MOST));
}

fn write_transcript(w: &mut ObjectWriter<'_>, transcript: &Transcript) {
    w.array("transcript", |w| {
        for entry in transcript.entries() {
            w.object(|w| {
                w.u64("ms", millis(entry.at)).string("from", entry.from.as_str());
                w.string("text", &entry.shown(MOST)).u64("bytes", entry.len as u64);
            });
        }
    });
    if transcript.left_out() > 0 {
        w.u64("left_out", transcript.left_out() as u64);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
