//! The client as a scenario sees it: on either link, with the questions tests ask.

use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{
    Config, Event, InputRequired, Outcome, Peer, Progress, RequestHandle, RequestOptions, Start, Verdict,
};
use sanswire::error::{CloseReason, Violation};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::{Method, Revision};
use serde_json::Value;

use crate::client_link::ClientLink;
use crate::exchange_link::ExchangeLink;
use crate::http_link::HttpLink;
use crate::line_link::line_link;
use crate::link::Shape;
use crate::peer::{Act, End, Received, Server};

/// Which link a scenario runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// One stream of lines.
    Line,
    /// A stream for each exchange.
    Exchanges,
    /// HTTP.
    Http,
}

impl On {
    /// Whether each exchange has a stream of its own.
    #[must_use]
    pub const fn has_streams(self) -> bool {
        !matches!(self, Self::Line)
    }
}

/// Runs a scenario on both links without HTTP: it does what HTTP knows nothing of.
///
/// # Panics
/// As the scenario does.
pub fn on_both_links(scenario: impl Fn(On)) {
    scenario(On::Line);
    scenario(On::Exchanges);
}

/// Runs a scenario on all links.
///
/// # Panics
/// As the scenario does.
pub fn on_all_links(scenario: impl Fn(On)) {
    on_both_links(&scenario);
    scenario(On::Http);
}

/// A client and its server, in the middle of a scenario.
pub struct Client {
    /// The link, for what the scenario does.
    pub link: Box<dyn ClientLink>,
    /// Which one it is.
    pub on: On,
}

/// A configuration for a server of which nothing is known.
#[must_use]
pub fn config() -> Config {
    Config::new("harness", "1")
}

/// A configuration that starts with what was remembered.
#[must_use]
pub fn remembering(verdict: Verdict) -> Config {
    let mut config = config();
    config.start = Start::Remembered(verdict);
    config
}

/// A configuration pinned to one revision.
#[must_use]
pub fn pinned(revision: Revision) -> Config {
    let mut config = config();
    config.start = Start::Pinned(revision);
    config
}

/// JSON for a request.
///
/// # Panics
/// If it is no JSON.
#[must_use]
pub fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).unwrap()
}

/// What a `RawJson` says.
///
/// # Panics
/// If it is no JSON after all.
#[must_use]
pub fn value(raw: &RawJson) -> Value {
    serde_json::from_slice(raw.as_bytes()).unwrap()
}

impl Client {
    /// Starts at one second past the epoch.
    #[must_use]
    pub fn start(on: On, config: Config, server: Server) -> Self {
        let now = Instant::from_millis(1000);
        let latency = Duration::from_millis(1);
        let shape = Shape { latency, ..Shape::default() };
        let link: Box<dyn ClientLink> = match on {
            On::Line => Box::new(line_link(config, server, [shape.clone(), shape], 1, now)),
            On::Exchanges => Box::new(ExchangeLink::new(config, server, latency, now)),
            On::Http => Box::new(HttpLink::new(config, server, latency, now)),
        };
        Self { link, on }
    }

    /// Starts, and is ready: all of the opening has arrived.
    #[must_use]
    pub fn ready(on: On, config: Config, server: Server) -> Self {
        let mut client = Self::start(on, config, server);
        client.until_ready();
        client.wait_ms(5);
        client
    }

    /// Ready with a server of the older kind.
    #[must_use]
    pub fn legacy(on: On) -> Self {
        Self::ready(on, remembering(Verdict::Legacy), Server::legacy("2025-11-25"))
    }

    /// Ready with a modern server.
    #[must_use]
    pub fn modern(on: On) -> Self {
        Self::ready(on, config(), Server::modern())
    }

    /// Steps until `done`.
    ///
    /// # Panics
    /// If that never comes, with what happened instead.
    pub fn until(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        for _ in 0..100_000 {
            if done(self) {
                return;
            }
            if !self.link.step() {
                break;
            }
        }
        assert!(done(self), "never {what} on {:?}\n{}", self.on, self.link.report());
    }

    /// Lets time pass.
    pub fn wait(&mut self, time: Duration) {
        let to = self.link.now().saturating_add(time);
        self.link.run_to(to);
    }

    /// Waits milliseconds.
    pub fn wait_ms(&mut self, millis: u64) {
        self.wait(Duration::from_millis(millis));
    }

    /// Milliseconds since the start.
    #[must_use]
    pub fn elapsed_ms(&self) -> u64 {
        (self.link.now().as_micros() - 1_000_000) / 1000
    }

    /// Waits for `Ready`.
    ///
    /// # Panics
    /// If it never comes.
    pub fn until_ready(&mut self) -> Peer {
        self.until("ready", |client| client.peer().is_some());
        self.peer().unwrap()
    }

    /// The server, once it is known.
    #[must_use]
    pub fn peer(&self) -> Option<Peer> {
        self.find(|event| match event {
            Event::Ready(peer) => Some((**peer).clone()),
            _ => None,
        })
        .pop()
    }

