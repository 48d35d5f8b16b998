//! A report in the log of a workflow of GitHub: a line for each finding that is shown beside the run.

use super::Report;
use crate::check::Strength;

impl Report {
    /// Commands for the runner, and the report as text behind them. A finding that says the same in several revisions is one
    /// line: only ten of each level are shown.
    #[must_use]
    pub fn to_github(&self) -> String {
        let mut out = String::new();
        if let Some(found) = &self.unreached {
            let title = format!("the {} could not be checked", self.role.as_str());
            out.push_str(&line("error", &title, &found.finding.to_string()));
        }
        for group in self.groups() {
            let level = match group.check.strength {
                Strength::Must => "error",
                Strength::Should => "warning",
                Strength::Advice => "notice",
            };
            let title = format!("{} ({})", group.check.id, group.revisions());
            let url = group.newest().and_then(|it| it.check.source.url(it.revision)).unwrap_or_default();
            let text = format!("{}\n{}\n{}\n{url}", group.check.title, group.finding, group.check.explain);
            out.push_str(&line(level, &title, text.trim_end()));
        }
        for stale in &self.stale {
            let text =
                format!("the baseline accepts {}, and it is not found any more: take it out", stale.check);
            out.push_str(&line("notice", "baseline", &crate::finding::harmless(&text)));
        }
        // The runner takes what looks like a command wherever it stands, and a server must not give any.
        out + &self.to_string().replace("::", ":\u{200b}:").replace("##[", "##\u{200b}[") + "\n"
    }
}

fn line(level: &str, title: &str, text: &str) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    format!("::{level} title={}::{}\n", property(title), data(text))
}

#[cfg(test)]
mod tests {
    use super::super::samples;

    #[test]
    fn a_finding_is_a_line_of_its_level() {
        let mut report = samples::report();
        report.results[3].verdict = samples::found("100%", "##[stop] ::warning::so\nthen");
        let text = report.to_github();
        let commands: Vec<_> = text.lines().filter(|line| line.starts_with("::")).collect();
        assert_eq!(commands.len(), 3, "{text}");
        assert!(commands[0].starts_with("::error title=lifecycle-unknown-version (2026-07-28)::"), "{text}");
        assert!(
            commands[1].starts_with("::warning title=lifecycle-exit-on-eof (2025-11-25%2C 2026-07-28)::"),
            "{text}"
        );
        assert!(commands[2].contains("%0Aexpected 100%25, got ##[stop] ::warning::so\\nthen%0A"), "{text}");
        let rest: Vec<_> = text.lines().filter(|line| !line.starts_with("::")).collect();
        assert!(rest.iter().all(|line| !line.contains("::") && !line.contains("##[")), "{text}");
        assert!(rest.iter().any(|line| line.contains("What to mend first")), "{text}");
        assert!(
            samples::unreached()
                .to_github()
                .starts_with("::error title=the server could not be checked::expected")
        );
    }
}
