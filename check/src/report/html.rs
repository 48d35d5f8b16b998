//! A report as a page: it needs nothing but itself, and no script.

use super::groups::{Group, revisions};
use super::markup::escaped;
use super::{Report, Result};
use crate::check::Strength;
use crate::finding::{BRIEF, brief};
use crate::transcript::{From, Transcript};

/// How much of a line is shown.
const MOST: usize = 1000;

impl Strength {
    /// The class of what is about it.
    const fn class(self) -> &'static str {
        self.as_str()
    }
}

impl Report {
    /// As a page of HTML, with everything that was said. It loads nothing, and nothing in it runs.
    #[must_use]
    pub fn to_html(&self) -> String {
        let name = escaped(&brief(&self.peer_name(), BRIEF));
        let style = include_str!("html.css");
        let mut out = format!(
            concat!(
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n",
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n",
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n",
                "<title>{}: Model Context Protocol check</title>\n<style>\n{}</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n",
                "<p class=\"soft\">What this {} does over standard input and output, against the specification of the Model Context Protocol</p>\n"
            ),
            name,
            style,
            name,
            self.role.as_str()
        );
        if let Some(found) = &self.unreached {
            out.push_str(&format!(
                "</header>\n<main>\n<h2 class=\"must\">It could not be checked</h2>\n<p>{}</p>\n{}</main>\n</body>\n</html>\n",
                escaped(&found.finding.to_string()),
                lines(&found.transcript)
            ));
            return out;
        }
        out.push_str(&self.summary_of_page());
        out.push_str("</header>\n<main>\n");
        let groups = self.groups();
        if !groups.is_empty() {
            out.push_str(&first(&groups));
            out.push_str("<section>\n<h2>Each of them</h2>\n");
            groups.iter().enumerate().for_each(|(n, group)| out.push_str(&article(n, group)));
            out.push_str("</section>\n");
        }
        out.push_str(&self.baseline_of_page());
        out.push_str(&self.not_tried_of_page());
        out.push_str(&self.passed_of_page());
        out.push_str("</main>\n</body>\n</html>\n");
        out
    }

    fn summary_of_page(&self) -> String {
        let mut out = String::from("<ul class=\"counts\">\n");
        let mut count = |class: &str, number: usize, what: &str| {
            out.push_str(&format!("<li><b class=\"{class}\">{number}</b> {what}</li>\n"));
        };
        count("good", self.passed(), "passed");
        for (strength, what) in
            [(Strength::Must, "failed"), (Strength::Should, "to mend"), (Strength::Advice, "of advice")]
        {
            count(strength.class(), self.findings(strength).count(), what);
        }
        let accepted = self.accepted().count();
        if accepted > 0 {
            count("soft", accepted, "accepted");
        }
        count("soft", self.skipped().count(), "not tried");
        out.push_str(&format!(
            "</ul>\n<dl class=\"wide\">\n<dt>Speaks</dt><dd>{}</dd>\n",
            dates(&revisions(self.revisions.iter().copied()))
        ));
        for unspoken in &self.unspoken {
            let why = escaped(&brief(&unspoken.why, BRIEF));
            out.push_str(&format!("<dt>Does not speak</dt><dd>{}: {why}</dd>\n", unspoken.revision));
        }
        out + "</dl>\n"
    }

    fn baseline_of_page(&self) -> String {
        let mut out = String::new();
        if self.accepted().next().is_some() {
            out.push_str("<section>\n<h2>Accepted by the baseline</h2>\n");
            for (result, finding, note) in self.accepted() {
                let about = format!("{} ({}): {}", result.check.id, result.revision, finding);
                out.push_str(&details(
                    &about,
                    &format!("<p>{}</p>\n{}", escaped(note), lines(&result.transcript)),
                ));
            }
            out.push_str("</section>\n");
        }
        if !self.stale.is_empty() {
            out.push_str("<section>\n<h2>In the baseline, and not found any more: take it out</h2>\n<ul class=\"plain\">\n");
            for stale in &self.stale {
                let revision = stale.revision.map_or("all revisions", sanswire::mcp::Revision::as_str);
                out.push_str(&format!("<li>{} ({revision})</li>\n", escaped(&stale.check)));
            }
            out.push_str("</ul>\n</section>\n");
        }
        out
    }

    fn not_tried_of_page(&self) -> String {
        let reasons = self.skipped_by_reason();
        if reasons.is_empty() {
            return String::new();
        }
        let mut out = String::from("<section>\n<h2>Not tried</h2>\n<ul class=\"plain\">\n");
        for (why, checks) in reasons {
            let why = escaped(&brief(why, BRIEF));
            out.push_str(&format!("<li>{why}: <code>{}</code></li>\n", escaped(&checks.join(", "))));
        }
        out + "</ul>\n</section>\n"
    }

    fn passed_of_page(&self) -> String {
        let passed = self.passed_checks();
        if passed.is_empty() {
            return String::new();
        }
        let mut out = String::from("<section>\n<h2>Passed</h2>\n");
        for (check, results) in passed {
            let about = format!("{}: {}", check.id, check.title);
            let inside: String = results.iter().map(|it| timeline(it)).collect();
            out.push_str(&details(&about, &format!("<p>{}</p>\n{inside}", escaped(check.explain))));
        }
        out + "</section>\n"
    }
}

