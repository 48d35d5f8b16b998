//! A client and its application.

use std::time::Duration;

use sanswire::client::listing::{Cut, Step};
use sanswire::client::{
    Config, Event, InputAnswers, InputRequired, LineConnection, Link as _, Listing, Outcome,
    PeerRequestHandle, RequestHandle, RequestOptions, params,
};
use sanswire::jsonrpc::{ErrorObject, RawJson};
use sanswire::mcp::types::input::InputAnswer;
use sanswire::mcp::{Method, Revision};
use sanswire::{Instant, Machine};
use serde_json::Value;

use super::client_model::ClientModel;
use super::client_names::{close_name, error_name, event_name, name_of, outcome_name};
use super::coverage::Coverage;
use super::end::{Cuts, End};
use super::menu::CLIENT_ACTS;
use super::wire::Wire;

/// A listing under way, and what it must come to.
#[derive(Debug)]
struct Listed {
    listing: Listing,
    current: RequestHandle,
    pages: Vec<Value>,
}

/// A client, its application, and the model beside them.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) end: End<LineConnection>,
    pub(super) model: ClientModel,
    pub(super) events: Vec<(Instant, Event)>,
    pub(super) wrote: Vec<u8>,
    pub(super) holding: bool,
    calls: Vec<RequestHandle>,
    inputs: Vec<InputRequired>,
    asked: Vec<PeerRequestHandle>,
    listings: Vec<Listed>,
    said: u64,
    most: usize,
    most_out: usize,
}

impl Client {
    pub(super) fn new(config: Config, cuts: Cuts, now: Instant) -> Self {
        let model = ClientModel::new(&config);
        let most = config.limits.worst_case_bytes();
        let most_out = config.limits.max_queued_out_bytes;
        let machine = LineConnection::new(config, [7; 32], now).expect("a good configuration");
        Self {
            end: End::new(machine, cuts),
            model,
            events: Vec::new(),
            wrote: Vec::new(),
            holding: false,
            calls: Vec::new(),
            inputs: Vec::new(),
            asked: Vec::new(),
            listings: Vec::new(),
            said: 0,
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
            busy |= self.take(usize::MAX, now, seen);
        }
        busy |= self.end.write(out, &mut Both(&mut self.model, &mut self.wrote), now);
        if !self.holding {
            busy |= self.take(usize::MAX, now, seen);
        }
        if self.end.closed {
            out.close(now);
            input.stop_reading(now);
        }
        busy
    }

    fn check_bound(&self) {
        let held = self.end.machine.retained_bytes();
        assert!(held <= self.most, "rule 5: a client holds {held} bytes of {}", self.most);
        let session = self.end.machine.session();
        let limits = &session.config().limits;
        // A batch tells of many with the last byte of it.
        let batches = session.revision() == Some(Revision::V2025_03_26);
        let batch = if batches { limits.max_message_bytes / 2 } else { 0 };
        // A call ends by a timer or by the application too, and a question of the server's runs out of time.
        let open = self.model.open() + limits.max_peer_requests + batch;
        self.end.check_events(session.queued_events(), session.queued_event_bytes(), limits, open);
    }

    /// Takes events.
    fn take(&mut self, most: usize, now: Instant, seen: &mut Coverage) -> bool {
        for n in 0..most {
            let Some(event) = self.end.event(|event| matches!(event, Event::Closed(_))) else { return n > 0 };
            self.model.event(&event, now);
            seen.met("client event", event_name(&event));
            match &event {
                Event::Finished { request, outcome } => {
                    seen.met("outcome", outcome_name(outcome));
                    if let Outcome::InputRequired(input) = outcome {
                        self.inputs.push((**input).clone());
                    }
                    self.go_on(*request, outcome, now, seen);
                }
                Event::PeerRequest { handle, .. } => self.asked.push(*handle),
                Event::Ready(peer) => seen.met("revision", peer.revision.as_str()),
                Event::Closed(reason) => seen.met("client closed", close_name(reason)),
                _ => {}
            }
            self.events.push((now, event));
        }
        true
    }

    /// What holds once everything was done.
    pub(super) fn check_rest(&self, now: Instant) {
        self.check_bound();
        self.end.check_rest(!self.holding, now);
        if !self.holding && self.end.machine.transmit().is_empty() {
            self.model.check_drained(self.end.closed);
        }
    }

    fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        now: Instant,
        seen: &mut Coverage,
    ) -> Option<RequestHandle> {
        let name = name_of(&method);
        let listens = method == Method::SubscriptionsListen;
        let full = self.end.machine.transmit().len() >= self.most_out;
        self.said += 1;
        let options = &self.numbered(options);
        match self.end.machine.request(method, params, options, now) {
            Ok(handle) => {
                assert!(!full, "rule 5: a request was taken where too much waits to be written");
                self.accepted(handle, name, (!listens).then_some(options), now);
                Some(handle)
            }
            Err(error) => {
                seen.met("client refused", error_name(&error));
                None
            }
        }
    }

    /// Each request says which one it is.
    fn numbered(&self, options: &RequestOptions) -> RequestOptions {
        let mut options = options.clone();
        options.meta = RawJson::parse_str(&format!(r#"{{"x/k":{}}}"#, self.said)).ok();
        options
    }

    fn accepted(
        &mut self,
        handle: RequestHandle,
        name: &'static str,
        options: Option<&RequestOptions>,
        now: Instant,
    ) {
        let limits = &self.end.machine.session().config().limits;
        let limits = options.map(|options| {
            (options.idle.unwrap_or(limits.request_idle), options.absolute.unwrap_or(limits.request_absolute))
        });
        self.model.accepted(handle, name, limits, now);
        self.calls.push(handle);
    }

    fn call(&mut self, size: usize, options: &RequestOptions, now: Instant, seen: &mut Coverage) {
        let name = ["a", "b", "nowhere"][self.said as usize % 3];
        let text = format!(r#"{{"k":{},"x":"{}"}}"#, self.said, "é".repeat(size / 2));
        let arguments = RawJson::parse_str(&text).expect("JSON");
        let params = params::call_tool(name, Some(&arguments));
        self.request(Method::ToolsCall, Some(params), options, now, seen);
    }

    fn list(&mut self, method: Method, now: Instant, seen: &mut Coverage) {
        let listing = Listing::new(method, &self.end.machine.session().config().limits);
        let (method, params) = listing.first();
        if let Some(current) = self.request(method, params, &RequestOptions::default(), now, seen) {
            self.listings.push(Listed { listing, current, pages: Vec::new() });
        }
    }

    /// A page of a listing, if the request was one's.
    fn go_on(&mut self, request: RequestHandle, outcome: &Outcome, now: Instant, seen: &mut Coverage) {
        let Some(place) = self.listings.iter().position(|listed| listed.current == request) else { return };
        let mut listed = self.listings.remove(place);
        if let Outcome::Complete(page) = outcome {
            listed.pages.push(read(page));
        }
        let cursor = listed.pages.last().and_then(|page| page["nextCursor"].as_str());
        match listed.listing.next(outcome.clone()) {
            Step::Request(method, params) => {
                let params = params.expect("a cursor");
                let asked: Value = serde_json::from_slice(params.as_bytes()).expect("JSON");
                assert!(matches!(outcome, Outcome::Complete(_)), "a listing goes on after {outcome:?}");
                assert_eq!(asked["cursor"].as_str(), cursor, "another cursor than the page's");
                if let Some(current) =
                    self.request(method, Some(params), &RequestOptions::default(), now, seen)
                {
                    listed.current = current;
                    self.listings.push(listed);
                }
            }
            Step::Done(done) => {
                let pages: Vec<Value> = done.pages.iter().map(read).collect();
                assert_eq!(pages, listed.pages, "a listing is its pages");
                let limits = &self.end.machine.session().config().limits;
                match &done.cut {
                    None => assert!(cursor.is_none(), "the listing is not whole"),
                    Some(Cut::Failed(failed)) => assert_eq!(failed, outcome),
                    Some(Cut::Pages(most)) => assert_eq!(pages.len() as u32, *most),
                    Some(Cut::Items(most)) => {
                        let member = ["tools", "resources", "prompts"];
                        let items = |page: &Value| {
                            member
                                .iter()
                                .filter_map(|name| page[name].as_array())
                                .map(Vec::len)
                                .sum::<usize>()
                        };
                        assert!(pages.iter().map(items).sum::<usize>() >= *most, "cut before its time");
                        assert_eq!(*most, limits.max_items);
                    }
                    Some(_) => {}
                }
                seen.met("listing", if done.cut.is_none() { "whole" } else { "cut" });
            }
        }
    }

    /// Does what a step says.
    pub(super) fn act(&mut self, act: usize, n: u32, now: Instant, seen: &mut Coverage) {
        let name = CLIENT_ACTS[act];
        seen.met("client act", name);
        let mut options = RequestOptions::default();
        let at = n as usize;
        match name {
            "call" | "call-again" | "call-more" => self.call(at % 40, &options, now, seen),
            "call-big" => self.call([1500, 3600, 4200, 9000][at % 4], &options, now, seen),
            "call-much" => {
                for size in [3000, 1000, 3600, 3000] {
                    self.call(size, &options, now, seen);
                }
            }
            "hurry" => {
                options.idle = Some(Duration::from_millis(u64::from(n % 20)));
                options.absolute = Some(Duration::from_millis(u64::from(n >> 8) % 40));
                self.call(0, &options, now, seen);
            }
            "patient" => {
                options.idle = Some(if n % 2 == 0 { Duration::MAX } else { Duration::from_secs(3) });
                options.absolute = Some(if n % 3 == 0 { Duration::MAX } else { Duration::from_secs(9) });
                self.call(0, &options, now, seen);
            }
            "ping" => {
                self.request(Method::Ping, None, &options, now, seen);
            }
            "list-tools" => self.list(Method::ToolsList, now, seen),
            "list-resources" => self.list(Method::ResourcesList, now, seen),
            "list-prompts" => self.list(Method::PromptsList, now, seen),
            "get-prompt" => {
                let params = params::get_prompt("p", &[("k", "v")]);
                self.request(Method::PromptsGet, Some(params), &options, now, seen);
            }
            "read-resource" => {
                self.request(Method::ResourcesRead, Some(params::uri("x:y")), &options, now, seen);
            }
            "listen" => {
                let filter =
                    RawJson::from_static(r#"{"toolsListChanged":true,"resourceSubscriptions":["x:y"]}"#);
                let params = params::listen(&filter.expect("JSON"));
                self.request(Method::SubscriptionsListen, Some(params), &options, now, seen);
            }
            "unknown-method" => {
                self.request(Method::Other("x/y".into()), None, &options, now, seen);
            }
            "resume" | "resume-badly" => {
                if let Some(input) = self.inputs.get(at % self.inputs.len().max(1)).cloned() {
                    self.resume(&input, name == "resume", &options, now, seen);
                }
            }
            "cancel" | "cancel-what-is-over" => {
                let newest = if name == "cancel" { self.calls.len().saturating_sub(4) } else { 0 };
                let some = &self.calls[newest..];
                if !some.is_empty() {
                    let handle = some[at % some.len()];
                    let done = self.end.machine.cancel(handle, Some("enough \u{2028}"), now);
                    self.model.cancelled(handle, done.is_ok());
                    if let Err(error) = done {
                        seen.met("client refused", error_name(&error));
                    }
                }
            }
            "answer" | "decline" | "answer-twice" => {
                if self.asked.is_empty() {
                    return;
                }
                let place = at % self.asked.len();
                let handle = self.asked[place];
                let roots = RawJson::from_static(r#"{"roots":[],"action":"accept"}"#).expect("JSON");
                let answer = match name {
                    "decline" if n % 2 == 0 => InputAnswer::Decline,
                    "decline" if n % 3 == 0 => {
                        InputAnswer::Error(ErrorObject { code: -1, message: "no".into(), data: None })
                    }
                    "decline" => InputAnswer::Cancel,
                    _ => InputAnswer::Result(roots),
                };
                let first = self.end.machine.answer(handle, &answer, now);
                if name == "answer-twice" && first.is_ok() {
                    let again = self.end.machine.answer(handle, &answer, now);
                    assert!(again.is_err(), "a request was answered twice");
                }
                if let Err(error) = first {
                    seen.met("client refused", error_name(&error));
                }
            }
            "notify" => {
                let method =
                    [Method::RootsListChanged, Method::Cancelled, Method::Other("notifications/x".into())];
                let done = self.end.machine.notify(method[at % 3].clone(), None, now);
                if let Err(error) = done {
                    seen.met("client refused", error_name(&error));
                }
            }
            "bad-params" => {
                let text = ["[]", r#"{"_meta":{}}"#, r#"{"requestState":"x"}"#][at % 3];
                let params = RawJson::parse_str(text).expect("JSON");
                let refused = self.request(Method::ToolsCall, Some(params), &options, now, seen);
                assert_eq!(refused, None, "{text} was taken");
            }
            "hold" => self.holding = true,
            "take" => self.holding = false,
            "take-one" => {
                self.take(1, now, seen);
            }
            _ => {
                // Few runs are about a close in the middle.
                if n % 4 == 0 {
                    self.close(now);
                }
            }
        }
    }

    fn resume(
        &mut self,
        input: &InputRequired,
        well: bool,
        options: &RequestOptions,
        now: Instant,
        seen: &mut Coverage,
    ) {
        let answer =
            InputAnswer::Result(RawJson::from_static(r#"{"roots":[],"action":"accept"}"#).expect("JSON"));
        let mut answers = InputAnswers::collect(input, |_| answer.clone());
        if !well {
            answers.set("nobody asked for this", answer);
        }
        let method = name_of(input.method());
        self.said += 1;
        let options = &self.numbered(options);
        match self.end.machine.resume(input, &answers, options, now) {
            Ok(handle) => {
                assert!(well, "an answer to what was not asked was taken");
                self.accepted(handle, method, Some(options), now);
            }
            Err(error) => seen.met("client refused", error_name(&error)),
        }
    }

    /// Ends the connection.
    pub(super) fn close(&mut self, now: Instant) {
        self.model.closed_by_us();
        self.end.machine.close(now);
    }
}

/// What left, to the model and to the record.
struct Both<'a>(&'a mut ClientModel, &'a mut Vec<u8>);

impl super::end::Watch for Both<'_> {
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

/// Null where only we take it: a lone surrogate.
fn read(page: &RawJson) -> Value {
    serde_json::from_slice(page.as_bytes()).unwrap_or_default()
}
