//! What a person is shown of a tool.

use sanswire::host::Mask;
use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::types::tool::Tool;

use crate::json::pretty;

/// What a server says of a tool's effects, in words.
pub(crate) fn hints_said(tool: &Tool) -> String {
    let said = tool.annotations();
    let mut hints = Vec::new();
    hints.push(if said.read_only { "changes nothing" } else { "may change things" });
    if !said.read_only {
        hints.push(if said.destructive { "may destroy" } else { "destroys nothing" });
        hints.push(if said.idempotent { "twice is once" } else { "twice is not once" });
    }
    hints.push(if said.open_world { "reaches outside" } else { "stays inside" });
    hints.join(", ")
}

/// The members that define a tool, in the order in which they are shown.
const DEFINING: [&str; 6] = ["name", "title", "description", "annotations", "inputSchema", "outputSchema"];

/// The most lines of one member that are shown, as they were and as they are.
const MAX_LINES: usize = 20;

/// The most characters of such a line.
const MAX_CHARS: usize = 100;

/// What has changed between two definitions, line by line: a member's name, then `-` for what was and `+` for what is.
/// Nothing of it can steer a terminal or look like anything else.
pub(super) fn changes(was: Option<&RawJson>, is: &Tool, mask: &Mask) -> Vec<String> {
    let Some(was) = was else { return Vec::new() };
    let mut shown = Vec::new();
    for name in DEFINING {
        let [was, is] = [was.view(), is.raw().view()].map(|tool| lines(tool.get(name)));
        if was == is {
            continue;
        }
        let (start, end) = common(&was, &is);
        shown.push(format!("  {name}:"));
        for (sign, all) in [('-', &was), ('+', &is)] {
            let differ = all.get(start..all.len() - end).unwrap_or_default();
            let lines = differ.iter().take(MAX_LINES);
            shown.extend(lines.map(|line| format!("  {sign} {}", mask.line_within(line, MAX_CHARS))));
            if differ.len() > MAX_LINES {
                shown.push(format!("  {sign} ... and {} lines more", differ.len() - MAX_LINES));
            }
        }
    }
    shown
}

/// A value in lines: text as it is, everything else as JSON for people.
fn lines(value: Option<JsonRef<'_>>) -> Vec<String> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Vec::new() };
    let text = match value.str() {
        Some(text) => text.decode().into_owned(),
        None => pretty(value),
    };
    text.lines().map(str::to_owned).collect()
}

/// How many lines are the same at the start, and at the end of what is left.
fn common(one: &[String], other: &[String]) -> (usize, usize) {
    let same = |(a, b): &(&String, &String)| a == b;
    let start = one.iter().zip(other).take_while(same).count();
    let rest = |all: &[String]| all.len() - start;
    let end = one.iter().rev().zip(other.iter().rev()).take_while(same).count();
    (start, end.min(rest(one)).min(rest(other)))
}

#[cfg(test)]
mod tests {
    use sanswire::mcp::types::page::ListItem as _;

    use super::*;

    fn tool(text: &str) -> Tool {
        Tool::read(RawJson::parse_str(text).expect(text)).expect(text)
    }

    fn shown(was: &str, is: &str) -> Vec<String> {
        changes(Some(tool(was).raw()), &tool(is), &Mask::new(["sesame-open"]))
    }

    #[test]
    fn what_has_changed_is_shown_line_by_line() {
        let was = r#"{"name":"t","description":"Reads.\nSafely.","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}},"_meta":{"x":1}}"#;
        let is = r#"{"name":"t","description":"Reads.\nAnd removes.\nSafely.","inputSchema":{"type":"object","properties":{"a":{"type":"number"}}},"annotations":{"readOnlyHint":true},"_meta":{"x":2}}"#;
        let lines = [
            "  description:",
            "  + And removes.",
            "  annotations:",
            "  + {",
            "  +   \"readOnlyHint\": true",
            "  + }",
            "  inputSchema:",
            "  -       \"type\": \"string\"",
            "  +       \"type\": \"number\"",
        ];
        assert_eq!(shown(was, is), lines);
        assert_eq!(shown(was, was), [""; 0]);
        assert_eq!(shown(is, was).len(), lines.len());
    }

    #[test]
    fn a_definition_cannot_deceive_by_what_has_changed_in_it() {
        // H-027, B-03
        let was = r#"{"name":"t","description":"a","inputSchema":{"type":"object"}}"#;
        let long = "x\\n".repeat(30);
        let is = format!(
            r#"{{"name":"t","description":"\u001b[2Jsesame-open \u202e{}\n{long}","inputSchema":{{"type":"object"}}}}"#,
            "y".repeat(500)
        );
        let lines = shown(was, &is);
        assert_eq!(lines.len(), 2 + MAX_LINES + 1);
        assert!(
            lines[2].starts_with("  + \\u{1b}[2J*** \\u{202e}y") && lines[2].chars().count() <= 104,
            "{lines:?}"
        );
        assert_eq!(lines.last().unwrap(), "  + ... and 11 lines more");
    }
}
