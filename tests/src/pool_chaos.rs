//! The connections of a client over HTTP under a runtime and servers that do anything in any order: dials that fail,
//! writes of any size, connections that end at any byte, answers in any pieces. The body is shared by a test over seeds
//! and by a fuzz target.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{Config, Event, Link as _, Outcome, RequestHandle, RequestOptions};
use sanswire::http::client::Target;
use sanswire::http::pool::{Action, ConnectionHandle};
use sanswire::http::{Client, Pool, Url, h1};
use sanswire::mcp::Method;
use serde_json::{Value, json};

use crate::client::json as raw;
use crate::http_rig::URL;
use crate::peer::discover_result;
use crate::seed::Rng;

/// More than the bound, for what others may wait for.
const RESERVE: usize = 2;

/// What a run came to.
#[derive(Debug, Default, PartialEq)]
pub struct Reached {
    /// Calls that were answered.
    pub complete: usize,
    /// Calls that were lost after something of them had left.
    pub lost: usize,
    /// Calls that ended otherwise.
    pub other: usize,
    /// Connections that were found over when they were looked at.
    pub found_over: usize,
    /// Requests that were put on another connection, since nothing of them had left.
    pub moved: usize,
    /// Attempts to connect that failed.
    pub failed: usize,
    /// The most connections at once, those that were being made included.
    pub most: usize,
    /// All that was asked for, and all that was written, in order.
    pub trace: Vec<String>,
}

/// The other end of one connection.
#[derive(Debug, Default)]
struct Peer {
    /// What it has got and not looked at.
    got: Vec<u8>,
    /// The requests that it has not answered.
    asked: Vec<Value>,
    /// What it says, and has not arrived.
    says: Vec<u8>,
    /// It says nothing more once that has arrived. Whether that is a fault of the stream.
    ends: Option<bool>,
    /// It reads nothing more.
    deaf: bool,
    /// The call that waits to leave, as long as nothing of it has.
    waits: Option<String>,
}

struct World {
    pool: Pool,
    now: Instant,
    most: usize,
    dials: Vec<ConnectionHandle>,
    peers: BTreeMap<ConnectionHandle, Peer>,
    gone: Vec<ConnectionHandle>,
    /// What was accepted, and the tool that only it calls.
    requests: BTreeMap<RequestHandle, String>,
    finished: BTreeSet<RequestHandle>,
    closed: bool,
    /// The tools of calls that were put on a connection, and of those of which a byte has left.
    begun: BTreeSet<String>,
    left: BTreeSet<String>,
    calls: usize,
    reached: Reached,
}

/// Runs a number of steps, and everything to its end.
///
/// # Panics
/// If something does not hold that should.
pub fn run(rng: &mut Rng, steps: usize) -> Reached {
    let mut world = World::new(rng);
    if rng.chance(90) {
        world.open_well(rng);
    }
    for _ in 0..steps {
        world.step(rng);
        if rng.chance(85) {
            world.drain(rng);
        }
    }
    world.wind_up(rng);
    world.reached
}

/// Takes every choice from `data`, and the number of steps from its length.
///
/// # Panics
/// If a rule is broken.
pub fn check_http_pool(data: &[u8]) {
    run(&mut Rng::tape(data), (data.len() / 3).min(400));
}

/// The body of the request that stands at the start of `bytes`, and how long all of it is.
fn request(bytes: &[u8]) -> Option<(Value, usize)> {
    let text = std::str::from_utf8(bytes).unwrap();
    let (head, rest) = text.split_once("\r\n\r\n")?;
    let length = field(head, "content-length").map_or(0, |length| length.parse().unwrap());
    let body = rest.get(..length)?;
    Some((serde_json::from_str(body).unwrap_or_default(), head.len() + 4 + length))
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
}

impl World {
    fn new(rng: &mut Rng) -> Self {
        let mut config = Config::new("chaos", "0");
        config.limits.max_in_flight = *rng.pick(&[3, 64]);
        config.limits.max_queued_events = *rng.pick(&[1, 4096]);
        let now = Instant::from_millis(1000);
        let client = Client::new(config, Target::new(Url::parse(URL).unwrap()), [1; 32], now).unwrap();
        let most = 1 + rng.below(4);
        Self {
            pool: Pool::new(client, h1::Limits::default(), most, now),
            now,
            most,
            dials: Vec::new(),
            peers: BTreeMap::new(),
            gone: Vec::new(),
            requests: BTreeMap::new(),
            finished: BTreeSet::new(),
            closed: false,
            begun: BTreeSet::new(),
            left: BTreeSet::new(),
            calls: 0,
            reached: Reached::default(),
        }
    }

