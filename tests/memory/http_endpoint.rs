//! Floods of an endpoint by all its clients together, up to each limit.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use sanswire::http::endpoint::{Effect, EndpointConfig, SessionHandle};
use sanswire::http::h1::Body;
use sanswire::http::{Endpoint, HttpHandle, RequestHead};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::{Catalog, Event, Reply, RequestHandle};
use sanswire_tests::served::{config, meta, raw};
use sanswire_tests::web::head;
use serde_json::json;

use crate::counting::{Gauge, KIB, NOW};

/// The longest message.
const BIG: usize = 64 * KIB;
const SESSIONS: usize = 15;

/// Bounds so tight that the one thing a scenario floods is most of what may be held.
fn tight() -> EndpointConfig {
    let mut server = config();
    server.capabilities.resources = true;
    let limits = &mut server.limits;
    limits.max_message_bytes = BIG;
    limits.max_in_flight = 100;
    limits.max_peer_requests = 1;
    limits.max_resource_subscriptions = 1;
    limits.max_queued_out_bytes = 4 * KIB;
    limits.max_queued_events = 20;
    limits.max_queued_event_bytes = 4 * KIB;
    let mut all = EndpointConfig::new(server);
    all.max_sessions = 2;
    all.max_exchanges = 30;
    all.max_streams = 2;
    all.max_body_bytes = BIG;
    all.max_stream_bytes = 16 * KIB;
    all.max_outbound_bytes = BIG;
    all.max_replay_bytes = 0;
    all
}

fn catalog() -> Arc<Catalog> {
    let mut catalog = Catalog::new();
    for n in 0..20 {
        catalog.tool(&raw(&json!({"name": format!("t{n}"), "description": "d".repeat(300)}))).unwrap();
    }
    catalog.resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    Arc::new(catalog)
}

/// An endpoint, and a runtime whose clients read nothing unless told to.
struct Site {
    endpoint: Endpoint,
    gauge: Gauge,
    last: u64,
    /// What waits to be written, by exchange.
    unread: BTreeMap<u64, (Vec<Bytes>, usize)>,
    /// Exchanges whose body is wanted.
    wanted: Vec<u64>,
    /// The session that was named last.
    named: Option<String>,
    open: Vec<(SessionHandle, RequestHandle)>,
    refused: usize,
    cut: usize,
}

impl Site {
    fn new(config: EndpointConfig) -> Self {
        let mut gauge = Gauge::new(config.worst_case_bytes());
        let catalog = catalog();
        let endpoint = gauge.run(|| {
            let mut endpoint = Endpoint::new(config, [7; 32], NOW).unwrap();
            endpoint.set_catalog(catalog);
            endpoint
        });
        Self {
            endpoint,
            gauge,
            last: 0,
            unread: BTreeMap::new(),
            wanted: Vec::with_capacity(KIB),
            named: None,
            open: Vec::with_capacity(100 * KIB),
            refused: 0,
            cut: 0,
        }
    }

    /// Does something, and then what a runtime does after everything. What waits to be written is the endpoint's.
    fn run<R>(&mut self, work: impl FnOnce(&mut Endpoint) -> R) -> R {
        self.gauge.run(|| {
            let done = work(&mut self.endpoint);
            while let Some(effect) = self.endpoint.poll_effect() {
                let exchange = match effect {
                    Effect::TakeBody { exchange } => {
                        self.wanted.push(exchange.number());
                        continue;
                    }
                    Effect::Respond { exchange, head, body } => {
                        if let Some(id) = head.fields.text("mcp-session-id") {
                            self.named = Some(id.to_owned());
                        }
                        self.refused += usize::from(head.status == 503);
                        if let Body::Whole(body) = body {
                            self.unread.entry(exchange.number()).or_default().0.push(body);
                        }
                        exchange
                    }
                    Effect::Send { exchange, piece } => {
                        self.unread.entry(exchange.number()).or_default().0.push(piece);
                        exchange
                    }
                    Effect::Close { exchange } => {
                        self.unread.remove(&exchange.number());
                        self.cut += 1;
                        continue;
                    }
                    _ => continue,
                };
                if let Some((pieces, told)) = self.unread.get_mut(&exchange.number()) {
                    let waits = pieces.iter().map(Bytes::len).sum();
                    if *told != waits {
                        *told = waits;
                        self.endpoint.set_outbound(exchange, waits, NOW);
                    }
                }
            }
            done
        })
    }

