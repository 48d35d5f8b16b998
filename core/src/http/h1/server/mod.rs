//! The server's side of a connection.

mod answer;
mod reading;

use alloc::vec::Vec;
use core::fmt;
use core::mem;
use core::time::Duration;

use bytes::Bytes;

use super::events::Events;
use super::input::Input;
use super::parse::Asked;
use super::write;
use super::{Closed, Fault, Limits};
use crate::http::head::RequestHead;
use crate::machine::Machine;
use crate::outbox::Waiting;
use crate::time::{Instant, Monotonic};
use answer::Answer;
use reading::Reading;

/// The server's side of one connection: one exchange after the other; requests that are sent ahead wait.
///
/// A request that cannot be understood is answered by the machine itself (400, 408, 413, 431, 501, 505), and the
/// connection ends. The end of the client's output while an answer is open counts as its going away.
///
/// Where the connection ends although the client may still be sending, it lingers: what comes is read and dropped, in
/// bounds of time and bytes, since a connection that is closed on unread bytes is reset, and the reset may overtake the
/// answer.
pub struct Server {
    limits: Limits,
    clock: Monotonic,
    input: Input,
    out: Waiting,
    events: Events<ServerEvent>,
    reading: Reading,
    answer: Answer,
    asked: Asked,
    /// The client speaks HTTP/1.0.
    old: bool,
    /// Why the connection ends with this exchange, if it does.
    last: Option<Closed>,
    /// The client sends nothing more.
    ended: bool,
    /// When a head, or a wait for one, began; when a body last brought something.
    read_since: Instant,
    /// By then a body is to have brought more.
    body_until: Instant,
    /// When the peer last took something, or something began to wait.
    write_since: Instant,
    closed: Option<Closed>,
}

/// What a deadline is for.
enum Timer {
    Idle,
    Head,
    Body,
    Linger,
    Write,
}

/// While a request is answered, so much of what comes behind it is read ahead; the end of the connection is seen only
/// there, or by who asks the system.
const READ_AHEAD: usize = 16 * 1024;
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
    /// The end of the request. Comes for every `Head`, unless the answer or the connection ends first.
    BodyEnd,
    /// The answer has left whole. The connection is ready for the next request, unless `Closed` follows.
    Done,
    /// The connection is over. The last event. An exchange that is open is cut short: the client is gone.
    Closed(Closed),
}

/// How far it is, and lengths: heads hold secrets.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("reading", &self.reading)
            .field("answer", &self.answer)
            .field("unread", &self.input.len())
            .field("queued_out", &self.out.len())
            .finish_non_exhaustive()
    }
}

impl Server {
    /// A connection that waits for its first request.
    #[must_use]
    pub fn new(limits: Limits, now: Instant) -> Self {
        Self {
            input: Input::new(limits.max_head_bytes),
            limits,
            clock: Monotonic::new(now),
            out: Waiting::default(),
            events: Events::new(),
            reading: Reading::next(),
            answer: Answer::None,
            asked: Asked::Other,
            old: false,
            last: None,
            ended: false,
            read_since: now,
            body_until: now,
            write_since: now,
            closed: None,
        }
    }

    /// Takes the body of the request whose head was told: a client that waits for 100 (Continue) is sent it. Without
    /// this no byte of a body is read; an answer may be given instead, which then ends the connection if a body is
    /// left unread that is longer than a few KiB.
    pub fn take_body(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        if !matches!(self.reading, Reading::Untaken { .. }) {
            return;
        }
        if let Reading::Untaken { body, expects } = mem::replace(&mut self.reading, Reading::Over) {
            if expects && self.input.is_empty() {
                self.begin_write(now);
                self.out.append(write::go_on);
            }
            self.reading = Reading::Body(body);
            self.body_awaited(now);
            self.advance(now);
        }
    }

    /// Since when it waits for a request of which nothing has come, if it does: it can be closed then without a loss, but
    /// for a request that is on its way.
    #[must_use]
    pub fn idle_since(&self) -> Option<Instant> {
        let waits = matches!(self.reading, Reading::Head { begun: false, .. }) && self.answer == Answer::None;
        (waits && self.out.is_empty() && self.input.is_empty()).then_some(self.read_since)
    }

    /// Whether so much has come behind the request that is answered that no more is read for now. Then only a driver that
    /// asks the system sees that the client is gone, or has ended its output: it tells that by
    /// [`handle_eof`](Machine::handle_eof).
    #[must_use]
    pub fn is_full(&self) -> bool {
        let waits = matches!(self.reading, Reading::Untaken { .. } | Reading::Answered);
        waits && !self.ended && !self.wants_read()
    }

    /// Bytes that wait to be written.
    #[must_use]
    pub fn queued_out_bytes(&self) -> usize {
        self.out.len()
    }

