//! The servers of a host, driven by hand: what a connection would say is said by the tests.

mod health;
mod listing;
mod lost;
mod model;
mod opening;
mod refresh;
mod table;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::client::{RequestOptions, Start};
use crate::error::CloseReason;
use crate::host::config::{Carrier, RefreshMode, ServerConfig};
use crate::host::event::RequestKey;
use crate::jsonrpc::{ErrorObject, RawJson};
use crate::mcp::types::lifecycle::{CacheHint, Implementation, ServerCapabilities};
use crate::mcp::{Method, Revision};

/// A request that waits for its outcome.
struct Asked {
    key: RequestKey,
    client: ClientHandle,
    method: Method,
    params: Option<RawJson>,
    options: RequestOptions,
}

/// A host's servers, and what they said is to be done.
struct World {
    manager: Manager,
    now: Instant,
    /// Those that were opened and not shut, with how and until when.
    open: BTreeMap<ClientHandle, (String, Start, Instant)>,
    /// Every connection that was ever opened.
    opened: Vec<ClientHandle>,
    /// The servers of attempts that were shut because they failed.
    failed: Vec<String>,
    asked: Vec<Asked>,
    events: Vec<String>,
}

type Ended = Result<Outcome, ApiError>;

/// A change of the settings, for a table.
type Set = fn(&mut HostConfig);

const LIST_CHANGED: &str = r#"{"tools":{"listChanged":true}}"#;

impl World {
    fn new(servers: &[&str], set: impl FnOnce(&mut HostConfig)) -> Self {
        let mut config = HostConfig::default();
        for server in servers {
            config.servers.insert((*server).into(), ServerConfig::default());
        }
        set(&mut config);
        let manager = Manager::new(&config, Instant::ZERO).expect("a good configuration");
        let mut world = Self {
            manager,
            now: Instant::ZERO,
            open: BTreeMap::new(),
            opened: vec![],
            failed: vec![],
            asked: vec![],
            events: vec![],
        };
        world.drain();
        world
    }

    /// Servers that are connected, each with a tool `t`; what was told of that is forgotten.
    fn up(servers: &[&str], set: impl FnOnce(&mut HostConfig)) -> Self {
        let mut world = Self::new(servers, set);
        for server in servers {
            world.connect(server, &["t"]);
        }
        let _ = (world.told(), world.settled());
        world
    }

    /// Takes out all that is to be done and told.
    fn drain(&mut self) {
        while let Some(effect) = self.manager.poll_effect() {
            match effect {
                Effect::Open { client, server, start, until } => {
                    assert!(!self.opened.contains(&client), "{client:?} is opened twice");
                    let others = self.open.values().filter(|(other, ..)| **other == *server).count();
                    assert_eq!(others, 0, "{server} has a connection");
                    assert!(until > self.now, "{server} has no time");
                    self.opened.push(client);
                    self.open.insert(client, (server.to_string(), start, until));
                }
                Effect::Shut { client, server, failed } => {
                    let (name, ..) = self.open.remove(&client).expect("what is shut was opened");
                    assert_eq!(*name, *server);
                    if failed {
                        self.failed.push(name);
                    }
                    self.asked.retain(|asked| asked.client != client);
                }
                Effect::Request { key, client, method, params, options } => {
                    assert!(self.open.contains_key(&client), "{method} is asked of nobody");
                    assert!(self.asked.iter().all(|asked| asked.key != key), "{key:?} is asked twice");
                    self.asked.push(Asked { key, client, method, params, options: *options });
                }
                other => panic!("{other:?}"),
            }
        }
        while let Some(event) = self.manager.poll_event() {
            self.events.push(said(&event));
        }
    }

    fn client(&self, server: &str) -> ClientHandle {
        let found = self.open.iter().find(|(_, (name, ..))| name == server);
        *found.unwrap_or_else(|| panic!("{server} is not open")).0
    }

    fn is_open(&self, server: &str) -> bool {
        self.open.values().any(|(name, ..)| name == server)
    }

    /// The servers that have a connection, from the moment it is opened.
    fn opens(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.open.values().map(|(name, ..)| &**name).collect();
        names.sort_unstable();
        names
    }

    fn until(&self, server: &str) -> Instant {
        self.open[&self.client(server)].2
    }

    fn start(&self, server: &str) -> &Start {
        &self.open[&self.client(server)].1
    }

    fn event(&mut self, client: ClientHandle, event: client::Event) {
        self.manager.handle_client(client, event, self.now);
        self.drain();
    }

