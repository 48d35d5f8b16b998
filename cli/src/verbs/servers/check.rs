//! What came of starting a server.

use std::sync::Arc;

use sanswire::client::Peer;
use sanswire::host::link::Status;

use crate::config::Entry;
use crate::failure::{Failure, status};
use crate::hosted::Hosted;

/// A server with what came of it.
pub(super) struct Row<'e> {
    pub(super) entry: &'e Entry,
    pub(super) checked: Checked,
}

/// What came of starting a server.
pub(super) enum Checked {
    /// It was not started.
    No,
    /// It can be used.
    Connected(Connected),
    /// It cannot.
    Fails(Failure),
}

/// One that can be used.
pub(super) struct Connected {
    pub(super) peer: Arc<Peer>,
    pub(super) started_ms: u64,
    /// Each tool that it lists, in its order.
    pub(super) tools: Vec<Tool>,
    /// Tools that could not even be named.
    pub(super) left_out: usize,
    /// Why its tools could not be listed, or not all.
    pub(super) listing: Option<String>,
    /// What of the entry's lists names no tool, and what is odd about the listing.
    pub(super) warnings: Vec<String>,
}

/// A tool and what became of it.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) outcome: &'static str,
    /// Why it is not offered.
    pub(super) reason: Option<String>,
    /// The name under which it is offered.
    pub(super) exposed: Option<String>,
}

impl Row<'_> {
    /// The exit status that comes of it, if it is a failure.
    pub(super) fn failed(&self) -> Option<u8> {
        if let Checked::Fails(failure) = &self.checked { Some(failure.status) } else { None }
    }
}

/// What came of a server that was started.
pub(super) fn of(hosted: &Hosted<'_>, name: &str) -> Checked {
    let fails =
        |message: String| Checked::Fails(Failure::new(status::UNREACHABLE, "not_ready", message).of(name));
    let Some((state, wrong)) = hosted.state(name) else { return fails("it is not known".into()) };
    let (Status::Connected, Some(peer)) = (state.status, state.peer.clone()) else {
        return match hosted.failure(name) {
            Some(mut failure) => {
                // The row says whose it is.
                failure.message = failure.message.trim_start_matches(&format!("{name}: ")).to_owned();
                Checked::Fails(failure)
            }
            None => fails(state.status.to_string()),
        };
    };
    if let (Some(wrong), false) = (&wrong, state.listing_failed) {
        return fails(wrong.clone());
    }
    let exposed = |tool: &str| {
        hosted.host.with(|host| {
            let mut offered = host.registry().offered();
            let found =
                offered.find(|(_, offered)| *offered.tool.server == *name && *offered.tool.tool == *tool);
            found.map(|(exposed, _)| exposed.to_string())
        })
    };
    let listed = state.tools.as_deref();
    let tools = listed.into_iter().flat_map(|listed| &listed.tools).map(|tool| {
        let exposed = tool.definition.as_ref().and_then(|definition| exposed(&definition.tool));
        let reason = exposed.is_none().then(|| tool.outcome.to_string());
        Tool { name: tool.name.clone(), outcome: tool.outcome.as_str(), reason, exposed }
    });
    let warnings = listed.into_iter().flat_map(|listed| {
        let filter = listed.warnings.iter().map(ToString::to_string);
        filter.chain(listed.page_warnings.iter().map(ToString::to_string))
    });
    let started_in = hosted.started_in(name).unwrap_or_default();
    Checked::Connected(Connected {
        peer,
        started_ms: u64::try_from(started_in.as_millis()).unwrap_or(u64::MAX),
        tools: tools.collect(),
        left_out: listed.map_or(0, |listed| listed.left_out),
        listing: wrong,
        warnings: warnings.collect(),
    })
}
