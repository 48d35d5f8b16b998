//! What a server says.

use core::mem;

use bytes::Bytes;

use super::Server;
use super::reading::{Reading, SMALL_REST};
use crate::error::ApiError;
use crate::http::h1::body::Incoming;
use crate::http::h1::parse::Asked;
use crate::http::h1::write::{self, Connection, Framing};
use crate::http::h1::{Body, Closed};
use crate::http::head::ResponseHead;
use crate::time::Instant;

/// How far the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing is to be answered.
    None,
    /// It is not begun.
    Due,
    /// Its body is sent in pieces.
    Open(Pieces),
    /// All of it was said, but may not have left.
    Complete,
}

/// How the pieces of a body are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pieces {
    Chunked,
    /// As they are, to the end of the connection.
    Bare,
    /// Not at all: the answer has no body.
    Dropped,
}

impl Server {
    /// Begins the answer. Fields that frame the body or the connection are left out: they are written here.
    ///
    /// # Errors
    /// [`ApiError::UnknownRequest`] if no request waits for one; [`ApiError::Closed`]; [`ApiError::BadParams`] for a
    /// status below 200.
    pub fn respond(&mut self, head: &ResponseHead, body: Body, now: Instant) -> Result<(), ApiError> {
        let now = self.clock.advance(now);
        self.check_open()?;
        if self.answer != Answer::Due {
            return Err(ApiError::UnknownRequest);
        }
        if !matches!(head.status, 200..=999) {
            return Err(ApiError::BadParams("the status of an answer is between 200 and 999"));
        }
        let bodiless = matches!(head.status, 204 | 304);
        let (framing, answer) = match &body {
            Body::Empty if bodiless || self.asked == Asked::Head => (Framing::Nothing, Answer::Complete),
            Body::Whole(_) if bodiless => (Framing::Nothing, Answer::Complete),
            Body::Empty => (Framing::Length(0), Answer::Complete),
            Body::Whole(bytes) => (Framing::Length(bytes.len()), Answer::Complete),
            Body::Stream if bodiless => (Framing::Nothing, Answer::Open(Pieces::Dropped)),
            Body::Stream if self.asked == Asked::Head => (Framing::Nothing, Answer::Open(Pieces::Dropped)),
            Body::Stream if self.old => (Framing::Nothing, Answer::Open(Pieces::Bare)),
            Body::Stream => (Framing::Chunked, Answer::Open(Pieces::Chunked)),
        };
        if answer == Answer::Open(Pieces::Bare) || !self.rest_is_small() {
            self.last.get_or_insert(Closed::Local);
        }
        let connection = match (&self.last, self.old) {
            (Some(_), _) => Connection::Close,
            (None, true) => Connection::KeepAlive,
            (None, false) => Connection::Silent,
        };
        self.begin_write(now);
        self.out.append(|block| write::answer(block, head.status, &head.fields, framing, connection));
        if let Body::Whole(bytes) = body
            && !bodiless
            && self.asked != Asked::Head
        {
            self.out.push(bytes);
        }
        self.answer = answer;
        if answer == Answer::Complete {
            self.complete(now);
        }
        Ok(())
    }

    /// A further piece of an answer's body that is sent piece by piece. It leaves at once, as far as the peer takes it.
    ///
    /// # Errors
    /// [`ApiError::OutboundFull`] while too much waits; [`ApiError::UnknownRequest`] if no such body is open;
    /// [`ApiError::Closed`].
    pub fn send(&mut self, piece: Bytes, now: Instant) -> Result<(), ApiError> {
        let now = self.clock.advance(now);
        self.check_open()?;
        let Answer::Open(pieces) = self.answer else { return Err(ApiError::UnknownRequest) };
        if self.out.len() >= self.limits.max_queued_out_bytes {
            return Err(ApiError::OutboundFull);
        }
        if piece.is_empty() || pieces == Pieces::Dropped {
            return Ok(());
        }
        self.begin_write(now);
        match pieces {
            Pieces::Chunked => write::chunk(&mut self.out, piece),
            Pieces::Bare | Pieces::Dropped => self.out.push(piece),
        }
        Ok(())
    }

    /// The end of that body.
    pub fn end(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        let Answer::Open(pieces) = self.answer else { return };
        if pieces == Pieces::Chunked {
            self.begin_write(now);
            write::last_chunk(&mut self.out);
        }
        self.answer = Answer::Complete;
        self.complete(now);
    }

    const fn check_open(&self) -> Result<(), ApiError> {
        if matches!(self.reading, Reading::Linger { .. } | Reading::Over) {
            Err(ApiError::Closed)
        } else {
            Ok(())
        }
    }

    /// Something is about to be queued.
    pub(super) const fn begin_write(&mut self, now: Instant) {
        if self.out.is_empty() {
            self.write_since = now;
        }
    }

    /// Whether what is left of the body is worth reading for the sake of the connection. After an answer without 100
    /// (Continue) nobody knows whether the body still comes.
    const fn rest_is_small(&self) -> bool {
        match &self.reading {
            Reading::Untaken { expects: true, .. } => false,
            Reading::Untaken { body: Incoming::Length(left), .. } | Reading::Body(Incoming::Length(left)) => {
                *left <= SMALL_REST as u64
            }
            Reading::Untaken { .. } | Reading::Body(_) => false,
            Reading::Head { .. }
            | Reading::Rest { .. }
            | Reading::Answered
            | Reading::Linger { .. }
            | Reading::Over => true,
        }
    }

    /// The answer was said whole.
    fn complete(&mut self, now: Instant) {
        if matches!(self.reading, Reading::Untaken { .. } | Reading::Body(_)) {
            let small = self.rest_is_small();
            let why = self.last.take();
            self.reading = match (mem::replace(&mut self.reading, Reading::Over), why) {
                (Reading::Untaken { body, .. } | Reading::Body(body), None) if small => {
                    self.body_awaited(now);
                    Reading::Rest { body, left: SMALL_REST }
                }
                (_, why) => Reading::linger(why.unwrap_or(Closed::Local)),
            };
        }
        self.advance(now);
    }
}
