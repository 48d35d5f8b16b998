//! Our server over HTTP with its application, at the far end of connections.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sanswire::http::Site;
use sanswire::http::endpoint::{EndpointConfig, ReplyShape, SessionHandle};
use sanswire::http::pool::ConnectionHandle;
use sanswire::http::site::SiteConfig;
use sanswire::jsonrpc::RawJson;
use sanswire::server::kit::{ConnectionKey, Request};
use sanswire::server::{Catalog, ListKind, Notice, Reply};
use sanswire::{Instant, Machine};
use serde_json::Value;

use super::coverage::Coverage;
use super::end::Cuts;
use super::menu::SERVER_ACTS;
use super::server::question;
use super::wire::Wire;
use crate::flag::Flag;
use crate::seed::Rng;

/// A request that the application has not answered.
type Open = (SessionHandle, Request<Flag>);

/// A connection, and what its driver was told of it.
#[derive(Debug)]
struct Known {
    key: ConnectionKey,
    told: [bool; 2],
}

/// A server over HTTP and its application.
pub(super) struct SiteEnd {
    pub(super) site: Site<Flag, u64>,
    config: SiteConfig,
    known: BTreeMap<ConnectionHandle, Known>,
    cuts: Cuts,
    pub(super) was_full: bool,
    /// Numbers that reached the server.
    came: BTreeSet<u64>,
    open: Vec<Open>,
    auto: usize,
    /// Whoever asks may do so twice with one number.
    repeats: bool,
}

impl SiteEnd {
    pub(super) fn new(
        server: sanswire::server::Config,
        auto: usize,
        repeats: bool,
        rng: &mut Rng,
        cuts: Cuts,
        now: Instant,
    ) -> Self {
        let mut endpoint = EndpointConfig::new(server);
        endpoint.replies = *rng.pick(&[ReplyShape::Json, ReplyShape::Stream]);
        endpoint.session_idle = Duration::from_secs(*rng.pick(&[5, 3600]));
        let config = SiteConfig::new(endpoint).for_connections(16);
        let mut site = Site::new(config.clone(), [3; 32], now).expect("a good configuration");
        let mut catalog = Catalog::new();
        for tool in [r#"{"name":"a"}"#, r#"{"name":"b"}"#, r#"{"name":"c"}"#] {
            catalog.tool(&RawJson::parse_str(tool).expect("JSON")).expect("a tool");
        }
        catalog
            .resource(&RawJson::from_static(r#"{"uri":"x:y","name":"r"}"#).expect("JSON"))
            .expect("a resource");
        catalog.prompt(&RawJson::from_static(r#"{"name":"p"}"#).expect("JSON")).expect("a prompt");
        site.set_catalog(catalog);
        Self {
            site,
            config,
            known: BTreeMap::new(),
            cuts,
            was_full: false,
            came: BTreeSet::new(),
            open: Vec::new(),
            auto,
            repeats,
        }
    }

    /// A connection was made. False: nobody is welcome any more.
    pub(super) fn welcome(&mut self, connection: ConnectionHandle, now: Instant) -> bool {
        let key = self.site.welcome(now);
        if let Some(key) = key {
            self.known.insert(connection, Known { key, told: [false; 2] });
        }
        key.is_some()
    }

    /// Whether a connection is not over for it.
    pub(super) fn knows(&self, connection: ConnectionHandle) -> bool {
        self.known.contains_key(&connection)
    }

    /// Reads and writes one connection. True: there was something.
    pub(super) fn drive(
        &mut self,
        connection: ConnectionHandle,
        input: &mut Wire,
        out: &mut Wire,
        now: Instant,
    ) -> bool {
        let Some(known) = self.known.get_mut(&connection) else { return false };
        let mut machine = self.site.connection(known.key).expect("it was not removed");
        let there = input.arrived(now).len();
        let mut taken = 0;
        while taken < there {
            if !machine.wants_read() {
                self.was_full = true;
                break;
            }
            let rest = &input.arrived(now)[taken..];
            let buffer = machine.read_buffer();
            let room = buffer.capacity() - buffer.len();
            assert!(room > 0, "it wants to be read and has no room");
            let len = rest.len().min(room).min(self.cuts.next());
            buffer.extend_from_slice(&rest[..len]);
            machine.handle_read(now);
            taken += len;
        }
        input.take(taken);
        let mut busy = taken > 0;
        if input.has_ended(now) && !known.told[0] && machine.wants_read() {
            known.told[0] = true;
            machine.handle_eof(now);
            busy = true;
        }
        if out.is_broken() && !known.told[1] {
            known.told[1] = true;
            machine.handle_write_closed(now);
            busy = true;
        }
        let waiting = machine.transmit();
        let len = waiting.len().min(out.room());
        if len > 0 {
            out.send(&waiting[..len], now);
            machine.handle_written(len, now);
            busy = true;
        }
        machine.handle_flushed(now);
        if machine.is_closed() {
            out.close(now);
            input.stop_reading(now);
            self.site.remove(known.key, now);
            self.known.remove(&connection);
            busy = true;
        }
        busy
    }

    /// Takes what there is to work on. True: there was something.
    pub(super) fn take(&mut self, now: Instant, seen: &mut Coverage) -> bool {
        let mut busy = false;
        while let Some((session, request)) = self.site.next_request() {
            busy = true;
            seen.met("server event", "request");
            let number = number(&request);
            let first = number == 0 || self.came.insert(number);
            assert!(first || self.repeats, "call {number} reached the server twice");
            self.open.push((session, request));
            if (number as usize * 37 + 11) % 100 < self.auto {
                self.answer(self.open.len() - 1, 0, now);
            }
        }
        let over = self.site.take_over();
        busy |= !over.answered.is_empty();
        over.tell(|_, _| {});
        while self.site.poll_refusal().is_some() {
            busy = true;
        }
        while self.site.poll_dirty().is_some() {}
        busy
    }

    fn answer(&mut self, place: usize, size: usize, now: Instant) {
        let (session, request) = self.open.remove(place);
        let text = format!("answer {} {}", number(&request), "é".repeat(size / 2));
        self.site.finish(session, request.request, &Reply::text(&text), now);
    }

    /// Does what a step says.
    pub(super) fn act(&mut self, act: usize, n: u32, now: Instant, seen: &mut Coverage) {
        let act = SERVER_ACTS[act];
        seen.met("server act", act);
        let place = n as usize % self.open.len().max(1);
        match (act, self.open.get(place)) {
            ("answer" | "answer-newest" | "answer-big", Some(_)) => {
                let size = if act == "answer-big" { 3000 } else { 0 };
                self.answer(place, size, now);
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

    /// Rules 4 and 5.
    pub(super) fn check(&self, now: Instant) {
        let next = self.site.poll_timeout();
        assert!(next.is_none_or(|at| at > now), "rule 4: the next deadline of a site does not lie ahead");
        let held = self.site.retained_bytes();
        let most = self.config.worst_case_bytes(self.site.connections());
        assert!(held <= most, "rule 5: a site holds {held} bytes of {most}");
    }

    /// Everything is over.
    pub(super) fn check_over(&self) {
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
