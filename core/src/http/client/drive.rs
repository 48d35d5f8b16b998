//! What a runtime tells a client, and takes from it.

use alloc::vec::Vec;

use bytes::Bytes;

use crate::client::Event;
use crate::error::{CloseReason, Violation};
use crate::exchange::{
    Effect as SessionEffect, ExchangeEnd, ExchangeHandle, HttpRefusal, Origin, RefusedFor,
};
use crate::frame::{Frame, SseDecoder, SseItem};
use crate::http::client::answer::{self, Media};
use crate::http::client::calls::Place;
use crate::http::client::wire::{Reading, Role};
use crate::http::client::{Client, End};
use crate::http::h1::Fault;
use crate::http::head::{HttpHandle, ResponseHead};
use crate::http::url::Url;
use crate::jsonrpc::{self, Message, RequestId};
use crate::time::{Instant, earliest};

/// So many items of a stream are looked at together.
const MAX_ITEMS: usize = 32;

impl Client {
    /// See [`handle_sent`](Self::handle_sent).
    pub(super) fn sent(&mut self, exchange: HttpHandle, now: Instant) {
        let now = self.clock.advance(now);
        if let Some(wire) = self.wires.get_mut(&exchange)
            && !core::mem::replace(&mut wire.sent, true)
            && let Role::Call(handle) = wire.role
        {
            self.session.handle_sent(handle, now);
        }
    }

    /// See [`handle_head`](Self::handle_head).
    pub(super) fn head(&mut self, exchange: HttpHandle, head: &ResponseHead, now: Instant) {
        let now = self.clock.advance(now);
        // What goes before the answer is none.
        if head.status < 200 {
            return;
        }
        let Some(wire) = self.wires.get(&exchange).filter(|wire| matches!(wire.reading, Reading::Head))
        else {
            return;
        };
        let role = wire.role;
        let redirect = matches!(head.status, 300..=399).then(|| answer::redirect(&wire.url, head));
        self.sent(exchange, now);
        if let Some(to) = redirect {
            self.redirected(exchange, role, to, head.status, now);
            return self.carry_out(now);
        }
        match role {
            Role::Call(handle) => self.call_head(exchange, handle, head, now),
            Role::Resume(handle) => self.resume_head(exchange, handle, head, now),
            Role::Tools(handle) => {
                let fine = matches!(head.status, 200..=299) && answer::coding(&head.fields).is_none();
                let reading = match answer::media(&head.fields) {
                    Media::Json if fine => Reading::whole(head.status),
                    Media::Events if fine => self.events(),
                    Media::Json | Media::Events | Media::Other(_) => {
                        self.pass_by(exchange);
                        self.refetch_failed(handle, now);
                        return self.carry_out(now);
                    }
                };
                self.read_on(exchange, reading);
            }
            Role::Push => self.push_head(exchange, head, now),
            Role::Old => self.old_head(exchange, head, now),
            Role::Delete | Role::Done => self.pass_by(exchange),
        }
        self.carry_out(now);
    }

    fn redirected(
        &mut self,
        from: HttpHandle,
        role: Role,
        to: Result<Url, HttpRefusal>,
        status: u16,
        now: Instant,
    ) {
        let limit = self.target.max_redirects;
        let to = if to.is_ok() && self.hops(from) >= limit {
            Err(HttpRefusal { status, why: RefusedFor::TooManyRedirects(limit) })
        } else {
            to
        };
        match to {
            Ok(url) => {
                let to = self.open_again(from, url);
                match (role, to) {
                    (Role::Call(handle) | Role::Resume(handle), Some(to)) => {
                        if let Some(call) = self.calls.get_mut(handle) {
                            call.place = Place::On(to);
                        }
                    }
                    (Role::Tools(handle), to) => self.refetching_moved(handle, to),
                    (Role::Push, to) => self.push_redirected(to),
                    (Role::Old, to) => self.old_redirected(to),
                    _ => {}
                }
            }
            Err(refusal) => {
                self.pass_by(from);
                match role {
                    Role::Call(handle) => self.call_ended(handle, ExchangeEnd::Refused(refusal), now),
                    Role::Resume(handle) => self.call_ended(handle, ExchangeEnd::Broken, now),
                    Role::Tools(handle) => self.refetch_failed(handle, now),
                    Role::Push => self.push_ended(true, now),
                    Role::Old => self.old_failed(refusal, None, now),
                    Role::Delete | Role::Done => {}
                }
            }
        }
    }

