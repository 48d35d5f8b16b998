//! A host with one server, of which nothing is there but what it says: what the models of hosts have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{Event as ClientEvent, Outcome, Peer, Start};
use sanswire::error::{ApiError, CloseReason};
use sanswire::host::link::Status;
use sanswire::host::policy::{Answer, ApprovalHandle};
use sanswire::host::{
    CallHandle, CallOutcome, CallRequest, ClientHandle, Effect, Event, Host, HostConfig, RequestKey, Target,
};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::lifecycle::{Implementation, ServerCapabilities};
use sanswire::mcp::{Era, Method, Revision};

use super::{Rule, Rules};

/// Its name.
pub const SERVER: &str = "s";

/// The rules that all models of hosts hold their own version of.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Each call ends once.
    pub once: Rule,
    /// Deadlines lie ahead.
    pub spin: Rule,
    /// Closed, all is over.
    pub close: Rule,
    /// Left alone, calls end within their time.
    pub mute: Rule,
}

/// Where a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// To be opened.
    Opening,
    /// Ready.
    Ready,
    /// Ended by itself.
    Ended,
    /// Told to be shut.
    Shut,
}

/// What was noted of a call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its arguments.
    pub arguments: &'static str,
    /// How often it was sent, and over what last.
    pub sent: Vec<ClientHandle>,
    /// What was sent.
    pub params: String,
    /// Each outcome of a sending said that nothing had left.
    pub unsent: bool,
    /// How it ended.
    pub end: Option<&'static str>,
    /// It was given up.
    pub cancelled: bool,
}

/// What was noted of a question.
#[derive(Clone, Debug)]
pub struct Question {
    /// What it is about.
    pub arguments: String,
    /// Which definition its tool had.
    pub version: u32,
    /// The call that it let pass.
    pub first: Option<CallHandle>,
    /// What counted as its answer.
    pub answer: Option<Answer>,
    /// It was told to have ended.
    pub ended: bool,
    /// How many calls it let pass.
    pub passed: u32,
}

/// What a step led to, in the order that it was told.
#[derive(Clone, Debug)]
pub enum Told {
    /// An attempt begins.
    Open(ClientHandle, Start),
    /// A connection is shut.
    Shut(ClientHandle),
    /// The status.
    Status(Status),
    /// A call is sent.
    Sent(CallHandle),
}

/// The host and its notes.
pub struct Side {
    /// The machine.
    pub host: Host,
    /// The time.
    pub now: Instant,
    /// All connections.
    pub clients: BTreeMap<ClientHandle, Stage>,
    /// Requests without an outcome.
    pub requests: BTreeMap<RequestKey, ClientHandle>,
    /// All calls.
    pub calls: BTreeMap<CallHandle, Call>,
    /// All questions.
    pub questions: BTreeMap<ApprovalHandle, Question>,
    /// The definition that the server lists.
    pub version: u32,
    /// The definition that is offered.
    pub offered: u32,
    /// The last status.
    pub status: Status,
    /// It was closed.
    pub closed: bool,
    /// What the last step led to.
    pub told: Vec<Told>,
    named: Named,
}

