//! Whatever happens to a request in whatever order, it gets one reply, or none once it was cancelled.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sanswire::Machine;
use sanswire::error::ApiError;
use sanswire::mcp::types::input::{InputKind, InputRequest};
use sanswire::server::{KeepAlive, Notice, Reply, RequestHandle};
use sanswire_tests::seed::{Rng, each_seed};
use sanswire_tests::served::{Rig, config, modern_with, raw, request};
use serde_json::{Value, json};

/// What may happen to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Reply,
    Cancel,
    Progress,
    Ask,
    Answer,
    Again,
    End,
    Shutdown,
    Close,
    OutputEnds,
    Late,
}

const STEPS: [Step; 11] = [
    Step::Reply,
    Step::Cancel,
    Step::Progress,
    Step::Ask,
    Step::Answer,
    Step::Again,
    Step::End,
    Step::Shutdown,
    Step::Close,
    Step::OutputEnds,
    Step::Late,
];

fn roots() -> InputRequest {
    InputRequest { kind: InputKind::ListRoots, params: None }
}

/// One request, and what became of it.
struct Run {
    rig: Rig,
    request: RequestHandle,
    call: Value,
    replied: bool,
    /// Nothing that is written from here on arrives.
    output_ended: bool,
}

impl Run {
    fn start(how: usize) -> Self {
        let mut rig = Rig::new(config());
        rig.initialize(["2025-11-25", "2025-03-26"][how % 2], json!({"roots": {}}));
        let params = json!({"name": "a", "_meta": {"progressToken": "t"}});
        let call = match how {
            0 | 1 => request("q", "tools/call", params),
            _ => modern_with("q", "tools/call", json!({"name": "a"}), json!({"progressToken": "t"})),
        };
        rig.take();
        rig.send(&if how == 1 { json!([call]) } else { call.clone() });
        let request = *rig.open.first_key_value().expect("it is reported").0;
        Self { rig, request, call, replied: false, output_ended: false }
    }

    fn step(&mut self, step: Step) {
        let rig = &mut self.rig;
        let is_open = rig.open.contains_key(&self.request);
        match step {
            Step::Reply => {
                let answer = rig.respond(self.request, &Reply::text("the reply"));
                assert_eq!(answer.is_ok(), is_open && !self.output_ended, "{answer:?}");
                self.replied |= answer.is_ok();
            }
            Step::Progress => {
                let progress = Notice::Progress { progress: 1.0, total: None, message: None };
                let told = rig.notify(self.request, &progress);
                assert!(told.is_err() || is_open, "{told:?}");
            }
            Step::Ask => {
                let asked = rig.request_input(self.request, &roots());
                assert!(asked.is_err() || is_open, "{asked:?}");
            }
            Step::Cancel => rig.send(
                &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "q"}}),
            ),
            Step::Answer => rig.send(&json!({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}})),
            Step::Again => rig.send(&self.call),
            Step::End => rig.end(),
            Step::Shutdown => rig.side.machine.shutdown(Duration::from_secs(5), rig.now),
            Step::Close => rig.side.machine.close(rig.now),
            Step::OutputEnds => {
                rig.side.end_output(rig.now);
                self.output_ended = true;
            }
            Step::Late => rig.wait_ms(700_000),
        }
        self.rig.drain();
    }

    /// Ends it, and counts.
    fn check(mut self, steps: &[Step]) {
        self.rig.end();
        let second = self.rig.open.keys().copied().find(|handle| *handle != self.request);
        if let Some(second) = second {
            self.rig.respond(second, &Reply::text("the second reply")).unwrap();
        }
        if self.rig.open.contains_key(&self.request) {
            self.rig.respond(self.request, &Reply::text("the reply")).unwrap();
            self.replied = true;
        }
        self.rig.wait_ms(20_000);
        let said = self.rig.take();
        assert!(self.rig.side.ledger.is_closed(), "{steps:?} never ends");
        assert_eq!(self.rig.side.machine.poll_timeout(), None, "{steps:?}");
        assert_eq!(self.rig.side.ledger.open(), 0, "{steps:?}: what was asked has no end");
        let replies = said
            .iter()
            .filter(|said| said["result"]["content"][0]["text"] == "the reply")
            .collect::<Vec<_>>();
        assert_eq!(replies.len(), usize::from(self.replied), "{steps:?}: {said:#?}");
        assert!(replies.iter().all(|reply| reply["id"] == "q"), "{replies:?}");
        let cancelled = self.rig.cancelled.iter().filter(|handle| **handle == self.request).count();
        assert_eq!(cancelled + usize::from(self.replied), 1, "{steps:?}: one of both, once");
        // Of two requests with one id each has an answer or was cancelled, and nobody else is answered.
        let answers = said.iter().filter(|said| said.get("method").is_none()).count();
        assert!(answers <= 1 + steps.iter().filter(|step| **step == Step::Again).count(), "{steps:?}");
        let progress = said.iter().position(|said| said["method"] == "notifications/progress");
        let reply = said.iter().position(|said| said["result"]["content"][0]["text"] == "the reply");
        assert!(
            progress.is_none() || reply.is_none() || progress < reply,
            "{steps:?}: progress after the end"
        );
    }
}

