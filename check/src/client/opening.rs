//! How a client opens a conversation.

use std::time::Duration;

use sanswire::jsonrpc::{JsonRef, Kind};
use sanswire::mcp::Revision;

use super::work::{is_work, on_first};
use super::{ALONE, SHARED};
use crate::check::{Check, Script, Source, Strength};
use crate::finding::{Finding, shown};
use crate::stage::{CAPABILITIES, Ending, Message, Stage, opening};

const INITIALIZATION: Source = Source::Spec("basic/lifecycle#initialization");
const VERSIONS: Source = Source::Spec("basic/lifecycle#version-negotiation");
const PROBE: Source = Source::In(Revision::NEWEST_MODERN, "basic/transports/stdio#backward-compatibility");
const FALLBACK: Source = Source::Spec("basic/lifecycle#error-handling");

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "opening-first-request",
        title: "the first request is initialize, or a probe with server/discover",
        source: INITIALIZATION,
        strength: Strength::Must,
        explain: "Initialization is the first interaction of both sides. A client that speaks 2026-07-28 as well asks server/discover before it.",
        script: Script::Client(first_request),
        ..SHARED
    },
    Check {
        id: "opening-version-released",
        title: "protocolVersion is that of a released revision",
        source: VERSIONS,
        strength: Strength::Should,
        explain: "Servers compare the version with those that they know. Send the newest released one that you speak.",
        script: Script::Client(version_released),
        ..SHARED
    },
    Check {
        id: "opening-capabilities",
        title: "initialize holds the client's capabilities: an object of objects",
        source: INITIALIZATION,
        strength: Strength::Must,
        explain: "Send an object, empty if the client can do nothing of that. A capability is there or it is not: null and false are neither.",
        script: Script::Client(capabilities),
        ..SHARED
    },
    Check {
        id: "opening-client-info",
        title: "initialize says the client's name and version",
        source: INITIALIZATION,
        strength: Strength::Must,
        explain: "clientInfo holds name and version, both strings. Servers that check their input refuse a client without.",
        script: Script::Client(client_info),
        ..SHARED
    },
    Check {
        id: "opening-initialized",
        title: "notifications/initialized follows the answer to initialize",
        source: INITIALIZATION,
        strength: Strength::Must,
        explain: "It tells the server that normal operation begins. Servers wait for it before they ask anything of the client.",
        script: Script::Client(initialized),
        ..SHARED
    },
    Check {
        id: "opening-initialized-first",
        title: "nothing is asked between the answer to initialize and notifications/initialized",
        source: INITIALIZATION,
        strength: Strength::Should,
        explain: "The notification says that the client is ready. A server may refuse what is asked before it.",
        script: Script::Client(initialized_first),
        ..SHARED
    },
    Check {
        id: "opening-waits-for-answer",
        title: "nothing but ping is asked before initialize is answered",
        source: INITIALIZATION,
        strength: Strength::Should,
        explain: "Until the answer neither version nor capabilities are agreed. Wait for it, however long the server takes to start.",
        script: Script::Client(waits_for_answer),
        ..ALONE
    },
    Check {
        id: "opening-older-version",
        title: "a server of 2024-11-05 is served, or left",
        source: VERSIONS,
        strength: Strength::Should,
        explain: "The answer to initialize may name an older version than was asked for. Go on in it, or disconnect and say why.",
        script: Script::Client(|stage| version_of_the_answer(stage, "2024-11-05", true)),
        ..ALONE
    },
    Check {
        id: "opening-unknown-version",
        title: "a server of a version that the client does not know is left",
        source: VERSIONS,
        strength: Strength::Should,
        explain: "Nobody can know what a version of the future means. Ask nothing more, disconnect, and say why.",
        script: Script::Client(|stage| version_of_the_answer(stage, "2099-01-01", false)),
        ..ALONE
    },
    Check {
        id: "opening-refused",
        title: "an error to initialize ends the client in time",
        source: FALLBACK,
        strength: Strength::Should,
        explain: "A server may refuse to be opened. Stop it, and say what it said.",
        script: Script::Client(|stage| refused(stage).in_time().map(|_| ())),
        ..ALONE
    },
    Check {
        id: "opening-refused-status",
        title: "the client's exit status tells that initialize was refused",
        explain: "Programs that start a client look at its status. Exit with one that is not 0 where nothing could be done.",
        script: Script::Client(|stage| refused(stage).fails()),
        ..ALONE
    },
    Check {
        id: "opening-undeclared-capabilities",
        title: "what the server does not declare is not asked for",
        source: Source::Spec("basic/lifecycle#operation"),
        strength: Strength::Must,
        explain: "Only capabilities that were negotiated are used: tools are listed where the answer to initialize holds tools, and so on.",
        script: Script::Client(undeclared),
        ..ALONE
    },
    Check {
        id: "opening-unknown-members",
        title: "what the client does not know in the answer to initialize does no harm",
        source: Source::Spec("basic/lifecycle#capability-negotiation"),
        strength: Strength::Should,
        explain: "Results and capabilities are open: newer servers say more. Read what you know, and let the rest be.",
        script: Script::Client(unknown_members),
        ..ALONE
    },
    Check {
        id: "opening-probe-invalid-params",
        title: "a probe that is refused with -32602 is followed by initialize",
        source: PROBE,
        strength: Strength::Must,
        explain: "Servers refuse a method that they do not know with codes of their own. Any error that is not one of 2026-07-28 means a server with a handshake: do not wait for -32601.",
        script: Script::Client(|stage| probe_refused(stage, -32602)),
        ..ALONE
    },
    Check {
        id: "opening-probe-other-error",
        title: "a probe that is refused with -32000 is followed by initialize",
        source: PROBE,
        strength: Strength::Must,
        explain: "Servers refuse what comes before initialize with codes of their own. Any error that is not one of 2026-07-28 means a server with a handshake.",
        script: Script::Client(|stage| probe_refused(stage, -32000)),
        ..ALONE
    },
];

