//! A server under test, and a client that is nothing but lines: it shares no code with the machines.

use std::collections::BTreeMap;
use std::time::Duration;

use sanswire::error::{ApiError, Violation};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::{
    CloseReason, Config, Context, Event, LineConnection, Notice, PeerOutcome, PeerRequestHandle, Reply,
    RequestHandle,
};
use sanswire::{Instant, Machine};
use serde_json::{Value, json};

use crate::watch::Side;

/// The date of the stateless revision.
pub const MODERN: &str = "2026-07-28";
/// The revisions with a handshake, oldest first.
pub const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// A request that was reported.
#[derive(Clone, Debug)]
pub struct Reported {
    /// Its handle.
    pub request: RequestHandle,
    /// Its method.
    pub method: String,
    /// Its parameters.
    pub params: Value,
    /// What is known of the asker.
    pub context: Context,
}

/// A server on one stream, a clock, and what the client at the other end saw.
#[derive(Debug)]
pub struct Rig {
    /// The server, with the checks of its contract.
    pub side: Side<LineConnection>,
    /// The time.
    pub now: Instant,
    /// Everything the server wrote, in lines.
    pub said: Vec<Value>,
    seen: usize,
    looked_at: usize,
    partial: Vec<u8>,
    /// Requests that were reported and are neither answered nor cancelled.
    pub open: BTreeMap<RequestHandle, Reported>,
    /// Requests that were cancelled.
    pub cancelled: Vec<RequestHandle>,
    /// Do not take bytes off the server by themselves.
    pub stuck: bool,
}

/// A configuration with everything switched on.
#[must_use]
pub fn config() -> Config {
    let mut config = Config::new("served", "1.0");
    config.capabilities.logging = true;
    config.capabilities.completions = true;
    config.capabilities.subscribe = true;
    config
}

/// JSON for a definition or a result.
///
/// # Panics
/// If it is none.
#[must_use]
pub fn raw(value: &Value) -> RawJson {
    RawJson::parse_str(&value.to_string()).unwrap()
}

/// A complete reply.
#[must_use]
pub fn complete(result: &Value) -> Reply {
    Reply::Complete(raw(result))
}

/// The `_meta` of a modern request.
#[must_use]
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "0"},
    })
}

/// A request.
#[must_use]
pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A request of the stateless revision; `params` is an object.
#[must_use]
pub fn modern(id: impl Into<Value>, method: &str, params: Value) -> Value {
    modern_with(id, method, params, json!({}))
}

/// As [`modern`], with more in `_meta`.
///
/// # Panics
/// If `more` is no object.
#[must_use]
pub fn modern_with(id: impl Into<Value>, method: &str, mut params: Value, more: Value) -> Value {
    params["_meta"] = meta();
    for (name, value) in more.as_object().unwrap() {
        params["_meta"][name] = value.clone();
    }
    request(id, method, params)
}

