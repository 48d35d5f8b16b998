//! A client that listens, calls and is ended: what its server says of subscriptions, in every order, true or not.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use sanswire::client::{
    Config, Event, LineConnection, Link as _, Outcome, RequestHandle, RequestOptions, Start, params,
};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::{Method, Revision};
use sanswire::{Instant, Machine as _};
use serde_json::{Value, json};

use super::{Rule, Rules, World};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

/// What a server tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// That it listens to a subscription.
    Acknowledged,
    /// That its tools changed.
    Tools,
    /// That a resource changed.
    Updated,
}

/// How a server ends a request.
#[derive(Clone, Copy, Debug)]
pub enum Over {
    /// By a result.
    Result,
    /// By an error.
    Error,
    /// By a notice that it is cancelled, which it may send of subscriptions (2026-07-28).
    Cancelled,
}

/// Something that may happen.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// The application listens (2026-07-28).
    Listen,
    /// It calls a tool.
    Call,
    /// It gives a request up, open or not.
    Cancel(RequestHandle),
    /// The server tells something of the request of this id; none: of no subscription.
    Says(Word, Option<u64>),
    /// The server ends the request of this id.
    Ends(Over, u64),
    /// The next deadline comes.
    Deadline,
}

/// A way to the end.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// The application closes.
    Close,
    /// It closes, and its server reads nothing.
    CloseUnread,
    /// The server is gone.
    Eof,
    /// Nothing more is said.
    Mute,
}

#[derive(Clone, Debug)]
struct Asked {
    id: u64,
    listens: bool,
    ended: u32,
    /// The server has ended it: what it says then is late.
    answered: bool,
    cancelled: bool,
}

/// The client and its notes.
pub struct Listening {
    modern: bool,
    machine: LineConnection,
    now: Instant,
    asked: BTreeMap<RequestHandle, Asked>,
    /// What has to be told because of the last step: of which subscription.
    due: Option<Option<RequestHandle>>,
    closed: u32,
}

impl Listening {
    fn says(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let taken = self.machine.handle_input(line.as_bytes(), self.now);
        assert_eq!(taken, line.len(), "all events were taken");
    }

    /// What left, as messages.
    fn sent(&mut self) -> Vec<Value> {
        let bytes = self.machine.transmit().to_vec();
        self.machine.handle_written(bytes.len(), self.now);
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).expect("what a client writes is JSON")).collect()
    }

    fn open(&self, id: u64) -> Option<RequestHandle> {
        let open = |asked: &Asked| asked.id == id && asked.ended == 0;
        self.asked.iter().find(|(_, asked)| open(asked)).map(|(handle, _)| *handle)
    }

    fn drain(&mut self, reads: bool, rules: &mut Rules) {
        let due = self.due.take();
        let mut told = 0;
        loop {
            let wrote = reads && !self.sent().is_empty();
            let mut any = false;
            while let Some(event) = self.machine.poll_event() {
                any = true;
                rules.hold(Rule::HeardClosedLast, self.closed == 0, || format!("{event:?} after the end"));
                told += u32::from(self.event(&event, due, rules));
            }
            if !wrote && !any {
                break;
            }
        }
        rules.hold(Rule::HeardTold, told == u32::from(due.is_some()), || format!("{told} times of {due:?}"));
        let next = self.machine.poll_timeout();
        rules.hold(Rule::HeardNoSpin, next.is_none_or(|next| next > self.now), || format!("{next:?}"));
    }

    /// Whether it is a notification.
    fn event(&mut self, event: &Event, due: Option<Option<RequestHandle>>, rules: &mut Rules) -> bool {
        match event {
            Event::Finished { request, outcome } => {
                let asked = self.asked.get_mut(request);
                let first = asked.is_some_and(|asked| {
                    asked.ended += 1;
                    let timed = matches!(outcome, Outcome::TimedOut { .. });
                    let right = asked.answered
                        || asked.cancelled && *outcome == Outcome::Cancelled
                        || timed && !asked.listens
                        || self.closed == 0 && matches!(outcome, Outcome::Cancelled | Outcome::Lost { .. });
                    asked.ended == 1 && right
                });
                rules.hold(Rule::HeardEndsOnce, first, || format!("{event:?} {:?}", self.asked));
            }
            Event::Notification { subscription, .. } => {
                rules.hold(Rule::HeardOwn, due == Some(*subscription), || {
                    format!("{event:?}, due is {due:?}")
                });
                return true;
            }
            Event::Closed(_) => self.closed += 1,
            _ => {}
        }
        false
    }

    fn ask(&mut self, listens: bool) {
        let (method, params) = if listens {
            let filter = RawJson::from_static(r#"{"toolsListChanged":true}"#).expect("JSON");
            (Method::SubscriptionsListen, params::listen(&filter))
        } else {
            (Method::ToolsCall, params::call_tool("t", None))
        };
        let asked = self.machine.request(method, Some(params), &RequestOptions::default(), self.now);
        let handle = asked.expect("there is room");
        let id = self.sent()[0]["id"].as_u64().expect("a number");
        let asked = Asked { id, listens, ended: 0, answered: false, cancelled: false };
        self.asked.insert(handle, asked);
    }

    fn deadline(&mut self) -> bool {
        let Some(due) = self.machine.poll_timeout().filter(|due| *due > self.now) else { return false };
        self.now = due;
        self.machine.handle_timeout(due);
        true
    }

    fn all_over(&self) -> bool {
        self.asked.values().all(|asked| asked.ended == 1)
    }
}

