//! An endpoint under test, and clients that are nothing but heads and bodies.

use std::collections::BTreeMap;

use bytes::Bytes;
use sanswire::Instant;
use sanswire::error::ApiError;
use sanswire::http::endpoint::{Effect, EndpointConfig, SessionHandle};
use sanswire::http::h1::Body;
use sanswire::http::{Endpoint, Fields, HttpHandle, RequestHead, ResponseHead, Verb};
use sanswire::mcp::Method;
use sanswire::mcp::types::request::CallTool;
use sanswire::server::{Catalog, Context, Event, Reply, RequestHandle};
use serde_json::{Value, json};

use crate::served::{MODERN, raw};

/// A request that was reported.
#[derive(Clone, Debug)]
pub struct Reported {
    /// Its session.
    pub session: SessionHandle,
    /// Its handle.
    pub request: RequestHandle,
    /// Its method.
    pub method: Method,
    /// Its parameters.
    pub params: Value,
    /// What is known of the asker.
    pub context: Context,
}

/// What became of an exchange, as its client sees it.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Its body is wanted.
    pub wants_body: bool,
    /// The head.
    pub head: Option<ResponseHead>,
    /// What came of the body.
    pub body: Vec<u8>,
    /// It comes piece by piece.
    pub streamed: bool,
    /// It is whole.
    pub over: bool,
    /// It was cut off.
    pub cut: bool,
    /// The client left.
    pub gone: bool,
}

/// An event of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamEvent {
    /// Its id.
    pub id: Option<String>,
    /// Its data; empty for one that has none.
    pub data: String,
    /// How long to wait before coming back.
    pub retry: Option<u64>,
}

impl Answer {
    /// The status, 0 before it is there.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.head.as_ref().map_or(0, |head| head.status)
    }

    /// A field of the head.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.head.as_ref()?.fields.text(name)
    }

    /// The body, as JSON.
    ///
    /// # Panics
    /// If it is none, or the head says something else.
    #[must_use]
    pub fn json(&self) -> Value {
        assert_eq!(self.field("Content-Type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The code of the error in the body, `None` if there is none.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        serde_json::from_slice::<Value>(&self.body).ok()?["error"]["code"].as_i64()
    }

    /// The events of the stream so far, by an own reader; comments are left out.
    ///
    /// # Panics
    /// If it is no stream of events.
    #[must_use]
    pub fn events(&self) -> Vec<StreamEvent> {
        assert_eq!(self.field("Content-Type"), Some("text/event-stream"), "{self:?}");
        let text = std::str::from_utf8(&self.body).unwrap();
        let mut events = Vec::new();
        for block in text.split("\n\n").filter(|block| !block.is_empty() && !block.starts_with(':')) {
            let mut event = StreamEvent::default();
            for line in block.lines() {
                match line.split_once(": ").unwrap() {
                    ("id", id) => event.id = Some(id.into()),
                    ("data", data) => event.data = data.into(),
                    ("retry", time) => event.retry = Some(time.parse().unwrap()),
                    other => panic!("{other:?}"),
                }
            }
            events.push(event);
        }
        events
    }

    /// The messages of the stream so far.
    ///
    /// # Panics
    /// If one is no JSON.
    #[must_use]
    pub fn messages(&self) -> Vec<Value> {
        let events = self.events().into_iter().filter(|event| !event.data.is_empty());
        events.map(|event| serde_json::from_str(&event.data).unwrap()).collect()
    }
}

/// An endpoint, a clock, and what its clients saw. Checks with every effect that it is one that may come now.
#[derive(Debug)]
pub struct Web {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The time.
    pub now: Instant,
    /// By the number of their exchange.
    pub answers: BTreeMap<u64, Answer>,
    /// Requests that are open, oldest first.
    pub open: Vec<Reported>,
    /// Requests that were cancelled.
    pub cancelled: Vec<(SessionHandle, RequestHandle)>,
    /// All other events.
    pub told: Vec<(SessionHandle, Event)>,
    last: u64,
}

/// Tools `a` and `b`, a prompt and a resource.
///
/// # Panics
/// Never.
#[must_use]
pub fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    for name in ["a", "b"] {
        catalog.tool(&raw(&json!({"name": name}))).unwrap();
    }
    let schema = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "limit": {"type": "integer", "x-mcp-header": "Limit"},
        "other": {"type": "string"},
    }});
    catalog.tool(&raw(&json!({"name": "marked", "inputSchema": schema}))).unwrap();
    catalog.prompt(&raw(&json!({"name": "p"}))).unwrap();
    catalog.resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    catalog
}

