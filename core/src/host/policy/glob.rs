//! Patterns of a call's arguments.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::fmt;

use crate::jsonrpc::{JsonRef, Kind, write_canonical};

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 1024;

/// The longest text that a pattern matches, in bytes.
const MAX_TEXT: usize = 64 * 1024;

/// A pattern of a call's arguments: `*` stands for any run of characters up to a `/`, `**` for any run, `?` for one
/// character, `\` takes the next one as it is, and everything else stands for itself.
///
/// One that begins with `{` is about all arguments, written as JSON with sorted names and without white space; there,
/// `*`, `**` and `?` never stand for a `"` or a `\`, so that they reach neither out of a string nor over a further
/// argument. Any other is about the one argument of a call that has just one, whatever its name: a string as its text,
/// anything else as JSON.
///
/// Some arguments match no pattern: those in which a name stands twice, since a server may take either; those with two
/// dots side by side where the pattern has a `*` or `?`, since they may lead out of a folder; and those of more than
/// 64 KiB. A pattern compares text: it does not know what a tool makes of it, such as of a `;` in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentGlob {
    pattern: String,
    tokens: Vec<Token>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Char(char),
    One,
    /// `*`
    Run,
    /// `**`
    Any,
}

/// A pattern cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GlobFault {
    /// There is nothing in it.
    Empty,
    /// It is longer than 1,024 bytes.
    TooLong,
    /// A `\` is its last character.
    Escape,
    /// It has a `)` without a `\` in front.
    Parenthesis,
    /// It has a control character.
    Control,
}

impl fmt::Display for GlobFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => {
                "the pattern of its arguments is empty; leave the parentheses out for any arguments"
            }
            Self::TooLong => "the pattern of its arguments is longer than 1,024 bytes",
            Self::Escape => "the pattern of its arguments ends in a single backslash",
            Self::Parenthesis => "the pattern of its arguments has a parenthesis; write it as \\)",
            Self::Control => "the pattern of its arguments has a control character",
        })
    }
}

impl core::error::Error for GlobFault {}

impl ArgumentGlob {
    /// Reads a pattern, as it stands between parentheses.
    ///
    /// # Errors
    /// [`GlobFault`].
    pub fn read(pattern: &str) -> Result<Self, GlobFault> {
        if pattern.is_empty() {
            return Err(GlobFault::Empty);
        }
        if pattern.len() > MAX_PATTERN {
            return Err(GlobFault::TooLong);
        }
        let (mut tokens, mut chars) = (Vec::new(), pattern.chars());
        while let Some(c) = chars.next() {
            let token = match c {
                _ if c.is_control() => return Err(GlobFault::Control),
                ')' => return Err(GlobFault::Parenthesis),
                '\\' => match chars.next() {
                    Some(c) if c.is_control() => return Err(GlobFault::Control),
                    Some(c) => Token::Char(c),
                    None => return Err(GlobFault::Escape),
                },
                '?' => Token::One,
                '*' if matches!(tokens.last(), Some(Token::Run | Token::Any)) => {
                    tokens.pop();
                    Token::Any
                }
                '*' => Token::Run,
                _ => Token::Char(c),
            };
            tokens.push(token);
        }
        tokens.shrink_to_fit();
        Ok(Self { pattern: pattern.into(), tokens })
    }

    /// The pattern, as it was read.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.pattern
    }

    /// Whether a call's arguments are of this form. O(pattern · arguments).
    #[must_use]
    pub fn matches(&self, arguments: Option<JsonRef<'_>>) -> bool {
        self.matches_texts(&Texts::of(arguments))
    }

    pub(super) fn matches_texts(&self, texts: &Texts<'_>) -> bool {
        let whole = self.pattern.starts_with('{');
        let Some(text) = (if whole { texts.whole() } else { texts.only() }) else { return false };
        let literal = self.tokens.iter().all(|token| matches!(token, Token::Char(_)));
        (literal || !text.contains("..")) && matches(&self.tokens, text, whole)
    }
}

/// What patterns are compared with, made when it is first asked for.
pub(super) struct Texts<'a> {
    arguments: Option<JsonRef<'a>>,
    whole: OnceCell<Option<String>>,
    only: OnceCell<Option<Cow<'a, str>>>,
}

impl<'a> Texts<'a> {
    pub(super) const fn of(arguments: Option<JsonRef<'a>>) -> Self {
        Self { arguments, whole: OnceCell::new(), only: OnceCell::new() }
    }

    fn whole(&self) -> Option<&str> {
        let whole = || self.arguments.map_or_else(|| Some("{}".into()), canonical);
        self.whole.get_or_init(whole).as_deref()
    }

