//! Secrets in messages made illegible, without a change of length: what is read back has to be cut as it was.

use std::ops::Range;

use sanswire::jsonrpc::{MAX_DEPTH, RawJson};

use crate::secrets::Secrets;

/// What stands for each byte of a secret.
pub(super) const BLOT: u8 = b'*';

/// The least that is left of a secret where a text was cut.
const MIN_PART: usize = 4;
/// Texts of strangers are cut at 4 KiB, between two characters.
const CUT_TEXT: usize = 4093;
/// The least of what follows the name of a scheme, or what tokens of a known maker begin with.
const MIN_TOKEN: usize = 8;

/// What tokens begin with that are known by it.
const BEGINNINGS: [&[u8]; 14] = [
    b"sk-",
    b"sk_live_",
    b"sk_test_",
    b"ghp_",
    b"gho_",
    b"ghs_",
    b"ghu_",
    b"github_pat_",
    b"glpat-",
    b"xoxb-",
    b"xoxp-",
    b"AKIA",
    b"AIza",
    b"eyJ",
];

/// The names of schemes, before what they are shown with.
const SCHEMES: [&[u8]; 2] = [b"bearer ", b"basic "];

/// A name that looks secret, and counts what is sent.
const HARMLESS: &str = "progressToken";

/// Blots every secret in this text: the values that are known, what stands under a secret name, and what looks like a
/// token. JSON stays JSON of the same length, with the same members. Whether anything was found.
///
/// `whole`: the text ends where a message does. If not, a part of a known value at its end goes too.
pub(super) fn blot(text: &mut [u8], secrets: &Secrets, whole: bool) -> bool {
    let mut found = Vec::new();
    known(text, secrets, &mut found);
    tokens(text, &mut found);
    if !whole {
        found.extend(begun(text, secrets));
    }
    let is_json = RawJson::from_slice(text, MAX_DEPTH).is_ok();
    if is_json {
        named(text, &mut found);
    }
    if found.is_empty() {
        return false;
    }
    let found = joined(found);
    if is_json {
        blot_json(text, &found);
    } else {
        for range in &found {
            text.get_mut(range.clone()).unwrap_or_default().fill(BLOT);
        }
    }
    true
}

/// As [`blot`], for JSON that was cut, or that is none: a string without its end goes whole, since its name may be missing.
pub(super) fn blot_torn(text: &mut [u8], secrets: &Secrets) {
    let mut found = Vec::new();
    known(text, secrets, &mut found);
    tokens(text, &mut found);
    found.extend(begun(text, secrets));
    named(text, &mut found);
    let mut strings = Strings { text, at: 0 };
    strings.by_ref().for_each(drop);
    let rest = text.get(strings.at..).unwrap_or_default();
    if let Some(at) = rest.iter().position(|byte| *byte == b'"') {
        found.push(strings.at + at + 1..text.len());
    }
    for range in found {
        text.get_mut(range).unwrap_or_default().fill(BLOT);
    }
}

/// As [`blot`], for a text that is no message.
pub(super) fn blotted(text: &str, secrets: &Secrets) -> String {
    let mut found = Vec::new();
    known(text.as_bytes(), secrets, &mut found);
    tokens(text.as_bytes(), &mut found);
    if text.len() >= CUT_TEXT {
        found.extend(begun(text.as_bytes(), secrets));
    }
    let mut bytes = text.as_bytes().to_vec();
    for range in found {
        bytes.get_mut(range).unwrap_or_default().fill(BLOT);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The ranges in order, none touching another.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut().filter(|last| last.end >= range.start) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
    }
    joined
}

/// Values that are known.
fn known(text: &[u8], secrets: &Secrets, found: &mut Vec<Range<usize>>) {
    let as_text = std::str::from_utf8(text);
    for secret in secrets.spellings() {
        match as_text {
            Ok(text) => {
                found.extend(text.match_indices(secret.as_str()).map(|(at, _)| at..at + secret.len()));
            }
            Err(_) => {
                let at = text.windows(secret.len()).enumerate();
                found.extend(
                    at.filter(|(_, part)| *part == secret.as_bytes()).map(|(at, part)| at..at + part.len()),
                );
            }
        }
    }
}

/// What a known value may have begun with at the end of the text.
fn begun(text: &[u8], secrets: &Secrets) -> Option<Range<usize>> {
    let longest = secrets.spellings().iter().filter_map(|secret| {
        let parts = (MIN_PART..secret.len()).rev();
        parts.into_iter().find(|len| secret.as_bytes().get(..*len).is_some_and(|part| text.ends_with(part)))
    });
    longest.max().map(|len| text.len() - len..text.len())
}

const fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
}

/// What looks like a token, or like the password in an address.
fn tokens(text: &[u8], found: &mut Vec<Range<usize>>) {
    let token_at = |at: usize| {
        let len = text.get(at..).unwrap_or_default().iter().take_while(|byte| is_of_token(**byte)).count();
        at..at + len
    };
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.first().copied().unwrap_or_default();
        let step = match first {
            b'b' | b'B' => SCHEMES.iter().find(|scheme| {
                rest.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
            }),
            _ => None,
        };
        if let Some(scheme) = step {
            let token = token_at(at + scheme.len());
            if token.len() >= MIN_TOKEN {
                found.push(token);
            }
        } else if first == b':' && rest.starts_with(b"://") {
            found.extend(password(text, at + 3));
        } else if matches!(first, b's' | b'g' | b'x' | b'A' | b'e')
            && begins(text, at)
            && BEGINNINGS.iter().any(|begin| rest.starts_with(begin))
        {
            let token = token_at(at);
            // A token of JSON objects has its parts divided by dots; a text that begins alike need not be one.
            let dotted = text.get(token.clone()).unwrap_or_default().contains(&b'.');
            if token.len() >= 2 * MIN_TOKEN && (first != b'e' || dotted) {
                found.push(token);
            }
        }
        at += 1;
    }
}

/// Whether a word begins here: behind what is of no word, or behind an escape of JSON.
fn begins(text: &[u8], at: usize) -> bool {
    let before = |by: usize| at.checked_sub(by).and_then(|at| text.get(at)).copied();
    before(1).is_none_or(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')))
        || before(2) == Some(b'\\')
}

/// `user:password@host`.
fn password(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let ends = |byte: &u8| matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\\') || byte.is_ascii_whitespace();
    let len = rest.iter().position(ends).unwrap_or(rest.len());
    let user = rest.get(..len)?;
    let user = user.get(..user.iter().rposition(|byte| *byte == b'@')?)?;
    let colon = user.iter().position(|byte| *byte == b':')?;
    Some(at + colon + 1..at + user.len())
}

/// The strings of a JSON text in order: where each begins behind its quote, and where it ends before the other.
struct Strings<'a> {
    text: &'a [u8],
    at: usize,
}

impl Iterator for Strings<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at + self.text.get(self.at..)?.iter().position(|byte| *byte == b'"')? + 1;
        let mut end = start;
        loop {
            match self.text.get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        Some(start..end)
    }
}

/// Strings and numbers under names that say that they are secret.
fn named(text: &[u8], found: &mut Vec<Range<usize>>) {
    let mut secret = false;
    for string in (Strings { text, at: 0 }) {
        if secret {
            found.push(string.clone());
        }
        secret = false;
        let behind = skip_blanks(text, string.end + 1);
        if text.get(behind) != Some(&b':') {
            continue;
        }
        let name = text.get(string).unwrap_or_default();
        let name = RawJson::from_slice(&[b"\"", name, b"\""].concat(), 1);
        let name = name.as_ref().ok().and_then(|name| name.view().str()).map(|name| name.decode());
        if !name.is_some_and(|name| Secrets::is_name(&name) && name != HARMLESS) {
            continue;
        }
        let value = skip_blanks(text, behind + 1);
        match text.get(value) {
            Some(b'"') => secret = true,
            Some(b'-' | b'0'..=b'9') => {
                let rest = text.get(value..).unwrap_or_default();
                let is_of_number = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.');
                found.push(value..value + rest.iter().take_while(is_of_number).count());
            }
            _ => {}
        }
    }
}

