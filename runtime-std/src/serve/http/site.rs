//! All connections of an endpoint, and the endpoint.

mod traffic;

use std::sync::Arc;
use std::time::Duration;

use sanswire::error::ApiError;
use sanswire::http::endpoint::{Effect, SessionHandle};
use sanswire::http::h1::{self, Body, ServerEvent};
use sanswire::http::{Endpoint, HttpHandle};
use sanswire::jsonrpc::ErrorObject;
use sanswire::mcp::codes;
use sanswire::server::kit::{Request, unsendable};
use sanswire::server::{Event, Reply};
use sanswire::{Instant, Machine as _};
use sanswire_system::os::random;
use sanswire_system::serve::Cancel;

use crate::serve::call::{Job, Origin};
use crate::serve::driver::hub::Hub;
use crate::serve::driver::places::{Key, Places};
use crate::serve::http::alarms::Alarms;
use crate::serve::http::connection::Connection;
use crate::serve::http::requests::{Asked, Requests};
use crate::serve::http::{HttpOptions, Refusals};
use crate::serve::server::{Inner, ServeError};

/// So many low bits of an exchange's handle are the place of its connection.
const PLACE_BITS: u32 = 24;

/// The connections of one endpoint: a machine each, and one endpoint for all.
pub(super) struct Site {
    endpoint: Endpoint,
    limits: h1::Limits,
    connections: Places<Connection>,
    requests: Requests,
    /// How many exchanges there were.
    exchanges: u64,
    /// Connections that have something to write or to tell, each once.
    dirty: Vec<Key>,
    alarms: Alarms,
    /// Which connections may have rested for long. They are looked at when one of them is needed.
    rests: Alarms,
    yields_after: Duration,
    refusals: Option<Refusals>,
    drain: Duration,
    close_flush: Duration,
    /// Set once it is to end: by then at the latest all connections are over.
    end: Option<Instant>,
    /// All is answered: what is written may still leave.
    answered: bool,
}

impl Site {
    /// An endpoint of this server's that nobody has come to.
    ///
    /// # Errors
    /// A limit is out of bounds; the system gave no random bytes.
    pub(super) fn open(server: &Inner, options: HttpOptions, now: Instant) -> Result<Self, ServeError> {
        let seed = random().map_err(ServeError::System)?;
        let mut limits = options.connection.clone();
        let (yields_after, refusals) = (options.yields_after, options.refusals.clone());
        let server_limits = &server.config().limits;
        let config = options.endpoint(server.config().clone(), server.serving.max_connections());
        limits.max_queued_out_bytes = limits.max_queued_out_bytes.max(config.max_outbound_bytes);
        let mut endpoint = Endpoint::new(config, seed, now).map_err(ServeError::Config)?;
        endpoint.set_catalog(server.catalog());
        Ok(Self {
            endpoint,
            limits,
            connections: Places::default(),
            requests: Requests::new(server_limits.max_queued_event_bytes),
            exchanges: 0,
            dirty: Vec::new(),
            alarms: Alarms::default(),
            rests: Alarms::default(),
            yields_after,
            refusals,
            drain: server_limits.drain,
            close_flush: server_limits.close_flush,
            end: None,
            answered: false,
        })
    }

    /// There is something to write or to tell on this connection.
    fn soil(&mut self, key: Key) {
        if let Some(connection) = self.connections.get_mut(key)
            && !connection.is_dirty
        {
            connection.is_dirty = true;
            self.dirty.push(key);
        }
    }

    /// Tells the endpoint what the machine of a connection has to tell, and does what follows.
    fn deliver(&mut self, key: Key, now: Instant) {
        while let Some(connection) = self.connections.get_mut(key)
            && let Some(event) = connection.machine.poll_event()
        {
            let exchange = connection.exchange;
            match (event, exchange) {
                (ServerEvent::Head { head, length }, _) => {
                    self.exchanges += 1;
                    let exchange =
                        HttpHandle::numbered(self.exchanges << PLACE_BITS | u64::from(key.place()));
                    connection.exchange = Some(exchange);
                    self.endpoint.handle_head(exchange, head, length, now);
                }
                (ServerEvent::Body(piece), Some(exchange)) => self.endpoint.handle_body(exchange, piece, now),
                (ServerEvent::BodyEnd, Some(exchange)) => self.endpoint.handle_body_end(exchange, now),
                (ServerEvent::Done, exchange) => {
                    let told = connection.leave();
                    if let (Some(exchange), 1..) = (exchange, told) {
                        self.endpoint.set_outbound(exchange, 0, now);
                    }
                }
                (ServerEvent::Closed(_), exchange) => {
                    connection.closed = true;
                    connection.leave();
                    if let Some(exchange) = exchange {
                        self.endpoint.handle_gone(exchange, now);
                    }
                }
                _ => {}
            }
            self.settle(now);
        }
    }

