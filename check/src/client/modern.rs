//! Conversations without a handshake.

use std::time::Duration;

use sanswire::jsonrpc::{JsonRef, Kind};
use sanswire::mcp::Revision;

use super::work::{at_work, on_first};
use super::{ALONE as LEGACY_ALONE, SHARED as LEGACY_SHARED};
use crate::check::{Check, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::stage::{Message, Stage};

const ALONE: Check = Check { speaks: Speaks::Modern, ..LEGACY_ALONE };
const SHARED: Check = Check { speaks: Speaks::Modern, ..LEGACY_SHARED };
const META: Source = Source::Spec("basic#meta");
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CALL: &str = "tools/call";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "client-modern-version",
        title: "every request says its version",
        source: META,
        strength: Strength::Must,
        explain: "There is no session: each request stands for itself, and _meta holds io.modelcontextprotocol/protocolVersion.",
        script: Script::Client(|stage| {
            every_request(stage, VERSION, |it| {
                it.str().is_some_and(|version| version.eq_str(Revision::NEWEST_MODERN.as_str()))
            })
        }),
        ..SHARED
    },
    Check {
        id: "client-modern-capabilities",
        title: "every request says what the client can do",
        source: META,
        strength: Strength::Must,
        explain: "Servers take nothing from earlier requests. _meta holds io.modelcontextprotocol/clientCapabilities, empty if there are none.",
        script: Script::Client(|stage| {
            every_request(stage, "io.modelcontextprotocol/clientCapabilities", |it| it.kind() == Kind::Object)
        }),
        ..SHARED
    },
    Check {
        id: "client-modern-client-info",
        title: "every request says who the client is",
        source: META,
        strength: Strength::Should,
        explain: "_meta holds io.modelcontextprotocol/clientInfo with a name and a version, so that logs can tell.",
        script: Script::Client(|stage| {
            every_request(stage, "io.modelcontextprotocol/clientInfo", |it| {
                ["name", "version"].iter().all(|part| it.get(part).and_then(JsonRef::str).is_some())
            })
        }),
        ..SHARED
    },
    Check {
        id: "client-modern-removed-methods",
        title: "nothing is said that the version no longer has",
        source: Source::Spec("changelog"),
        strength: Strength::Must,
        explain: "initialize, ping, logging/setLevel, resources/subscribe and their notifications are gone. Servers refuse them.",
        script: Script::Client(removed_methods),
        ..SHARED
    },
    Check {
        id: "client-modern-no-answers",
        title: "the client writes no answers",
        source: Source::Spec("basic/transports/stdio#sending-messages"),
        strength: Strength::Must,
        explain: "Servers ask nothing on the wire, so there is nothing to answer. What looks like a request of theirs is dropped.",
        script: Script::Client(no_answers),
        ..ALONE
    },
    Check {
        id: "client-modern-missing-result-type",
        title: "a result without resultType is complete",
        source: Source::Spec("basic#resulttype"),
        strength: Strength::Must,
        explain: "Servers of earlier versions do not say it. Take such a result as a complete one.",
        script: Script::Client(missing_result_type),
        ..ALONE
    },
    Check {
        id: "client-modern-unsupported-version",
        title: "a server that speaks other versions is asked in one of them, or left",
        source: Source::Spec("basic/versioning#protocol-version-negotiation"),
        strength: Strength::Should,
        explain: "The error -32022 lists what the server speaks. Choose one of those that you speak too, or tell the user that there is none.",
        script: Script::Client(unsupported_version),
        ..ALONE
    },
    Check {
        id: "client-modern-unknown-members",
        title: "what the client does not know in the answer to server/discover does no harm",
        source: Source::Spec("server/discover#discoverresult"),
        strength: Strength::Should,
        explain: "Results and capabilities are open: newer servers say more. Read what you know, and let the rest be.",
        script: Script::Client(unknown_members),
        ..ALONE
    },
    Check {
        id: "client-modern-request-state",
        title: "a request that is made again brings the server's state back as it was, under another id",
        source: Source::Spec("basic/patterns/mrtr#client-requirements-basic-workflow"),
        strength: Strength::Must,
        needs: &[CALL],
        explain: "requestState is the server's: do not read, trim or encode it. The request is a new one, so its id is new as well.",
        script: Script::Client(request_state),
        ..ALONE
    },
];

