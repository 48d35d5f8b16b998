//! Clients that do anything in any order to an endpoint, and an application that does too; what has to hold whatever
//! they do. The body is shared by a test over seeds and by a fuzz target.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use sanswire::http::endpoint::{Effect, EndpointConfig, ReplyShape, SessionHandle};
use sanswire::http::h1::Body;
use sanswire::http::{Endpoint, HttpHandle, RequestHead};
use sanswire::mcp::types::input::{InputKind, InputRequest, KeyedInput};
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::{Event, ListKind, Notice, Reply, RequestHandle};
use serde_json::{Value, json};

use crate::seed::Rng;
use crate::served::{LEGACY, modern_with, raw, request};
use crate::web::{PLAIN, Web, catalog, head, modern_fields, refs};

/// Bounds that are met soon.
#[must_use]
pub fn narrow(rng: &mut Rng) -> EndpointConfig {
    let mut all = crate::web::config();
    all.server.limits.max_message_bytes = 4096;
    all.server.limits.max_in_flight = 4;
    all.server.limits.violation_budget = 20;
    all.max_exchanges = 12;
    all.max_sessions = 3;
    all.max_streams = 5;
    all.max_body_bytes = 12_000;
    all.max_stream_bytes = 3000;
    all.max_outbound_bytes = 20_000;
    all.max_replay_bytes = *rng.pick(&[0, 1000, 5000]);
    all.session_idle = Duration::from_secs(60);
    all.replies = *rng.pick(&[ReplyShape::Json, ReplyShape::Json, ReplyShape::Stream]);
    all
}

/// What the endpoint may hold beside what its settings bound.
const SLACK: usize = 64 * 1024;

/// The world of one run.
struct World {
    web: Web,
    ids: Vec<String>,
    /// Bodies that are not whole yet, what is left of each.
    reading: Vec<(u64, Vec<u8>)>,
    /// Requests that are over, one way or the other.
    over: BTreeSet<(SessionHandle, RequestHandle)>,
    wire: u64,
}

/// Runs a number of steps and winds the endpoint up.
///
/// # Panics
/// If something does not hold that should.
pub fn run(rng: &mut Rng, steps: usize) -> BTreeMap<u64, crate::web::Answer> {
    let config = narrow(rng);
    let mut world = World {
        web: Web::new(config),
        ids: vec!["none".into()],
        reading: vec![],
        over: BTreeSet::new(),
        wire: 0,
    };
    for _ in 0..steps {
        world.step(rng);
        world.check();
    }
    world.wind_up();
    world.web.answers
}

impl World {
    /// The newest are used the most.
    fn some_session(&self, rng: &mut Rng) -> String {
        let newest = self.ids.len().saturating_sub(3);
        let from = if rng.chance(90) { newest } else { 0 };
        rng.pick(&self.ids[from..]).clone()
    }

    fn step(&mut self, rng: &mut Rng) {
        match rng.below(30) {
            0..=9 => self.post(rng),
            10 | 11 => self.go_on_reading(rng),
            12 | 13 => self.leave(rng),
            14 | 15 => {
                let id = self.some_session(rng);
                let last = rng.chance(60).then(|| self.some_event(rng));
                self.web.get(&id, last.as_deref());
            }
            16..=19 => self.respond(rng),
            20..=22 if rng.chance(80) => self.tell(rng),
            20..=22 => {
                let id = self.some_session(rng);
                self.web.send(head("DELETE", "/mcp", &[PLAIN[0], ("Mcp-Session-Id", &id)]), b"");
            }
            23 | 24 => {
                let wait = *rng.pick(&[1, 400, 600, 16_000, 16_000, 70_000]);
                self.web.pass(wait);
            }
            25 => self.web.endpoint.list_changed(ListKind::Tools, self.web.now),
            26 => {
                let text = "x".repeat(rng.below(1500));
                self.web.endpoint.log(LogLevel::Error, None, &raw(&json!(text)), self.web.now);
            }
            27 => self.outbound(rng),
            28 => self.web.endpoint.resource_updated("x:y", self.web.now),
            _ => self.web.endpoint.set_catalog(catalog()),
        }
        self.web.drain();
    }

