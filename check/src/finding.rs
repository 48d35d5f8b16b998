//! What a check found.

use std::fmt;

/// What a server did otherwise than it has to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was to come, in words.
    pub expected: String,
    /// What came instead, in words: bounded, and harmless on a terminal.
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
        write!(f, "expected {}, got {}", self.expected, self.got)
    }
}

/// How much of a line is shown.
const MOST: usize = 300;

/// Bytes as they can be shown: control characters escaped, and cut where they are too many.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST)]);
    let mut out: String = text
        .chars()
        .flat_map(|c| {
            let escape = c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            let escaped = escape.then(|| c.escape_default());
            let plain = (!escape).then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect();
    if bytes.len() > MOST {
        out.push_str(&format!("... ({} bytes)", bytes.len()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_bounded_and_harmless() {
        assert_eq!(shown(b"a\x1b[2J\n\xff"), "a\\u{1b}[2J\\n\u{fffd}");
        assert_eq!(shown("\u{202e}".as_bytes()), "\\u{202e}");
        let long = shown(&[b'x'; 10_000]);
        assert!(long.ends_with("... (10000 bytes)") && long.len() < 400, "{long}");
    }
}
