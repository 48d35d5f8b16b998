//! The client's side of a connection.

use alloc::vec::Vec;

use bytes::Bytes;

use crate::error::ApiError;
use crate::http::h1::{Body, Closed, Limits};
use crate::http::head::{RequestHead, ResponseHead};
use crate::machine::Machine;
use crate::time::Instant;

/// The client's side of one connection: one exchange after the other.
///
/// An answer may come before the request has left whole; what is left of the request is then not sent, and the
/// connection is not used again. Informational answers (1xx) are passed over.
#[derive(Debug)]
pub struct Client {
    _limits: Limits,
}

/// What a client's connection tells.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The first byte of the request left.
    Sent,
    /// The head of the answer.
    Head(ResponseHead),
    /// A piece of its body, not empty.
    Body(Bytes),
    /// The end of the answer. The connection may take the next request if it `is_idle`.
    End,
    /// The connection is over. The last event. An answer that had no end before it is cut short, unless its body was
    /// to go on to the end of the connection: then `End` came before.
    Closed(Closed),
}

#[expect(clippy::todo, reason = "a seam")]
impl Client {
    /// A new connection, to be used at once.
    #[must_use]
    pub fn new(limits: Limits, now: Instant) -> Self {
        let _ = now;
        Self { _limits: limits }
    }

    /// Sends a request.
    ///
    /// # Errors
    /// [`ApiError::NotReady`] while an exchange is open; [`ApiError::Closed`] when the connection takes no more.
    pub fn request(&mut self, _head: &RequestHead, _body: Body, _now: Instant) -> Result<(), ApiError> {
        todo!()
    }

    /// Whether a request may be sent: no exchange is open, and the connection goes on.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        todo!()
    }

    /// Ends the connection; an answer that is open is cut short.
    pub fn close(&mut self, _now: Instant) {
        todo!()
    }

    /// Bytes that are held.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        todo!()
    }
}

#[expect(clippy::todo, reason = "a seam")]
impl Machine for Client {
    type Event = ClientEvent;

    fn read_buffer(&mut self) -> &mut Vec<u8> {
        todo!()
    }

    fn handle_read(&mut self, _now: Instant) {
        todo!()
    }

    fn handle_eof(&mut self, _now: Instant) {
        todo!()
    }

    fn handle_write_closed(&mut self, _now: Instant) {
        todo!()
    }

    fn handle_timeout(&mut self, _now: Instant) {
        todo!()
    }

    fn transmit(&self) -> &[u8] {
        todo!()
    }

    fn handle_written(&mut self, _len: usize, _now: Instant) {
        todo!()
    }

    fn poll_event(&mut self) -> Option<ClientEvent> {
        todo!()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    fn wants_read(&self) -> bool {
        todo!()
    }
}
