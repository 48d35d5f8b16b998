//! Text of strangers, made fit to be shown to a person or a model, or to be written to a log.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use crate::jsonrpc::write_string;

/// What stands where a secret stood.
const HIDDEN: &str = "***";

/// What stands where a text was cut.
const CUT: &str = "...";

/// The least bytes of a line of a secret that is hidden where it stands alone.
const MIN_LINE: usize = 8;

/// Makes text fit to be shown: hides secrets, and writes out what could deceive.
///
/// Secrets come first, so that neither an escape nor a cut leaves a part of one. What is written out, as `\n`, `\t`,
/// `\r` or `\u{202e}`: control characters, characters that turn the direction of writing, and characters that nobody
/// sees (among them those that spell out ASCII for a model alone). Those that join letters, and the two that choose
/// how an emoji looks, are part of how people write, and stay. Masking a masked text changes nothing.
///
/// `Debug` prints the number of secrets only. The default hides none.
#[derive(Clone, Default)]
pub struct Mask {
    /// Longest first, so that a secret that contains another one goes whole.
    secrets: Vec<String>,
}

impl Mask {
    /// Hides these values, their spellings inside JSON strings, and each of their lines of 8 bytes or more.
    ///
    /// Empty values are passed over. A text is searched once for each spelling.
    #[must_use]
    pub fn new<S: Into<String>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut all = Vec::new();
        for secret in secrets {
            let secret: String = secret.into();
            if secret.contains('\n') {
                let lines = secret.lines().filter(|line| line.len() >= MIN_LINE);
                lines.for_each(|line| all.push(line.into()));
            }
            let mut json = Vec::new();
            write_string(&mut json, &secret);
            let json = json.get(1..json.len().saturating_sub(1)).unwrap_or_default();
            all.extend(core::str::from_utf8(json).ok().map(String::from));
            all.push(secret);
        }
        all.retain(|secret| !secret.is_empty());
        all.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        all.dedup();
        Self { secrets: all }
    }

    /// The text on one line.
    #[must_use]
    pub fn line(&self, text: &str) -> String {
        escaped(&self.hide(text), is_unfit)
    }

    /// The text with its line feeds and tabs; CR LF becomes LF.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        escaped(&self.hide(text), unfit_in_text)
    }

    /// The text on one line of at most `max` characters. A longer one is cut and ends in three dots, which count; an
    /// escape is never cut. `max` below 3 counts as 3.
    #[must_use]
    pub fn line_within(&self, text: &str, max: usize) -> String {
        within(&self.hide(text), max, is_unfit, |piece| piece.chars().count())
    }

    /// As [`text`](Self::text), in at most `max` bytes, cut as by [`line_within`](Self::line_within).
    #[must_use]
    pub fn text_within(&self, text: &str, max: usize) -> String {
        within(&self.hide(text), max, unfit_in_text, str::len)
    }

    /// How many bytes at the end of the text are what a secret begins with, and so may be the first part of one that
    /// goes on behind it. Who cuts a text before it is masked drops so many.
    #[must_use]
    pub fn begun(&self, text: &str) -> usize {
        let ends_with = |part: &[u8]| text.as_bytes().ends_with(part);
        let begun = |secret: &String| {
            (1..secret.len()).rev().find(|len| secret.as_bytes().get(..*len).is_some_and(ends_with))
        };
        self.secrets.iter().filter_map(begun).max().unwrap_or(0)
    }

    fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if memchr::memmem::find(text.as_bytes(), secret.as_bytes()).is_some() {
                text = Cow::Owned(text.replace(secret.as_str(), HIDDEN));
            }
        }
        text
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({} spellings)", self.secrets.len())
    }
}

/// Whether a character could show something else than the text says, or make a terminal do something.
const fn is_unfit(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' // controls
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' // direction
        | '\u{2028}' | '\u{2029}' // breaks of lines and paragraphs
        | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' // unseen
    )
}

/// As [`is_unfit`], where a text may have lines.
const fn unfit_in_text(c: char) -> bool {
    is_unfit(c) && !matches!(c, '\n' | '\t')
}

fn escaped(text: &str, unfit: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let (plain, behind) = rest.split_at_checked(plain_len(rest)).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut chars = behind.chars();
        let Some(c) = chars.next() else { return out };
        rest = chars.as_str();
        write_char(&mut out, c, chars.next(), &unfit);
    }
}

/// How much of the text in front is printable ASCII: most of it, mostly, and always fit.
fn plain_len(text: &str) -> usize {
    const STEP: usize = 32;
    let is_plain = |b: &u8| matches!(b, b' '..=b'~');
    let (steps, _) = text.as_bytes().as_chunks::<STEP>();
    // No branch for a byte: the compiler looks at all of a step at once.
    let plain =
        steps.iter().take_while(|step| step.iter().fold(true, |plain, b| plain & is_plain(b))).count();
    let rest = text.as_bytes().get(plain * STEP..).unwrap_or_default();
    plain * STEP + rest.iter().take_while(|b| is_plain(b)).count()
}

