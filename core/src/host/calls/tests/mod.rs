//! Calls against servers that are made up: what they offer, whether they can be reached, and what they answer is said
//! by the tests.

mod asking;
mod ends;
mod model;
mod own;
mod policy;
mod probe;
mod sending;
mod waist;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::client::{Outcome, RequestOptions};
use crate::error::ApiError;
use crate::host::Provenance;
use crate::host::catalog::{ListingSettings, Registry, ServerTools};
use crate::host::config::ServerConfig;
use crate::host::event::{CallEnd, CallHandle, CallOutcome, ClientHandle, Denial, RequestKey};
use crate::host::link::{Effect as LinkEffect, Reconnect, ReconnectSettings, Status};
use crate::host::policy::{Answer, ApprovalRequest, Reason, ServerMode};
use crate::jsonrpc::RawJson;
use crate::mcp::Method;

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// How a made-up server can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Road {
    Open,
    Pending,
    Shut,
}

/// Servers of which nothing is there but what they list.
struct Servers {
    registry: Registry,
    roads: BTreeMap<String, (Road, ClientHandle)>,
    sub_agents: BTreeMap<String, Vec<String>>,
    /// Each time that one was to be reached.
    woken: Vec<String>,
    lost: Vec<ClientHandle>,
}

impl Reach for Servers {
    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn way(&mut self, server: &str) -> Way {
        self.woken.push(server.into());
        match self.roads[server] {
            (Road::Open, client) => Way::Go(client),
            (Road::Pending, _) => Way::Wait,
            (Road::Shut, _) => Way::Refuse { status: Status::Unavailable, error: "gone".into() },
        }
    }

    fn lost(&mut self, client: ClientHandle, _: Instant) {
        self.lost.push(client);
    }

    fn sub_agents(&self, server: &str) -> &[String] {
        self.sub_agents.get(server).map_or(&[], Vec::as_slice)
    }
}

/// A request that was made and has no outcome yet.
#[derive(Debug)]
struct Sent {
    call: CallHandle,
    client: ClientHandle,
    params: String,
    options: RequestOptions,
}

/// The calls, their servers, and all that was taken out.
struct World {
    calls: Calls,
    servers: Servers,
    now: u64,
    sent: Vec<Sent>,
    /// Whether servers still answer was asked.
    probes: Vec<(CallHandle, ClientHandle, Method)>,
    /// Those that were given up.
    cancelled: Vec<CallHandle>,
    asked: Vec<ApprovalRequest>,
    /// Questions that ended.
    ended: Vec<u64>,
    ends: BTreeMap<CallHandle, CallEnd>,
    events: Vec<Event>,
    next: u64,
}

/// The connections of all servers: numbers that a link gave.
fn clients(count: usize) -> Vec<ClientHandle> {
    let mut link = Reconnect::new(ReconnectSettings::default(), true).unwrap();
    let mut out = vec![];
    while out.len() < count {
        while let Some(effect) = link.poll_effect() {
            if let LinkEffect::Open(session) = effect {
                out.push(ClientHandle { slot: 0, session });
                link.opened(session);
            }
        }
        link.reconnect();
    }
    out
}

