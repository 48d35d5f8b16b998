//! Cancellations: they do what they say, or nothing.

use super::base::check;
use crate::check::{Check, Source, Strength};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

const fn at(legacy: &'static str, modern: &'static str) -> Source {
    Source::Eras(legacy, modern)
}

const IGNORED: Source =
    at("basic/utilities/cancellation#error-handling", "basic/patterns/cancellation#error-handling");
const RACES: Source = at(
    "basic/utilities/cancellation#timing-considerations",
    "basic/patterns/cancellation#timing-considerations",
);
const NAMED: Source =
    at("basic/utilities/cancellation#cancellation-flow", "basic/patterns/cancellation#cancellation-flow");

pub(super) const CHECKS: &[Check] = &[
    Check {
        strength: Strength::Should,
        ..check(
            "cancel-unknown",
            "the cancellation of what was never asked is ignored",
            IGNORED,
            "It is a notification: nothing is answered to it, whatever it names.",
            unknown,
        )
    },
    Check {
        strength: Strength::Should,
        ..check(
            "cancel-finished",
            "the cancellation of what is answered already is ignored",
            IGNORED,
            "The answer and the cancellation may pass each other on the way. What is done is done, and not answered again.",
            finished,
        )
    },
    Check {
        strength: Strength::Should,
        ..check(
            "cancel-malformed",
            "a cancellation that names nothing is ignored",
            IGNORED,
            "A cancellation without a requestId, or with one that is no id, is dropped: it has no id that an error could go to.",
            malformed,
        )
    },
    check(
        "cancel-in-flight",
        "a request that is cancelled at once is answered once or not at all",
        RACES,
        "The cancellation may come at any moment of the work. Either the answer is sent or it is dropped; an error beside a result is one answer too many.",
        in_flight,
    ),
    check(
        "cancel-others-go-on",
        "a cancellation ends the request that it names and no other",
        NAMED,
        "Clients have several requests in flight. Keep what can be cancelled by its id.",
        others_go_on,
    ),
    Check {
        strength: Strength::Should,
        ..check(
            "cancel-id-type",
            "a string does not cancel the request whose id is a number",
            NAMED,
            "\"7\" and 7 are two ids, in requestId as well.",
            id_type,
        )
    },
];

/// The line of a cancellation, with its parameters.
fn cancel(params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled"{params}}}"#)
}

fn named(id: &str) -> String {
    cancel(&format!(r#","params":{{"requestId":{id},"reason":"the check wants it"}}"#))
}

/// Nothing was answered to a notification: neither without an id nor to `id`.
fn nothing_answered(talk: &mut Talk, id: &str) -> Result<(), Finding> {
    talk.settle()?;
    let strays = talk.strays();
    let stray = strays.iter().find(|stray| {
        stray.view().get("id").is_none_or(|found| found.is_null() || found.as_bytes() == id.as_bytes())
    });
    match stray {
        None => Ok(()),
        Some(stray) => Err(Finding::new("no answer to a cancellation", shown(stray.as_bytes()))),
    }
}

fn unknown(talk: &mut Talk) -> Result<(), Finding> {
    talk.say_line(&named("987654321"));
    nothing_answered(talk, "987654321")
}

fn finished(talk: &mut Talk) -> Result<(), Finding> {
    let id = talk.ask(talk.harmless(), "");
    talk.answer_to(&id)?;
    talk.say_line(&named(&id));
    nothing_answered(talk, &id)
}

fn malformed(talk: &mut Talk) -> Result<(), Finding> {
    for params in [
        "",
        r#","params":{}"#,
        r#","params":{"requestId":null}"#,
        r#","params":{"requestId":{"a":1}}"#,
        r#","params":{"requestId":[1]}"#,
        r#","params":{"reason":7}"#,
    ] {
        talk.say_line(&cancel(params));
    }
    nothing_answered(talk, "null")
}

fn in_flight(talk: &mut Talk) -> Result<(), Finding> {
    let lists = talk.facts().lists();
    let method = lists.first().copied().unwrap_or_else(|| talk.harmless());
    let ids: Vec<_> = (0..4).map(|_| talk.id().to_string()).collect();
    let lines: Vec<_> =
        ids.iter().map(|id| format!("{}\n{}\n", talk.line(id, method, ""), named(id))).collect();
    talk.say(lines.concat().as_bytes());
    talk.settle()?;
    let strays = talk.strays();
    for id in &ids {
        let mut answers = strays
            .iter()
            .filter(|stray| stray.view().get("id").is_some_and(|found| found.as_bytes() == id.as_bytes()));
        if let (Some(_), Some(second)) = (answers.next(), answers.next()) {
            let expected = format!("at most one answer with the id {id}");
            return Err(Finding::new(expected, shown(second.as_bytes())));
        }
    }
    Ok(())
}

/// Two requests and the cancellation of the first; the second is answered.
fn others_go_on(talk: &mut Talk) -> Result<(), Finding> {
    let (first, second) = (talk.id().to_string(), talk.id().to_string());
    let line = |id: &str| talk.line(id, talk.harmless(), "");
    let lines = format!("{}\n{}\n{}\n", line(&first), line(&second), named(&first));
    talk.say(lines.as_bytes());
    talk.answer_to(&second).map(|_| ())
}

/// A request by a number, and the cancellation of the same digits as a string.
fn id_type(talk: &mut Talk) -> Result<(), Finding> {
    let id = talk.id().to_string();
    let lines = format!("{}\n{}\n", talk.line(&id, talk.harmless(), ""), named(&format!("\"{id}\"")));
    talk.say(lines.as_bytes());
    talk.answer_to(&id).map(|_| ())
}
