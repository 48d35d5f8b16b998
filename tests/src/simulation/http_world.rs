//! A client and a server of ours over HTTP: connections that are made, break, stall and end, and the sessions over them.
//!
//! There is no model of HTTP here. What is said tells whose it is: each call has a number, its answer names it, and no
//! number may reach the server twice.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sanswire::client::{Event, Link as _, Outcome, RequestHandle, RequestOptions, params};
use sanswire::http::client::Target;
use sanswire::http::endpoint::{EndpointConfig, ReplyShape, SessionHandle};
use sanswire::http::pool::{Action, ConnectionHandle};
use sanswire::http::site::SiteConfig;
use sanswire::http::{Client, Pool, Site, Url, h1};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::server::kit::{ConnectionKey, Request};
use sanswire::server::{Catalog, ListKind, Notice, Reply};
use sanswire::{Instant, Machine};
use serde_json::Value;

use super::client_names::{close_name, event_name, outcome_name};
use super::coverage::Coverage;
use super::end::Cuts;
use super::menu::{CLIENT_ACTS, LINK_ACTS, SERVER_ACTS};
use super::script::{Script, Step, WAITS, Who};
use super::server::question;
use super::setup::Setup;
use super::wire::Wire;
use crate::flag::Flag;
use crate::seed::Rng;

const MAX_TURNS: usize = 300_000;

/// One connection, with what both drivers know of it.
#[derive(Debug)]
struct Pipe {
    to_site: Wire,
    to_client: Wire,
    key: Option<ConnectionKey>,
    client_told: [bool; 2],
    site_told: [bool; 2],
}

/// What a run came to.
#[derive(Debug, PartialEq)]
pub(super) struct HttpTrace {
    events: Vec<(Instant, Event)>,
    /// What was sent on each connection, to the server and back.
    bytes: Vec<(u64, Vec<u8>, Vec<u8>)>,
    pub(super) was_full: bool,
}

impl HttpTrace {
    /// Where two runs first differ, in words.
    pub(super) fn differs(&self, other: &Self) -> String {
        let at = self.events.iter().zip(&other.events).take_while(|(one, two)| one == two).count();
        let (one, two) = (self.events.get(at), other.events.get(at));
        if one.is_some() || two.is_some() {
            return format!("event {at}: {one:?} and {two:?}");
        }
        let at = self.bytes.iter().zip(&other.bytes).take_while(|(one, two)| one == two).count();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let show = |it: &Self| it.bytes.get(at).map(|(n, one, two)| (*n, text(one), text(two)));
        format!("connection {:?} and {:?}", show(self), show(other))
    }
}

/// A request that the application has not answered.
type Open = (SessionHandle, Request<Flag>);

struct Run<'a> {
    pool: Pool,
    site: Site<Flag, u64>,
    most_bytes: Box<dyn Fn(usize) -> usize>,
    pipes: BTreeMap<ConnectionHandle, Pipe>,
    dials: Vec<(Instant, ConnectionHandle)>,
    shape: (Duration, usize),
    cuts: Cuts,
    was_full: bool,
    now: Instant,
    seen: &'a mut Coverage,
    events: Vec<(Instant, Event)>,
    /// Accepted and not over: the number it bears.
    calls: BTreeMap<RequestHandle, u64>,
    all: Vec<RequestHandle>,
    said: u64,
    /// Numbers that reached the server.
    came: BTreeSet<u64>,
    open: Vec<Open>,
    auto: usize,
    failing: Rng,
    holding: bool,
    closed: bool,
}

