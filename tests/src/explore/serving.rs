//! A server that is listened to, called, and ended: subscriptions of both eras, in every order.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::server::{Config, Event, LineConnection, Reply, RequestHandle};
use sanswire::{Instant, Machine as _};
use serde_json::{Value, json};

use super::{Rule, Rules, World};

const ID: &str = "io.modelcontextprotocol/subscriptionId";
const WATCHED: &str = "x:y";

/// What a subscription asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Changes of the list of tools.
    Tools,
    /// Changes of one resource.
    Resource,
    /// Nothing.
    Nothing,
}

/// Something that may happen.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// The client listens, under this id (2026-07-28).
    Listen(u64, Filter),
    /// The client watches the resource, or no longer (older revisions).
    Watch(bool),
    /// The client calls a tool, under this id.
    Call(u64),
    /// The client gives the request of this id up.
    Cancel(u64),
    /// The tools change.
    ToolsChanged,
    /// This resource changes.
    Updated(&'static str),
    /// The application answers its oldest call.
    Respond,
    /// The application ends all subscriptions.
    EndListens,
    /// The next deadline comes.
    Deadline,
}

/// A way to the end.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// The application closes.
    Close,
    /// The application stops, and leaves calls their time.
    Shutdown,
    /// The same, and the client says in the midst of that that it has nothing more to say.
    ShutdownAndEof,
    /// The client has nothing more to say.
    Eof,
    /// The application closes, and the client reads nothing.
    CloseUnread,
}

#[derive(Clone, Debug)]
struct Listen {
    filter: Filter,
    acknowledged: u32,
    over: bool,
}

/// The server and its notes.
pub struct Served {
    modern: bool,
    machine: LineConnection,
    now: Instant,
    listens: BTreeMap<u64, Listen>,
    watching: bool,
    /// Calls: whether they are over for the client.
    calls: BTreeMap<u64, bool>,
    open: Vec<RequestHandle>,
    changed: bool,
    closed: u32,
}

