//! The last words of a child, and their way into a log.

use std::fmt::Write as _;

pub use crate::stderr_lines::LogLines;
pub use crate::stderr_log::set_first_mask;

/// How much is kept.
const TAIL: usize = 64 * 1024;
/// How much of it goes into an error text.
const SHOWN_LINES: usize = 12;
const SHOWN_BYTES: usize = 2048;

/// The tail of what a child wrote to stderr. Holds nothing until it writes something, 128 KiB at most.
#[derive(Debug, Default)]
pub struct Ring {
    bytes: Vec<u8>,
}

impl Ring {
    /// The buffer, with spare room for one read.
    pub fn read_buffer(&mut self) -> &mut Vec<u8> {
        if self.bytes.capacity() == self.bytes.len() {
            if self.bytes.len() < 2 * TAIL {
                self.bytes.reserve_exact(self.bytes.len().max(4096));
            } else {
                self.bytes.drain(..TAIL);
            }
        }
        &mut self.bytes
    }

    /// The last 64 KiB as text: control characters escaped, line ends and tabs aside.
    #[must_use]
    pub fn text(&self) -> String {
        let from = self.bytes.len().saturating_sub(TAIL);
        escaped(&String::from_utf8_lossy(self.bytes.get(from..).unwrap_or_default()))
    }
}

/// `text` without control characters that a terminal would act on.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let line_end = c == '\r' && text.as_bytes().get(at + 1) == Some(&b'\n');
        if line_end {
            continue;
        }
        if c == '\n' || c == '\t' || !(c.is_control() || is_bidirectional(c)) {
            out.push(c);
        } else {
            let _ = write!(out, "{}", c.escape_default());
        }
    }
    out
}

/// Characters that reorder what stands around them.
const fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The last lines of `tail`, few enough for an error text.
pub(crate) fn last_lines(tail: &str) -> &str {
    let tail = tail.trim_end();
    let mut from = tail.len().saturating_sub(SHOWN_BYTES);
    while !tail.is_char_boundary(from) {
        from += 1;
    }
    let tail = tail.get(from..).unwrap_or_default();
    match tail.rmatch_indices('\n').nth(SHOWN_LINES - 1) {
        Some((end, _)) => tail.get(end + 1..).unwrap_or_default(),
        None => tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_keeps_the_tail_within_its_bound() {
        let mut ring = Ring::default();
        for n in 0..100_000u32 {
            let line = format!("line {n}\n");
            for byte in line.bytes() {
                let buffer = ring.read_buffer();
                assert!(buffer.capacity() > buffer.len());
                buffer.push(byte);
            }
            assert!(ring.bytes.capacity() <= 2 * TAIL);
        }
        let text = ring.text();
        assert!(text.ends_with("line 99999\n") && text.len() == TAIL, "{}", text.len());
    }

    #[test]
    fn control_characters_are_escaped_and_line_ends_kept() {
        assert_eq!(escaped("a\x1b[31mb\r\nc\td\u{202e}"), "a\\u{1b}[31mb\nc\td\\u{202e}");
    }

    #[test]
    fn an_error_text_shows_the_last_lines() {
        let text: String = (0..100).map(|n| format!("{n}\n")).collect();
        let shown = last_lines(&text);
        assert!(shown.starts_with("88\n") && shown.ends_with("99"), "{shown}");
        assert!(last_lines(&"x".repeat(10_000)).len() == SHOWN_BYTES);
        assert_eq!(last_lines(""), "");
    }
}
