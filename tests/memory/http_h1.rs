//! Floods of an HTTP/1.1 connection, either role, up to each limit.

use bytes::Bytes;
use sanswire::http::h1::{Body, Client, ClientEvent, Limits, Server, ServerEvent};
use sanswire::http::{Fields, RequestHead, ResponseHead, Verb};
use sanswire::limits::MAX_READ_BYTES;
use sanswire::{Instant, Machine};
use sanswire_tests::seed::Rng;

use crate::counting::{live, peak};

const NOW: Instant = Instant::from_millis(1000);
const KIB: usize = 1024;
/// The most that a piece of an answer has here; one may overshoot.
const PIECE: usize = 20 * KIB;

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_head_bytes = 16 * KIB;
    limits.max_queued_out_bytes = 256 * KIB;
    limits.max_queued_event_bytes = 256 * KIB;
    limits
}

/// A connection, and the bytes that were in use before it.
struct Flood<M> {
    machine: M,
    before: usize,
    most: usize,
}

impl Flood<Server> {
    fn serving() -> Self {
        peak();
        let before = live();
        Self { machine: Server::new(limits(), NOW), before, most: 0 }
    }

    /// Takes the body of the request that waits, if there is one, and drops what else was told. Whether there was one.
    fn take(&mut self) -> bool {
        let mut found = false;
        while let Some(event) = self.machine.poll_event() {
            if let ServerEvent::Head { .. } = event {
                self.machine.take_body(NOW);
                found = true;
            }
        }
        found
    }

    fn serve(&mut self, head: &str) {
        assert_eq!(self.read(head.as_bytes()), head.len());
        self.take();
    }
}

impl Flood<Client> {
    fn asking() -> Self {
        peak();
        let before = live();
        let mut flood = Self { machine: Client::new(limits(), NOW), before, most: 0 };
        let mut fields = Fields::new();
        fields.push("host", b"h").unwrap();
        let head = RequestHead { verb: Verb::Get, target: "/".into(), fields };
        flood.machine.request(&head, Body::Empty, NOW).unwrap();
        flood.write_all();
        flood
    }
}

impl<M: Machine> Flood<M> {
    /// As a driver does: at most one read's worth at a time, into spare room, while the machine wants it.
    fn read(&mut self, bytes: &[u8]) -> usize {
        self.read_by(bytes, MAX_READ_BYTES)
    }

    fn read_by(&mut self, bytes: &[u8], most: usize) -> usize {
        let mut at = 0;
        while at < bytes.len() && self.machine.wants_read() {
            let buffer = self.machine.read_buffer();
            let room = (buffer.capacity() - buffer.len()).min(most);
            assert!(room > 0);
            let len = room.min(bytes.len() - at);
            buffer.extend_from_slice(&bytes[at..at + len]);
            self.machine.handle_read(NOW);
            at += len;
            self.check();
        }
        at
    }

    fn write_all(&mut self) {
        while !self.machine.transmit().is_empty() {
            self.machine.handle_written(self.machine.transmit().len(), NOW);
        }
    }

    fn check(&mut self) {
        let held = peak().saturating_sub(self.before);
        self.most = self.most.max(held);
        // The text of a failure needs memory as well, so nothing is written unless it fails.
        if held > limits().worst_case_bytes() + PIECE {
            panic!("{held} bytes held, {} allowed", limits().worst_case_bytes());
        }
    }

    /// The flood went up to where it was meant to.
    fn reached(&self, bytes: usize) {
        assert!(self.most >= bytes, "{} bytes at most", self.most);
    }
}

pub(crate) fn http_heads_as_long_as_allowed() {
    let name_only = format!("GET / HTTP/1.1\r\nHost: h\r\n{}", "a:\r\n".repeat(98));
    let head = format!("{name_only}b: {}\r\n\r\n", "x".repeat(16 * KIB - name_only.len() - 7));
    let all = head.repeat(20);
    let mut flood = Flood::serving();
    let mut rest = all.as_bytes();
    let mut read = 0;
    while !rest.is_empty() {
        rest = &rest[flood.read(rest)..];
        // One head and what was read ahead wait.
        while flood.take() {
            read += 1;
            flood.machine.respond(&ResponseHead::new(200), Body::Empty, NOW).unwrap();
            flood.write_all();
            flood.check();
        }
    }
    assert_eq!(read, 20);
    flood.reached(32 * KIB);
    // A head without an end.
    let mut flood = Flood::serving();
    flood.read(&vec![b'x'; 1000 * KIB]);
    flood.reached(16 * KIB);
}

pub(crate) fn http_bodies_that_nobody_takes() {
    let long = vec![b'x'; 1000 * KIB];
    let short = "1\r\nx\r\n".repeat(400_000);
    let half = format!("8000\r\n{}\r\n", "x".repeat(32 * KIB)).repeat(30);
    let length = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10000000\r\n\r\n";
    let chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    let bodies = [(length, &*long), (chunked, short.as_bytes()), (chunked, half.as_bytes())];
    for (head, body) in bodies {
        for step in [1, 7, 5000, MAX_READ_BYTES] {
            let mut flood = Flood::serving();
            flood.serve(head);
            assert!(flood.read_by(body, step) < body.len() && !flood.machine.wants_read());
            flood.reached(128 * KIB);
        }
    }
    let mut flood = Flood::asking();
    flood.read(b"HTTP/1.1 200 OK\r\n\r\n");
    assert!(flood.read(&long) < long.len());
    flood.reached(256 * KIB);
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut flood = Flood::asking();
    flood.read(head);
    flood.read(short.as_bytes());
    while let Some(event) = flood.machine.poll_event() {
        assert!(!matches!(event, ClientEvent::Closed(_)));
    }
}

pub(crate) fn http_answers_that_nobody_reads() {
    for size in [1, 100, 1000, PIECE] {
        let mut flood = Flood::serving();
        flood.serve("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        flood.machine.respond(&ResponseHead::new(200), Body::Stream, NOW).unwrap();
        let piece = Bytes::from(vec![b'x'; size]);
        for round in 0..3 {
            while flood.machine.send(piece.clone(), NOW).is_ok() {
                flood.check();
            }
            if size < PIECE {
                flood.reached(256 * KIB);
            }
            // It takes a little, and no more.
            if round == 0 {
                flood.machine.handle_written(1000, NOW);
            } else {
                flood.write_all();
            }
        }
    }
}

pub(crate) fn http_random_runs() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let mut flood = Flood::serving();
        for _ in 0..400 {
            match rng.below(8) {
                0 => {
                    flood.read(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n");
                }
                1 => {
                    let len = rng.below(100_000);
                    let head = format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {len}\r\n\r\n");
                    let body = vec![b'x'; len];
                    flood.read(&[head.as_bytes(), &body].concat());
                }
                2 => {
                    flood.take();
                }
                3 => {
                    let _ = flood.machine.respond(&ResponseHead::new(200), Body::Stream, NOW);
                }
                4 => {
                    let _ = flood.machine.send(Bytes::from(vec![b'x'; PIECE / 2]), NOW);
                }
                5 => flood.machine.end(NOW),
                6 => flood.write_all(),
                _ => flood.machine.release(),
            }
            flood.check();
        }
    }
}
