//! What may go where, when each exchange has a stream of its own, whatever happens in whatever order.

use std::collections::{BTreeMap, BTreeSet};

use sanswire::Instant;
use sanswire::exchange::{ExchangeHandle, Origin};
use sanswire::frame::Frame;
use sanswire::mcp::types::input::{InputKind, InputRequest, KeyedInput};
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::{Effect, Event, Notice, Principal, Reply, RequestHandle, Session};
use sanswire_tests::seed::{Rng, each_seed};
use sanswire_tests::served::{config, modern_with, raw, request};
use serde_json::{Value, json};

/// What was asked on an exchange.
#[derive(Debug)]
struct Asked {
    id: String,
    modern: bool,
    listens: bool,
    /// Nothing more is to come there.
    over: bool,
    answered: bool,
}

struct Streams {
    session: Session,
    rng: Rng,
    now: Instant,
    asked: BTreeMap<u64, Asked>,
    /// Posts of what needs no answer.
    others: BTreeSet<u64>,
    open: BTreeMap<RequestHandle, u64>,
    aborted: BTreeSet<u64>,
    next: u64,
    pushed: usize,
    told: usize,
}

fn exchange(n: u64) -> ExchangeHandle {
    ExchangeHandle::numbered(n)
}

impl Streams {
    fn new(seed: u64) -> Self {
        let mut session = Session::new(config(), [0; 32], Instant::ZERO).unwrap();
        session.catalog_mut().tool(&raw(&json!({"name": "a"}))).unwrap();
        let mut streams = Self {
            session,
            rng: Rng::new(seed),
            now: Instant::ZERO,
            asked: BTreeMap::new(),
            others: BTreeSet::new(),
            open: BTreeMap::new(),
            aborted: BTreeSet::new(),
            next: 0,
            pushed: 0,
            told: 0,
        };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}});
        streams.post(&request("r1", "initialize", params), false, false);
        streams.notify("notifications/initialized", json!({}));
        streams
    }

    fn post(&mut self, message: &Value, modern: bool, listens: bool) {
        self.next += 1;
        let id = message["id"].as_str().unwrap().to_owned();
        self.asked.insert(self.next, Asked { id, modern, listens, over: false, answered: false });
        self.deliver(message);
        while let Some(event) = self.session.poll_event() {
            match event {
                Event::Request { request, .. } => drop(self.open.insert(request, self.next)),
                Event::Cancelled { request, .. } => drop(self.open.remove(&request)),
                _ => {}
            }
        }
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.next += 1;
        self.others.insert(self.next);
        self.deliver(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
        while let Some(event) = self.session.poll_event() {
            if let Event::Cancelled { request, .. } = event {
                self.open.remove(&request);
            }
        }
    }

    fn deliver(&mut self, message: &Value) {
        let frame = Frame::Message(message.to_string().into());
        let from = Origin::Exchange(exchange(self.next));
        self.session.handle_message(from, None, Principal::anonymous(), frame, self.now);
        self.look();
    }

    /// Takes what is to be sent, and checks that it may be sent there.
    fn look(&mut self) {
        while let Some(Effect::Send { to, message, last, status }) = self.session.poll_effect() {
            let message: Option<Value> = message.map(|message| serde_json::from_slice(&message).unwrap());
            let Origin::Exchange(to) = to else {
                let message = message.expect("nothing is said to nobody");
                assert_eq!(to, Origin::Push);
                assert!(
                    message.get("id").is_none(),
                    "P-202: an answer, or a question, on the stream of no request"
                );
                let method = message["method"].as_str().unwrap();
                let unrelated = method.ends_with("list_changed") || method == "notifications/message";
                assert!(unrelated, "P-201: {message}");
                self.pushed += 1;
                continue;
            };
            let at = (1..=self.next).find(|n| exchange(*n) == to).expect("an exchange that there is");
            if self.others.contains(&at) {
                assert_eq!((message, last), (None, true), "a notification is not answered");
                assert!(status == 202 || status == 400);
                continue;
            }
            let asked = self.asked.get_mut(&at).expect("somebody asked there");
            assert!(!asked.over, "P-145 P-198: more after the last on {asked:?}: {message:?}");
            asked.over = last;
            let Some(message) = message else {
                assert!(
                    last && (self.aborted.contains(&at) || !asked.modern),
                    "P-149: {asked:?} ends without a word"
                );
                continue;
            };
            assert!(!self.aborted.contains(&at) || !asked.modern, "P-149: {asked:?} was given up: {message}");
            match (message.get("id"), message.get("method")) {
                (Some(id), None) => {
                    assert_eq!(*id, json!(asked.id), "P-203: an answer where nobody asked for it");
                    assert!(!asked.answered && last, "P-145: the answer is the last");
                    asked.answered = true;
                }
                (Some(_), Some(method)) => {
                    assert!(!asked.modern && method == "roots/list", "P-144: {message}");
                }
                (None, _) => {
                    let params = &message["params"];
                    let own = params["_meta"]["io.modelcontextprotocol/subscriptionId"] == json!(asked.id);
                    let about =
                        params["progressToken"] == json!(asked.id) || params["data"] == json!(asked.id);
                    let withdrawn = message["method"] == "notifications/cancelled" && !asked.modern;
                    assert!(
                        (asked.listens && own) || about || withdrawn,
                        "P-143 P-197: {message} on the stream of {asked:?}"
                    );
                    self.told += 1;
                }
            }
        }
    }

    fn call(&mut self) {
        let id = format!("r{}", self.next + 1);
        let modern = self.rng.chance(50);
        let kind = self.rng.below(6);
        // Whoever asks can be asked, but for the era.
        let more = json!({
            "progressToken": id,
            "io.modelcontextprotocol/logLevel": "info",
            "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
        });
        let message = match (modern, kind) {
            (true, 0) => {
                let filter = json!({"notifications": {"toolsListChanged": true}});
                modern_with(id, "subscriptions/listen", filter, more)
            }
            (true, 1) => modern_with(id, "tools/list", json!({}), more),
            (true, _) => modern_with(id, "tools/call", json!({"name": "a"}), more),
            (false, 1) => request(id, "tools/list", json!({})),
            (false, _) => {
                let params = json!({"name": "a", "_meta": {"progressToken": id}});
                request(id, "tools/call", params)
            }
        };
        self.post(&message, modern, modern && kind == 0);
    }

    fn act(&mut self) {
        let open: Vec<RequestHandle> = self.open.keys().copied().collect();
        if open.is_empty() {
            return;
        }
        let handle = *self.rng.pick(&open);
        let id = self.asked[&self.open[&handle]].id.clone();
        let roots = InputRequest { kind: InputKind::ListRoots, params: None };
        match self.rng.below(6) {
            0 => {
                let progress =
                    Notice::Progress { progress: self.rng.below(50) as f64, total: None, message: None };
                let _ = self.session.notify(handle, &progress, self.now);
            }
            1 => {
                let log = Notice::Log { level: LogLevel::Error, logger: None, data: raw(&json!(id)) };
                self.session.notify(handle, &log, self.now).unwrap();
            }
            2 => drop(self.session.request_input(handle, &roots, self.now)),
            3 => {
                let requests = vec![KeyedInput { key: "k".into(), request: roots }];
                if self
                    .session
                    .respond(handle, &Reply::InputRequired { requests, state: None }, self.now)
                    .is_ok()
                {
                    self.open.remove(&handle);
                }
            }
            _ => {
                self.session.respond(handle, &Reply::text("t"), self.now).unwrap();
                self.open.remove(&handle);
            }
        }
        self.look();
    }

    fn give_up(&mut self) {
        let at = 1 + self.rng.below(usize::try_from(self.next).unwrap()) as u64;
        if self.rng.chance(50) {
            self.aborted.insert(at);
            self.session.handle_abort(exchange(at), self.now);
            // What is left to say to a modern exchange that was given up is its end.
            self.look();
        } else {
            self.notify("notifications/cancelled", json!({"requestId": format!("r{at}")}));
        }
        while let Some(event) = self.session.poll_event() {
            if let Event::Cancelled { request, .. } = event {
                self.open.remove(&request);
            }
        }
    }

    fn step(&mut self) {
        match self.rng.below(10) {
            0..=3 => self.call(),
            4..=6 => self.act(),
            7 => self.give_up(),
            8 => {
                self.session.tools_changed(self.now);
                let level = if self.rng.chance(50) { LogLevel::Debug } else { LogLevel::Error };
                self.session.log(level, None, &raw(&json!("to all")), self.now).unwrap();
                self.look();
            }
            _ => {
                self.now = self.now.saturating_add(std::time::Duration::from_millis(300));
                self.session.handle_timeout(self.now);
                self.look();
            }
        }
    }
}

