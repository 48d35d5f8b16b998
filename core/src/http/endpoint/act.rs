//! What the application answers and tells.

use alloc::sync::Arc;

use crate::error::ApiError;
use crate::exchange::Origin;
use crate::http::endpoint::asked::Designated;
use crate::http::endpoint::exchange::{ALONE, State};
use crate::http::endpoint::streams::Way;
use crate::http::endpoint::{Effect, Endpoint, SessionHandle};
use crate::http::head::HttpHandle;
use crate::jsonrpc::RawJson;
use crate::mcp::Revision;
use crate::mcp::types::input::InputRequest;
use crate::mcp::types::log::LogLevel;
use crate::server::{Catalog, ListKind, Notice, PeerRequestHandle, Reply, RequestHandle};
use crate::time::Instant;

/// Where the messages about a request go.
enum Place {
    /// To this exchange, which takes a stream of events or not.
    Exchange { n: u64, events: bool },
    /// To a stream that nobody reads now, and that is kept.
    Kept,
    /// Nowhere.
    Lost,
}

impl Endpoint {
    /// What is listed.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Lists this from now on, in all sessions. Tell clients with [`list_changed`](Self::list_changed).
    pub fn set_catalog(&mut self, catalog: impl Into<Arc<Catalog>>) {
        self.catalog = catalog.into();
        self.designated = Arc::new(Designated::of(&self.catalog));
        for session in self.all() {
            let catalog = self.catalog.clone();
            if let Some(of) = self.session_mut(session) {
                of.set_catalog(catalog);
            }
        }
    }

    /// Answers a request; see [`server::Session::respond`](crate::server::Session::respond). Never refused for lack of
    /// room: where too much waits to be written, whoever takes it the slowest is cut off.
    ///
    /// # Errors
    /// As there.
    pub fn respond(
        &mut self,
        session: SessionHandle,
        request: RequestHandle,
        reply: &Reply,
        now: Instant,
    ) -> Result<(), ApiError> {
        let now = self.clock.advance(now);
        let of = self.session_mut(session.0).ok_or(ApiError::UnknownRequest)?;
        let done = of.respond(request, reply, now);
        self.settle(session.0);
        self.cut_slowest();
        done
    }

    /// Tells of a request; see [`server::Session::notify`](crate::server::Session::notify). A client that takes no stream
    /// of events is not told.
    ///
    /// # Errors
    /// As there; [`ApiError::OutboundFull`] when too much waits to be written on its exchange.
    pub fn notify(
        &mut self,
        session: SessionHandle,
        request: RequestHandle,
        notice: &Notice,
        now: Instant,
    ) -> Result<(), ApiError> {
        let now = self.clock.advance(now);
        if let Place::Exchange { n, .. } = self.place_of(session.0, request)?
            && self.is_slow(n)
        {
            return Err(ApiError::OutboundFull);
        }
        let of = self.session_mut(session.0).ok_or(ApiError::UnknownRequest)?;
        let done = of.notify(request, notice, now);
        self.settle(session.0);
        self.cut_slowest();
        done
    }

    /// Asks the client; see [`server::Session::request_input`](crate::server::Session::request_input).
    ///
    /// # Errors
    /// As there; [`ApiError::MissingCapability`] also if the client takes no stream of events;
    /// [`ApiError::OutboundFull`] when too much waits to be written on the request's exchange; [`ApiError::Closed`] when
    /// its client left and cannot be asked.
    pub fn request_input(
        &mut self,
        session: SessionHandle,
        request: RequestHandle,
        input: &InputRequest,
        now: Instant,
    ) -> Result<PeerRequestHandle, ApiError> {
        let now = self.clock.advance(now);
        match self.place_of(session.0, request)? {
            Place::Exchange { events: false, .. } if session.0 != ALONE => {
                return Err(ApiError::MissingCapability { kind: input.kind });
            }
            Place::Exchange { n, .. } if self.is_slow(n) => return Err(ApiError::OutboundFull),
            Place::Lost => return Err(ApiError::Closed),
            Place::Exchange { .. } | Place::Kept => {}
        }
        let of = self.session_mut(session.0).ok_or(ApiError::UnknownRequest)?;
        let asked = of.request_input(request, input, now);
        self.settle(session.0);
        self.cut_slowest();
        asked
    }

    /// Closes the stream that a request is to be answered on, before it is: its client is told to come back after
    /// [`retry`](crate::http::endpoint::EndpointConfig::retry), and gets what it missed then. So a long call holds no
    /// connection. The request stays open; nothing happens if its client is not there anyway.
    ///
    /// # Errors
    /// [`ApiError::UnknownRequest`] if the request is over; [`ApiError::BadParams`] if it cannot be: before 2025-11-25, in
    /// 2026-07-28, for a client that takes no stream of events, or where nothing is kept.
    ///
    /// Spec: MCP 2025-11-25 basic/transports, "Sending Messages to the Server".
    pub fn close_stream(
        &mut self,
        session: SessionHandle,
        request: RequestHandle,
        now: Instant,
    ) -> Result<(), ApiError> {
        let now = self.clock.advance(now);
        let place = self.place_of(session.0, request)?;
        let served = self.sessions.get(session.0);
        let revision = served.and_then(|served| served.session.legacy_revision());
        let ids = served.is_some_and(|served| served.streams.have_ids());
        if revision != Some(Revision::V2025_11_25) || !ids {
            return Err(ApiError::BadParams("only a stream that can be resumed may end before its answer"));
        }
        let Place::Exchange { n, events } = place else { return Ok(()) };
        if !events {
            return Err(ApiError::BadParams("the client of this request takes no stream of events"));
        }
        if matches!(self.exchanges.get(&n).map(|exchange| &exchange.state), Some(State::Waiting(_))) {
            self.begin(n);
        }
        let Some(State::Events(Some(stream))) = self.exchanges.get(&n).map(|exchange| &exchange.state) else {
            return Ok(());
        };
        let stream = *stream;
        let retry = alloc::format!("retry: {}\n\n", self.config.retry.as_millis());
        self.send_piece(n, retry.into());
        self.with_streams(session.0, |streams| streams.leave(stream, now));
        self.end(n);
        self.rearm(session.0);
        Ok(())
    }