    /// What `pick` picks out of the events.
    pub fn find<T>(&self, pick: impl FnMut(&Event) -> Option<T>) -> Vec<T> {
        self.link.events().iter().map(|(_, event)| event).filter_map(pick).collect()
    }

    /// All verdicts.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        self.find(|event| match event {
            Event::Verdict(verdict) => Some(verdict.clone()),
            _ => None,
        })
    }

    /// All violations.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        self.find(|event| match event {
            Event::Violation(violation) => Some(violation.clone()),
            _ => None,
        })
    }

    /// All notifications: method, parameters, subscription.
    #[must_use]
    pub fn notifications(&self) -> Vec<(Method, Option<Value>, Option<RequestHandle>)> {
        self.find(|event| match event {
            Event::Notification { subscription, method, params } => {
                Some((method.clone(), params.as_ref().map(value), *subscription))
            }
            _ => None,
        })
    }

    /// Progress of a request.
    #[must_use]
    pub fn progress(&self, of: RequestHandle) -> Vec<Progress> {
        self.find(|event| match event {
            Event::Progress { request, progress } if *request == of => Some(progress.clone()),
            _ => None,
        })
    }

    /// Why it closed, once it has.
    #[must_use]
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.find(|event| match event {
            Event::Closed(reason) => Some(reason.clone()),
            _ => None,
        })
        .pop()
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// If it never comes.
    pub fn until_closed(&mut self) -> CloseReason {
        self.until("closed", |client| client.close_reason().is_some());
        self.close_reason().unwrap()
    }

    /// Makes a request that is accepted.
    ///
    /// # Panics
    /// If it is refused.
    pub fn request(&mut self, method: Method, params: Option<&str>) -> RequestHandle {
        self.request_with(method, params, &RequestOptions::default())
    }

    /// As [`request`](Self::request), with options.
    ///
    /// # Panics
    /// If it is refused.
    pub fn request_with(
        &mut self,
        method: Method,
        params: Option<&str>,
        options: &RequestOptions,
    ) -> RequestHandle {
        self.link.request(method, params.map(json), options).unwrap()
    }

    /// Calls the tool `echo`.
    pub fn call(&mut self) -> RequestHandle {
        self.request(Method::ToolsCall, Some(r#"{"name":"echo","arguments":{"a":1}}"#))
    }

    /// How a request ended, if it has.
    #[must_use]
    pub fn outcome(&self, of: RequestHandle) -> Option<Outcome> {
        self.find(|event| match event {
            Event::Finished { request, outcome } if *request == of => Some(outcome.clone()),
            _ => None,
        })
        .pop()
    }

    /// Waits for a request's end.
    ///
    /// # Panics
    /// If it never comes.
    pub fn finish(&mut self, request: RequestHandle) -> Outcome {
        self.until("finished", |client| client.outcome(request).is_some());
        self.outcome(request).unwrap()
    }

    /// Waits for a request's result.
    ///
    /// # Panics
    /// If it ends otherwise.
    pub fn complete(&mut self, request: RequestHandle) -> Value {
        match self.finish(request) {
            Outcome::Complete(result) => value(&result),
            other => panic!("no result but {other:?}\n{}", self.link.report()),
        }
    }

    /// Waits until a request asks for input.
    ///
    /// # Panics
    /// If it ends otherwise.
    pub fn input_required(&mut self, request: RequestHandle) -> InputRequired {
        match self.finish(request) {
            Outcome::InputRequired(input) => *input,
            other => panic!("no input was asked for but {other:?}\n{}", self.link.report()),
        }
    }

    /// The server sends something of its own accord.
    pub fn push(&mut self, message: Value) {
        self.link.act(None, Act::Message(message));
    }

    /// The server sends bytes of its own accord.
    pub fn push_raw(&mut self, bytes: impl Into<Vec<u8>>) {
        self.link.act(None, Act::Raw(bytes.into()));
    }

    /// The server sends something on the stream of the last message with this method.
    ///
    /// # Panics
    /// If there was none.
    pub fn push_during(&mut self, method: &str, message: Value) {
        let stream = self.last(method).stream;
        self.link.act(stream, Act::Message(message));
    }

    /// The stream of the last message with this method ends this way.
    ///
    /// # Panics
    /// If there was none.
    pub fn end_during(&mut self, method: &str, end: End) {
        let stream = self.last(method).stream;
        self.link.act(stream, Act::End(end));
    }

    /// The last message with this method that the server received.
    ///
    /// # Panics
    /// If there was none.
    #[must_use]
    pub fn last(&self, method: &str) -> Received {
        let all = self.link.server().with_method(method);
        (*all.last().unwrap_or_else(|| panic!("no {method} came\n{}", self.link.report()))).clone()
    }

    /// How many messages with this method the server received.
    #[must_use]
    pub fn count(&self, method: &str) -> usize {
        self.link.server().with_method(method).len()
    }

    /// The standing check: the connection still works.
    ///
    /// # Panics
    /// If it does not.
    pub fn still_works(&mut self) {
        let request = self.request(Method::ToolsList, None);
        let listing = self.complete(request);
        assert!(listing["tools"].is_array(), "{listing}");
    }
}
