//! How a connection to a server is set up, by itself or as one of many.

use std::sync::Arc;

use sanswire::client::{Start, Verdict};
use sanswire::mcp::Revision;
use sanswire_std::ConnectOptions;

use crate::context::Context;
use crate::mask::Mask;
use crate::options::EraChoice;
use crate::prompt::Person;
use crate::server::Server;

/// What is needed to open one.
pub(crate) struct Connection {
    /// Without a closer.
    pub(crate) options: ConnectOptions,
    /// Keeps the server's secrets out of sight.
    pub(crate) mask: Mask,
    /// The name of the verdict that the last connection left.
    pub(crate) remembered: Option<String>,
}

impl Connection {
    /// Of this server.
    pub(crate) fn of(context: &Context, server: &Server) -> Self {
        let mask = Mask::new(server.secrets.iter().cloned());
        let mut options = ConnectOptions::new("sanswire", env!("CARGO_PKG_VERSION"));
        if let Some(timeout) = server.connect_timeout {
            options.config.limits.connect = timeout;
        }
        let known = |name: &str| verdict_named(name).is_some();
        let remembered = (server.era == EraChoice::Auto).then(|| context.state.verdict(&server.key, known));
        let remembered = remembered.flatten();
        options.config.start = match server.era {
            EraChoice::Auto => {
                remembered.as_deref().and_then(verdict_named).map_or(Start::Unknown, Start::Remembered)
            }
            EraChoice::Legacy => Start::Remembered(Verdict::Legacy),
            EraChoice::Modern => Start::Pinned(Revision::NEWEST_MODERN),
            EraChoice::Date(revision) => Start::Pinned(revision),
        };
        options.restart = server.era == EraChoice::Auto;
        if context.interactive {
            options.config.capabilities.elicitation_form = true;
            options.config.capabilities.elicitation_url = true;
            options.responder = Some(Arc::new(Person { server: server.name.clone() }));
        }
        options.tap = context.trace.as_ref().map(|trace| trace.tap(&server.name, mask.clone()));
        if let Some(recording) = &context.recording {
            options.recorder = Some(recording.recorder(&server.name, mask.clone()));
        }
        Self { options, mask, remembered }
    }
}

/// What is wrong with a server of this revision where the older era was asked for.
pub(crate) fn not_legacy(revision: Revision) -> String {
    format!("speaks {revision}, and no revision of the older kind")
}

/// The name under which a verdict is remembered, if it is worth it.
pub(crate) const fn verdict_name(verdict: &Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Modern => Some("modern"),
        Verdict::Legacy => Some("legacy"),
        Verdict::Died => Some("died"),
        _ => None,
    }
}

fn verdict_named(name: &str) -> Option<Verdict> {
    match name {
        "modern" => Some(Verdict::Modern),
        "legacy" => Some(Verdict::Legacy),
        "died" => Some(Verdict::Died),
        _ => None,
    }
}