fn skip_blanks(text: &[u8], at: usize) -> usize {
    at + text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Blots these ranges of a JSON text, which are in order: characters of strings with their escapes, digits of numbers.
/// What holds the text together stays.
fn blot_json(text: &mut [u8], found: &[Range<usize>]) {
    let strings: Vec<Range<usize>> = Strings { text, at: 0 }.collect();
    let mut strings = strings.into_iter().peekable();
    let mut pieces = Vec::new();
    for range in found {
        let mut at = range.start;
        while at < range.end {
            while strings.next_if(|string| string.end <= at).is_some() {}
            let string = strings.peek().filter(|string| string.start <= at).cloned();
            let end = match (&string, strings.peek()) {
                (Some(string), _) => string.end,
                (None, Some(next)) => next.start,
                (None, None) => range.end,
            };
            let end = end.min(range.end);
            pieces.push((string, at..end));
            at = end;
        }
    }
    for (string, range) in pieces {
        match string {
            Some(string) => blot_string(text, string, &range),
            None => blot_bare(text, range),
        }
    }
}

/// Whole characters and whole escapes, as far as any byte of theirs is in `range`.
fn blot_string(text: &mut [u8], string: Range<usize>, range: &Range<usize>) {
    let mut at = string.start;
    while at < string.end.min(range.end) {
        let len = match (text.get(at), text.get(at + 1)) {
            (Some(b'\\'), Some(b'u')) => 6,
            (Some(b'\\'), _) => 2,
            _ => 1,
        };
        let end = (at + len).min(string.end);
        if end > range.start {
            text.get_mut(at..end).unwrap_or_default().fill(BLOT);
        }
        at = end;
    }
}

/// Outside of strings: digits become another digit, so that a number stays one. Names of values, signs and structure stay.
fn blot_bare(text: &mut [u8], range: Range<usize>) {
    for byte in text.get_mut(range).unwrap_or_default() {
        if byte.is_ascii_digit() {
            *byte = b'1';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blotted_line(text: &str, secrets: &[&str]) -> String {
        let mut bytes = text.as_bytes().to_vec();
        blot(&mut bytes, &Secrets::new(secrets.iter().map(|s| (*s).to_owned())), true);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn b_99_known_values_names_and_tokens_are_blotted_and_nothing_moves() {
        for (text, secrets, want) in [
            (r#"{"a":"x hunter2 y"}"#, &["hunter2"][..], r#"{"a":"x ******* y"}"#),
            (r#"{"password":"any thing","n":"x"}"#, &[], r#"{"password":"*********","n":"x"}"#),
            (r#"{"pin":4711,"api_key": -12.5e3 }"#, &["4711"], r#"{"pin":1111,"api_key": -11.1e1 }"#),
            (r#"{"apiKey":{"type":"string"}}"#, &[], r#"{"apiKey":{"type":"string"}}"#),
            (r#"{"progressToken":"a7","id":7}"#, &[], r#"{"progressToken":"a7","id":7}"#),
            (r#"{"a":"Authorization: Bearer abcdefgh1"}"#, &[], r#"{"a":"Authorization: Bearer *********"}"#),
            (r#"{"a":"to ghp_0123456789abcdef."}"#, &[], r#"{"a":"to *********************"}"#),
            (r#"{"a":"x\nghp_0123456789abcdef"}"#, &[], r#"{"a":"x\n********************"}"#),
            (r#"{"u":"https://me:s3cret@host/x"}"#, &[], r#"{"u":"https://me:******@host/x"}"#),
            (r#"{"a":"eyJhbGciOiJIUzI1NiJ9.e30.abc"}"#, &[], r#"{"a":"****************************"}"#),
            (r#"{"cursor":"eyJvZmZzZXQiOjEwMH0="}"#, &[], r#"{"cursor":"eyJvZmZzZXQiOjEwMH0="}"#),
            ("junk hunter2, no JSON", &["hunter2"], "junk *******, no JSON"),
        ] {
            assert_eq!(blotted_line(text, secrets), want);
        }
    }

    #[test]
    fn json_stays_json_wherever_a_secret_begins() {
        for (text, secrets, want) in [
            // A secret that begins inside of an escape.
            (r#"{"a":"x\nfoo1"}"#, &["nfoo1"][..], r#"{"a":"x******"}"#),
            (r#"{"a":"x\u00e9secret"}"#, &["9secret"], r#"{"a":"x************"}"#),
            // One that goes over several values.
            (
                r#"{"a":{"k":"v1","on":true,"n":12}}"#,
                &[r#"{"k":"v1","on":true,"n":12}"#],
                r#"{"a":{"*":"**","**":true,"*":11}}"#,
            ),
            (r#"{"a":"pa\"ss"}"#, &["pa\"ss"], r#"{"a":"******"}"#),
            ("[\"äöü\",1]", &["öü"], "[\"ä****\",1]"),
        ] {
            let got = blotted_line(text, secrets);
            assert_eq!(got, want);
            assert!(RawJson::parse_str(&got).is_ok(), "{got}");
        }
    }

    #[test]
    fn the_beginning_of_a_secret_goes_where_a_text_was_cut() {
        let secrets = Secrets::new(["hunter2hunter2".to_owned()]);
        let mut cut = b"{\"a\":\"hunter2h".to_vec();
        assert!(blot(&mut cut, &secrets, false));
        assert_eq!(cut, b"{\"a\":\"********");
        let mut bytes = b"\xffx hunter2hunter2".to_vec();
        assert!(blot(&mut bytes, &secrets, true));
        assert_eq!(bytes, b"\xffx **************");
        assert!(!blot(&mut b"nothing".to_vec(), &secrets, true));
    }
}