    /// Does what the endpoint wants done, and hands out what it has to tell.
    fn settle(&mut self, now: Instant) {
        // Handed out last: whose call was cancelled meanwhile has to find it so.
        let mut answered = Vec::new();
        loop {
            if let Some(effect) = self.endpoint.poll_effect() {
                self.carry_out(effect, now);
            } else if let Some((session, event)) = self.endpoint.poll_event() {
                match event {
                    Event::Request { request, method, params, context } => {
                        let (origin, cancel) = (Origin::Session(session), Arc::new(Cancel::default()));
                        self.line_up(
                            session,
                            Job { origin, asked: Request { request, method, params, context, cancel } },
                            now,
                        );
                    }
                    Event::Cancelled { request, .. } => self.requests.cancelled((session, request)),
                    Event::Answered { peer, outcome } => {
                        let waiter = self.requests.peers.remove(&(session, peer));
                        answered.extend(waiter.map(|waiter| (waiter, outcome)));
                    }
                    _ => {}
                }
            } else {
                break;
            }
        }
        for (waiter, outcome) in answered {
            drop(waiter.send(outcome));
        }
        if let Some(refusals) = &self.refusals {
            while let Some(refusal) = self.endpoint.poll_refusal() {
                refusals.add(refusal);
            }
        }
    }

    fn line_up(&mut self, session: SessionHandle, job: Job, now: Instant) {
        let asked = (session, job.asked.request);
        if !self.requests.line_up(asked, job) {
            let error =
                ErrorObject::new(codes::INTERNAL_ERROR, "requests of too many bytes wait; try again later");
            self.respond(asked, &Reply::Error(error), now);
        }
    }

    fn carry_out(&mut self, effect: Effect, now: Instant) {
        let (Effect::TakeBody { exchange }
        | Effect::Respond { exchange, .. }
        | Effect::Send { exchange, .. }
        | Effect::End { exchange }
        | Effect::Close { exchange }) = effect
        else {
            return;
        };
        let place = (exchange.number() & ((1 << PLACE_BITS) - 1)) as u32;
        let Some(key) = self.connections.key_at(place) else { return };
        let Some(connection) = self.connections.get_mut(key) else { return };
        if connection.exchange != Some(exchange) {
            return;
        }
        let machine = &mut connection.machine;
        let done = match effect {
            Effect::TakeBody { .. } => {
                machine.take_body(now);
                Ok(())
            }
            Effect::Respond { head, body, .. } => {
                connection.streams = body == Body::Stream;
                machine.respond(&head, body, now)
            }
            Effect::Send { piece, .. } => machine.send(piece, now),
            Effect::End { .. } => {
                machine.end(now);
                Ok(())
            }
            _ => Err(ApiError::Closed),
        };
        if done.is_err() {
            // A client that misses a piece must not take what it has for all of it.
            machine.close(now);
        }
        self.soil(key);
    }

    /// Answers a request, unless it is over.
    fn respond(&mut self, asked: Asked, reply: &Reply, now: Instant) {
        if !self.requests.answered(asked) {
            return;
        }
        match self.endpoint.respond(asked.0, asked.1, reply, now) {
            Ok(()) | Err(ApiError::UnknownRequest | ApiError::Closed) => {}
            Err(error) => {
                let error = ErrorObject::new(codes::INTERNAL_ERROR, unsendable(&error));
                drop(self.endpoint.respond(asked.0, asked.1, &Reply::Error(error), now));
            }
        }
    }

    fn tend_one(&mut self, hub: &Hub, key: Key, now: Instant) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.is_dirty = false;
        loop {
            self.deliver(key, now);
            let Some(connection) = self.connections.get_mut(key) else { return };
            if !connection.write(now) {
                break;
            }
        }
        self.tell_waiting(key, now);
        let Some(connection) = self.connections.get_mut(key) else { return };
        if connection.closed {
            if let Some(connection) = self.connections.remove(key) {
                self.alarms.forget(key, connection.alarm);
                self.rests.forget(key, connection.yields);
                hub.remove(key.to_u64(), &connection.ends);
            }
            return;
        }
        connection.end_output();
        connection.rest();
        let want = connection.wants();
        if want != connection.want {
            connection.want = want;
            hub.want(key.to_u64(), &connection.ends, want);
        }
        connection.alarm = self.alarms.set(key, connection.alarm, connection.machine.poll_timeout());
    }

    /// Tells the endpoint how much of an answer waits to be written, if that changed.
    fn tell_waiting(&mut self, key: Key, now: Instant) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let waits = connection.machine.queued_out_bytes();
        let Some(exchange) = connection.exchange.filter(|_| connection.told != waits) else { return };
        connection.told = waits;
        self.endpoint.set_outbound(exchange, waits, now);
        self.settle(now);
    }

    /// After a stop: ends once all is answered, and what was written has left or had its time.
    fn wind_up(&mut self, end: Instant, now: Instant) {
        if !self.answered && self.endpoint.is_over() {
            self.answered = true;
            self.end = Some(end.min(now.saturating_add(self.close_flush)));
        }
        if self.end.is_some_and(|end| end <= now) {
            for key in self.connections.keys() {
                if let Some(connection) = self.connections.get_mut(key) {
                    connection.closed = true;
                    self.soil(key);
                }
            }
        }
    }
}
