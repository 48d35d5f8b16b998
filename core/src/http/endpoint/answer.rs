//! What sessions send, as answers of HTTP: JSON where that is all there is to say, else a stream of events.

use alloc::vec::Vec;

use bytes::Bytes;

use crate::exchange::{ExchangeHandle, Origin};
use crate::frame::{Scanner, write_event};
use crate::http::endpoint::asked::SESSION;
use crate::http::endpoint::exchange::{ALONE, Due, Exchange, State, send};
use crate::http::endpoint::streams::{self, Way};
use crate::http::endpoint::{Effect, Endpoint, ReplyShape};
use crate::http::fields::{Fields, Span};
use crate::http::h1::Body;
use crate::http::head::{HttpHandle, ResponseHead};
use crate::jsonrpc::RequestId;
use crate::mcp::{Revision, codes};
use crate::server::{self, error_message};
use crate::time::Instant;

/// A message that is at least so long is not copied into its event.
const LONG: usize = 16 * 1024;

/// Why something is refused at the level of HTTP.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) why: &'static str,
    pub(super) field: Option<(&'static str, &'static str)>,
    /// The setting that decides it.
    pub(super) setting: Option<&'static str>,
}

impl Refused {
    pub(super) const fn new(status: u16, why: &'static str) -> Self {
        Self { status, why, field: None, setting: None }
    }

    pub(super) const fn by_setting(setting: &'static str, why: &'static str) -> Self {
        Self { setting: Some(setting), ..Self::new(403, why) }
    }
}

const fn json_head(status: u16) -> ResponseHead {
    const TEXT: &[u8] = b"Content-Type: application/json\r\n";
    const SPANS: [Span; 1] = Span::of_lines(TEXT);
    ResponseHead { status, fields: Fields::fixed(TEXT, &SPANS) }
}

/// Spec: MCP 2026-07-28 basic/transports, "Sending Messages to the Server"; HTML, section 9.2.
pub(super) const fn events_head() -> ResponseHead {
    const TEXT: &[u8] =
        b"Content-Type: text/event-stream\r\nCache-Control: no-cache, no-store\r\nX-Accel-Buffering: no\r\n";
    const SPANS: [Span; 3] = Span::of_lines(TEXT);
    ResponseHead { status: 200, fields: Fields::fixed(TEXT, &SPANS) }
}

impl Endpoint {
    /// Refuses what came on an exchange that is not answered yet.
    pub(super) fn refuse(&mut self, n: u64, refused: Refused, bodiless: bool) {
        self.respond_with_error(n, &refused, None, bodiless);
    }

    pub(super) fn respond_with_error(
        &mut self,
        n: u64,
        refused: &Refused,
        id: Option<&RequestId>,
        bodiless: bool,
    ) {
        let mut head = json_head(refused.status);
        if let Some((name, value)) = refused.field {
            head.fields.add(name, value);
        }
        let message = error_message(id, codes::INVALID_REQUEST, refused.why, None);
        self.answer_whole(n, head, if bodiless { Body::Empty } else { Body::Whole(message.into()) });
    }

    /// The whole answer, which is the end of the exchange.
    pub(super) fn answer_whole(&mut self, n: u64, mut head: ResponseHead, body: Body) {
        self.open_to_page(n, &mut head);
        if let Some(exchange) = self.remove(n) {
            self.tell_session(&exchange, &mut head);
        }
        self.effects.push(Effect::Respond { exchange: HttpHandle::numbered(n), head, body });
    }

    /// The answer to `initialize` tells the id of the session.
    fn tell_session(&self, exchange: &Exchange, head: &mut ResponseHead) {
        if exchange.opens
            && let Some(served) = self.sessions.get(exchange.session)
        {
            head.fields.add(SESSION, &served.id);
        }
    }

    /// What a session wants sent.
    pub(super) fn carry(&mut self, session: u64, effect: server::Effect) {
        let server::Effect::Send { to, message, last, status } = effect;
        let Origin::Exchange(exchange) = to else {
            return message.map_or((), |message| self.push(session, message));
        };
        let n = exchange.number();
        let way = self.sessions.get(session).and_then(|served| served.streams.way(n));
        match way {
            None => self.answer(n, session, message, last, status),
            Some(way) => {
                if let (Way::Stream(stream), Some(message)) = (way, message) {
                    self.deliver(session, stream, message);
                }
                if last {
                    self.finish(session, n);
                }
            }
        }
    }

