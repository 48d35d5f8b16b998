//! A client that is sent any bytes, with an application that asks, cancels and answers meanwhile.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use sanswire::client::{
    Config, Event, InputAnswers, InputRequired, LineConnection, Link as _, Outcome, PeerRequestHandle,
    RequestHandle, RequestOptions, Start, Verdict, params,
};
use sanswire::jsonrpc::{self, MAX_DEPTH, Message, RawJson};
use sanswire::limits::Limits;
use sanswire::mcp::types::input::InputAnswer;
use sanswire::mcp::{Method, Revision};
use sanswire::{Instant, Machine};
use serde_json::Value;

use super::stream::{Role, Stage};

// In an input, what the application does; these bytes are in no UTF-8 text. All others are the server's.

/// A tool is called.
pub const CALL: u8 = 0xf8;
const ASK: u8 = 0xf9;
const CANCEL: u8 = 0xfa;
/// A request of the server is answered.
pub const ANSWER: u8 = 0xfb;
const WAIT: u8 = 0xfc;
/// A call that asked for input goes on.
pub const GO_ON: u8 = 0xfd;
/// What waits is written.
pub const WRITE: u8 = 0xfe;

/// What was asked and is open, what became of it, and everything that was written.
struct Asking {
    machine: LineConnection,
    now: Instant,
    most: usize,
    open: Vec<RequestHandle>,
    over: BTreeSet<RequestHandle>,
    peers: Vec<PeerRequestHandle>,
    rounds: Vec<InputRequired>,
    asked: usize,
    ended: usize,
    ready: usize,
    closed: bool,
    written: Vec<u8>,
}

/// Takes a configuration and a history from `data`: what the server writes and what the application does, in turn.
///
/// # Panics
/// If a rule is broken: a request that ends twice or never; something written that is no message, or twice the same id;
/// bytes beyond the bound; a deadline that does not pass; an end that does not come.
pub fn check_client_bytes(data: &[u8]) {
    let [setting, history @ ..] = data else { return };
    let mut asking = Asking::new(*setting);
    asking.play(history);
    asking.end(setting & 0x80 != 0);
}

impl Asking {
    fn new(setting: u8) -> Self {
        let starts = [
            Start::Unknown,
            Start::Pinned(Revision::V2026_07_28),
            Start::Pinned(Revision::V2025_11_25),
            Start::Pinned(Revision::V2025_03_26),
            Start::Remembered(Verdict::Legacy),
            Start::Remembered(Verdict::Modern),
            Start::Pinned(Revision::V2024_11_05),
            Start::Unknown,
        ];
        let mut config = Config::new("asking", "1.0");
        config.start = starts[usize::from(setting & 7)].clone();
        let can = &mut config.capabilities;
        (can.roots, can.sampling, can.elicitation_form, can.elicitation_url) = (true, true, true, true);
        config.lenient_ids = setting & 8 != 0;
        let limits = &mut config.limits;
        limits.max_message_bytes = 4096 << (setting >> 4 & 1);
        limits.max_in_flight = 4;
        limits.max_peer_requests = 2;
        limits.max_subscriptions = 1;
        limits.max_queued_out_bytes = 8192;
        limits.max_queued_event_bytes = 8192;
        limits.max_queued_events = 20;
        limits.violation_budget = 30;
        let most = Limits::worst_case_bytes(limits);
        let now = Instant::from_millis(1);
        let machine = LineConnection::new(config, [9; 32], now).expect("a configuration that is in bounds");
        Self {
            machine,
            now,
            most,
            open: Vec::new(),
            over: BTreeSet::new(),
            peers: Vec::new(),
            rounds: Vec::new(),
            asked: 0,
            ended: 0,
            ready: 0,
            closed: false,
            written: Vec::new(),
        }
    }

    fn asked(&mut self, asked: Result<RequestHandle, sanswire::error::ApiError>) {
        if let Ok(request) = asked {
            assert!(self.ready == 1, "it was not ready");
            assert!(!self.open.contains(&request) && !self.over.contains(&request), "a handle twice");
            self.open.push(request);
            self.asked += 1;
        }
    }

