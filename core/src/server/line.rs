//! A server over one byte stream: its standard input and output, a socket.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::{ApiError, ConfigError};
use crate::exchange::Origin;
use crate::frame::LineDecoder;
use crate::jsonrpc::RawJson;
use crate::machine::Machine;
use crate::mcp::types::input::InputRequest;
use crate::mcp::types::log::LogLevel;
use crate::outbox::Waiting;
use crate::server::catalog::{Catalog, ListKind};
use crate::server::config::Config;
use crate::server::event::{Event, Notice, PeerRequestHandle, Principal, Reply, RequestHandle};
use crate::server::session::Session;
use crate::time::{Instant, earliest};

/// A [`Session`] over one stream of lines.
///
/// Stops reading while its outbox is full: what was read and not looked at yet waits until there is room. After the end
/// of input what was admitted still finishes, its answers leave, and only then [`Event::Closed`] comes.
#[derive(Debug)]
pub struct LineConnection {
    session: Session,
    decoder: LineDecoder,
    principal: Principal,
    write_closed: bool,
    input_ended: bool,
    /// The session was told that its input has ended.
    told_end: bool,
    /// The end was near: what waits to be written may leave until then.
    drain_until: Option<Instant>,
    /// When to stop waiting for the rest of the outbox to leave, once the session is over.
    flush_until: Option<Instant>,
}

impl LineConnection {
    /// A connection that waits for its first message.
    ///
    /// `seed` is 32 random bytes, the only source of randomness there is. Nobody must be able to guess them: the key that
    /// seals cursors is drawn from them, unless [`Config::cursor_key`] gives one.
    ///
    /// # Errors
    /// A setting is out of bounds.
    pub fn new(config: Config, seed: [u8; 32], now: Instant) -> Result<Self, ConfigError> {
        let decoder = LineDecoder::new(config.limits.max_message_bytes);
        let mut session = Session::new(config, seed, now)?;
        session.out.join();
        Ok(Self {
            session,
            decoder,
            principal: Principal::anonymous(),
            write_closed: false,
            input_ended: false,
            told_end: false,
            drain_until: None,
            flush_until: None,
        })
    }

    /// On whose behalf everything on this stream comes, where the transport knows.
    pub fn set_principal(&mut self, principal: Principal) {
        self.principal = principal;
    }

    /// The session, for its getters.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// See [`Session::catalog_mut`].
    pub fn catalog_mut(&mut self) -> &mut Catalog {
        self.session.catalog_mut()
    }

    /// See [`Session::set_catalog`].
    pub fn set_catalog(&mut self, catalog: impl Into<Arc<Catalog>>) {
        self.session.set_catalog(catalog);
    }

    /// Answers a request; see [`Session::respond`].
    ///
    /// # Errors
    /// As there; [`ApiError::OutboundFull`] when too much waits to be written: the request is open still, try again
    /// after some of it has left.
    pub fn respond(&mut self, request: RequestHandle, reply: &Reply, now: Instant) -> Result<(), ApiError> {
        self.check_room()?;
        self.session.respond(request, reply, now)?;
        self.note_end(now);
        Ok(())
    }

    /// Tells the client something about an open request; see [`Session::notify`].
    ///
    /// # Errors
    /// As there; [`ApiError::OutboundFull`] when too much waits to be written.
    pub fn notify(&mut self, request: RequestHandle, notice: &Notice, now: Instant) -> Result<(), ApiError> {
        self.check_room()?;
        self.session.notify(request, notice, now)?;
        self.note_end(now);
        Ok(())
    }

    /// Tells the client of a legacy session something that belongs to no request; see [`Session::log`].
    ///
    /// # Errors
    /// As there; [`ApiError::OutboundFull`] when too much waits to be written.
    pub fn log(
        &mut self,
        level: LogLevel,
        logger: Option<&str>,
        data: &RawJson,
        now: Instant,
    ) -> Result<(), ApiError> {
        self.check_room()?;
        self.session.log(level, logger, data, now)?;
        self.note_end(now);
        Ok(())
    }

    /// Asks the client for input; see [`Session::request_input`].
    ///
    /// # Errors
    /// As there; [`ApiError::OutboundFull`] when too much waits to be written.
    pub fn request_input(
        &mut self,
        request: RequestHandle,
        ask: &InputRequest,
        now: Instant,
    ) -> Result<PeerRequestHandle, ApiError> {
        self.check_room()?;
        let peer = self.session.request_input(request, ask, now)?;
        self.note_end(now);
        Ok(peer)
    }

    /// A list is no longer what it was; see [`Session::list_changed`].
    pub fn list_changed(&mut self, kind: ListKind, now: Instant) {
        self.session.list_changed(kind, now);
        self.note_end(now);
    }

    /// The tools changed; see [`Session::list_changed`].
    pub fn tools_changed(&mut self, now: Instant) {
        self.list_changed(ListKind::Tools, now);
    }

    /// The prompts changed; see [`Session::list_changed`].
    pub fn prompts_changed(&mut self, now: Instant) {
        self.list_changed(ListKind::Prompts, now);
    }

    /// The resources or templates changed; see [`Session::list_changed`].
    pub fn resources_changed(&mut self, now: Instant) {
        self.list_changed(ListKind::Resources, now);
    }

    /// A resource changed; see [`Session::resource_updated`].
    ///
    /// # Errors
    /// As there; [`ApiError::OutboundFull`] when too much waits to be written.
    pub fn resource_updated(&mut self, uri: &str, now: Instant) -> Result<(), ApiError> {
        self.check_room()?;
        self.session.resource_updated(uri, now)?;
        self.note_end(now);
        Ok(())
    }

