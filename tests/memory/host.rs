//! A host of servers that say as much as they may.

use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{Event as ClientEvent, Outcome, Peer};
use sanswire::host::policy::{DefinitionHash, SavedGrant, SavedGrants, ServerMode};
use sanswire::host::{
    CallRequest, ClientHandle, Effect, Event, Host, HostConfig, Provenance, RequestKey, ServerConfig, Target,
};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::lifecycle::{CacheHint, Implementation, ServerCapabilities};
use sanswire::mcp::{Method, Revision};

use crate::counting::{Gauge, KIB};

const SERVERS: usize = 4;
/// The longest message.
const BIG: usize = 64 * KIB;

/// What a server fills its pages with.
#[derive(Clone, Copy)]
enum Filler {
    /// As many tools as there is room for.
    Small,
    /// Schemas as long as they may be.
    Schemas,
    /// Texts of characters that are written out when they are masked.
    Unfit,
    /// Tools that are set aside, with a reason each.
    Aside,
}

struct Held {
    host: Host,
    gauge: Gauge,
    now: Instant,
    clients: Vec<ClientHandle>,
    /// Requests, by key, with the call or listing that they belong to.
    asked: Vec<(RequestKey, Method)>,
}

impl Held {
    fn new() -> Self {
        let mut config = HostConfig::default();
        config.limits.max_message_bytes = BIG;
        config.limits.max_list_bytes = 4 * BIG;
        config.limits.max_items = 2000;
        config.limits.max_pages = 10;
        config.definitions.max_tools = 1000;
        config.definitions.max_schema_bytes = 4 * KIB;
        config.definitions.max_description_bytes = 2 * KIB;
        config.max_starting = 2;
        config.max_calls = 16;
        config.max_call_bytes = 256 * KIB;
        config.approvals.max_bytes = 64 * KIB;
        config.pages.store_bytes = 1024 * KIB;
        for index in 0..SERVERS {
            let mut server = ServerConfig::default();
            server.mode = ServerMode::Allow;
            config.servers.insert(format!("server {index}").into(), server);
        }
        let mut gauge = Gauge::new(config.worst_case_bytes());
        let now = Instant::ZERO;
        let host = gauge.run(|| Host::new(config, now).unwrap());
        let mut held =
            Self { host, gauge, now, clients: Vec::with_capacity(KIB), asked: Vec::with_capacity(KIB) };
        held.drain();
        held
    }

    fn drain(&mut self) {
        self.gauge.run(|| {
            while let Some(effect) = self.host.poll_effect() {
                match effect {
                    Effect::Open { client, .. } => self.clients.push(client),
                    Effect::Request { key, method, .. } => self.asked.push((key, method)),
                    _ => {}
                }
            }
            while self.host.poll_event().is_some() {}
        });
        let (own, held) = (self.host.retained_bytes(), self.gauge.held());
        assert!(own <= held, "{own} bytes by its own count, {held} are");
    }

    fn run<R>(&mut self, work: impl FnOnce(&mut Host) -> R) -> R {
        self.gauge.run(|| work(&mut self.host))
    }

    fn introduce(&mut self) {
        while let Some(client) = self.clients.pop() {
            let now = self.now;
            self.run(|host| host.handle_client(client, ClientEvent::Ready(Box::new(introduction())), now));
            self.drain();
        }
    }

    /// Every server that is asked for its listing answers with as much as it may, until nobody asks any more.
    fn list(&mut self, filler: Filler, round: usize) {
        while let Some(place) = self.asked.iter().position(|(_, method)| *method == Method::ToolsList) {
            let (key, _) = self.asked.swap_remove(place);
            let page = page(filler, round, self.asked.len());
            let now = self.now;
            self.run(|host| host.handle_outcome(key, Ok(Outcome::Complete(raw(&page))), now));
            self.drain();
            self.introduce();
        }
    }

    fn start(&mut self, filler: Filler) {
        self.introduce();
        self.list(filler, 0);
        assert!(self.host.is_started());
    }

    fn refresh(&mut self, filler: Filler, round: usize) {
        self.now = self.now.saturating_add(Duration::from_secs(60));
        let now = self.now;
        self.run(|host| host.handle_timeout(now));
        let names: Vec<_> = self.host.states().iter().map(|state| state.name.clone()).collect();
        for name in names {
            assert!(self.run(|host| host.refresh(&name, now)));
        }
        self.drain();
        self.list(filler, round);
    }
}