fn usual_opening(stage: &Stage) -> Result<Message, Finding> {
    let opening = stage.usual().map(|usual| usual.opening.clone());
    opening.ok_or_else(|| Finding::new("initialize", "none"))
}

fn first_request(stage: &mut Stage) -> Result<(), Finding> {
    let first = stage.messages.iter().find(|it| it.is_request());
    let opens = |it: &Message| {
        it.is("initialize")
            || it.is("server/discover")
            || it.meta("io.modelcontextprotocol/protocolVersion").is_some()
    };
    match first {
        Some(first) if !opens(first) => Err(Finding::new("initialize or server/discover", first.text())),
        Some(_) | None => Ok(()),
    }
}

fn version_released(stage: &mut Stage) -> Result<(), Finding> {
    let opening = usual_opening(stage)?;
    let version = opening.param("protocolVersion").and_then(JsonRef::str);
    if version.is_some_and(|it| Revision::from_date(&it.decode()).is_some()) {
        return Ok(());
    }
    Err(Finding::new("a protocolVersion that was released", opening.text()))
}

fn capabilities(stage: &mut Stage) -> Result<(), Finding> {
    let opening = usual_opening(stage)?;
    let Some(all) = opening.param("capabilities").filter(|it| it.kind() == Kind::Object) else {
        return Err(Finding::new("capabilities, an object", opening.text()));
    };
    for (name, value) in all.members() {
        if value.kind() != Kind::Object {
            let expected = format!("an object as the capability {}", shown(name.decode().as_bytes()));
            return Err(Finding::new(expected, shown(value.as_bytes())));
        }
    }
    Ok(())
}

fn client_info(stage: &mut Stage) -> Result<(), Finding> {
    let opening = usual_opening(stage)?;
    let is_text = |name| opening.param("clientInfo").and_then(|info| info.get(name)?.str()).is_some();
    if is_text("name") && is_text("version") {
        return Ok(());
    }
    Err(Finding::new("clientInfo with a name and a version", opening.text()))
}

fn initialized(stage: &mut Stage) -> Result<(), Finding> {
    let opened = stage.messages.iter().position(|it| it.is("initialize"));
    let said = stage.messages.iter().position(|it| it.is("notifications/initialized"));
    match (opened, said) {
        (Some(opened), Some(said)) if opened < said => Ok(()),
        (_, Some(_)) => Err(Finding::new("notifications/initialized behind initialize", "it in front")),
        (_, None) => Err(Finding::new("notifications/initialized", "none in the whole conversation")),
    }
}