    /// The application takes all that is told, and keeps what is to be answered.
    fn take(&mut self) {
        self.gauge.run(|| {
            while let Some((session, event)) = self.endpoint.poll_event() {
                if let Event::Request { request, .. } = event {
                    self.open.push((session, request));
                }
            }
        });
    }

    fn head(&mut self, head: &RequestHead, length: Option<u64>) -> u64 {
        self.last += 1;
        let exchange = HttpHandle::numbered(self.last);
        self.run(|endpoint| endpoint.handle_head(exchange, head.clone(), length, NOW));
        self.last
    }

    fn body(&mut self, n: u64, body: &[u8], piece: usize) {
        let exchange = HttpHandle::numbered(n);
        for piece in body.chunks(piece) {
            self.run(|endpoint| endpoint.handle_body(exchange, Bytes::copy_from_slice(piece), NOW));
        }
    }

    fn post(&mut self, head: &RequestHead, body: &[u8]) -> u64 {
        let n = self.head(head, Some(body.len() as u64));
        self.body(n, body, 16 * KIB);
        self.run(|endpoint| endpoint.handle_body_end(HttpHandle::numbered(n), NOW));
        n
    }

    /// The client of this exchange reads all that waits.
    fn drink(&mut self, n: u64) {
        self.gauge.run(|| {
            if self.unread.remove(&n).is_some() {
                self.endpoint.set_outbound(HttpHandle::numbered(n), 0, NOW);
            }
        });
    }

    fn drink_all(&mut self) {
        let all: Vec<u64> = self.unread.keys().copied().collect();
        all.into_iter().for_each(|n| self.drink(n));
    }

    fn leave(&mut self, n: u64) {
        self.gauge.run(|| drop(self.unread.remove(&n)));
        self.run(|endpoint| endpoint.handle_gone(HttpHandle::numbered(n), NOW));
    }

