//! One server of a host: how it is set up, and what is known of it.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::places::Places;
use super::state::{ServerState, introduction_bytes, shown};
use crate::client::{Listing, Peer, RequestOptions, Start, Verdict};
use crate::error::ConfigError;
use crate::host::Mask;
use crate::host::bounds::tools_bytes;
use crate::host::catalog::{ListingSettings, Registry, ServerTools};
use crate::host::config::{Carrier, HostConfig, Refresh, ServerConfig};
use crate::host::event::{ClientHandle, Effect, Event, RequestKey};
use crate::host::link::{Reconnect, SessionNumber, Status};
use crate::jsonrpc::RawJson;
use crate::limits::Limits;
use crate::mcp::Method;
use crate::time::{Instant, Monotonic, earliest};

/// One server. Never waits for another.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) index: u32,
    pub(super) name: Arc<str>,
    transport: &'static str,
    pub(super) carrier: Carrier,
    pub(super) settings: ListingSettings,
    pub(super) connect_timeout: Duration,
    pub(super) sub_agents: Vec<String>,
    /// What its next connection starts with.
    pub(super) start: Start,
    pub(super) verdict: Option<Verdict>,
    pub(super) link: Reconnect,
    /// The status that was told last.
    pub(super) status: Status,
    /// Its connection, from the moment it is to be opened.
    pub(super) client: Option<Client>,
    pub(super) peer: Option<Arc<Peer>>,
    pub(super) error: Option<String>,
    pub(super) listing_failed: bool,
    /// Why its listing is not whole, as it was told.
    pub(super) cut: Option<String>,
    /// What is offered from the next turn on.
    pub(super) staged: Option<Arc<ServerTools>>,
    /// Its listing is to be read anew as soon as it is connected.
    pub(super) reread: bool,
    /// Its first attempt is over.
    pub(super) tried: bool,
    /// That it failed was told, and it was not connected since.
    pub(super) warned: bool,
    /// Its waiting calls go on.
    pub(super) settled: bool,
}

/// A connection, from the moment it is to be opened.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) session: SessionNumber,
    pub(super) stage: Stage,
    /// When the attempt is over.
    pub(super) until: Instant,
    pub(super) start: Start,
    /// The attempt was begun a second time, otherwise.
    pub(super) restarted: bool,
    /// It says that it has tools.
    pub(super) declared: bool,
    /// Since when it can be called.
    pub(super) opened: Instant,
    /// It was called.
    pub(super) used: bool,
    /// The listing that is read.
    pub(super) run: Option<Run>,
    /// Its listing waits for its turn to be read anew.
    pub(super) queued: bool,
    /// It changed while it was read.
    pub(super) changed: bool,
    /// Not read again before.
    pub(super) rested: Instant,
    /// When it is read again.
    pub(super) list_at: Option<Instant>,
    /// When changes are listened for again.
    pub(super) listen_at: Option<Instant>,
    /// Somebody wants to know by then whether it answers.
    pub(super) health_until: Option<Instant>,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It waits for its turn.
    Waiting,
    /// It is opened.
    Opening,
    /// It is ready, and its first listing is read.
    Listing,
    /// It can be called.
    Open,
}

/// A listing that is read.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) listing: Listing,
    pub(super) until: Instant,
    pub(super) kind: Kind,
}

/// What a listing is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is the first one.
    First,
    /// It may have changed. It has one of the places.
    Anew,
    /// To see whether the server answers.
    Probe,
    /// Nobody waits for it any more; no other begins before its last request is over.
    Dropped,
}

impl Client {
    pub(super) const fn waiting(session: SessionNumber) -> Self {
        Self {
            session,
            stage: Stage::Waiting,
            until: Instant::ZERO,
            start: Start::Unknown,
            restarted: false,
            declared: false,
            opened: Instant::ZERO,
            used: false,
            run: None,
            queued: false,
            changed: false,
            rested: Instant::ZERO,
            list_at: None,
            listen_at: None,
            health_until: None,
        }
    }
}

