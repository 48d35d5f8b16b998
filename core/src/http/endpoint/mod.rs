//! The served side over HTTP: one endpoint, all its sessions.
//!
//! ```text
//!  head ─▶ welcome? ─▶ body ─▶ read once ─┬─▶ requests that stand alone (2026-07-28) ─┐
//!            │ no                         ├─▶ the session that its id names ──────────┼─▶ Event ─ respond ─▶ JSON, or
//!            ▼                            └─▶ initialize: a new session ──────────────┘       a stream of events
//!         4xx, 503
//! ```
//!
//! An answer is JSON where it is the first and only message of its exchange, else a stream of events; see
//! [`ReplyShape`]. When a client is gone, a request that stands alone is cancelled. One of a session is not: if a stream
//! of its answer was begun, with ids, what comes on it is kept, and the client may come back for it.
//!
//! What a client reads too slowly does not grow: an exchange on which
//! [`max_stream_bytes`](EndpointConfig::max_stream_bytes) wait takes no more notices of its request
//! ([`ApiError::OutboundFull`](crate::error::ApiError::OutboundFull)), and a stream of a session's notices is ended in
//! good order; `subscriptions/listen` as well.
//!
//! The answers to a batch (2025-03-26) are one JSON text where a client takes no stream. It is no longer than one message
//! may be: past that each answer is an error that says so.
//!
//! HTTP with SSE (2024-11-05), the older transport, is not served: that revision is, to whoever asks for it here.

mod act;
mod answer;
mod arrive;
mod asked;
mod body;
mod config;
mod exchange;
mod legacy;
mod names;
mod pages;
mod post;
mod sessions;
mod streams;
#[cfg(test)]
mod tests;
mod tick;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use bytes::Bytes;

use crate::error::ConfigError;
use crate::http::endpoint::asked::Designated;
use crate::http::endpoint::exchange::{Effects, Exchange, Outbound, Timers};
use crate::http::endpoint::sessions::Sessions;
use crate::http::h1::Body;
use crate::http::head::{HttpHandle, ResponseHead};
use crate::server::{Catalog, Config, Event, Session, held};
use crate::time::{Instant, Monotonic};

pub use arrive::Refusal;
pub use config::{EndpointConfig, Names, ReplyShape, Token};

/// Names one of an endpoint's sessions. The requests of 2026-07-28 stand alone and share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionHandle(pub(crate) u64);

/// What an endpoint asks of its runtime.
///
/// `Debug` shows no content and no values of fields. An exchange is over, and nothing more is asked for it, after a [`Respond`](Self::Respond) whose body is not sent piece
/// by piece, an [`End`](Self::End), a [`Close`](Self::Close), or once its client is gone.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// The request is welcome so far: read its body.
    TakeBody {
        /// Its exchange.
        exchange: HttpHandle,
    },
    /// Answer. May come before the body was read, which is then not wanted any more.
    Respond {
        /// The exchange.
        exchange: HttpHandle,
        /// The head.
        head: ResponseHead,
        /// The body.
        body: Body,
    },
    /// A further piece of a body that is sent piece by piece.
    Send {
        /// The exchange.
        exchange: HttpHandle,
        /// The piece.
        piece: Bytes,
    },
    /// The end of that body.
    End {
        /// The exchange.
        exchange: HttpHandle,
    },
    /// Cut the connection: what was begun cannot be ended well. May come for an exchange whose answer is given and not
    /// written yet.
    Close {
        /// The exchange.
        exchange: HttpHandle,
    },
}

/// One HTTP endpoint: modern requests, legacy sessions, who may come, and the state of every exchange.
///
/// A runtime gives each request a handle and tells it head, body and end; it carries out the [`Effect`]s. All that is
/// kept is bounded by the [`EndpointConfig`].
///
/// `Debug` shows how much there is, and nothing of it: ids of sessions, what they come of, and content are secrets.
pub struct Endpoint {
    config: EndpointConfig,
    /// That of the sessions.
    server: Arc<Config>,
    catalog: Arc<Catalog>,
    designated: Arc<Designated>,
    clock: Monotonic,
    phase: Phase,
    /// All requests that stand alone.
    modern: Session,
    modern_timer: Option<Instant>,
    sessions: Sessions,
    exchanges: BTreeMap<u64, Exchange>,
    timers: Timers,
    effects: Effects,
    events: Events,
    outbound: Outbound,
    /// Bytes of bodies and heads that are being read.
    reading: usize,
    /// Streams for notices of sessions.
    pushing: usize,
    /// Open requests whose client is not there.
    away: usize,
    refused: [Option<Refusal>; 2],
    pages: pages::Pages,
}