    fn ready(&mut self, server: &str) {
        self.ready_as(server, Revision::V2025_11_25, r#"{"tools":{}}"#);
    }

    fn ready_as(&mut self, server: &str, revision: Revision, capabilities: &str) {
        let peer = peer(revision, capabilities);
        self.event(self.client(server), client::Event::Ready(peer.into()));
    }

    /// A listing's next page.
    fn page(&mut self, server: &str, page: &str) {
        let page = RawJson::parse_str(page).expect(page);
        self.outcome(server, Ok(Outcome::Complete(page)));
    }

    /// How a listing's request ended.
    fn outcome(&mut self, server: &str, outcome: Result<Outcome, ApiError>) {
        let client = self.client(server);
        let key = RequestKey::Listing(client);
        let before = self.asked.len();
        self.asked.retain(|asked| asked.key != key);
        assert_eq!(self.asked.len() + 1, before, "{server} is not asked for its listing");
        self.manager.handle_outcome(client, outcome, self.now);
        self.drain();
    }

    fn connect(&mut self, server: &str, tools: &[&str]) {
        self.ready(server);
        if self.is_asked(server) {
            self.page(server, &page(tools));
        }
    }

    fn close_with(&mut self, server: &str, reason: CloseReason) {
        self.event(self.client(server), client::Event::Closed(reason));
    }

    fn lose(&mut self, server: &str) {
        self.close_with(server, CloseReason::Eof);
    }

    fn changed(&mut self, server: &str) {
        let method = Method::ToolsListChanged;
        let event = client::Event::Notification { subscription: None, method, params: None };
        self.event(self.client(server), event);
    }

    /// Whether the server is asked for its listing.
    fn is_asked(&self, server: &str) -> bool {
        self.listing(server).is_some()
    }

    fn listing(&self, server: &str) -> Option<&Asked> {
        let key = RequestKey::Listing(self.client(server));
        self.asked.iter().find(|asked| asked.key == key)
    }

    /// So many milliseconds pass.
    fn wait(&mut self, millis: u64) {
        self.now = self.now.saturating_add(Duration::from_millis(millis));
        self.manager.handle_timeout(self.now);
        self.drain();
        let due = self.manager.poll_timeout();
        assert!(due.is_none_or(|due| due > self.now), "due {due:?} at {:?}", self.now);
    }

    fn begin_turn(&mut self) {
        self.manager.begin_turn(self.now);
        self.drain();
    }

    /// A call wants to be made: `go`, `wait`, or the status it is refused for.
    fn way(&mut self, server: &str) -> String {
        let way = match self.manager.way(server) {
            Way::Go(client) => {
                assert_eq!(client, self.client(server));
                "go".into()
            }
            Way::Wait => "wait".into(),
            Way::Refuse { status, error } => format!("{status}: {error}"),
        };
        self.drain();
        way
    }

    fn settled(&mut self) -> Vec<String> {
        core::iter::from_fn(|| self.manager.poll_settled()).map(|server| server.to_string()).collect()
    }

    /// What was told since this was asked last.
    fn told(&mut self) -> Vec<String> {
        core::mem::take(&mut self.events)
    }

    fn statuses(&self) -> Vec<&'static str> {
        self.manager.states().iter().map(|state| state.status.as_str()).collect()
    }

    fn state(&self, server: &str) -> ServerState {
        self.manager.state(server).expect(server)
    }

    fn offered(&self) -> Vec<&str> {
        self.manager.registry().offered().map(|(name, _)| &**name).collect()
    }
}

fn peer(revision: Revision, capabilities: &str) -> Peer {
    let raw = RawJson::parse_str(capabilities).expect(capabilities);
    Peer {
        era: revision.era(),
        revision,
        server: Implementation::new("peer", "1"),
        capabilities: ServerCapabilities::new(Some(raw.clone())),
        instructions: None,
        cache: CacheHint::default(),
        raw,
    }
}

/// A whole listing of tools, each `name` or `name=description`.
fn page(tools: &[&str]) -> String {
    let tools = tools.iter().map(|tool| {
        let (name, description) = tool.split_once('=').unwrap_or((tool, "d"));
        format!(r#"{{"name":"{name}","description":"{description}"}}"#)
    });
    format!(r#"{{"tools":[{}]}}"#, tools.collect::<Vec<_>>().join(","))
}

fn error(code: i64, message: &str) -> Ended {
    Ok(Outcome::Error(ErrorObject::new(code, message)))
}

/// An event in a few words.
fn said(event: &Event) -> String {
    match event {
        Event::Status { server, status } => format!("{server} {status}"),
        Event::Connected { server, revision, tools } => format!("{server} speaks {revision}: {tools} tools"),
        Event::Started => "started".into(),
        Event::Health { server, error } => format!("{server} health {}", error.as_deref().unwrap_or("ok")),
        Event::Verdict { server, verdict } => format!("{server} is {verdict:?}"),
        Event::Tools { server, change, staged } => {
            let names = [('+', &change.added), ('-', &change.removed), ('~', &change.changed)];
            let names =
                names.into_iter().flat_map(|(mark, names)| names.iter().map(move |n| format!(" {mark}{n}")));
            let staged = if *staged { " staged" } else { "" };
            format!("{server}{staged}{}", names.collect::<String>())
        }
        Event::Warning(Warning::ServerFailed { server, error }) => format!("! {server}: {error}"),
        Event::Warning(Warning::Summary { failed, enabled }) => format!("! {failed} of {enabled}"),
        Event::Warning(Warning::Filter { server, warning }) => format!("! {server}: {warning}"),
        Event::Warning(Warning::ListingFailed { server, error }) => format!("! {server} list: {error}"),
        Event::Warning(Warning::ListingCut { server, why }) => format!("! {server} cut: {why}"),
        other => panic!("{other:?}"),
    }
}