#[test]
fn any_order_of_events_leaves_one_reply_or_one_cancel() {
    // P-125 P-292; golden rule 2
    let mut runs = 0;
    for how in 0..3 {
        for first in STEPS {
            for second in STEPS {
                for third in STEPS {
                    for fourth in [None, Some(Step::Reply), Some(Step::Cancel), Some(Step::Answer)] {
                        let steps: Vec<Step> = [first, second, third].into_iter().chain(fourth).collect();
                        let mut run = Run::start(how);
                        for step in &steps {
                            run.step(*step);
                        }
                        run.check(&steps);
                        runs += 1;
                    }
                }
            }
        }
    }
    assert_eq!(runs, 3 * 11 * 11 * 11 * 4);
}

/// A session and requests that stand alone on one stream, batches, subscriptions and questions among them, and an
/// application that does things at random.
struct Crowd {
    rig: Rig,
    rng: Rng,
    /// Bytes that wait for the server to read.
    waiting: Vec<u8>,
    has_batches: bool,
    next: u64,
    /// Requests that the server has to answer, unless they are cancelled.
    asked: BTreeSet<String>,
    /// Requests that a cancel was sent for.
    withdrawn: BTreeSet<String>,
    listens: BTreeSet<String>,
    /// The ids of those that were reported.
    reported: BTreeMap<RequestHandle, String>,
    replied: BTreeSet<String>,
    over: bool,
    full: usize,
    asks: usize,
}

