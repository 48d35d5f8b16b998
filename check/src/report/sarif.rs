//! A report for what shows analyses: SARIF 2.1.0, as code scanning reads it.

use std::collections::BTreeMap;

use sanswire::jsonrpc::{ArrayWriter, ObjectWriter, RawJson};

use super::{Report, Result, Verdict};
use crate::check::{Check, Strength};
use crate::finding::Finding;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

impl Strength {
    const fn level(self) -> &'static str {
        match self {
            Self::Must => "error",
            Self::Should => "warning",
            Self::Advice => "note",
        }
    }
}

impl Report {
    /// As SARIF 2.1.0. `file`: where findings are shown, since code scanning shows none without a file: the program, by its
    /// path in the repository.
    #[must_use]
    pub fn to_sarif(&self, file: Option<&str>) -> RawJson {
        let mut rules: Vec<&'static Check> = Vec::new();
        let mut places: BTreeMap<&str, u64> = BTreeMap::new();
        for check in self.results.iter().filter(|it| finding(it).is_some()).map(|it| it.check) {
            places.entry(check.id).or_insert_with(|| {
                rules.push(check);
                rules.len() as u64 - 1
            });
        }
        RawJson::object(|w| {
            w.string("$schema", SCHEMA).string("version", "2.1.0");
            w.array("runs", |w| {
                w.object(|w| {
                    w.object("tool", |w| {
                        w.object("driver", |w| self.driver(w, &rules));
                    });
                    w.array("invocations", |w| {
                        w.object(|w| self.invocation(w));
                    });
                    w.array("results", |w| {
                        for result in &self.results {
                            let place = places.get(result.check.id).copied();
                            if let (Some(finding), Some(place)) = (finding(result), place) {
                                w.object(|w| write_result(w, result, finding, place, file));
                            }
                        }
                    });
                });
            });
        })
    }

    fn driver(&self, w: &mut ObjectWriter<'_>, rules: &[&'static Check]) {
        w.string("name", "sanswire check").string("version", env!("CARGO_PKG_VERSION"));
        w.array("rules", |w| {
            for check in rules {
                w.object(|w| self.rule(w, check));
            }
        });
    }

    fn rule(&self, w: &mut ObjectWriter<'_>, check: &Check) {
        w.string("id", check.id);
        write_text(w, "shortDescription", check.title);
        write_text(w, "fullDescription", check.explain);
        write_text(w, "help", check.explain);
        let newest = self.results.iter().rev().find(|it| it.check.id == check.id).map(|it| it.revision);
        if let Some(url) = newest.and_then(|revision| check.source.url(revision)) {
            w.string("helpUri", &url);
        }
        w.object("defaultConfiguration", |w| {
            w.string("level", check.strength.level());
        });
    }

    fn invocation(&self, w: &mut ObjectWriter<'_>) {
        w.bool("executionSuccessful", self.unreached.is_none());
        if let Some(found) = &self.unreached {
            w.array("toolExecutionNotifications", |w| {
                w.object(|w| {
                    w.string("level", "error");
                    write_text(w, "message", &format!("the server could not be checked: {}", found.finding));
                });
            });
        }
    }
}

fn finding(result: &Result) -> Option<&Finding> {
    match &result.verdict {
        Verdict::Found(finding) | Verdict::Accepted(finding, _) => Some(finding),
        Verdict::Passed | Verdict::Skipped(_) => None,
    }
}

fn write_result(
    w: &mut ObjectWriter<'_>,
    result: &Result,
    finding: &Finding,
    place: u64,
    file: Option<&str>,
) {
    let check = result.check;
    w.string("ruleId", check.id).u64("ruleIndex", place).string("level", check.strength.level());
    write_text(w, "message", &format!("{} ({}): {finding}", check.title, result.revision));
    w.array("locations", |w| {
        w.object(|w| write_location(w, result, file));
    });
    // What a finding is recognized by in the next run: the same check in the same revision.
    w.object("partialFingerprints", |w| {
        w.string("check/v1", &format!("{} {}", check.id, result.revision));
    });
    if let Verdict::Accepted(_, note) = &result.verdict {
        w.array("suppressions", |w: &mut ArrayWriter<'_>| {
            w.object(|w| {
                w.string("kind", "external").string("justification", note);
            });
        });
    }
}

fn write_location(w: &mut ObjectWriter<'_>, result: &Result, file: Option<&str>) {
    if let Some(file) = file {
        w.object("physicalLocation", |w| {
            w.object("artifactLocation", |w| {
                w.string("uri", &uri(file));
            });
            w.object("region", |w| {
                w.u64("startLine", 1);
            });
        });
    }
    w.array("logicalLocations", |w| {
        w.object(|w| {
            w.string("name", result.revision.as_str()).string("kind", "module");
        });
    });
}

fn write_text(w: &mut ObjectWriter<'_>, name: &str, text: &str) {
    w.object(name, |w| {
        w.string("text", text);
    });
}

/// A path as a reference.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples;

    #[test]
    fn each_finding_names_its_rule_and_its_level() {
        let mut report = samples::report();
        report.accept(&crate::Baseline { accepted: report.baseline().accepted.split_off(3) });
        let sarif = report.to_sarif(Some("dist/a b.js"));
        let run = sarif.view().get("runs").unwrap().elements().next().unwrap();
        let rules: Vec<_> =
            run.get("tool").unwrap().get("driver").unwrap().get("rules").unwrap().elements().collect();
        let text = |it: sanswire::jsonrpc::JsonRef<'_>| it.str().unwrap().decode().into_owned();
        let results: Vec<_> = run.get("results").unwrap().elements().collect();
        assert_eq!((rules.len(), results.len()), (3, 4), "{}", sarif.as_str());
        for (result, level) in results.iter().zip(["error", "warning", "warning", "note"]) {
            let rule = rules[usize::try_from(result.get("ruleIndex").unwrap().as_u64().unwrap()).unwrap()];
            assert_eq!(text(rule.get("id").unwrap()), text(result.get("ruleId").unwrap()));
            assert_eq!(text(result.get("level").unwrap()), level);
            assert_eq!(result.get("suppressions").is_some(), level == "note");
        }
        assert!(sarif.as_str().contains(r#""uri":"dist/a%20b.js""#), "{}", sarif.as_str());
        assert!(samples::unreached().to_sarif(None).as_str().contains(r#""executionSuccessful":false"#));
    }
}
