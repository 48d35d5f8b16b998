//! The one session that `initialize` opens, in revisions up to 2025-11-25.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;

use crate::exchange::Origin;
use crate::jsonrpc::{JsonRef, ObjectWriter, RawJson};
use crate::mcp::legality::{self, Sender};
use crate::mcp::types::lifecycle::{ClientCapabilities, Implementation};
use crate::mcp::types::log::LogLevel;
use crate::mcp::{Era, Method, Revision, codes};
use crate::server::calls::Asker;
use crate::server::catalog::ListKind;
use crate::server::dispatch::{Asked, cut, text};
use crate::server::event::Principal;
use crate::server::params::Params;
use crate::server::ping::Life;
use crate::server::session::Session;

/// What is known of the client that opened the session.
#[derive(Debug)]
pub(super) struct Legacy {
    pub(super) revision: Revision,
    pub(super) principal: Principal,
    pub(super) client: Arc<Implementation>,
    pub(super) capabilities: ClientCapabilities,
    pub(super) log_level: LogLevel,
    /// The client said that it is ready.
    pub(super) initialized: bool,
    /// Where what belongs to no request goes.
    pub(super) push_to: Origin,
    /// Addresses of resources that it watches.
    pub(super) watched: BTreeSet<String>,
    /// Whether it is still there.
    pub(super) life: Life,
}

impl Session {
    /// The revision that `initialize` agreed on, once it did.
    #[must_use]
    pub fn legacy_revision(&self) -> Option<Revision> {
        self.legacy.as_ref().map(|legacy| legacy.revision)
    }

    /// `initialize`: opens the session, once.
    ///
    /// Spec: MCP 2025-11-25 basic/lifecycle, "Initialization".
    pub(super) fn initialize(&mut self, asked: &Asked, params: &Params<'_>) {
        let requested = text(params.protocol_version());
        let Some(newest) = self.config.newest(Era::Legacy) else {
            // Old clients can only show the error, so it names what is spoken here.
            return self.refuse_version(asked, requested.as_deref().unwrap_or_default());
        };
        if self.legacy.is_some() {
            return self.refuse(asked, codes::INVALID_REQUEST, "the session was initialized already", None);
        }
        let Some(requested) = requested else {
            return self.refuse(asked, codes::INVALID_PARAMS, "protocolVersion must be a string", None);
        };
        let known = Revision::from_date(&requested);
        let known = known.filter(|revision| revision.era() == Era::Legacy && self.config.serves(*revision));
        let revision = known.unwrap_or(newest);
        let message = self.replies.own(&asked.id, revision, None, |w| {
            w.string("protocolVersion", revision.as_str());
            w.object("capabilities", |w| self.write_capabilities(w, revision));
            w.object("serverInfo", |w| {
                let ours = &self.config.server;
                w.string("name", &ours.name);
                if let Some(title) = ours.title.as_ref().filter(|_| revision >= Revision::V2025_06_18) {
                    w.string("title", title);
                }
                w.string("version", &ours.version);
            });
            if let Some(instructions) = &self.config.instructions {
                w.string("instructions", instructions);
            }
        });
        self.legacy = Some(Legacy {
            revision,
            principal: asked.principal.clone(),
            client: Arc::new(params.client_info().map(introduction).unwrap_or_default()),
            // Extensions came with 2026-07-28; declared here they mean nothing.
            capabilities: ClientCapabilities {
                extensions: None,
                ..params.capabilities().map(ClientCapabilities::read).unwrap_or_default()
            },
            log_level: self.config.log_level,
            initialized: false,
            push_to: if asked.from == Origin::Stream { Origin::Stream } else { Origin::Push },
            watched: BTreeSet::new(),
            life: Life::new(self.clock.latest()),
        });
        self.answer_own(asked, message);
    }

    /// A request inside the session.
    pub(super) fn in_session(
        &mut self,
        asked: &Asked,
        params: &Params<'_>,
        revision: Revision,
    ) -> Option<Asker> {
        if !legality::legal(revision, Sender::Client, &asked.method) {
            self.refuse_unknown_method(asked, 200);
            return None;
        }
        match asked.method {
            Method::Ping => self.pong(asked),
            Method::LoggingSetLevel => self.set_level(asked, params),
            _ if ListKind::of(&asked.method).is_some() => self.list(asked, params, revision),
            _ => return Some(Asker::Session(revision)),
        }
        None
    }

    pub(super) fn pong(&mut self, asked: &Asked) {
        let message = self.replies.own(&asked.id, Revision::V2024_11_05, None, |_| {});
        self.answer_own(asked, message);
    }

    fn set_level(&mut self, asked: &Asked, params: &Params<'_>) {
        if !self.config.capabilities.logging {
            return self.refuse_unknown_method(asked, 200);
        }
        let Some(level) = text(params.level()).and_then(|level| LogLevel::named(&level)) else {
            return self.refuse(asked, codes::INVALID_PARAMS, "level must be one of the eight levels", None);
        };
        if let Some(legacy) = &mut self.legacy {
            legacy.log_level = level;
        }
        self.pong(asked);
    }

    pub(super) fn refuse_unknown_method(&mut self, asked: &Asked, status: u16) {
        self.refuse_with(asked, codes::METHOD_NOT_FOUND, "this server has no such method", None, status);
    }

    /// The version is not spoken here; says which are.
    ///
    /// Spec: MCP 2026-07-28 basic/versioning, "Protocol Version Negotiation".
    pub(super) fn refuse_version(&mut self, asked: &Asked, requested: &str) {
        let mut end = requested.len().min(64);
        while !requested.is_char_boundary(end) {
            end -= 1;
        }
        let data = RawJson::object(|w| {
            w.array_of_strings(
                "supported",
                self.config.revisions.iter().rev().map(|revision| revision.as_str()),
            );
            w.string("requested", requested.get(..end).unwrap_or_default());
        });
        let message = "this protocol version is not supported";
        self.refuse_with(asked, codes::UNSUPPORTED_VERSION, message, Some(&data), 400);
    }

    /// What is offered under `revision`.
    pub(super) fn write_capabilities(&self, w: &mut ObjectWriter<'_>, revision: Revision) {
        let offered = &self.config.capabilities;
        let changes = |w: &mut ObjectWriter<'_>| {
            if offered.list_changed {
                w.bool("listChanged", true);
            }
        };
        if self.has_tools() {
            w.object("tools", changes);
        }
        if self.has_resources() {
            w.object("resources", |w| {
                if offered.subscribe {
                    w.bool("subscribe", true);
                }
                changes(w);
            });
        }
        if self.has_prompts() {
            w.object("prompts", changes);
        }
        if offered.completions && revision >= Revision::V2025_03_26 {
            w.object("completions", |_| {});
        }
        if offered.logging {
            w.object("logging", |_| {});
        }
        if let Some(experimental) = &offered.experimental {
            w.raw("experimental", experimental.view());
        }
        if let Some(extensions) = offered.extensions.as_ref().filter(|_| revision.era() == Era::Modern) {
            w.raw("extensions", extensions.view());
        }
    }
}

/// Who the client says it is, in texts of at most 256 bytes: they are kept as long as the session.
fn introduction(client: JsonRef<'_>) -> Implementation {
    let mut read = Implementation::read(client);
    for text in [Some(&mut read.name), read.title.as_mut(), Some(&mut read.version)].into_iter().flatten() {
        *text = cut(text).into();
    }
    read
}
