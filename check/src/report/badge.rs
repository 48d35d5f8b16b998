//! A line to paste, and an answer for a service that draws badges.

use sanswire::jsonrpc::RawJson;

use super::Report;
use super::groups::revisions;
use crate::check::Strength;

impl Report {
    /// A line of Markdown for a README: what was checked, in which revisions, and what came of it.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        format!(
            "**{}** \u{b7} MCP {} \u{b7} checked by `sanswire check`\n",
            plain(&self.peer_name()),
            self.message()
        )
    }

    /// What an endpoint of shields.io answers: `schemaVersion`, `label`, `message`, `color`.
    #[must_use]
    pub fn to_shields(&self) -> RawJson {
        let color = match self.status() {
            0 if self.findings(Strength::Should).next().is_none() => "brightgreen",
            0 => "yellowgreen",
            4 => "lightgrey",
            _ => "red",
        };
        RawJson::object(|w| {
            w.u64("schemaVersion", 1)
                .string("label", "MCP")
                .string("message", &self.message())
                .string("color", color);
        })
    }

    fn message(&self) -> String {
        if self.unreached.is_some() {
            return "could not be checked".to_owned();
        }
        format!("{}: {}", revisions(self.revisions.iter().copied()), self.counts())
    }
}

/// A name that is only text in Markdown.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(100) {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '<' | '>' | '&' | '|' | '!' | '#' | '~'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::samples;

    #[test]
    fn a_badge_says_what_came_of_it() {
        let mut report = samples::report();
        assert_eq!(
            report.to_markdown(),
            "**sample \\<server\\> \\& \"more\" 1.0** \u{b7} MCP 2025-11-25, 2026-07-28: 1 passed, 1 failed, 2 to mend, 1 of advice, 1 not tried \u{b7} checked by `sanswire check`\n"
        );
        assert!(report.to_shields().as_str().ends_with(r#""color":"red"}"#));
        report.results.remove(0);
        assert!(report.to_shields().as_str().ends_with(r#""color":"yellowgreen"}"#));
        report.results.drain(..2);
        assert!(report.to_shields().as_str().ends_with(r#""color":"brightgreen"}"#));
        let unreached = samples::unreached().to_shields();
        assert_eq!(
            unreached.as_str(),
            r#"{"schemaVersion":1,"label":"MCP","message":"could not be checked","color":"lightgrey"}"#
        );
    }
}