/// What to mend first, as a table.
fn first(groups: &[Group<'_>]) -> String {
    let mut out = String::from(concat!(
        "<section>\n<h2>What to mend first</h2>\n<table class=\"first\">\n<thead><tr><th scope=\"col\">Weight</th>",
        "<th scope=\"col\">Check</th><th scope=\"col\">What has to be</th><th scope=\"col\">Revisions</th></tr></thead>\n<tbody>\n"
    ));
    for (n, group) in groups.iter().enumerate() {
        out.push_str(&format!(
            "<tr><td>{}</td><td class=\"name\"><a href=\"#f{n}\"><code>{}</code></a></td><td>{}</td><td class=\"soft\">{}</td></tr>\n",
            label(group.check.strength),
            group.check.id,
            escaped(group.check.title),
            dates(&group.revisions())
        ));
    }
    out + "</tbody>\n</table>\n</section>\n"
}

/// Revisions that are not broken over lines.
fn dates(revisions: &str) -> String {
    let date = |date: &str| format!("<span class=\"date\">{date}</span>");
    revisions.split(", ").map(date).collect::<Vec<_>>().join(", ")
}

fn label(strength: Strength) -> String {
    format!("<span class=\"label {}\">{}</span>", strength.class(), strength.label())
}

fn article(n: usize, group: &Group<'_>) -> String {
    let (check, finding) = (group.check, group.finding);
    let mut out = format!(
        "<article id=\"f{n}\">\n<h3>{} <code>{}</code>: {}</h3>\n<dl>\n",
        label(check.strength),
        check.id,
        escaped(check.title)
    );
    for (what, text) in [
        ("In", group.revisions().as_str()),
        ("Expected", &brief(&finding.expected, MOST)),
        ("Got", &brief(&finding.got, MOST)),
        ("Correct", check.explain),
    ] {
        out.push_str(&format!("<dt>{what}</dt><dd>{}</dd>\n", escaped(text)));
    }
    if let Some(url) = group.newest().and_then(|it| check.source.url(it.revision)) {
        let url = escaped(&url);
        out.push_str(&format!("<dt>See</dt><dd><a href=\"{url}\">{url}</a></dd>\n"));
    }
    out.push_str("</dl>\n");
    group.results.iter().rev().for_each(|result| out.push_str(&timeline(result)));
    out + "</article>\n"
}

/// What was said in one revision.
fn timeline(result: &Result) -> String {
    if result.transcript.entries().next().is_none() {
        return String::new();
    }
    let about = format!("What was said in {}, {} ms", result.revision, result.took.as_millis());
    details(&about, &lines(&result.transcript))
}

fn details(about: &str, inside: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n{inside}</details>\n", escaped(about))
}

fn lines(transcript: &Transcript) -> String {
    let mut out = String::from(
        "<table class=\"lines\">\n<thead><tr><th scope=\"col\">Time</th><th scope=\"col\">Who</th><th scope=\"col\">What</th></tr></thead>\n<tbody>\n",
    );
    for (n, entry) in transcript.entries().enumerate() {
        if transcript.left_out() > 0 && n == transcript.kept_of_the_beginning() {
            out.push_str(&format!(
                "<tr><td></td><td></td><td>{} lines left out</td></tr>\n",
                transcript.left_out()
            ));
        }
        let who = match entry.from {
            From::Check => "the check",
            From::Server => "the server",
            From::Client => "the client",
            From::Stdout => "its stdout",
            From::Stderr => "its stderr",
            From::Event => "what happened",
        };
        out.push_str(&format!(
            "<tr class=\"from-{}\"><td>{} ms</td><td>{who}</td><td>{}</td></tr>\n",
            entry.from.as_str(),
            entry.at.as_millis(),
            escaped(&entry.shown(MOST))
        ));
    }
    out + "</tbody>\n</table>\n"
}

#[cfg(test)]
mod tests {
    use super::super::samples;

    #[test]
    fn a_page_shows_what_was_said_and_loads_nothing() {
        let mut report = samples::report();
        report.results[0].transcript = samples::said(&["<script>alert(1)</script>", "\" onload=\"x"]);
        let page = report.to_html();
        for part in [
            "<html lang=\"en\">",
            "<h1>sample &lt;server&gt; &amp; &quot;more&quot; 1.0</h1>",
            "<li><b class=\"must\">1</b> failed</li>",
            "<dt>Does not speak</dt><dd>2024-11-05: it answers with 2025-11-25</dd>",
            "<a href=\"#f0\"><code>lifecycle-unknown-version</code></a>",
            "<article id=\"f0\">",
            "<td>the server</td><td>&lt;script&gt;alert(1)&lt;/script&gt;</td>",
            "<td>its stderr</td><td>a log line</td>",
            "<h2>Not tried</h2>",
            "<h2>Passed</h2>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        for no in ["<script", "src=", " onload=\"", "url(", "@import", "<link"] {
            assert!(!page.contains(no), "{no}: {page}");
        }
        report.accept(&report.baseline());
        report.stale.push(crate::Accepted { check: "<gone>".into(), revision: None, note: String::new() });
        let page = report.to_html();
        assert!(
            page.contains("<h2>Accepted by the baseline</h2>")
                && page.contains("<li>&lt;gone&gt; (all revisions)")
        );
        let page = samples::unreached().to_html();
        assert!(page.contains("It could not be checked") && page.contains("the end of its output"), "{page}");
    }
}