/// The defaults, with everything switched on.
#[must_use]
pub fn config() -> EndpointConfig {
    EndpointConfig::new(crate::served::config())
}

/// Fields that every POST needs.
pub const PLAIN: [(&str, &str); 3] = [
    ("Host", "localhost:8080"),
    ("Content-Type", "application/json"),
    ("Accept", "application/json, text/event-stream"),
];

/// A head.
///
/// # Panics
/// If a field is none.
#[must_use]
pub fn head(verb: &str, target: &str, fields: &[(&str, &str)]) -> RequestHead {
    let mut head = RequestHead { verb: Verb::named(verb), target: target.into(), fields: Fields::new() };
    for (name, value) in fields {
        head.fields.push(name, value.as_bytes()).unwrap();
    }
    head
}

/// The fields that a request of 2026-07-28 has.
#[must_use]
pub fn modern_fields(body: &Value) -> Vec<(&'static str, String)> {
    let mut fields: Vec<_> = PLAIN.map(|(name, value)| (name, value.to_owned())).into();
    fields.push(("MCP-Protocol-Version", MODERN.into()));
    fields.push(("Mcp-Method", body["method"].as_str().unwrap_or_default().into()));
    let name = match body["method"].as_str() {
        Some("tools/call" | "prompts/get") => &body["params"]["name"],
        Some("resources/read") => &body["params"]["uri"],
        _ => &Value::Null,
    };
    if let Some(name) = name.as_str() {
        fields.push(("Mcp-Name", name.into()));
    }
    fields
}

/// Fields as they go into a [`head`].
#[must_use]
pub fn refs<'a>(fields: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    fields.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

impl Web {
    /// An endpoint of this configuration, with [`catalog`].
    ///
    /// # Panics
    /// If the configuration is refused.
    #[must_use]
    pub fn new(config: EndpointConfig) -> Self {
        let now = Instant::from_millis(1000);
        let mut endpoint = Endpoint::new(config, [7; 32], now).unwrap();
        endpoint.set_catalog(catalog());
        let (answers, open, cancelled, told) = Default::default();
        Self { endpoint, now, answers, open, cancelled, told, last: 0 }
    }

    /// A head comes; the number of its exchange.
    pub fn head(&mut self, head: RequestHead, length: Option<u64>) -> u64 {
        self.last += 1;
        self.answers.insert(self.last, Answer::default());
        self.endpoint.handle_head(HttpHandle::numbered(self.last), head, length, self.now);
        self.drain();
        self.last
    }

    /// A whole request comes.
    pub fn send(&mut self, head: RequestHead, body: &[u8]) -> u64 {
        let n = self.head(head, Some(body.len() as u64));
        if !body.is_empty() {
            self.endpoint.handle_body(HttpHandle::numbered(n), Bytes::copy_from_slice(body), self.now);
        }
        self.endpoint.handle_body_end(HttpHandle::numbered(n), self.now);
        self.drain();
        n
    }

    /// A POST with these fields.
    pub fn post_with(&mut self, fields: &[(&str, &str)], body: &Value) -> u64 {
        self.send(head("POST", "/mcp", fields), body.to_string().as_bytes())
    }

    /// A request of 2026-07-28, as it should be.
    pub fn modern(&mut self, body: &Value) -> u64 {
        let fields = modern_fields(body);
        self.post_with(&refs(&fields), body)
    }

    /// Opens a session; its id.
    ///
    /// # Panics
    /// If there is none.
    pub fn initialize(&mut self, revision: &str, capabilities: &Value) -> String {
        let client = json!({"name": "web", "version": "0"});
        let params = json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": client});
        let n = self.post_with(&PLAIN, &crate::served::request(0, "initialize", params));
        let id = self.answers[&n].field("Mcp-Session-Id").unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let n = self.post(&id, &ready);
        assert_eq!(self.answers[&n].status(), 202);
        id
    }

