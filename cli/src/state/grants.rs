//! Which tools may be called without a question, and how tools were defined when somebody was asked about them.
//!
//! Both are kept by what runs behind the server's name and by the tool, so that another program under the same name
//! is another thing. A definition that is forgotten takes its grant along: nobody could say what has changed.

use std::time::{Duration, SystemTime};

use sanswire::host::Provenance;
use sanswire::host::policy::{DefinitionHash, Pin, Pins};
use sanswire::jsonrpc::{JsonRef, RawJson};

use super::{Kind, Locked, State, hex_hash};
use crate::json::{member, object, text};

const GRANTS: Kind = Kind { folder: "grants", max_files: 1000, max_bytes: 8192 };
const DEFINITIONS: Kind = Kind { folder: "definitions", max_files: 500, max_bytes: 192 << 10 };

/// How long a terminal session's grant lasts, if the session lasts as long.
const SESSION: Duration = Duration::from_secs(8 * 3600);

/// The most terminal sessions that one tool is allowed in at once.
const MAX_SESSIONS: usize = 16;

/// How long somebody allows a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// While this terminal session lasts, 8 hours at most.
    Session(String),
    /// Until it is revoked, or defined otherwise.
    Always,
}

/// A tool that may be called without a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) tool: Provenance,
    /// As it is defined there, and not otherwise.
    pub(crate) definition: DefinitionHash,
    pub(crate) always: bool,
    /// Terminal sessions, and until when, in seconds of Unix time.
    pub(crate) sessions: Vec<(String, u64)>,
    /// It was defined otherwise since, if only for a while.
    pub(crate) lost: bool,
}

/// Whether a tool may be called without a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// Nobody said so.
    No,
    /// Somebody did.
    Yes,
    /// Somebody did, but it was defined otherwise then, or meanwhile.
    Lost,
}

/// One tool of what runs behind a server's name.
#[derive(Clone, Debug)]
pub(crate) struct ToolKey {
    pub(crate) tool: Provenance,
    file: String,
}

impl ToolKey {
    /// `identity` names what runs.
    pub(crate) fn new(identity: &str, tool: Provenance) -> Self {
        let parts = [identity.as_bytes(), tool.server.as_bytes(), tool.tool.as_bytes()];
        Self { file: hex_hash(&parts), tool }
    }
}

impl State {
    /// Whether a tool, as it is defined now, may be called in this terminal session without a question. A grant for
    /// another definition is lost for good.
    pub(crate) fn holds(&self, key: &ToolKey, definition: DefinitionHash, session: Option<&str>) -> Held {
        let Some(grant) = self.grant(key).filter(|grant| grant.counts(session)) else { return Held::No };
        if !grant.lost && grant.definition == definition {
            return Held::Yes;
        }
        if !grant.lost {
            // Where it cannot be kept, it is found again the next time.
            let _ = self.change(|locked| match locked.grant(key) {
                Some(now) if now == grant => {
                    locked.write(GRANTS, &key.file, &Grant { lost: true, ..now }.to_text()).map(drop)
                }
                _ => Ok(()),
            });
        }
        Held::Lost
    }

    fn grant(&self, key: &ToolKey) -> Option<Grant> {
        self.get(GRANTS, &key.file, |text| Grant::read(text).filter(|grant| grant.tool == key.tool))
    }

    /// The definition that somebody was asked about last.
    pub(crate) fn pin(&self, key: &ToolKey) -> Option<Pin> {
        self.get(DEFINITIONS, &key.file, |text| Pins::read(text).0.get(&key.tool).cloned())
    }

    /// Remembers that somebody was asked about a tool as it is defined now, and allowed it, for longer or not. `pin` is
    /// what the definition says.
    ///
    /// # Errors
    /// Why that could not be kept.
    pub(crate) fn allow(
        &self,
        key: &ToolKey,
        pin: Option<Pin>,
        definition: DefinitionHash,
        scope: Option<Scope>,
    ) -> Result<(), String> {
        self.change(|locked| {
            let mut pins = Pins::default();
            if pin.is_some_and(|pin| pins.pin(&key.tool, pin)) {
                for gone in locked.write(DEFINITIONS, &key.file, &pins.to_string())? {
                    locked.remove(GRANTS, &gone);
                }
            } else {
                locked.remove(DEFINITIONS, &key.file);
            }
            let Some(scope) = scope else { return Ok(()) };
            let known = locked.grant(key).filter(|grant| !grant.lost && grant.definition == definition);
            let grant = known.unwrap_or_else(|| Grant::new(key.tool.clone(), definition));
            locked.write(GRANTS, &key.file, &grant.with(scope).to_text()).map(drop)
        })
    }

