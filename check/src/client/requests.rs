//! What a server asks of a client, and tells it unasked.

use std::collections::BTreeMap;
use std::time::Duration;

use sanswire::jsonrpc::{JsonRef, Kind};

use super::ALONE;
use super::work::{at_work, on_first};
use crate::check::{Check, Script, Source, Strength};
use crate::finding::Finding;
use crate::stage::{Message, Stage};

const PING: Source = Source::Spec("basic/utilities/ping#behavior-requirements");
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "client-requests-ping",
        title: "ping is answered with an empty result",
        source: PING,
        strength: Strength::Must,
        explain: "The receiver answers promptly, while it waits for an answer itself too. A server may close a connection that does not answer.",
        script: Script::Client(pinged),
        ..ALONE
    },
    Check {
        id: "client-requests-early-ping",
        title: "ping is answered before initialize is",
        source: PING,
        strength: Strength::Should,
        explain: "A server may ping before it is opened. Answer while you wait for the answer to initialize.",
        script: Script::Client(early_ping),
        ..ALONE
    },
    Check {
        id: "client-requests-many",
        title: "fifty requests at once are answered once each",
        source: PING,
        strength: Strength::Should,
        explain: "Requests may come faster than they are answered. Answer every one of them, and none of them twice.",
        script: Script::Client(many),
        ..ALONE
    },
    Check {
        id: "client-requests-unknown-method",
        title: "an unknown method is answered with -32601",
        source: Source::JsonRpc("error_object"),
        strength: Strength::Must,
        explain: "A server tries what it knows, and falls back when it is told that there is no such method. Silence makes it wait.",
        script: Script::Client(unknown_method),
        ..ALONE
    },
    Check {
        id: "client-requests-sampling",
        title: "a request for a sample is refused where sampling is not declared",
        source: Source::Spec("client/sampling#error-handling"),
        strength: Strength::Should,
        explain: "The server should not have asked. Tell it by an error, not by silence, which makes it wait.",
        script: Script::Client(|stage| {
            let params =
                r#"{"messages":[{"role":"user","content":{"type":"text","text":"Hello."}}],"maxTokens":1}"#;
            undeclared(stage, "sampling", "sampling/createMessage", params)
        }),
        ..ALONE
    },
    Check {
        id: "client-requests-elicitation",
        title: "a question to the user is refused where elicitation is not declared",
        source: Source::Spec("client/elicitation#error-handling"),
        strength: Strength::Should,
        explain: "The server should not have asked. Tell it by an error, not by silence, which makes it wait.",
        script: Script::Client(|stage| {
            let params = r#"{"message":"Well?","requestedSchema":{"type":"object","properties":{}}}"#;
            undeclared(stage, "elicitation", "elicitation/create", params)
        }),
        ..ALONE
    },
    Check {
        id: "client-requests-roots",
        title: "roots are listed where they are declared, and refused where they are not",
        source: Source::Spec("client/roots#error-handling"),
        strength: Strength::Should,
        explain: "Who declares roots answers roots/list with an array of them, each with a file URI; who does not, with -32601.",
        script: Script::Client(roots),
        ..ALONE
    },
    Check {
        id: "client-requests-unknown-notification",
        title: "an unknown notification is ignored",
        source: Source::JsonRpc("notification"),
        strength: Strength::Must,
        explain: "Notifications are never answered, not even with an error. What you do not know of them, let pass.",
        script: Script::Client(unknown_notification),
        ..ALONE
    },
    Check {
        id: "client-requests-log",
        title: "log messages of every level do no harm",
        source: Source::Spec("server/utilities/logging#log-message-notifications"),
        strength: Strength::Should,
        explain: "A server that declares logging may log unasked, with any JSON value as the data.",
        script: Script::Client(log),
        ..ALONE
    },
];