    pub(super) fn events(&self) -> Reading {
        Reading::Events(SseDecoder::new(self.session.config().limits.max_message_bytes).into())
    }

    /// What comes behind a head is read so.
    pub(super) fn read_on(&mut self, wire: HttpHandle, reading: Reading) {
        if let Some(wire) = self.wires.get_mut(&wire) {
            self.reading =
                (self.reading + reading.retained_bytes()).saturating_sub(wire.reading.retained_bytes());
            wire.reading = reading;
        }
    }

    /// The head of the answer to a GET that fetches the rest of an answer.
    fn resume_head(&mut self, wire: HttpHandle, handle: ExchangeHandle, head: &ResponseHead, now: Instant) {
        let fine = matches!(head.status, 200..=299) && answer::coding(&head.fields).is_none();
        if fine && answer::media(&head.fields) == Media::Events {
            let reading = self.events();
            return self.read_on(wire, reading);
        }
        self.pass_by(wire);
        if matches!(head.status, 500..=599) && head.status != 501 {
            self.stream_ended(handle, ExchangeEnd::Broken, false, now);
        } else {
            self.call_ended(handle, ExchangeEnd::Broken, now);
        }
    }

    /// See [`handle_body`](Self::handle_body).
    pub(super) fn body(&mut self, exchange: HttpHandle, piece: Bytes, now: Instant) {
        let now = self.clock.advance(now);
        let limit = self.session.config().limits.max_message_bytes;
        let Some(wire) = self.wires.get_mut(&exchange) else { return };
        let role = wire.role;
        let before = wire.reading.retained_bytes();
        match &mut wire.reading {
            Reading::Head => {}
            Reading::Drain(..) => self.passed_by(exchange, piece.len()),
            Reading::Whole { content, .. } => {
                content.push(piece, limit);
                self.read_more(exchange, before, now);
            }
            Reading::Challenge { content, .. } => {
                content.push(piece, limit);
                let enough = Self::is_enough(content);
                self.read_more(exchange, before, now);
                if enough {
                    self.challenge_read(exchange, now);
                }
            }
            Reading::Events(_) => self.read_events(exchange, role, &piece, now),
        }
        self.carry_out(now);
    }

    /// A piece of a stream of events: what it brings is told step by step, until nothing more is wanted of it.
    fn read_events(&mut self, exchange: HttpHandle, role: Role, piece: &Bytes, now: Instant) {
        let mut at = 0;
        let mut items = Vec::new();
        while at < piece.len()
            && let Some(wire) = self.wires.get_mut(&exchange).filter(|wire| wire.role == role)
            && let Reading::Events(decoder) = &mut wire.reading
        {
            let before = size_of::<SseDecoder>() + decoder.retained_bytes();
            at = decoder.feed_some(piece, at, MAX_ITEMS);
            items.extend(core::iter::from_fn(|| decoder.poll()));
            self.read_more(exchange, before, now);
            for item in items.drain(..) {
                self.item(exchange, role, item, now);
            }
        }
    }

    /// More of an answer is held than before. All that are being read share a bound: past it the one that grew is not
    /// read on, as if it alone were too long.
    fn read_more(&mut self, exchange: HttpHandle, before: usize, now: Instant) {
        let Some(wire) = self.wires.get(&exchange) else { return };
        let after = wire.reading.retained_bytes();
        self.reading = (self.reading + after).saturating_sub(before);
        let limits = &self.session.config().limits;
        let most = limits.max_queued_event_bytes.saturating_add(limits.max_message_bytes.saturating_mul(2));
        if self.reading <= most || after <= before {
            return;
        }
        let (Role::Call(handle) | Role::Resume(handle)) = wire.role else {
            if let Role::Tools(handle) = wire.role {
                self.close_wire(exchange);
                self.refetch_failed(handle, now);
            }
            return;
        };
        self.close_wire(exchange);
        let id = handle.request_id().and_then(|id| i64::try_from(id).ok()).map(RequestId::from);
        let frame = Frame::TooLong { id, has_method: false, len: after as u64 };
        self.session.handle_message(Origin::Exchange(handle), frame, now);
        self.call_ended(handle, ExchangeEnd::Broken, now);
    }

