//! A server that is sent any bytes, with an application that does anything meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use sanswire::jsonrpc::{self, ErrorObject, MAX_DEPTH, Message, RawJson};
use sanswire::limits::Limits;
use sanswire::mcp::types::input::{InputKind, InputRequest, KeyedInput};
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::{
    Event, KeepAlive, LineConnection, Notice, PeerRequestHandle, Reply, RequestHandle, UnknownTool,
};
use sanswire::{Instant, Machine};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::stream::{Role, Stage};
use crate::served::{complete, config, raw};

/// In an input, what the application does; these bytes are in no UTF-8 text. All others are the client's.
const ANSWER: u8 = 0xf8;
const ANSWER_OTHERWISE: u8 = 0xf9;
const TELL: u8 = 0xfa;
const ASK: u8 = 0xfb;
const WAIT: u8 = 0xfc;
const CHANGE: u8 = 0xfd;
const WRITE: u8 = 0xfe;
/// What a client writes is kept if it is no more than that.
const MAX_KEPT: usize = 20_000;

/// What was reported and is open, what became of it, and everything that was written.
struct Served {
    machine: LineConnection,
    now: Instant,
    most: usize,
    open: Vec<RequestHandle>,
    over: BTreeSet<RequestHandle>,
    asked: BTreeSet<PeerRequestHandle>,
    reported: usize,
    answered: usize,
    cancelled: usize,
    closed: bool,
    /// The beginning of what the client wrote.
    read: Vec<u8>,
    written: Vec<u8>,
}

/// Takes a configuration and a history from `data`: what the client writes and what the application does, in turn.
///
/// # Panics
/// If a rule is broken: a request that has more than one end, or none; an answer that is no message; bytes beyond the
/// bound; an end that does not come.
pub fn check_server_bytes(data: &[u8]) {
    let [setting, history @ ..] = data else { return };
    let mut served = Served::new(*setting);
    served.play(history);
    served.end();
}

impl Served {
    fn new(setting: u8) -> Self {
        let mut config = config();
        let mut limits = Limits::default();
        limits.max_message_bytes = 4096 << (setting & 1);
        limits.max_in_flight = 4;
        limits.max_peer_requests = 2;
        limits.max_subscriptions = 2;
        limits.max_resource_subscriptions = 3;
        limits.max_queued_out_bytes = 8192;
        limits.max_queued_event_bytes = 8192;
        limits.max_queued_events = 20;
        limits.violation_budget = 30;
        limits.max_junk_lines = 10;
        let most = limits.worst_case_server_bytes();
        config.limits = limits;
        config.page_size = 1;
        if setting & 2 != 0 {
            config.keep_alive =
                Some(KeepAlive { every: Duration::from_secs(1), timeout: Duration::from_secs(2) });
        }
        if setting & 4 != 0 {
            config.unknown_tool = UnknownTool::ToolError;
        }
        let now = Instant::from_millis(1);
        let mut machine =
            LineConnection::new(config, [9; 32], now).expect("a configuration that is in bounds");
        let catalog = machine.catalog_mut();
        catalog.tool(&raw(&json!({"name": "a", "outputSchema": {"type": "object"}}))).expect("a tool");
        catalog.tool(&raw(&json!({"name": "b"}))).expect("a tool");
        catalog.prompt(&raw(&json!({"name": "p"}))).expect("a prompt");
        catalog.resource(&raw(&json!({"uri": "x:y", "name": "r"}))).expect("a resource");
        Self {
            machine,
            now,
            most,
            open: Vec::new(),
            over: BTreeSet::new(),
            asked: BTreeSet::new(),
            reported: 0,
            answered: 0,
            cancelled: 0,
            closed: false,
            read: Vec::new(),
            written: Vec::new(),
        }
    }

    fn answer(&mut self, place: usize, reply: &Reply) {
        let request = self.open[place];
        if self.machine.respond(request, reply, self.now).is_ok() {
            self.open.remove(place);
            self.over.insert(request);
            self.answered += 1;
        }
        if let Some(over) = self.over.first() {
            let again = self.machine.respond(*over, &Reply::text("again"), self.now);
            assert!(again.is_err(), "what is over was answered");
        }
    }

