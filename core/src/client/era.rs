//! Which era a server belongs to, found without breaking either kind.
//!
//! ```text
//!  unknown ─▶ server/discover ──┬─ DiscoverResult, modern version in common ─▶ modern
//!                               ├─ DiscoverResult or -32022, legacy only ────▶ initialize (dual-era server)
//!                               ├─ any other refusal ────────────────────────▶ initialize
//!                               ├─ silence (probe_hedge) ─▶ initialize beside it; its reply decides
//!                               └─ end of output ────────────────────────────▶ died: start anew, initialize first
//! ```
//!
//! Once `initialize` is out, nothing else is sent until its reply is there or the connect deadline ends both: a
//! result makes the connection legacy, whatever the probe still answers; a refusal makes it modern if a
//! `DiscoverResult` speaks for that. No single error code decides anything, except the three that only a modern
//! server can send.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::client::config::Start;
use crate::client::event::{Peer, Verdict};
use crate::error::{CloseReason, Violation};
use crate::jsonrpc::{ErrorObject, JsonRef, Kind, RawJson};
use crate::mcp::types::lifecycle::{CacheHint, Implementation, ServerCapabilities, read_versions};
use crate::mcp::{Era, Method, Revision, codes, meta};

/// What to open next after a connection that never became ready ended for `reason`, having been started with
/// `start` for the `attempt`th time (0: first). `None`: nothing; report the reason.
///
/// A server that died on the probe is started once more, straight into `initialize`. What was remembered and
/// proved wrong is forgotten once. A pinned revision is never changed.
#[must_use]
pub fn next_start(reason: &CloseReason, start: &Start, attempt: u32) -> Option<Start> {
    if attempt > 0 {
        return None;
    }
    if let CloseReason::NoTransport { streamable, sse } = reason {
        return next_start(streamable, start, attempt).or_else(|| next_start(sse, start, attempt));
    }
    // How a server that knows no handshake refuses one over HTTP.
    let unknown_there = |reason: &CloseReason| matches!(reason, CloseReason::HttpRefused(refusal) if matches!(refusal.status, 400 | 404 | 405));
    match (start, reason) {
        (
            Start::Unknown | Start::Remembered(Verdict::Modern | Verdict::ModernOther),
            CloseReason::DiedOnProbe,
        ) => Some(Start::Remembered(Verdict::Died)),
        (
            Start::Remembered(Verdict::Legacy | Verdict::Died),
            CloseReason::Eof
            | CloseReason::ConnectTimeout { .. }
            | CloseReason::Incompatible { .. }
            | CloseReason::Protocol(
                Violation::Unanswered { .. } | Violation::Malformed(_) | Violation::MessageTooLong { .. },
            )
            | CloseReason::Refused { .. },
        )
        // Probed without a hedge, so an old server that is silent on the probe was never asked to shake hands.
        | (Start::Remembered(Verdict::Modern), CloseReason::ConnectTimeout { .. }) => Some(Start::Unknown),
        (Start::Remembered(Verdict::Legacy | Verdict::Died), reason) if unknown_there(reason) => {
            Some(Start::Unknown)
        }
        _ => None,
    }
}

/// What to do next.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// Wait for what is open.
    Wait,
    /// Send `server/discover`.
    Discover(Revision),
    /// Send `initialize`, offering this revision.
    Initialize(Revision),
    /// Requests may be made. The verdict is what the next start should remember.
    Ready(Box<Peer>, Verdict),
    /// Give up.
    Close(CloseReason, Option<Verdict>),
}

/// What came back to the probe or the handshake.
#[derive(Debug)]
pub(crate) enum Reply {
    Result(RawJson),
    Error(ErrorObject),
    /// Ours: the answer was unusable (too long, malformed).
    Unusable,
}

#[derive(Debug)]
enum Probe {
    NotSent,
    Open,
    /// A `DiscoverResult` with a modern revision in common.
    Modern(Box<Peer>),
    /// A server of the older kind.
    Refused(Option<ErrorObject>),
}

#[derive(Debug)]
enum Handshake {
    NotSent,
    Open,
    Refused(Option<ErrorObject>),
    Done,
}

/// The decision so far.
#[derive(Debug)]
pub(crate) struct EraSearch {
    pinned: Option<Revision>,
    hedged: bool,
    probe: Probe,
    probes_sent: u8,
    handshake: Handshake,
}

