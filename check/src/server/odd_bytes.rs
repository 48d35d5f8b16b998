//! Lines with bytes in them that nobody expects: white space, marks, escapes, and what is no text at all.

use sanswire::jsonrpc::JsonRef;

use crate::check::{Check, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

use super::framing::answered;

const WHITE_SPACE: Source = Source::Rfc(8259, "2");
const STRINGS: Source = Source::Rfc(8259, "7");

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        Strength::Advice,
        "framing-blank-line",
        Source::Practice,
        "a blank line does no harm",
        "Some clients write a line feed too many. An empty line holds no message: pass over it.",
        blank_line,
    ),
    Check::new(
        Strength::Must,
        "framing-white-space",
        WHITE_SPACE,
        "white space around a message and between its tokens does no harm",
        "Blanks and tabs may stand between any two tokens of JSON, and in front of and behind the text. Decode the line, do not look at how it begins.",
        white_space,
    ),
    Check::new(
        Strength::Advice,
        "framing-byte-order-mark",
        Source::Rfc(8259, "8.1"),
        "a byte order mark does not end the connection",
        "Some programs write U+FEFF in front of a text. Pass over it, or refuse the line with -32700, and read the next one.",
        |talk| odd_line(talk, |line| [b"\xef\xbb\xbf", line].concat()),
    ),
    Check::new(
        Strength::Advice,
        "framing-invalid-utf-8",
        Source::Practice,
        "a line that is no UTF-8 does not end the connection",
        "Clients cut long texts within a character, or pass bytes on that they never looked at. Refuse the line with -32700, or replace what is no text, and read the next one: a decoder that throws ends the session for all.",
        |talk| odd_line(talk, |line| padded(line, b"caf\xe9 \xff\xfe \xed\xa0\x80")),
    ),
    Check::new(
        Strength::Advice,
        "framing-nul",
        Source::Practice,
        "a NUL byte does not end the connection",
        "JSON allows no raw NUL. Refuse the line with -32700 and read the next one; do not treat the rest as if it were not there.",
        |talk| odd_line(talk, |line| padded(line, b"a\0b")),
    ),
    Check::new(
        Strength::Advice,
        "framing-half-a-surrogate-pair",
        Source::Rfc(8259, "8.2"),
        "an escape of half a surrogate pair does not end the connection",
        "Languages with strings of 16-bit units cut emoji in two and write half of one as \\ud800. Replace it, or refuse the line, and read the next one.",
        |talk| odd_line(talk, |line| padded(line, br"cut \ud83d off")),
    ),
    Check::new(
        Strength::Must,
        "framing-escaped-text",
        STRINGS,
        "text that is written with escapes is the same text",
        "Any character of a JSON string may be written as an escape, in the names of members too. Compare what a decoder gives, never the bytes of the line.",
        escaped_text,
    ),
    Check::new(
        Strength::Must,
        "framing-surrogate-pair",
        STRINGS,
        "a character that is escaped as a surrogate pair is one character",
        "Characters past U+FFFF are escaped as two units: \\ud83d\\ude00 is one emoji. What comes back, here as an id, is that character again, escaped or as it is.",
        surrogate_pair,
    ),
    Check::new(
        Strength::Advice,
        "framing-last-line",
        Source::Practice,
        "a last line without a line feed does not crash the server",
        "Input may end behind a message whose line feed never came. Answer it or drop it, and exit as after any other end.",
        last_line,
    )
    .speaking(Speaks::Once)
    .alone(),
];

fn blank_line(talk: &mut Talk) -> Result<(), Finding> {
    talk.say(b"\n\n \n\r\n");
    let id = talk.ask(talk.harmless(), "");
    answered(talk, &id)
}

fn white_space(talk: &mut Talk) -> Result<(), Finding> {
    let id = talk.id().to_string();
    let params = talk.params("");
    let method = talk.harmless();
    let line = format!(
        " \t {{ \"jsonrpc\" :\t\"2.0\" , \"id\" : {id} , \"method\" :  \"{method}\" {params} }} \t \n"
    );
    talk.say(line.as_bytes());
    answered(talk, &id)
}

/// A request with this in a member that nobody knows.
fn padded(line: &[u8], pad: &[u8]) -> Vec<u8> {
    let line = line.strip_suffix(b"}").unwrap_or(line);
    [line, br#","padding":""#, pad, br#""}"#].concat()
}

/// A line that a server may take or refuse, as it likes.
fn odd_line(talk: &mut Talk, make: impl Fn(&[u8]) -> Vec<u8>) -> Result<(), Finding> {
    let id = talk.id().to_string();
    let line = talk.line(&id, talk.harmless(), "");
    talk.say(&[&make(line.as_bytes())[..], b"\n"].concat());
    // Whether it goes on.
    talk.request(talk.harmless(), "").map(drop)
}

fn escaped_text(talk: &mut Talk) -> Result<(), Finding> {
    let id = talk.id().to_string();
    let line = talk.line(&id, talk.harmless(), "");
    // The last letter of the method and two of the names of members.
    let method = talk.harmless();
    let (start, end) = method.split_at(method.len() - 1);
    let escaped = end.bytes().fold(start.to_owned(), |text, byte| format!("{text}\\u{byte:04x}"));
    let line = line.replace(&format!("\"method\":\"{method}\""), &format!("\"m\\u0065thod\":\"{escaped}\""));
    talk.say_line(&line.replace("\"jsonrpc\"", "\"json\\u0072pc\""));
    answered(talk, &id)
}

fn surrogate_pair(talk: &mut Talk) -> Result<(), Finding> {
    let text = format!("pair-{}-\u{1f600}", talk.id());
    let wire = format!("\"{}\"", text.replace('\u{1f600}', "\\ud83d\\ude00"));
    answered_with_text(talk, &wire, &text)
}

/// A request with this id is answered with an id that is this text, however it is spelled.
pub(super) fn answered_with_text(talk: &mut Talk, wire: &str, text: &str) -> Result<(), Finding> {
    let line = talk.line(wire, talk.harmless(), "");
    talk.say_line(&line);
    let came = talk.unasked()?;
    let id = |answer: JsonRef<'_>| answer.get("id").and_then(JsonRef::str).map(|id| id.decode().into_owned());
    if came.iter().any(|answer| id(answer.message()).as_deref() == Some(text)) {
        return Ok(());
    }
    let expected = format!("an answer with the id {}", shown(wire.as_bytes()));
    let other = came.first().map(crate::talk::Answer::text).or_else(|| Some(shown(talk.junk().first()?)));
    Err(Finding::new(expected, other.unwrap_or_else(|| "none, though a later request was answered".into())))
}

fn last_line(talk: &mut Talk) -> Result<(), Finding> {
    talk.open()?;
    let id = talk.id().to_string();
    let line = talk.line(&id, talk.harmless(), "");
    talk.say(line.as_bytes());
    talk.end_input();
    super::ends::ended_well(talk)
}
