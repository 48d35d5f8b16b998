//! What the server asks of its client.

use std::collections::BTreeSet;

use sanswire::jsonrpc::{JsonRef, RawJson};

use super::base::check;
use crate::check::{Check, Company, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::{Manner, Talk};

/// All that a client of a handshake may declare that lets it be asked.
const ALL: &str = r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#;
const NONE_ASKED: &str = "the server asked for nothing";
const OPENING: Source = Source::Spec("basic/lifecycle#initialization");

pub(super) const CHECKS: &[Check] = &[
    Check {
        strength: Strength::Should,
        ..alone(
            "requests-before-initialized",
            "nothing but pings is asked before the client is ready",
            OPENING,
            "The client says notifications/initialized when it can be asked. Before that, send pings and log messages at most.",
            before_initialized,
        )
    },
    alone(
        "requests-undeclared",
        "nothing is asked that the client did not declare",
        Source::Spec("basic/lifecycle#operation"),
        "A client without roots, sampling or elicitation in its capabilities cannot answer for them. Do without.",
        undeclared,
    ),
    alone(
        "requests-refused",
        "a server goes on when its request is refused",
        Source::JsonRpc("response_object"),
        "The user may say no, and clients declare more than they can do. An error to a request of the server is the end of that request and of nothing else.",
        |talk| goes_on(talk, Manner::Refuse),
    ),
    alone(
        "requests-ignored",
        "a server goes on while its request is not answered",
        Source::JsonRpc("response_object"),
        "People take their time, and some clients never answer. Serve other requests meanwhile, and give up at some time.",
        |talk| goes_on(talk, Manner::Ignore),
    ),
    alone(
        "requests-ids",
        "each request of the server has an id of its own",
        Source::Spec("basic#requests"),
        "Ids are strings or integers, never null, and none is used twice in a session.",
        ids,
    ),
    Check {
        speaks: Speaks::Modern,
        ..check(
            "requests-none",
            "the server asks nothing of its client",
            Source::Spec("basic/transports/stdio#receiving-messages"),
            "Without a handshake only clients send requests. What a server needs goes back in a result of the type input_required.",
            none,
        )
    },
];

const fn alone(
    id: &'static str,
    title: &'static str,
    source: Source,
    explain: &'static str,
    script: fn(&mut Talk) -> Result<(), Finding>,
) -> Check {
    Check { speaks: Speaks::Legacy, company: Company::Alone, ..check(id, title, source, explain, script) }
}

fn is_ping(request: &RawJson) -> bool {
    request.view().get("method").and_then(JsonRef::str).is_some_and(|method| method.eq_str("ping"))
}

/// Nothing but pings was asked.
fn only_pings(talk: &mut Talk, expected: &str) -> Result<(), Finding> {
    match talk.asked().iter().find(|request| !is_ping(request)) {
        None => Ok(()),
        Some(request) => Err(Finding::new(expected, shown(request.as_bytes()))),
    }
}

fn list_all(talk: &mut Talk) -> Result<(), Finding> {
    for method in talk.facts().lists() {
        talk.request(method, "")?;
    }
    Ok(())
}

fn before_initialized(talk: &mut Talk) -> Result<(), Finding> {
    talk.initialize(ALL)?;
    talk.settle()?;
    only_pings(talk, "no request before notifications/initialized")
}

fn undeclared(talk: &mut Talk) -> Result<(), Finding> {
    talk.open_as("{}")?;
    list_all(talk)?;
    talk.settle()?;
    only_pings(talk, "no request to a client without capabilities")
}

fn goes_on(talk: &mut Talk, manner: Manner) -> Result<(), Finding> {
    talk.answer_requests(manner);
    talk.open_as(ALL)?;
    list_all(talk)?;
    talk.settle()?;
    // What was refused meanwhile is taken by now.
    talk.request("ping", "")?;
    if talk.asked().iter().any(|request| !is_ping(request)) {
        return Ok(());
    }
    talk.not_tried(NONE_ASKED)
}

fn ids(talk: &mut Talk) -> Result<(), Finding> {
    talk.open_as(ALL)?;
    list_all(talk)?;
    talk.settle()?;
    let asked = talk.asked();
    let mut seen = BTreeSet::new();
    for request in &asked {
        let id = request.view().get("id").filter(|id| id.str().is_some() || id.as_i64().is_some());
        if !id.is_some_and(|id| seen.insert(id.as_bytes())) {
            return Err(Finding::new("an id of its own for each request", shown(request.as_bytes())));
        }
    }
    if asked.is_empty() { talk.not_tried(NONE_ASKED) } else { Ok(()) }
}

fn none(talk: &mut Talk) -> Result<(), Finding> {
    let mut meta = talk.meta();
    meta.capabilities = Some(r#"{"roots":{},"sampling":{},"elicitation":{"form":{}}}"#.into());
    for method in talk.facts().lists().into_iter().chain(["server/discover"]) {
        talk.request_with(method, &meta, "")?;
    }
    talk.settle()?;
    match talk.asked().first() {
        None => Ok(()),
        Some(request) => Err(Finding::new("no request of the server", shown(request.as_bytes()))),
    }
}
