//! Ids: an answer has that of its request, to the last digit.

use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

macro_rules! echoed {
    ($id:literal, $title:literal, $strength:ident, $explain:literal, $wire:expr) => {
        Check {
            id: $id,
            title: $title,
            source: Source::Spec("basic#responses"),
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
];

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
