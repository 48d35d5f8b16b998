//! The served side over HTTP: one endpoint, all its sessions.

mod config;

use alloc::sync::Arc;
use core::time::Duration;

use bytes::Bytes;

use crate::error::{ApiError, ConfigError};
use crate::http::h1::Body;
use crate::http::head::{HttpHandle, RequestHead, ResponseHead};
use crate::jsonrpc::RawJson;
use crate::mcp::types::input::InputRequest;
use crate::mcp::types::log::LogLevel;
use crate::server::{Catalog, Event, ListKind, Notice, PeerRequestHandle, Reply, RequestHandle};
use crate::time::Instant;

pub use config::{EndpointConfig, Names, Token};

/// Names one of an endpoint's sessions. The requests of 2026-07-28 stand alone and share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionHandle(pub(crate) u64);

/// What an endpoint asks of its runtime.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// The request is welcome so far: read its body.
    TakeBody {
        /// Its exchange.
        exchange: HttpHandle,
    },
    /// Answer.
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
    /// Cut the connection: what was begun cannot be ended well.
    Close {
        /// The exchange.
        exchange: HttpHandle,
    },
}

/// One HTTP endpoint: modern requests, legacy sessions, who may come, and the state of every exchange.
///
/// A runtime gives each request a handle and tells it head, body and end; it carries out the [`Effect`]s.
#[derive(Debug)]
pub struct Endpoint {
    _config: EndpointConfig,
}

#[expect(clippy::todo, reason = "a seam")]
impl Endpoint {
    /// An endpoint with an empty catalog. `seed` must be random and secret: session ids come of it.
    ///
    /// # Errors
    /// A setting is out of bounds.
    pub fn new(_config: EndpointConfig, _seed: [u8; 32], _now: Instant) -> Result<Self, ConfigError> {
        todo!()
    }

    /// Lists this from now on, in all sessions.
    pub fn set_catalog(&mut self, _catalog: impl Into<Arc<Catalog>>) {
        todo!()
    }

    /// The head of a request. `local`: it came over loopback. Answers at once what is not welcome.
    pub fn handle_head(
        &mut self,
        _exchange: HttpHandle,
        _head: RequestHead,
        _length: Option<u64>,
        _now: Instant,
    ) {
        todo!()
    }

    /// A piece of its body.
    pub fn handle_body(&mut self, _exchange: HttpHandle, _piece: Bytes, _now: Instant) {
        todo!()
    }

    /// The end of its body.
    pub fn handle_body_end(&mut self, _exchange: HttpHandle, _now: Instant) {
        todo!()
    }

    /// The client is gone, before its answer was whole.
    pub fn handle_gone(&mut self, _exchange: HttpHandle, _now: Instant) {
        todo!()
    }

    /// So many bytes of this exchange's answer wait to be written.
    pub fn set_outbound(&mut self, _exchange: HttpHandle, _bytes: usize, _now: Instant) {
        todo!()
    }

    /// Answers a request; see [`server::Session::respond`](crate::server::Session::respond).
    ///
    /// # Errors
    /// As there.
    pub fn respond(
        &mut self,
        _session: SessionHandle,
        _request: RequestHandle,
        _reply: &Reply,
        _now: Instant,
    ) -> Result<(), ApiError> {
        todo!()
    }

    /// Tells of a request; see [`server::Session::notify`](crate::server::Session::notify).
    ///
    /// # Errors
    /// As there.
    pub fn notify(
        &mut self,
        _session: SessionHandle,
        _request: RequestHandle,
        _notice: &Notice,
        _now: Instant,
    ) -> Result<(), ApiError> {
        todo!()
    }

    /// Asks the client; see [`server::Session::request_input`](crate::server::Session::request_input).
    ///
    /// # Errors
    /// As there.
    pub fn request_input(
        &mut self,
        _session: SessionHandle,
        _request: RequestHandle,
        _input: &InputRequest,
        _now: Instant,
    ) -> Result<PeerRequestHandle, ApiError> {
        todo!()
    }

    /// Logs to every legacy client that wants it.
    pub fn log(&mut self, _level: LogLevel, _logger: Option<&str>, _data: &RawJson, _now: Instant) {
        todo!()
    }

    /// A list changed; all who want to know are told.
    pub fn list_changed(&mut self, _kind: ListKind, _now: Instant) {
        todo!()
    }

    /// A resource changed; all who watch it are told.
    pub fn resource_updated(&mut self, _uri: &str, _now: Instant) {
        todo!()
    }

    /// Takes nothing new (503) and ends streams in good order; what is open may finish within `drain`.
    pub fn shutdown(&mut self, _drain: Duration, _now: Instant) {
        todo!()
    }

    /// Whether all is over after a [`shutdown`](Self::shutdown).
    #[must_use]
    pub fn is_over(&self) -> bool {
        todo!()
    }

    /// The time is `now`.
    pub fn handle_timeout(&mut self, _now: Instant) {
        todo!()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// What to do next.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        todo!()
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<(SessionHandle, Event)> {
        todo!()
    }

    /// Whether bodies should be read. False is back-pressure: events wait to be taken.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        todo!()
    }

    /// How many sessions are open (revisions up to 2025-11-25).
    #[must_use]
    pub fn sessions(&self) -> usize {
        todo!()
    }
}