impl EraSearch {
    /// The first step of a connection.
    pub(crate) fn start(start: &Start) -> (Self, Step) {
        let mut this = Self {
            pinned: None,
            hedged: true,
            probe: Probe::NotSent,
            probes_sent: 0,
            handshake: Handshake::NotSent,
        };
        let step = match start {
            Start::Unknown | Start::Remembered(Verdict::ModernOther) => this.discover(),
            Start::Remembered(Verdict::Modern) => {
                this.hedged = false;
                this.discover()
            }
            Start::Remembered(Verdict::Legacy | Verdict::Died) => this.initialize(Revision::NEWEST_LEGACY),
            Start::Pinned(revision) => {
                this.pinned = Some(*revision);
                match revision.era() {
                    Era::Modern => {
                        this.hedged = false;
                        this.discover()
                    }
                    Era::Legacy => this.initialize(*revision),
                }
            }
        };
        (this, step)
    }

    fn discover(&mut self) -> Step {
        self.probe = Probe::Open;
        self.probes_sent = self.probes_sent.saturating_add(1);
        Step::Discover(Revision::NEWEST_MODERN)
    }

    fn initialize(&mut self, revision: Revision) -> Step {
        self.handshake = Handshake::Open;
        Step::Initialize(revision)
    }

    /// Whether silence of the probe should be answered by [`hedge`](Self::hedge).
    pub(crate) const fn wants_hedge(&self) -> bool {
        self.hedged && matches!(self.probe, Probe::Open) && matches!(self.handshake, Handshake::NotSent)
    }

    /// Silence of the probe is waited out.
    pub(crate) const fn never_hedge(&mut self) {
        self.hedged = false;
    }

    /// The probe has been silent for long enough.
    pub(crate) fn hedge(&mut self) -> Step {
        if self.wants_hedge() { self.initialize(Revision::NEWEST_LEGACY) } else { Step::Wait }
    }

    /// Whether an error that names no request can only mean the probe.
    pub(crate) const fn only_probe_open(&self) -> bool {
        matches!(self.probe, Probe::Open) && !matches!(self.handshake, Handshake::Open)
    }

    /// Whether the probe was ever sent: if the peer ends now, it may have died of it.
    pub(crate) const fn probed(&self) -> bool {
        self.probes_sent > 0
    }

    /// What is being waited for.
    pub(crate) const fn waiting_for(&self) -> Method {
        match self.handshake {
            Handshake::Open => Method::Initialize,
            Handshake::NotSent | Handshake::Refused(_) | Handshake::Done => Method::ServerDiscover,
        }
    }

    /// The probe was answered.
    pub(crate) fn probe_answered(&mut self, reply: Reply) -> Step {
        let only_legacy = match reply {
            Reply::Result(result) => match read_discover(&result) {
                Some(Discovered::Modern(peer)) => {
                    self.probe = Probe::Modern(peer);
                    None
                }
                Some(Discovered::Versions(versions)) => {
                    self.probe = Probe::Refused(None);
                    Some(versions)
                }
                None => {
                    self.probe = Probe::Refused(None);
                    None
                }
            },
            Reply::Error(error) => {
                let versions = (error.code == codes::UNSUPPORTED_VERSION).then(|| supported(&error));
                self.probe = Probe::Refused(Some(error.bounded()));
                versions
            }
            Reply::Unusable => {
                self.probe = Probe::Refused(None);
                None
            }
        };
        match &self.handshake {
            // Its reply decides; nothing is sent before it is there.
            Handshake::Open | Handshake::Done => Step::Wait,
            Handshake::Refused(error) => match &self.probe {
                Probe::Modern(peer) => Step::Ready(peer.clone(), Verdict::Modern),
                Probe::Refused(_) | Probe::NotSent | Probe::Open => {
                    refused(Method::Initialize, error.clone())
                }
            },
            Handshake::NotSent => self.after_probe(only_legacy),
        }
    }

    /// The probe was answered and no handshake is open. `versions`: what a server that has no modern version in
    /// common speaks.
    fn after_probe(&mut self, versions: Option<Vec<String>>) -> Step {
        if let Probe::Modern(peer) = &self.probe {
            return Step::Ready(peer.clone(), Verdict::Modern);
        }
        if let Some(versions) = versions {
            let common = |era| {
                Revision::ALL.into_iter().rev().find(|known| {
                    known.era() == era && versions.iter().any(|version| version == known.as_str())
                })
            };
            if common(Era::Modern).is_some() && self.probes_sent < 2 {
                return self.discover();
            }
            return match common(Era::Legacy).filter(|_| self.pinned.is_none()) {
                Some(revision) => self.initialize(revision),
                None => {
                    Step::Close(CloseReason::Incompatible { supported: versions }, Some(Verdict::ModernOther))
                }
            };
        }
        let error = match &self.probe {
            Probe::Refused(error) => error.clone(),
            Probe::NotSent | Probe::Open | Probe::Modern(_) => None,
        };
        // A modern server that finds fault with the probe itself must not be asked to shake hands.
        if self.pinned.is_some() || error.as_ref().is_some_and(|error| codes::is_modern(error.code)) {
            return refused(Method::ServerDiscover, error);
        }
        self.initialize(Revision::NEWEST_LEGACY)
    }

