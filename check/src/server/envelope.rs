//! Envelopes: what an answer consists of, and what gets none.

use sanswire::jsonrpc::{JsonRef, Kind, RawJson};
use sanswire::mcp::Revision;

use crate::check::{Check, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

use super::framing::answered;

const RESPONSES: Source = Source::Spec("basic#responses");
const NOTIFICATIONS: Source = Source::Spec("basic#notifications");

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        Strength::Must,
        "envelope-version",
        Source::JsonRpc("response_object"),
        "every answer says jsonrpc 2.0",
        "The member jsonrpc is the string \"2.0\", in results and in errors. Clients drop what lacks it.",
        |talk| {
            each(talk, "a member jsonrpc that is \"2.0\"", |answer| {
                answer.get("jsonrpc").and_then(JsonRef::str).is_some_and(|version| version.eq_str("2.0"))
            })
        },
    ),
    Check::new(
        Strength::Must,
        "envelope-result-or-error",
        RESPONSES,
        "an answer holds a result or an error, and not both",
        "Write the one that there is and leave the other out: a member that is null is a member. A client that finds both, or none, cannot know what happened.",
        |talk| {
            each(talk, "a result or an error, and not both", |answer| {
                answer.get("result").is_some() != answer.get("error").is_some()
            })
        },
    ),
    Check::new(
        Strength::Must,
        "envelope-result-is-an-object",
        RESPONSES,
        "a result is an object",
        "Where there is nothing to say the result is {}, not null, true or an empty array.",
        |talk| {
            each(talk, "a result that is an object", |answer| {
                answer.get("result").is_none_or(|result| result.kind() == Kind::Object)
            })
        },
    ),
    Check::new(
        Strength::Must,
        "envelope-error-code",
        RESPONSES,
        "an error has a code that is an integer",
        "Clients decide by the code: -32601 is a number, \"-32601\" and -32601.5 are not it.",
        |talk| {
            each(talk, "an error with an integer as its code", |answer| {
                error_is(answer, |error| error.get("code").and_then(JsonRef::as_i64).is_some())
            })
        },
    ),
    Check::new(
        Strength::Must,
        "envelope-error-message",
        RESPONSES,
        "an error has a message that is a string",
        "One short sentence for whoever reads the log. It may be empty, but not absent, null or an object; more goes into data.",
        |talk| {
            each(talk, "an error with a string as its message", |answer| {
                error_is(answer, |error| error.get("message").and_then(JsonRef::str).is_some())
            })
        },
    ),
    Check::new(
        Strength::Must,
        "envelope-unknown-notification",
        NOTIFICATIONS,
        "a notification that the server does not know is not answered",
        "A notification has no id, so nobody waits for an answer, and an error without an id cannot be told from one to another message. Ignore it.",
        |talk| {
            unanswered(talk, r#"{"jsonrpc":"2.0","method":"notifications/sanswire/no-such"}"#)?;
            unanswered(talk, r#"{"jsonrpc":"2.0","method":"sanswire/no-such","params":{"a":[1]}}"#)
        },
    ),
    Check::new(
        Strength::Must,
        "envelope-request-without-id",
        NOTIFICATIONS,
        "what has no id is not answered, even if its method is that of a request",
        "What is a request and what a notification is told by the id alone. Without one there is no answer, not even an error.",
        |talk| {
            let params = talk.params("");
            let method = talk.harmless();
            unanswered(talk, &format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#))?;
            unanswered(talk, &format!(r#"{{"jsonrpc":"2.0","method":"tools/list"{params}}}"#))
        },
    ),
    Check::new(
        Strength::Advice,
        "envelope-unasked-answer",
        Source::Practice,
        "an answer that nobody asked for is ignored",
        "Answers come late, or to a request that was given up. Drop what belongs to nothing: it is not answered, and it ends nothing.",
        |talk| {
            unanswered(talk, r#"{"jsonrpc":"2.0","id":987654321,"result":{}}"#)?;
            unanswered(talk, r#"{"jsonrpc":"2.0","id":"nobody","result":{"a":1}}"#)
        },
    )
    .speaking(Speaks::Legacy),
    Check::new(
        Strength::Advice,
        "envelope-unasked-error",
        Source::Practice,
        "an error that belongs to nothing is ignored",
        "A client that could not read a line says so in an error without an id, or with the id null. Log it; it is not answered, and it ends nothing.",
        |talk| {
            unanswered(talk, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}"#)?;
            unanswered(talk, r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"what?"}}"#)?;
            unanswered(talk, r#"{"jsonrpc":"2.0","id":987654322,"error":{"code":-32601,"message":"no"}}"#)
        },
    )
    .speaking(Speaks::Legacy),
    Check::new(
        Strength::Should,
        "envelope-unknown-parameters",
        Source::Spec("basic#requests"),
        "parameters that the server does not know are ignored",
        "Parameters are an open object: newer clients and extensions add members. Serve the request as if they were not there.",
        unknown_parameters,
    ),
    Check::new(
        Strength::Advice,
        "envelope-unknown-members",
        Source::Practice,
        "members of a message that the server does not know are ignored",
        "Nothing closes the envelope either: clients and proxies between have added tracing members beside the method. Serve the request, or refuse it with an error: silence makes the client wait.",
        |talk| {
            let id = talk.id().to_string();
            let line = talk.line(&id, talk.harmless(), "");
            let line = line.replacen('{', r#"{"trace":{"a":[1,null]},"#, 1);
            talk.say_line(&line);
            answered(talk, &id)
        },
    ),
    Check::new(
        Strength::Must,
        "envelope-batch",
        Source::Spec("basic#batching"),
        "a batch is taken",
        "In 2025-03-26 a line may hold an array of requests and notifications, and receiving one must be supported. Answer each request of it, in one array or in messages of their own.",
        batch,
    )
    .speaking(Speaks::Between(Revision::V2025_03_26, Revision::V2025_03_26)),
];

/// Whether the answers to a few requests are as they have to be: results and errors.
fn each(talk: &mut Talk, expected: &str, is_right: impl Fn(JsonRef<'_>) -> bool) -> Result<(), Finding> {
    let mut methods = vec![talk.harmless(), "sanswire/no-such-method"];
    methods.extend(talk.facts().declares("tools").then_some("tools/list"));
    for method in methods {
        let answer = talk.request(method, "")?;
        if !is_right(answer.message()) {
            return Err(Finding::new(expected, answer.text()));
        }
    }
    Ok(())
}

/// Whether an answer holds no error, or one that is as it has to be.
fn error_is(answer: JsonRef<'_>, is_right: impl Fn(JsonRef<'_>) -> bool) -> bool {
    answer.get("result").is_some() || answer.get("error").is_none_or(is_right)
}

/// Says a line that gets no answer.
fn unanswered(talk: &mut Talk, line: &str) -> Result<(), Finding> {
    talk.say_line(line);
    match talk.unasked()?.first() {
        None => Ok(()),
        Some(answer) => Err(Finding::new("no answer", answer.text())),
    }
}

fn unknown_parameters(talk: &mut Talk) -> Result<(), Finding> {
    let answer = talk.request(talk.harmless(), r#""sanswireUnknown":{"a":[1,null,"b"]}"#)?;
    if answer.result().is_some() {
        return Ok(());
    }
    Err(Finding::new("a result, as without them", answer.text()))
}

fn batch(talk: &mut Talk) -> Result<(), Finding> {
    let ids: Vec<_> = (0..2).map(|_| talk.id().to_string()).collect();
    let lines: Vec<_> = ids.iter().map(|id| talk.line(id, "ping", "")).collect();
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/sanswire/no-such"}"#;
    talk.say_line(&format!("[{},{notice},{}]", lines[0], lines[1]));
    let mut left: Vec<_> = ids.iter().map(String::as_str).collect();
    talk.request("ping", "")?;
    for id in &ids {
        if talk.answer_before_next(id)?.is_some() {
            left.retain(|left| left != id);
        }
    }
    // An array is no message by itself.
    for line in talk.junk() {
        let Ok(array) = RawJson::from_slice(&line, 64) else {
            return Err(Finding::new("an array of answers", shown(&line)));
        };
        for id in array.view().elements().filter_map(|answer| answer.get("id")) {
            left.retain(|left| left.as_bytes() != id.as_bytes());
        }
    }
    if left.is_empty() {
        return Ok(());
    }
    let other = talk.strays().first().map(|it| shown(it.as_bytes()));
    let other = other.unwrap_or_else(|| "none, though a later request was answered".into());
    Err(Finding::new(
        format!("an answer to each request of a batch, with the ids {}", ids.join(" and ")),
        other,
    ))
}
