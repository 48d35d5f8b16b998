//! The served half over HTTP, in virtual time: `http::Endpoint` above an `h1::Server` for each connection.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use sanswire::http::endpoint::{Effect, EndpointConfig, SessionHandle};
use sanswire::http::h1::{self, ServerEvent};
use sanswire::http::{HttpHandle, endpoint};
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::{ListKind, Notice, PeerRequestHandle, Reply, RequestHandle};
use sanswire::{Instant, Machine as _};
use sanswire_tests::peer::Written;

use super::BEGIN;
use super::app::{App, Half};
use super::web::Side;
use crate::served;

type Machine = sanswire::http::Endpoint;

impl Half for Machine {
    type Of = SessionHandle;

    fn respond(&mut self, of: SessionHandle, request: RequestHandle, reply: &Reply, now: Instant) {
        // What is refused is an answer to what was given up.
        let _ = Self::respond(self, of, request, reply, now);
    }

    fn notify(&mut self, of: SessionHandle, request: RequestHandle, notice: &Notice, now: Instant) {
        let _ = Self::notify(self, of, request, notice, now);
    }

    fn ask(
        &mut self,
        of: SessionHandle,
        request: RequestHandle,
        input: &InputRequest,
        now: Instant,
    ) -> Option<PeerRequestHandle> {
        self.request_input(of, request, input, now).ok()
    }

    fn grow(&mut self, now: Instant) {
        let mut catalog = self.catalog().clone();
        served::grow(&mut catalog);
        self.set_catalog(catalog);
        self.list_changed(ListKind::Tools, now);
    }

    fn stop(&mut self, drain: Duration, now: Instant) {
        self.shutdown(drain, now);
    }
}

struct Conn {
    machine: h1::Server,
    /// The exchange that is open on it.
    exchange: Option<HttpHandle>,
    /// What it was sent and did not read yet.
    unread: Vec<u8>,
}

/// An endpoint with its application and its connections.
pub(super) struct Endpoint {
    endpoint: Machine,
    app: App<SessionHandle>,
    conns: BTreeMap<u64, Conn>,
    exchanges: u64,
    out: VecDeque<Written>,
}

impl Endpoint {
    pub(super) fn new() -> Self {
        let config = EndpointConfig::new(served::config());
        let mut endpoint = endpoint::Endpoint::new(config, [9; 32], BEGIN).unwrap();
        endpoint.set_catalog(served::catalog());
        Self { endpoint, app: App::new(), conns: BTreeMap::new(), exchanges: 0, out: VecDeque::new() }
    }

    fn advance(&mut self, now: Instant) {
        loop {
            let mut busy = false;
            for number in self.conns.keys().copied().collect::<Vec<_>>() {
                busy |= self.turn(number, now);
            }
            while let Some(effect) = self.endpoint.poll_effect() {
                busy = true;
                self.carry_out(effect, now);
            }
            while let Some((session, event)) = self.endpoint.poll_event() {
                busy = true;
                self.app.handle_event(&mut self.endpoint, session, &event, now);
            }
            if !busy {
                return;
            }
        }
    }

    /// What one connection has to read, to tell and to write.
    fn turn(&mut self, number: u64, now: Instant) -> bool {
        let Some(conn) = self.conns.get_mut(&number) else { return false };
        let mut busy = false;
        if !conn.unread.is_empty() && conn.machine.wants_read() {
            let taken = conn.machine.handle_input(&conn.unread, now);
            conn.unread.drain(..taken);
            busy = true;
        }
        while let Some(event) = conn.machine.poll_event() {
            busy = true;
            match event {
                ServerEvent::Head { head, length } => {
                    self.exchanges += 1;
                    let exchange = HttpHandle::numbered(self.exchanges);
                    conn.exchange = Some(exchange);
                    self.endpoint.handle_head(exchange, head, length, now);
                }
                ServerEvent::Body(piece) => {
                    if let Some(exchange) = conn.exchange {
                        self.endpoint.handle_body(exchange, piece, now);
                    }
                }
                ServerEvent::BodyEnd => {
                    if let Some(exchange) = conn.exchange {
                        self.endpoint.handle_body_end(exchange, now);
                    }
                }
                ServerEvent::Done => conn.exchange = None,
                ServerEvent::Closed(_) => {
                    if let Some(exchange) = conn.exchange.take() {
                        self.endpoint.handle_gone(exchange, now);
                    }
                    self.conns.remove(&number);
                    self.out.push_back(Written { conn: number, bytes: Vec::new(), ends: true });
                    return true;
                }
                _ => panic!("an event that nobody knows: {event:?}"),
            }
        }
        let bytes = conn.machine.transmit().to_vec();
        if !bytes.is_empty() {
            busy = true;
            conn.machine.handle_written(bytes.len(), now);
            self.out.push_back(Written { conn: number, bytes, ends: false });
        }
        busy
    }

    fn carry_out(&mut self, effect: Effect, now: Instant) {
        let exchange = match &effect {
            Effect::TakeBody { exchange }
            | Effect::Respond { exchange, .. }
            | Effect::Send { exchange, .. }
            | Effect::End { exchange }
            | Effect::Close { exchange } => *exchange,
            _ => panic!("an effect that nobody knows: {effect:?}"),
        };
        let conn = self.conns.values_mut().find(|conn| conn.exchange == Some(exchange));
        let Some(Conn { machine, .. }) = conn else { return };
        match effect {
            Effect::TakeBody { .. } => machine.take_body(now),
            Effect::Respond { head, body, .. } => machine.respond(&head, body, now).unwrap(),
            Effect::Send { piece, .. } => machine.send(piece, now).unwrap(),
            Effect::End { .. } => machine.end(now),
            _ => machine.close(now),
        }
    }
}

impl Side for Endpoint {
    fn handle_input(&mut self, conn: u64, bytes: &[u8], now: Instant) {
        let new = || Conn {
            machine: h1::Server::new(h1::Limits::default(), now),
            exchange: None,
            unread: Vec::new(),
        };
        self.conns.entry(conn).or_insert_with(new).unread.extend_from_slice(bytes);
        self.advance(now);
    }

    fn handle_gone(&mut self, conn: u64, now: Instant) {
        if let Some(conn) = self.conns.get_mut(&conn) {
            conn.machine.handle_eof(now);
            conn.machine.handle_write_closed(now);
        }
        self.advance(now);
        if let Some(Conn { exchange: Some(exchange), .. }) = self.conns.remove(&conn) {
            self.endpoint.handle_gone(exchange, now);
        }
        self.advance(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        for conn in self.conns.values_mut() {
            conn.machine.handle_timeout(now);
        }
        self.endpoint.handle_timeout(now);
        self.app.handle_timeout(&mut self.endpoint, now);
        self.advance(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let conns = self.conns.values().filter_map(|conn| conn.machine.poll_timeout());
        conns.chain(self.endpoint.poll_timeout()).chain(self.app.poll_timeout()).min()
    }

    fn poll_output(&mut self) -> Option<Written> {
        self.out.pop_front()
    }

    fn is_deaf(&self) -> bool {
        false
    }

    fn record(&self) -> Vec<String> {
        self.app.record.clone()
    }
}