    /// Ends all subscriptions in good order; see [`Session::end_subscriptions`].
    pub fn end_subscriptions(&mut self, now: Instant) {
        self.session.end_subscriptions(now);
        self.note_end(now);
    }

    /// Ends the connection at once; see [`Session::close`]. What waits to be written may still leave, for
    /// [`Limits::close_flush`](crate::limits::Limits::close_flush).
    pub fn close(&mut self, now: Instant) {
        self.session.close(now);
        self.note_end(now);
    }

    /// Ends the connection once what is open is answered, or after `drain`; see [`Session::shutdown`].
    pub fn shutdown(&mut self, drain: Duration, now: Instant) {
        self.drain_for(drain, now);
        self.session.shutdown(drain, now);
        self.note_end(now);
    }

    /// Bytes that this connection holds: buffers with their spare room, what waits to be written, and what waiting
    /// events keep alive.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        self.decoder.retained_bytes() + self.waiting().retained_bytes() + self.session.queued_event_bytes()
    }

    /// Bytes that wait to be written. At or over
    /// [`Limits::max_queued_out_bytes`](crate::limits::Limits::max_queued_out_bytes) nothing more finds room.
    #[must_use]
    pub fn queued_out_bytes(&self) -> usize {
        self.waiting().len()
    }

    /// Hands the parameters of a big request back once they are no longer needed, so that their block is used for the
    /// next one. Does nothing if a view of them is held elsewhere.
    pub fn recycle(&mut self, params: RawJson) {
        self.decoder.recycle(params.into_frame());
    }

    /// Lets go of all buffers that hold nothing, which are otherwise kept for the next message: for a connection that is
    /// one of many and has nothing to do. What comes next pays for it.
    pub fn release(&mut self) {
        self.decoder.release();
        self.session.release();
    }

    /// The end is near: what waits may leave for so long, or until an earlier end.
    fn drain_for(&mut self, drain: Duration, now: Instant) {
        let until = self.session.clock.advance(now).saturating_add(drain);
        self.drain_until = Some(self.drain_until.map_or(until, |earlier| earlier.min(until)));
    }

    fn check_room(&self) -> Result<(), ApiError> {
        if self.write_closed {
            return Err(ApiError::Closed);
        }
        if self.is_full() { Err(ApiError::OutboundFull) } else { Ok(()) }
    }

    /// Until when what came before the end of input, and was not looked at for lack of room, is still looked at.
    fn unseen_until(&self) -> Option<Instant> {
        self.drain_until
            .filter(|_| self.input_ended && !self.told_end && self.session.close_reason().is_none())
    }

    fn is_full(&self) -> bool {
        self.waiting().len() >= self.session.config().limits.max_queued_out_bytes
    }

    /// Goes through what was read, as far as there is room for the answers.
    fn pump(&mut self, now: Instant) {
        while !self.is_full() {
            let Some(frame) = self.decoder.poll_frame() else {
                if self.input_ended && !self.told_end {
                    self.end_of_input(now);
                }
                break;
            };
            let principal = self.principal.clone();
            self.session.handle_message(Origin::Stream, None, principal, frame, now);
            self.note_end(now);
        }
        self.note_end(now);
    }

    /// Everything that came was looked at, or its time is over: what was admitted may finish until the drain ends.
    fn end_of_input(&mut self, now: Instant) {
        self.told_end = true;
        let now = self.session.clock.advance(now);
        let left = self.drain_until.map_or(Duration::ZERO, |until| until.saturating_since(now));
        self.session.end_of_input(left, now);
    }

    const fn waiting(&self) -> &Waiting {
        self.session.out.stream()
    }

    /// Once the session is over, what waits may leave for a while yet.
    fn note_end(&mut self, now: Instant) {
        if self.flush_until.is_none() && self.session.close_reason().is_some() {
            let now = self.session.clock.advance(now);
            let patience = now.saturating_add(self.session.config().limits.close_flush);
            self.flush_until = self.drain_until.max(Some(patience));
        }
    }
}

impl Machine for LineConnection {
    type Event = Event;

    fn read_buffer(&mut self) -> &mut Vec<u8> {
        self.decoder.read_buffer()
    }

    fn handle_read(&mut self, now: Instant) {
        self.decoder.handle_read();
        self.pump(now);
    }

    fn handle_eof(&mut self, now: Instant) {
        if self.input_ended {
            return;
        }
        self.input_ended = true;
        self.drain_for(self.session.config().limits.drain, now);
        self.decoder.handle_eof();
        self.pump(now);
    }

    /// A client that reads no more cannot be answered: what is open is cancelled, and the connection is over.
    fn handle_write_closed(&mut self, now: Instant) {
        self.write_closed = true;
        self.session.handle_unread(now);
        self.note_end(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.session.clock.advance(now);
        self.session.handle_timeout(now);
        if self.unseen_until().is_some_and(|until| until <= now) {
            self.end_of_input(now);
        }
        self.note_end(now);
        if self.flush_until.is_some_and(|until| until <= now) {
            self.session.out.clear();
        }
    }

    fn transmit(&self) -> &[u8] {
        self.waiting().transmit()
    }

    fn handle_written(&mut self, len: usize, now: Instant) {
        let was_full = self.is_full();
        self.session.written(len);
        if was_full && !self.is_full() {
            self.session.handle_timeout(now);
            self.note_end(now);
            self.pump(now);
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        if matches!(self.session.peek_event(), Some(Event::Closed(_))) && !self.waiting().is_empty() {
            return None;
        }
        self.session.poll_event()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let flush = self.flush_until.filter(|_| !self.waiting().is_empty());
        earliest(earliest(flush, self.unseen_until()), self.session.poll_timeout())
    }

    fn wants_read(&self) -> bool {
        !self.input_ended && !self.is_full() && self.session.wants_input()
    }
}
