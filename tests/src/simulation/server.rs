//! A server and its application.

use std::cell::Cell;
use std::time::Duration;

use sanswire::jsonrpc::{ErrorObject, RawJson};
use sanswire::mcp::types::input::{InputKind, InputRequest, KeyedInput};
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::{CloseReason, Config, Event, LineConnection, ListKind, Notice, Reply, RequestHandle};
use sanswire::{Instant, Machine};

use super::client_names::error_name;
use super::coverage::Coverage;
use super::end::{Cuts, End, Watch};
use super::menu::SERVER_ACTS;
use super::server_model::ServerModel;
use super::wire::Wire;

/// A server, its application, and the model beside them.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) end: End<LineConnection>,
    pub(super) model: ServerModel,
    pub(super) events: Vec<(Instant, Event)>,
    pub(super) wrote: Vec<u8>,
    pub(super) holding: bool,
    /// How many requests were in flight at the last look at the bounds.
    in_flight: Cell<usize>,
    /// So many of a hundred requests are answered as soon as they are seen.
    auto: usize,
    most: usize,
    most_out: usize,
}

fn json(text: &'static str) -> RawJson {
    RawJson::from_static(text).expect("JSON")
}

impl Server {
    pub(super) fn new(config: Config, auto: usize, cuts: Cuts, now: Instant) -> Self {
        let model = ServerModel::new(&config);
        let most = config.limits.worst_case_server_bytes();
        let most_out = config.limits.max_queued_out_bytes;
        let mut machine = LineConnection::new(config, [3; 32], now).expect("a good configuration");
        let catalog = machine.catalog_mut();
        for tool in [r#"{"name":"a"}"#, r#"{"name":"b","description":"é"}"#, r#"{"name":"c"}"#] {
            catalog.tool(&RawJson::parse_str(tool).expect("JSON")).expect("a tool");
        }
        catalog.resource(&json(r#"{"uri":"x:y","name":"r"}"#)).expect("a resource");
        catalog.prompt(&json(r#"{"name":"p"}"#)).expect("a prompt");
        Self {
            end: End::new(machine, cuts),
            model,
            events: Vec::new(),
            wrote: Vec::new(),
            holding: false,
            in_flight: Cell::new(0),
            auto,
            most,
            most_out,
        }
    }

    /// Does what can be done at this instant. True: something was.
    pub(super) fn turn(
        &mut self,
        out: &mut Wire,
        input: &mut Wire,
        now: Instant,
        seen: &mut Coverage,
    ) -> bool {
        self.end.time(&mut self.model, now);
        let mut busy = self.end.read(input, &mut self.model, now);
        self.check_bound();
        if !self.holding {
            busy |= self.take(now, seen);
        }
        busy |= self.end.write(out, &mut Both(&mut self.model, &mut self.wrote), now);
        if !self.holding {
            busy |= self.take(now, seen);
        }
        if self.end.closed {
            out.close(now);
            input.stop_reading(now);
        }
        busy
    }

    fn check_bound(&self) {
        let held = self.end.machine.retained_bytes();
        assert!(held <= self.most, "rule 5: a server holds {held} bytes of {}", self.most);
        let session = self.end.machine.session();
        let limits = &session.config().limits;
        // A batch tells of many with the last byte of it, but of no more than may wait, and what is given up is told as well.
        let batch = 2 * limits.max_queued_events.min(limits.max_message_bytes / 4);
        // What was in flight at the last look may have ended since, all at once where the client has gone.
        let in_flight = self.in_flight.replace(session.in_flight());
        let open = 2 * in_flight.max(session.in_flight()) + limits.max_peer_requests + batch;
        self.end.check_events(session.queued_events(), session.queued_event_bytes(), limits, open);
    }

    fn take(&mut self, now: Instant, seen: &mut Coverage) -> bool {
        let mut any = false;
        while let Some(event) = self.end.event(|event| matches!(event, Event::Closed(_))) {
            any = true;
            self.model.event(&event);
            seen.met("server event", event_name(&event));
            if let Event::Request { request, .. } = &event {
                let number = self.model.number(*request);
                if (number * 37 + 11) % 100 < self.auto {
                    self.answer(*request, 0, now, seen);
                }
            }
            if let Event::Closed(reason) = &event {
                seen.met("server closed", close_name(reason));
            }
            self.events.push((now, event));
        }
        any
    }

    pub(super) fn check_rest(&self, now: Instant) {
        self.check_bound();
        self.end.check_rest(!self.holding, now);
        let machine = &self.end.machine;
        if !self.holding && !self.end.closed && machine.transmit().is_empty() && machine.wants_read() {
            self.model.check_drained();
        }
    }

    fn answer(&mut self, request: RequestHandle, size: usize, now: Instant, seen: &mut Coverage) {
        let text = format!("answer {} {}", self.model.number(request), "é".repeat(size / 2));
        self.respond(request, &Reply::text(&text), now, seen);
    }

    fn respond(&mut self, request: RequestHandle, reply: &Reply, now: Instant, seen: &mut Coverage) {
        let full = self.end.machine.queued_out_bytes() >= self.most_out;
        let done = self.end.machine.respond(request, reply, now);
        assert!(!full || done.is_err(), "rule 5: an answer was taken where too much waits to be written");
        self.model.responded(request, &done);
        if let Err(error) = &done {
            seen.met("server refused", error_name(error));
        }
    }

    /// Does what a step says.
    pub(super) fn act(&mut self, act: usize, n: u32, now: Instant, seen: &mut Coverage) {
        let name = SERVER_ACTS[act];
        seen.met("server act", name);
        let at = n as usize;
        let open = self.model.open();
        let some = (!open.is_empty()).then(|| open[at % open.len()]);
        let machine = &mut self.end.machine;
        let refused = match (name, some) {
            ("answer", Some(request)) => return self.answer(request, at % 60, now, seen),
            ("answer-newest", Some(_)) => return self.answer(open[open.len() - 1], 0, now, seen),
            ("answer-big", Some(request)) => {
                return self.answer(request, [2000, 3500, 4200, 30_000][at % 4], now, seen);
            }
            ("fail", Some(request)) => {
                let text = format!("answer {} failed", self.model.number(request));
                return self.respond(request, &Reply::tool_error(&text), now, seen);
            }
            ("refuse", Some(request)) => {
                let code = [-32603, 1, -32002, -32042, -32021, -32050][at % 6];
                let error = ErrorObject { code, message: "no".into(), data: None };
                return self.respond(request, &Reply::Error(error), now, seen);
            }
            ("bad-answer", Some(request)) => {
                let result = ["[]", "{}", r#"{"content":7}"#, r#"{"contents":[]}"#][at % 4];
                return self.respond(request, &Reply::Complete(json(result)), now, seen);
            }
            ("answer-what-is-over", _) => {
                let over = self.model.over();
                if !over.is_empty() {
                    self.respond(over[at % over.len()], &Reply::text("late"), now, seen);
                }
                return;
            }
            ("progress", Some(request)) => {
                let progress = f64::from(n % 1000);
                let notice = Notice::Progress { progress, total: None, message: Some("é".into()) };
                machine.notify(request, &notice, now).err()
            }
            ("log", Some(request)) => {
                let notice = Notice::Log { level: LogLevel::Error, logger: None, data: json("[1]") };
                machine.notify(request, &notice, now).err()
            }
            ("log", None) => machine.log(LogLevel::Error, Some("l"), &json("{}"), now).err(),
            ("ask", Some(request)) => match machine.request_input(request, &question(at), now) {
                Ok(peer) => {
                    self.model.asked_client(peer);
                    None
                }
                Err(error) => Some(error),
            },
            ("ask-by-result", Some(request)) => {
                let requests = match n % 3 {
                    0 => Vec::new(),
                    _ => vec![KeyedInput { key: "k".into(), request: question(at) }],
                };
                let reply = Reply::InputRequired { requests, state: (n % 2 == 0).then(|| "s\"é".into()) };
                return self.respond(request, &reply, now, seen);
            }
            ("add-tool", _) => {
                let tool = RawJson::parse_str(&format!(r#"{{"name":"t{}"}}"#, n % 5)).expect("JSON");
                machine.catalog_mut().tool(&tool).expect("a tool");
                machine.tools_changed(now);
                None
            }
            ("remove-tool", _) => {
                machine.catalog_mut().remove(ListKind::Tools, ["a", "t1", "t2"][at % 3]);
                machine.tools_changed(now);
                None
            }
            ("add-resource", _) => {
                let resource = RawJson::parse_str(&format!(r#"{{"uri":"x:{}","name":"n"}}"#, n % 9));
                machine.catalog_mut().resource(&resource.expect("JSON")).expect("a resource");
                machine.resources_changed(now);
                None
            }
            ("list-changed", _) => {
                let kind = [ListKind::Tools, ListKind::Prompts, ListKind::Resources][at % 3];
                machine.list_changed(kind, now);
                None
            }
            ("resource-updated", _) => machine.resource_updated("x:y", now).err(),
            ("hold", _) => {
                self.holding = true;
                None
            }
            ("take", _) => {
                self.holding = false;
                None
            }
            ("end-subscriptions", _) => {
                machine.end_subscriptions(now);
                None
            }
            ("shutdown", _) if n % 3 == 0 => {
                machine.shutdown(Duration::from_millis(u64::from(n % 4000)), now);
                None
            }
            ("close", _) if n % 4 == 0 => {
                machine.close(now);
                None
            }
            _ => None,
        };
        if let Some(error) = refused {
            seen.met("server refused", error_name(&error));
        }
    }
}

pub(super) fn question(at: usize) -> InputRequest {
    let (kind, params) = match at % 3 {
        0 => (InputKind::ListRoots, None),
        1 => (
            InputKind::ElicitForm,
            Some(r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#),
        ),
        _ => (InputKind::Sample, Some(r#"{"messages":[],"maxTokens":9}"#)),
    };
    InputRequest { kind, params: params.map(json) }
}

/// What left, to the model and to the record.
struct Both<'a>(&'a mut ServerModel, &'a mut Vec<u8>);

impl Watch for Both<'_> {
    fn read(&mut self, bytes: &[u8], now: Instant) {
        self.0.read(bytes, now);
    }
    fn wrote(&mut self, bytes: &[u8], now: Instant) {
        self.1.extend_from_slice(bytes);
        self.0.wrote(bytes, now);
    }
    fn time(&mut self, now: Instant) {
        self.0.time(now);
    }
    fn ended(&mut self, now: Instant) {
        self.0.ended(now);
    }
    fn unread(&mut self, now: Instant) {
        self.0.unread(now);
    }
}

fn event_name(event: &Event) -> &'static str {
    match event {
        Event::Request { .. } => "request",
        Event::Cancelled { .. } => "cancelled",
        Event::Answered { .. } => "answered",
        Event::Notification { .. } => "notification",
        Event::Violation(_) => "violation",
        Event::Closed(_) => "closed",
        _ => "another",
    }
}

fn close_name(reason: &CloseReason) -> &'static str {
    match reason {
        CloseReason::Local => "local",
        CloseReason::Eof => "eof",
        CloseReason::Unread => "unread",
        CloseReason::PingTimedOut => "ping timed out",
        CloseReason::Protocol(_) => "protocol",
        _ => "another",
    }
}
