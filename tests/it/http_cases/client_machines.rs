//! The client's half without a socket: its machine, a machine for each connection, and a site at the other ends.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use sanswire::client::{Config, Event, Link as _, Outcome, RequestHandle, RequestOptions, Start, Verdict};
use sanswire::http::client::{Effect, End, Target};
use sanswire::http::h1::{self, Body, ClientEvent, Closed};
use sanswire::http::{Client, HttpHandle, Url};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::{Instant, Machine};
use sanswire_tests::http_cases::{Answer, Comes, Reply, Request, SECRET, Site, Then, answers, keeps_secrets};

use super::every_split;

/// Replays the rows of a case, each with every cut.
pub(super) fn replay(case: &str) {
    for row in answers().iter().filter(|row| row.case == case) {
        let mut whole = None;
        for pieces in every_split(&row.bytes) {
            let world = World::run(row, &pieces);
            let way = || format!("{case}, {}, first {} bytes", row.what, pieces[0].len());
            assert_eq!(world.came, row.comes, "{}: {:?}", way(), world.events);
            let Some(whole) = &whole else {
                keeps_secrets(&world.events);
                whole = Some(world.events);
                continue;
            };
            assert_eq!(&world.events, whole, "{}", way());
        }
    }
}

/// A connection.
struct Line {
    machine: h1::Client,
    exchange: Option<HttpHandle>,
    sent: bool,
    /// What the server was sent and has not read yet.
    arrived: Vec<u8>,
}

struct World<'a> {
    client: Client,
    site: Site,
    pieces: &'a [&'a [u8]],
    now: Instant,
    lines: BTreeMap<u64, Line>,
    /// Connections so far.
    dialed: u64,
    /// What the server sends, and on which connection.
    replies: VecDeque<(u64, Reply)>,
    events: Vec<Event>,
    came: Comes,
}

