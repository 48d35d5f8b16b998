//! What a check found.

use std::borrow::Cow;
use std::fmt;

/// What a server did otherwise than it has to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was to come, in words.
    pub expected: String,
    /// What came instead, in words: harmless on a terminal, and bounded, though longer than anybody wants to read.
    pub got: String,
}

impl Finding {
    /// A finding.
    #[must_use]
    pub fn new(expected: impl Into<String>, got: impl fmt::Display) -> Self {
        Self { expected: expected.into(), got: shown(got.to_string().as_bytes()) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, got {}", brief(&self.expected, BRIEF), brief(&self.got, BRIEF))
    }
}

/// How much of a line people are shown.
pub(crate) const BRIEF: usize = 300;
/// How much of it is kept. Secrets are taken out before it is cut for people: a part of one gives it away as well.
const MOST: usize = 16 << 10;
/// Stands where something was cut off, in front of how long it was.
pub(crate) const CUT: &str = "... (";

/// Bytes as they can be shown: control characters escaped, and cut where they are too many.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let mut out = harmless(&String::from_utf8_lossy(&bytes[..bytes.len().min(MOST)]));
    if bytes.len() > MOST {
        out.push_str(&format!("{CUT}{} bytes)", bytes.len()));
    }
    out
}

/// The text with everything escaped that a terminal would not show as it is.
pub(crate) fn harmless(text: &str) -> String {
    let escape = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if escape(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// The beginning of what [`shown`] gave.
pub(crate) fn brief(text: &str, most: usize) -> Cow<'_, str> {
    // A cut must save more than it takes to say.
    if text.len() <= most + 32 {
        return Cow::Borrowed(text);
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let (beginning, rest) = text.split_at(end);
    // What was cut before was longer than what is left of it.
    match rest
        .rfind(CUT)
        .and_then(|at| rest.get(at..))
        .filter(|mark| mark.len() < 32 && mark.ends_with(" bytes)"))
    {
        Some(mark) => Cow::Owned(format!("{beginning}{mark}")),
        None => Cow::Owned(format!("{beginning}{CUT}{} bytes)", text.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_bounded_and_harmless() {
        assert_eq!(shown(b"a\x1b[2J\n\xff"), "a\\u{1b}[2J\\n\u{fffd}");
        assert_eq!(shown("\u{202e}".as_bytes()), "\\u{202e}");
        let long = shown(&[b'x'; 100_000]);
        assert!(long.ends_with("... (100000 bytes)") && long.len() < 17_000, "{long}");
        for len in [10_000, 100_000] {
            let text = Finding::new("x", String::from_utf8(vec![b'x'; len]).unwrap()).to_string();
            assert!(text.ends_with(&format!("... ({len} bytes)")) && text.len() < 400, "{text}");
        }
    }

    #[test]
    fn a_cut_is_between_characters() {
        let text = "\u{fc}".repeat(400);
        assert_eq!(brief(&text, 301), format!("{}... (800 bytes)", "\u{fc}".repeat(150)));
        assert_eq!(brief(&text, 800), text);
        let short = "x".repeat(332);
        assert_eq!(brief(&short, 300), short);
    }
}
