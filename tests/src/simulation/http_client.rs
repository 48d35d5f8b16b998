//! A client over HTTP with its application, its connections, and the model beside them.

use std::collections::BTreeMap;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{Event, Link as _, Outcome, RequestHandle, RequestOptions, params};
use sanswire::http::client::Target;
use sanswire::http::pool::{Action, ConnectionHandle};
use sanswire::http::{Client, Pool, Url, h1};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use serde_json::Value;

use super::client_names::{close_name, error_name, event_name, name_of, outcome_name};
use super::coverage::Coverage;
use super::end::{Cuts, check_events, check_reads_on};
use super::web_model::WebModel;
use super::wire::Wire;
use crate::seed::Rng;

/// Connections beyond the bound, for what calls on all of the others may wait for.
const RESERVE: usize = 2;

/// One connection, with what its drivers were told of it.
#[derive(Debug)]
pub(super) struct Pipe {
    pub(super) to_server: Wire,
    pub(super) to_client: Wire,
    told: [bool; 2],
}

/// A client over HTTP and its application.
pub(super) struct HttpClient {
    pub(super) pool: Pool,
    pub(super) model: WebModel,
    pub(super) pipes: BTreeMap<ConnectionHandle, Pipe>,
    /// Connections that were made, and the server does not know of.
    pub(super) made: Vec<ConnectionHandle>,
    dials: Vec<(Instant, ConnectionHandle)>,
    shape: (Duration, usize),
    cuts: Cuts,
    pub(super) was_full: bool,
    pub(super) events: Vec<(Instant, Event)>,
    /// Accepted and not over: the number it bears.
    calls: BTreeMap<RequestHandle, u64>,
    all: Vec<RequestHandle>,
    said: u64,
    failing: Rng,
    pub(super) holding: bool,
    pub(super) closed: bool,
    last_read: usize,
    most: usize,
    most_bytes: usize,
}

impl HttpClient {
    pub(super) fn new(
        config: sanswire::client::Config,
        limits: h1::Limits,
        rng: &mut Rng,
        cuts: Cuts,
        now: Instant,
    ) -> Self {
        let url = Url::parse("http://localhost:8080/mcp").expect("an address");
        let most = 1 + rng.below(3);
        let most_bytes = Pool::worst_case_bytes(&config.limits, &limits, most);
        let model = WebModel::new(&config, &limits);
        let client = Client::new(config, Target::new(url), [7; 32], now).expect("a good configuration");
        Self {
            pool: Pool::new(client, limits, most, now),
            model,
            pipes: BTreeMap::new(),
            made: Vec::new(),
            dials: Vec::new(),
            shape: (
                Duration::from_millis(*rng.pick(&[0, 0, 1, 20])),
                *rng.pick(&[usize::MAX, usize::MAX, 65_536, 700]),
            ),
            cuts,
            was_full: false,
            events: Vec::new(),
            calls: BTreeMap::new(),
            all: Vec::new(),
            said: 0,
            failing: rng.fork(),
            holding: false,
            closed: false,
            last_read: 0,
            most,
            most_bytes,
        }
    }

    /// Does what a step says.
    pub(super) fn act(&mut self, act: &'static str, n: u32, now: Instant, seen: &mut Coverage) {
        seen.met("client act", act);
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
                    let done = self.pool.client_mut().cancel(*handle, Some("enough"), now);
                    assert!(done.is_err() || self.calls.contains_key(handle), "what is over was cancelled");
                    self.model.cancelled(*handle, done.is_ok());
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
                    self.close(now);
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
        let hurry = (act == "hurry").then(|| Duration::from_millis(u64::from(n % 30)));
        self.request(method, params, hurry, now, seen);
    }

    fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        idle: Option<Duration>,
        now: Instant,
        seen: &mut Coverage,
    ) {
        self.said += 1;
        let mut options = RequestOptions::default();
        options.meta = RawJson::parse_str(&format!(r#"{{"x/k":{}}}"#, self.said)).ok();
        options.idle = idle;
        let (name, listens) = (name_of(&method), method == Method::SubscriptionsListen);
        match self.pool.client_mut().request(method, params, &options, now) {
            Ok(handle) => {
                assert!(!self.all.contains(&handle), "{handle:?} names two requests");
                let limits = &self.pool.session().config().limits;
                let timers = (idle.unwrap_or(limits.request_idle), limits.request_absolute);
                self.model.accepted(handle, name, self.said, (!listens).then_some(timers), now);
                self.calls.insert(handle, self.said);
                self.all.push(handle);
            }
            Err(error) => seen.met("client refused", error_name(&error)),
        }
    }

    /// The application ends the session.
    pub(super) fn close(&mut self, now: Instant) {
        self.pool.client_mut().close(now);
        self.model.closed_by_us();
    }

    /// It is told the time.
    pub(super) fn time(&mut self, now: Instant) {
        self.model.time(now);
        self.pool.handle_timeout(now);
    }

    /// Does what the pool asks for. True: it was something.
    pub(super) fn carry_out(&mut self, now: Instant, seen: &mut Coverage) -> bool {
        self.pool.carry_out(now);
        let mut busy = false;
        while let Some(action) = self.pool.poll_action() {
            busy = true;
            match action {
                Action::Dial { connection, .. } => {
                    self.dials.push((now.saturating_add(self.shape.0), connection));
                }
                Action::Close { connection } => {
                    self.dials.retain(|(_, dialed)| *dialed != connection);
                    self.model.dropped(connection);
                    if let Some(pipe) = self.pipes.get_mut(&connection) {
                        pipe.to_server.close(now);
                        pipe.to_client.stop_reading(now);
                        pipe.told = [true; 2];
                    }
                }
                Action::Look { connection } => {
                    self.drive(connection, now);
                    self.pool.handle_looked(connection, now);
                }
                _ => {}
            }
        }
        let there = self.pool.connections().count() + self.dials.len();
        assert!(there <= self.most + RESERVE, "{there} connections of {}", self.most);
        let due: Vec<_> = self.dials.iter().filter(|(at, _)| *at <= now).map(|(_, one)| *one).collect();
        self.dials.retain(|(at, _)| *at > now);
        for connection in due {
            busy = true;
            if self.failing.chance(5) {
                seen.met("link", "no connection");
                self.model.connect_failed();
                self.pool.handle_connect_failed(connection, now);
                continue;
            }
            let wire = || Wire::new(self.shape.0, self.shape.1);
            let (to_server, to_client) = (wire(), wire());
            self.pipes.insert(connection, Pipe { to_server, to_client, told: [false; 2] });
            self.made.push(connection);
            self.model.connected(connection, now);
            self.pool.handle_connected(connection, now);
        }
        busy
    }

    /// Reads and writes one connection. True: there was something.
    pub(super) fn drive(&mut self, connection: ConnectionHandle, now: Instant) -> bool {
        let Some(pipe) = self.pipes.get_mut(&connection) else { return false };
        let there = pipe.to_client.arrived(now).len();
        let mut taken = 0;
        while taken < there {
            if !self.pool.wants_read(connection) {
                self.was_full |= !pipe.told[0];
                break;
            }
            // What comes when nobody asked, or after the end, brings no event.
            let session = self.pool.session();
            let tells = session.close_reason().is_none() && self.model.carries(connection);
            if tells {
                let queued = (session.queued_events(), session.queued_event_bytes());
                check_reads_on(queued, &session.config().limits);
            }
            let rest = &pipe.to_client.arrived(now)[taken..];
            let buffer = self.pool.read_buffer(connection).expect("it wants to be read");
            let room = buffer.capacity() - buffer.len();
            assert!(room > 0, "it wants to be read and has no room");
            let len = rest.len().min(room).min(self.cuts.next());
            buffer.extend_from_slice(&rest[..len]);
            self.model.read(connection, &rest[..len], now);
            self.pool.handle_read(connection, now);
            if tells {
                self.last_read = len;
            }
            taken += len;
        }
        pipe.to_client.take(taken);
        let mut busy = taken > 0;
        if pipe.to_client.has_ended(now) && !pipe.told[0] && self.pool.wants_read(connection) {
            pipe.told[0] = true;
            self.model.ended(connection, pipe.to_client.is_broken(), now);
            self.pool.handle_eof(connection, pipe.to_client.is_broken(), now);
            busy = true;
        }
        if pipe.to_server.is_broken() && !pipe.told[1] {
            pipe.told[1] = true;
            self.model.unread(connection);
            self.pool.handle_write_closed(connection, now);
            busy = true;
        }
        let waiting = self.pool.transmit(connection);
        let len = waiting.len().min(pipe.to_server.room());
        if len > 0 {
            self.model.wrote(connection, &waiting[..len], now);
            pipe.to_server.send(&waiting[..len], now);
            self.pool.handle_written(connection, len, now);
            busy = true;
        }
        busy
    }

    /// Takes events. True: there was one.
    pub(super) fn take(&mut self, now: Instant, seen: &mut Coverage) -> bool {
        let mut busy = false;
        while !self.holding
            && let Some(event) = self.pool.client_mut().poll_event()
        {
            busy = true;
            assert!(!self.closed, "an event came after the last one");
            seen.met("client event", event_name(&event));
            self.model.event(&event, now);
            match &event {
                Event::Finished { request, outcome } => self.finished(*request, outcome, seen),
                Event::Closed(reason) => {
                    self.closed = true;
                    seen.met("client closed", close_name(reason));
                    assert!(self.calls.is_empty(), "rule 1: closed, and these never ended: {:?}", self.calls);
                }
                Event::Ready(peer) => seen.met("revision over HTTP", peer.revision.as_str()),
                _ => {}
            }
            self.events.push((now, event));
        }
        busy
    }

    fn finished(&mut self, request: RequestHandle, outcome: &Outcome, seen: &mut Coverage) {
        seen.met("outcome over HTTP", outcome_name(outcome));
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

    /// Rule 5, after each read.
    pub(super) fn check_bound(&self) {
        let held = self.pool.retained_bytes();
        assert!(held <= self.most_bytes, "rule 5: a client holds {held} bytes of {}", self.most_bytes);
        let session = self.pool.session();
        let limits = &session.config().limits;
        // A call ends by a timer or by the application too, and a question of the server's runs out of time.
        let open = self.model.open() + limits.max_peer_requests;
        let queued = (session.queued_events(), session.queued_event_bytes());
        check_events(queued, limits, self.last_read, open);
    }

    /// What holds once everything was done.
    pub(super) fn check_rest(&mut self, now: Instant) {
        self.check_bound();
        let next = self.pool.poll_timeout();
        assert!(
            self.holding || next.is_none_or(|at| at > now),
            "rule 4: the next deadline does not lie ahead"
        );
        if !self.holding {
            self.model.check_drained(self.closed);
        }
    }

    /// When something happens next, after `now`.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        let wires = self.pipes.values().flat_map(|pipe| [&pipe.to_server, &pipe.to_client]);
        let arrivals = wires.filter_map(|wire| wire.next_arrival(now));
        let dials = self.dials.iter().map(|(at, _)| *at);
        arrivals.chain(dials).chain(self.pool.poll_timeout()).filter(|at| *at > now).min()
    }

    /// Something happens to one of the newest connections.
    pub(super) fn link(&mut self, act: &'static str, n: u32, now: Instant, seen: &mut Coverage) {
        let last = self.pipes.len().saturating_sub(3);
        let Some(pipe) = self.pipes.values_mut().skip(last).nth(n as usize % 3) else { return };
        let until = now.saturating_add(Duration::from_millis(u64::from(n) % 8000));
        let soon = n as usize % 900;
        seen.met("link", act);
        match act {
            "stall-to-server" => pipe.to_server.stall(until),
            "stall-to-client" => pipe.to_client.stall(until),
            "break-to-server" => pipe.to_server.break_after(0, now),
            "break-to-client" => pipe.to_client.break_after(0, now),
            "break-to-server-soon" => pipe.to_server.break_after(soon, now),
            "break-to-client-soon" => pipe.to_client.break_after(soon, now),
            "break-both" => {
                pipe.to_server.break_after(0, now);
                pipe.to_client.break_after(0, now);
            }
            "unread-by-server" => pipe.to_server.stop_reading(now),
            _ => pipe.to_client.stop_reading(now),
        }
    }
}