impl Rig {
    /// A server of this configuration, with the tools `a`, `b` and `echo`.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let mut rig = Self::bare(config);
        for name in ["a", "b", "echo"] {
            rig.tool(&json!({"name": name}));
        }
        rig
    }

    /// A server that lists nothing.
    ///
    /// # Panics
    /// If the configuration is refused.
    #[must_use]
    pub fn bare(config: Config) -> Self {
        let now = Instant::from_millis(1000);
        Self {
            side: Side::new(LineConnection::new(config, [7; 32], now).unwrap()),
            now,
            said: Vec::new(),
            seen: 0,
            looked_at: 0,
            partial: Vec::new(),
            open: BTreeMap::new(),
            cancelled: Vec::new(),
            stuck: false,
        }
    }

    /// A server in a session of this revision.
    #[must_use]
    pub fn legacy(config: Config, revision: &str) -> Self {
        let mut rig = Self::new(config);
        rig.initialize(revision, json!({}));
        rig
    }

    /// Opens a session; the answer.
    pub fn initialize(&mut self, revision: &str, capabilities: Value) -> Value {
        let client = json!({"name": "lines", "version": "0"});
        let params = json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": client});
        let answer = self.ask(request("init", "initialize", params));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    /// Defines a tool.
    ///
    /// # Panics
    /// If it is refused.
    pub fn tool(&mut self, definition: &Value) {
        self.side.machine.catalog_mut().tool(&raw(definition)).unwrap();
    }

    /// The client writes a message.
    pub fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    /// The client writes bytes, as far as they are read.
    pub fn send_raw(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.side.reads() {
            let taken = self.side.read(bytes, self.now);
            bytes = &bytes[taken..];
            self.drain();
        }
    }

    /// Takes off what the server wrote and told.
    ///
    /// # Panics
    /// If it breaks its contract.
    pub fn drain(&mut self) {
        loop {
            let mut more = 0;
            while !self.stuck && !self.side.machine.transmit().is_empty() {
                let bytes = self.side.write(usize::MAX, self.now);
                more += bytes.len();
                self.partial.extend_from_slice(&bytes);
            }
            more += self.side.take_events(self.now);
            if more == 0 {
                break;
            }
        }
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            assert!(!line.contains(&b'\r'), "a carriage return in a line");
            let message: Value = serde_json::from_slice(&line).expect("a line that is JSON");
            assert_eq!(message["jsonrpc"], "2.0");
            let parts = ["result", "error", "method"].iter().filter(|part| message.get(part).is_some());
            assert_eq!(parts.count(), 1, "{message}");
            self.said.push(message);
        }
        for at in self.looked_at..self.side.events.len() {
            match self.side.events[at].1.clone() {
                Event::Request { request, method, params, context } => {
                    let params = serde_json::from_slice(params.as_bytes()).unwrap();
                    let method = method.as_str().to_owned();
                    let reported = Reported { request, method, params, context: *context };
                    assert!(self.open.insert(request, reported).is_none(), "reported twice");
                }
                Event::Cancelled { request, .. } => {
                    assert!(self.open.remove(&request).is_some(), "cancelled, but not open");
                    self.cancelled.push(request);
                }
                _ => {}
            }
        }
        self.looked_at = self.side.events.len();
    }

    /// What the server wrote since the last time.
    pub fn take(&mut self) -> Vec<Value> {
        self.drain();
        let new = self.said[self.seen..].to_vec();
        self.seen = self.said.len();
        new
    }

    /// The one message that the server wrote since the last time.
    ///
    /// # Panics
    /// If it was another number.
    pub fn one(&mut self) -> Value {
        let mut new = self.take();
        assert_eq!(new.len(), 1, "{new:#?}");
        new.remove(0)
    }

    /// Sends a request and takes its one answer, which must bear its id.
    ///
    /// # Panics
    /// If there is another number of messages.
    pub fn ask(&mut self, message: Value) -> Value {
        self.take();
        self.send(&message);
        let answer = self.one();
        assert_eq!(answer["id"], message["id"], "{answer}");
        answer
    }

    /// Sends a request that is refused; the code.
    ///
    /// # Panics
    /// If it is not refused.
    pub fn refused(&mut self, message: Value) -> i64 {
        let answer = self.ask(message.clone());
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{message} is not refused: {answer}"))
    }

    /// Sends a request that is reported.
    ///
    /// # Panics
    /// If it is not, or anything is said.
    pub fn report(&mut self, message: Value) -> Reported {
        let before = self.open.len();
        self.take();
        self.send(&message);
        assert_eq!(self.take(), [] as [Value; 0], "for {message}");
        assert_eq!(self.open.len(), before + 1, "{message} is not reported");
        self.open.last_entry().unwrap().get().clone()
    }

    /// Sends a request, answers it, and takes the answer.
    pub fn answered(&mut self, message: Value, reply: &Reply) -> Value {
        let reported = self.report(message);
        self.respond(reported.request, reply).unwrap();
        self.one()
    }

    /// Answers a request.
    ///
    /// # Errors
    /// As the server says.
    pub fn respond(&mut self, request: RequestHandle, reply: &Reply) -> Result<(), ApiError> {
        self.side.machine.respond(request, reply, self.now)?;
        assert!(
            self.open.remove(&request).is_some(),
            "an answer to {request:?}, which is not open, was taken"
        );
        self.drain();
        Ok(())
    }

    /// Tells something about a request.
    ///
    /// # Errors
    /// As the server says.
    pub fn notify(&mut self, request: RequestHandle, notice: &Notice) -> Result<(), ApiError> {
        self.side.machine.notify(request, notice, self.now)?;
        self.drain();
        Ok(())
    }

    /// Asks the client for input.
    ///
    /// # Errors
    /// As the server says.
    pub fn request_input(
        &mut self,
        request: RequestHandle,
        ask: &InputRequest,
    ) -> Result<PeerRequestHandle, ApiError> {
        let peer = self.side.machine.request_input(request, ask, self.now)?;
        self.side.ledger.accept(peer);
        self.drain();
        Ok(peer)
    }

    /// Lets time pass.
    pub fn wait(&mut self, time: Duration) {
        let to = self.now.saturating_add(time);
        while let Some(at) = self.side.machine.poll_timeout().filter(|at| *at <= to) {
            self.now = self.now.max(at);
            self.side.machine.handle_timeout(self.now);
            self.drain();
            let next = self.side.machine.poll_timeout();
            assert!(self.stuck || next.is_none_or(|next| next > self.now), "a deadline does not pass");
            if next.is_some_and(|next| next <= self.now) {
                break;
            }
        }
        self.now = to;
        self.side.machine.handle_timeout(to);
        self.drain();
    }

    /// Lets milliseconds pass.
    pub fn wait_ms(&mut self, millis: u64) {
        self.wait(Duration::from_millis(millis));
    }

    /// The client ends its output.
    pub fn end(&mut self) {
        self.side.end_input(self.now);
        self.drain();
    }

    /// Why it closed, once it has.
    #[must_use]
    pub fn closed(&self) -> Option<CloseReason> {
        self.side.events.iter().find_map(|(_, event)| match event {
            Event::Closed(reason) => Some(reason.clone()),
            _ => None,
        })
    }

    /// What became of the requests for input.
    #[must_use]
    pub fn outcomes(&self) -> Vec<PeerOutcome> {
        let events = self.side.events.iter();
        events
            .filter_map(|(_, event)| match event {
                Event::Answered { outcome, .. } => Some(outcome.clone()),
                _ => None,
            })
            .collect()
    }

    /// All violations.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let events = self.side.events.iter();
        events
            .filter_map(|(_, event)| match event {
                Event::Violation(violation) => Some(violation.clone()),
                _ => None,
            })
            .collect()
    }

    /// The standing check: requests of both kinds are still answered.
    ///
    /// # Panics
    /// If they are not.
    pub fn still_works(&mut self) {
        let listed = self.ask(modern("still", "tools/list", json!({})));
        assert!(listed["result"]["tools"].is_array(), "{listed}");
        let pong = self.ask(json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"}));
        assert_eq!(pong["result"], json!({}));
    }
}
