//! Requests that stand alone (2026-07-28): each brings its version, capabilities and identity along.

use alloc::format;
use alloc::string::String;

use crate::jsonrpc::{JsonRef, Kind, RawJson};
use crate::mcp::legality::{self, Sender};
use crate::mcp::types::lifecycle::ClientCapabilities;
use crate::mcp::types::log::LogLevel;
use crate::mcp::{Era, Method, Revision, codes};
use crate::server::calls::Asker;
use crate::server::catalog::ListKind;
use crate::server::dispatch::{Asked, text};
use crate::server::event::Who;
use crate::server::head::Head;
use crate::server::params::Params;
use crate::server::session::Session;

impl Session {
    /// A request with a version of its own. What is wrong with it is looked for in this order: what it lacks, whether its
    /// head agrees, its version, its method, its parameters.
    ///
    /// Spec: MCP 2026-07-28 basic, "Request metadata"; basic/versioning.
    pub(super) fn modern(
        &mut self,
        head: Option<&dyn Head>,
        asked: &Asked,
        params: &Params<'_>,
        version: JsonRef<'_>,
    ) -> Option<Asker> {
        let declared = params.meta_capabilities().filter(|value| value.kind() == Kind::Object);
        let (Some(version), Some(declared)) = (version.str(), declared) else {
            let message = "_meta needs protocolVersion, a string, and clientCapabilities, an object";
            self.refuse_with(asked, codes::INVALID_PARAMS, message, None, 400);
            return None;
        };
        if let Some(head) = head {
            let name = match asked.method {
                Method::ToolsCall | Method::PromptsGet => params.name(),
                Method::ResourcesRead => params.uri(),
                _ => None,
            };
            if let Some(differing) = head.differs(version, &asked.method, name.and_then(JsonRef::str)) {
                self.refuse_head(asked, differing);
                return None;
            }
        }
        let served =
            |revision: &&Revision| revision.era() == Era::Modern && version.eq_str(revision.as_str());
        let Some(revision) = self.config.revisions.iter().find(served).copied() else {
            self.refuse_version(asked, &version.decode());
            return None;
        };
        if !legality::legal(revision, Sender::Client, &asked.method) {
            self.refuse_unknown_method(asked, 404);
            return None;
        }
        let log_level = match params.meta_log_level() {
            None => None,
            Some(level) => match text(Some(level)).and_then(|level| LogLevel::named(&level)) {
                Some(level) => Some(level),
                None => {
                    let message = "logLevel must be one of the eight levels";
                    self.refuse(asked, codes::INVALID_PARAMS, message, None);
                    return None;
                }
            },
        };
        match asked.method {
            Method::ServerDiscover => self.discover(asked, revision),
            Method::SubscriptionsListen => self.listen(asked, revision),
            _ if ListKind::of(&asked.method).is_some() => self.list(asked, params, revision),
            _ => {
                let client = params.meta_client().filter(|client| client.kind() == Kind::Object);
                let client = client.and_then(|client| self.told(&asked.params, client));
                return Some(Asker::Own {
                    revision,
                    capabilities: ClientCapabilities::read(declared),
                    client: client.map_or(Who::Unsaid, Who::Told),
                    log_level: log_level.filter(|_| self.config.capabilities.logging),
                });
            }
        }
        None
    }

    /// The head lacks something, or says something else than the body.
    ///
    /// Spec: MCP 2026-07-28 basic/transports, "Server Validation".
    pub(super) fn refuse_head(&mut self, asked: &Asked, why: &str) {
        let data = RawJson::object(|w| {
            let versions = self.config.revisions.iter().rev().map(|revision| revision.as_str());
            w.array_of_strings("supported", versions);
        });
        // Clients that open like this can only show the text.
        let versions = if asked.method == Method::Initialize { self.versions() } else { String::new() };
        let message = format!("{why}{versions}");
        self.refuse_with(asked, codes::HEADER_MISMATCH, &message, Some(&data), 400);
    }

    fn versions(&self) -> String {
        self.config
            .revisions
            .iter()
            .rev()
            .fold(String::from("; this server speaks"), |text, revision| text + " " + revision.as_str())
    }

    /// `server/discover`.
    ///
    /// Spec: MCP 2026-07-28 basic/lifecycle, "Discovery".
    fn discover(&mut self, asked: &Asked, revision: Revision) {
        let message = self.replies.own(&asked.id, revision, Some(self.config.cache.discover), |w| {
            let versions = self.config.revisions.iter().rev().map(|revision| revision.as_str());
            w.array_of_strings("supportedVersions", versions);
            w.object("capabilities", |w| self.write_capabilities(w, revision));
            if let Some(instructions) = &self.config.instructions {
                w.string("instructions", instructions);
            }
        });
        self.answer_own(asked, message);
    }

    /// A copy where it is small, else a view: either costs little, and a view keeps the message alive. The last copy is
    /// kept, for a client names itself in each of its requests.
    fn told(&mut self, params: &RawJson, client: JsonRef<'_>) -> Option<RawJson> {
        if client.as_bytes().len() > 256 {
            return params.slice_of(client);
        }
        match &self.last_client {
            Some(last) if last.as_bytes() == client.as_bytes() => {}
            _ => self.last_client = Some(RawJson::copied(client)),
        }
        self.last_client.clone()
    }
}