    /// Sends on an exchange on which no stream of a session's was begun.
    fn answer(&mut self, n: u64, session: u64, message: Option<Bytes>, last: bool, status: u16) {
        let slow = self.is_slow(n);
        let Some(exchange) = self.exchanges.get_mut(&n) else { return };
        let accepts = exchange.accepts;
        let gathered = match &mut exchange.state {
            State::Waiting(gathered) => gathered,
            // Notices of a request are not taken that far, so these are of a subscription.
            State::Events(_) if !last && slow => {
                return self.modern.end_subscription(ExchangeHandle::numbered(n));
            }
            State::Events(_) => {
                if let Some(message) = message {
                    self.send_event(n, None, message);
                }
                if last {
                    self.end(n);
                }
                return;
            }
            State::Reading(_) => return,
        };
        let Some(message) = message else {
            return match gathered.take().filter(|all| all.len() > 1) {
                Some(all) => self.answer_json(n, status, Some(all), Bytes::new()),
                None => self.answer_nothing(n, status),
            };
        };
        let as_json = !accepts.events || accepts.json && self.config.replies == ReplyShape::Json;
        if last && (as_json || status != 200) {
            let all = gathered.take();
            self.answer_json(n, status, all, message);
        } else if last && session == ALONE {
            let event = Bytes::from(event(None, &message));
            self.answer_whole(n, events_head(), Body::Whole(event));
        } else if accepts.events {
            self.begin(n);
            let effect = server::Effect::Send {
                to: Origin::Exchange(ExchangeHandle::numbered(n)),
                message: Some(message),
                last,
                status,
            };
            self.carry(session, effect);
        } else if is_answer(&message) {
            let all = gathered.get_or_insert_with(|| b"[".to_vec());
            gather(all, &message, self.server.limits.max_message_bytes);
            let bytes = all.capacity();
            self.outbound.set(n, bytes);
        }
    }

    fn answer_json(&mut self, n: u64, status: u16, gathered: Option<Vec<u8>>, message: Bytes) {
        let (status, body) = match gathered {
            None => (status, message),
            // A batch that is none has one answer, and no list of them.
            Some(all) if all.len() == 1 && status != 200 => (status, message),
            Some(mut all) => {
                if !message.is_empty() {
                    gather(&mut all, &message, self.server.limits.max_message_bytes);
                }
                all.push(b']');
                self.outbound.set(n, 0);
                (200, all.into())
            }
        };
        self.answer_whole(n, json_head(status), Body::Whole(body));
    }

    /// There is nothing to say, or nothing more: a notification was taken, or a request was cancelled.
    fn answer_nothing(&mut self, n: u64, status: u16) {
        let head = match status {
            200 if self.takes_events(n) => events_head(),
            200 => ResponseHead::new(202),
            status => ResponseHead::new(status),
        };
        self.answer_whole(n, head, Body::Empty);
    }

    /// Begins a stream of events.
    pub(super) fn begin(&mut self, n: u64) {
        let Some(exchange) = self.exchanges.get(&n) else { return };
        let (session, mut head) = (exchange.session, events_head());
        self.tell_session(exchange, &mut head);
        self.open_to_page(n, &mut head);
        let exchange = HttpHandle::numbered(n);
        self.effects.push(Effect::Respond { exchange, head, body: Body::Stream });
        let stream = self.sessions.get_mut(session).map(|served| served.streams.open(Some(n), n));
        if let Some(exchange) = self.exchanges.get_mut(&n) {
            exchange.state = State::Events(stream);
            exchange.quiet = self.clock.latest();
        }
        if let Some(stream) = stream {
            self.prime(n, session, stream, 0);
        }
    }

    /// The first event of a stream says only where it begins, for clients that come back if it breaks off at once.
    /// Older clients may fail on an event without data.
    ///
    /// Spec: MCP 2025-11-25 basic/transports, "Sending Messages to the Server".
    pub(super) fn prime(&mut self, n: u64, session: u64, stream: u64, place: u64) {
        let Some(served) = self.sessions.get(session) else { return };
        if served.streams.have_ids() && served.session.legacy_revision() == Some(Revision::V2025_11_25) {
            let mut piece = Vec::new();
            write_event(&mut piece, None, Some(&streams::id(stream, place)), b"");
            self.send_piece(n, piece.into());
        }
    }