    fn post(&mut self, rng: &mut Rng) {
        self.wire += 1;
        let token = json!({"progressToken": self.wire, "io.modelcontextprotocol/logLevel": "debug"});
        let id = self.some_session(rng);
        let method = *rng.pick(&[
            "tools/call",
            "tools/call",
            "tools/call",
            "tools/list",
            "subscriptions/listen",
            "x/y",
        ]);
        let mut params = json!({
            "name": *rng.pick(&["a", "b", "nowhere"]),
            "notifications": {"toolsListChanged": true, "resourceSubscriptions": ["x:y"]},
        });
        let (mut fields, body) = if rng.chance(50) {
            let body = modern_with(self.wire, method, params, token);
            (modern_fields(&body), body)
        } else {
            params["_meta"] = json!({"progressToken": self.wire});
            let body = match rng.below(10) {
                0 | 1 => {
                    let version = *rng.pick(&LEGACY);
                    let params = json!({"protocolVersion": version, "capabilities": {"roots": {}}});
                    request(self.wire, "initialize", params)
                }
                2 => json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
                3 => {
                    let params = json!({"requestId": rng.below(usize::try_from(self.wire).unwrap())});
                    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
                }
                4 => json!({"jsonrpc": "2.0", "id": rng.below(5), "result": {"roots": []}}),
                5 => {
                    let kind = *rng.pick(&["ping", "tools/call"]);
                    let one = |n: u64| request(n, kind, json!({"name": "a"}));
                    json!([one(self.wire), one(self.wire + 1000)])
                }
                6 => request(self.wire, "resources/subscribe", json!({"uri": "x:y"})),
                _ => request(self.wire, method, params),
            };
            let opens = body["method"] == "initialize";
            let mut fields: Vec<_> = PLAIN.map(|(name, value)| (name, value.to_owned())).into();
            if !opens || rng.chance(5) {
                fields.push(("Mcp-Session-Id", id));
            }
            (fields, body)
        };
        if rng.chance(20) {
            let accept = *rng.pick(&["application/json", "text/event-stream", "image/png"]);
            fields.iter_mut().find(|(name, _)| *name == "Accept").unwrap().1 = accept.into();
        }
        let mut text = body.to_string().into_bytes();
        if rng.chance(5) {
            text.pop();
        }
        if rng.chance(5) {
            text.resize(text.len() + rng.below(5000), b' ');
        }
        let head = head("POST", "/mcp", &refs(&fields));
        if rng.chance(20) {
            let n = self.web.head(head, None);
            self.reading.push((n, text));
        } else {
            let n = self.send_in_pieces(rng, head, &text);
            if let Some(id) = self.web.answers[&n].field("Mcp-Session-Id") {
                self.ids.push(id.to_owned());
                let id = id.to_owned();
                self.web.post(&id, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            }
        }
    }

    fn send_in_pieces(&mut self, rng: &mut Rng, head: RequestHead, text: &[u8]) -> u64 {
        let length = rng.chance(50).then_some(text.len() as u64);
        let n = self.web.head(head, length);
        let exchange = HttpHandle::numbered(n);
        for piece in text.chunks(1 + rng.below(300)) {
            self.web.endpoint.handle_body(exchange, Bytes::copy_from_slice(piece), self.web.now);
        }
        self.web.endpoint.handle_body_end(exchange, self.web.now);
        self.web.drain();
        n
    }

    fn go_on_reading(&mut self, rng: &mut Rng) {
        if self.reading.is_empty() {
            return;
        }
        let place = rng.below(self.reading.len());
        let (n, text) = &mut self.reading[place];
        let exchange = HttpHandle::numbered(*n);
        if rng.chance(50) && !text.is_empty() {
            let rest = text.split_off(text.len() / 2);
            let piece = std::mem::replace(text, rest);
            self.web.endpoint.handle_body(exchange, piece.into(), self.web.now);
        } else {
            if !text.is_empty() {
                self.web.endpoint.handle_body(exchange, std::mem::take(text).into(), self.web.now);
            }
            self.web.endpoint.handle_body_end(exchange, self.web.now);
            self.reading.remove(place);
        }
    }

    fn leave(&mut self, rng: &mut Rng) {
        let there: Vec<u64> = self
            .web
            .answers
            .iter()
            .filter(|(_, answer)| !answer.gone && !answer.cut)
            .map(|(n, _)| *n)
            .collect();
        let last: Vec<u64> = there.into_iter().rev().take(8).collect();
        if !last.is_empty() {
            let n = *rng.pick(&last);
            self.web.leave(n);
        }
    }

    /// An id that some client saw, or one like it.
    fn some_event(&self, rng: &mut Rng) -> String {
        if rng.chance(20) {
            return format!("{}-{}", rng.below(9), rng.below(9));
        }
        let seen = self.web.answers.values().filter(|answer| answer.streamed).rev().take(5);
        let ids: Vec<String> = seen.flat_map(|answer| answer.events()).filter_map(|event| event.id).collect();
        if ids.is_empty() { "1-0".into() } else { rng.pick(&ids).clone() }
    }

    fn respond(&mut self, rng: &mut Rng) {
        if self.web.open.is_empty() {
            return;
        }
        let place = rng.below(self.web.open.len());
        let open = self.web.open[place].clone();
        let reply = match rng.below(6) {
            0 => {
                let roots = InputRequest { kind: InputKind::ListRoots, params: None };
                Reply::InputRequired {
                    requests: vec![KeyedInput { key: "k".into(), request: roots }],
                    state: None,
                }
            }
            1 => Reply::resource_not_found("x:y"),
            _ => Reply::text(&"x".repeat(rng.below(2500))),
        };
        let done = self.web.endpoint.respond(open.session, open.request, &reply, self.web.now);
        if done.is_ok() {
            self.web.open.remove(place);
            self.over.insert((open.session, open.request));
        }
        self.web.drain();
    }

    fn tell(&mut self, rng: &mut Rng) {
        if self.web.open.is_empty() {
            return;
        }
        let open = rng.pick(&self.web.open).clone();
        let now = self.web.now;
        // None of these may fail because the request is over: it is not.
        let unknown = Err(sanswire::error::ApiError::UnknownRequest);
        match rng.below(4) {
            0 => assert_ne!(self.web.endpoint.close_stream(open.session, open.request, now), unknown),
            1 => {
                let roots = InputRequest { kind: InputKind::ListRoots, params: None };
                let asked = self.web.endpoint.request_input(open.session, open.request, &roots, now);
                assert_ne!(asked.map(|_| ()), unknown);
            }
            _ => {
                let data = raw(&json!("x".repeat(rng.below(1000))));
                let log = Notice::Log { level: LogLevel::Error, logger: None, data };
                assert_ne!(self.web.endpoint.notify(open.session, open.request, &log, now), unknown);
            }
        }
    }

    fn outbound(&mut self, rng: &mut Rng) {
        let newest = self.web.answers.keys().next_back().copied().unwrap_or(1);
        let n = newest.saturating_sub(rng.below(6) as u64).max(1);
        let there = self.web.answers.get(&n).is_some_and(|answer| !answer.gone && !answer.cut);
        if there {
            let bytes = *rng.pick(&[0, 0, 500, 4000, 15_000]);
            self.web.endpoint.set_outbound(HttpHandle::numbered(n), bytes, self.web.now);
        }
    }

    fn check(&self) {
        let web = &self.web;
        let config = web.endpoint.config();
        assert!(web.endpoint.exchanges() <= config.max_exchanges);
        assert!(web.endpoint.sessions() <= config.max_sessions);
        let bound =
            config.max_body_bytes + config.max_outbound_bytes + config.max_sessions * config.max_replay_bytes;
        let waiting = config.max_sessions * config.max_replay_bytes.max(64 * 1024);
        assert!(
            web.endpoint.retained_bytes() <= bound + waiting + SLACK,
            "{}",
            web.endpoint.retained_bytes()
        );
        assert!(web.endpoint.poll_timeout().is_none_or(|at| at > web.now));
        for (session, request) in &web.cancelled {
            assert!(!self.over.contains(&(*session, *request)), "cancelled after it was answered");
        }
        let unanswered = |answer: &&crate::web::Answer| answer.head.is_none() && !answer.gone && !answer.cut;
        let waiting = web.answers.values().filter(unanswered).count();
        assert!(waiting <= web.endpoint.exchanges(), "an exchange was forgotten");
        self.check_streams();
    }

    /// An id names one event, and no exchange answers a request twice.
    fn check_streams(&self) {
        let mut named: BTreeMap<(String, String), String> = BTreeMap::new();
        for answer in self.web.answers.values().filter(|answer| answer.streamed) {
            let mut answered = BTreeSet::new();
            for event in answer.events() {
                let message: Value = serde_json::from_str(&event.data).unwrap_or_default();
                if message.get("result").is_some() || message.get("error").is_some() {
                    assert!(answered.insert(message["id"].to_string()), "answered twice on one stream");
                }
                if let (Some(id), false) = (event.id, event.data.is_empty()) {
                    // Sessions count for themselves; what was said tells them apart well enough here.
                    let key = (id, message["id"].to_string());
                    let known = named.entry(key).or_insert_with(|| event.data.clone());
                    if message.get("result").is_some() && message["id"].as_u64().is_some_and(|id| id > 0) {
                        assert_eq!(*known, event.data);
                    }
                }
            }
        }
    }

    fn wind_up(&mut self) {
        let web = &mut self.web;
        web.endpoint.shutdown(Duration::from_secs(5), web.now);
        web.drain();
        web.pass(5000);
        assert!(web.endpoint.is_over(), "{:?}", web.endpoint);
        assert!(web.open.is_empty(), "what is open at the end is cancelled");
        for (n, answer) in &web.answers {
            assert!(answer.over || answer.gone || answer.cut, "{n}: left open: {answer:?}");
        }
        let closed = web.told.iter().filter(|(_, event)| matches!(event, Event::Closed(_)));
        let closed: Vec<_> = closed.map(|(session, _)| *session).collect();
        let once: BTreeSet<_> = closed.iter().copied().collect();
        assert_eq!(closed.len(), once.len(), "a session is closed once");
        assert_eq!(web.endpoint.poll_timeout(), None);
    }
}

/// Takes a seed from the first bytes of `data` for clients that behave, more or less, and the rest as calls in no order.
///
/// # Panics
/// If a rule is broken.
pub fn check_http_endpoint(data: &[u8]) {
    run(&mut Rng::tape(data), (data.len() / 3).min(200));
    junk(data.get(8..).unwrap_or_default());
}

/// An endpoint takes these bytes as heads, bodies and more, in whatever order they say, without a runtime's care for
/// order, and goes on.
///
/// # Panics
/// If it asks for something that cannot be.
pub fn junk(data: &[u8]) {
    let mut rng = Rng::new(data.len() as u64);
    let mut endpoint = Endpoint::new(narrow(&mut rng), [7; 32], sanswire::Instant::ZERO).unwrap();
    endpoint.set_catalog(catalog());
    let mut answered = BTreeSet::new();
    let mut now = 0;
    for chunk in data.chunks(24) {
        let n = HttpHandle::numbered(u64::from(chunk[0] % 5));
        now += u64::from(chunk[0]) * 100;
        let at = sanswire::Instant::from_millis(now);
        match chunk.get(1).map_or(0, |kind| kind % 5) {
            0 => {
                let text = String::from_utf8_lossy(&chunk[1..]).into_owned();
                let fields: Vec<_> = PLAIN.into_iter().chain([("Mcp-Method", "x")]).collect();
                let target = if chunk[0] > 50 { "/mcp" } else { text.as_str() };
                answered.remove(&n);
                endpoint.handle_head(n, head("POST", target, &fields), None, at);
            }
            1 => endpoint.handle_body(n, Bytes::copy_from_slice(chunk), at),
            2 => endpoint.handle_body_end(n, at),
            3 => endpoint.handle_gone(n, at),
            _ => endpoint.handle_timeout(at),
        }
        while let Some(effect) = endpoint.poll_effect() {
            if let Effect::Respond { exchange, body: Body::Whole(_) | Body::Empty, .. } = effect {
                answered.insert(exchange);
            }
        }
        while endpoint.poll_event().is_some() {}
        assert!(endpoint.exchanges() <= 5);
    }
}
