//! Lines that are no message, or not quite one: they are refused or passed over, and the connection goes on.

use crate::check::{Check, Source, Strength};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

const ERRORS: Source = Source::JsonRpc("error_object");
const REQUESTS: Source = Source::JsonRpc("request_object");

const PARSE: &[i64] = &[-32700];
const INVALID: &[i64] = &[-32600];

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        Strength::Should,
        "envelope-not-json",
        ERRORS,
        "a line that is no JSON is refused with -32700 or passed over, and the next one is read",
        "A bad line is the fault of one message, not of the session. Answer -32700 without an id, or with the id null, or say nothing; then read the next line.",
        |talk| {
            for line in ["this is no JSON", r#"{"jsonrpc":"2.0","id":1,"#, "{]"] {
                talk.refused(line.as_bytes(), None, PARSE)?;
            }
            Ok(())
        },
    ),
    Check::new(
        Strength::Should,
        "envelope-not-an-object",
        ERRORS,
        "JSON that is no object is refused with -32600 or passed over",
        "A number or a string is JSON, but no message. Answer -32600 without an id, or with the id null, or say nothing; then read the next line.",
        |talk| {
            for line in ["42", r#""ping""#, "null", "true", "{}"] {
                talk.refused(line.as_bytes(), None, INVALID)?;
            }
            Ok(())
        },
    ),
    Check::new(
        Strength::Should,
        "envelope-no-version",
        REQUESTS,
        "a request without jsonrpc is refused with -32600, passed over or served",
        "The member jsonrpc has to be there. Refuse what lacks it, or be lenient; a crash, or another code, helps nobody.",
        |talk| lenient(talk, |line| line.replacen(r#""jsonrpc":"2.0","#, "", 1)),
    ),
    Check::new(
        Strength::Should,
        "envelope-other-version",
        REQUESTS,
        "a request with another jsonrpc is refused with -32600, passed over or served",
        "The member jsonrpc has to be the string \"2.0\". Refuse 1.0 or a number, or be lenient; a crash, or another code, helps nobody.",
        |talk| {
            for other in [r#""1.0""#, "2.0", "null"] {
                lenient(talk, |line| line.replacen(r#""2.0""#, other, 1))?;
            }
            Ok(())
        },
    ),
    Check::new(
        Strength::Should,
        "envelope-method-is-no-string",
        ERRORS,
        "a request whose method is no string is refused with -32600 or passed over",
        "It is not a request, so nothing is called. Answer -32600 with its id if you can read it.",
        |talk| {
            for method in ["1", "null", r#"["ping"]"#, r#"{"a":1}"#] {
                let id = format!("\"method-{}\"", talk.id());
                let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method}}}"#);
                talk.refused(line.as_bytes(), Some(&id), INVALID)?;
            }
            Ok(())
        },
    ),
    Check::new(
        Strength::Should,
        "envelope-no-method",
        ERRORS,
        "an object with an id and nothing else is refused with -32600 or passed over",
        "It is neither a request nor an answer. Answer -32600 with its id, or pass over it.",
        |talk| {
            let id = format!("\"nothing-{}\"", talk.id());
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#);
            talk.refused(line.as_bytes(), Some(&id), INVALID).map(drop)
        },
    ),
    Check::new(
        Strength::Should,
        "envelope-parameters-are-no-object",
        ERRORS,
        "a request whose parameters are no object is answered",
        "Its id can be read and somebody waits: answer -32602 or -32600. Dropping the line leaves the client waiting for its timeout.",
        |talk| {
            for params in ["[]", r#""x""#, "7"] {
                owed(talk, params)?;
            }
            Ok(())
        },
    ),
    Check::new(
        Strength::Advice,
        "envelope-parameters-null",
        Source::Practice,
        "a request whose parameters are null is answered",
        "Languages with one empty value write \"params\":null where there is nothing to say. Take it as absent, or refuse it with -32602; dropping the line leaves the client waiting.",
        |talk| owed(talk, "null"),
    ),
    Check::new(
        Strength::Advice,
        "envelope-duplicate-members",
        Source::Rfc(8259, "4"),
        "a message that says a member twice does not end the connection",
        "Which of the two counts is open. Take either or refuse the message, and read the next line.",
        |talk| {
            let id = format!("\"twice-{}\"", talk.id());
            let method = talk.harmless();
            let line = talk.line(&id, method, "").replacen('{', &format!(r#"{{"method":"{method}","#), 1);
            survived(talk, &line)
        },
    ),
    Check::new(
        Strength::Advice,
        "envelope-deep-nesting",
        Source::Rfc(8259, "9"),
        "a message that is nested ten thousand levels deep does not end the connection",
        "A parser may bound the depth, and has to: one that calls itself for each level overflows its stack. Refuse the message and read the next line.",
        |talk| {
            let id = format!("\"deep-{}\"", talk.id());
            let deep = format!(r#""deep":{}{}"#, "[".repeat(10_000), "]".repeat(10_000));
            let line = talk.line(&id, talk.harmless(), &deep);
            survived(talk, &line)
        },
    ),
    Check::new(
        Strength::Advice,
        "envelope-stray-batch",
        Source::Practice,
        "an array of messages does not end the connection",
        "Batches exist in 2025-03-26 alone. Elsewhere refuse an array with -32600, or pass over it; an empty one is refused everywhere.",
        |talk| {
            let ids = [(); 2].map(|()| format!("\"batch-{}\"", talk.id()));
            let lines = ids.map(|id| talk.line(&id, talk.harmless(), ""));
            survived(talk, &format!("[{}]", lines.join(",")))?;
            survived(talk, "[]")
        },
    ),
];

/// A request that a strict server refuses and a lenient one serves.
fn lenient(talk: &mut Talk, spoil: impl Fn(&str) -> String) -> Result<(), Finding> {
    let id = format!("\"version-{}\"", talk.id());
    let line = spoil(&talk.line(&id, talk.harmless(), ""));
    talk.say_line(&line);
    for answer in talk.unasked()? {
        if answer.result().is_none() && answer.code() != Some(-32600) {
            let expected = format!("nothing, a result or the error -32600, to {}", shown(line.as_bytes()));
            return Err(Finding::new(expected, answer.text()));
        }
    }
    Ok(())
}

/// A request with these parameters gets an answer, whatever it is: a result, or an error about them.
fn owed(talk: &mut Talk, params: &str) -> Result<(), Finding> {
    let id = format!("\"params-{}\"", talk.id());
    let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{}","params":{params}}}"#, talk.harmless());
    talk.say_line(&line);
    if talk.unasked()?.is_empty() {
        let expected = format!("a result or an error to {}", shown(line.as_bytes()));
        return Err(Finding::new(expected, "no answer, though a later request was answered"));
    }
    Ok(())
}

/// Says a line, and something behind it that is answered.
fn survived(talk: &mut Talk, line: &str) -> Result<(), Finding> {
    talk.say_line(line);
    talk.unasked().map(drop)
}