impl Crowd {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut config = config();
        config.limits.max_in_flight = 12;
        config.limits.max_peer_requests = 4;
        config.limits.max_subscriptions = 3;
        config.limits.max_queued_out_bytes = 4096;
        if rng.chance(30) {
            let (every, timeout) = (Duration::from_secs(1), Duration::from_secs(2));
            config.keep_alive = Some(KeepAlive { every, timeout });
        }
        let mut rig = Rig::new(config);
        rig.side.machine.catalog_mut().resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
        let has_batches = rng.chance(50);
        rig.initialize(if has_batches { "2025-03-26" } else { "2025-11-25" }, json!({"roots": {}}));
        rig.take();
        Self {
            rig,
            rng,
            waiting: Vec::new(),
            has_batches,
            next: 0,
            asked: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            listens: BTreeSet::new(),
            reported: BTreeMap::new(),
            replied: BTreeSet::new(),
            over: false,
            full: 0,
            asks: 0,
        }
    }

    /// A request with an id that was never used before, and which stands in its parameters.
    fn request(&mut self) -> Value {
        self.next += 1;
        let id = format!("r{}", self.next);
        let alone = self.rng.chance(50);
        let (method, mut params) = match self.rng.below(8) {
            0 => ("tools/list", json!({})),
            1 if alone => {
                self.listens.insert(id.clone());
                ("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
            }
            2 => ("resources/read", json!({"uri": "x:y"})),
            3 => ("no/such", json!({})),
            _ => ("tools/call", json!({"name": "a"})),
        };
        params["tag"] = json!(id);
        if !self.over {
            self.asked.insert(id.clone());
        }
        if alone {
            modern_with(id, method, params, json!({"progressToken": 1}))
        } else {
            request(id, method, params)
        }
    }

    fn cancel(&mut self) -> Value {
        let id = format!("r{}", 1 + self.rng.below(usize::try_from(self.next).unwrap()));
        self.withdrawn.insert(id.clone());
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
    }

    fn client_writes(&mut self) {
        let message = match self.rng.below(10) {
            0..=4 => self.request(),
            5 => {
                let before = self.asked.clone();
                let all: Vec<Value> = (0..1 + self.rng.below(5))
                    .map(|_| if self.rng.chance(70) { self.request() } else { self.cancel() })
                    .collect();
                if !self.has_batches {
                    self.asked = before;
                }
                json!(all)
            }
            6 | 7 => self.cancel(),
            _ => json!({"jsonrpc": "2.0", "id": self.rng.below(8), "result": {"roots": []}}),
        };
        self.waiting.extend_from_slice(format!("{message}\n").as_bytes());
        self.server_reads();
    }

    fn server_reads(&mut self) {
        while !self.waiting.is_empty() && self.rig.side.reads() {
            let len = (1 + self.rng.below(400)).min(self.waiting.len());
            let taken = self.rig.side.read(&self.waiting[..len], self.rig.now);
            self.waiting.drain(..taken);
            self.rig.drain();
        }
        for (handle, open) in &self.rig.open {
            self.reported.entry(*handle).or_insert_with(|| open.params["tag"].as_str().unwrap().to_owned());
        }
    }

    fn application_acts(&mut self) {
        let open: Vec<RequestHandle> = self.rig.open.keys().copied().collect();
        if open.is_empty() {
            return;
        }
        let handle = *self.rng.pick(&open);
        let done = match self.rng.below(4) {
            0 => self.rig.request_input(handle, &roots()).map(|_| self.asks += 1),
            1 => {
                let progress = self.rng.below(100) as f64;
                self.rig.notify(handle, &Notice::Progress { progress, total: None, message: None })
            }
            _ => {
                let id = self.reported[&handle].clone();
                let reply = Reply::text(&format!("{id} {}", "x".repeat(self.rng.below(900))));
                self.rig.respond(handle, &reply).map(|()| {
                    self.replied.insert(id);
                })
            }
        };
        self.full += usize::from(done == Err(ApiError::OutboundFull));
        self.server_reads();
    }

    fn step(&mut self) {
        match self.rng.below(20) {
            0..=8 => self.client_writes(),
            9..=15 => self.application_acts(),
            16 => {
                let now = self.rig.now;
                self.rig.side.machine.tools_changed(now);
                self.rig.drain();
            }
            17 => {
                self.rig.stuck = !self.rig.stuck;
                self.rig.drain();
                self.server_reads();
            }
            _ => self.rig.wait_ms(self.rng.below(900) as u64),
        }
        self.over |= self.rig.closed().is_some();
    }

    fn end(&mut self) {
        let now = self.rig.now;
        match self.rng.below(4) {
            0 => self.rig.side.machine.close(now),
            1 => self.rig.side.machine.shutdown(Duration::from_millis(500), now),
            _ => {}
        }
        self.rig.stuck = false;
        self.rig.drain();
        self.server_reads();
        self.rig.end();
        for _ in 0..30 {
            self.application_acts();
            self.rig.wait_ms(50);
        }
        self.rig.wait_ms(20_000);
    }

    fn check(mut self) -> [usize; 5] {
        let cut_short = self.rig.side.machine.session().close_reason().is_none() || !self.waiting.is_empty();
        assert!(self.rig.side.ledger.is_closed(), "it never ends");
        let mut answers: BTreeMap<String, usize> = BTreeMap::new();
        let mut over = BTreeSet::new();
        let said = self.rig.take();
        for said in &said {
            if let Some(id) = said["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].as_str() {
                let after = over.contains(id) && said["method"] != "notifications/cancelled";
                assert!(self.listens.contains(id) && !after, "{said}");
            }
            if let (Some(id), None) = (said["id"].as_str(), said.get("method")) {
                *answers.entry(id.to_owned()).or_default() += 1;
                over.insert(id.to_owned());
                if let Some(text) = said["result"]["content"][0]["text"].as_str() {
                    assert_eq!(text.split(' ').next(), Some(id), "another's reply");
                    assert!(self.replied.contains(id));
                }
            }
        }
        let count = |id: &str| answers.get(id).copied().unwrap_or_default();
        let cancelled: BTreeSet<&String> =
            self.rig.cancelled.iter().filter_map(|handle| self.reported.get(handle)).collect();
        for id in &self.asked {
            let times = count(id);
            assert!(times <= 1, "{id} is answered {times} times");
            assert!(times == 1 || !self.replied.contains(id), "the reply to {id} is lost");
            assert!(times == 0 || !cancelled.contains(id), "{id} was cancelled and answered");
            let may_be_none = cut_short || self.withdrawn.contains(id) || cancelled.contains(id);
            let unread = self.rig.closed() != Some(sanswire::server::CloseReason::Eof);
            assert!(times == 1 || may_be_none || unread, "{id} gets no answer: {said:#?}");
        }
        assert_eq!(self.reported.len(), self.replied.len() + cancelled.len(), "one of both, once");
        [self.replied.len(), cancelled.len(), self.full, self.asks, self.listens.len()]
    }
}

#[test]
fn in_a_crowd_each_gets_its_own_reply_once() {
    // P-005 P-007 P-051 P-125; golden rules 1 and 2
    let reached = std::sync::Mutex::new([0; 5]);
    each_seed(250, |seed| {
        let mut crowd = Crowd::new(seed);
        for _ in 0..150 {
            crowd.step();
        }
        crowd.end();
        let counts = crowd.check();
        let mut reached = reached.lock().unwrap();
        for (sum, count) in reached.iter_mut().zip(counts) {
            *sum += count;
        }
    });
    let reached = reached.into_inner().unwrap();
    if std::env::var_os("SANSWIRE_SEED").is_none() {
        assert!(
            reached.iter().all(|count| *count > 200),
            "{reached:?}: replies, cancels, refused for room, asks, listens"
        );
    }
}
