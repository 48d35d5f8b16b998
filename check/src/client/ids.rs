//! Ids: those of the client's requests, and those that it gives back.

use std::time::Duration;

use sanswire::jsonrpc::Kind;

use super::requests::ping;
use super::work::at_work;
use super::{ALONE, SHARED};
use crate::check::{Check, Script, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::stage::{Message, Stage};

const REQUESTS: Source = Source::Spec("basic#requests");
const RESPONSES: Source = Source::Spec("basic#responses");

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "client-ids-form",
        title: "the id of a request is a string or an integer",
        source: REQUESTS,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        explain: "MCP narrows what JSON-RPC allows: an id is never null, and no fraction.",
        script: Script::Client(form),
        ..SHARED
    },
    Check {
        id: "client-ids-unique",
        title: "no id is used twice",
        source: REQUESTS,
        strength: Strength::Must,
        explain: "Within a session each request has an id that its sender has not used before. Count them up.",
        script: Script::Client(unique),
        ..SHARED
    },
    Check {
        id: "client-ids-echo",
        title: "the ids of the server's requests come back as they are",
        source: RESPONSES,
        strength: Strength::Must,
        explain: "Any string and any integer is an id: 0, negative ones, the empty string. \"7\" and 7 are two.",
        script: Script::Client(|stage| echoed(stage, &["0", "-7", r#""""#, r#""7007""#, "7007"])),
        ..ALONE
    },
    Check {
        id: "client-ids-echo-long",
        title: "long ids of the server's requests come back whole",
        source: RESPONSES,
        strength: Strength::Should,
        explain: "JSON integers are not bounded by what a double holds, and strings not by what is usual. Keep the id as it stands in the request.",
        script: Script::Client(|stage| {
            let long = format!("\"{}\"", "0123456789abcdef".repeat(16));
            echoed(stage, &["9007199254740993", &long])
        }),
        ..ALONE
    },
    Check {
        id: "client-ids-unknown-answer",
        title: "an answer that nobody waits for does no harm",
        explain: "It may be late for a request that was given up. Drop it, and go on.",
        script: Script::Client(|stage| {
            before_the_answer(stage, |_| {
                vec![
                    r#"{"jsonrpc":"2.0","id":987654321,"result":{}}"#.into(),
                    r#"{"jsonrpc":"2.0","id":"nobody","error":{"code":-32603,"message":"lost"}}"#.into(),
                ]
            })
        }),
        ..ALONE
    },
    Check {
        id: "client-ids-other-type",
        title: "an answer whose id is of another type is none",
        source: RESPONSES,
        strength: Strength::Advice,
        explain: "\"1\" is not 1: who takes one for the other may take the answer to another request.",
        script: Script::Client(|stage| {
            before_the_answer(stage, |request| {
                let id = request.id();
                let other = if id.starts_with('"') { "1234567".into() } else { format!("\"{id}\"") };
                vec![format!(
                    r#"{{"jsonrpc":"2.0","id":{other},"error":{{"code":-32603,"message":"of another request"}}}}"#
                )]
            })
        }),
        ..ALONE
    },
    Check {
        id: "client-ids-error-without-id",
        title: "an error without an id does no harm",
        source: Source::Spec("basic#error-responses"),
        strength: Strength::Advice,
        explain: "A server that cannot read what it got answers with an error that belongs to no request. Report it, and go on waiting.",
        script: Script::Client(|stage| {
            before_the_answer(stage, |_| {
                vec![r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"what was that"}}"#.into()]
            })
        }),
        ..ALONE
    },
    Check {
        id: "client-ids-duplicate-answer",
        title: "a second answer to a request does no harm",
        explain: "The first one counts. Drop what comes behind it.",
        script: Script::Client(|stage| {
            at_work(stage, |stage, request| {
                stage.answer(request);
                stage.answer(request);
                Ok(true)
            })
        }),
        ..ALONE
    },
];

fn form(stage: &mut Stage) -> Result<(), Finding> {
    let whole = |message: &&Message| {
        let text = message.id();
        let digits = text.strip_prefix('-').unwrap_or(text);
        message.get("id").is_some_and(|id| id.kind() == Kind::String)
            || digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    match stage.messages.iter().filter(|it| it.is_request()).find(|it| !whole(it)) {
        Some(other) => Err(Finding::new("a string or an integer as the id", other.text())),
        None => Ok(()),
    }
}

fn unique(stage: &mut Stage) -> Result<(), Finding> {
    let mut used = std::collections::BTreeSet::new();
    for request in stage.messages.iter().filter(|it| it.is_request()) {
        if !used.insert((request.launch, request.id())) {
            return Err(Finding::new("an id that was not used before", request.text()));
        }
    }
    Ok(())
}

fn echoed(stage: &mut Stage, ids: &[&str]) -> Result<(), Finding> {
    at_work(stage, |stage, request| {
        for id in ids {
            let said = stage.messages.len();
            if ping(stage, request.launch, id).is_none() {
                let other = stage.messages.iter().skip(said).find(|it| it.is_answer());
                let got = other.map_or_else(|| "none".into(), Message::text);
                return Err(Finding::new(format!("an answer with the id {}", shown(id.as_bytes())), got));
            }
        }
        Ok(false)
    })
}

/// Says these lines before the first answer behind the opening.
fn before_the_answer(stage: &mut Stage, lines: fn(&Message) -> Vec<String>) -> Result<(), Finding> {
    at_work(stage, |stage, request| {
        for line in lines(request) {
            stage.say_line(request.launch, &line);
        }
        stage.pause(Duration::from_millis(50));
        Ok(false)
    })
}
