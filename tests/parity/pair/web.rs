//! A client over HTTP and its peer, with the bytes of every connection between them: `http::Client` above `h1::Client`s.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use sanswire::client::{
    Config, Event, InputAnswers, InputRequired, PeerRequestHandle, RequestHandle, RequestOptions,
};
use sanswire::error::ApiError;
use sanswire::http::client::{Effect, End, Target};
use sanswire::http::h1::{self, Body, ClientEvent, Closed};
use sanswire::http::{Client, HttpHandle, Url};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::input::InputAnswer;
use sanswire::mcp::{Method, Revision};
use sanswire::{Instant, Machine as _};
use sanswire_pair::watch::Ledger;
use sanswire_tests::peer::{HttpPeer, Written};

use super::endpoint::Endpoint;
use super::{BEGIN, Wire};
use crate::scripted::{Controls, Flags, server};

/// How often one instant may be gone over before it counts as spinning.
const MAX_ROUNDS: usize = 1_000_000;
/// What a connection takes of a peer that reads nothing.
const CAPACITY: usize = 64 * 1024;

/// The other side, as bytes of its connections.
pub(super) trait Side {
    fn handle_input(&mut self, conn: u64, bytes: &[u8], now: Instant);
    /// The client ended a connection.
    fn handle_gone(&mut self, conn: u64, now: Instant);
    fn handle_timeout(&mut self, now: Instant);
    fn poll_timeout(&self) -> Option<Instant>;
    fn poll_output(&mut self) -> Option<Written>;
    /// It reads nothing now.
    fn is_deaf(&self) -> bool;
    fn record(&self) -> Vec<String>;
}

/// The peer that shares no code with the machines.
struct Scripted {
    peer: HttpPeer,
    controls: Rc<Controls>,
}

impl Side for Scripted {
    fn handle_input(&mut self, conn: u64, bytes: &[u8], now: Instant) {
        self.peer.handle_input(conn, bytes, now);
    }

    fn handle_gone(&mut self, conn: u64, now: Instant) {
        self.peer.handle_gone(conn, now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.peer.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.peer.poll_timeout()
    }

    fn poll_output(&mut self) -> Option<Written> {
        if self.controls.forget.take() {
            self.peer.forget_sessions();
        }
        self.peer.poll_output()
    }

    fn is_deaf(&self) -> bool {
        self.controls.deaf.get()
    }

    fn record(&self) -> Vec<String> {
        std::iter::once("start".to_owned()).chain(self.peer.record.iter().cloned()).collect()
    }
}

pub(super) fn scripted(
    config: Config,
    revision: Revision,
    flags: &[String],
    nth: usize,
) -> impl Wire + 'static {
    let controls = Rc::new(Controls::default());
    let peer = HttpPeer::new(server(revision, Flags::of(flags, nth), &controls));
    join(config, Scripted { peer, controls })
}

pub(super) fn served(config: Config) -> impl Wire + 'static {
    join(config, Endpoint::new())
}

fn join<S: Side>(config: Config, peer: S) -> Web<S> {
    let target = Target::new(Url::parse("http://127.0.0.1:8000/mcp").unwrap());
    Web {
        client: Client::new(config, target, [7; 32], BEGIN).unwrap(),
        peer,
        conns: BTreeMap::new(),
        last: 0,
        now: BEGIN,
        events: Vec::new(),
        ledger: Ledger::default(),
        log: Vec::new(),
    }
}

/// A connection, which carries one exchange.
struct Conn {
    machine: h1::Client,
    exchange: HttpHandle,
    /// What the peer wrote and the client did not read yet.
    arrived: Vec<u8>,
    /// The peer ended it.
    ended: bool,
    /// What the peer did not read, since it reads nothing.
    unread: usize,
    told_end: bool,
}

struct Web<S> {
    client: Client,
    peer: S,
    conns: BTreeMap<u64, Conn>,
    last: u64,
    now: Instant,
    events: Vec<(Instant, Event)>,
    ledger: Ledger<RequestHandle>,
    log: Vec<(Instant, String)>,
}

impl<S: Side> Web<S> {
    fn settle(&mut self) {
        self.client.handle_timeout(self.now);
        self.peer.handle_timeout(self.now);
        for conn in self.conns.values_mut() {
            conn.machine.handle_timeout(self.now);
        }
        for _ in 0..MAX_ROUNDS {
            let mut busy = self.effects();
            for number in self.conns.keys().copied().collect::<Vec<_>>() {
                busy |= self.turn(number);
            }
            busy |= self.peer_writes();
            busy |= self.take_events();
            if !busy {
                let next = self.client.poll_timeout();
                assert!(next.is_none_or(|next| next > self.now), "drained, and the deadline is not ahead");
                return;
            }
        }
        panic!("it spins\n{}", self.report());
    }

    fn effects(&mut self) -> bool {
        let mut busy = false;
        while let Some(effect) = self.client.poll_effect() {
            busy = true;
            match effect {
                Effect::Open { exchange, head, body, .. } => {
                    self.last += 1;
                    let mut machine = h1::Client::new(h1::Limits::default(), self.now);
                    self.log
                        .push((self.now, format!("{} opens {}", self.last, String::from_utf8_lossy(&body))));
                    let body = if body.is_empty() { Body::Empty } else { Body::Whole(body) };
                    machine.request(&head, body, self.now).unwrap();
                    let conn = Conn {
                        machine,
                        exchange,
                        arrived: Vec::new(),
                        ended: false,
                        unread: 0,
                        told_end: false,
                    };
                    self.conns.insert(self.last, conn);
                }
                Effect::Close { exchange } => {
                    let number = self.conns.iter().find(|(_, conn)| conn.exchange == exchange);
                    if let Some(number) = number.map(|(number, _)| *number) {
                        self.hang_up(number);
                    }
                }
                _ => panic!("an effect that nobody knows: {effect:?}"),
            }
        }
        busy
    }

