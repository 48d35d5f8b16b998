//! What a server does with the bytes that come.

use core::time::Duration;

use super::{Answer, Server, ServerEvent};
use crate::http::h1::body::Incoming;
use crate::http::h1::parse::{self, Asked, Refusal, Request};
use crate::http::h1::scan::HeadScan;
use crate::http::h1::{Closed, write};
use crate::time::Instant;

/// As much of a body that nobody wants is read so that the connection can be used again.
pub(super) const SMALL_REST: usize = 8 * 1024;
/// How much is dropped, and for how long, before a connection is closed whose client may still be sending.
const LINGER_BYTES: usize = 16 * 1024 * 1024;
const LINGER: Duration = Duration::from_secs(2);
/// So many times as long as a body may bring nothing it may bring little: less than a byte a millisecond.
const STALLS: u32 = 4;
/// Empty lines that may stand in front of a request (RFC 9112, section 2.2).
const BLANK_LINES: u8 = 2;

/// What is read.
#[derive(Debug)]
pub(super) enum Reading {
    /// A head. `begun`: some of it is there. `blank`: the empty lines in front of it.
    Head { scan: HeadScan, begun: bool, blank: u8 },
    /// Nothing: the body is not wanted yet. `expects`: the client waits for 100 (Continue).
    Untaken { body: Incoming, expects: bool },
    /// A body.
    Body(Incoming),
    /// The rest of a body that nobody wants; so much of it may still come.
    Rest { body: Incoming, left: usize },
    /// Nothing: the answer comes first.
    Answered,
    /// What comes is dropped until the connection ends: after so many bytes, or at an instant, which is set when the
    /// last byte of the answer has left.
    Linger { why: Closed, left: usize, until: Option<Instant> },
    /// Nothing any more.
    Over,
}

impl Reading {
    pub(super) fn next() -> Self {
        Self::Head { scan: HeadScan::default(), begun: false, blank: 0 }
    }

    pub(super) const fn linger(why: Closed) -> Self {
        Self::Linger { why, left: LINGER_BYTES, until: None }
    }
}

impl Server {
    /// From here on a body has its time.
    pub(super) fn body_awaited(&mut self, now: Instant) {
        self.read_since = now;
        self.body_until = now.saturating_add(self.limits.stall.saturating_mul(STALLS));
    }

    /// Of `came` bytes of a body, some may be left: for the others it is given time.
    fn body_came(&mut self, came: usize, now: Instant) {
        if came > 0 {
            self.read_since = now;
            let earned = Duration::from_millis(came.saturating_sub(self.input.len()) as u64);
            let most = now.saturating_add(self.limits.stall.saturating_mul(STALLS));
            self.body_until = self.body_until.saturating_add(earned).min(most);
        }
    }

    /// Looks at all that came, as far as it may be looked at now.
    pub(super) fn advance(&mut self, now: Instant) {
        while self.step(now) {}
    }

    /// Does one thing. False: nothing is left to do.
    fn step(&mut self, now: Instant) -> bool {
        match &mut self.reading {
            Reading::Over => {
                self.input.clear();
                false
            }
            Reading::Untaken { .. } => false,
            Reading::Head { .. } => self.step_head(now),
            Reading::Body(body) => {
                let events = &mut self.events;
                let came = self.input.len();
                let read = body.read(&mut self.input, |piece| {
                    let len = piece.len();
                    events.push(ServerEvent::Body(piece), len);
                });
                let is_over = body.is_over();
                self.body_came(came, now);
                match read {
                    Err(fault) => {
                        self.fail(fault.into(), now);
                        true
                    }
                    Ok(()) if is_over => self.body_end(),
                    Ok(()) => false,
                }
            }
            Reading::Rest { body, left } => {
                let came = self.input.len();
                let mut over = false;
                let read = body.read(&mut self.input, |piece| {
                    over |= piece.len() > *left;
                    *left = left.saturating_sub(piece.len());
                });
                let is_over = body.is_over();
                self.body_came(came, now);
                match read {
                    Err(fault) => self.reading = Reading::linger(Closed::Fault(fault)),
                    Ok(()) if over => self.reading = Reading::linger(Closed::Local),
                    Ok(()) if is_over => return self.body_end(),
                    Ok(()) => return false,
                }
                true
            }
            Reading::Answered => self.step_answered(now),
            Reading::Linger { left, until, why } => {
                let came = self.input.len();
                self.input.skip(came);
                let spent = came > *left;
                *left = left.saturating_sub(came);
                if spent || (self.ended && self.out.is_empty()) {
                    let why = why.clone();
                    self.tell_done();
                    self.finish(why);
                } else if self.out.is_empty() && until.is_none() {
                    *until = Some(now.saturating_add(LINGER));
                    self.tell_done();
                }
                false
            }
        }
    }