    fn end(&mut self) {
        self.machine.handle_eof(self.now);
        self.look();
        // Each try answers one, or makes room for it.
        for _ in 0..2 * self.reported + 2 {
            self.write();
            self.look();
            if !self.open.is_empty() {
                self.answer(0, &Reply::Error(ErrorObject::new(1, "the end")));
                self.look();
            }
        }
        assert!(self.open.is_empty(), "{:?} can neither be answered nor are they cancelled", self.open);
        for _ in 0..4 {
            self.write();
            self.look();
            self.now = self.now.saturating_add(Duration::from_secs(10));
            self.machine.handle_timeout(self.now);
            self.look();
        }
        assert!(self.closed, "it never ends");
        assert_eq!(self.machine.poll_timeout(), None);
        assert!(self.asked.is_empty(), "a question without an end");
        assert_eq!(self.reported, self.answered + self.cancelled, "one of both for each");
        assert!(self.written.is_empty() || self.written.ends_with(b"\n"));
        for line in self.written.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let message = jsonrpc::parse(Bytes::copy_from_slice(line), MAX_DEPTH);
            let is_ours = matches!(
                &message,
                Ok(Message::Result { .. }
                    | Message::Error { .. }
                    | Message::Notification { .. }
                    | Message::Request { .. })
            );
            assert!(is_ours, "{}: {message:?}", String::from_utf8_lossy(line));
            if self.read.len() <= MAX_KEPT {
                self.answers_as_asked(line);
            }
        }
    }

    /// An answer has the id of a request, and a result or an error.
    fn answers_as_asked(&self, line: &[u8]) {
        let members: BTreeMap<String, &RawValue> = serde_json::from_slice(line).expect("an object");
        if members.contains_key("method") {
            return;
        }
        let shown = String::from_utf8_lossy(line);
        assert!(members.contains_key("result") != members.contains_key("error"), "{shown}");
        if let Some(id) = members.get("id").map(|id| id.get()).filter(|id| *id != "null") {
            // As it was written, or as it was meant: a line that is too long is answered without a look at its rest,
            // which may be no JSON.
            let meant = serde_json::from_str::<Value>(id).expect("an id");
            let from = |at: usize| {
                serde_json::Deserializer::from_slice(&self.read[at..]).into_iter::<Value>().next()
            };
            let asked = self.read.windows(id.len()).any(|part| part == id.as_bytes())
                || (0..self.read.len())
                    .filter(|at| matches!(self.read[*at], b'"' | b'-' | b'0'..=b'9'))
                    .any(|at| matches!(from(at), Some(Ok(value)) if meant == value));
            assert!(asked, "nobody used that id: {shown}");
        }
    }
}

impl Role for Served {
    type Machine = LineConnection;

    fn stage(&mut self) -> Stage<'_, LineConnection> {
        Stage { machine: &mut self.machine, now: &mut self.now, written: &mut self.written }
    }

    fn took(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(MAX_KEPT.saturating_add(1).saturating_sub(self.read.len()));
        self.read.extend_from_slice(&bytes[..kept]);
    }

    fn look(&mut self) {
        assert!(self.machine.retained_bytes() <= self.most, "{} bytes held", self.machine.retained_bytes());
        while let Some(event) = self.machine.poll_event() {
            assert!(!self.closed, "an event after the last: {event:?}");
            match event {
                Event::Request { request, .. } => {
                    assert!(!self.over.contains(&request) && !self.open.contains(&request), "reported twice");
                    self.reported += 1;
                    self.open.push(request);
                }
                Event::Cancelled { request, .. } => {
                    let place = self.open.iter().position(|open| *open == request);
                    self.open.remove(place.expect("what is cancelled was open"));
                    self.over.insert(request);
                    self.cancelled += 1;
                }
                Event::Answered { peer, .. } => assert!(self.asked.remove(&peer), "an answer to no question"),
                Event::Closed(_) => self.closed = true,
                _ => {}
            }
        }
    }

    fn act(&mut self, what: u8) {
        let (first, last) = (0, self.open.len().saturating_sub(1));
        let roots = InputRequest { kind: InputKind::ListRoots, params: None };
        match what {
            ANSWER if !self.open.is_empty() => {
                let result = json!({"content": [], "structuredContent": {}, "messages": [], "contents": []});
                self.answer(first, &complete(&result));
            }
            ANSWER_OTHERWISE if !self.open.is_empty() => {
                let requests = vec![KeyedInput { key: "k".into(), request: roots }];
                let asking = Reply::InputRequired { requests, state: Some("s".into()) };
                let others =
                    [Reply::Error(ErrorObject::new(7, "no")), asking, Reply::text(&"x".repeat(3000))];
                self.answer(last, &others[self.answered % 3]);
            }
            TELL => {
                if let Some(request) = self.open.last() {
                    let progress =
                        Notice::Progress { progress: self.answered as f64, total: None, message: None };
                    let _ = self.machine.notify(*request, &progress, self.now);
                    let log = Notice::Log { level: LogLevel::Error, logger: None, data: RawJson::null() };
                    let _ = self.machine.notify(*request, &log, self.now);
                }
                let _ = self.machine.log(LogLevel::Info, None, &RawJson::null(), self.now);
            }
            ASK => {
                if let Some(request) = self.open.first() {
                    let asked = self.machine.request_input(*request, &roots, self.now);
                    self.asked.extend(asked);
                }
            }
            WAIT => self.pass(Duration::from_millis(600)),
            CHANGE => {
                self.machine.tools_changed(self.now);
                let _ = self.machine.resource_updated("x:y", self.now);
            }
            // And an answer where nothing is open.
            WRITE | ANSWER | ANSWER_OTHERWISE => self.write(),
            _ => {}
        }
        self.look();
    }
}