    /// Takes no further request: the connection ends with the answer that is open, or at once.
    pub fn shutdown(&mut self, now: Instant) {
        self.clock.advance(now);
        if self.answer == Answer::None {
            if !matches!(self.reading, Reading::Linger { .. }) {
                self.finish(Closed::Local);
            }
        } else {
            self.last.get_or_insert(Closed::Local);
        }
    }

    /// Ends the connection at once; an answer that is open is cut short so that the client sees it.
    pub fn close(&mut self, now: Instant) {
        self.clock.advance(now);
        self.finish(Closed::Local);
    }

    /// Whether nothing more will be sent, and the connection stays for a moment only so that the client can read what
    /// was. A driver that can end its own direction alone does it now: the client then sees the end at once.
    #[must_use]
    pub fn is_lingering(&self) -> bool {
        matches!(self.reading, Reading::Linger { .. }) && self.out.is_empty()
    }

    /// Bytes that are held.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        let head = if let Reading::Head { scan, .. } = &self.reading { scan.retained_bytes() } else { 0 };
        self.input.retained_bytes() + self.out.retained_bytes() + self.events.retained_bytes() + head
    }

    /// Lets go of buffers that are not needed now.
    pub fn release(&mut self) {
        self.input.release();
        self.out.release();
        self.events.release();
    }

    fn finish(&mut self, why: Closed) {
        let before = mem::replace(&mut self.reading, Reading::Over);
        if matches!(before, Reading::Over) {
            return;
        }
        let why = if let Reading::Linger { why, .. } = before { why } else { why };
        self.answer = Answer::None;
        self.out.clear();
        self.input.clear();
        self.closed = Some(why);
    }

    /// The next deadline, and what is due then.
    fn deadline(&self) -> Option<(Instant, Timer)> {
        let after = |limit: Duration| self.read_since.saturating_add(limit);
        let read = match &self.reading {
            Reading::Head { begun: true, .. } => Some((after(self.limits.head), Timer::Head)),
            Reading::Head { .. } => Some((after(self.limits.idle), Timer::Idle)),
            Reading::Body(_) | Reading::Rest { .. } => {
                self.wants_read().then(|| (after(self.limits.stall).min(self.body_until), Timer::Body))
            }
            Reading::Linger { until, .. } => until.map(|until| (until, Timer::Linger)),
            Reading::Untaken { .. } | Reading::Answered | Reading::Over => None,
        };
        let write = (!self.out.is_empty())
            .then(|| (self.write_since.saturating_add(self.limits.stall), Timer::Write));
        [read, write].into_iter().flatten().min_by_key(|(at, _)| *at)
    }
}

impl Machine for Server {
    type Event = ServerEvent;

    fn read_buffer(&mut self) -> &mut Vec<u8> {
        self.input.read_buffer()
    }

    fn handle_read(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        self.input.appended();
        self.advance(now);
    }

    fn handle_eof(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        self.ended = true;
        let gone = match &self.reading {
            Reading::Over => return,
            Reading::Head { .. } if self.input.is_empty() => Closed::Eof,
            Reading::Head { .. } | Reading::Body(_) => Closed::Fault(Fault::Truncated),
            // The answer is on its way: a client that ended its own direction alone reads it.
            Reading::Rest { .. } => {
                self.reading = Reading::linger(Closed::Eof);
                return self.advance(now);
            }
            Reading::Answered if self.answer == Answer::Complete => return,
            Reading::Linger { .. } => return self.advance(now),
            Reading::Untaken { .. } | Reading::Answered => Closed::Eof,
        };
        self.finish(gone);
    }

    fn handle_write_closed(&mut self, now: Instant) {
        self.clock.advance(now);
        self.finish(Closed::Unread);
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        let Some((at, timer)) = self.deadline() else { return };
        if at > now {
            return;
        }
        match timer {
            Timer::Idle | Timer::Linger => self.finish(Closed::Local),
            Timer::Head => self.fail(Fault::Slow.into(), now),
            Timer::Body if self.answer == Answer::Due => self.fail(Fault::Slow.into(), now),
            Timer::Body | Timer::Write => self.finish(Closed::Fault(Fault::Slow)),
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
        if self.out.is_empty() {
            self.advance(now);
        }
    }

    fn poll_event(&mut self) -> Option<ServerEvent> {
        let was_full = matches!(self.reading, Reading::Body(_)) && !self.wants_read();
        let event = self.events.pop().or_else(|| self.closed.take().map(ServerEvent::Closed));
        if was_full && self.wants_read() {
            // While events waited, nobody read.
            self.body_awaited(self.clock.latest());
        }
        event
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadline().map(|(at, _)| at)
    }

    fn wants_read(&self) -> bool {
        if self.ended {
            return false;
        }
        match self.reading {
            Reading::Over => false,
            Reading::Untaken { .. } | Reading::Answered => self.input.len() < READ_AHEAD,
            Reading::Body(_) => !self.events.is_full(self.limits.max_queued_event_bytes),
            Reading::Head { .. } | Reading::Rest { .. } | Reading::Linger { .. } => true,
        }
    }
}