/// Appends a character, or what stands for it. A CR before an LF that stays is nothing.
fn write_char(out: &mut String, c: char, next: Option<char>, unfit: &impl Fn(char) -> bool) {
    match c {
        '\r' if next == Some('\n') && !unfit('\n') => {}
        _ if !unfit(c) => out.push(c),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// The text, or as much of it as fits with [`CUT`] behind it.
fn within(text: &str, max: usize, unfit: impl Fn(char) -> bool, measure: impl Fn(&str) -> usize) -> String {
    let max = max.max(CUT.len());
    if text.len() <= max && plain_len(text) == text.len() {
        return text.into();
    }
    let (mut out, mut used, mut fits) = (String::new(), 0, 0);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let from = out.len();
        write_char(&mut out, c, rest.peek().copied(), &unfit);
        used += measure(out.get(from..).unwrap_or_default());
        if used <= max - CUT.len() {
            fits = out.len();
        }
        if used > max {
            out.truncate(fits);
            out.push_str(CUT);
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_could_deceive_is_written_out() {
        let mask = Mask::default();
        let table = [
            ("plain ü 漢\n\tline", "plain ü 漢\\n\\tline", "plain ü 漢\n\tline"),
            ("a\r\nb\rc", "a\\r\\nb\\rc", "a\nb\\rc"),
            ("\u{1b}[31mred\u{7}\u{9b}", "\\u{1b}[31mred\\u{7}\\u{9b}", "\\u{1b}[31mred\\u{7}\\u{9b}"),
            ("\u{202e}gpj.exe\u{2066}", "\\u{202e}gpj.exe\\u{2066}", "\\u{202e}gpj.exe\\u{2066}"),
            ("a\u{e0041}\u{200b}\u{2028}", "a\\u{e0041}\\u{200b}\\u{2028}", "a\\u{e0041}\\u{200b}\\u{2028}"),
            ("\u{2764}\u{fe0f}\u{200d}", "\u{2764}\u{fe0f}\u{200d}", "\u{2764}\u{fe0f}\u{200d}"),
            ("", "", ""),
        ];
        for (text, line, lines) in table {
            assert_eq!(mask.line(text), line, "{text:?}");
            assert_eq!(mask.text(text), lines, "{text:?}");
        }
    }

    #[test]
    fn a_cut_leaves_neither_half_an_escape_nor_half_a_secret() {
        let table = [
            ("short", "short"),
            ("exactly10!", "exactly10!"),
            ("eleven char", "eleven ..."),
            ("abcd\u{202e}", "abcd..."),
            ("a\u{202e}", "a\\u{202e}"),
            ("ab\u{202e}c", "ab..."),
            ("日日日日日日日日日日日", "日日日日日日日..."),
        ];
        for (text, expected) in table {
            assert_eq!(Mask::default().line_within(text, 10), expected, "{text:?}");
        }
        let mask = Mask::new(["hunter2hunter2"]);
        assert_eq!(mask.line_within("key hunter2hunter2", 10), "key ***");
        assert_eq!(mask.text_within("日本語日本語", 12), "日本語...");
        assert_eq!(mask.text_within("日本語日", 12), "日本語日");
        assert_eq!(mask.text_within("abcd", 0), "...");
    }

    #[test]
    fn b_99_a_secret_is_hidden_in_every_spelling() {
        let mask = Mask::new(["pa\"ss\nword", "pa", "first line\nsecond line", ""]);
        assert_eq!(mask.line("x pa\"ss\nword y pa"), "x *** y ***");
        assert_eq!(mask.text(r#"{"k":"pa\"ss\nword"}"#), r#"{"k":"***"}"#);
        assert_eq!(mask.text("| second line |"), "| *** |");
        assert_eq!(mask.line("nothing"), "nothing");
        assert!(!format!("{mask:?}").contains("word"), "{mask:?}");
    }

    #[test]
    fn the_first_part_of_a_secret_is_found_at_an_end() {
        let mask = Mask::new(["aab", "日本"]);
        for (text, begun) in
            [("", 0), ("x", 0), ("xa", 1), ("xaa", 2), ("aaa", 2), ("aab", 0), ("a日", 3), ("日x", 0)]
        {
            assert_eq!(mask.begun(text), begun, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn masked_text_stays_as_it_is_and_within_its_bound(text in "(?s).{0,40}|[\\r\\n\\t\u{202e}a日]{0,20}", max in 0usize..30) {
            let mask = Mask::new(["a日"]);
            for (line, lines) in [(mask.line(&text), false), (mask.text(&text), true)] {
                let again = if lines { mask.text(&line) } else { mask.line(&line) };
                prop_assert_eq!(&again, &line);
                let unfit = if lines { unfit_in_text } else { is_unfit };
                prop_assert!(!line.chars().any(unfit));
                prop_assert!(!line.contains("a日"));
            }
            let line = mask.line_within(&text, max);
            prop_assert!(line.chars().count() <= max.max(3), "{line:?}");
            prop_assert!(mask.text_within(&text, max).len() <= max.max(3));
            let whole = mask.line(&text);
            let cut = line.strip_suffix("...").unwrap_or(&line);
            prop_assert!(whole.starts_with(cut), "{whole:?} {line:?}");
            prop_assert_eq!(whole.chars().count() <= max.max(3), whole == line);
        }
    }
}