impl World {
    /// Servers `s` and `r`, each with the tools `t` and `u`, reachable; somebody to ask is there.
    fn new(set: impl FnOnce(&mut HostConfig)) -> Self {
        let mut config = HostConfig::default();
        for server in ["r", "s"] {
            config.servers.insert(server.into(), ServerConfig::default());
        }
        set(&mut config);
        let clients = clients(2);
        let servers = Servers {
            registry: Registry::default(),
            roads: [("r".into(), (Road::Open, clients[0])), ("s".into(), (Road::Open, clients[1]))].into(),
            sub_agents: BTreeMap::new(),
            woken: vec![],
            lost: vec![],
        };
        let mut world = Self {
            calls: Calls::new(&config).expect("a good configuration"),
            servers,
            now: 0,
            sent: vec![],
            probes: vec![],
            cancelled: vec![],
            asked: vec![],
            ended: vec![],
            ends: BTreeMap::new(),
            events: vec![],
            next: 0,
        };
        world.offer("r", r#"{"name":"t"},{"name":"u"}"#);
        world.offer("s", r#"{"name":"t"},{"name":"u"}"#);
        world.calls.set_approver(true, at(0));
        world
    }

    /// The same, all of whose calls pass.
    fn open(set: impl FnOnce(&mut HostConfig)) -> Self {
        Self::new(|config| {
            for server in config.servers.values_mut() {
                server.mode = ServerMode::Allow;
            }
            set(config);
        })
    }

    /// A server lists these tools from now on.
    fn offer(&mut self, server: &str, tools: &str) {
        let page = json(&format!(r#"{{"tools":[{tools}]}}"#));
        let tools = ServerTools::read(server, &ListingSettings::default(), &Mask::default(), &[page]);
        self.servers.registry.set(server, tools);
    }

    fn road(&mut self, server: &str, road: Road) {
        self.servers.roads.get_mut(server).expect(server).0 = road;
    }

    fn settled(&mut self, server: &str) {
        self.calls.settled(server, &mut self.servers, at(self.now));
        self.drain();
    }

    fn begin(&mut self, request: CallRequest) -> Result<CallHandle, CallRefused> {
        let call = self.calls.begin(request, &mut self.servers, at(self.now));
        self.drain();
        call
    }

    /// A call of `s/t` or the like by its exposed name.
    fn call(&mut self, tool: &str, arguments: &str) -> CallHandle {
        let request = self.request(tool, arguments);
        self.begin(request).expect(tool)
    }

    fn request(&mut self, tool: &str, arguments: &str) -> CallRequest {
        self.next += 1;
        let (server, tool) = tool.split_once('/').expect(tool);
        let target = Target::Exposed(format!("mcp__{server}__{tool}").into());
        let arguments = (!arguments.is_empty()).then(|| json(arguments));
        let mut request = CallRequest::new(self.next.to_string(), target, arguments);
        request.owner = Principal::named("ann");
        request
    }

    /// A call of one of the host's own tools, or of whatever is called so.
    fn own(&mut self, name: &str, arguments: &str) -> Result<CallHandle, CallRefused> {
        let mut request = CallRequest::new("own", Target::Exposed(name.into()), Some(json(arguments)));
        request.owner = Principal::named("ann");
        self.begin(request)
    }

    /// Answers the question that was asked last.
    fn answer(&mut self, answer: Answer) -> bool {
        let asked = self.asked.last().expect("a question").handle;
        self.answer_to(asked, answer)
    }

    fn answer_to(&mut self, asked: ApprovalHandle, answer: Answer) -> bool {
        let open = self.calls.answer(asked, answer, &mut self.servers, at(self.now));
        self.drain();
        open
    }

    fn cancel(&mut self, call: CallHandle) -> bool {
        let open = self.calls.cancel(call, at(self.now));
        self.drain();
        open
    }

    /// The outcome of a call's request. The request need not be there any more.
    fn outcome(&mut self, call: CallHandle, outcome: Result<Outcome, ApiError>) {
        self.sent.retain(|sent| sent.call != call);
        self.probes.retain(|(probe, ..)| *probe != call);
        self.calls.handle_outcome(call, outcome, &mut self.servers, at(self.now));
        self.drain();
    }

    fn completes(&mut self, call: CallHandle, result: &str) {
        self.outcome(call, Ok(Outcome::Complete(json(result))));
    }

    fn pass(&mut self, millis: u64) {
        self.now += millis;
        self.calls.handle_timeout(&mut self.servers, at(self.now));
        self.drain();
    }

    /// Takes out all that is to be done and told.
    fn drain(&mut self) {
        while let Some(effect) = self.calls.poll_effect() {
            match effect {
                Effect::Request { key: RequestKey::Call(call), client, method, params: None, .. } => {
                    self.probes.push((call, client, method));
                }
                Effect::Request { key: RequestKey::Call(call), client, method, params, options } => {
                    assert_eq!(method, Method::ToolsCall);
                    assert!(self.sent.iter().all(|sent| sent.call != call), "{call:?} is made twice at once");
                    let params = params.expect("a call has parameters").as_str().into();
                    self.sent.push(Sent { call, client, params, options: *options });
                }
                Effect::Resume { key: RequestKey::Call(call), client, answers, options, .. } => {
                    self.sent.push(Sent { call, client, params: format!("{answers:?}"), options: *options });
                }
                Effect::Cancel { key: RequestKey::Call(call), client } => {
                    let sent = self.sent.iter().position(|sent| (sent.call, sent.client) == (call, client));
                    let probe = self.probes.iter().position(|(probe, of, _)| (*probe, *of) == (call, client));
                    match (sent, probe) {
                        (Some(sent), None) => drop(self.sent.remove(sent)),
                        (None, Some(probe)) => drop(self.probes.remove(probe)),
                        _ => panic!("what is given up was made"),
                    }
                    self.cancelled.push(call);
                }
                other => panic!("{other:?}"),
            }
        }
        while let Some(event) = self.calls.poll_event() {
            match event {
                Event::Approval(request) => self.asked.push(*request),
                Event::ApprovalEnded(question) => self.ended.push(question.as_u64()),
                Event::Finished { call, end } => {
                    assert!(self.ends.insert(call, *end).is_none(), "{call:?} ends twice");
                }
                other => self.events.push(other),
            }
        }
        let due = self.calls.poll_timeout();
        assert!(due.is_none_or(|due| due > at(self.now)), "due {due:?} at {}", self.now);
    }

    fn sent(&self, call: CallHandle) -> &Sent {
        self.sent.iter().find(|sent| sent.call == call).expect("it was made")
    }

    fn is_sent(&self, call: CallHandle) -> bool {
        self.sent.iter().any(|sent| sent.call == call)
    }

    fn end(&self, call: CallHandle) -> &CallOutcome {
        &self.ends.get(&call).expect("it is over").outcome
    }

    /// The name of a call's end and what a model is told of it.
    fn told(&self, call: CallHandle) -> (&'static str, String) {
        (self.end(call).as_str(), self.end(call).message(&Mask::new(["s3cr3t"])))
    }

    fn is_open(&self, call: CallHandle) -> bool {
        !self.ends.contains_key(&call)
    }
}