/// What all servers share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Monotonic,
    pub(super) mask: Mask,
    pub(super) limits: Limits,
    pub(super) refresh: Refresh,
    pub(super) registry: Registry,
    /// Those that are opened.
    pub(super) starting: Places,
    /// Those whose listing is read anew.
    pub(super) relisting: Places,
    pub(super) events: VecDeque<Event>,
    pub(super) effects: VecDeque<Effect>,
    /// Servers whose waiting calls go on; each at most once.
    pub(super) settled: VecDeque<u32>,
    pub(super) closed: bool,
}

impl Shared {
    pub(super) const fn now(&self) -> Instant {
        self.clock.latest()
    }

    /// Makes a request that may last so long; `None`: for as long as its connection.
    pub(super) fn request(
        &mut self,
        key: RequestKey,
        client: ClientHandle,
        (method, params): (Method, Option<RawJson>),
        limit: Option<Duration>,
    ) {
        let options = RequestOptions { idle: limit, absolute: limit, ..RequestOptions::default() };
        self.effects.push_back(Effect::Request { key, client, method, params, options: Box::new(options) });
    }
}

impl Slot {
    pub(super) fn new(
        index: u32,
        name: &Arc<str>,
        server: &ServerConfig,
        config: &HostConfig,
    ) -> Result<Self, ConfigError> {
        let link = Reconnect::new(config.reconnect.clone(), config.enabled && server.enabled)?;
        let (filter, limits) = (server.filter.clone(), config.definitions.clone());
        let settings = ListingSettings { mode: server.mode, filter, limits };
        let verdict = match &server.start {
            Start::Remembered(verdict) => Some(verdict.clone()),
            Start::Unknown | Start::Pinned(_) => None,
        };
        Ok(Self {
            index,
            name: name.clone(),
            transport: server.transport,
            carrier: server.carrier,
            settings,
            connect_timeout: server.connect_timeout(),
            sub_agents: server.sub_agents.clone(),
            start: server.start.clone(),
            verdict,
            status: link.status(),
            link,
            client: None,
            peer: None,
            error: None,
            listing_failed: false,
            cut: None,
            staged: None,
            reread: false,
            tried: false,
            warned: false,
            settled: false,
        })
    }

    pub(super) const fn handle(&self, session: SessionNumber) -> ClientHandle {
        ClientHandle { slot: self.index, session }
    }

    /// Whether this is its present connection.
    pub(super) fn is_present(&self, client: ClientHandle) -> bool {
        self.client.as_ref().is_some_and(|present| present.session == client.session)
    }

    /// Whether somebody waits to know whether it answers.
    pub(super) fn is_checked(&self) -> bool {
        self.client.as_ref().is_some_and(|client| client.health_until.is_some())
    }

    pub(super) fn state(&self, registry: &Registry) -> ServerState {
        ServerState {
            name: self.name.clone(),
            transport: self.transport,
            status: self.status,
            tools: registry.server(&self.name).cloned(),
            error: self.error.clone(),
            listing_failed: self.listing_failed,
            revision: self.peer.as_ref().map(|peer| peer.revision),
            peer: self.peer.clone(),
            verdict: self.verdict.clone(),
        }
    }

    pub(super) fn keep_error(&mut self, text: &str, shared: &Shared) {
        self.error = Some(shown(&shared.mask, text));
    }

    /// Bytes that are kept of it.
    pub(super) fn retained_bytes(&self, registry: &Registry) -> usize {
        let tools = [registry.server(&self.name), self.staged.as_ref()].into_iter().flatten();
        let run = self.client.as_ref().and_then(|client| client.run.as_ref());
        let parts = [
            self.peer.as_ref().map_or(0, |peer| introduction_bytes(peer)),
            self.error.as_ref().map_or(0, String::capacity),
            run.map_or(0, |run| run.listing.retained_bytes()),
        ];
        tools.map(|tools| tools_bytes(tools)).chain(parts).fold(0, usize::saturating_add)
    }

    /// When something is due.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let of_client = self.client.as_ref().and_then(|client| match client.stage {
            Stage::Waiting => None,
            Stage::Opening | Stage::Listing => Some(client.until),
            Stage::Open => {
                let list_at = client.list_at.filter(|_| client.run.is_none() && !client.queued);
                earliest(earliest(list_at, client.listen_at), client.health_until)
            }
        });
        earliest(self.link.poll_timeout(), of_client)
    }
}