#[test]
fn everything_goes_where_it_belongs_and_nothing_after_the_end() {
    // P-143 P-144 P-145 P-149 P-196 P-197 P-198 P-201 P-202 P-203
    each_seed(200, |seed| {
        let mut streams = Streams::new(seed);
        for _ in 0..200 {
            streams.step();
        }
        for handle in streams.open.keys().copied().collect::<Vec<_>>() {
            streams.session.respond(handle, &Reply::text("end"), streams.now).unwrap();
            streams.look();
        }
        streams.session.end_subscriptions(streams.now);
        streams.look();
        for (at, asked) in &streams.asked {
            assert!(asked.over || streams.aborted.contains(at), "P-196: {asked:?} has no end");
        }
        assert!(streams.pushed > 5 && streams.told > 5, "{} {}", streams.pushed, streams.told);
    });
}

#[test]
fn one_conversation_has_the_same_messages_on_one_stream_and_on_many() {
    // P-228
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}});
    let call = |id: u64| request(id, "tools/call", json!({"name": "a", "_meta": {"progressToken": id}}));
    let conversation = [
        request(1, "tools/list", json!({})),
        modern_with(2, "server/discover", json!({}), json!({})),
        request(3, "initialize", client),
        initialized,
        request(4, "tools/list", json!({})),
        request(5, "no/such", json!({})),
        modern_with(6, "tools/call", json!({"name": "a"}), json!({"progressToken": 6})),
        call(7),
        request(7, "tools/call", json!({"name": 5})),
        call(8),
        cancel,
        json!({"jsonrpc": "2.0", "id": null, "method": "ping"}),
        json!({"jsonrpc": "1.0", "id": 9, "method": "ping"}),
        request(10, "ping", json!({})),
    ];
    let talk = |on: fn(u64) -> Origin| {
        let mut session = Session::new(config(), [0; 32], Instant::ZERO).unwrap();
        session.catalog_mut().tool(&raw(&json!({"name": "a"}))).unwrap();
        let (mut said, mut told) = (Vec::new(), Vec::new());
        for (n, message) in conversation.iter().enumerate() {
            let frame = Frame::Message(message.to_string().into());
            session.handle_message(on(n as u64), None, Principal::anonymous(), frame, Instant::ZERO);
            while let Some(event) = session.poll_event() {
                told.push(format!("{event:?}"));
                if let Event::Request { request, .. } = event
                    && message["id"] != 8
                {
                    let progress = Notice::Progress { progress: 1.0, total: None, message: None };
                    session.notify(request, &progress, Instant::ZERO).unwrap();
                    session.respond(request, &Reply::text("t"), Instant::ZERO).unwrap();
                }
            }
            let effects = std::iter::from_fn(|| session.poll_effect());
            said.extend(effects.filter_map(|Effect::Send { message, .. }| message));
        }
        (said, told)
    };
    let one = talk(|_| Origin::Stream);
    let many = talk(|n| Origin::Exchange(exchange(n + 1)));
    assert_eq!(one, many);
    assert_eq!(one.0.len(), 13, "{one:?}");
}
