//! The served half without a socket: an endpoint, and the machine of one connection.

use sanswire::http::endpoint::{Effect, Names};
use sanswire::http::h1::{self, ServerEvent};
use sanswire::http::{Endpoint, HttpHandle};
use sanswire::{Instant, Machine};
use sanswire_tests::http_cases::{Asked, keeps_secrets, requests};
use sanswire_tests::web::config;

use super::every_split;

const NOW: Instant = Instant::from_millis(1000);

/// Replays the rows of a case, each with every cut.
pub(super) fn replay(case: &str) {
    let afterwards = afterwards();
    for row in requests().iter().filter(|row| row.case == case) {
        let mut whole = None;
        for pieces in every_split(&row.bytes) {
            let mut world = World::new(row);
            pieces.iter().for_each(|piece| world.receive(piece));
            let way = format!("{case}, {}, first {} bytes", row.what, pieces[0].len());
            let (answer, len) = Answer::read(&world.sent).unwrap();
            answer.check(row, &way);
            world.receive(&afterwards);
            // The id of the session comes of the seed.
            assert_eq!(&world.sent, whole.get_or_insert_with(|| world.sent.clone()), "{way}");
            let then = Answer::read(&world.sent[len..]).map(|(then, _)| then.status);
            assert_eq!(then, row.goes_on().then_some(200), "{way}: what comes next");
            keeps_secrets(&world.endpoint);
        }
    }
}

/// A good request, on the same connection.
pub(super) fn afterwards() -> Vec<u8> {
    requests().swap_remove(0).bytes
}

/// An answer, as a client reads it.
pub(super) struct Answer {
    pub(super) status: u16,
    fields: Vec<(String, String)>,
    body: String,
}

impl Answer {
    /// The answer at the start of `bytes` and how long it is; `None` before it is whole.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let text = std::str::from_utf8(bytes).unwrap();
        let (head, rest) = text.split_once("\r\n\r\n")?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().unwrap();
        let fields: Vec<_> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut answer = Self { status, fields, body: String::new() };
        let left = if let Some(len) = answer.field("content-length") {
            let (body, left) = rest.split_at_checked(len.parse().unwrap())?;
            answer.body = body.into();
            left
        } else {
            let mut rest = rest;
            loop {
                let (len, chunk) = rest.split_once("\r\n")?;
                let len = usize::from_str_radix(len, 16).unwrap();
                let (chunk, left) = chunk.split_at_checked(len)?;
                answer.body += chunk;
                rest = left.strip_prefix("\r\n")?;
                if len == 0 {
                    break rest;
                }
            }
        };
        Some((answer, bytes.len() - left.len()))
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(is, _)| is == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn check(&self, row: &Asked, way: &str) {
        assert_eq!((self.status, self.field("content-type")), (row.status, row.kind), "{way}: {}", self.body);
        assert!(self.body.contains(row.holds), "{way}: {}", self.body);
        assert_eq!(self.field("mcp-session-id").is_some(), row.status == 200, "{way}");
        keeps_secrets(&(&self.fields, &self.body));
    }
}

struct World {
    machine: h1::Server,
    endpoint: Endpoint,
    /// Exchanges so far; the last one is that of the connection, if there is one.
    exchanges: u64,
    sent: Vec<u8>,
}

impl World {
    fn new(row: &Asked) -> Self {
        let mut config = config();
        if !row.hosts.is_empty() {
            config.hosts = Names::These(row.hosts.iter().map(|host| (*host).into()).collect());
        }
        let endpoint = Endpoint::new(config, [7; 32], NOW).unwrap();
        Self {
            machine: h1::Server::new(h1::Limits::default(), NOW),
            endpoint,
            exchanges: 0,
            sent: Vec::new(),
        }
    }

    /// Bytes come, as many at once as there is room for.
    fn receive(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            assert!(self.machine.wants_read(), "it has ended, or waits for nothing");
            let buffer = self.machine.read_buffer();
            let len = bytes.len().min(buffer.capacity() - buffer.len());
            buffer.extend_from_slice(&bytes[..len]);
            bytes = &bytes[len..];
            self.machine.handle_read(NOW);
            self.settle();
        }
    }

    fn settle(&mut self) {
        loop {
            let exchange = HttpHandle::numbered(self.exchanges);
            match self.machine.poll_event() {
                Some(ServerEvent::Head { head, length }) => {
                    self.exchanges += 1;
                    let exchange = HttpHandle::numbered(self.exchanges);
                    self.endpoint.handle_head(exchange, head, length, NOW);
                }
                Some(ServerEvent::Body(piece)) => self.endpoint.handle_body(exchange, piece, NOW),
                Some(ServerEvent::BodyEnd) => self.endpoint.handle_body_end(exchange, NOW),
                Some(ServerEvent::Closed(_)) => self.endpoint.handle_gone(exchange, NOW),
                Some(_) => {}
                None if self.carry_out() || self.write() => {}
                None => return,
            }
        }
    }

    fn carry_out(&mut self) -> bool {
        let Some(effect) = self.endpoint.poll_effect() else { return false };
        match effect {
            Effect::TakeBody { .. } => self.machine.take_body(NOW),
            Effect::Respond { head, body, .. } => self.machine.respond(&head, body, NOW).unwrap(),
            Effect::Send { piece, .. } => self.machine.send(piece, NOW).unwrap(),
            Effect::End { .. } => self.machine.end(NOW),
            _ => panic!("{effect:?}"),
        }
        true
    }

    fn write(&mut self) -> bool {
        let len = self.machine.transmit().len();
        self.sent.extend_from_slice(self.machine.transmit());
        self.machine.handle_written(len, NOW);
        len > 0
    }
}