impl Served {
    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let mut rest = line.as_bytes();
        while !rest.is_empty() && self.machine.wants_read() {
            let taken = self.machine.handle_input(rest, self.now);
            rest = &rest[taken..];
        }
    }

    fn request(&mut self, id: u64, method: &str, mut params: Value) {
        if self.modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "explorer", "version": "1"},
            });
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn drain(&mut self, reads: bool, rules: &mut Rules) {
        loop {
            let bytes = if reads { self.machine.transmit().to_vec() } else { Vec::new() };
            self.machine.handle_written(bytes.len(), self.now);
            for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                self.said(&serde_json::from_slice(line).expect("what a server writes is JSON"), rules);
            }
            let mut told = false;
            while let Some(event) = self.machine.poll_event() {
                told = true;
                rules.hold(Rule::ServedClosedLast, self.closed == 0, || format!("{event:?} after the end"));
                match event {
                    Event::Request { request, method, .. } if method != Method::ToolsCall => {
                        let empty = RawJson::parse_str("{}").expect("JSON");
                        let _ = self.machine.respond(request, &Reply::Complete(empty), self.now);
                    }
                    Event::Request { request, .. } => self.open.push(request),
                    Event::Cancelled { request, .. } => self.open.retain(|open| *open != request),
                    Event::Closed(_) => self.closed += 1,
                    _ => {}
                }
            }
            if bytes.is_empty() && !told {
                break;
            }
        }
        let due = self.machine.poll_timeout();
        rules.hold(Rule::ServedNoSpin, due.is_none_or(|due| due > self.now), || {
            format!("due {due:?} at {:?}", self.now)
        });
    }

    fn said(&mut self, message: &Value, rules: &mut Rules) {
        let text = || message.to_string();
        let id = message["id"].as_u64();
        let Some(method) = message["method"].as_str() else {
            if let Some(over) = id.and_then(|id| self.calls.get_mut(&id)) {
                rules.hold(Rule::ServedOneReply, !*over, text);
                *over = true;
            } else if let Some(listen) = id.and_then(|id| self.listens.get_mut(&id)) {
                rules.hold(Rule::ListenNothingAfter, !listen.over, text);
                listen.over = true;
            }
            return;
        };
        let of = message["params"]["_meta"][ID].as_u64();
        let uri = message["params"]["uri"].as_str();
        if method == "notifications/cancelled" {
            // Says of a subscription that the server ended what its result has said before.
            return;
        }
        if !self.modern {
            let asked = match method {
                "notifications/resources/updated" => self.watching && uri == Some(WATCHED),
                _ => method == "notifications/tools/list_changed" && self.changed,
            };
            rules.hold(Rule::ListenFilter, asked, text);
            self.changed &= method != "notifications/tools/list_changed";
            return;
        }
        let listen = of.and_then(|id| self.listens.get_mut(&id));
        rules.hold(Rule::ListenNothingAfter, listen.as_ref().is_some_and(|listen| !listen.over), text);
        let Some(listen) = listen else { return };
        if method == "notifications/subscriptions/acknowledged" {
            listen.acknowledged += 1;
        }
        rules.hold(Rule::ListenAcknowledged, listen.acknowledged == 1, text);
        let asked = match method {
            "notifications/tools/list_changed" => listen.filter == Filter::Tools,
            "notifications/resources/updated" => listen.filter == Filter::Resource && uri == Some(WATCHED),
            _ => method == "notifications/subscriptions/acknowledged",
        };
        rules.hold(Rule::ListenFilter, asked, text);
    }

    fn deadline(&mut self) -> bool {
        let Some(due) = self.machine.poll_timeout().filter(|due| *due > self.now) else { return false };
        self.now = due;
        self.machine.handle_timeout(due);
        true
    }

    /// Those that are open were acknowledged.
    fn check(&self, rules: &mut Rules) {
        let all = self.listens.values().all(|listen| listen.over || listen.acknowledged == 1);
        rules.hold(Rule::ListenAcknowledged, all, || format!("{:?}", self.listens));
    }
}

impl World for Served {
    type Setup = bool;
    type Step = Step;
    type End = End;

    fn setups() -> Vec<bool> {
        vec![true, false]
    }

