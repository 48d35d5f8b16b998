//! Text from a server, made harmless for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character could make a terminal do, or show, something else than the text says: controls,
/// characters that turn the direction of writing, and characters that nobody sees. Those that join letters, and
/// the two that choose how an emoji looks, are part of how people write.
const fn is_unfit(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text with unfit characters written out, line breaks and tabs kept.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_unfit(c) && !matches!(c, '\n' | '\t'), write_rust)
}

/// As [`text`], on one line.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_unfit, write_rust)
}

/// The beginning of a text, on one line, cut to `max` characters.
pub(crate) fn excerpt(text: &str, max: usize) -> String {
    let cut: String = text.chars().take(max).collect();
    let mut shown = line(&cut).into_owned();
    if cut.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// JSON with unfit characters as escapes: the same value.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    // Between values JSON may hold line breaks and tabs; inside strings neither can stand as it is.
    escape(
        text,
        |c| is_unfit(c) && !matches!(c, '\n' | '\t' | '\r'),
        |out, c| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

fn write_rust(out: &mut String, c: char) {
    let _ = match c {
        '\n' => write!(out, "\\n"),
        '\r' => write!(out, "\\r"),
        '\t' => write!(out, "\\t"),
        '\0'..='\u{7f}' => write!(out, "\\x{:02x}", u32::from(c)),
        _ => write!(out, "\\u{{{:x}}}", u32::from(c)),
    };
}

fn escape(text: &str, unfit: impl Fn(char) -> bool, write: impl Fn(&mut String, char)) -> Cow<'_, str> {
    let Some(first) = text.find(&unfit) else { return Cow::Borrowed(text) };
    let (fine, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(fine);
    let mut rest = rest.chars().peekable();
    while let Some(c) = rest.next() {
        // A line break as some systems write it is a line break.
        if c == '\r' && rest.peek() == Some(&'\n') && !unfit('\n') {
            continue;
        }
        if unfit(c) { write(&mut out, c) } else { out.push(c) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{excerpt, json, line, text};

    #[test]
    fn b_03_what_could_steer_a_terminal_is_written_out() {
        assert_eq!(text("plain ü 漢\n\tline"), "plain ü 漢\n\tline");
        assert_eq!(text("a\r\nb\rc"), "a\nb\\rc");
        assert_eq!(text("\u{1b}[31mred\u{7}\u{9b}1m"), "\\x1b[31mred\\x07\\u{9b}1m");
        assert_eq!(text("\u{202e}gpj.exe\u{2066}"), "\\u{202e}gpj.exe\\u{2066}");
        assert_eq!(text("tag\u{e0041}"), "tag\\u{e0041}");
        assert_eq!(text("a\u{3164}\u{e0101}\u{fe01}"), "a\\u{3164}\\u{e0101}\\u{fe01}");
        assert_eq!(text("\u{2764}\u{fe0f}\u{200d}"), "\u{2764}\u{fe0f}\u{200d}");
        assert_eq!(line("two\nlines\t"), "two\\nlines\\t");
        assert_eq!(excerpt("\u{fffd}\u{1b}[2Jx", 4), "\u{fffd}\\x1b[2…");
    }

    #[test]
    fn json_stays_the_same_value() {
        let sent = "{\"a\":\"\u{202e}\u{e0041}\u{7f}\",\n\"b\":\"\\u001b\"}";
        assert_eq!(json(sent), "{\"a\":\"\\u202e\\udb40\\udc41\\u007f\",\n\"b\":\"\\u001b\"}");
    }
}