    /// All tools that may be called without a question, sorted.
    pub(crate) fn grants(&self) -> Vec<Grant> {
        let names = self.folder.as_ref().map(|folder| folder.names(GRANTS)).unwrap_or_default();
        let mut all: Vec<_> = names
            .iter()
            .filter_map(|name| self.get(GRANTS, name, Grant::read))
            .filter(Grant::is_live)
            .collect();
        all.sort_unstable_by(|a, b| a.tool.cmp(&b.tool));
        all
    }

    /// Takes back what was allowed of a tool, `SERVER/TOOL`, whatever runs behind its server's name. Gives how many
    /// grants that were.
    ///
    /// # Errors
    /// Why it could not be done.
    pub(crate) fn revoke(&self, tool: &str) -> Result<usize, String> {
        let names = self.folder.as_ref().map(|folder| folder.names(GRANTS)).unwrap_or_default();
        self.change(|locked| {
            let read = |name: &str| Grant::read(locked.read(GRANTS, name)?.trim());
            let about = |name: &&String| read(name).is_some_and(|grant| grant.tool.to_string() == tool);
            Ok(names.iter().filter(about).filter(|name| locked.remove(GRANTS, name)).count())
        })
    }
}

impl Locked<'_> {
    fn grant(&self, key: &ToolKey) -> Option<Grant> {
        let grant = Grant::read(self.read(GRANTS, &key.file)?.trim())?;
        (grant.tool == key.tool).then_some(grant)
    }
}

impl Grant {
    fn new(tool: Provenance, definition: DefinitionHash) -> Self {
        Self { tool, definition, always: false, sessions: Vec::new(), lost: false }
    }

    fn with(mut self, scope: Scope) -> Self {
        let (now, until) = (now(), now().saturating_add(SESSION.as_secs()));
        match scope {
            Scope::Always => self.always = true,
            Scope::Session(session) => {
                self.sessions.retain(|(known, until)| *until > now && *known != session);
                self.sessions.push((session, until));
                let over = self.sessions.len().saturating_sub(MAX_SESSIONS);
                self.sessions.drain(..over);
            }
        }
        self
    }

    /// Whether it is for this session, whatever the tool's definition.
    pub(crate) fn counts(&self, session: Option<&str>) -> bool {
        let now = now();
        let here = |(known, until): &(String, u64)| Some(known.as_str()) == session && *until > now;
        self.always || self.sessions.iter().any(here)
    }

    fn is_live(&self) -> bool {
        !self.lost && (self.always || self.live_sessions() > 0)
    }

    /// In how many terminal sessions it may be called.
    pub(crate) fn live_sessions(&self) -> usize {
        let now = now();
        self.sessions.iter().filter(|(_, until)| *until > now).count()
    }

    fn to_text(&self) -> String {
        let json = object(|w| {
            w.string("server", &self.tool.server).string("tool", &self.tool.tool);
            w.string("definition", &self.definition.to_string());
            w.bool("always", self.always).bool("lost", self.lost);
            w.object("sessions", |w| {
                for (session, until) in &self.sessions {
                    w.u64(session, *until);
                }
            });
        });
        format!("{}\n", json.as_str())
    }

    fn read(text_: &str) -> Option<Self> {
        let json = RawJson::parse_str(text_).ok()?;
        let value = json.view();
        let session = |(name, until): (sanswire::jsonrpc::JsonStr<'_>, JsonRef<'_>)| {
            Some((name.decode().into_owned(), until.as_u64()?))
        };
        Some(Self {
            tool: tool_of(value)?,
            definition: definition_of(value)?,
            always: member(value, "always")?.as_bool()?,
            lost: member(value, "lost")?.as_bool()?,
            sessions: member(value, "sessions")?.members().map(session).collect::<Option<_>>()?,
        })
    }
}

fn tool_of(value: JsonRef<'_>) -> Option<Provenance> {
    Some(Provenance::new(text(value, "server")?, text(value, "tool")?))
}

fn definition_of(value: JsonRef<'_>) -> Option<DefinitionHash> {
    let bytes = crate::encode::from_hex(&text(value, "definition")?)?;
    Some(DefinitionHash(bytes.try_into().ok()?))
}

/// Seconds of Unix time.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests;
