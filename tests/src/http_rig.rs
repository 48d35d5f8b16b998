//! A client over HTTP, exchange by exchange: the test is the server.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use sanswire::Instant;
use sanswire::client::{Config, Event, Link as _, Outcome, RequestHandle, RequestOptions, Start, Verdict};
use sanswire::error::{CloseReason, Violation};
use sanswire::http::client::{Effect, End, Target};
use sanswire::http::{Authority, Client, HttpHandle, RequestHead, ResponseHead, Url};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use serde_json::{Value, json};

use crate::peer::{discover_result, initialize_result};

/// Where the server is.
pub const URL: &str = "https://mcp.example:8443/mcp";
/// The type of one message.
pub const JSON: (&str, &str) = ("Content-Type", "application/json");
/// The type of a stream.
pub const SSE: (&str, &str) = ("Content-Type", "text/event-stream");

/// A request that the client sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Its exchange.
    pub exchange: HttpHandle,
    /// To whom.
    pub to: Authority,
    /// Its head.
    pub head: RequestHead,
    /// Its content.
    pub body: Bytes,
}

impl Sent {
    /// A field of it.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.head.fields.text(name)
    }

    /// Its message.
    ///
    /// # Panics
    /// If it is no JSON.
    #[must_use]
    pub fn message(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The method of its message.
    #[must_use]
    pub fn method(&self) -> String {
        self.message()["method"].as_str().unwrap_or("response").to_owned()
    }
}

/// A client, and what it wants and tells.
#[derive(Debug)]
pub struct Rig {
    /// The client.
    pub client: Client,
    /// The time.
    pub now: Instant,
    sent: VecDeque<Sent>,
    /// Exchanges that the client closed.
    pub closed: Vec<HttpHandle>,
    /// What it told.
    pub events: Vec<Event>,
}

impl Rig {
    /// A client that has just begun.
    ///
    /// # Panics
    /// If its configuration is refused.
    #[must_use]
    pub fn new(config: Config, target: Target) -> Self {
        let now = Instant::from_millis(1000);
        let client = Client::new(config, target, [1; 32], now).unwrap();
        let mut rig = Self { client, now, sent: VecDeque::new(), closed: Vec::new(), events: Vec::new() };
        rig.drain();
        rig
    }