    fn only(&self) -> Option<&str> {
        let only = || {
            let mut members = self.arguments?.members();
            let (Some((_, value)), None) = (members.next(), members.next()) else { return None };
            match value.str() {
                Some(text) => Some(text.decode()).filter(|text| text.len() <= MAX_TEXT),
                None => canonical(value).map(Cow::Owned),
            }
        };
        self.only.get_or_init(only).as_deref()
    }
}

/// The value as JSON; `None` if it is too long or a name stands twice in it.
fn canonical(value: JsonRef<'_>) -> Option<String> {
    if value.as_bytes().len() > MAX_TEXT || repeats_a_name(value) {
        return None;
    }
    let mut text = Vec::new();
    write_canonical(&mut text, value);
    String::from_utf8(text).ok()
}

/// As deep as JSON may be that was read.
fn repeats_a_name(value: JsonRef<'_>) -> bool {
    match value.kind() {
        Kind::Object => {
            let mut names: Vec<_> = value.members().map(|(name, _)| name.decode()).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            names.len() < all || value.members().any(|(_, value)| repeats_a_name(value))
        }
        Kind::Array => value.elements().any(repeats_a_name),
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => false,
    }
}

/// Walks through the text with every place of the pattern at once that it may be at. `quoted`: what is no part of a
/// JSON string's inside stands for itself only.
fn matches(tokens: &[Token], text: &str, quoted: bool) -> bool {
    // Places in rising order. Those that come of one follow each other without a gap, so the last one says which are
    // there already.
    let mut places = Vec::new();
    let reach = |places: &mut Vec<usize>, mut place: usize| {
        if places.last().is_some_and(|last| *last >= place) {
            return;
        }
        places.push(place);
        while matches!(tokens.get(place), Some(Token::Run | Token::Any)) {
            place += 1;
            places.push(place);
        }
    };
    reach(&mut places, 0);
    let mut next = Vec::new();
    for c in text.chars() {
        let free = !(quoted && matches!(c, '"' | '\\'));
        for place in places.drain(..) {
            match tokens.get(place) {
                Some(Token::Char(wanted)) if *wanted == c => reach(&mut next, place + 1),
                Some(Token::One) if free => reach(&mut next, place + 1),
                Some(Token::Run) if free && c != '/' => reach(&mut next, place),
                Some(Token::Any) if free => reach(&mut next, place),
                _ => {}
            }
        }
        core::mem::swap(&mut places, &mut next);
        if places.is_empty() {
            return false;
        }
    }
    places.last() == Some(&tokens.len())
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;
    use crate::jsonrpc::RawJson;

    fn holds(pattern: &str, arguments: &str) -> bool {
        let glob = ArgumentGlob::read(pattern).expect(pattern);
        glob.matches(Some(RawJson::parse_str(arguments).expect(arguments).view()))
    }

    #[test]
    fn a_star_stops_at_a_slash_and_two_do_not() {
        // H-066
        let table = [
            ("/tmp/*", "/tmp/a", true),
            ("/tmp/*", "/tmp/", true),
            ("/tmp/*", "/tmp/a/b", false),
            ("/tmp/**", "/tmp/a/b", true),
            ("/tmp/***", "/tmp/a/b", true),
            ("**/x", "a/b/x", true),
            ("*/x", "a/b/x", false),
            ("*/*/x", "a/b/x", true),
            ("a?c", "abc", true),
            ("a?c", "a漢c", true),
            ("a?c", "ac", false),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
            (r"a\?\\\)", r"a?\)", true),
            ("git log *", "git log -1", true),
            ("git log *", "git push", false),
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("ABC", "abc", false),
            ("*b*c", "abbc", true),
            ("**b*c", "a/b/bxc", true),
        ];
        for (pattern, text, expected) in table {
            let mut json = Vec::new();
            crate::jsonrpc::write_string(&mut json, text);
            let arguments = alloc::format!(r#"{{"p":{}}}"#, String::from_utf8(json).unwrap());
            assert_eq!(holds(pattern, &arguments), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_is_about_one_argument_or_about_all_of_them() {
        // H-066
        for (pattern, arguments, expected) in [
            ("**", r#"{"p":"x"}"#, true),
            ("**", r#"{"p":"x","q":"y"}"#, false),
            ("**", "{}", false),
            ("**", r#"{"p":"x","p":"y"}"#, false),
            ("4*", r#"{"n":42}"#, true),
            (r"\{*", r#"{"p":"{x"}"#, true),
            (r#"\{"a":\[1,*\]}"#, r#"{"p":{"a": [1, 2]}}"#, true),
            ("{}", "{}", true),
            ("{**}", "{}", true),
            (r#"{"a":"/tmp/*","b":*}"#, r#"{ "b" : 1, "a" : "/tmp/x" }"#, true),
            (r#"{"a":"/tmp/*","b":*}"#, r#"{"b":1,"a":"/tmp/x","c":2}"#, false),
            (r#"{"a":"**"}"#, r#"{"a":"x","force":true}"#, false),
            (r#"{"a":**}"#, r#"{"a":[1,{}],"force":true}"#, false),
            (r#"{"a":**}"#, r#"{"a":[1,{}]}"#, true),
            (r#"{"a":"*"}"#, r#"{"a":"say \"x\""}"#, false),
            (r#"{"a":"?x"}"#, r#"{"a":"\\x"}"#, false),
            (r#"{"a":?x?}"#, r#"{"a":"x"}"#, false),
            (r#"{"a":"\\\\x"}"#, r#"{"a":"\\x"}"#, true),
            (r#"{"a":"x"}"#, r#"{"a":"x","a":"y"}"#, false),
            (r#"{"a":{"b":*}}"#, r#"{"a":{"b":1,"b":2}}"#, false),
            (r#"{"a":[*]}"#, r#"{"a":[{"b":1,"b":2}]}"#, false),
        ] {
            assert_eq!(holds(pattern, arguments), expected, "{pattern} {arguments}");
        }
        let none = ArgumentGlob::read("{}").unwrap();
        assert!(none.matches(None), "no arguments are an empty object");
        assert!(!ArgumentGlob::read("*").unwrap().matches(None));
    }

    #[test]
    fn nothing_gets_out_of_a_folder_or_over_the_bound() {
        for (pattern, argument, expected) in [
            ("/tmp/**", "/tmp/../etc/passwd", false),
            ("/tmp/*", "/tmp/..", false),
            ("/tmp/.?/etc", "/tmp/../etc", false),
            ("../x", "../x", true),
            ("/tmp/*", "/tmp/a.b", true),
        ] {
            let arguments = alloc::format!(r#"{{"p":"{argument}"}}"#);
            assert_eq!(holds(pattern, &arguments), expected, "{pattern} {argument}");
            let pattern = alloc::format!(r#"{{"p":"{pattern}"}}"#);
            assert_eq!(holds(&pattern, &arguments), expected, "{pattern} {argument}");
        }
        let long = |n| alloc::format!(r#"{{"p":"{}"}}"#, "x".repeat(n));
        assert!(holds("**", &long(MAX_TEXT)) && !holds("**", &long(MAX_TEXT + 1)));
        let whole = r#"{"p":"**"}"#;
        assert!(holds(whole, &long(MAX_TEXT - 8)) && !holds(whole, &long(MAX_TEXT - 7)), "braces count");
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        let long = "x".repeat(MAX_PATTERN + 1);
        for (pattern, fault) in [
            ("", GlobFault::Empty),
            (long.as_str(), GlobFault::TooLong),
            ("a\\", GlobFault::Escape),
            ("a)", GlobFault::Parenthesis),
            ("a\tb", GlobFault::Control),
            ("a\\\n", GlobFault::Control),
        ] {
            assert_eq!(ArgumentGlob::read(pattern), Err(fault), "{pattern:?}");
            assert!(fault.to_string().starts_with("the pattern of its arguments "), "{fault}");
        }
        assert!(ArgumentGlob::read(&long[1..]).is_ok());
    }

    /// The same by the definition, one character at a time.
    fn by_definition(tokens: &[Token], text: &[char]) -> bool {
        match (tokens, text) {
            ([], []) => true,
            ([star @ (Token::Run | Token::Any), rest @ ..], _) => {
                let longer = !text.is_empty() && (*star == Token::Any || text[0] != '/');
                by_definition(rest, text) || (longer && by_definition(tokens, &text[1..]))
            }
            ([Token::One, rest @ ..], [_, left @ ..]) => by_definition(rest, left),
            ([Token::Char(wanted), rest @ ..], [found, left @ ..]) => {
                wanted == found && by_definition(rest, left)
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn patterns_match_what_their_definition_says(pattern in "[a/*?]{1,8}", text in "[ab/]{0,9}") {
            let glob = ArgumentGlob::read(&pattern).unwrap();
            let chars: Vec<_> = text.chars().collect();
            prop_assert_eq!(matches(&glob.tokens, &text, false), by_definition(&glob.tokens, &chars));
        }
    }
}
