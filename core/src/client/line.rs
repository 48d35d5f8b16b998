//! A client over one byte stream: a pipe to a child process, a socket.

use alloc::vec::Vec;

use crate::client::config::Config;
use crate::client::event::Event;
use crate::client::link::{Carry, Link, Linked};
use crate::client::session::Session;
use crate::error::{ApiError, CloseReason, ConfigError};
use crate::exchange::{Effect, ExchangeHandle, Origin};
use crate::frame::LineDecoder;
use crate::jsonrpc::RawJson;
use crate::limits::OUT_RESERVE_BYTES;
use crate::machine::Machine;
use crate::mcp::Method;
use crate::outbox::Outbox;
use crate::time::{Instant, earliest};

/// A [`Session`] over one stream of lines.
#[derive(Debug)]
pub struct LineConnection {
    session: Session,
    decoder: LineDecoder,
    outbox: Outbox<ExchangeHandle>,
    write_closed: bool,
    input_ended: bool,
    /// When to stop waiting for the rest of the outbox to leave, once the session is over.
    flush_until: Option<Instant>,
}

impl LineConnection {
    /// A connection that begins at once: its first message waits in [`transmit`](Machine::transmit).
    ///
    /// `seed` is 32 random bytes, the only source of randomness there is. Nothing is drawn from it yet.
    ///
    /// # Errors
    /// A limit is out of bounds.
    pub fn new(config: Config, seed: [u8; 32], now: Instant) -> Result<Self, ConfigError> {
        let decoder = LineDecoder::new(config.limits.max_message_bytes);
        let session = Session::new(config, seed, now)?;
        let mut this = Self {
            session,
            decoder,
            outbox: Outbox::default(),
            write_closed: false,
            input_ended: false,
            flush_until: None,
        };
        this.carry_out(now);
        Ok(this)
    }

    /// The session, for its getters.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// Bytes that this connection holds: buffers with their spare room, what waits to be written, and what
    /// waiting events keep alive.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        self.decoder.retained_bytes() + self.outbox.retained_bytes() + self.session.queued_event_bytes()
    }

    /// Hands a big message that is no longer needed back, so that its block is used for the next one. Does
    /// nothing if a view of it is held elsewhere.
    pub fn recycle(&mut self, message: RawJson) {
        self.decoder.recycle(message.into_frame());
    }

    fn ended(&self) -> Option<&CloseReason> {
        self.session.close_reason()
    }
}

impl Link for LineConnection {
    fn linked(&mut self) -> Linked<'_> {
        Linked::new(self)
    }
}

impl Carry for LineConnection {
    fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    fn check_room(&self) -> Result<(), ApiError> {
        if self.write_closed {
            return Err(ApiError::Closed);
        }
        if self.outbox.len() >= self.session.config().limits.max_queued_out_bytes {
            return Err(ApiError::OutboundFull);
        }
        Ok(())
    }

    /// Puts what the session wants sent into the outbox.
    fn carry_out(&mut self, now: Instant) {
        let now = self.session.clock.advance(now);
        while let Some(effect) = self.session.poll_effect() {
            let exchange = match effect {
                Effect::Send(exchange) => exchange,
                Effect::Abort { notice: Some(notice), .. } => notice,
                Effect::Abort { notice: None, .. } => continue,
            };
            // Past the limit only cancel notices and answers come here; past the reserve as well, a peer that
            // reads nothing gets no more of them.
            let limit = self.session.config().limits.max_queued_out_bytes;
            let full = exchange.facts.method.as_ref().is_none_or(|method| *method == Method::Cancelled)
                && self.outbox.len() >= limit.saturating_add(OUT_RESERVE_BYTES);
            if !self.write_closed && !full {
                self.outbox.push(exchange.handle, exchange.message);
            }
        }
        if self.flush_until.is_none()
            && let Some(reason) = self.ended()
        {
            if *reason != CloseReason::Local {
                self.outbox.clear();
            }
            let patience = self.session.config().limits.close_flush;
            self.flush_until = Some(now.saturating_add(patience));
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
        while let Some(frame) = self.decoder.poll_frame() {
            self.session.handle_message(Origin::Stream, frame, now);
        }
        self.carry_out(now);
    }

    fn handle_eof(&mut self, now: Instant) {
        if self.input_ended {
            return;
        }
        self.input_ended = true;
        self.decoder.handle_eof();
        while let Some(frame) = self.decoder.poll_frame() {
            self.session.handle_message(Origin::Stream, frame, now);
        }
        self.session.handle_closed(CloseReason::Eof, now);
        self.carry_out(now);
    }

    fn handle_write_closed(&mut self, now: Instant) {
        self.write_closed = true;
        self.outbox.clear();
        self.session.handle_write_closed(now);
        self.carry_out(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.session.clock.advance(now);
        self.session.handle_timeout(now);
        self.carry_out(now);
        if self.flush_until.is_some_and(|until| until <= now) {
            self.outbox.clear();
        }
    }

    fn transmit(&self) -> &[u8] {
        self.outbox.transmit()
    }

    fn handle_written(&mut self, len: usize, now: Instant) {
        self.outbox.written(len);
        while let Some(exchange) = self.outbox.poll_sent() {
            self.session.handle_sent(exchange, now);
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        if matches!(self.session.peek_event(), Some(Event::Closed(_))) && !self.outbox.is_empty() {
            return None;
        }
        self.session.poll_event()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let flush = self.flush_until.filter(|_| !self.outbox.is_empty());
        earliest(flush, self.session.poll_timeout())
    }

    fn wants_read(&self) -> bool {
        !self.input_ended && self.session.wants_input()
    }
}
