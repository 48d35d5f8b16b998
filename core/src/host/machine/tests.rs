//! Servers and calls together, as whoever drives a host sees them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::client::Peer;
use crate::host::catalog::ExposureMode;
use crate::host::config::{RefreshMode, ServerConfig};
use crate::host::event::CallOutcome;
use crate::host::policy::ServerMode;
use crate::host::{Mask, Target};
use crate::mcp::types::lifecycle::{CacheHint, Implementation, ServerCapabilities};
use crate::mcp::{Method, Revision};

const NOW: Instant = Instant::from_millis(1_000);

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

/// A host that lets everything pass, and what it asked for and told.
struct World {
    host: Host,
    opened: Vec<(String, ClientHandle)>,
    asked: Vec<(RequestKey, Method)>,
    events: Vec<Event>,
}

impl World {
    fn new(servers: &[&str], set: impl FnOnce(&mut HostConfig)) -> Self {
        let mut config = HostConfig::default();
        for name in servers {
            let server = ServerConfig { mode: ServerMode::Allow, ..ServerConfig::default() };
            config.servers.insert((*name).into(), server);
        }
        set(&mut config);
        let host = Host::new(config, NOW).expect("a good configuration");
        let mut world = Self { host, opened: vec![], asked: vec![], events: vec![] };
        world.drain();
        world
    }

    fn drain(&mut self) {
        while let Some(effect) = self.host.poll_effect() {
            match effect {
                Effect::Open { client, server, .. } => self.opened.push((server.to_string(), client)),
                Effect::Shut { client, .. } => self.opened.retain(|(_, open)| *open != client),
                Effect::Request { key, method, .. } => self.asked.push((key, method)),
                Effect::Resume { .. } | Effect::Cancel { .. } => {}
            }
        }
        self.events.extend(core::iter::from_fn(|| self.host.poll_event()));
    }

    fn client(&self, server: &str) -> ClientHandle {
        self.opened.iter().find(|(name, _)| name == server).expect(server).1
    }

