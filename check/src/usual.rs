//! What is known of a client before it is checked: how it does its work with a server that is as it should be.

use std::collections::BTreeSet;
use std::process::ExitStatus;
use std::time::Duration;

use sanswire::jsonrpc::JsonRef;
use sanswire::mcp::Era;

use crate::client_plan::ClientPlan;
use crate::finding::Finding;
use crate::stage::{Message, Stage};
use crate::transcript::Transcript;

/// What a client usually does.
#[derive(Clone, Debug)]
pub(crate) struct Usual {
    /// The message that opens the conversation as the revision wants it, or the first request where none does.
    pub(crate) opening: Message,
    /// Whatever it says first.
    pub(crate) first: String,
    /// All methods that it uses.
    pub(crate) methods: BTreeSet<String>,
    pub(crate) status: ExitStatus,
    pub(crate) took: Duration,
}

impl Usual {
    /// Whether it declares this capability.
    pub(crate) fn declares(&self, capability: &str) -> bool {
        let declared = self
            .opening
            .param("capabilities")
            .or_else(|| self.opening.meta("io.modelcontextprotocol/clientCapabilities"));
        declared.and_then(|all| all.get(capability)).is_some()
    }

    /// Whether it uses this method.
    pub(crate) fn uses(&self, method: &str) -> bool {
        self.methods.contains(method)
    }

    /// Its name and version, as it says them.
    pub(crate) fn name(&self) -> Option<String> {
        let info = self
            .opening
            .param("clientInfo")
            .or_else(|| self.opening.meta("io.modelcontextprotocol/clientInfo"))?;
        let part = |name| info.get(name).and_then(JsonRef::str).map(|text| text.decode());
        Some(format!("{} {}", part("name")?, part("version").unwrap_or_default()).trim().to_owned())
    }
}

/// What came of one run with a server that is as it should be.
#[derive(Debug)]
pub(crate) enum Seen {
    /// It speaks the revision. The stage holds all that was said.
    Speaks(Box<Stage>, Usual),
    /// It speaks, but another: what shows it.
    SpeaksOther(String),
    /// It could not be spoken to.
    Silent(Finding, Transcript),
}

/// Runs the client once with a server of this revision.
pub(crate) fn see(plan: &ClientPlan, revision: sanswire::mcp::Revision) -> Seen {
    let mut stage = match Stage::start(plan, revision, None) {
        Ok(stage) => stage,
        Err(error) => {
            return Seen::Silent(Finding::new("a program that can be started", error), Transcript::new());
        }
    };
    let ending = stage.play(|_, _| false);
    let exited = stage.exited_at();
    stage.close();
    let opened = |it: &&Message| match revision.era() {
        Era::Legacy => it.is("initialize"),
        Era::Modern => it.is_request() && it.meta("io.modelcontextprotocol/protocolVersion").is_some(),
    };
    let opening = stage.messages.iter().find(opened).cloned();
    // What comes behind shows that the answer was taken.
    let goes_on = match revision.era() {
        Era::Legacy => stage.messages.iter().any(|it| !it.is("initialize") && !it.is("server/discover")),
        Era::Modern => {
            stage.messages.iter().filter(opened).count() > 0
                && !stage.messages.iter().any(|it| it.is("initialize"))
        }
    };
    let silent = |stage: &mut Stage, expected: &str, got: String| {
        Seen::Silent(Finding::new(expected, got), stage.transcript())
    };
    let first = stage.messages.iter().find(|it| it.is_request());
    let (Some(first), false) = (first, stage.launches.is_empty()) else {
        let got = if stage.launches.is_empty() { "one that does not" } else { "one that says nothing to it" };
        return silent(&mut stage, "a client that starts the server and opens the conversation", got.into());
    };
    let first = first.method();
    let (Some(opening), true) = (opening, goes_on) else {
        if first == "initialize"
            || first == "server/discover"
            || stage.messages.iter().any(|it| it.meta("io.modelcontextprotocol/protocolVersion").is_some())
        {
            return Seen::SpeaksOther(format!("it begins with {first}, and does not go on"));
        }
        return silent(&mut stage, "a first message that is initialize or server/discover", first);
    };
    let (Some(status), Some(exited)) = (ending.exit, exited) else {
        let expected = "a client that exits by itself when its work is done";
        return silent(
            &mut stage,
            expected,
            format!("one that runs on for {:.0} s", plan.start.as_secs_f32()),
        );
    };
    let work = |it: &&Message| it.is_request() || it.is("notifications/initialized");
    let methods = stage.messages.iter().filter(work).map(Message::method).collect();
    let usual = Usual { opening, first, methods, status, took: exited - stage.started };
    Seen::Speaks(Box::new(stage), usual)
}