impl fmt::Debug for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, exchange) = match self {
            Self::TakeBody { exchange } => ("TakeBody", exchange),
            Self::Respond { exchange, .. } => ("Respond", exchange),
            Self::Send { exchange, .. } => ("Send", exchange),
            Self::End { exchange } => ("End", exchange),
            Self::Close { exchange } => ("Close", exchange),
        };
        let mut shown = f.debug_struct(name);
        shown.field("exchange", exchange);
        match self {
            Self::Respond { head, body: Body::Whole(body), .. } => {
                shown.field("head", head).field("body", &body.len())
            }
            Self::Respond { head, body, .. } => shown.field("head", head).field("body", body),
            Self::Send { piece, .. } => shown.field("piece", &piece.len()),
            Self::TakeBody { .. } | Self::End { .. } | Self::Close { .. } => &mut shown,
        };
        shown.finish()
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("path", &self.config.path)
            .field("sessions", &self.sessions())
            .field("exchanges", &self.exchanges())
            .field("retained_bytes", &self.retained_bytes())
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Ending,
}

/// Events of all sessions.
#[derive(Debug, Default)]
struct Events {
    queue: VecDeque<(SessionHandle, Event, usize)>,
    bytes: usize,
}

impl Events {
    fn push(&mut self, session: SessionHandle, event: Event) {
        let bytes = held(&event);
        self.bytes += bytes;
        self.queue.push_back((session, event, bytes));
    }
}

impl Endpoint {
    /// An endpoint with an empty catalog. `seed` must be random and secret: session ids come of it.
    ///
    /// # Errors
    /// A setting is out of bounds.
    pub fn new(mut config: EndpointConfig, seed: [u8; 32], now: Instant) -> Result<Self, ConfigError> {
        config.check()?;
        // Whoever is asked something by a session is asked on its own streams; pings are for streams that all share.
        config.server.keep_alive = None;
        let server = Arc::new(config.server.clone());
        let sessions = Sessions::new(seed);
        let mut modern = Session::of(server.clone(), sessions.cursors(), now);
        modern.share(config.max_exchanges, config.max_streams);
        Ok(Self {
            config,
            server,
            catalog: Arc::default(),
            designated: Arc::default(),
            clock: Monotonic::new(now),
            phase: Phase::Open,
            modern,
            modern_timer: None,
            sessions,
            exchanges: BTreeMap::new(),
            timers: Timers::default(),
            effects: Effects::default(),
            events: Events::default(),
            outbound: Outbound::default(),
            reading: 0,
            pushing: 0,
            away: 0,
            refused: [None, None],
            pages: pages::Pages::new(),
        })
    }

    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &EndpointConfig {
        &self.config
    }

    /// What to do next.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        let effect = self.effects.pop()?;
        if let Effect::Send { exchange, piece } = &effect
            && let Some(exchange) = self.exchanges.get_mut(&exchange.number())
        {
            exchange.queued -= piece.len();
        }
        Some(effect)
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<(SessionHandle, Event)> {
        let (session, event, bytes) = self.events.queue.pop_front()?;
        self.events.bytes -= bytes;
        Some((session, event))
    }

    /// Whether bodies should be read. False is back-pressure: events wait to be taken.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        let limits = &self.server.limits;
        self.events.queue.len() < limits.max_queued_events
            && self.events.bytes < limits.max_queued_event_bytes
    }

    /// How many sessions are open (revisions up to 2025-11-25).
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// How many exchanges are open.
    #[must_use]
    pub fn exchanges(&self) -> usize {
        self.exchanges.len()
    }

    /// What a setting refused since the last report, for a log: whoever is kept out wants to know which setting does it.
    pub fn poll_refusal(&mut self) -> Option<Refusal> {
        self.refused.iter_mut().find_map(Option::take)
    }

    fn note_refused(&mut self, setting: &'static str, value: String) {
        let place = usize::from(setting == "origins");
        match self.refused.get_mut(place) {
            Some(Some(refusal)) => refusal.count += 1,
            Some(empty) => *empty = Some(Refusal { setting, value, count: 1 }),
            None => {}
        }
    }

    /// Bytes that are held: what is being read, what waits to be taken as effects or events, and what sessions keep.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        let kept: usize = self.sessions.iter().map(|served| served.streams.retained_bytes()).sum();
        self.reading + self.effects.bytes + self.events.bytes + kept
    }
}