/// An introduction as long as a message.
fn introduction() -> Peer {
    let text = "x".repeat(BIG - 100);
    let raw = raw(&format!(r#"{{"capabilities":{{"tools":{{}}}},"instructions":"{text}"}}"#));
    let capabilities = raw.slice_of(raw.view().get("capabilities").unwrap());
    Peer {
        era: Revision::V2025_11_25.era(),
        revision: Revision::V2025_11_25,
        server: Implementation::new("flood", "0"),
        capabilities: ServerCapabilities::new(capabilities),
        instructions: Some(text),
        cache: CacheHint::default(),
        raw,
    }
}

/// A page as long as a message, with another behind it.
fn page(filler: Filler, round: usize, salt: usize) -> String {
    let mut text = String::with_capacity(BIG);
    text.push_str(r#"{"nextCursor":"n","tools":["#);
    for n in 0.. {
        let name = format!("{round}_{salt}_{n}");
        let tool = match filler {
            Filler::Small => format!(r#"{{"name":"{name}"}}"#),
            Filler::Schemas => {
                let pad = "x".repeat(4 * KIB - 40);
                let schema = format!(r#"{{"type":"object","title":"{pad}"}}"#);
                format!(r#"{{"name":"{name}","inputSchema":{schema},"outputSchema":{schema}}}"#)
            }
            Filler::Unfit => format!(r#"{{"name":"{name}","description":"{}"}}"#, "\u{7f}".repeat(2 * KIB)),
            Filler::Aside => {
                format!(r#"{{"name":"{name}","inputSchema":{{"$ref":"https://{}"}}}}"#, "x".repeat(300))
            }
        };
        if text.len() + tool.len() + 4 > BIG {
            break;
        }
        if n > 0 {
            text.push(',');
        }
        text.push_str(&tool);
    }
    text.push_str("]}");
    text
}

fn raw(text: &str) -> RawJson {
    RawJson::parse_str(text).unwrap()
}

/// Servers list as much as they may, at first and anew, and it is staged beside what is offered.
pub(crate) fn host_listings_as_long_as_allowed() {
    for (filler, other, at_least) in [
        (Filler::Small, Filler::Small, 1000 * KIB),
        (Filler::Schemas, Filler::Schemas, 1600 * KIB),
        (Filler::Unfit, Filler::Schemas, 1600 * KIB),
        (Filler::Aside, Filler::Unfit, 1000 * KIB),
    ] {
        let mut held = Held::new();
        held.start(filler);
        held.refresh(other, 1);
        held.refresh(filler, 2);
        let now = held.now;
        held.run(|host| host.begin_turn(now));
        held.drain();
        held.refresh(other, 3);
        held.gauge.reached(at_least);
    }
}

/// Calls with arguments as long as they may be, and results that are kept page by page.
pub(crate) fn host_calls_with_all_that_they_may_hold() {
    let mut held = Held::new();
    held.start(Filler::Small);
    let now = held.now;
    let tool = held.host.registry().offered().next().unwrap().0.clone();
    for round in 0..4 {
        let mut calls = 0;
        // The same call again and again would be asked about.
        while calls < 100 {
            let text = "x".repeat(30 * KIB);
            let arguments = format!(r#"{{"round":{round},"call":{calls},"x":"{text}"}}"#);
            let request = || CallRequest::new("call", Target::Exposed(tool.clone()), Some(raw(&arguments)));
            if held.run(|host| host.call(request(), now)).is_err() {
                break;
            }
            calls += 1;
            held.drain();
        }
        assert!((5..100).contains(&calls), "{calls}");
        let text = "\u{7f}".repeat(BIG - 100);
        while let Some((key, method)) = held.asked.pop() {
            assert_eq!(method, Method::ToolsCall);
            let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
            let finished = held.run(|host| {
                host.handle_outcome(key, Ok(Outcome::Complete(raw(&result))), now);
                let events = core::iter::from_fn(|| host.poll_event());
                events.filter(|event| matches!(event, Event::Finished { .. })).count()
            });
            assert_eq!(finished, 1);
            held.drain();
        }
    }
    assert!(held.host.call_bytes() > 100 * KIB, "rests are kept");
}

/// As much as is remembered of what was allowed, for the session and for longer, is changed while servers list as much as
/// they may: both its bytes and its lines are as many as may be.
pub(crate) fn host_grants_as_long_as_allowed() {
    const GRANTS: usize = 10_000;
    const LINE: usize = (4 << 20) / GRANTS;
    let line = |server: &str| format!("{server}/t({})\n", "?".repeat(LINE - 6));
    let last = line("b");
    let text = line("a").repeat(GRANTS - 1) + &last;
    let mut held = Held::new();
    held.start(Filler::Schemas);
    held.refresh(Filler::Unfit, 1);
    held.run(|host| {
        for n in 0..GRANTS {
            let tool = Provenance { server: "a".into(), tool: format!("{n:01024}").into() };
            assert!(host.grants_mut().allow(&tool, DefinitionHash([0; 32])));
        }
        let (saved, dropped) = SavedGrants::read(&text).unwrap();
        assert!(dropped.is_empty());
        *host.grants_mut().saved_mut() = saved;
        // The old ones are there until the new ones are.
        let grant = SavedGrant::read(last.trim_end()).unwrap();
        host.grants_mut().saved_mut().replace("b", [grant]).unwrap();
        assert_eq!(host.grants().saved().iter().count(), GRANTS);
    });
    held.gauge.came_near(48);
}
