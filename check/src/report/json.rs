//! A report for programs.

use sanswire::jsonrpc::{ObjectWriter, RawJson};

use super::{Found, Report, Result, Verdict};
use crate::check::{Check, Role, Source, Strength};
use crate::finding::shown;
use crate::transcript::From;

impl Check {
    /// What it is about, as JSON: `id`, `title`, `strength` (`must`, `should`, `advice`), `explain`.
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        RawJson::object(|w| write_check(w, self))
    }
}

impl Report {
    /// The whole report as JSON.
    ///
    /// `role` (`server`), `peer` (what it calls itself, or absent), `revisions`, `status` (0, 4 or 6), `counts` (`passed`, `failed`, `should`, `advice`,
    /// `skipped`), `unreached` (as a finding, or absent) and `results`: for each check and revision `check`, `title`,
    /// `strength`, `revision`, `verdict` (`passed`, `found` or `skipped`), `source` (an address, or absent), and either
    /// `why` it was skipped or `expected`, `got`, `explain` and `transcript`: an array of `ms`, `from` (`check`, `server`,
    /// `stderr` or `event`), `text` (bounded) and `bytes` (how long it was).
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        RawJson::object(|w| {
            w.string("role", self.role.as_str());
            if let Some(peer) = &self.peer {
                w.string("peer", peer);
            }
            w.array_of_strings("revisions", self.revisions.iter().map(|it| it.as_str()));
            w.u64("status", self.status().into());
            let found = |strength| self.findings(strength).count() as u64;
            w.object("counts", |w| {
                w.u64("passed", self.passed() as u64).u64("failed", found(Strength::Must));
                w.u64("should", found(Strength::Should)).u64("advice", found(Strength::Advice));
                w.u64("skipped", self.skipped().count() as u64);
            });
            if let Some(found) = &self.unreached {
                w.object("unreached", |w| write_found(w, found));
            }
            w.array("results", |w| {
                for result in &self.results {
                    w.object(|w| write_result(w, result));
                }
            });
        })
    }
}

impl Role {
    /// `server`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
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
    match &result.verdict {
        Verdict::Passed => {
            w.string("verdict", "passed");
        }
        Verdict::Skipped(why) => {
            w.string("verdict", "skipped").string("why", why);
        }
        Verdict::Found(found) => {
            w.string("verdict", "found").string("explain", check.explain);
            write_found(w, found);
        }
    }
}

fn write_found(w: &mut ObjectWriter<'_>, found: &Found) {
    w.string("expected", &found.finding.expected).string("got", &found.finding.got);
    w.array("transcript", |w| {
        for entry in found.transcript.entries() {
            w.object(|w| {
                let from = match entry.from {
                    From::Check => "check",
                    From::Server => "server",
                    From::Stderr => "stderr",
                    From::Event => "event",
                };
                w.u64("ms", u64::try_from(entry.at.as_millis()).unwrap_or(u64::MAX)).string("from", from);
                w.string("text", &shown(entry.bytes.strip_suffix(b"\n").unwrap_or(&entry.bytes)));
                w.u64("bytes", entry.len as u64);
            });
        }
    });
}
