//! What goes back and forth between the connections and the endpoint.

use alloc::sync::Arc;

use crate::error::ApiError;
use crate::http::endpoint::{Effect, SessionHandle};
use crate::http::h1::{self, Body, ServerEvent};
use crate::http::head::HttpHandle;
use crate::http::site::requests::Asked;
use crate::http::site::{PLACE_BITS, Site, UNTOLD_BYTES};
use crate::jsonrpc::ErrorObject;
use crate::machine::Machine as _;
use crate::mcp::codes;
use crate::server::kit::{Cancel, ConnectionKey, Request, unsendable};
use crate::server::{Event, Reply};
use crate::time::Instant;

impl<C: Cancel, W> Site<C, W> {
    /// The runtime is to look at this connection.
    pub(super) fn soil(&mut self, key: ConnectionKey) {
        if let Some(open) = self.connections.get_mut(key)
            && !open.is_dirty
        {
            open.is_dirty = true;
            self.dirty.push(key);
        }
    }

    /// Tells the machine of a connection something, and does what follows.
    pub(super) fn tell(&mut self, key: ConnectionKey, now: Instant, it: impl FnOnce(&mut h1::Server)) {
        if let Some(open) = self.connections.get_mut(key) {
            it(&mut open.machine);
            if !open.is_unheard {
                open.is_unheard = true;
                self.unheard.push(key);
            }
            self.settle(now);
        }
    }

    /// Carries everything to where it belongs, until nothing is left to be carried.
    pub(super) fn settle(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        loop {
            if let Some(effect) = self.endpoint.poll_effect() {
                self.carry_out(effect, now);
            } else if let Some((session, event)) = self.endpoint.poll_event() {
                self.take_in(session, event, now);
            } else if let Some(key) = self.unheard.last() {
                self.hear(*key, now);
            } else if !self.wind_up(now) {
                return;
            }
        }
    }

    /// Tells the endpoint the next that the machine of this connection, the last of those unheard, has to tell.
    fn hear(&mut self, key: ConnectionKey, now: Instant) {
        let Some(open) = self.connections.get_mut(key) else {
            self.unheard.pop();
            return;
        };
        let Some(event) = open.machine.poll_event() else {
            self.unheard.pop();
            open.is_unheard = false;
            open.alarm = self.alarms.set(key, open.alarm, open.machine.poll_timeout());
            return;
        };
        match (event, open.exchange) {
            (ServerEvent::Head { head, length }, _) => {
                self.exchanges += 1;
                let exchange = HttpHandle::numbered(self.exchanges << PLACE_BITS | u64::from(key.place()));
                open.exchange = Some(exchange);
                self.endpoint.handle_head(exchange, head, length, now);
            }
            (ServerEvent::Body(piece), Some(exchange)) => self.endpoint.handle_body(exchange, piece, now),
            (ServerEvent::BodyEnd, Some(exchange)) => self.endpoint.handle_body_end(exchange, now),
            (ServerEvent::Done, exchange) => {
                let told = open.leave();
                if let (Some(exchange), 1..) = (exchange, told) {
                    self.endpoint.set_outbound(exchange, 0, now);
                }
            }
            (ServerEvent::Closed(_), exchange) => {
                open.is_closed = true;
                open.leave();
                if let Some(exchange) = exchange {
                    self.endpoint.handle_gone(exchange, now);
                }
                self.soil(key);
            }
            (ServerEvent::Body(_) | ServerEvent::BodyEnd, None) => {}
        }
    }

    fn take_in(&mut self, session: SessionHandle, event: Event, now: Instant) {
        match event {
            Event::Request { request, method, params, context } => {
                let cancel = Arc::new(C::default());
                self.line_up(session, Request { request, method, params, context, cancel }, now);
            }
            Event::Cancelled { request, .. } => self.requests.cancelled((session, request)),
            Event::Answered { peer, outcome } => self.requests.told(session, peer, outcome),
            Event::Notification { .. } | Event::Violation(_) | Event::Closed(_) => {}
        }
    }

    fn line_up(&mut self, session: SessionHandle, request: Request<C>, now: Instant) {
        let asked = (session, request.request);
        if !self.requests.line_up(session, request) {
            let error =
                ErrorObject::new(codes::INTERNAL_ERROR, "requests of too many bytes wait; try again later");
            self.respond(asked, &Reply::Error(error), now);
        }
    }

    /// Answers a request, unless it is over.
    pub(super) fn respond(&mut self, asked: Asked, reply: &Reply, now: Instant) {
        if !self.requests.answered(asked) {
            return;
        }
        match self.endpoint.respond(asked.0, asked.1, reply, now) {
            Ok(()) | Err(ApiError::UnknownRequest | ApiError::Closed) => {}
            Err(error) => {
                let error = ErrorObject::new(codes::INTERNAL_ERROR, unsendable(&error));
                let _ = self.endpoint.respond(asked.0, asked.1, &Reply::Error(error), now);
            }
        }
    }

    fn carry_out(&mut self, effect: Effect, now: Instant) {
        let (Effect::TakeBody { exchange }
        | Effect::Respond { exchange, .. }
        | Effect::Send { exchange, .. }
        | Effect::End { exchange }
        | Effect::Close { exchange }) = effect;
        let place = (exchange.number() & ((1 << PLACE_BITS) - 1)) as u32;
        let Some(key) = self.connections.key_at(place) else { return };
        let Some(open) = self.connections.get_mut(key) else { return };
        if open.exchange != Some(exchange) {
            return;
        }
        let machine = &mut open.machine;
        let done = match effect {
            Effect::TakeBody { .. } => {
                machine.take_body(now);
                Ok(())
            }
            Effect::Respond { head, body, .. } => {
                open.streams = body == Body::Stream;
                machine.respond(&head, body, now)
            }
            Effect::Send { piece, .. } => machine.send(piece, now),
            Effect::End { .. } => {
                machine.end(now);
                Ok(())
            }
            Effect::Close { .. } => Err(ApiError::Closed),
        };
        if done.is_err() {
            // A client that misses a piece must not take what it has for all of it.
            machine.close(now);
        }
        if !open.is_unheard {
            open.is_unheard = true;
            self.unheard.push(key);
        }
        // Most of it leaves with the next write. What does not may be much, and nobody may come to write for long.
        let waits = machine.queued_out_bytes();
        if waits >= open.told.saturating_add(UNTOLD_BYTES) {
            open.told = waits;
            self.endpoint.set_outbound(exchange, waits, now);
        }
        self.soil(key);
    }

    /// After a shutdown: ends once all is answered, and what was written has left or had its time. Whether anything was cut
    /// off now.
    fn wind_up(&mut self, now: Instant) -> bool {
        let Some(ending) = &mut self.ending else { return false };
        if !ending.answered && self.endpoint.is_over() {
            ending.answered = true;
            ending.by = ending.by.min(now.saturating_add(self.close_flush));
        }
        if ending.cut || ending.by > now {
            return false;
        }
        ending.cut = true;
        for key in self.connections.keys() {
            if let Some(open) = self.connections.get_mut(key) {
                open.machine.close(now);
                if !open.is_unheard {
                    open.is_unheard = true;
                    self.unheard.push(key);
                }
                self.soil(key);
            }
        }
        true
    }
}