fn initialized_first(stage: &mut Stage) -> Result<(), Finding> {
    if !stage.messages.iter().any(|it| it.is("notifications/initialized")) {
        return stage.not_tried("the client does not say it at all");
    }
    let opened = stage.messages.iter().position(|it| it.is("initialize"));
    let behind = stage.messages.iter().skip(opened.map_or(0, |at| at + 1));
    let early = behind.take_while(|it| !it.is("notifications/initialized")).find(|it| is_work(it));
    match early {
        Some(early) => Err(Finding::new("notifications/initialized first", early.text())),
        None => Ok(()),
    }
}

fn waits_for_answer(stage: &mut Stage) -> Result<(), Finding> {
    let is = |it: &Message| it.is("initialize");
    on_first(stage, is, "the client does not say initialize", |stage, _| {
        let said = stage.messages.len();
        stage.pause(Duration::from_millis(250));
        let early = stage.messages.iter().skip(said).find(|it| is_work(it));
        early.map_or(Ok(false), |early| Err(Finding::new("nothing before the answer", early.text())))
    })
}

/// The server answers in this version. `known`: the client may go on in it.
fn version_of_the_answer(stage: &mut Stage, version: &'static str, known: bool) -> Result<(), Finding> {
    let mut said = 0;
    let ending = stage.play(|stage, message| {
        if message.is("initialize") {
            said = said_so_far(stage);
            stage.result(message, &opening(version, CAPABILITIES));
            return true;
        }
        false
    });
    let went_on =
        stage.messages.iter().skip(said).find(|it| is_work(it) || it.is("notifications/initialized"));
    match went_on {
        Some(_) if known => stage.as_usual(ending),
        Some(went_on) => Err(Finding::new("nothing more in a version that nobody knows", went_on.text())),
        None => ending.in_time().map(|_| ()),
    }
}

fn refused(stage: &mut Stage) -> Ending {
    stage.play(|stage, message| {
        if message.is("initialize") {
            stage.refuse(message, -32603, "this server is not well today", None);
        }
        message.is("initialize")
    })
}

fn undeclared(stage: &mut Stage) -> Result<(), Finding> {
    let mut said = usize::MAX;
    let ending = stage.play(|stage, message| {
        if message.is("initialize") {
            said = said_so_far(stage);
            let version = stage.revision().as_str();
            stage.result(message, &opening(version, "{}"));
            return true;
        }
        if is_work(message) {
            stage.refuse(message, -32601, "there is no such method", None);
            return true;
        }
        false
    });
    for asked in stage.messages.iter().skip(said).filter(|it| it.is_request()) {
        let Some(capability) = declared_by(&asked.method()) else { continue };
        let expected = format!("nothing that needs {capability}, which the server does not declare");
        return Err(Finding::new(expected, asked.text()));
    }
    ending.in_time().map(|_| ())
}

/// How many messages the client has said by itself: what is on its way is waited for.
fn said_so_far(stage: &mut Stage) -> usize {
    stage.pause(Duration::from_millis(50));
    stage.messages.len()
}

/// What a server has to declare for a method.
fn declared_by(method: &str) -> Option<&'static str> {
    Some(match method.split('/').next()? {
        "tools" => "tools",
        "resources" => "resources",
        "prompts" => "prompts",
        "logging" => "logging",
        // Before 2025-03-26 nothing had to be declared for it.
        "completion" => "completions",
        _ => return None,
    })
}

fn unknown_members(stage: &mut Stage) -> Result<(), Finding> {
    let is = |it: &Message| it.is("initialize");
    on_first(stage, is, "the client does not say initialize", |stage, request| {
        let capabilities = CAPABILITIES.replacen('{', r#"{"holograms":{"depth":3},"#, 1);
        let members = opening(stage.revision().as_str(), &capabilities);
        let more =
            r#","weather":{"sun":[1,2.5,null]},"_meta":{"example.com/x":true},"instructions":"Be kind.""#;
        stage.result(request, &(members + more));
        Ok(true)
    })
}

fn probe_refused(stage: &mut Stage, code: i64) -> Result<(), Finding> {
    if stage.usual().is_none_or(|usual| usual.first != "server/discover") {
        return stage.not_tried("the client does not begin with server/discover");
    }
    let is = |it: &Message| it.is("server/discover");
    on_first(stage, is, "the client does not say server/discover", |stage, request| {
        stage.refuse(request, code, "that cannot be", None);
        Ok(true)
    })
}