    /// The handshake was answered.
    pub(crate) fn handshake_answered(&mut self, reply: Reply) -> Step {
        let error = match reply {
            Reply::Result(result) => {
                self.handshake = Handshake::Done;
                return self.read_handshake(&result);
            }
            Reply::Error(error) => Some(error.bounded()),
            Reply::Unusable => None,
        };
        self.handshake = Handshake::Refused(error.clone());
        match &self.probe {
            Probe::Modern(peer) => Step::Ready(peer.clone(), Verdict::Modern),
            Probe::Open => Step::Wait,
            Probe::Refused(_) => refused(Method::Initialize, error),
            Probe::NotSent if self.pinned.is_some() => refused(Method::Initialize, error),
            // Remembered as legacy, and refuses now: ask what it is. Every server can be asked that.
            Probe::NotSent => {
                self.hedged = false;
                self.discover()
            }
        }
    }

    fn read_handshake(&self, result: &RawJson) -> Step {
        let view = result.view();
        let Some(version) = view.get("protocolVersion").and_then(JsonRef::str) else {
            return Step::Close(
                CloseReason::Protocol(Violation::BadResult {
                    method: Method::Initialize,
                    why: "protocolVersion is missing",
                }),
                None,
            );
        };
        let version = version.decode();
        let revision = Revision::from_date(&version).filter(|revision| revision.era() == Era::Legacy);
        let acceptable = |revision: &Revision| self.pinned.is_none_or(|pinned| pinned == *revision);
        let Some(revision) = revision.filter(acceptable) else {
            let supported = read_versions(None, Some(&version));
            return Step::Close(CloseReason::Incompatible { supported }, None);
        };
        let verdict = match self.probe {
            Probe::Modern(_) => Verdict::Modern,
            Probe::NotSent | Probe::Open | Probe::Refused(_) => Verdict::Legacy,
        };
        Step::Ready(Box::new(read_handshake_peer(result, revision)), verdict)
    }
}

fn refused(method: Method, error: Option<ErrorObject>) -> Step {
    match error {
        Some(error) if codes::is_modern(error.code) && method == Method::ServerDiscover => {
            Step::Close(CloseReason::Refused { method, error }, Some(Verdict::ModernOther))
        }
        Some(error) => Step::Close(CloseReason::Refused { method, error }, None),
        None => Step::Close(CloseReason::Incompatible { supported: Vec::new() }, None),
    }
}

/// The server, as the result of a handshake introduces it.
pub(crate) fn read_handshake_peer(result: &RawJson, revision: Revision) -> Peer {
    read_peer(result, revision, result.view().get("serverInfo"))
}

/// What a `server/discover` result says.
#[derive(Debug)]
enum Discovered {
    /// A modern revision in common.
    Modern(Box<Peer>),
    /// None; these are the versions it named.
    Versions(Vec<String>),
}

/// Whether a late answer to the probe shows a modern server.
pub(crate) fn is_modern_answer(result: &RawJson) -> bool {
    matches!(read_discover(result), Some(Discovered::Modern(_)))
}

/// `None`: no `DiscoverResult` at all.
fn read_discover(result: &RawJson) -> Option<Discovered> {
    let view = result.view();
    let complete =
        view.get("resultType").is_none_or(|kind| kind.str().is_some_and(|kind| kind.eq_str("complete")));
    let versions =
        view.get("supportedVersions").filter(|versions| complete && versions.kind() == Kind::Array)?;
    let modern = Revision::ALL.into_iter().rev().find(|known| {
        let named =
            |version: JsonRef<'_>| version.str().is_some_and(|version| version.eq_str(known.as_str()));
        known.era() == Era::Modern && versions.elements().any(named)
    });
    let Some(revision) = modern else {
        return Some(Discovered::Versions(read_versions(Some(versions), None)));
    };
    let info = view.get("_meta").and_then(|meta| meta.get(meta::SERVER_INFO));
    Some(Discovered::Modern(Box::new(read_peer(result, revision, info))))
}

fn read_peer(result: &RawJson, revision: Revision, info: Option<JsonRef<'_>>) -> Peer {
    let view = result.view();
    Peer {
        era: revision.era(),
        revision,
        server: info.map(Implementation::read).unwrap_or_default(),
        capabilities: ServerCapabilities::new(view.get("capabilities").and_then(|raw| result.slice_of(raw))),
        instructions: view.get("instructions").and_then(JsonRef::str).map(|text| text.decode().into_owned()),
        cache: CacheHint::read(view),
        raw: result.clone(),
    }
}

/// `data.supported` of an error.
fn supported(error: &ErrorObject) -> Vec<String> {
    read_versions(error.data.as_ref().and_then(|data| data.view().get("supported")), None)
}