    fn step_head(&mut self, now: Instant) -> bool {
        let Reading::Head { scan, begun, blank } = &mut self.reading else { return false };
        if self.input.is_empty() {
            return false;
        }
        if !*begun {
            *begun = true;
            self.read_since = now;
        }
        if *blank < BLANK_LINES {
            match self.input.unread() {
                [b'\r'] => return false,
                [b'\r', b'\n', ..] => {
                    *blank += 1;
                    *begun = false;
                    self.input.skip(2);
                    return true;
                }
                _ => {}
            }
        }
        match parse::request(scan, self.input.unread(), &self.limits) {
            Ok(None) => return false,
            Ok(Some((request, len))) => {
                self.input.skip(len);
                self.begin(request, now);
            }
            Err(refusal) => self.fail(refusal, now),
        }
        true
    }

    fn begin(&mut self, request: Request, now: Instant) {
        self.asked = Asked::by(&request.head.verb);
        self.old = request.old;
        self.last = (!request.keep).then_some(Closed::Eof);
        self.answer = Answer::Due;
        self.read_since = now;
        let length = match &request.body {
            Incoming::Length(length) => Some(*length),
            Incoming::Chunks(_) | Incoming::ToEnd => None,
        };
        let bytes = request.head.fields.retained_bytes() + request.head.target.len();
        self.events.push(ServerEvent::Head { head: request.head, length }, bytes);
        self.reading = Reading::Untaken { body: request.body, expects: request.expects };
        if length == Some(0) {
            self.body_end();
        }
    }

    fn body_end(&mut self) -> bool {
        self.events.push(ServerEvent::BodyEnd, 0);
        self.reading = Reading::Answered;
        true
    }

    /// The request is here; once the answer has left, the next one is looked for.
    fn step_answered(&mut self, now: Instant) -> bool {
        if self.answer != Answer::Complete || !self.out.is_empty() {
            return false;
        }
        let last = if self.ended { Some(Closed::Eof) } else { None };
        match self.last.take().or(last) {
            None => {
                self.tell_done();
                self.reading = Reading::next();
                self.read_since = now;
            }
            Some(why) if self.input.is_empty() => {
                self.tell_done();
                self.finish(why);
            }
            Some(why) => self.reading = Reading::linger(why),
        }
        true
    }

    fn tell_done(&mut self) {
        if self.answer == Answer::Complete && self.out.is_empty() {
            self.answer = Answer::None;
            self.events.push(ServerEvent::Done, 0);
        }
    }

    /// The request cannot be understood: says so, if no answer was begun, and ends the connection.
    pub(super) fn fail(&mut self, refusal: Refusal, now: Instant) {
        let why = Closed::Fault(refusal.fault);
        match self.answer {
            Answer::None | Answer::Due => {
                self.answer = Answer::None;
                self.begin_write(now);
                self.out.append(|block| write::refusal(block, refusal));
                self.reading = Reading::linger(why);
            }
            Answer::Complete => self.reading = Reading::linger(why),
            Answer::Open(_) => self.finish(why),
        }
    }
}
