//! Floods of an HTTP/1.1 connection, either role, up to each limit.

use bytes::Bytes;
use sanswire::Machine;
use sanswire::http::h1::{Body, Client, ClientEvent, Limits, Server, ServerEvent};
use sanswire::http::{Fields, RequestHead, ResponseHead, Verb};
use sanswire::limits::MAX_READ_BYTES;
use sanswire_tests::seed::Rng;

use crate::counting::{Flood, KIB, NOW};

/// The most that a piece of an answer has here; one may overshoot.
const PIECE: usize = 20 * KIB;
/// How many bytes come at once: dripping, a little, as fast as it goes.
const STEPS: [usize; 4] = [1, 7, 5000, MAX_READ_BYTES];

const PUT: &str = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_head_bytes = 16 * KIB;
    limits.max_queued_out_bytes = 256 * KIB;
    limits.max_queued_event_bytes = 256 * KIB;
    limits
}

impl Flood<Server> {
    fn serving() -> Self {
        let limits = limits();
        Self::new(limits.worst_case_bytes(), || Server::new(limits, NOW))
    }

    /// Takes the body of the request that waits, if there is one, and drops what else was told. Whether there was one.
    fn take_head(&mut self) -> bool {
        self.run(|machine| {
            let mut found = false;
            while let Some(event) = machine.poll_event() {
                if let ServerEvent::Head { .. } = event {
                    machine.take_body(NOW);
                    found = true;
                }
            }
            found
        })
    }

    fn serve(&mut self, head: &str) {
        assert_eq!(self.read(head.as_bytes()), head.len());
        assert!(self.take_head());
    }

    fn respond(&mut self, body: Body) {
        self.run(|machine| machine.respond(&ResponseHead::new(200), body, NOW)).unwrap();
    }

    /// Sends such pieces until there is no room for them.
    fn fill(&mut self, piece: &Bytes) {
        while self.run(|machine| machine.send(piece.clone(), NOW)).is_ok() {}
    }
}

impl Flood<Client> {
    fn asking(body: Body) -> Self {
        let limits = limits();
        let mut fields = Fields::new();
        fields.push("host", b"h").unwrap();
        let head = RequestHead { verb: Verb::Post, target: "/".into(), fields };
        let mut flood = Self::new(limits.worst_case_bytes(), || Client::new(limits, NOW));
        flood.run(|machine| machine.request(&head, body, NOW)).unwrap();
        flood.run(|machine| machine.handle_written(1, NOW));
        flood
    }
}

/// Heads as long as they may be, each of another make: one value, one name, as many fields as are taken.
fn heads(first: &str) -> Vec<String> {
    let first = format!("{first}Host: h\r\n");
    let room = 16 * KIB - first.len() - 2;
    let value = format!("b: {}\r\n", "x".repeat(room - 5));
    let name = format!("{}:\r\n", "n".repeat(room - 3));
    let small = "a:\r\n".repeat(98);
    let many = format!("{small}b: {}\r\n", "x".repeat(room - small.len() - 5));
    [value, name, many, small].map(|fields| format!("{first}{fields}\r\n")).into()
}