    fn new(modern: &bool, rules: &mut Rules) -> Self {
        let now = Instant::from_millis(1000);
        let mut config = Config::new("explored", "1");
        config.capabilities.subscribe = true;
        let mut machine = LineConnection::new(config, [0; 32], now).expect("a good configuration");
        let json = |text: &str| RawJson::parse_str(text).expect("JSON");
        machine.catalog_mut().tool(&json(r#"{"name":"t"}"#)).expect("a tool");
        machine.catalog_mut().resource(&json(r#"{"uri":"x:y","name":"r"}"#)).expect("a resource");
        let mut this = Self {
            modern: *modern,
            machine,
            now,
            listens: BTreeMap::new(),
            watching: false,
            calls: BTreeMap::new(),
            open: vec![],
            changed: false,
            closed: 0,
        };
        if !modern {
            let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "explorer", "version": "1"}});
            this.request(100, "initialize", hello);
            this.drain(true, rules);
            this.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        this.drain(true, rules);
        this
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.modern {
            for id in [1, 2] {
                if self.listens.get(&id).is_none_or(|listen| listen.over) {
                    let all = [Filter::Tools, Filter::Resource, Filter::Nothing];
                    steps.extend(all.map(|filter| Step::Listen(id, filter)));
                }
            }
            steps.push(Step::EndListens);
        } else {
            steps.push(Step::Watch(!self.watching));
        }
        if self.calls.len() < 2 {
            steps.push(Step::Call(10 + self.calls.len() as u64));
        }
        // Once more, when it is over.
        steps.extend(self.listens.keys().chain(self.calls.keys()).map(|id| Step::Cancel(*id)));
        steps.extend([Step::ToolsChanged, Step::Updated(WATCHED), Step::Updated("x:other")]);
        if !self.open.is_empty() {
            steps.push(Step::Respond);
        }
        if self.machine.poll_timeout().is_some() {
            steps.push(Step::Deadline);
        }
        steps
    }

    fn take(&mut self, step: &Step, rules: &mut Rules) {
        match step {
            Step::Listen(id, filter) => {
                let wanted = match filter {
                    Filter::Tools => json!({"toolsListChanged": true}),
                    Filter::Resource => json!({"resourceSubscriptions": [WATCHED]}),
                    Filter::Nothing => json!({}),
                };
                let listen = Listen { filter: *filter, acknowledged: 0, over: false };
                self.listens.insert(*id, listen);
                self.request(*id, "subscriptions/listen", json!({"notifications": wanted}));
            }
            Step::Watch(on) => {
                self.watching = *on;
                let method = if *on { "resources/subscribe" } else { "resources/unsubscribe" };
                self.request(200, method, json!({"uri": WATCHED}));
            }
            Step::Call(id) => {
                self.calls.insert(*id, false);
                self.request(*id, "tools/call", json!({"name": "t", "arguments": {}}));
            }
            Step::Cancel(id) => {
                self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": {"requestId": id}}));
                if let Some(over) = self.calls.get_mut(id) {
                    *over = true;
                }
                if let Some(listen) = self.listens.get_mut(id) {
                    listen.over = true;
                }
            }
            Step::ToolsChanged => {
                self.changed = true;
                self.machine.tools_changed(self.now);
            }
            Step::Updated(uri) => drop(self.machine.resource_updated(uri, self.now)),
            Step::Respond => {
                let request = self.open.remove(0);
                let _ = self.machine.respond(request, &Reply::text("done"), self.now);
            }
            Step::EndListens => self.machine.end_subscriptions(self.now),
            Step::Deadline => drop(self.deadline()),
        }
        self.drain(true, rules);
        self.check(rules);
    }

    fn tell(&self, into: &mut dyn fmt::Write) -> fmt::Result {
        let Self { modern, machine, now, listens, watching, calls, open, changed, closed } = self;
        write!(
            into,
            "{modern} {now:?} {listens:?} {watching} {calls:?} {open:?} {changed} {closed} {machine:?}"
        )
    }

    fn ends(&self) -> Vec<End> {
        vec![End::Close, End::Shutdown, End::ShutdownAndEof, End::Eof, End::CloseUnread]
    }

    fn end(mut self, end: End, rules: &mut Rules) {
        let began = self.now;
        let reads = !matches!(end, End::CloseUnread);
        match end {
            End::Close | End::CloseUnread => self.machine.close(self.now),
            End::Shutdown => self.machine.shutdown(Duration::from_secs(10), self.now),
            End::ShutdownAndEof => {
                self.machine.shutdown(Duration::from_secs(10), self.now);
                self.drain(reads, rules);
                self.now = self.now.saturating_add(Duration::from_secs(5));
                self.machine.handle_timeout(self.now);
                self.machine.handle_eof(self.now);
            }
            End::Eof => self.machine.handle_eof(self.now),
        }
        self.drain(reads, rules);
        while self.closed == 0 && self.deadline() {
            self.drain(reads, rules);
        }
        let took = self.now.saturating_since(began);
        // What drains has its time, and what is left to be written as well.
        let over = self.closed == 1 && took <= Duration::from_secs(12);
        rules.hold(Rule::ServedEnds, over, || format!("closed {} times after {took:?}", self.closed));
        // What is late brings nothing more.
        self.machine.handle_eof(self.now);
        self.machine.handle_timeout(self.now);
        self.machine.close(self.now);
        self.drain(reads, rules);
        let quiet = self.machine.poll_timeout().is_none();
        rules.hold(Rule::ServedEnds, quiet, || "it still waits".to_owned());
    }
}
