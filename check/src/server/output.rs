//! How the server writes its lines.

use crate::check::{Check, Source, Strength};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

use super::odd_bytes::answered_with_text;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        Strength::Must,
        "framing-output-utf-8",
        Source::Spec("basic/transports"),
        "what the server writes is UTF-8",
        "Open standard output as UTF-8 whatever the locale says, or escape what is not ASCII: text that came in, here as an id, goes out as the same text.",
        output_utf8,
    ),
    Check::new(
        Strength::Must,
        "framing-output-mark",
        Source::Rfc(8259, "8.1"),
        "the server writes no byte order mark",
        "A text that is sent must not begin with U+FEFF: many decoders refuse it, and the first line is the answer that opens the connection. Ask for UTF-8 without a mark.",
        |talk| {
            if talk.habits().marked {
                return Err(Finding::new("a line that begins with a message", "a byte order mark before it"));
            }
            Ok(())
        },
    ),
    Check::new(
        Strength::Advice,
        "framing-output-line-feed",
        Source::Practice,
        "lines end with a line feed alone",
        "A carriage return before the line feed is white space to JSON, but not to every client. Write \\n, on Windows too: open standard output in binary mode.",
        |talk| {
            if talk.habits().returned {
                return Err(Finding::new("a line feed behind each message", "a carriage return before it"));
            }
            Ok(())
        },
    ),
];

fn output_utf8(talk: &mut Talk) -> Result<(), Finding> {
    let text = format!("caf\u{e9} \u{4e2d}\u{6587} \u{1f600} {}", talk.id());
    let found = answered_with_text(talk, &format!("\"{text}\""), &text);
    match talk.junk().iter().find(|line| std::str::from_utf8(line).is_err()) {
        Some(line) => Err(Finding::new("a line of UTF-8", shown(line))),
        None => found,
    }
}
