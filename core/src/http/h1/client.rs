//! The client's side of a connection.

use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;

use super::body::Incoming;
use super::events::Events;
use super::input::Input;
use super::parse::{self, Answer, Asked};
use super::scan::HeadScan;
use super::target::{is_host, is_target};
use super::write::{self, Framing};
use super::{Body, Closed, Fault, Limits};
use crate::error::ApiError;
use crate::http::head::{RequestHead, ResponseHead};
use crate::limits::MAX_READ_BYTES;
use crate::machine::Machine;
use crate::octets::is_token;
use crate::outbox::Waiting;
use crate::time::{Instant, Monotonic, earliest};

/// The client's side of one connection: one exchange after the other.
///
/// An answer may come before the request has left whole. If it says that the request failed (300 and above), what is
/// left of the request is not sent; else it goes on to leave until the answer ends. If anything was left then, the
/// connection is not used again. Informational answers (1xx) are passed over.
pub struct Client {
    limits: Limits,
    clock: Monotonic,
    input: Input,
    out: Waiting,
    events: Events<ClientEvent>,
    stage: Stage,
    asked: Asked,
    /// The first byte of the request left.
    begun: bool,
    /// Why the connection ends with this exchange, if it does.
    last: Option<Closed>,
    /// When the head of the answer began.
    head_since: Option<Instant>,
    /// When the peer last took something, or something began to wait.
    write_since: Instant,
    closed: Option<Closed>,
}

#[derive(Debug)]
enum Stage {
    Idle,
    Head(HeadScan),
    Body(Incoming),
    Over,
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

/// How far it is, and lengths: heads hold secrets.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("stage", &self.stage)
            .field("unread", &self.input.len())
            .field("queued_out", &self.out.len())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A new connection, to be used at once.
    #[must_use]
    pub fn new(limits: Limits, now: Instant) -> Self {
        Self {
            input: Input::new(limits.max_head_bytes),
            limits,
            clock: Monotonic::new(now),
            out: Waiting::default(),
            events: Events::new(),
            stage: Stage::Idle,
            asked: Asked::Other,
            begun: false,
            last: None,
            head_since: None,
            write_since: now,
            closed: None,
        }
    }

    /// Sends a request. Fields that frame the body or the connection are left out: they are written here.
    ///
    /// # Errors
    /// [`ApiError::NotReady`] while an exchange is open; [`ApiError::Closed`] when the connection takes no more;
    /// [`ApiError::BadParams`] for a head that cannot be sent, and for a body that is sent piece by piece.
    pub fn request(&mut self, head: &RequestHead, body: Body, now: Instant) -> Result<(), ApiError> {
        let now = self.clock.advance(now);
        match self.stage {
            Stage::Idle => {}
            Stage::Head(_) | Stage::Body(_) => return Err(ApiError::NotReady),
            Stage::Over => return Err(ApiError::Closed),
        }
        check(head)?;
        let framing = match &body {
            Body::Empty if matches!(head.verb.as_str(), "POST" | "PUT" | "PATCH") => Framing::Length(0),
            Body::Empty => Framing::Nothing,
            Body::Whole(bytes) => Framing::Length(bytes.len()),
            Body::Stream => return Err(ApiError::BadParams("the body of a request is sent whole")),
        };
        self.out.append(|block| write::request(block, head, framing));
        if let Body::Whole(bytes) = body {
            self.out.push(bytes);
        }
        self.stage = Stage::Head(HeadScan::default());
        self.asked = Asked::by(&head.verb);
        self.begun = false;
        self.write_since = now;
        Ok(())
    }