    fn ready(&mut self, server: &str, instructions: &str) {
        let peer = Peer {
            era: Revision::V2025_11_25.era(),
            revision: Revision::V2025_11_25,
            server: Implementation::new(server, "1"),
            capabilities: ServerCapabilities::new(Some(json(r#"{"tools":{}}"#))),
            instructions: Some(instructions.into()),
            cache: CacheHint::default(),
            raw: json("{}"),
        };
        self.host.handle_client(self.client(server), client::Event::Ready(Box::new(peer)), NOW);
        self.drain();
    }

    /// Answers the request that was made last.
    fn answer(&mut self, method: &Method, result: &str) {
        let (key, asked) = self.asked.pop().expect("something was asked");
        assert_eq!(asked, *method);
        self.host.handle_outcome(key, Ok(Outcome::Complete(json(result))), NOW);
        self.drain();
    }

    fn connect(&mut self, server: &str, tools: &str) {
        self.ready(server, &format!("{server} says hello"));
        self.answer(&Method::ToolsList, &format!(r#"{{"tools":[{tools}]}}"#));
    }

    fn call(&mut self, name: &str, arguments: &str) {
        let request = CallRequest::new("id", Target::Exposed(name.into()), Some(json(arguments)));
        self.host.call(request, NOW).expect("it is accepted");
        self.drain();
    }

    /// The end of the only call, as a model is told of it.
    fn end(&mut self) -> (String, String) {
        let ends = self.events.drain(..).filter_map(|event| match event {
            Event::Finished { end, .. } => Some(end),
            _ => None,
        });
        let ends: Vec<_> = ends.collect();
        let [end] = &ends[..] else { panic!("{ends:?}") };
        (end.outcome.as_str().into(), end.outcome.message(&Mask::default()))
    }

    fn told(&self) -> Vec<String> {
        let listing = self.host.tools_listing();
        let names = listing.view().elements().filter_map(|tool| tool.get("name")?.str());
        names.map(|name| name.decode().into_owned()).collect()
    }
}

#[test]
fn a_model_that_is_told_little_asks_for_the_rest() {
    // H-143, H-144, H-145
    let mut world = World::new(&["files", "web"], |config| config.exposure.mode = ExposureMode::Lazy);
    assert_eq!(world.opened.len(), 2, "servers are opened at the start all the same");
    world.connect("files", r#"{"name":"read"},{"name":"write"}"#);
    world.connect("web", r#"{"name":"get"}"#);
    assert!(!world.told().iter().any(|name| name.starts_with("mcp__")), "{:?}", world.told());
    assert!(world.told().contains(&"mcp_list".into()));
    let exposed = world.host.exposed();
    assert_eq!((exposed.lazy, exposed.registered, exposed.told), (true, 3, 0));
    let hint = world.host.instructions().expect("a hint");
    assert!(hint.contains("files, web") && hint.contains("list first"), "{hint}");

    let asked = world.asked.len();
    world.call("mcp_list", r#"{"server":"files"}"#);
    let (kind, text) = world.end();
    assert_eq!((kind.as_str(), text.lines().count()), ("completed", 2), "{text}");
    assert!(text.starts_with("read: "), "{text}");
    assert_eq!(world.asked.len(), asked, "what is known is not asked for again");
    world.call("mcp_call", r#"{"server":"web","tool":"get","arguments":{}}"#);
    world.answer(&Method::ToolsCall, r#"{"content":[{"type":"text","text":"got"}]}"#);
    assert_eq!(world.end(), ("completed".into(), "got".into()));
}

#[test]
fn what_servers_say_of_themselves_is_told_while_they_are_connected() {
    // H-213
    let mut world = World::new(&["a", "b"], |config| {
        config.exposure.mode = ExposureMode::Eager;
        config.instructions.expose = true;
    });
    assert_eq!(world.host.instructions(), None);
    world.connect("a", r#"{"name":"t"}"#);
    world.connect("b", r#"{"name":"t"}"#);
    assert_eq!(world.told(), ["mcp__a__t", "mcp__b__t", "mcp_more"]);
    let said = world.host.instructions().expect("both");
    assert!(said.contains("> a says hello") && said.contains("> b says hello"), "{said}");
    world.host.handle_client(world.client("a"), client::Event::Closed(crate::error::CloseReason::Eof), NOW);
    world.drain();
    let said = world.host.instructions().expect("one");
    assert!(!said.contains("> a says hello") && said.contains("> b says hello"), "{said}");
    assert_eq!(world.told().len(), 3, "its tools stay");
}

#[test]
fn what_a_model_is_told_is_the_same_to_the_byte_until_the_next_turn() {
    // H-211
    let mut world = World::new(&["a"], |config| config.refresh.mode = RefreshMode::Staged);
    world.connect("a", r#"{"name":"t"}"#);
    let (before, bytes) = (world.host.tools_listing(), world.host.retained_bytes());
    assert!(world.host.refresh("a", NOW));
    world.drain();
    world.answer(&Method::ToolsList, r#"{"tools":[{"name":"t","description":"other"},{"name":"u"}]}"#);
    assert_eq!(world.host.tools_listing().as_str(), before.as_str());
    assert!(world.host.retained_bytes() > bytes, "both are held");
    world.call("mcp__a__t", "{}");
    world.answer(&Method::ToolsCall, r#"{"content":[]}"#);
    assert_eq!(world.end().0, "completed");
    world.host.begin_turn(NOW);
    assert_ne!(world.host.tools_listing().as_str(), before.as_str());
    assert!(world.host.retained_bytes() <= world.host.config().worst_case_bytes());
}

#[test]
fn a_call_waits_for_its_server_and_ends_with_it() {
    // H-107
    let mut world = World::new(&["a"], |config| config.reconnect.max_attempts = 1);
    world.connect("a", r#"{"name":"t"}"#);
    world.host.handle_client(world.client("a"), client::Event::Closed(crate::error::CloseReason::Eof), NOW);
    world.drain();
    world.call("mcp__a__t", "{}");
    assert!(world.asked.is_empty(), "it waits");
    world.ready("a", "");
    world.answer(&Method::ToolsCall, r#"{"content":[]}"#);
    assert_eq!(world.end().0, "completed");

    world.host.handle_client(world.client("a"), client::Event::Closed(crate::error::CloseReason::Eof), NOW);
    world.drain();
    world.call("mcp__a__t", "{}");
    world.host.handle_not_opened(world.client("a"), "no such program", NOW);
    world.drain();
    let (kind, text) = world.end();
    assert_eq!(kind, "unavailable");
    assert!(text.contains("no such program"), "{text}");
    world.host.close(NOW);
    world.drain();
    assert_eq!(world.opened, []);
    let request = CallRequest::new("id", Target::Exposed("mcp__a__t".into()), None);
    assert!(matches!(world.host.call(request, NOW), Err(CallRefused::Closed)));
    assert!(!world.events.iter().any(|event| matches!(event, Event::Finished { end, .. } if matches!(end.outcome, CallOutcome::Completed(_)))));
}