    fn challenge_read(&mut self, exchange: HttpHandle, now: Instant) {
        let Some(wire) = self.wires.get_mut(&exchange) else { return };
        let role = wire.role;
        self.reading = self.reading.saturating_sub(wire.reading.retained_bytes());
        let Reading::Challenge { challenge, content } = core::mem::replace(&mut wire.reading, Reading::Head)
        else {
            return;
        };
        self.pass_by(exchange);
        self.challenged(role, challenge, &content, now);
    }

    /// What an event stream brought.
    fn item(&mut self, exchange: HttpHandle, role: Role, item: SseItem, now: Instant) {
        // What came before may have been the end of it.
        if self.wires.get(&exchange).is_none_or(|wire| wire.role != role) {
            return;
        }
        let most = self.target.max_retry;
        match (item, role) {
            (SseItem::Event { name, data }, Role::Old) => self.old_event(name.as_deref(), data, now),
            (SseItem::Event { name, .. }, _) if name.as_deref().is_some_and(|name| name != "message") => {}
            (SseItem::Event { data, .. }, Role::Call(handle) | Role::Resume(handle)) => {
                if let Some(call) = self.calls.get_mut(handle) {
                    call.cursor.brought();
                }
                self.deliver(handle, data, false, now);
            }
            (SseItem::Event { data, .. }, Role::Tools(handle)) => {
                // Notices may come first.
                if self.is_reply(&data) {
                    self.pass_by(exchange);
                    self.refetched(handle, data, now);
                }
            }
            (SseItem::Event { data, .. }, Role::Push) => self.pushed(data, now),
            (SseItem::LastId(id), Role::Call(handle) | Role::Resume(handle)) => {
                if let Some(call) = self.calls.get_mut(handle) {
                    call.cursor.set_id(id);
                }
            }
            (SseItem::LastId(id), Role::Push) => self.legacy.push.cursor.set_id(id),
            (SseItem::Retry(millis), Role::Call(handle) | Role::Resume(handle)) => {
                if let Some(call) = self.calls.get_mut(handle) {
                    call.cursor.set_retry(millis, most);
                }
            }
            (SseItem::Retry(millis), Role::Push) => self.legacy.push.cursor.set_retry(millis, most),
            (_, Role::Old | Role::Tools(_) | Role::Delete | Role::Done) => {}
        }
    }

    /// See [`handle_end`](Self::handle_end).
    pub(super) fn end(&mut self, exchange: HttpHandle, end: End, now: Instant) {
        let now = self.clock.advance(now);
        if matches!(self.wires.get(&exchange).map(|wire| &wire.reading), Some(Reading::Challenge { .. })) {
            self.challenge_read(exchange, now);
        }
        let Some(wire) = self.take_wire(exchange) else { return };
        let whole = end == End::Whole;
        let broken = match end {
            // What fetches the rest of an answer says nothing of the call, which has left long ago.
            End::Unreachable if !wire.sent && !matches!(wire.role, Role::Resume(_)) => {
                ExchangeEnd::Unreachable
            }
            End::Faulty(fault) if fault != Fault::Truncated => ExchangeEnd::Faulty(fault),
            End::Whole | End::Broken | End::Faulty(_) | End::Unreachable => ExchangeEnd::Broken,
        };
        match (wire.role, wire.reading) {
            (Role::Done | Role::Delete, _) => {}
            (Role::Call(handle), Reading::Whole { status, content }) => {
                self.whole(handle, status, content, (!whole).then_some(broken), now);
            }
            (Role::Call(handle) | Role::Resume(handle), Reading::Events(_)) => {
                let end = if whole { ExchangeEnd::Finished } else { broken };
                self.stream_ended(handle, end, true, now);
            }
            (Role::Resume(handle), _) => self.stream_ended(handle, broken, false, now),
            (Role::Call(handle), _) => self.call_ended(handle, broken, now),
            (Role::Tools(handle), Reading::Whole { content, .. }) if whole => match content.into_frame() {
                Some(frame) => self.refetched(handle, frame, now),
                None => self.refetch_failed(handle, now),
            },
            (Role::Tools(handle), _) => self.refetch_failed(handle, now),
            (Role::Push, _) => self.push_ended(false, now),
            (Role::Old, _) => {
                let reason = if let ExchangeEnd::Faulty(fault) = broken {
                    CloseReason::Protocol(Violation::Http(fault))
                } else if broken == ExchangeEnd::Unreachable {
                    CloseReason::Unreachable
                } else {
                    CloseReason::Eof
                };
                self.old_over(reason, now);
            }
        }
        self.carry_out(now);
    }

