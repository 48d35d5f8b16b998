//! Requests that stand alone (2026-07-28): each brings its version, capabilities and identity along.

use crate::exchange::HeadFacts;
use crate::jsonrpc::{JsonRef, Kind, RawJson};
use crate::mcp::legality::{self, Sender};
use crate::mcp::types::lifecycle::ClientCapabilities;
use crate::mcp::types::log::LogLevel;
use crate::mcp::{Era, Method, Revision, codes};
use crate::server::calls::Asker;
use crate::server::catalog::ListKind;
use crate::server::dispatch::{Asked, text};
use crate::server::event::Who;
use crate::server::params::Params;
use crate::server::session::Session;

impl Session {
    /// A request with a version of its own. What is wrong with it is looked for in this order: what it lacks, whether its
    /// head agrees, its version, its method, its parameters.
    ///
    /// Spec: MCP 2026-07-28 basic, "Request metadata"; basic/versioning.
    pub(super) fn modern(
        &mut self,
        facts: Option<&HeadFacts>,
        asked: Asked,
        params: &Params<'_>,
        version: JsonRef<'_>,
    ) {
        let capabilities = params.meta.capabilities.filter(|value| value.kind() == Kind::Object);
        let (Some(version), Some(capabilities)) = (text(Some(version)), capabilities) else {
            let message = "_meta needs protocolVersion, a string, and clientCapabilities, an object";
            return self.refuse_with(&asked, codes::INVALID_PARAMS, message, None, 400);
        };
        if let Some(facts) = facts
            && (facts.revision.is_some_and(|revision| revision.as_str() != version)
                || facts.method.as_ref().is_some_and(|method| *method != asked.method))
        {
            let message = "the head of the message says something else than its body";
            return self.refuse_with(&asked, codes::HEADER_MISMATCH, message, None, 400);
        }
        let revision = Revision::from_date(&version);
        let served =
            revision.filter(|revision| revision.era() == Era::Modern && self.config.serves(*revision));
        let Some(revision) = served else {
            return self.refuse_version(&asked, &version);
        };
        if !legality::legal(revision, Sender::Client, &asked.method) {
            return self.refuse_unknown_method(&asked, 404);
        }
        let log_level = match params.meta.log_level {
            None => None,
            Some(level) => match text(Some(level)).and_then(|level| LogLevel::named(&level)) {
                Some(level) => Some(level),
                None => {
                    let message = "logLevel must be one of the eight levels";
                    return self.refuse(&asked, codes::INVALID_PARAMS, message, None);
                }
            },
        };
        match asked.method {
            Method::ServerDiscover => self.discover(&asked, revision),
            Method::SubscriptionsListen => self.listen(&asked, revision),
            _ if ListKind::of(&asked.method).is_some() => self.list(&asked, params, revision),
            _ => {
                let client = params.meta.client_info.filter(|client| client.kind() == Kind::Object);
                let asker = Asker {
                    revision,
                    capabilities: ClientCapabilities::read(capabilities),
                    client: client
                        .and_then(|client| asked.params.slice_of(client))
                        .map_or(Who::Unsaid, Who::Told),
                    log_level: log_level.filter(|_| self.config.capabilities.logging),
                };
                self.admit(asked, params, asker);
            }
        }
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
}

/// The value of a member, shared with the message it stands in.
pub(super) fn shared(params: &RawJson, value: Option<JsonRef<'_>>) -> Option<RawJson> {
    value.and_then(|value| params.slice_of(value))
}
