//! How a conversation is opened and how it ends.

use std::time::Duration;

use sanswire::mcp::Revision;

use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::talk::Talk;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "lifecycle-unknown-version",
        title: "a version that the server does not know is answered with one that it knows",
        source: Source::Spec("basic/lifecycle#version-negotiation"),
        strength: Strength::Must,
        speaks: Speaks::Legacy,
        needs: &[],
        company: Company::Alone,
        explain: "Answer initialize with the newest version that you speak: the client decides whether it goes on. An error, or an echo of what you do not speak, leaves it with nothing to decide on.",
        script: Script::Server(|talk| known_version(talk, "1999-01-01")),
    },
    Check {
        id: "lifecycle-exit-on-eof",
        title: "the server exits when its input ends",
        source: Source::Eras("basic/lifecycle#shutdown", "basic/transports/stdio#shutdown"),
        strength: Strength::Should,
        speaks: Speaks::EachEra,
        needs: &[],
        company: Company::Alone,
        explain: "A client closes standard input to say that it is done. A server that stays is killed, and one that is not killed is left behind for ever.",
        script: Script::Server(exit_on_eof),
    },
    Check {
        id: "lifecycle-unknown-method",
        title: "an unknown method is answered with -32601",
        source: Source::JsonRpc("error_object"),
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        needs: &[],
        company: Company::Shared,
        explain: "A client tries what it knows and falls back when it is told that there is no such method. Silence makes it wait.",
        script: Script::Server(unknown_method),
    },
];

/// Asks for a version that there is not.
pub(super) fn known_version(talk: &mut Talk, asked: &str) -> Result<(), Finding> {
    let members = format!(
        r#""protocolVersion":"{asked}","capabilities":{{}},"clientInfo":{{"name":"sanswire check","version":"1"}}"#
    );
    let answer = talk.request("initialize", &members)?;
    let version = answer.result().and_then(|result| result.get("protocolVersion")?.str());
    if version.and_then(|version| Revision::from_date(&version.decode())).is_some() {
        return Ok(());
    }
    Err(Finding::new("a result with a protocolVersion that was released", answer.text()))
}

fn exit_on_eof(talk: &mut Talk) -> Result<(), Finding> {
    talk.open()?;
    match talk.leave(Duration::from_secs(5)) {
        Some(_) => Ok(()),
        None => Err(Finding::new("an exit within 5 s of the end of its input", "a process that runs on")),
    }
}

fn unknown_method(talk: &mut Talk) -> Result<(), Finding> {
    let answer = talk.request("sanswire/no-such-method", "")?;
    if answer.code() == Some(-32601) {
        return Ok(());
    }
    Err(Finding::new("the error -32601", answer.text()))
}