    /// A POST in a session.
    pub fn post(&mut self, id: &str, body: &Value) -> u64 {
        let mut fields = PLAIN.to_vec();
        fields.push(("Mcp-Session-Id", id));
        self.post_with(&fields, body)
    }

    /// A GET in a session.
    pub fn get(&mut self, id: &str, last_event: Option<&str>) -> u64 {
        let mut fields = vec![("Host", "localhost"), ("Accept", "text/event-stream"), ("Mcp-Session-Id", id)];
        fields.extend(last_event.map(|id| ("Last-Event-ID", id)));
        self.send(head("GET", "/mcp", &fields), b"")
    }

    /// The client of an exchange leaves.
    pub fn leave(&mut self, n: u64) {
        self.answers.get_mut(&n).unwrap().gone = true;
        self.endpoint.handle_gone(HttpHandle::numbered(n), self.now);
        self.drain();
    }

    /// The application answers the request that was reported at this place, with a text.
    ///
    /// # Panics
    /// If it cannot.
    pub fn reply(&mut self, place: usize, text: &str) {
        self.respond(place, &Reply::text(text)).unwrap();
    }

    /// The application answers the request that was reported at this place.
    ///
    /// # Errors
    /// Those of the endpoint.
    pub fn respond(&mut self, place: usize, reply: &Reply) -> Result<(), ApiError> {
        let open = self.open.remove(place);
        let done = self.endpoint.respond(open.session, open.request, reply, self.now);
        self.drain();
        done
    }

    /// The time goes on.
    pub fn pass(&mut self, millis: u64) {
        let end = Instant::from_micros(self.now.as_micros() + millis * 1000);
        while let Some(at) = self.endpoint.poll_timeout().filter(|at| *at <= end) {
            assert!(at > self.now, "a deadline lies in the future after a drain");
            self.now = at;
            self.endpoint.handle_timeout(at);
            self.drain();
        }
        self.now = end;
    }

    /// Takes what the endpoint wants done and tells.
    ///
    /// # Panics
    /// If it breaks its contract.
    pub fn drain(&mut self) {
        while let Some(effect) = self.endpoint.poll_effect() {
            self.take(effect);
        }
        while let Some((session, event)) = self.endpoint.poll_event() {
            match event {
                Event::Request { request, method, params, context } => {
                    if method == Method::ToolsCall {
                        CallTool::read(&params).unwrap();
                    }
                    let params = serde_json::from_str(params.as_str()).unwrap();
                    self.open.push(Reported { session, request, method, params, context: *context });
                }
                Event::Cancelled { request, .. } => {
                    let before = self.open.len();
                    self.open.retain(|open| (open.session, open.request) != (session, request));
                    assert_eq!(self.open.len() + 1, before, "only what is open is cancelled");
                    self.cancelled.push((session, request));
                }
                event => self.told.push((session, event)),
            }
        }
    }

    fn take(&mut self, effect: Effect) {
        let (Effect::TakeBody { exchange }
        | Effect::Respond { exchange, .. }
        | Effect::Send { exchange, .. }
        | Effect::End { exchange }
        | Effect::Close { exchange }) = &effect
        else {
            panic!("{effect:?}");
        };
        let n = exchange.number();
        let answer = self.answers.get_mut(&n).unwrap_or_else(|| panic!("nobody asked: {effect:?}"));
        assert!(!answer.gone && !answer.cut, "{n}: nothing after its client has left: {effect:?}");
        match effect {
            Effect::TakeBody { .. } => {
                assert!(!answer.wants_body && answer.head.is_none(), "{n}: asked twice for its body");
                answer.wants_body = true;
            }
            Effect::Respond { head, body, .. } => {
                assert!(answer.head.is_none(), "{n}: answered twice");
                answer.head = Some(head);
                match body {
                    Body::Empty => answer.over = true,
                    Body::Whole(body) => {
                        answer.body = body.to_vec();
                        answer.over = true;
                    }
                    Body::Stream => answer.streamed = true,
                }
            }
            Effect::Send { piece, .. } => {
                assert!(answer.streamed && !answer.over, "{n}: a piece of nothing");
                assert!(!piece.is_empty());
                answer.body.extend_from_slice(&piece);
            }
            Effect::End { .. } => {
                assert!(answer.streamed && !answer.over, "{n}: ended twice");
                answer.over = true;
            }
            _ => answer.cut = true,
        }
    }
}