/// Pings with this id; the answer, if one comes.
pub(super) fn ping(stage: &mut Stage, launch: usize, id: &str) -> Option<Message> {
    stage.say_line(launch, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    stage.answer_of(launch, id)
}

fn ask(stage: &mut Stage, launch: usize, method: &str, params: &str) -> Result<Message, Finding> {
    let id = "\"asked\"";
    stage
        .say_line(launch, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
    stage.answer_of(launch, id).ok_or_else(|| Finding::new(format!("an answer to {method}"), "none"))
}

fn is_empty_result(answer: &Message) -> bool {
    // Metadata may go with any result.
    let is_meta = |name: &str| name == "_meta";
    answer.get("result").is_some_and(|result| {
        result.kind() == Kind::Object && result.members().all(|(name, _)| is_meta(&name.decode()))
    })
}

/// Pings, and looks at the answer.
pub(super) fn is_pinged(stage: &mut Stage, launch: usize) -> Result<(), Finding> {
    match ping(stage, launch, "\"ping\"") {
        Some(answer) if is_empty_result(&answer) => Ok(()),
        Some(answer) => Err(Finding::new("an empty result", answer.text())),
        None => Err(Finding::new("an answer to ping", "none")),
    }
}

fn pinged(stage: &mut Stage) -> Result<(), Finding> {
    at_work(stage, |stage, request| is_pinged(stage, request.launch).map(|()| false))
}

fn early_ping(stage: &mut Stage) -> Result<(), Finding> {
    let is = |it: &Message| it.is("initialize");
    on_first(stage, is, "the client does not say initialize", |stage, request| {
        is_pinged(stage, request.launch).map(|()| false)
    })
}

fn many(stage: &mut Stage) -> Result<(), Finding> {
    at_work(stage, |stage, request| {
        let lines: String = (5000..5050)
            .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n"))
            .collect();
        stage.say(request.launch, lines.as_bytes());
        for id in 5000..5050 {
            if stage.answer_of(request.launch, &id.to_string()).is_none() {
                return Err(Finding::new(format!("an answer with the id {id}"), "none"));
            }
        }
        stage.pause(Duration::from_millis(50));
        let mut counts = BTreeMap::new();
        for answer in stage.messages.iter().filter(|it| it.is_answer()) {
            *counts.entry(answer.id()).or_insert(0) += 1;
        }
        match counts.iter().find(|(_, count)| **count > 1) {
            Some((id, count)) => {
                Err(Finding::new("one answer to each request", format!("{count} with the id {id}")))
            }
            None => Ok(false),
        }
    })
}

fn unknown_method(stage: &mut Stage) -> Result<(), Finding> {
    at_work(stage, |stage, request| {
        let answer = ask(stage, request.launch, "sanswire/no-such-method", "{}")?;
        if answer.error_code() == Some(-32601) {
            return Ok(false);
        }
        Err(Finding::new("the error -32601", answer.text()))
    })
}

fn undeclared(stage: &mut Stage, capability: &str, method: &str, params: &str) -> Result<(), Finding> {
    if stage.usual().is_some_and(|usual| usual.declares(capability)) {
        return stage.not_tried(format!("the client declares {capability}"));
    }
    at_work(stage, |stage, request| {
        let answer = ask(stage, request.launch, method, params)?;
        if answer.get("error").is_some() {
            return Ok(false);
        }
        Err(Finding::new("an error", answer.text()))
    })
}

fn roots(stage: &mut Stage) -> Result<(), Finding> {
    let declared = stage.usual().is_some_and(|usual| usual.declares("roots"));
    at_work(stage, |stage, request| {
        let answer = ask(stage, request.launch, "roots/list", "{}")?;
        if !declared {
            let refused = answer.get("error").is_some();
            return if refused { Ok(false) } else { Err(Finding::new("an error", answer.text())) };
        }
        let roots = answer.get("result").and_then(|result| result.get("roots"));
        let is_file = |root: JsonRef<'_>| {
            root.get("uri").and_then(JsonRef::str).is_some_and(|uri| uri.decode().starts_with("file://"))
        };
        match roots.filter(|it| it.kind() == Kind::Array) {
            Some(roots) if roots.elements().all(is_file) => Ok(false),
            _ => Err(Finding::new("an array of roots, each with a file URI", answer.text())),
        }
    })
}

fn unknown_notification(stage: &mut Stage) -> Result<(), Finding> {
    at_work(stage, |stage, request| {
        let line = r#"{"jsonrpc":"2.0","method":"notifications/sanswire/nothing","params":{"a":[1]}}"#;
        stage.say_line(request.launch, line);
        is_pinged(stage, request.launch)?;
        let answers = stage.messages.iter().filter(|it| it.is_answer());
        let other = answers.filter(|it| it.id() != "\"ping\"").map(Message::text).next();
        other.map_or(Ok(false), |other| Err(Finding::new("no answer to a notification", other)))
    })
}

fn log(stage: &mut Stage) -> Result<(), Finding> {
    at_work(stage, |stage, request| {
        for (level, data) in [
            ("debug", "\"a word\""),
            ("info", "{\"a\":[1,2.5,null]}"),
            ("notice", "null"),
            ("warning", "[]"),
            ("error", "true"),
            ("critical", "\"\""),
            ("alert", "17"),
            ("emergency", "\"the end\""),
        ] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","data":{data}}}}}"#
            );
            stage.say_line(request.launch, &line);
        }
        Ok(false)
    })
}