/// As many heads as fit behind each other, each answered when its client has had its time.
pub(crate) fn http_heads_as_long_as_allowed() {
    let targets = ["GET / HTTP/1.1\r\n".to_owned(), format!("GET /{} HTTP/1.1\r\n", "p".repeat(15 * KIB))];
    for step in STEPS {
        for head in targets.iter().flat_map(|first| heads(first)) {
            let all = head.repeat(if step == 1 { 3 } else { 20 });
            let mut flood = Flood::serving();
            let mut rest = all.as_bytes();
            let mut read = 0;
            while !rest.is_empty() {
                rest = &rest[flood.read_by(rest, step)..];
                // One head and what was read ahead wait.
                while flood.take_head() {
                    read += 1;
                    flood.respond(Body::Empty);
                    flood.write_all();
                }
            }
            assert_eq!(read, all.len() / head.len());
        }
    }
    // Without an end; and what follows a request that is being answered.
    let mut flood = Flood::serving();
    flood.read(&vec![b'x'; 1000 * KIB]);
    flood.gauge.reached(16 * KIB);
    let mut flood = Flood::serving();
    flood.serve("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert!(flood.read("GET / HTTP/1.1\r\nHost: h\r\n\r\n".repeat(10_000).as_bytes()) < 128 * KIB);
    flood.gauge.reached(16 * KIB);
}

/// What an answer may begin with: heads before the head, and heads as long as they may be.
pub(crate) fn http_heads_of_answers() {
    for step in STEPS {
        for head in heads("HTTP/1.1 200 OK\r\n") {
            // The first of these fields means nothing there, and none is doubled.
            let mut flood = Flood::asking(Body::Empty);
            let before = "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n".repeat(if step == 1 { 10 } else { 3000 });
            assert_eq!(flood.read_by(before.as_bytes(), step), before.len());
            assert_eq!(flood.read_by(head.as_bytes(), step), head.len());
            let told: Vec<ClientEvent> =
                flood.run(|machine| core::iter::from_fn(|| machine.poll_event()).collect());
            assert!(told.iter().any(|event| matches!(event, ClientEvent::Head(head) if head.status == 200)));
            flood.gauge.reached(head.len());
        }
    }
    let mut flood = Flood::asking(Body::Empty);
    flood.read(b"HTTP/1.1 200 OK\r\nx: ");
    flood.read(&vec![b'x'; 1000 * KIB]);
    flood.gauge.reached(16 * KIB);
}

/// Bodies in chunks of every make, and with a length.
fn bodies() -> Vec<Vec<u8>> {
    let chunks = |chunk: &str, count: usize| chunk.repeat(count).into_bytes();
    vec![
        chunks("1\r\nx\r\n", 400_000),
        chunks(&format!("8000\r\n{}\r\n", "x".repeat(32 * KIB)), 60),
        chunks(&format!("3ff\r\n{}\r\n", "x".repeat(1023)), 2000),
        chunks(&format!("400\r\n{}\r\n1\r\nx\r\n", "x".repeat(1024)), 2000),
        chunks(&format!("5000\r\n{}\r\n", "x".repeat(20 * KIB)), 100),
        [&b"fffffff\r\n"[..], &[b'x'; 2000 * KIB]].concat(),
    ]
}

/// A body that nobody takes, while what is answered to it is not read either.
pub(crate) fn http_bodies_that_nobody_takes() {
    let long = vec![b'x'; 2000 * KIB];
    let length = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10000000\r\n\r\n";
    let piece = Bytes::from(vec![b'x'; 10 * KIB]);
    let chunked = bodies();
    for (head, body) in chunked.iter().map(|body| (PUT, body)).chain([(length, &long)]) {
        for step in STEPS {
            let mut flood = Flood::serving();
            flood.serve(head);
            // What waits is written in the middle of a body, for whoever sends one while reading.
            flood.respond(Body::Stream);
            flood.fill(&piece);
            assert!(flood.read_by(body, step) < body.len(), "{step}");
            flood.gauge.reached(256 * KIB);
            flood.take();
            flood.run(|machine| machine.handle_written(1000, NOW));
            flood.read_by(body, step);
        }
    }
    for step in STEPS {
        for (head, body) in [
            ("HTTP/1.1 200 OK\r\n\r\n", &long),
            ("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n", &long),
        ]
        .into_iter()
        .chain(chunked.iter().map(|body| ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", body)))
        {
            // A long request waits meanwhile: its head and the beginning of its content as one block.
            let mut flood = Flood::asking(Body::Whole(Bytes::from(vec![b'x'; 10 * KIB])));
            flood.read_by(head.as_bytes(), step);
            let all = flood.read_by(body, step) == body.len();
            assert!(all || !flood.machine.wants_read());
            flood.run(|machine| {
                while let Some(event) = machine.poll_event() {
                    assert!(!matches!(event, ClientEvent::Closed(_)));
                }
            });
            flood.read_by(body, step);
        }
    }
}

/// Trailers and extensions that go on and on end the connection, and hold nothing until then.
pub(crate) fn http_bodies_of_other_things() {
    for end in [format!("0\r\n{}", "t: x\r\n".repeat(200_000)), format!("1;{}", "e".repeat(1 << 20))] {
        for step in STEPS {
            let mut flood = Flood::serving();
            flood.serve(PUT);
            flood.read_by(end.as_bytes(), step);
            assert!(flood.machine.transmit().starts_with(b"HTTP/1.1 400 "));
            let mut flood = Flood::asking(Body::Empty);
            flood.read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            assert!(flood.read_by(end.as_bytes(), step) < end.len());
        }
    }
}

pub(crate) fn http_answers_that_nobody_reads() {
    for size in [1, 100, 1000, 15 * KIB, PIECE] {
        let mut flood = Flood::serving();
        flood.serve("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        flood.respond(Body::Stream);
        let piece = Bytes::from(vec![b'x'; size]);
        for round in 0..5 {
            flood.fill(&piece);
            if size < PIECE {
                flood.gauge.reached(256 * KIB);
            }
            // It takes a little, then half, and then all.
            match round {
                0 => flood.run(|machine| machine.handle_written(1000, NOW)),
                1 | 2 => flood.run(|machine| machine.handle_written(machine.transmit().len() / 2, NOW)),
                _ => flood.write_all(),
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
                    flood.take_head();
                }
                3 => {
                    let _ = flood.run(|machine| machine.respond(&ResponseHead::new(200), Body::Stream, NOW));
                }
                4 => {
                    let piece = vec![b'x'; PIECE / 2];
                    let _ = flood.run(|machine| machine.send(Bytes::copy_from_slice(&piece), NOW));
                }
                5 => flood.run(|machine| machine.end(NOW)),
                6 => flood.write_all(),
                _ => flood.run(Server::release),
            }
        }
    }
}