    /// See [`handle_timeout`](Self::handle_timeout).
    pub(super) fn time_is(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        self.session.handle_timeout(now);
        self.carry_out(now);
        self.close_drained(now);
        self.resume_due(now);
        self.push_due(now);
        self.listening_due(now);
        if self.flush_until.is_some_and(|until| until <= now) {
            self.close_all(|_| true);
        }
        self.carry_out(now);
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let first = |at: Option<Instant>, then: Option<Instant>| earliest(at, then);
        let flush = self.flush_until.filter(|_| !self.wires.is_empty());
        let drain = self.drains.first().map(|(at, _)| *at);
        let resume = self.resumes.first().map(|(at, _)| *at);
        let listening = self.listens_until();
        [drain, resume, listening, self.legacy.push.at, self.session.poll_timeout()]
            .into_iter()
            .fold(flush, first)
    }

    /// Whether there is an effect to take.
    #[must_use]
    pub fn has_effects(&self) -> bool {
        !self.effects.is_empty()
    }

    /// The next event, oldest first; `Closed` is the last, once everything has left or been given up.
    pub fn poll_event(&mut self) -> Option<Event> {
        let over = matches!(self.session.peek_event(), Some(Event::Closed(_)));
        if over && !(self.wires.is_empty() && self.effects.is_empty()) {
            return None;
        }
        self.session.poll_event()
    }

    /// Whether bodies should be read. False is back-pressure: events wait to be taken. Once the session is over, what is
    /// said to its last words is read still.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        if self.session.close_reason().is_some() {
            !self.wires.is_empty()
        } else {
            self.session.wants_input()
        }
    }

    /// Bytes that are held: answers that are being read, messages that may have to be sent again, what waiting events
    /// keep alive, and what listings said of arguments.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        let cursors: usize = self.calls.iter().map(|call| call.cursor.heap_bytes()).sum();
        self.reading
            + self.calls.kept_bytes()
            + cursors
            + self.tools.bytes()
            + self.session.queued_event_bytes()
    }

    /// Does what the session wants.
    pub(super) fn carry_out(&mut self, now: Instant) {
        self.note_revision();
        while let Some(effect) = self.session.poll_effect() {
            self.note_revision();
            match effect {
                SessionEffect::Send(exchange) => self.send(exchange),
                SessionEffect::Abort { exchange, notice } => self.abort(exchange, notice),
            }
        }
        if self.flush_until.is_none()
            && let Some(local) = self.session.close_reason().map(|reason| *reason == CloseReason::Local)
        {
            self.wind_up(local, now);
        }
    }

    /// The session is over. What tells the server so may still leave, if it was we who ended it.
    fn wind_up(&mut self, local: bool, now: Instant) {
        let patience = self.session.config().limits.close_flush;
        self.flush_until = Some(now.saturating_add(patience));
        self.resumes.clear();
        self.legacy.push.at = None;
        self.close_all(|role| !(local && matches!(role, Role::Call(_))));
        self.calls.clear();
        if local {
            self.end_session();
        }
        self.legacy.forget();
    }

    /// Whether a message is none of the kinds that come before a reply.
    fn is_reply(&self, frame: &Frame) -> bool {
        let depth = self.session.config().limits.max_json_depth;
        match frame {
            Frame::Message(frame) => {
                let message = jsonrpc::parse(frame.clone(), depth);
                !matches!(message, Ok(Message::Notification { .. } | Message::Request { .. }))
            }
            Frame::TooLong { has_method, .. } => !has_method,
        }
    }

    fn close_all(&mut self, which: impl Fn(Role) -> bool) {
        let all: Vec<HttpHandle> =
            self.wires.iter().filter(|(_, wire)| which(wire.role)).map(|(handle, _)| *handle).collect();
        for handle in all {
            self.close_wire(handle);
        }
    }
}