    /// Whether a request may be sent: no exchange is open, and the connection goes on.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Idle)
    }

    /// Ends the connection; an answer that is open is cut short.
    pub fn close(&mut self, now: Instant) {
        self.clock.advance(now);
        self.end(Closed::Local);
    }

    /// Bytes that are held.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        let head = if let Stage::Head(scan) = &self.stage { scan.retained_bytes() } else { 0 };
        self.input.retained_bytes() + self.out.retained_bytes() + self.events.retained_bytes() + head
    }

    /// Lets go of buffers that are not needed now.
    pub fn release(&mut self) {
        self.input.release();
        self.out.release();
        self.events.release();
    }

    /// Looks at all that came.
    fn advance(&mut self, now: Instant) {
        loop {
            match &mut self.stage {
                Stage::Over => return self.input.clear(),
                _ if self.input.is_empty() => return,
                Stage::Idle => return self.end(Closed::Fault(Fault::Unasked)),
                // An answer to what was never asked, such as one that a server gives to a connection it gives up.
                Stage::Head(_) if !self.begun => return self.end(Closed::Fault(Fault::Unasked)),
                Stage::Head(_) if !may_be_answer(self.input.unread()) => {
                    return self.end(Closed::Fault(Fault::Head("it is no HTTP")));
                }
                Stage::Head(scan) => {
                    self.head_since.get_or_insert(now);
                    match parse::answer(scan, self.input.unread(), self.asked, &self.limits) {
                        Ok(None) => return,
                        Ok(Some((answer, len))) => {
                            self.head_since = None;
                            self.input.skip(len);
                            self.begin(answer);
                        }
                        Err(fault) => return self.end(Closed::Fault(fault)),
                    }
                }
                Stage::Body(body) => {
                    let events = &mut self.events;
                    let read = body.read(&mut self.input, |piece| {
                        let len = piece.len();
                        events.push(ClientEvent::Body(piece), len);
                    });
                    match read {
                        Err(fault) => return self.end(Closed::Fault(fault)),
                        Ok(()) if body.is_over() => self.finish(),
                        Ok(()) => {}
                    }
                }
            }
        }
    }

    fn begin(&mut self, answer: Answer) {
        match (self.asked, answer.head.status) {
            // Nothing of ours asks for another protocol.
            (_, 101) => return self.end(Closed::Fault(Fault::Unasked)),
            (_, 100..=199) => {
                self.stage = Stage::Head(HeadScan::default());
                return;
            }
            (Asked::Connect, 200..=299) => {
                let bytes = answer.head.fields.retained_bytes();
                self.events.push(ClientEvent::Head(answer.head), bytes);
                let behind = self.input.unread().into();
                return self.end(Closed::Tunnel(behind));
            }
            (_, 300..) if !self.out.is_empty() => self.cut(Closed::Local),
            _ => {}
        }
        if !answer.keep {
            self.last.get_or_insert(Closed::Eof);
        }
        let bytes = answer.head.fields.retained_bytes();
        self.events.push(ClientEvent::Head(answer.head), bytes);
        if answer.body.is_over() {
            self.finish();
        } else {
            self.stage = Stage::Body(answer.body);
        }
    }

    /// The answer is here, whole.
    fn finish(&mut self) {
        self.events.push(ClientEvent::End, 0);
        if !self.out.is_empty() {
            self.cut(Closed::Local);
        }
        match self.last.take() {
            Some(why) => self.end(why),
            None => {
                self.stage = Stage::Idle;
                // What a long head asked for is not kept.
                if self.out.retained_bytes() > MAX_READ_BYTES {
                    self.out.release();
                }
            }
        }
    }

    /// What is left of the request is not sent, so the connection has no further use.
    fn cut(&mut self, why: Closed) {
        self.out.clear();
        self.last = Some(why);
    }

    fn end(&mut self, why: Closed) {
        if !matches!(self.stage, Stage::Over) {
            self.stage = Stage::Over;
            self.head_since = None;
            self.out.clear();
            self.input.clear();
            self.closed = Some(why);
        }
    }
}

/// Whether this can be the beginning of an answer. What is none is told before it is waited for to the end, which may
/// never come.
fn may_be_answer(unread: &[u8]) -> bool {
    const BEGINS: &[u8] = b"HTTP/";
    let len = unread.len().min(BEGINS.len());
    unread.get(..len) == BEGINS.get(..len)
}

/// Whether a head can be sent so that every server reads it as it is meant.
fn check(head: &RequestHead) -> Result<(), ApiError> {
    let verb = head.verb.as_str();
    if verb.is_empty() || !verb.bytes().all(is_token) {
        return Err(ApiError::BadParams("a method is a token"));
    }
    if !is_target(&head.target) {
        return Err(ApiError::BadParams("the target holds what must be escaped"));
    }
    if !head.fields.text("host").is_some_and(|host| is_host(host.as_bytes())) {
        return Err(ApiError::BadParams("a request has one host"));
    }
    Ok(())
}

impl Machine for Client {
    type Event = ClientEvent;

    fn read_buffer(&mut self) -> &mut Vec<u8> {
        self.input.read_buffer()
    }

    fn handle_read(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        self.input.appended();
        self.advance(now);
    }

    fn handle_eof(&mut self, now: Instant) {
        self.clock.advance(now);
        match &self.stage {
            Stage::Over => {}
            Stage::Body(Incoming::ToEnd) => {
                self.events.push(ClientEvent::End, 0);
                self.end(Closed::Eof);
            }
            Stage::Idle => self.end(Closed::Eof),
            Stage::Head(_) if self.input.is_empty() => self.end(Closed::Eof),
            Stage::Head(_) | Stage::Body(_) => self.end(Closed::Fault(Fault::Truncated)),
        }
    }

    fn handle_write_closed(&mut self, now: Instant) {
        self.clock.advance(now);
        match self.stage {
            Stage::Over => {}
            Stage::Idle => self.end(Closed::Unread),
            Stage::Head(_) | Stage::Body(_) if self.begun => self.cut(Closed::Unread),
            Stage::Head(_) | Stage::Body(_) => self.end(Closed::Unread),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        if self.poll_timeout().is_some_and(|at| at <= now) {
            self.end(Closed::Fault(Fault::Slow));
        }
    }

    fn transmit(&self) -> &[u8] {
        self.out.transmit()
    }

    fn handle_written(&mut self, len: usize, now: Instant) {
        let now = self.clock.advance(now);
        if len == 0 || self.out.is_empty() {
            return;
        }
        self.out.written(len);
        self.write_since = now;
        if !self.begun {
            self.begun = true;
            self.events.push(ClientEvent::Sent, 0);
        }
    }

    fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop().or_else(|| self.closed.take().map(ClientEvent::Closed))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let head = self.head_since.map(|since| since.saturating_add(self.limits.head));
        let write = self.write_since.saturating_add(self.limits.stall);
        earliest(head, (!self.out.is_empty()).then_some(write))
    }

    fn wants_read(&self) -> bool {
        !matches!(self.stage, Stage::Over) && !self.events.is_full(self.limits.max_queued_event_bytes)
    }
}