fn every_request(stage: &Stage, name: &str, is: fn(JsonRef<'_>) -> bool) -> Result<(), Finding> {
    for request in stage.messages.iter().filter(|it| it.is_request()) {
        if !request.meta(name).is_some_and(is) {
            return Err(Finding::new(format!("{name} in _meta"), request.text()));
        }
    }
    Ok(())
}

fn removed_methods(stage: &mut Stage) -> Result<(), Finding> {
    const REMOVED: [&str; 7] = [
        "initialize",
        "notifications/initialized",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "notifications/roots/list_changed",
    ];
    match stage.messages.iter().find(|it| REMOVED.iter().any(|method| it.is(method))) {
        Some(removed) => Err(Finding::new("nothing that was removed", removed.text())),
        None => Ok(()),
    }
}

fn no_answers(stage: &mut Stage) -> Result<(), Finding> {
    at_work(stage, |stage, request| {
        stage.say_line(request.launch, r#"{"jsonrpc":"2.0","id":"asked","method":"ping"}"#);
        stage.pause(Duration::from_millis(100));
        Ok(false)
    })?;
    match stage.messages.iter().find(|it| it.is_answer()) {
        Some(answer) => Err(Finding::new("no answer on the wire", answer.text())),
        None => Ok(()),
    }
}

fn missing_result_type(stage: &mut Stage) -> Result<(), Finding> {
    at_work(stage, |stage, request| {
        let Ok(members) = stage.ordinary(request) else { return Ok(false) };
        stage.result_of_kind(request, "", &members);
        Ok(true)
    })
}

fn unsupported_version(stage: &mut Stage) -> Result<(), Finding> {
    let mut asked = 0;
    let ending = stage.play(|stage, request| {
        if !request.is_request() || request.meta(VERSION).is_none() {
            // Somebody who goes on with a handshake is refused: what comes of that is not looked at here.
            return false;
        }
        asked += 1;
        let data = r#"{"supported":["2099-01-01"],"requested":"2026-07-28"}"#;
        stage.refuse(request, -32022, "no such version", Some(data));
        if asked > MOST_REFUSED {
            stage.stop();
        }
        true
    });
    if asked > MOST_REFUSED {
        return Err(Finding::new("an end", format!("{asked} requests in a version that the server refuses")));
    }
    ending.in_time().map(|_| ())
}

/// How often a version may be refused before somebody does not listen. One client may start a server anew a few times.
const MOST_REFUSED: usize = 10;

fn unknown_members(stage: &mut Stage) -> Result<(), Finding> {
    let is = |it: &Message| it.is("server/discover");
    on_first(stage, is, "the client does not say server/discover", |stage, request| {
        let Ok(members) = stage.ordinary(request) else { return Ok(false) };
        let members = members.replacen(r#""tools":{}"#, r#""tools":{"x":1},"holograms":{"depth":3}"#, 1);
        stage.result(
            request,
            &format!(r#"{members},"weather":{{"sun":[1,2.5,null]}},"instructions":"Be kind.""#),
        );
        Ok(true)
    })
}

fn request_state(stage: &mut Stage) -> Result<(), Finding> {
    const STATE: &str = r#"" \u00e9/+=\"{\\n} ""#;
    let mut first: Option<Message> = None;
    let mut again: Option<Message> = None;
    let ending = stage.play(|stage, request| {
        if !request.is(CALL) {
            return false;
        }
        if first.is_some() {
            again.get_or_insert_with(|| request.clone());
            return false;
        }
        first = Some(request.clone());
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"input_required","requestState":{STATE}}}}}"#,
            request.id()
        );
        stage.say_line(request.launch, &line);
        true
    });
    let (Some(first), Some(again)) = (first, again) else {
        ending.in_time()?;
        return stage.not_tried("the client does not make the request again");
    };
    let same = again.param("requestState").and_then(JsonRef::str).map(|it| it.decode().into_owned());
    if same.as_deref() != Some(" \u{e9}/+=\"{\\n} ") {
        return Err(Finding::new(format!("the requestState {STATE}"), again.text()));
    }
    if first.id() == again.id() {
        return Err(Finding::new("another id than that of the first request", again.text()));
    }
    stage.as_usual(ending)
}