    /// A server of which nothing is known.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn unknown() -> Self {
        Self::new(Config::new("rig", "1"), Target::new(Url::parse(URL).unwrap()))
    }

    /// A modern server that is ready.
    #[must_use]
    pub fn modern() -> Self {
        let mut rig = Self::unknown();
        let probe = rig.take();
        rig.reply(&probe, discover_result(&["2026-07-28"]));
        rig
    }

    /// A server of the older kind that is ready, and has no stream to push on.
    #[must_use]
    pub fn legacy(revision: &str, session: Option<&str>) -> Self {
        let mut rig = Self::remembering(Verdict::Legacy);
        rig.handshake(revision, session);
        let get = rig.take();
        rig.answer(&get, 405, &[], b"");
        rig
    }

    /// A client that starts with what was remembered.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn remembering(verdict: Verdict) -> Self {
        let mut config = Config::new("rig", "1");
        config.start = Start::Remembered(verdict);
        Self::new(config, Target::new(Url::parse(URL).unwrap()))
    }

    /// The handshake of the older revisions, up to the GET that follows it.
    ///
    /// # Panics
    /// If something else is sent.
    pub fn handshake(&mut self, revision: &str, session: Option<&str>) {
        let initialize = self.take();
        assert_eq!(initialize.method(), "initialize");
        assert_eq!(initialize.field("mcp-session-id"), None);
        let id = session.map(|id| ("MCP-Session-Id", id));
        let fields: Vec<_> = [JSON].into_iter().chain(id).collect();
        let result = json!({"jsonrpc": "2.0", "id": initialize.message()["id"], "result": initialize_result(revision)});
        self.answer(&initialize, 200, &fields, result.to_string().as_bytes());
        let initialized = self.take();
        assert_eq!(initialized.method(), "notifications/initialized");
        self.answer(&initialized, 202, &[], b"");
    }

    /// Takes what the client wants and tells.
    fn drain(&mut self) {
        loop {
            while let Some(effect) = self.client.poll_effect() {
                match effect {
                    Effect::Open { exchange, to, head, body, .. } => {
                        self.sent.push_back(Sent { exchange, to, head, body });
                    }
                    Effect::Close { exchange } => self.closed.push(exchange),
                    _ => panic!("{effect:?}"),
                }
            }
            let Some(event) = self.client.poll_event() else { break };
            self.events.push(event);
        }
        if let Some(at) = self.client.poll_timeout() {
            assert!(at > self.now, "drained, and the deadline {at:?} is not ahead of {:?}", self.now);
        }
    }

    /// The next request, which begins to leave.
    ///
    /// # Panics
    /// If there is none.
    pub fn take(&mut self) -> Sent {
        let sent = self.queued().unwrap_or_else(|| panic!("nothing is sent: {:?}", self.events));
        self.client.handle_sent(sent.exchange, self.now);
        sent
    }

    /// The next request, nothing of which has left.
    pub fn queued(&mut self) -> Option<Sent> {
        self.sent.pop_front()
    }

    /// Whether nothing else is sent.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.sent.is_empty()
    }

    /// Nothing else is sent.
    ///
    /// # Panics
    /// If something is.
    pub fn quiet(&self) {
        assert!(self.sent.is_empty(), "{:?}", self.sent);
    }

    /// The head of an answer.
    ///
    /// # Panics
    /// If a field is none.
    pub fn head(&mut self, to: &Sent, status: u16, fields: &[(&str, &str)]) {
        let mut head = ResponseHead::new(status);
        for (name, value) in fields {
            head.fields.push(name, value.as_bytes()).unwrap();
        }
        self.client.handle_head(to.exchange, &head, self.now);
        self.drain();
    }

    /// A piece of its content.
    pub fn body(&mut self, to: &Sent, piece: &[u8]) {
        self.client.handle_body(to.exchange, Bytes::copy_from_slice(piece), self.now);
        self.drain();
    }

    /// Its end.
    pub fn end(&mut self, to: &Sent, end: End) {
        self.client.handle_end(to.exchange, end, self.now);
        self.drain();
    }

    /// A whole answer.
    pub fn answer(&mut self, to: &Sent, status: u16, fields: &[(&str, &str)], body: &[u8]) {
        self.answer_in(to, status, fields, &[body]);
    }

    /// A whole answer whose content comes in these pieces.
    pub fn answer_in(&mut self, to: &Sent, status: u16, fields: &[(&str, &str)], pieces: &[&[u8]]) {
        self.head(to, status, fields);
        for piece in pieces {
            self.body(to, piece);
        }
        self.end(to, End::Whole);
    }

    /// The result of a request, as one message.
    pub fn reply(&mut self, to: &Sent, result: Value) {
        let message = json!({"jsonrpc": "2.0", "id": to.message()["id"], "result": result});
        self.answer(to, 200, &[JSON], message.to_string().as_bytes());
    }

    /// Time passes.
    pub fn wait(&mut self, time: Duration) {
        let to = self.now.saturating_add(time);
        while let Some(at) = self.client.poll_timeout().filter(|at| *at <= to) {
            self.now = at;
            self.client.handle_timeout(at);
            self.drain();
        }
        self.now = to;
        self.client.handle_timeout(to);
        self.drain();
    }

    /// Makes a request.
    ///
    /// # Panics
    /// If it is refused.
    pub fn request(&mut self, method: Method, params: Value) -> RequestHandle {
        let params = RawJson::parse_str(&params.to_string()).unwrap();
        let options = RequestOptions::default();
        let request = self.client.request(method, Some(params), &options, self.now).unwrap();
        self.drain();
        request
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: Value) -> RequestHandle {
        self.request(Method::ToolsCall, json!({"name": tool, "arguments": arguments}))
    }

    /// Gives a request up.
    ///
    /// # Panics
    /// If it is over.
    pub fn cancel(&mut self, request: RequestHandle) {
        self.client.cancel(request, None, self.now).unwrap();
        self.drain();
    }

    /// Ends the conversation.
    pub fn close(&mut self) {
        self.client.close(self.now);
        self.drain();
    }

    /// How a request ended, if it did.
    ///
    /// # Panics
    /// If it ended twice.
    #[must_use]
    pub fn outcome(&self, of: RequestHandle) -> Option<Outcome> {
        let mut all = self.events.iter().filter_map(|event| match event {
            Event::Finished { request, outcome } if *request == of => Some(outcome.clone()),
            _ => None,
        });
        let first = all.next();
        assert_eq!(all.next(), None, "it ends once");
        first
    }

    /// The result of a request.
    ///
    /// # Panics
    /// If it has none.
    pub fn result(&self, of: RequestHandle) -> Value {
        match self.outcome(of) {
            Some(Outcome::Complete(raw)) => serde_json::from_slice(raw.as_bytes()).unwrap(),
            other => panic!("{other:?}; {:?}", self.events),
        }
    }

    /// What was wrong.
    #[must_use]
    pub fn violations(&self) -> Vec<&Violation> {
        let told = self.events.iter();
        told.filter_map(|event| if let Event::Violation(violation) = event { Some(violation) } else { None })
            .collect()
    }

    /// Why it is over, if it is.
    #[must_use]
    pub fn closed(&self) -> Option<&CloseReason> {
        match self.events.last() {
            Some(Event::Closed(reason)) => Some(reason),
            _ => None,
        }
    }
}
