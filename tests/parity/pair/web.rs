//! A client over HTTP with its connections, and its peer, with the bytes of every connection between them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use sanswire::Instant;
use sanswire::client::{
    Config, Event, InputAnswers, InputRequired, Link as _, PeerRequestHandle, RequestHandle, RequestOptions,
};
use sanswire::error::ApiError;
use sanswire::http::client::Target;
use sanswire::http::pool::{Action, ConnectionHandle};
use sanswire::http::{Client, Pool, Url, h1};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::input::InputAnswer;
use sanswire::mcp::{Method, Revision};
use sanswire_pair::watch::Ledger;
use sanswire_tests::peer::{HttpPeer, Written};

use super::site::Site;
use super::{BEGIN, Wire};
use crate::scripted::{Controls, Flags, server};

/// How often one instant may be gone over before it counts as spinning.
const MAX_ROUNDS: usize = 1_000_000;
/// How many connections there may be, as the runtimes have it.
const MOST: usize = 64;
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
    join(config, Site::new())
}

fn join<S: Side>(config: Config, peer: S) -> Web<S> {
    let target = Target::new(Url::parse("http://127.0.0.1:8000/mcp").unwrap());
    let client = Client::new(config, target, [7; 32], BEGIN).unwrap();
    Web {
        pool: Pool::new(client, h1::Limits::default(), MOST, BEGIN),
        peer,
        conns: BTreeMap::new(),
        now: BEGIN,
        events: Vec::new(),
        ledger: Ledger::default(),
        log: Vec::new(),
    }
}

/// What is between the two ends of a connection.
#[derive(Default)]
struct Conn {
    /// What the peer wrote and the client did not read yet.
    arrived: Vec<u8>,
    /// The peer ended it.
    ended: bool,
    /// What the peer did not read, since it reads nothing.
    unread: usize,
    told_end: bool,
}

struct Web<S> {
    pool: Pool,
    peer: S,
    conns: BTreeMap<ConnectionHandle, Conn>,
    now: Instant,
    events: Vec<(Instant, Event)>,
    ledger: Ledger<RequestHandle>,
    log: Vec<(Instant, String)>,
}

impl<S: Side> Web<S> {
    fn settle(&mut self) {
        self.pool.handle_timeout(self.now);
        self.peer.handle_timeout(self.now);
        for _ in 0..MAX_ROUNDS {
            let mut busy = self.act();
            for connection in self.conns.keys().copied().collect::<Vec<_>>() {
                busy |= self.write(connection) | self.read(connection);
            }
            busy |= self.peer_writes();
            busy |= self.take_events();
            if !busy {
                let next = self.pool.poll_timeout();
                assert!(next.is_none_or(|next| next > self.now), "drained, and the deadline is not ahead");
                return;
            }
        }
        panic!("it spins\n{}", self.report());
    }

    /// Does what the pool wants done.
    fn act(&mut self) -> bool {
        self.pool.carry_out(self.now);
        let mut busy = false;
        while let Some(action) = self.pool.poll_action() {
            busy = true;
            match action {
                Action::Dial { connection, to, .. } => {
                    assert_eq!(to.to_string(), "http://127.0.0.1:8000");
                    self.conns.insert(connection, Conn::default());
                    self.pool.handle_connected(connection, self.now);
                }
                Action::Write { connection } => drop(self.write(connection)),
                Action::Look { connection } => {
                    self.read(connection);
                    self.pool.handle_looked(connection, self.now);
                }
                Action::KeepAlive { .. } => {}
                Action::Close { connection } => self.hang_up(connection),
                _ => panic!("an action that nobody knows: {action:?}"),
            }
            self.pool.carry_out(self.now);
        }
        busy
    }

    /// The client's side of a connection ends.
    fn hang_up(&mut self, connection: ConnectionHandle) {
        self.log.push((self.now, format!("{connection:?} is closed by the client")));
        self.conns.remove(&connection);
        self.peer.handle_gone(connection.number(), self.now);
    }

    fn write(&mut self, connection: ConnectionHandle) -> bool {
        let Some(conn) = self.conns.get_mut(&connection) else { return false };
        let deaf = self.peer.is_deaf();
        let room = if deaf { CAPACITY - conn.unread } else { usize::MAX };
        let bytes = self.pool.transmit(connection);
        let bytes = bytes[..bytes.len().min(room)].to_vec();
        if bytes.is_empty() {
            return false;
        }
        self.log.push((self.now, format!("{connection:?} takes {}", excerpt(&bytes))));
        self.pool.handle_written(connection, bytes.len(), self.now);
        if deaf {
            conn.unread += bytes.len();
        } else {
            self.peer.handle_input(connection.number(), &bytes, self.now);
        }
        true
    }

    /// One read of what has arrived.
    fn read(&mut self, connection: ConnectionHandle) -> bool {
        let Some(conn) = self.conns.get_mut(&connection) else { return false };
        if !self.pool.wants_read(connection) {
            return false;
        }
        if conn.arrived.is_empty() {
            let ends = conn.ended && !std::mem::replace(&mut conn.told_end, true);
            if ends {
                self.pool.handle_eof(connection, false, self.now);
            }
            return ends;
        }
        let Some(buffer) = self.pool.read_buffer(connection) else { return false };
        let len = conn.arrived.len().min(buffer.capacity() - buffer.len());
        assert!(len > 0, "it wants to read and has no room");
        buffer.extend(conn.arrived.drain(..len));
        self.pool.handle_read(connection, self.now);
        true
    }

    fn peer_writes(&mut self) -> bool {
        let mut busy = false;
        while let Some(written) = self.peer.poll_output() {
            busy = true;
            self.log.push((self.now, format!("{} brings {}", written.conn, excerpt(&written.bytes))));
            if let Some(conn) = self.conns.get_mut(&ConnectionHandle::numbered(written.conn)) {
                conn.arrived.extend_from_slice(&written.bytes);
                conn.ended |= written.ends;
            }
        }
        busy
    }

    fn take_events(&mut self) -> bool {
        let before = self.events.len();
        while let Some(event) = self.pool.client_mut().poll_event() {
            let finished = if let Event::Finished { request, .. } = &event { Some(*request) } else { None };
            self.ledger.event(finished, matches!(event, Event::Closed(_)));
            self.log
                .push((self.now, format!("the client tells {}", excerpt(format!("{event:?}").as_bytes()))));
            self.events.push((self.now, event));
        }
        if self.ledger.is_closed() {
            self.pool.shut_down(self.now);
        }
        self.events.len() > before
    }

    fn next_at(&self) -> Option<Instant> {
        self.pool.poll_timeout().into_iter().chain(self.peer.poll_timeout()).min()
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
        let request = self.pool.client_mut().request(method, Some(params), options, self.now)?;
        self.ledger.accept(request);
        Ok(request)
    }

    fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        let request = self.pool.client_mut().resume(from, answers, options, self.now)?;
        self.ledger.accept(request);
        Ok(request)
    }

    fn cancel(&mut self, request: RequestHandle) -> Result<(), ApiError> {
        self.pool.client_mut().cancel(request, None, self.now)
    }

    fn answer(&mut self, peer: PeerRequestHandle, answer: &InputAnswer) -> Result<(), ApiError> {
        self.pool.client_mut().answer(peer, answer, self.now)
    }

    fn close(&mut self) {
        self.pool.client_mut().close(self.now);
    }
}
