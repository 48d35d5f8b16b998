//! A client over HTTP together with its connections, under servers and applications that want too much of it.

use std::collections::BTreeSet;

use sanswire::client::{Config, Event, Link as _, RequestHandle, RequestOptions, Start};
use sanswire::error::ApiError;
use sanswire::http::client::Target;
use sanswire::http::pool::{Action, ConnectionHandle};
use sanswire::http::{Client, Pool, Url, h1};
use sanswire::limits::{Limits, MAX_READ_BYTES};
use sanswire::mcp::{Method, Revision};
use sanswire_tests::client::json;

use crate::counting::{Gauge, KIB, NOW};

/// The longest message.
const BIG: usize = 64 * KIB;
const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_message_bytes = BIG;
    limits.max_in_flight = 200;
    limits.max_subscriptions = 0;
    limits.max_peer_requests = 0;
    limits.max_queued_out_bytes = 256 * KIB;
    limits.max_queued_events = 64;
    limits.max_queued_event_bytes = 256 * KIB;
    limits.violation_budget = u32::MAX;
    limits
}

fn wire() -> h1::Limits {
    let mut limits = h1::Limits::default();
    limits.max_head_bytes = 16 * KIB;
    limits
}

struct Flood {
    pool: Pool,
    gauge: Gauge,
    finished: usize,
}