fn peer() -> Box<Peer> {
    let raw = RawJson::parse_str(r#"{"tools":{"listChanged":true}}"#).expect("JSON");
    Box::new(Peer {
        era: Era::Legacy,
        revision: Revision::NEWEST_LEGACY,
        server: Implementation::new(SERVER, "1"),
        capabilities: ServerCapabilities::new(Some(raw.clone())),
        instructions: None,
        cache: sanswire::mcp::types::lifecycle::CacheHint::default(),
        raw,
    })
}

impl Side {
    /// The host at its beginning.
    #[must_use]
    pub fn new(config: HostConfig, named: Named, rules: &mut Rules) -> Self {
        let now = Instant::from_millis(1000);
        let mut this = Self {
            host: Host::new(config, now).expect("a good configuration"),
            now,
            clients: BTreeMap::new(),
            requests: BTreeMap::new(),
            calls: BTreeMap::new(),
            questions: BTreeMap::new(),
            version: 1,
            offered: 0,
            status: Status::Connecting,
            closed: false,
            told: Vec::new(),
            named,
        };
        this.drain(rules);
        this
    }

    /// Takes out all that is to be done and told.
    pub fn drain(&mut self, rules: &mut Rules) {
        loop {
            let mut any = false;
            while let Some(effect) = self.host.poll_effect() {
                any = true;
                self.effect(effect);
            }
            while let Some(event) = self.host.poll_event() {
                any = true;
                self.event(event, rules);
            }
            if !any {
                break;
            }
        }
        let due = self.host.poll_timeout();
        rules.hold(self.named.spin, due.is_none_or(|due| due > self.now), || {
            format!("due {due:?} at {:?}", self.now)
        });
    }

    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Open { client, start, .. } => {
                self.clients.insert(client, Stage::Opening);
                self.told.push(Told::Open(client, start));
            }
            Effect::Shut { client, .. } => {
                self.clients.insert(client, Stage::Shut);
                self.told.push(Told::Shut(client));
                // Of calls only there are outcomes still to come.
                self.requests.retain(|key, of| *of != client || matches!(key, RequestKey::Call(_)));
            }
            Effect::Request { key, client, params, .. } => {
                self.requests.insert(key, client);
                if let RequestKey::Call(handle) = key {
                    if let Some(call) = self.calls.get_mut(&handle) {
                        call.sent.push(client);
                        call.params = params.map_or_else(String::new, |raw| raw.as_str().into());
                    }
                    self.told.push(Told::Sent(handle));
                }
            }
            Effect::Cancel { key, .. } => drop(self.requests.remove(&key)),
            _ => {}
        }
    }

    fn event(&mut self, event: Event, rules: &mut Rules) {
        match event {
            Event::Status { status, .. } => {
                self.status = status;
                self.told.push(Told::Status(status));
            }
            Event::Approval(request) => {
                let question = Question {
                    arguments: request.arguments.as_ref().map_or_else(String::new, |raw| raw.as_str().into()),
                    version: self.offered,
                    first: None,
                    answer: None,
                    ended: false,
                    passed: 0,
                };
                self.questions.insert(request.handle, question);
            }
            Event::ApprovalEnded(handle) => {
                if let Some(question) = self.questions.get_mut(&handle) {
                    question.ended = true;
                }
            }
            Event::Finished { call, end } => {
                let known = self.calls.get_mut(&call);
                let fresh = known.is_some_and(|call| {
                    call.end.replace(end.outcome.as_str()).is_none()
                        && (!matches!(end.outcome, CallOutcome::Denied(_)) || call.sent.is_empty())
                });
                rules.hold(self.named.once, fresh, || format!("{call:?} ends {end:?}"));
            }
            _ => {}
        }
    }

    /// A connection is ready.
    pub fn ready(&mut self, client: ClientHandle) {
        self.clients.insert(client, Stage::Ready);
        self.host.handle_client(client, ClientEvent::Ready(peer()), self.now);
    }

    /// A connection ended: first its calls, then itself.
    pub fn end(&mut self, client: ClientHandle, reason: CloseReason, maybe_ran: bool) {
        let stage = self.clients.entry(client).or_insert(Stage::Shut);
        if *stage != Stage::Shut {
            *stage = Stage::Ended;
        }
        let lost: Vec<_> =
            self.requests.iter().filter(|(_, of)| **of == client).map(|(key, _)| *key).collect();
        for key in lost {
            self.outcome(key, Ok(Outcome::Lost { maybe_ran }));
        }
        self.host.handle_client(client, ClientEvent::Closed(reason), self.now);
    }

    /// A request has its outcome.
    pub fn outcome(&mut self, key: RequestKey, outcome: Result<Outcome, ApiError>) {
        self.requests.remove(&key);
        if let RequestKey::Call(call) = key
            && let Some(call) = self.calls.get_mut(&call)
        {
            let unsent = matches!(outcome, Ok(Outcome::Lost { maybe_ran: false }) | Err(_));
            call.unsent &= unsent;
        }
        self.host.handle_outcome(key, outcome, self.now);
    }

    /// A listing has its answer.
    pub fn listed(&mut self, key: RequestKey) {
        let text =
            format!(r#"{{"tools":[{{"name":"t","description":"{}","inputSchema":{{}}}}]}}"#, self.version);
        self.outcome(key, Ok(Outcome::Complete(RawJson::parse_str(&text).expect("JSON"))));
        self.offered = self.offers();
    }

    /// A turn begins: what was listed meanwhile is offered.
    pub fn turn(&mut self) {
        self.host.begin_turn(self.now);
        self.offered = self.offers();
    }

    /// The definition that is offered.
    fn offers(&self) -> u32 {
        let offered = self.host.registry().find(SERVER, "t");
        offered.map_or(0, |offered| offered.definition.description.parse().expect("a number"))
    }

    /// Answers each listing that is asked for.
    pub fn list_all(&mut self, rules: &mut Rules) {
        self.drain(rules);
        while let Some(key) = self.requests.keys().find(|key| matches!(key, RequestKey::Listing(_))).copied()
        {
            self.listed(key);
            self.drain(rules);
        }
    }

    /// The tool is defined otherwise from now on, and the server says so.
    pub fn change(&mut self) {
        self.version += 1;
        let ready = self.clients.iter().find(|(_, stage)| **stage == Stage::Ready).map(|(client, _)| *client);
        if let Some(client) = ready {
            let event = ClientEvent::Notification {
                subscription: None,
                method: Method::ToolsListChanged,
                params: None,
            };
            self.host.handle_client(client, event, self.now);
        }
    }

    /// Somebody calls.
    pub fn call(&mut self, arguments: &'static str) {
        let target = Target::Exposed("mcp__s__t".into());
        let raw = RawJson::parse_str(arguments).expect("JSON");
        let request = CallRequest::new(self.calls.len().to_string(), target, Some(raw));
        if let Ok(handle) = self.host.call(request, self.now) {
            let call = Call {
                arguments,
                sent: vec![],
                params: String::new(),
                unsent: true,
                end: None,
                cancelled: false,
            };
            self.calls.insert(handle, call);
        }
    }

    /// A call is given up.
    pub fn cancel(&mut self, handle: CallHandle) {
        self.host.cancel(handle, self.now);
        if let Some(call) = self.calls.get_mut(&handle) {
            call.cancelled = true;
        }
    }

    /// Goes to the next deadline.
    pub fn deadline(&mut self) -> bool {
        let Some(due) = self.host.poll_timeout() else { return false };
        self.now = due;
        self.host.handle_timeout(due);
        true
    }

    /// Calls that are not over.
    #[must_use]
    pub fn open_calls(&self) -> Vec<CallHandle> {
        self.calls.iter().filter(|(_, call)| call.end.is_none()).map(|(handle, _)| *handle).collect()
    }

    /// Connections that are not shut.
    #[must_use]
    pub fn live(&self) -> BTreeSet<ClientHandle> {
        self.clients.iter().filter(|(_, stage)| **stage != Stage::Shut).map(|(client, _)| *client).collect()
    }

    /// Everything is closed, and has to be over at once.
    pub fn close(&mut self, rules: &mut Rules) {
        self.told.clear();
        self.closed = true;
        self.host.close(self.now);
        self.drain(rules);
        let opened = self.told.iter().any(|told| matches!(told, Told::Open(..) | Told::Sent(_)));
        let over = self.open_calls().is_empty() && self.live().is_empty() && !opened;
        rules.hold(self.named.close, over && self.host.poll_timeout().is_none(), || {
            format!("{:?} {:?} {:?}", self.calls, self.clients, self.host.poll_timeout())
        });
        let open: Vec<_> = self.questions.iter().filter(|(_, question)| !question.ended).collect();
        rules.hold(self.named.close, open.is_empty(), || format!("{open:?}"));
        // What is late brings nothing back.
        let late: Vec<_> = self.requests.keys().copied().collect();
        for key in late {
            self.outcome(key, Ok(Outcome::Lost { maybe_ran: true }));
        }
        let clients: Vec<_> = self.clients.keys().copied().collect();
        for client in clients {
            self.host.handle_client(client, ClientEvent::Ready(peer()), self.now);
            self.host.handle_client(client, ClientEvent::Closed(CloseReason::Eof), self.now);
        }
        self.call("{}");
        self.drain(rules);
        let quiet = self.live().is_empty() && self.open_calls().is_empty();
        rules.hold(self.named.close, quiet, || format!("{:?} {:?}", self.told, self.calls));
    }

    /// Nothing more is heard of the server, and of nobody else: what is open ends within `limit`.
    pub fn mute(&mut self, limit: Duration, rules: &mut Rules) {
        let until = self.now.saturating_add(limit);
        let mut steps = 0;
        while steps < 100 && self.host.poll_timeout().is_some_and(|due| due <= until) {
            self.deadline();
            self.drain(rules);
            steps += 1;
        }
        let over = steps < 100 && self.open_calls().is_empty();
        rules.hold(self.named.mute, over, || format!("{steps} deadlines, {:?}", self.calls));
    }

    /// Writes what tells this state from others.
    ///
    /// # Errors
    /// Those of `into`.
    pub fn tell(&self, into: &mut dyn fmt::Write) -> fmt::Result {
        let Self { host, now, clients, requests, calls, questions, version, offered, status, .. } = self;
        write!(
            into,
            "{now:?} {clients:?} {requests:?} {calls:?} {questions:?} {version} {offered} {status} {host:?}"
        )
    }
}