    /// The client's side of a connection ends.
    fn hang_up(&mut self, number: u64) {
        self.log.push((self.now, format!("{number} is closed by the client")));
        self.conns.remove(&number);
        self.peer.handle_gone(number, self.now);
    }

    /// What one connection can do now.
    fn turn(&mut self, number: u64) -> bool {
        let Some(conn) = self.conns.get_mut(&number) else { return false };
        let mut busy = false;
        let deaf = self.peer.is_deaf();
        let room = if deaf { CAPACITY - conn.unread } else { usize::MAX };
        let len = conn.machine.transmit().len().min(room);
        if len > 0 {
            let bytes = conn.machine.transmit()[..len].to_vec();
            conn.machine.handle_written(len, self.now);
            if deaf {
                conn.unread += len;
            } else {
                self.peer.handle_input(number, &bytes, self.now);
            }
            busy = true;
        }
        if conn.machine.wants_read() && self.client.wants_input() {
            if !conn.arrived.is_empty() {
                let taken = conn.machine.handle_input(&conn.arrived, self.now);
                conn.arrived.drain(..taken);
                busy = true;
            } else if conn.ended && !std::mem::replace(&mut conn.told_end, true) {
                conn.machine.handle_eof(self.now);
                busy = true;
            }
        }
        let exchange = conn.exchange;
        let mut over = false;
        while let Some(event) = conn.machine.poll_event() {
            busy = true;
            match event {
                ClientEvent::Sent => self.client.handle_sent(exchange, self.now),
                ClientEvent::Head(head) => self.client.handle_head(exchange, &head, self.now),
                ClientEvent::Body(piece) => self.client.handle_body(exchange, piece, self.now),
                ClientEvent::End => {
                    over = true;
                    self.client.handle_end(exchange, End::Whole, self.now);
                    break;
                }
                ClientEvent::Closed(reason) => {
                    over = true;
                    let end =
                        if let Closed::Fault(fault) = reason { End::Faulty(fault) } else { End::Broken };
                    self.client.handle_end(exchange, end, self.now);
                    break;
                }
                _ => panic!("an event that nobody knows: {event:?}"),
            }
        }
        if over {
            self.hang_up(number);
        }
        busy
    }

    fn peer_writes(&mut self) -> bool {
        let mut busy = false;
        while let Some(written) = self.peer.poll_output() {
            busy = true;
            self.log.push((self.now, format!("{} brings {}", written.conn, excerpt(&written.bytes))));
            if let Some(conn) = self.conns.get_mut(&written.conn) {
                conn.arrived.extend_from_slice(&written.bytes);
                conn.ended |= written.ends;
            }
        }
        busy
    }

    fn take_events(&mut self) -> bool {
        let before = self.events.len();
        while let Some(event) = self.client.poll_event() {
            let finished = if let Event::Finished { request, .. } = &event { Some(*request) } else { None };
            self.ledger.event(finished, matches!(event, Event::Closed(_)));
            self.log
                .push((self.now, format!("the client tells {}", excerpt(format!("{event:?}").as_bytes()))));
            self.events.push((self.now, event));
        }
        if self.ledger.is_closed() {
            // A runtime keeps no connection for a client that is over.
            for number in self.conns.keys().copied().collect::<Vec<_>>() {
                self.hang_up(number);
            }
        }
        self.events.len() > before
    }

    fn next_at(&self) -> Option<Instant> {
        let conns = self.conns.values().filter_map(|conn| conn.machine.poll_timeout());
        conns.chain(self.client.poll_timeout()).chain(self.peer.poll_timeout()).min()
    }
}

fn excerpt(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(240)]).into_owned()
}

impl<S: Side> Wire for Web<S> {
    fn now(&self) -> Instant {
        self.now
    }

    fn step(&mut self) -> bool {
        let told = self.events.len();
        self.settle();
        if self.events.len() > told {
            // What comes of that may be done before time passes.
            return true;
        }
        let Some(next) = self.next_at() else { return false };
        self.now = self.now.max(next);
        self.settle();
        true
    }

    fn run_to(&mut self, to: Instant) {
        self.settle();
        while let Some(next) = self.next_at().filter(|next| *next <= to) {
            self.now = self.now.max(next);
            self.settle();
        }
        self.now = self.now.max(to);
        self.settle();
    }

    fn events(&self) -> &[(Instant, Event)] {
        &self.events
    }

    fn record(&self) -> Vec<String> {
        self.peer.record()
    }

    fn report(&self) -> String {
        let mut out = String::new();
        for (at, line) in &self.log {
            let _ = writeln!(out, "{:>12} {line}", at.as_micros());
        }
        out
    }

    fn request(
        &mut self,
        method: Method,
        params: RawJson,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        let request = self.client.request(method, Some(params), options, self.now)?;
        self.ledger.accept(request);
        Ok(request)
    }

    fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        let request = self.client.resume(from, answers, options, self.now)?;
        self.ledger.accept(request);
        Ok(request)
    }

    fn cancel(&mut self, request: RequestHandle) -> Result<(), ApiError> {
        self.client.cancel(request, None, self.now)
    }

    fn answer(&mut self, peer: PeerRequestHandle, answer: &InputAnswer) -> Result<(), ApiError> {
        self.client.answer(peer, answer, self.now)
    }

    fn close(&mut self) {
        self.client.close(self.now);
    }
}