    fn end(&mut self, by_us: bool) {
        if by_us {
            self.machine.close(self.now)
        } else {
            self.machine.handle_eof(self.now)
        }
        for _ in 0..4 {
            self.look();
            self.write();
            self.now = self.now.saturating_add(Duration::from_secs(1000));
            self.machine.handle_timeout(self.now);
        }
        self.look();
        assert!(self.closed, "it never ends");
        assert_eq!(self.machine.poll_timeout(), None);
        assert_eq!(self.asked, self.ended, "one end for each");
        let late = self.machine.call_tool("t", None, &RequestOptions::default(), self.now);
        assert!(late.is_err(), "it takes requests after its end");
        assert!(self.written.is_empty() || self.written.ends_with(b"\n"));
        let mut ids = BTreeSet::new();
        for line in self.written.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let shown = String::from_utf8_lossy(line);
            match jsonrpc::parse(Bytes::copy_from_slice(line), MAX_DEPTH) {
                Ok(Message::Request { .. }) => {
                    let message: Value = serde_json::from_slice(line).expect("JSON");
                    assert!(
                        ids.insert(message["id"].as_u64().expect("ids are counted")),
                        "an id twice: {shown}"
                    );
                }
                Ok(_) => {}
                Err(fault) => panic!("{shown}: {fault}"),
            }
        }
    }
}

impl Role for Asking {
    type Machine = LineConnection;

    fn stage(&mut self) -> Stage<'_, LineConnection> {
        Stage { machine: &mut self.machine, now: &mut self.now, written: &mut self.written }
    }

    fn look(&mut self) {
        assert!(self.machine.retained_bytes() <= self.most, "{} bytes held", self.machine.retained_bytes());
        while let Some(event) = self.machine.poll_event() {
            assert!(!self.closed, "an event after the last: {event:?}");
            match event {
                Event::Ready(_) => {
                    self.ready += 1;
                    assert_eq!(self.ready, 1, "it is ready once");
                }
                Event::Finished { request, outcome } => {
                    let place = self.open.iter().position(|open| *open == request);
                    self.open.remove(place.expect("what ends was open"));
                    self.over.insert(request);
                    self.ended += 1;
                    if let Outcome::InputRequired(input) = outcome {
                        self.rounds.push(*input);
                    }
                }
                Event::Progress { request, .. } => {
                    assert!(self.open.contains(&request), "progress of what is not open");
                }
                Event::Notification { subscription: Some(request), .. } => {
                    assert!(self.open.contains(&request), "news of what is not open");
                }
                Event::PeerRequest { handle, .. } => self.peers.push(handle),
                Event::PeerRequestEnded { handle } => self.peers.retain(|peer| *peer != handle),
                Event::Closed(_) => self.closed = true,
                _ => {}
            }
        }
        assert!(!self.closed || self.open.is_empty(), "it is over, and {:?} never ended", self.open);
    }

    fn act(&mut self, what: u8) {
        let options = RequestOptions::default();
        match what {
            CALL => {
                let asked = self.machine.call_tool("t", None, &options, self.now);
                self.asked(asked);
            }
            ASK => {
                let filter = RawJson::parse_str(r#"{"toolsListChanged":true}"#).expect("JSON");
                let listen = params::listen(&filter);
                let all = [
                    (Method::ToolsList, None),
                    (Method::ResourcesRead, Some(params::uri("x:y"))),
                    (Method::SubscriptionsListen, Some(listen)),
                    (Method::PromptsGet, Some(params::get_prompt("p", &[]))),
                    (Method::Ping, None),
                ];
                let (method, params) = all[self.asked % all.len()].clone();
                let asked = self.machine.request(method, params, &options, self.now);
                self.asked(asked);
            }
            CANCEL => {
                if let Some(request) = self.open.first().copied() {
                    let done = self.machine.cancel(request, Some("enough"), self.now);
                    done.expect("what is open can be cancelled");
                    self.look();
                    assert!(!self.open.contains(&request) || !self.machine.wants_read(), "it goes on");
                }
                if let Some(over) = self.over.first() {
                    let again = self.machine.cancel(*over, None, self.now);
                    assert!(again.is_err(), "what is over was cancelled");
                }
            }
            ANSWER => {
                if let Some(peer) = self.peers.pop() {
                    let answers = [
                        InputAnswer::Decline,
                        InputAnswer::Result(RawJson::parse_str(r#"{"roots":[]}"#).expect("JSON")),
                        InputAnswer::Cancel,
                    ];
                    let done = self.machine.answer(peer, &answers[self.ended % 3], self.now);
                    if done.is_ok() {
                        let again = self.machine.answer(peer, &InputAnswer::Cancel, self.now);
                        assert!(again.is_err(), "answered twice");
                    }
                }
            }
            WAIT => self.pass(Duration::from_millis(2600)),
            GO_ON => {
                if let Some(input) = self.rounds.pop() {
                    let answers = InputAnswers::collect(&input, |_| InputAnswer::Cancel);
                    let asked = self.machine.resume(&input, &answers, &options, self.now);
                    self.asked(asked);
                }
                let _ = self.machine.notify(Method::RootsListChanged, None, self.now);
            }
            _ => self.write(),
        }
        self.look();
    }
}
