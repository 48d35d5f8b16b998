//! The server's side of a connection.

use alloc::vec::Vec;

use bytes::Bytes;

use crate::error::ApiError;
use crate::http::h1::{Body, Closed, Limits};
use crate::http::head::{RequestHead, ResponseHead};
use crate::machine::Machine;
use crate::time::Instant;

/// The server's side of one connection: one exchange after the other; requests that are sent ahead wait.
///
/// A request that cannot be understood is answered by the machine itself (400, 408, 413, 431, 501, 505), and the
/// connection ends. The end of the client's output while an answer is open counts as its going away.
#[derive(Debug)]
pub struct Server {
    _limits: Limits,
}

/// What a server's connection tells.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// The head of a request. `length`: the bytes of its body, `None` if it comes in chunks; 0: there is none.
    Head {
        /// The head.
        head: RequestHead,
        /// How long the body says it is.
        length: Option<u64>,
    },
    /// A piece of the body, not empty.
    Body(Bytes),
    /// The end of the request. Comes for every `Head`, unless the connection ends first.
    BodyEnd,
    /// The answer has left whole, and the connection is ready for the next request.
    Done,
    /// The connection is over. The last event. An exchange that is open is cut short: the client is gone.
    Closed(Closed),
}

#[expect(clippy::todo, reason = "a seam")]
impl Server {
    /// A connection that waits for its first request.
    #[must_use]
    pub fn new(limits: Limits, now: Instant) -> Self {
        let _ = now;
        Self { _limits: limits }
    }

    /// Takes the body of the request whose head was told: a client that waits for 100 (Continue) is sent it. Without
    /// this no byte of a body is read; an answer may be given instead, which then ends the connection if a body is
    /// left unread that is longer than a few KiB.
    pub fn take_body(&mut self, _now: Instant) {
        todo!()
    }

    /// Begins the answer.
    ///
    /// # Errors
    /// [`ApiError::UnknownRequest`] if no request waits for one; [`ApiError::Closed`].
    pub fn respond(&mut self, _head: &ResponseHead, _body: Body, _now: Instant) -> Result<(), ApiError> {
        todo!()
    }

    /// A further piece of an answer's body that is sent piece by piece. It leaves at once, as far as the peer takes it.
    ///
    /// # Errors
    /// [`ApiError::OutboundFull`] while too much waits; [`ApiError::UnknownRequest`] if no such body is open.
    pub fn send(&mut self, _piece: Bytes, _now: Instant) -> Result<(), ApiError> {
        todo!()
    }

    /// The end of that body.
    pub fn end(&mut self, _now: Instant) {
        todo!()
    }

    /// Bytes that wait to be written.
    #[must_use]
    pub fn queued_out_bytes(&self) -> usize {
        todo!()
    }

    /// Takes no further request: the connection ends with the answer that is open, or at once.
    pub fn shutdown(&mut self, _now: Instant) {
        todo!()
    }

    /// Ends the connection at once; an answer that is open is cut short so that the client sees it.
    pub fn close(&mut self, _now: Instant) {
        todo!()
    }

    /// Bytes that are held.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        todo!()
    }

    /// Lets go of buffers that are not needed now.
    pub fn release(&mut self) {
        todo!()
    }
}

#[expect(clippy::todo, reason = "a seam")]
impl Machine for Server {
    type Event = ServerEvent;

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

    fn poll_event(&mut self) -> Option<ServerEvent> {
        todo!()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    fn wants_read(&self) -> bool {
        todo!()
    }
}