impl Flood {
    /// A session is open, over the first of so many connections.
    fn ready(revision: Revision, limits: Limits, most: usize) -> Self {
        let mut gauge = Gauge::new(Pool::worst_case_bytes(&limits, &wire(), most));
        let pool = gauge.run(|| {
            let mut config = Config::new("flood", "0");
            config.start = Start::Pinned(revision);
            config.limits = limits;
            let target = Target::new(Url::parse("http://localhost:1/mcp").unwrap());
            let client = Client::new(config, target, [0; 32], NOW).unwrap();
            Pool::new(client, wire(), most, NOW)
        });
        let mut flood = Self { pool, gauge, finished: 0 };
        flood.act();
        let modern = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#;
        let legacy = format!(
            r#"{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"n","version":"1"}}}}"#
        );
        let result = if revision == Revision::V2026_07_28 { modern } else { &legacy };
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        let first = flood.connections()[0];
        flood.write(first, usize::MAX);
        flood.read(first, format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        // The end of the handshake is taken, and there is no stream to push on.
        while revision != Revision::V2026_07_28 && flood.write(first, usize::MAX) > 0 {
            flood.read(first, b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n");
        }
        flood.take();
        assert!(flood.pool.session().revision().is_some());
        flood
    }

    fn connections(&self) -> Vec<ConnectionHandle> {
        self.pool.connections().map(|(connection, _)| connection).collect()
    }

    /// Does what the pool asks for: every connection is made at once.
    fn act(&mut self) {
        let pool = &mut self.pool;
        self.gauge.run(|| {
            loop {
                pool.carry_out(NOW);
                match pool.poll_action() {
                    None => break,
                    Some(Action::Dial { connection, .. }) => pool.handle_connected(connection, NOW),
                    Some(Action::Look { connection }) => pool.handle_looked(connection, NOW),
                    Some(_) => {}
                }
            }
        });
    }

    fn take(&mut self) {
        let pool = &mut self.pool;
        self.finished += self.gauge.run(|| {
            let events = core::iter::from_fn(|| pool.client_mut().poll_event());
            events.filter(|event| matches!(event, Event::Finished { .. })).count()
        });
    }

    /// At most so many bytes leave; how many did.
    fn write(&mut self, connection: ConnectionHandle, most: usize) -> usize {
        let mut left = 0;
        while left < most && !self.pool.transmit(connection).is_empty() {
            let len = self.pool.transmit(connection).len().min(most - left);
            self.gauge.run(|| self.pool.handle_written(connection, len, NOW));
            left += len;
        }
        self.act();
        left
    }

    /// Reads as a driver does, while it is wanted.
    fn read(&mut self, connection: ConnectionHandle, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() && self.pool.wants_read(connection) {
            let taken = self.gauge.run(|| {
                let buffer = self.pool.read_buffer(connection).unwrap();
                let room = (buffer.capacity() - buffer.len()).min(MAX_READ_BYTES).min(rest.len());
                assert!(room > 0);
                buffer.extend_from_slice(&rest[..room]);
                self.pool.handle_read(connection, NOW);
                room
            });
            rest = &rest[taken..];
            self.act();
        }
    }

    fn ask(&mut self, method: Method, params: &str) -> Result<RequestHandle, ApiError> {
        let pool = &mut self.pool;
        let asked = self.gauge.run(|| {
            // It is given away, so it is made here.
            let params = json(params);
            pool.client_mut().request(method, Some(params), &RequestOptions::default(), NOW)
        });
        self.act();
        asked
    }

    /// Calls with so many bytes of arguments until there is no room for more; how many there were.
    fn call(&mut self, size: usize) -> usize {
        let params = format!(r#"{{"name":"t","arguments":{{"x":"{}"}}}}"#, "a".repeat(size));
        (0..).take_while(|_| self.ask(Method::ToolsCall, &params).is_ok()).count()
    }
}

/// Servers that answer what they have not read: what of it waits to leave counts as long as it does.
pub(crate) fn pool_requests_that_leave_slowly() {
    for revision in ERAS {
        let mut flood = Flood::ready(revision, limits(), 40);
        let mut made = 0;
        let mut answered = BTreeSet::new();
        for _ in 0..10 {
            made += flood.call(BIG - 500);
            for connection in flood.connections() {
                if flood.write(connection, 1) > 0 && answered.insert(connection) {
                    flood.read(connection, STREAM.as_bytes());
                }
            }
        }
        assert!((4..=6).contains(&made), "{made} calls wait to be written");
        flood.gauge.reached(300 * KIB);
        // What has left makes room, if it need not be said again in a round of input.
        for connection in flood.connections() {
            flood.write(connection, usize::MAX);
        }
        assert_eq!(flood.call(BIG - 500) >= 4, revision != Revision::V2026_07_28);
    }
}

/// Requests that wait for the one connection there is, each with a head that says in Base64 what its body says.
pub(crate) fn pool_requests_that_wait() {
    for text in ["a", "é"] {
        for size in [10, 3 * KIB, BIG - 600] {
            let mut flood = Flood::ready(Revision::V2026_07_28, limits(), 1);
            let uri = format!(r#"{{"uri":"x:{}"}}"#, text.repeat(size / text.len()));
            let made = (0..1000).take_while(|_| flood.ask(Method::ResourcesRead, &uri).is_ok()).count();
            assert!((4..=200).contains(&made), "{made}");
            flood.gauge.reached(if size > KIB { 500 * KIB } else { 100 * KIB });
            let first = flood.connections()[0];
            flood.write(first, 1);
            flood.read(first, STREAM.as_bytes());
        }
    }
}

/// Calls that are given up before there is a connection for them: nothing of them stays.
pub(crate) fn pool_calls_that_are_given_up() {
    for revision in ERAS {
        let mut flood = Flood::ready(revision, limits(), 1);
        let params = format!(r#"{{"name":"t","arguments":{{"x":"{}"}}}}"#, "a".repeat(BIG - 500));
        flood.ask(Method::ToolsCall, r#"{"name":"t"}"#).unwrap();
        for _ in 0..500 {
            let call = flood.ask(Method::ToolsCall, &params).unwrap();
            flood.gauge.run(|| flood.pool.client_mut().cancel(call, None, NOW).unwrap());
            flood.act();
            flood.take();
        }
        assert_eq!(flood.finished, 500);
        assert!(flood.gauge.held() < 256 * KIB, "{} bytes of calls that are over", flood.gauge.held());
    }
}

/// Every connection answers at once, in every make, without an end.
pub(crate) fn pool_answers_that_never_end() {
    let whole = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    let chunks = |chunk: &str, count: usize| chunk.repeat(count);
    let fields = format!("HTTP/1.1 200 OK\r\n{}", "a:\r\n".repeat(90));
    let answers = [
        format!("HTTP/1.1 200 OK\r\nx: {}", "x".repeat(15 * KIB)),
        format!("{fields}b: {}", "x".repeat(15 * KIB)),
        format!("{STREAM}{}", chunks("1\r\n:\r\n", 20_000)),
        format!("{STREAM}{}", chunks("8\r\ndata:1\n\n\r\n", 20_000)),
        format!("{STREAM}{}", chunks(&format!("400\r\n{}\r\n", "d".repeat(KIB)), 200)),
        format!("{STREAM}7fff\r\ndata: {}", "d".repeat(32 * KIB - 8)),
        format!("{whole}{{\"x\":\"{}", "d".repeat(BIG - 200)),
    ];
    for revision in ERAS {
        for answer in &answers {
            let mut flood = Flood::ready(revision, limits(), 24);
            assert!(flood.call(10) >= 100);
            let connections = flood.connections();
            assert_eq!(connections.len(), 24);
            for connection in connections {
                flood.write(connection, usize::MAX);
                flood.read(connection, answer.as_bytes());
            }
            flood.gauge.reached(100 * KIB);
            flood.take();
        }
    }
}