    /// Puts a message on a stream of a session's, and sends it if somebody reads there.
    pub(super) fn deliver(&mut self, session: u64, stream: u64, message: Bytes) {
        let Some(served) = self.sessions.get_mut(session) else { return };
        let id = served.streams.append(stream, &message);
        if let Some(carrier) = served.streams.carrier(stream) {
            self.send_event(carrier, id.as_deref(), message);
        }
    }

    pub(super) fn send_event(&mut self, n: u64, id: Option<&str>, message: Bytes) {
        if message.len() < LONG {
            return self.send_piece(n, event(id, &message).into());
        }
        let mut front = Vec::new();
        if let Some(id) = id {
            front.extend_from_slice(b"id: ");
            front.extend_from_slice(id.as_bytes());
            front.push(b'\n');
        }
        front.extend_from_slice(b"data: ");
        self.send_piece(n, front.into());
        // It ends in LF, and has no other.
        self.send_piece(n, message);
        self.send_piece(n, Bytes::from_static(b"\n"));
    }

    pub(super) fn send_piece(&mut self, n: u64, piece: Bytes) {
        let Some(exchange) = self.exchanges.get_mut(&n) else { return };
        exchange.queued += piece.len();
        exchange.quiet = self.clock.latest();
        self.effects.push(send(n, piece));
    }

    /// The end of a stream of events, in good order.
    pub(super) fn end(&mut self, n: u64) {
        if self.remove(n).is_some() {
            self.effects.push(Effect::End { exchange: HttpHandle::numbered(n) });
        }
    }

    /// The request of an exchange is over: so is the stream it was answered on.
    fn finish(&mut self, session: u64, n: u64) {
        let now = self.clock.latest();
        if let Some(served) = self.sessions.get_mut(session) {
            served.heard = now;
        }
        if let Some(carrier) = self.with_streams(session, |streams| streams.finish(n, now)).flatten() {
            self.end(carrier);
        }
    }

    /// Takes an exchange out of all tables.
    pub(super) fn remove(&mut self, n: u64) -> Option<Exchange> {
        self.pages.remove(&n);
        let exchange = self.exchanges.remove(&n)?;
        if let Some(at) = exchange.timer {
            self.timers.remove(at, Due::Exchange(n));
        }
        if let State::Reading(asked) = &exchange.state {
            self.reading -= asked.head_bytes + asked.body.len();
        }
        self.pushing -= usize::from(exchange.pushes);
        let now: Instant = self.clock.latest();
        if let Some(served) = self.sessions.get_mut(exchange.session) {
            served.exchanges -= 1;
            served.heard = now;
        }
        Some(exchange)
    }
}

fn event(id: Option<&str>, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 64);
    write_event(&mut out, None, id, message);
    out
}

/// Adds an answer to those of its batch, which become one JSON text: no longer than one message may be, and an error for
/// each answer that would make it so. One that would be too long by itself never comes here.
fn gather(all: &mut Vec<u8>, message: &[u8], limit: usize) {
    let mut message = message.trim_ascii_end();
    let error;
    if all.len() > 1 {
        if all.len() + message.len() + 2 > limit {
            let mut scanner = Scanner::new();
            scanner.feed(message);
            error = error_message(scanner.finish().0.as_ref(), codes::INTERNAL_ERROR, TOO_LONG, None);
            message = error.trim_ascii_end();
        }
        all.push(b',');
    }
    let needed = all.len() + message.len() + 1;
    if needed > all.capacity() {
        all.reserve_exact((2 * needed).min(limit.max(needed)) - all.len());
    }
    all.extend_from_slice(message);
}

/// What is said instead of an answer that makes those of its batch too long.
const TOO_LONG: &str = "the answers to this batch are too long together; ask in smaller batches, or accept \
                        text/event-stream, which brings each by itself";

/// Whether a message of our own making answers something, and is no notification.
fn is_answer(message: &[u8]) -> bool {
    !message.starts_with(br#"{"jsonrpc":"2.0","method""#)
}