    /// Logs to every legacy client that wants it; see [`server::Session::log`](crate::server::Session::log). What cannot be
    /// logged is dropped, and so is what finds too much waiting to be written.
    pub fn log(&mut self, level: LogLevel, logger: Option<&str>, data: &RawJson, now: Instant) {
        let now = self.clock.advance(now);
        for session in self.sessions.numbers() {
            if self.is_full_of_answers() {
                break;
            }
            if let Some(of) = self.session_mut(session) {
                let _ = of.log(level, logger, data, now);
            }
            self.settle(session);
        }
        self.cut_slowest();
    }

    /// A list changed; all who want to know are told. See [`server::Session::list_changed`](crate::server::Session::list_changed).
    pub fn list_changed(&mut self, kind: ListKind, now: Instant) {
        let now = self.clock.advance(now);
        for session in self.all() {
            if let Some(of) = self.session_mut(session) {
                of.list_changed(kind, now);
            }
            self.settle(session);
        }
        self.cut_slowest();
    }

    /// A resource changed; all who watch it are told. An address that is too long to be watched is nobody's.
    pub fn resource_updated(&mut self, uri: &str, now: Instant) {
        let now = self.clock.advance(now);
        for session in self.all() {
            if let Some(of) = self.session_mut(session) {
                let _ = of.resource_updated(uri, now);
            }
            self.settle(session);
        }
        self.cut_slowest();
    }

    /// Whether somebody watches this resource.
    #[must_use]
    pub fn is_watched(&self, uri: &str) -> bool {
        self.modern.is_watched(uri) || self.sessions.iter().any(|served| served.session.is_watched(uri))
    }

    /// Ends a legacy session: what is open in it is cancelled. `false`: there is no such session.
    pub fn end_session(&mut self, session: SessionHandle, now: Instant) -> bool {
        let now = self.clock.advance(now);
        let known = self.sessions.get(session.0).is_some();
        if known {
            self.close_session(session.0, now);
        }
        known
    }

    /// Where messages about a request go.
    fn place_of(&self, session: u64, request: RequestHandle) -> Result<Place, ApiError> {
        let of = if session == ALONE {
            Some(&self.modern)
        } else {
            self.sessions.get(session).map(|served| &served.session)
        };
        let (origin, _) = of.and_then(|of| of.origin_of(request)).ok_or(ApiError::UnknownRequest)?;
        let Origin::Exchange(exchange) = origin else { return Ok(Place::Lost) };
        let n = exchange.number();
        let at = |n| Place::Exchange { n, events: self.takes_events(n) };
        let Some(served) = self.sessions.get(session) else { return Ok(at(n)) };
        Ok(match served.streams.way(n) {
            None => at(n),
            Some(Way::Lost) => Place::Lost,
            Some(Way::Stream(stream)) => match served.streams.carrier(stream) {
                Some(carrier) => at(carrier),
                None if served.streams.have_ids() => Place::Kept,
                None => Place::Lost,
            },
        })
    }

    /// Whether so much waits to be written on an exchange that it takes no more notices.
    pub(super) fn is_slow(&self, n: u64) -> bool {
        let queued = self.exchanges.get(&n).map_or(0, |exchange| exchange.queued);
        self.outbound.of(n).saturating_add(queued) >= self.config.max_stream_bytes
    }

    pub(super) const fn is_full_of_answers(&self) -> bool {
        self.outbound.bytes.saturating_add(self.effects.bytes) >= self.config.max_outbound_bytes
    }

    /// So many bytes of this exchange's answer wait to be written. Tell whenever that changes, after the end of the answer
    /// too, until it is 0 again or the client is gone; an exchange that was never told of has none.
    pub fn set_outbound(&mut self, exchange: HttpHandle, bytes: usize, now: Instant) {
        self.clock.advance(now);
        self.outbound.set(exchange.number(), bytes);
        self.cut_slowest();
    }

    /// Where too much waits to be written, whoever takes it the slowest is cut off.
    pub(super) fn cut_slowest(&mut self) {
        while self.outbound.bytes.saturating_add(self.effects.bytes) > self.config.max_outbound_bytes {
            let Some(n) = self.outbound.slowest() else { break };
            let exchange = HttpHandle::numbered(n);
            self.gone(n);
            self.effects.push(Effect::Close { exchange });
        }
    }
}
