//! Ids: an answer has that of its request, to the last digit.

use sanswire::jsonrpc::JsonRef;

use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

use super::odd_bytes::answered_with_text;

const RESPONSES: Source = Source::Spec("basic#responses");

macro_rules! echoed {
    ($id:literal, $title:literal, $strength:ident, $explain:literal, $wire:expr) => {
        Check {
            id: $id,
            title: $title,
            source: RESPONSES,
            strength: Strength::$strength,
            speaks: Speaks::EachEra,
            needs: &[],
            company: Company::Shared,
            explain: $explain,
            script: Script::Server(|talk| echoed(talk, $wire)),
        }
    };
}

pub(super) const CHECKS: &[Check] = &[
    echoed!(
        "ids-zero",
        "the id 0 is an id",
        Must,
        "0 is an integer like any other. Tell a request from a notification by whether the id is there, not by whether it is truthy.",
        "0"
    ),
    echoed!(
        "ids-negative",
        "a negative id comes back",
        Must,
        "An id is a string or an integer, and integers may be negative.",
        "-7"
    ),
    echoed!(
        "ids-past-double",
        "an id past 2^53 comes back to the last digit",
        Should,
        "JSON integers are not bounded by what a double holds. Keep the id as it stands in the request, or as a 64-bit integer.",
        "9007199254740993"
    ),
    echoed!(
        "ids-empty-string",
        "an empty string is an id",
        Must,
        "Any string is an id, the empty one too.",
        r#""""#
    ),
    echoed!(
        "ids-number-in-string",
        "a string of digits comes back as a string",
        Must,
        "\"7\" and 7 are two ids. Do not turn one into the other.",
        r#""7007""#
    ),
    echoed!(
        "ids-long-string",
        "a long string comes back whole",
        Should,
        "Clients use identifiers of their own as ids, and some are long. Keep the id as it is.",
        concat!(
            "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\""
        )
    ),
    Check::new(
        Strength::Must,
        "ids-escaped-string",
        RESPONSES,
        "an id that is written with escapes comes back as the same text",
        "Escapes are a way to write a string, not a part of it. Send the text back, escaped in any way.",
        |talk| {
            let text = format!("a\"b\\c/d\te-{}", talk.id());
            let wire =
                text.replace('\\', r"\\").replace('"', "\\\"").replace('/', r"\/").replace('\t', r"\u0009");
            answered_with_text(talk, &format!("\"{}\"", wire.replacen('a', r"\u0061", 1)), &text)
        },
    ),
    Check::new(
        Strength::Advice,
        "ids-fraction",
        RESPONSES,
        "an id with a fraction comes back as it is, or is refused",
        "An id is a string or an integer, so one like 1.5 may be refused or passed over. What must not come is an answer with another id: it belongs to another request.",
        |talk| kept_or_refused(talk, "70001.5"),
    ),
    Check::new(
        Strength::Advice,
        "ids-past-64-bits",
        RESPONSES,
        "an id past 64 bits comes back to the last digit, or is refused",
        "An integer that does not fit may be refused or passed over. What must not come is an answer with another id: it belongs to another request.",
        |talk| kept_or_refused(talk, "1180591620717411303425"),
    ),
    Check::new(
        Strength::Advice,
        "ids-neither-string-nor-number",
        Source::Spec("basic#requests"),
        "an id that is neither a string nor a number does not end the connection",
        "null, true, [] and {} are no ids: refuse the message with -32600, or pass over it, and read the next line.",
        |talk| {
            for id in ["null", "true", "[1]", r#"{"a":1}"#] {
                let line = talk.line(id, talk.harmless(), "");
                talk.say_line(&line);
                talk.unasked()?;
            }
            Ok(())
        },
    ),
    Check::new(
        Strength::Must,
        "ids-number-beside-string",
        RESPONSES,
        "a number and a string of its digits are two ids, at the same time",
        "Requests 7 and \"7\" may be in flight together. Keep what is open under the id with its type, and answer each with its own.",
        |talk| {
            let id = talk.id().to_string();
            each_once(talk, &[id.clone(), format!("\"{id}\"")])
        },
    ),
    Check::new(
        Strength::Must,
        "ids-many-in-flight",
        Source::JsonRpc("response_object"),
        "of many requests in flight each is answered, and once",
        "Requests need not wait for one another. Answer each of them once, in any order.",
        |talk| {
            let ids: Vec<_> = (0..64_u32)
                .map(|n| {
                    let id = talk.id();
                    if n % 2 == 0 { id.to_string() } else { format!("\"in-flight-{id}\"") }
                })
                .collect();
            each_once(talk, &ids)
        },
    ),
    Check::new(
        Strength::Advice,
        "ids-twice-in-flight",
        Source::Spec("basic#requests"),
        "two requests with one id do not end the connection, and get two answers at most",
        "A client must not do that. Refuse the second with -32600, or answer both; do not lose the first, and go on.",
        same_twice,
    ),
];

/// Requests with these ids, said at once, get one answer each.
fn each_once(talk: &mut Talk, ids: &[String]) -> Result<(), Finding> {
    let lines: Vec<_> = ids.iter().map(|id| talk.line(id, talk.harmless(), "") + "\n").collect();
    talk.say(lines.concat().as_bytes());
    for id in ids {
        talk.answer_to(id)?;
    }
    // A second answer comes at once, or never.
    talk.request(talk.harmless(), "")?;
    let again = |answer: &sanswire::jsonrpc::RawJson| {
        let id = answer.view().get("id");
        id.is_some_and(|id| ids.iter().any(|known| known.as_bytes() == id.as_bytes()))
    };
    match talk.strays().iter().find(|answer| again(answer)) {
        None => Ok(()),
        Some(answer) => Err(Finding::new("one answer to each request", shown(answer.as_bytes()))),
    }
}

/// A request whose id is no id by the letter: nothing comes, an error, or an answer with that very number.
fn kept_or_refused(talk: &mut Talk, wire: &str) -> Result<(), Finding> {
    let line = talk.line(wire, talk.harmless(), "");
    talk.say_line(&line);
    for answer in talk.unasked()? {
        let same = |id: JsonRef<'_>| id.is_null() || id.as_bytes() == wire.as_bytes();
        if !answer.message().get("id").is_none_or(same) {
            return Err(Finding::new(format!("an answer with the id {wire}, or none"), answer.text()));
        }
    }
    Ok(())
}

fn same_twice(talk: &mut Talk) -> Result<(), Finding> {
    let id = format!("\"twice-{}\"", talk.id());
    let line = talk.line(&id, talk.harmless(), "") + "\n";
    talk.say(line.repeat(2).as_bytes());
    let came = talk.unasked()?;
    if (1..=2).contains(&came.len()) {
        return Ok(());
    }
    Err(Finding::new(format!("one or two answers with the id {id}"), format!("{} of them", came.len())))
}

fn echoed(talk: &mut Talk, wire: &str) -> Result<(), Finding> {
    let line = talk.line(wire, talk.harmless(), "");
    talk.say_line(&line);
    let expected = format!("an answer with the id {}", shown(wire.as_bytes()));
    if talk.answer_before_next(wire)?.is_some() {
        return Ok(());
    }
    match talk.strays().first() {
        Some(other) => Err(Finding::new(expected, shown(other.as_bytes()))),
        None => Err(Finding::new(expected, "none, though a later request was answered")),
    }
}