    /// The opening goes well: what comes behind it is what is to be broken.
    fn open_well(&mut self, rng: &mut Rng) {
        self.drain(rng);
        self.dialed(0, false);
        self.drain(rng);
        let Some((connection, peer)) = self.peers.iter_mut().next() else { return };
        let waits = self.pool.transmit(*connection);
        let (asked, len) = request(waits).unwrap();
        self.pool.handle_written(*connection, len, self.now);
        let result = discover_result(&["2026-07-28"]);
        let body = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json";
        peer.says = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
        while self.pool.session().revision().is_none() {
            self.read(*self.peers.keys().next().unwrap(), rng);
        }
        self.drain(rng);
    }

    fn step(&mut self, rng: &mut Rng) {
        let there: Vec<_> = self.peers.keys().copied().collect();
        let some = (!there.is_empty()).then(|| *rng.pick(&there));
        match (rng.below(28), some) {
            (0..=3, _) => self.call(rng),
            (4, _) if !self.requests.is_empty() => {
                let known: Vec<_> = self.requests.keys().copied().collect();
                let _ = self.pool.client_mut().cancel(*rng.pick(&known), None, self.now);
            }
            (5..=7, _) if !self.dials.is_empty() => {
                let place = rng.below(self.dials.len());
                self.dialed(place, rng.chance(15));
            }
            (8..=12, Some(connection)) => self.write(connection, rng),
            (13..=16, Some(connection)) => self.answer(connection, rng),
            (17..=22, Some(connection)) => self.read(connection, rng),
            (23, Some(connection)) => {
                if let Some(peer) = self.peers.get_mut(&connection) {
                    peer.ends.get_or_insert(rng.chance(50));
                }
            }
            (24, Some(connection)) if rng.chance(20) => {
                if let Some(peer) = self.peers.get_mut(&connection).filter(|peer| peer.ends.is_none()) {
                    peer.says.extend_from_slice(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
                }
            }
            (25, _) => self.stale(rng),
            (26, _) if rng.chance(5) => self.pool.cut_off(self.now),
            _ => self.wait(*rng.pick(&[0, 1, 1, 400, 400, 6000, 60_000]), rng),
        }
    }

    fn call(&mut self, rng: &mut Rng) {
        self.calls += 1;
        let name = format!("tool{}", self.calls);
        let text = "x".repeat(rng.below(40_000) * usize::from(rng.chance(20)));
        let params = raw(&json!({"name": name, "arguments": {"text": text}}).to_string());
        let options = RequestOptions::default();
        if let Ok(request) =
            self.pool.client_mut().request(Method::ToolsCall, Some(params), &options, self.now)
        {
            self.requests.insert(request, name);
        }
    }

    fn dialed(&mut self, place: usize, fails: bool) {
        let connection = self.dials.remove(place);
        if fails {
            self.reached.failed += 1;
            self.gone.push(connection);
            self.pool.handle_connect_failed(connection, self.now);
        } else {
            self.peers.insert(connection, Peer::default());
            self.pool.handle_connected(connection, self.now);
        }
    }

    /// Writes some of what waits.
    fn write(&mut self, connection: ConnectionHandle, rng: &mut Rng) {
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        peer.deaf |= rng.chance(2);
        if peer.deaf {
            return self.pool.handle_write_closed(connection, self.now);
        }
        let waits = self.pool.transmit(connection);
        if waits.is_empty() {
            return;
        }
        let len = if rng.chance(60) { waits.len() } else { 1 + rng.below(waits.len()) };
        peer.got.extend_from_slice(&waits[..len]);
        if let Some(tool) = peer.waits.take() {
            assert!(self.left.insert(tool), "something of it had left, and it is sent again");
        }
        if let Some((asked, len)) = request(&peer.got) {
            peer.got.drain(..len);
            peer.asked.push(asked);
        }
        self.reached.trace.push(format!("{connection:?} takes {len}"));
        self.pool.handle_written(connection, len, self.now);
    }

    /// A server answers, in one of the ways that servers have, or nearly.
    fn answer(&mut self, connection: ConnectionHandle, rng: &mut Rng) {
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        if peer.asked.is_empty() || peer.ends.is_some() {
            return;
        }
        let asked = peer.asked.remove(0);
        let opening = asked["method"] == "server/discover";
        let result = if opening {
            discover_result(&["2026-07-28"])
        } else {
            json!({"resultType": "complete", "content": [{"type": "text", "text": "y".repeat(rng.below(900))}]})
        };
        let body = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string();
        let len = body.len();
        let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        let (answer, ends) = match rng.below(12) {
            0 => (format!("{json}Connection: close\r\nContent-Length: {len}\r\n\r\n{body}"), Some(false)),
            1 => (format!("{json}\r\n{body}"), Some(rng.chance(30))),
            2 => (format!("{json}Keep-Alive: timeout=2\r\nContent-Length: {len}\r\n\r\n{body}"), None),
            // It closes without a word of it, as some do.
            3 => (format!("{json}Content-Length: {len}\r\n\r\n{body}"), Some(false)),
            4 if !opening => (
                format!("{json}Content-Length: {}\r\n\r\n{body}", len + 1 + rng.below(9)),
                Some(rng.chance(50)),
            ),
            5 if !opening => ("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n".into(), None),
            6 if !opening => ("250 OK\r\n".into(), None),
            7..=9 => {
                let event = format!("data: {body}\n\n");
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
                let end = if rng.chance(80) { "0\r\n\r\n" } else { "" };
                (format!("{head}{:x}\r\n{event}\r\n{end}", event.len()), None)
            }
            _ => (format!("{json}Content-Length: {len}\r\n\r\n{body}"), None),
        };
        peer.says.extend_from_slice(answer.as_bytes());
        peer.ends = ends;
    }

    /// Some of what a server said arrives, or that it says no more.
    fn read(&mut self, connection: ConnectionHandle, rng: &mut Rng) {
        if !self.pool.wants_read(connection) {
            return;
        }
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        let buffer = self.pool.read_buffer(connection).expect("it is there");
        let room = buffer.capacity() - buffer.len();
        assert!(room > 0, "it wants to be read");
        if peer.says.is_empty() {
            let Some(broken) = peer.ends else { return };
            self.pool.handle_eof(connection, broken, self.now);
            assert!(self.pool.connections().all(|(other, _)| other != connection), "its end was seen");
            return;
        }
        let most = room.min(peer.says.len());
        let len = if rng.chance(70) { most } else { 1 + rng.below(most) };
        buffer.extend(peer.says.drain(..len));
        self.pool.handle_read(connection, self.now);
    }

    /// What was over long ago, or never was, is told of.
    fn stale(&mut self, rng: &mut Rng) {
        self.gone.push(ConnectionHandle::numbered(1_000_000));
        let connection = *rng.pick(&self.gone);
        let before = format!("{:?}", self.pool);
        match rng.below(8) {
            0 => self.pool.handle_written(connection, 1, self.now),
            1 => self.pool.handle_write_closed(connection, self.now),
            2 => self.pool.handle_read(connection, self.now),
            3 => self.pool.handle_eof(connection, false, self.now),
            4 => self.pool.handle_looked(connection, self.now),
            5 => self.pool.handle_connect_failed(connection, self.now),
            6 => self.pool.handle_connected(connection, self.now),
            _ => assert!(self.pool.read_buffer(connection).is_none()),
        }
        assert!(self.pool.transmit(connection).is_empty() && !self.pool.wants_read(connection));
        assert_eq!(format!("{:?}", self.pool), before, "it is as it was");
        if let Some(there) = self.peers.keys().next().copied() {
            // It was not asked for.
            self.pool.handle_looked(there, self.now);
            self.pool.handle_connected(there, self.now);
            assert_eq!(format!("{:?}", self.pool), before, "it is as it was");
        }
    }

    /// The time goes on.
    fn wait(&mut self, millis: u64, rng: &mut Rng) {
        let end = self.now.saturating_add(Duration::from_millis(millis));
        self.drain(rng);
        while let Some(at) = self.pool.poll_timeout().filter(|at| *at <= end) {
            self.now = at.max(self.now);
            self.pool.handle_timeout(self.now);
            self.drain(rng);
            assert!(self.pool.poll_timeout().is_none_or(|next| next > self.now), "it spins");
        }
        self.now = end;
        self.pool.handle_timeout(end);
    }

    /// Does what is asked for, and takes what is told.
    fn drain(&mut self, rng: &mut Rng) {
        loop {
            self.pool.carry_out(self.now);
            let mut acted = false;
            while let Some(action) = self.pool.poll_action() {
                acted = true;
                self.act(action, rng);
            }
            while let Some(event) = self.pool.client_mut().poll_event() {
                acted = true;
                self.told(&event);
            }
            if !acted {
                break;
            }
        }
        assert!(
            self.pool.connections().map(|(it, _)| it).eq(self.peers.keys().copied()),
            "both know of the same connections"
        );
    }

    fn act(&mut self, action: Action, rng: &mut Rng) {
        self.reached.trace.push(format!("{action:?}"));
        match action {
            Action::Dial { connection, to, .. } => {
                assert_eq!(to.to_string(), "https://mcp.example:8443");
                self.dials.push(connection);
                let all = self.dials.len() + self.peers.len();
                assert!(all <= self.most + RESERVE, "more than are allowed");
                self.reached.most = self.reached.most.max(all);
            }
            Action::Write { connection } => {
                let Some(peer) = self.peers.get_mut(&connection) else { return };
                let waits = std::str::from_utf8(self.pool.transmit(connection)).unwrap();
                let Some(tool) = field(waits, "mcp-name") else { return };
                assert!(!self.left.contains(tool), "something of it has left");
                self.reached.moved += usize::from(!self.begun.insert(tool.into()));
                peer.waits = Some(tool.into());
            }
            Action::Look { connection } => {
                let over = self
                    .peers
                    .get(&connection)
                    .is_some_and(|peer| peer.says.is_empty() && peer.ends.is_some());
                self.read(connection, rng);
                self.pool.handle_looked(connection, self.now);
                if over {
                    self.reached.found_over += 1;
                    assert!(self.pool.transmit(connection).is_empty(), "nothing is sent to who is gone");
                }
            }
            Action::KeepAlive { .. } => {}
            Action::Close { connection } => {
                let was = self.peers.remove(&connection).is_some();
                if let Some(place) = self.dials.iter().position(|dial| *dial == connection) {
                    self.dials.remove(place);
                }
                if was {
                    self.gone.push(connection);
                }
            }
            other => panic!("{other:?}"),
        }
    }

    fn told(&mut self, event: &Event) {
        assert!(!self.closed, "nothing comes after the end: {event:?}");
        match event {
            Event::Finished { request, outcome } => {
                assert!(self.finished.insert(*request), "it ended twice");
                let left = self.left.contains(&self.requests[request]);
                match outcome {
                    Outcome::Complete(_) => {
                        assert!(left, "answered and never asked");
                        self.reached.complete += 1;
                    }
                    Outcome::Lost { maybe_ran, .. } => {
                        assert_eq!(*maybe_ran, left, "whether something of it had left");
                        self.reached.lost += usize::from(left);
                        self.reached.other += usize::from(!left);
                    }
                    _ => self.reached.other += 1,
                }
            }
            Event::Closed(_) => self.closed = true,
            _ => {}
        }
    }

    fn wind_up(&mut self, rng: &mut Rng) {
        // Every call has a time after which it is not waited for any more, whatever a runtime does.
        self.wait(1_200_000, rng);
        self.pool.client_mut().close(self.now);
        self.wait(20_000, rng);
        assert!(self.closed, "closed");
        for request in self.requests.keys() {
            assert!(self.finished.contains(request), "{request:?} never ended");
        }
        self.pool.shut_down(self.now);
        self.drain(rng);
        assert!(self.peers.is_empty() && self.dials.is_empty(), "all are closed");
        assert_eq!(self.pool.poll_timeout(), None, "over, and waits for nothing");
    }
}