    fn initialize(&mut self, revision: &str) -> String {
        let params = json!({"protocolVersion": revision, "capabilities": {"roots": {}},
            "clientInfo": {"name": "n".repeat(400), "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string();
        let n = self.post(&legacy_head("POST", None, &[]), body.as_bytes());
        self.drink(n);
        let id = self.named.take().unwrap();
        let body = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        let n = self.post(&legacy_head("POST", Some(&id), &[]), body.as_bytes());
        self.drink(n);
        self.take();
        id
    }

    fn respond_all(&mut self, reply: &Reply) {
        while let Some((session, request)) = self.open.pop() {
            let _ = self.run(|endpoint| endpoint.respond(session, request, reply, NOW));
        }
    }
}

fn fields<'a>(accept: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let plain = [("Host", "localhost"), ("Content-Type", "application/json"), ("Accept", accept)];
    plain.into_iter().chain(more.iter().copied()).collect()
}

const BOTH: &str = "application/json, text/event-stream";

fn legacy_head(verb: &str, session: Option<&str>, more: &[(&str, &str)]) -> RequestHead {
    let id = session.map(|id| ("Mcp-Session-Id", id));
    let more: Vec<_> = id.into_iter().chain(more.iter().copied()).collect();
    head(verb, "/mcp", &fields(BOTH, &more))
}

fn modern_head(method: &str, name: Option<&str>, more: &[(&str, &str)]) -> RequestHead {
    let own = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    let name = name.map(|name| ("Mcp-Name", name));
    let more: Vec<_> = own.into_iter().chain(name).chain(more.iter().copied()).collect();
    head("POST", "/mcp", &fields(BOTH, &more))
}

/// A request of 2026-07-28, with an id and a token that are as long as they may be.
fn modern(n: usize, method: &str, mut params: serde_json::Value) -> Vec<u8> {
    let id = format!("{n}{}", "i".repeat(480));
    params["_meta"] = meta();
    params["_meta"]["progressToken"] = json!(id);
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string().into_bytes()
}

fn call(n: usize, name: &str) -> String {
    let id = format!("{n}{}", "i".repeat(480));
    let params = json!({"name": name, "_meta": {"progressToken": id}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// Bodies that never end, of whoever gets one in, in pieces of every size.
pub(crate) fn endpoint_bodies_as_long_as_allowed() {
    let long = vec![b' '; BIG];
    let padding = "x".repeat(8 * KIB);
    for piece in [1, 100, 5000, 40 * KIB, BIG] {
        for known in [true, false] {
            for heavy in [true, false] {
                let more: &[_] = if heavy { &[("X-Padding", padding.as_str())] } else { &[] };
                let mut limits = tight();
                limits.max_body_bytes = 4 * KIB * KIB;
                limits.max_exchanges = 1500;
                let mut site = Site::new(limits);
                let head = modern_head("tools/call", Some("t1"), more);
                let length = if heavy { BIG } else { BIG - 100 };
                for _ in 0..2000 {
                    let n = site.head(&head, known.then_some(length as u64));
                    if site.wanted.pop() == Some(n) {
                        let short = if piece == 1 { &long[..300] } else { &long[..length - 1] };
                        site.body(n, short, piece);
                    }
                }
                assert!(site.refused > 0);
                if piece > 1 {
                    site.gauge.came_near(25);
                }
            }
        }
    }
}

/// As many requests as may be open, with long names of their own, which nobody answers.
pub(crate) fn endpoint_requests_that_nobody_answers() {
    let mut limits = tight();
    limits.max_exchanges = 2000;
    limits.max_outbound_bytes = 4 * KIB * KIB;
    let mut site = Site::new(limits);
    for n in 0..2100 {
        let body = modern(n, "tools/call", json!({"name": "t1"}));
        site.post(&modern_head("tools/call", Some("t1"), &[]), &body);
        site.take();
    }
    assert_eq!(site.open.len(), 2000);
    site.gauge.came_near(12);
    // And what they are answered at once, which nobody reads.
    site.respond_all(&Reply::text(&"x".repeat(BIG - KIB)));
    assert!(site.cut > 0);
    site.gauge.came_near(33);
}

/// Events that nobody takes: as a runtime that reads bodies as long as they are wanted.
pub(crate) fn endpoint_events_that_nobody_takes() {
    for size in [10, 5 * KIB, BIG - 2 * KIB] {
        let mut limits = tight();
        limits.max_exchanges = 2000;
        limits.server.limits.max_queued_events = 1000;
        limits.server.limits.max_queued_event_bytes = 4 * KIB * KIB;
        let mut site = Site::new(limits);
        let mut n = 0;
        while site.endpoint.wants_input() && n < 2000 {
            let body = modern(n, "tools/call", json!({"name": "t1", "arguments": {"x": "y".repeat(size)}}));
            site.post(&modern_head("tools/call", Some("t1"), &[]), &body);
            n += 1;
        }
        assert!(n < 2000);
        site.gauge.came_near(12);
    }
}

/// Sessions that watch as many and as long addresses as they may, and subscriptions of whoever has none.
pub(crate) fn endpoint_watched_resources() {
    let mut limits = tight();
    limits.max_sessions = SESSIONS;
    limits.server.limits.max_resource_subscriptions = 40;
    limits.max_exchanges = 400;
    limits.max_streams = 250;
    limits.max_outbound_bytes = KIB * KIB;
    let mut site = Site::new(limits);
    let ids: Vec<String> = (0..SESSIONS).map(|_| site.initialize("2025-11-25")).collect();
    for (s, id) in ids.iter().enumerate() {
        for n in 0..50 {
            let uri = format!("x:{s}/{n}/{}", "u".repeat(4000));
            let message =
                json!({"jsonrpc": "2.0", "id": n, "method": "resources/subscribe", "params": {"uri": uri}});
            let n = site.post(&legacy_head("POST", Some(id), &[]), message.to_string().as_bytes());
            site.take();
            site.respond_all(&Reply::Complete(RawJson::empty_object()));
            site.drink(n);
        }
    }
    for n in 0..260 {
        let uris: Vec<String> = (0..12).map(|m| format!("x:{n}/{m}/{}", "u".repeat(4000))).collect();
        let filter =
            json!({"toolsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": uris});
        let body = modern(n, "subscriptions/listen", json!({"notifications": filter}));
        site.post(&modern_head("subscriptions/listen", None, &[]), &body);
    }
    for n in 0..500 {
        let uri = format!("x:{}/{}/{}", n % SESSIONS, n % 12, "u".repeat(4000));
        site.run(|endpoint| endpoint.resource_updated(&uri, NOW));
    }
    site.gauge.came_near(20);
}

/// What sessions keep for clients that come back: of notices and of answers, small ones and big ones.
pub(crate) fn endpoint_sessions_that_keep_as_much_as_they_may() {
    for size in [1, 300, BIG - KIB] {
        let mut limits = tight();
        limits.max_sessions = SESSIONS;
        limits.max_replay_bytes = 256 * KIB;
        limits.max_exchanges = 100;
        limits.max_streams = 60;
        limits.max_outbound_bytes = KIB * KIB;
        let mut site = Site::new(limits);
        let ids: Vec<String> = (0..SESSIONS).map(|_| site.initialize("2025-11-25")).collect();
        let text = raw(&json!("x".repeat(size)));
        for round in 0..4 {
            let mut gets = Vec::new();
            if round % 2 == 0 {
                gets.extend(ids.iter().map(|id| site.head(&legacy_head("GET", Some(id), &[]), Some(0))));
            }
            let count = if gets.is_empty() { 300 } else { 4000 / (1 + size / 64) + 20 };
            for _ in 0..count {
                site.run(|endpoint| endpoint.log(LogLevel::Error, None, &text, NOW));
                site.drink_all();
            }
            gets.into_iter().for_each(|n| site.leave(n));
        }
        if size == 1 {
            let held = site.gauge.held();
            assert!(held < SESSIONS * 384 * KIB, "{held} bytes for events that are hardly any");
        }
        // Calls that are answered by streams which their clients leave.
        for n in 0..150 {
            for id in &ids {
                let body = call(n, "t1");
                let n = site.post(&legacy_head("POST", Some(id), &[]), body.as_bytes());
                site.take();
                let (session, request) = site.open[0];
                let reply = Reply::text(&"x".repeat(size));
                let _ = site.run(|endpoint| endpoint.close_stream(session, request, NOW));
                site.leave(n);
                site.respond_all(&reply);
            }
        }
        site.gauge.came_near(25);
    }
}

/// Batches of as many elements as there is room for, in all sessions, answered at once or by the application, for clients
/// that take one JSON text or a stream.
pub(crate) fn endpoint_batches_as_long_as_allowed() {
    for accept in ["application/json", BOTH] {
        for element in [
            "1".to_owned(),
            r#"{"jsonrpc":"2.0","id":@,"method":"ping"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":@,"method":"tools/list"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"t1"}}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0","id":"@{}","method":"x"}}"#, "\\u0001".repeat(80)),
            r#"{"jsonrpc":"2.0","id":900,"result":{}}"#.to_owned(),
        ] {
            for reply in [Reply::text("x"), Reply::text(&"x".repeat(BIG - KIB))] {
                let mut limits = tight();
                limits.max_sessions = 10;
                limits.max_exchanges = 500;
                limits.server.limits.max_queued_events = 200;
                limits.server.limits.max_queued_out_bytes = KIB * KIB;
                limits.max_outbound_bytes = 2 * KIB * KIB;
                let mut site = Site::new(limits);
                let count = ((BIG - 2) / (element.len() + 4)).min(200);
                let elements: Vec<_> = (0..count).map(|n| element.replace('@', &n.to_string())).collect();
                let body = format!("[{}]", elements.join(","));
                let ids: Vec<String> = (0..10).map(|_| site.initialize("2025-03-26")).collect();
                for id in &ids {
                    let head = head("POST", "/mcp", &fields(accept, &[("Mcp-Session-Id", id)]));
                    site.post(&head, body.as_bytes());
                }
                site.take();
                site.respond_all(&reply);
                site.gauge.reached(10 * KIB);
            }
        }
    }
}