impl World for Listening {
    type Setup = bool;
    type Step = Step;
    type End = End;

    fn setups() -> Vec<bool> {
        vec![true, false]
    }

    fn new(modern: &bool, rules: &mut Rules) -> Self {
        let now = Instant::from_millis(1000);
        let mut config = Config::new("explored", "1");
        config.start = Start::Pinned(if *modern { Revision::V2026_07_28 } else { Revision::V2025_11_25 });
        let machine = LineConnection::new(config, [0; 32], now).expect("a good configuration");
        let (asked, due) = (BTreeMap::new(), None);
        let mut this = Self { modern: *modern, machine, now, asked, due, closed: 0 };
        this.sent();
        let result = if *modern {
            json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}})
        } else {
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}})
        };
        this.says(&json!({"jsonrpc": "2.0", "id": 1, "result": result}));
        this.drain(true, rules);
        this
    }

    fn steps(&self) -> Vec<Step> {
        let listens = self.asked.values().filter(|asked| asked.listens).count();
        let mut steps = Vec::new();
        if self.modern && listens < 2 {
            steps.push(Step::Listen);
        }
        if self.asked.len() - listens < 1 {
            steps.push(Step::Call);
        }
        for (handle, asked) in &self.asked {
            steps.push(Step::Cancel(*handle));
            steps.extend([Over::Result, Over::Error, Over::Cancelled].map(|over| Step::Ends(over, asked.id)));
            steps.extend([Word::Acknowledged, Word::Tools].map(|word| Step::Says(word, Some(asked.id))));
        }
        steps.extend([Word::Tools, Word::Updated].map(|word| Step::Says(word, None)));
        // Of what nobody asked for.
        steps.push(Step::Says(Word::Tools, Some(77)));
        if self.machine.poll_timeout().is_some() {
            steps.push(Step::Deadline);
        }
        steps
    }

    fn take(&mut self, step: &Step, rules: &mut Rules) {
        match *step {
            Step::Listen => self.ask(true),
            Step::Call => self.ask(false),
            Step::Cancel(handle) => {
                let open = self.asked[&handle].ended == 0;
                let done = self.machine.cancel(handle, None, self.now).is_ok();
                rules.hold(Rule::HeardEndsOnce, done == open, || format!("cancelled {handle:?}: {done}"));
                if let Some(asked) = self.asked.get_mut(&handle) {
                    asked.cancelled = true;
                }
            }
            Step::Says(word, of) => {
                let subscription =
                    of.and_then(|id| self.open(id)).filter(|handle| self.asked[handle].listens);
                // Up to 2025-11-25 there are no subscriptions, and what stands there says nothing.
                self.due = match (self.modern, of) {
                    (true, Some(_)) => subscription.map(Some),
                    (true, None) => Some(None),
                    (false, _) => (word != Word::Acknowledged).then_some(None),
                };
                let mut params = match of {
                    Some(id) => json!({"_meta": {ID: id}}),
                    None => json!({}),
                };
                let method = match word {
                    Word::Acknowledged => "notifications/subscriptions/acknowledged",
                    Word::Tools => "notifications/tools/list_changed",
                    Word::Updated => "notifications/resources/updated",
                };
                if word == Word::Updated {
                    params["uri"] = "x:y".into();
                }
                self.says(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
            }
            Step::Ends(over, id) => {
                let handle = self.open(id);
                let message = match over {
                    Over::Result => {
                        json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "content": []}})
                    }
                    Over::Error => {
                        json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "no"}})
                    }
                    Over::Cancelled => {
                        let params = json!({"requestId": id});
                        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
                    }
                };
                if let Some(asked) = handle.and_then(|handle| self.asked.get_mut(&handle)) {
                    // A server cannot give up what it was asked, but for what it only tells of.
                    asked.answered = !matches!(over, Over::Cancelled) || asked.listens;
                }
                self.says(&message);
                let ends = handle.filter(|handle| self.asked[handle].answered);
                self.drain(true, rules);
                let over = ends.is_none_or(|handle| self.asked[&handle].ended == 1);
                rules.hold(Rule::HeardEndsOnce, over, || format!("{step:?} {:?}", self.asked));
            }
            Step::Deadline => drop(self.deadline()),
        }
        self.drain(true, rules);
    }

    fn tell(&self, into: &mut dyn fmt::Write) -> fmt::Result {
        let Self { modern, machine, now, asked, closed, .. } = self;
        write!(into, "{modern} {now:?} {asked:?} {closed} {machine:?}")
    }

    fn ends(&self) -> Vec<End> {
        vec![End::Close, End::CloseUnread, End::Eof, End::Mute]
    }

    fn end(mut self, end: End, rules: &mut Rules) {
        let began = self.now;
        let reads = !matches!(end, End::CloseUnread);
        match end {
            End::Close | End::CloseUnread => self.machine.close(self.now),
            End::Eof => self.machine.handle_eof(self.now),
            End::Mute => {
                // A call has its time, and a subscription has no end.
                while self.deadline() {
                    self.drain(true, rules);
                }
                let calls = self.asked.values().all(|asked| asked.listens || asked.ended == 1);
                let took = self.now.saturating_since(began);
                rules.hold(Rule::HeardMuteEnds, calls && took <= Duration::from_secs(600), || {
                    format!("{:?} after {took:?}", self.asked)
                });
                return;
            }
        }
        self.drain(reads, rules);
        while self.closed == 0 && self.deadline() {
            self.drain(reads, rules);
        }
        let took = self.now.saturating_since(began);
        // What is left to be written has two seconds.
        let over = self.closed == 1 && self.all_over() && took <= Duration::from_secs(2);
        rules.hold(Rule::HeardOver, over, || {
            format!("closed {} times after {took:?}, {:?}", self.closed, self.asked)
        });
        // What is late brings nothing more.
        self.machine.handle_eof(self.now);
        self.machine.handle_timeout(self.now);
        self.machine.close(self.now);
        self.drain(reads, rules);
        rules.hold(Rule::HeardOver, self.machine.poll_timeout().is_none(), || "it still waits".to_owned());
    }
}
