//! Handshakes: how `initialize` is answered, and what comes around it.

use sanswire::jsonrpc::{JsonRef, Kind};

use super::base::check;
use super::lifecycle::known_version;
use crate::check::{Check, Company, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

const OPENING: Source = Source::Spec("basic/lifecycle#initialization");
const ANSWERED: Source = Source::JsonRpc("response_object");
const ALONE: Company = Company::Alone;
const LEGACY: Speaks = Speaks::Legacy;

pub(super) const CHECKS: &[Check] = &[
    Check {
        speaks: LEGACY,
        company: ALONE,
        ..check(
            "lifecycle-future-version",
            "a version of the future is answered with one that the server knows",
            Source::Spec("basic/lifecycle#version-negotiation"),
            "Clients are updated before servers are. Compare the version with those that you speak, not by order, and answer with your newest where it is none of them.",
            |talk| known_version(talk, "2999-12-31"),
        )
    },
    Check {
        speaks: LEGACY,
        ..check(
            "lifecycle-server-info",
            "serverInfo holds a name and a version",
            OPENING,
            "Both are required strings of the answer to initialize. Clients show them, and put them into reports of faults.",
            server_info,
        )
    },
    check(
        "lifecycle-instructions",
        "instructions, where there are any, are a string",
        Source::Eras("basic/lifecycle#initialization", "server/discover#discoverresult"),
        "They are put in front of a model as they are. Leave the member out where there is nothing to say: null is no string.",
        instructions,
    ),
    Check {
        speaks: LEGACY,
        ..check(
            "lifecycle-ping",
            "a ping is answered with an empty result",
            Source::Spec("basic/utilities/ping#behavior-requirements"),
            "Clients ask whether a server is still there, and end the connection when no answer comes. Answer with {} at once, whatever else is at work.",
            ping,
        )
    },
    Check {
        speaks: LEGACY,
        company: ALONE,
        strength: Strength::Should,
        ..check(
            "lifecycle-ping-first",
            "a ping before initialize is answered",
            OPENING,
            "Pings are what a client may send before the handshake is done. Answer them in every state.",
            ping_first,
        )
    },
    Check {
        speaks: LEGACY,
        company: ALONE,
        strength: Strength::Should,
        ..check(
            "lifecycle-request-first",
            "a request before initialize is answered, and initialize works afterwards",
            ANSWERED,
            "Clients ask for server/discover before they fall back to the handshake. Refuse what comes too early with an error: silence makes the client wait, and an exit makes it give up.",
            request_first,
        )
    },
    Check {
        speaks: LEGACY,
        company: ALONE,
        strength: Strength::Should,
        ..check(
            "lifecycle-initialize-twice",
            "a second initialize is answered and does no harm",
            ANSWERED,
            "A client that lost track starts again. Refuse it or serve it, and go on: other requests are still to be answered.",
            initialize_twice,
        )
    },
    Check {
        speaks: LEGACY,
        company: ALONE,
        strength: Strength::Advice,
        ..check(
            "lifecycle-initialize-incomplete",
            "an initialize that lacks something is served, or refused with -32602",
            Source::JsonRpc("error_object"),
            "protocolVersion, capabilities and clientInfo are required. Whoever writes a client learns from -32602 what is missing; an internal error or silence tells nothing.",
            initialize_incomplete,
        )
    },
    Check {
        speaks: LEGACY,
        company: ALONE,
        ..check(
            "lifecycle-unknown-capabilities",
            "a client may declare what the server does not know",
            Source::Spec("basic/lifecycle#capability-negotiation"),
            "The set of capabilities is open, and newer clients say more of themselves. Ignore what you do not know.",
            unknown_capabilities,
        )
    },
    Check {
        strength: Strength::Should,
        ..check(
            "lifecycle-odd-methods",
            "methods of odd names are refused like unknown ones",
            Source::JsonRpc("error_object"),
            "An empty name, a very long one, one that begins with rpc. or is spelled in capitals is a method that does not exist: answer with -32601 and go on.",
            odd_methods,
        )
    },
];

fn server_info(talk: &mut Talk) -> Result<(), Finding> {
    let info = talk.facts().opened.as_ref().and_then(|opened| opened.view().get("serverInfo"));
    let text = |name| info.and_then(|info| info.get(name)?.str()).is_some();
    if text("name") && text("version") {
        return Ok(());
    }
    let got = info.map_or("none".to_owned(), |info| shown(info.as_bytes()));
    Err(Finding::new("serverInfo with a name and a version that are strings", got))
}

fn instructions(talk: &mut Talk) -> Result<(), Finding> {
    match talk.facts().opened.as_ref().and_then(|opened| opened.view().get("instructions")) {
        Some(other) if other.kind() != Kind::String => {
            Err(Finding::new("instructions that are a string, or none", shown(other.as_bytes())))
        }
        _ => Ok(()),
    }
}

/// Nothing, but for metadata.
fn is_empty(result: JsonRef<'_>) -> bool {
    result.kind() == Kind::Object && result.members().all(|(name, _)| name.eq_str("_meta"))
}

fn ping(talk: &mut Talk) -> Result<(), Finding> {
    let answer = talk.request("ping", "")?;
    if answer.result().is_some_and(is_empty) {
        return Ok(());
    }
    Err(Finding::new("the result {}", answer.text()))
}

fn ping_first(talk: &mut Talk) -> Result<(), Finding> {
    let ping = talk.ask("ping", "");
    talk.open_as("{}")?;
    match talk.answer_before_next(&ping)? {
        Some(answer) if answer.result().is_some() => Ok(()),
        Some(answer) => Err(Finding::new("the result {}", answer.text())),
        None => Err(Finding::new("an answer to the ping before initialize", "none")),
    }
}

fn request_first(talk: &mut Talk) -> Result<(), Finding> {
    let early = talk.ask("tools/list", "");
    talk.open_as("{}")?;
    match talk.answer_before_next(&early)? {
        Some(_) => Ok(()),
        None => Err(Finding::new("an answer to the request before initialize", "none")),
    }
}

fn initialize_twice(talk: &mut Talk) -> Result<(), Finding> {
    talk.open_as("{}")?;
    talk.initialize("{}")?;
    talk.request("ping", "").map(|_| ())
}

fn initialize_incomplete(talk: &mut Talk) -> Result<(), Finding> {
    const VERSION: &str = r#""protocolVersion":"2025-06-18""#;
    const CLIENT: &str = r#""clientInfo":{"name":"sanswire check","version":"1"}"#;
    let lacking = [
        ("protocolVersion", format!(r#""capabilities":{{}},{CLIENT}"#)),
        ("capabilities", format!("{VERSION},{CLIENT}")),
        ("clientInfo", format!(r#"{VERSION},"capabilities":{{}}"#)),
    ];
    let asked: Vec<_> =
        lacking.iter().map(|(missing, members)| (missing, talk.ask("initialize", members))).collect();
    talk.initialize("{}")?;
    talk.initialized();
    for (missing, id) in asked {
        let expected = format!("a result or -32602 to an initialize without {missing}");
        match talk.answer_before_next(&id)? {
            // It is open now: what comes next is no first one.
            Some(answer) if answer.result().is_some() => return Ok(()),
            Some(answer) if answer.code() == Some(-32602) => {}
            Some(answer) => return Err(Finding::new(expected, answer.text())),
            None => return Err(Finding::new(expected, "no answer")),
        }
    }
    Ok(())
}

fn unknown_capabilities(talk: &mut Talk) -> Result<(), Finding> {
    let capabilities = r#"{"experimental":{"com.example/a":{"b":[1]}},"somethingNew":{"c":{"d":null}}}"#;
    let info = r#"{"name":"sanswire check","version":"1","somethingNew":[{}]}"#;
    let version = talk.revision();
    let members = format!(
        r#""protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{info},"somethingNew":true"#
    );
    let answer = talk.request("initialize", &members)?;
    if answer.result().is_none() {
        return Err(Finding::new("a result, with what it does not know ignored", answer.text()));
    }
    talk.initialized();
    talk.request("ping", "").map(|_| ())
}

fn odd_methods(talk: &mut Talk) -> Result<(), Finding> {
    let long = "x".repeat(4096);
    for method in ["", "rpc.discover", "tools/", "TOOLS/LIST", "\\u0000", &long] {
        let answer = talk.request(method, "")?;
        if answer.code().is_none() {
            return Err(Finding::new("an error with a code", answer.text()));
        }
    }
    Ok(())
}