/// Runs a script.
pub(super) fn run(script: &Script, cuts: &Cuts, seen: &mut Coverage) -> HttpTrace {
    let setup = Setup::of(script.setup);
    let mut rng = Rng::new(script.setup ^ 0x4777);
    let now = setup.now;
    let url = Url::parse("http://localhost:8080/mcp").expect("an address");
    let client = Client::new(setup.client, Target::new(url), [7; 32], now).expect("a good configuration");
    let pool = Pool::new(client, h1::Limits::default(), 1 + rng.below(3), now);
    let mut endpoint = EndpointConfig::new(setup.server);
    endpoint.replies = *rng.pick(&[ReplyShape::Json, ReplyShape::Stream]);
    endpoint.session_idle = Duration::from_secs(*rng.pick(&[5, 3600]));
    let config = SiteConfig::new(endpoint).for_connections(16);
    let bound = config.clone();
    let mut site = Site::new(config, [3; 32], now).expect("a good configuration");
    let mut catalog = Catalog::new();
    for tool in [r#"{"name":"a"}"#, r#"{"name":"b"}"#, r#"{"name":"c"}"#] {
        catalog.tool(&RawJson::parse_str(tool).expect("JSON")).expect("a tool");
    }
    catalog
        .resource(&RawJson::from_static(r#"{"uri":"x:y","name":"r"}"#).expect("JSON"))
        .expect("a resource");
    catalog.prompt(&RawJson::from_static(r#"{"name":"p"}"#).expect("JSON")).expect("a prompt");
    site.set_catalog(catalog);
    let mut run = Run {
        pool,
        site,
        most_bytes: Box::new(move |connections| bound.worst_case_bytes(connections)),
        pipes: BTreeMap::new(),
        dials: Vec::new(),
        shape: (
            Duration::from_millis(*rng.pick(&[0, 0, 1, 20])),
            *rng.pick(&[usize::MAX, usize::MAX, 65_536, 700]),
        ),
        cuts: cuts.clone(),
        was_full: false,
        now,
        seen,
        events: Vec::new(),
        calls: BTreeMap::new(),
        all: Vec::new(),
        said: 0,
        came: BTreeSet::new(),
        open: Vec::new(),
        auto: setup.auto,
        failing: rng.fork(),
        holding: false,
        closed: false,
    };
    run.settle();
    run.pass(Duration::from_millis(if script.setup % 4 == 0 { 0 } else { 9000 }));
    for step in &script.steps {
        run.step(step);
    }
    run.wind_up();
    run.seen.met("world", script.world.name());
    let bytes = run.pipes.iter().map(|(connection, pipe)| {
        (connection.number(), pipe.to_site.sent().to_vec(), pipe.to_client.sent().to_vec())
    });
    HttpTrace { events: run.events, bytes: bytes.collect(), was_full: run.was_full }
}

impl Run<'_> {
    fn step(&mut self, step: &Step) {
        let Step { who, act, n } = *step;
        match who {
            Who::Client => self.client(CLIENT_ACTS[act], n),
            Who::Server => self.server(SERVER_ACTS[act], n),
            Who::Link => self.link(LINK_ACTS[act], n),
            Who::Wait => return self.pass(Duration::from_micros(u64::from(n) % WAITS[act].1)),
            _ => return,
        }
        if n % 8 != 0 {
            self.settle();
        }
    }

    fn client(&mut self, act: &'static str, n: u32) {
        self.seen.met("client act", act);
        let (method, params) = match act {
            "ping" => (Method::Ping, None),
            "list-tools" => (Method::ToolsList, None),
            "list-resources" => (Method::ResourcesList, None),
            "list-prompts" => (Method::PromptsList, None),
            "get-prompt" => (Method::PromptsGet, Some(params::get_prompt("p", &[]))),
            "read-resource" => (Method::ResourcesRead, Some(params::uri("x:y"))),
            "listen" => {
                let filter = RawJson::from_static(r#"{"toolsListChanged":true}"#).expect("JSON");
                (Method::SubscriptionsListen, Some(params::listen(&filter)))
            }
            "unknown-method" => (Method::Other("x/y".into()), None),
            "cancel" | "cancel-what-is-over" => {
                if let Some(handle) = self.all.get(n as usize % self.all.len().max(1)) {
                    let done = self.pool.client_mut().cancel(*handle, Some("enough"), self.now);
                    assert!(done.is_err() || self.calls.contains_key(handle), "what is over was cancelled");
                }
                return;
            }
            "hold" => {
                self.holding = true;
                return;
            }
            "take" => {
                self.holding = false;
                return;
            }
            "close" => {
                if n % 4 == 0 {
                    self.pool.client_mut().close(self.now);
                }
                return;
            }
            "answer" | "decline" | "answer-twice" | "notify" | "resume" | "resume-badly" | "take-one" => {
                return;
            }
            _ => {
                let size = if act == "call-big" { 2500 } else { n as usize % 40 };
                let text = format!(r#"{{"x":"{}"}}"#, "é".repeat(size / 2));
                let arguments = RawJson::parse_str(&text).expect("JSON");
                (Method::ToolsCall, Some(params::call_tool(["a", "b"][n as usize % 2], Some(&arguments))))
            }
        };
        self.said += 1;
        let mut options = RequestOptions::default();
        options.meta = RawJson::parse_str(&format!(r#"{{"x/k":{}}}"#, self.said)).ok();
        if act == "hurry" {
            options.idle = Some(Duration::from_millis(u64::from(n % 30)));
        }
        if let Ok(handle) = self.pool.client_mut().request(method, params, &options, self.now) {
            assert!(!self.all.contains(&handle), "{handle:?} names two requests");
            self.calls.insert(handle, self.said);
            self.all.push(handle);
        }
    }

    fn server(&mut self, act: &'static str, n: u32) {
        self.seen.met("server act", act);
        let place = n as usize % self.open.len().max(1);
        let now = self.now;
        match (act, self.open.get(place)) {
            ("answer" | "answer-newest" | "answer-big", Some(_)) => {
                let size = if act == "answer-big" { 3000 } else { 0 };
                self.answer(place, size);
            }
            ("progress" | "log", Some((session, request))) => {
                let notice = Notice::Progress { progress: f64::from(n % 100), total: None, message: None };
                let _ = self.site.notify(*session, request.request, &notice, now);
            }
            ("ask", Some((session, request))) => {
                let _ = self.site.ask(*session, request.request, &question(n as usize), 0, now);
            }
            ("fail", Some((session, request))) => {
                let _ = self.site.close_stream(*session, request.request, now);
            }
            ("list-changed", _) => self.site.list_changed(ListKind::Tools, now),
            ("resource-updated", _) => self.site.resource_updated("x:y", now),
            ("shutdown", _) if n % 6 == 0 => self.site.shutdown(Duration::from_secs(1), now),
            _ => {}
        }
    }

    fn answer(&mut self, place: usize, size: usize) {
        let (session, request) = self.open.remove(place);
        let text = format!("answer {} {}", number(&request), "é".repeat(size / 2));
        self.site.finish(session, request.request, &Reply::text(&text), self.now);
    }

    fn link(&mut self, act: &'static str, n: u32) {
        let now = self.now;
        let last = self.pipes.len().saturating_sub(3);
        let some = self.pipes.values_mut().skip(last).nth(n as usize % 3);
        let Some(pipe) = some else { return };
        let until = now.saturating_add(Duration::from_millis(u64::from(n) % 8000));
        let soon = n as usize % 900;
        self.seen.met("link", act);
        match act {
            "stall-to-server" => pipe.to_site.stall(until),
            "stall-to-client" => pipe.to_client.stall(until),
            "break-to-server" => pipe.to_site.break_after(0, now),
            "break-to-client" => pipe.to_client.break_after(0, now),
            "break-to-server-soon" => pipe.to_site.break_after(soon, now),
            "break-to-client-soon" => pipe.to_client.break_after(soon, now),
            "break-both" => {
                pipe.to_site.break_after(0, now);
                pipe.to_client.break_after(0, now);
            }
            "unread-by-server" => pipe.to_site.stop_reading(now),
            _ => pipe.to_client.stop_reading(now),
        }
    }

    /// Does all that can be done at this instant.
    fn settle(&mut self) {
        for _ in 0..MAX_TURNS {
            self.pool.handle_timeout(self.now);
            self.site.handle_timeout(self.now);
            let mut busy = self.act();
            let connections: Vec<_> = self.pipes.keys().copied().collect();
            for connection in connections {
                busy |= self.client_side(connection);
                busy |= self.site_side(connection);
            }
            busy |= self.take();
            if !busy {
                return self.check();
            }
        }
        panic!("rule 4: it spins at {:?}", self.now);
    }

    /// Does what the pool asks for.
    fn act(&mut self) -> bool {
        self.pool.carry_out(self.now);
        let mut busy = false;
        while let Some(action) = self.pool.poll_action() {
            busy = true;
            match action {
                Action::Dial { connection, .. } => {
                    self.dials.push((self.now.saturating_add(self.shape.0), connection));
                }
                Action::Close { connection } => {
                    self.dials.retain(|(_, dialed)| *dialed != connection);
                    if let Some(pipe) = self.pipes.get_mut(&connection) {
                        pipe.to_site.close(self.now);
                        pipe.to_client.stop_reading(self.now);
                        pipe.client_told = [true; 2];
                    }
                }
                Action::Look { connection } => {
                    self.client_side(connection);
                    self.pool.handle_looked(connection, self.now);
                }
                _ => {}
            }
        }
        let due: Vec<_> = self.dials.iter().filter(|(at, _)| *at <= self.now).map(|(_, one)| *one).collect();
        self.dials.retain(|(at, _)| *at > self.now);
        for connection in due {
            busy = true;
            if self.failing.chance(5) {
                self.seen.met("link", "no connection");
                self.pool.handle_connect_failed(connection, self.now);
                continue;
            }
            let key = self.site.welcome(self.now);
            let wire = || Wire::new(self.shape.0, self.shape.1);
            let (to_site, to_client) = (wire(), wire());
            self.pipes.insert(
                connection,
                Pipe { to_site, to_client, key, client_told: [false; 2], site_told: [false; 2] },
            );
            self.pool.handle_connected(connection, self.now);
        }
        busy
    }

    fn client_side(&mut self, connection: ConnectionHandle) -> bool {
        let Some(pipe) = self.pipes.get_mut(&connection) else { return false };
        let now = self.now;
        let mut busy = false;
        let there = pipe.to_client.arrived(now).len();
        let mut taken = 0;
        while taken < there {
            if !self.pool.wants_read(connection) {
                self.was_full |= !pipe.client_told[0];
                break;
            }
            let rest = &pipe.to_client.arrived(now)[taken..];
            let buffer = self.pool.read_buffer(connection).expect("it wants to be read");
            let room = buffer.capacity() - buffer.len();
            assert!(room > 0, "it wants to be read and has no room");
            let len = rest.len().min(room).min(self.cuts.next());
            buffer.extend_from_slice(&rest[..len]);
            self.pool.handle_read(connection, now);
            taken += len;
        }
        pipe.to_client.take(taken);
        busy |= taken > 0;
        if pipe.to_client.has_ended(now) && !pipe.client_told[0] && self.pool.wants_read(connection) {
            pipe.client_told[0] = true;
            self.pool.handle_eof(connection, pipe.to_client.is_broken(), now);
            busy = true;
        }
        if pipe.to_site.is_broken() && !pipe.client_told[1] {
            pipe.client_told[1] = true;
            self.pool.handle_write_closed(connection, now);
            busy = true;
        }
        let waiting = self.pool.transmit(connection);
        let len = waiting.len().min(pipe.to_site.room());
        if len > 0 {
            pipe.to_site.send(&waiting[..len], now);
            self.pool.handle_written(connection, len, now);
            busy = true;
        }
        busy
    }

    fn site_side(&mut self, connection: ConnectionHandle) -> bool {
        let now = self.now;
        let Some(pipe) = self.pipes.get_mut(&connection) else { return false };
        let Some(key) = pipe.key else { return false };
        let mut machine = self.site.connection(key).expect("it was not removed");
        let mut busy = false;
        let there = pipe.to_site.arrived(now).len();
        let mut taken = 0;
        while taken < there {
            if !machine.wants_read() {
                self.was_full = true;
                break;
            }
            let rest = &pipe.to_site.arrived(now)[taken..];
            let buffer = machine.read_buffer();
            let room = buffer.capacity() - buffer.len();
            assert!(room > 0, "it wants to be read and has no room");
            let len = rest.len().min(room).min(self.cuts.next());
            buffer.extend_from_slice(&rest[..len]);
            machine.handle_read(now);
            taken += len;
        }
        pipe.to_site.take(taken);
        busy |= taken > 0;
        if pipe.to_site.has_ended(now) && !pipe.site_told[0] && machine.wants_read() {
            pipe.site_told[0] = true;
            machine.handle_eof(now);
            busy = true;
        }
        if pipe.to_client.is_broken() && !pipe.site_told[1] {
            pipe.site_told[1] = true;
            machine.handle_write_closed(now);
            busy = true;
        }
        let waiting = machine.transmit();
        let len = waiting.len().min(pipe.to_client.room());
        if len > 0 {
            pipe.to_client.send(&waiting[..len], now);
            machine.handle_written(len, now);
            busy = true;
        }
        machine.handle_flushed(now);
        if machine.is_closed() {
            pipe.to_client.close(now);
            pipe.to_site.stop_reading(now);
            pipe.key = None;
            self.site.remove(key, now);
            busy = true;
        }
        busy
    }

    fn take(&mut self) -> bool {
        let mut busy = false;
        while let Some((session, request)) = self.site.next_request() {
            busy = true;
            self.seen.met("server event", "request");
            let number = number(&request);
            assert!(number == 0 || self.came.insert(number), "call {number} reached the server twice");
            self.open.push((session, request));
            if (number as usize * 37 + 11) % 100 < self.auto {
                self.answer(self.open.len() - 1, 0);
            }
        }
        let over = self.site.take_over();
        busy |= !over.answered.is_empty();
        over.tell(|_, _| {});
        while self.site.poll_refusal().is_some() {
            busy = true;
        }
        while self.site.poll_dirty().is_some() {}
        while !self.holding
            && let Some(event) = self.pool.client_mut().poll_event()
        {
            busy = true;
            assert!(!self.closed, "an event came after the last one");
            self.seen.met("client event", event_name(&event));
            match &event {
                Event::Finished { request, outcome } => self.finished(*request, outcome),
                Event::Closed(reason) => {
                    self.closed = true;
                    self.seen.met("client closed", close_name(reason));
                    assert!(self.calls.is_empty(), "rule 1: closed, and these never ended: {:?}", self.calls);
                }
                Event::Ready(peer) => self.seen.met("revision over HTTP", peer.revision.as_str()),
                _ => {}
            }
            self.events.push((self.now, event));
        }
        busy
    }

    fn finished(&mut self, request: RequestHandle, outcome: &Outcome) {
        self.seen.met("outcome over HTTP", outcome_name(outcome));
        let number = self.calls.remove(&request);
        let number =
            number.unwrap_or_else(|| panic!("rule 1: {request:?} ended and was not open: {outcome:?}"));
        if let Outcome::Complete(result) = outcome {
            let result: Value = serde_json::from_slice(result.as_bytes()).expect("JSON");
            let said = result["content"][0]["text"].as_str().and_then(|said| said.strip_prefix("answer "));
            if let Some(said) = said {
                let named = said.split(' ').next().and_then(|word| word.parse().ok());
                assert_eq!(named, Some(number), "the answer to another call: {said}");
            }
        }
    }

    fn check(&self) {
        let next = self.pool.poll_timeout();
        assert!(
            self.holding || next.is_none_or(|at| at > self.now),
            "rule 4: the next deadline does not lie ahead"
        );
        let held = self.site.retained_bytes();
        let most = (self.most_bytes)(self.site.connections());
        assert!(held <= most, "rule 5: a site holds {held} bytes of {most}");
    }

    fn next(&self) -> Option<Instant> {
        let wires = self.pipes.values().flat_map(|pipe| [&pipe.to_site, &pipe.to_client]);
        let arrivals = wires.filter_map(|wire| wire.next_arrival(self.now));
        let dials = self.dials.iter().map(|(at, _)| *at);
        let own = [self.pool.poll_timeout(), self.site.poll_timeout()].into_iter().flatten();
        arrivals.chain(dials).chain(own).filter(|at| *at > self.now).min()
    }

    fn pass(&mut self, time: Duration) {
        // Nobody waits before what there is to do is done.
        self.settle();
        let to = self.now.saturating_add(time);
        for _ in 0..MAX_TURNS {
            let Some(at) = self.next().filter(|at| *at <= to) else {
                self.now = to;
                return self.settle();
            };
            self.now = at;
            self.settle();
        }
        panic!("rule 4: too many deadlines before {to:?}");
    }

    fn wind_up(&mut self) {
        self.holding = false;
        self.settle();
        self.pool.client_mut().close(self.now);
        self.settle();
        self.pass(Duration::from_secs(30));
        assert!(self.closed, "rule 1: the client is not closed");
        self.site.shutdown(Duration::ZERO, self.now);
        self.settle();
        self.pass(Duration::from_secs(30));
        assert!(self.site.is_over(), "the site is not over: {:?}", self.site);
        for (_, request) in &self.open {
            assert!(request.cancel.is_set(), "nobody was told that it is over: {}", number(request));
        }
    }
}

/// The number that a request bears.
fn number(request: &Request<Flag>) -> u64 {
    let params: Value = serde_json::from_slice(request.params.as_bytes()).unwrap_or_default();
    params["_meta"]["x/k"].as_u64().unwrap_or(0)
}