impl<'a> World<'a> {
    fn run(row: &Answer, pieces: &'a [&'a [u8]]) -> Self {
        let mut config = Config::new("replay", "0");
        if row.to.is_legacy() {
            config.start = Start::Remembered(Verdict::Legacy);
        }
        let mut target = Target::new(Url::parse("http://127.0.0.1:8000/mcp").unwrap());
        target.add_field("Authorization", format!("Bearer {SECRET}-token").as_bytes()).unwrap();
        let now = Instant::from_millis(1000);
        let mut world = Self {
            client: Client::new(config, target, [1; 32], now).unwrap(),
            site: Site::new(row),
            pieces,
            now,
            lines: BTreeMap::new(),
            dialed: 0,
            replies: VecDeque::new(),
            events: Vec::new(),
            came: Comes::default(),
        };
        world.settle();
        world.play(row);
        world
    }

    fn play(&mut self, row: &Answer) {
        let (method, id) = row.to.asked();
        let over = |world: &Self| matches!(world.events.last(), Some(Event::Closed(_)));
        if !over(self) {
            for _ in 2..id {
                let before = self.ask("tools/list", "{}");
                assert!(matches!(self.outcome(before), Some(Outcome::Complete(_))));
            }
            let asked = self.ask(method, r#"{"name":"x"}"#);
            self.came.outcome = self.outcome(asked);
        }
        if !over(self) {
            let then = self.ask("tools/list", r#"{"cursor":"afterwards"}"#);
            assert!(
                matches!(self.outcome(then), Some(Outcome::Complete(_))),
                "it goes on: {:?}",
                self.events
            );
        }
        for event in &self.events {
            match event {
                Event::Closed(reason) => self.came.closed = Some(reason.clone()),
                Event::Violation(violation) => self.came.violations.push(violation.clone()),
                Event::Notification { method, .. } => self.came.notices.push(method.to_string()),
                Event::Progress { .. } => self.came.progress += 1,
                _ => {}
            }
        }
        self.came.requests = self.site.requests();
    }

    fn ask(&mut self, method: &str, params: &str) -> RequestHandle {
        let params = RawJson::parse_str(params).unwrap();
        let options = RequestOptions::default();
        let request =
            self.client.request(Method::from_name(method), Some(params), &options, self.now).unwrap();
        self.settle();
        // It may have to wait, but for no deadline of its own.
        let end = self.now.saturating_add(Duration::from_secs(5));
        while self.outcome(request).is_none()
            && let Some(at) = self.client.poll_timeout().filter(|at| *at < end)
        {
            self.now = at;
            self.client.handle_timeout(at);
            self.settle();
        }
        request
    }

    fn outcome(&self, of: RequestHandle) -> Option<Outcome> {
        self.events.iter().find_map(|event| match event {
            Event::Finished { request, outcome } if *request == of => Some(outcome.clone()),
            _ => None,
        })
    }

    /// Does whatever there is to do, as long as there is something.
    fn settle(&mut self) {
        loop {
            self.carry_out();
            let Some((number, reply)) = self.replies.pop_front() else { break };
            if reply.of_the_row {
                for piece in self.pieces {
                    self.receive(number, piece);
                }
            } else {
                self.receive(number, &reply.bytes);
            }
            self.end(number, reply.then);
        }
    }

    fn carry_out(&mut self) {
        loop {
            if let Some(effect) = self.client.poll_effect() {
                match effect {
                    Effect::Open { exchange, to, head, body, .. } => {
                        assert_eq!(to.to_string(), "http://127.0.0.1:8000");
                        let number = self.free();
                        let line = self.lines.get_mut(&number).unwrap();
                        let body = if body.is_empty() { Body::Empty } else { Body::Whole(body) };
                        line.machine.request(&head, body, self.now).unwrap();
                        (line.exchange, line.sent) = (Some(exchange), false);
                        self.send(number);
                    }
                    Effect::Close { exchange } => {
                        self.lines.retain(|_, line| line.exchange != Some(exchange));
                    }
                    _ => panic!("{effect:?}"),
                }
            } else if let Some(event) = self.client.poll_event() {
                self.events.push(event);
            } else {
                break;
            }
        }
    }

    /// A connection that takes a request.
    fn free(&mut self) -> u64 {
        let idle = self.lines.iter().find(|(_, line)| line.exchange.is_none() && line.machine.is_idle());
        if let Some((number, _)) = idle {
            return *number;
        }
        self.dialed += 1;
        let machine = h1::Client::new(h1::Limits::default(), self.now);
        self.lines.insert(self.dialed, Line { machine, exchange: None, sent: false, arrived: Vec::new() });
        self.dialed
    }

    fn send(&mut self, number: u64) {
        let line = self.lines.get_mut(&number).unwrap();
        while !line.machine.transmit().is_empty() {
            let len = line.machine.transmit().len();
            line.arrived.extend_from_slice(line.machine.transmit());
            line.machine.handle_written(len, self.now);
        }
        let (request, len) = Request::read(&line.arrived).unwrap();
        line.arrived.drain(..len);
        self.pump(number);
        self.replies.push_back((number, self.site.answer(&request)));
    }

    /// Bytes come, as many at once as there is room for.
    fn receive(&mut self, number: u64, mut bytes: &[u8]) {
        while let (false, Some(line)) = (bytes.is_empty(), self.lines.get_mut(&number)) {
            assert!(self.client.wants_input());
            let buffer = line.machine.read_buffer();
            let len = bytes.len().min(buffer.capacity() - buffer.len());
            buffer.extend_from_slice(&bytes[..len]);
            bytes = &bytes[len..];
            line.machine.handle_read(self.now);
            self.pump(number);
            self.carry_out();
        }
    }

    fn end(&mut self, number: u64, then: Then) {
        let Some(line) = self.lines.get_mut(&number) else { return };
        match then {
            Then::Stays => return,
            Then::Ends => line.machine.handle_eof(self.now),
            Then::Breaks => line.machine.close(self.now),
        }
        self.pump(number);
    }

    /// Hands on what a connection tells.
    fn pump(&mut self, number: u64) {
        let Some(line) = self.lines.get_mut(&number) else { return };
        let mut over = false;
        while let Some(event) = line.machine.poll_event() {
            over |= matches!(event, ClientEvent::Closed(_));
            let Some(exchange) = line.exchange else { continue };
            match event {
                ClientEvent::Sent => {
                    line.sent = true;
                    self.client.handle_sent(exchange, self.now);
                }
                ClientEvent::Head(head) => self.client.handle_head(exchange, &head, self.now),
                ClientEvent::Body(piece) => self.client.handle_body(exchange, piece, self.now),
                ClientEvent::End => {
                    line.exchange = None;
                    self.client.handle_end(exchange, End::Whole, self.now);
                }
                ClientEvent::Closed(Closed::Fault(fault)) => {
                    self.client.handle_end(exchange, End::Faulty(fault), self.now);
                }
                ClientEvent::Closed(_) => {
                    let end = if line.sent { End::Broken } else { End::Unreachable };
                    self.client.handle_end(exchange, end, self.now);
                }
                _ => panic!("{event:?}"),
            }
        }
        if over {
            self.lines.remove(&number);
        }
    }
}
