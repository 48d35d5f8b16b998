//! The client over HTTP, as heads and bodies, and a scripted server that answers in them.
//!
//! A message opens an exchange; what the server says on its stream comes back as one JSON text where the answer is all
//! there is, and as an event stream else, in small pieces. What it sends of its own accord goes on the stream that the
//! client opens by GET.

mod answers;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use sanswire::Instant;
use sanswire::client::{
    Config, Event, InputAnswers, InputRequired, Link as _, PeerRequestHandle, RequestHandle, RequestOptions,
    Session,
};
use sanswire::error::ApiError;
use sanswire::http::client::{Effect, End as HttpEnd, Target};
use sanswire::http::{Client, HttpHandle, RequestHead, Url};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputAnswer;
use serde_json::Value;

use crate::client_link::ClientLink;
use crate::peer::{Act, Agenda, Out, Server, Stream};
use crate::watch::Ledger;

/// A request on its way to the server.
#[derive(Debug)]
struct Posted {
    at: Instant,
    exchange: HttpHandle,
    head: RequestHead,
    body: Bytes,
}

/// An exchange that the server has not ended.
#[derive(Debug, Default)]
struct Open {
    /// The id that its answer carries.
    id: Option<Value>,
    /// Its head was sent: it is an event stream.
    streams: bool,
    /// Messages that wait to see what comes behind them.
    waiting: VecDeque<Vec<u8>>,
}

/// A client, a server, and HTTP between them without bytes of it.
#[derive(Debug)]
pub struct HttpLink {
    client: Client,
    server: Server,
    agenda: Agenda,
    posted: Vec<Posted>,
    open: BTreeMap<u64, Open>,
    push: Option<u64>,
    /// What the server pushed before there was a stream for it.
    unpushed: VecDeque<Act>,
    latency: Duration,
    now: Instant,
    events: Vec<(Instant, Event)>,
    ledger: Ledger<RequestHandle>,
    holding: bool,
    dead: bool,
    log: Vec<(Instant, String)>,
    written: Vec<u8>,
    /// Heads of the requests that the client sent, in order.
    pub heads: Vec<RequestHead>,
}

impl HttpLink {
    /// A client with this configuration and this server; a message takes `latency` each way.
    ///
    /// # Panics
    /// If the configuration is refused.
    #[must_use]
    pub fn new(config: Config, server: Server, latency: Duration, now: Instant) -> Self {
        let target = Target::new(Url::parse("http://127.0.0.1:8000/mcp").unwrap());
        let mut link = Self {
            client: Client::new(config, target, [7; 32], now).unwrap(),
            server,
            agenda: Agenda::default(),
            posted: Vec::new(),
            open: BTreeMap::new(),
            push: None,
            unpushed: VecDeque::new(),
            latency,
            now,
            events: Vec::new(),
            ledger: Ledger::default(),
            holding: false,
            dead: false,
            log: Vec::new(),
            written: Vec::new(),
            heads: Vec::new(),
        };
        link.server.start(Out { agenda: &mut link.agenda, at: now, stream: None });
        link
    }

    fn settle(&mut self) {
        self.client.handle_timeout(self.now);
        loop {
            let mut busy = false;
            while let Some(effect) = self.client.poll_effect() {
                busy = true;
                self.carry_out(effect);
            }
            while let Some(index) = self.posted.iter().position(|posted| posted.at <= self.now) {
                busy = true;
                let posted = self.posted.remove(index);
                self.arrived(posted);
            }
            if self.client.wants_input() {
                if let Some((stream, act)) = self.agenda.due(self.now) {
                    busy = true;
                    self.arrive(stream, act);
                } else {
                    busy |= self.flush();
                }
            }
            busy |= !self.holding && self.take_events();
            if !busy {
                break;
            }
        }
        if let Some(at) = self.client.poll_timeout().filter(|_| !self.holding) {
            assert!(at > self.now, "drained, and the deadline {at:?} is not ahead of {:?}", self.now);
        }
        if self.ledger.is_closed() {
            assert!(!self.client.wants_input(), "closed, and wants input");
            self.agenda.clear();
            self.open.clear();
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Open { exchange, to, head, body, .. } => {
                assert_eq!(to.to_string(), "http://127.0.0.1:8000");
                self.note(format!(
                    "{} {exchange:?} {:?}",
                    head.verb.as_str(),
                    String::from_utf8_lossy(&body)
                ));
                self.heads.push(head.clone());
                if !body.is_empty() {
                    self.written.extend_from_slice(&body);
                    self.written.push(b'\n');
                }
                self.client.handle_sent(exchange, self.now);
                if self.dead {
                    return self.client.handle_end(exchange, HttpEnd::Broken, self.now);
                }
                self.open.insert(exchange.number(), Open::default());
                self.posted.push(Posted { at: self.now.saturating_add(self.latency), exchange, head, body });
            }
            Effect::Close { exchange } => {
                self.note(format!("{exchange:?} is closed by the client"));
                // What has left arrives all the same.
                let number = exchange.number();
                if self.open.remove(&number).is_some() && self.push != Some(number) {
                    self.server.closed_streams.push(number);
                }
                if self.push == Some(number) {
                    self.push = None;
                }
            }
            _ => panic!("an effect that nobody knows: {effect:?}"),
        }
    }

    fn take_events(&mut self) -> bool {
        let before = self.events.len();
        while let Some(event) = self.client.poll_event() {
            let finished = match &event {
                Event::Finished { request, .. } => Some(*request),
                _ => None,
            };
            self.ledger.event(finished, matches!(event, Event::Closed(_)));
            self.note(format!("the client tells {event:?}"));
            self.events.push((self.now, event));
        }
        self.events.len() > before
    }

    fn note(&mut self, line: String) {
        self.log.push((self.now, line));
    }

    fn next_at(&self) -> Option<Instant> {
        let posted = self.posted.iter().map(|posted| posted.at).min();
        let due = self.agenda.next().filter(|_| self.client.wants_input());
        [posted, due, self.client.poll_timeout()].into_iter().flatten().min()
    }
}

impl ClientLink for HttpLink {
    fn now(&self) -> Instant {
        self.now
    }

    fn session(&self) -> &Session {
        self.client.session()
    }

    fn events(&self) -> &[(Instant, Event)] {
        &self.events
    }

    fn server(&self) -> &Server {
        &self.server
    }

    fn server_mut(&mut self) -> &mut Server {
        &mut self.server
    }

    fn step(&mut self) -> bool {
        self.settle();
        let Some(next) = self.next_at() else { return false };
        assert!(next > self.now, "time stands still\n{}", self.report());
        self.now = next;
        self.settle();
        true
    }

    fn run_to(&mut self, to: Instant) {
        self.settle();
        while self.next_at().is_some_and(|next| next <= to) {
            self.step();
        }
        self.now = self.now.max(to);
        self.settle();
    }

    fn act(&mut self, stream: Stream, act: Act) {
        self.agenda.add(self.now, stream, act);
    }

    fn hold(&mut self, holding: bool) {
        self.holding = holding;
    }

    fn written(&self) -> Vec<u8> {
        self.written.clone()
    }

    fn report(&self) -> String {
        let mut out = String::new();
        for (at, line) in &self.log {
            let _ = writeln!(out, "{:>12} {line}", at.as_micros());
        }
        out
    }

    fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        let request = self.client.request(method, params, options, self.now)?;
        self.ledger.accept(request);
        Ok(request)
    }

    fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        let request = self.client.resume(from, answers, options, self.now)?;
        self.ledger.accept(request);
        Ok(request)
    }

    fn notify(&mut self, method: Method, params: Option<RawJson>) -> Result<(), ApiError> {
        self.client.notify(method, params, self.now)
    }

    fn cancel(&mut self, request: RequestHandle, reason: Option<&str>) -> Result<(), ApiError> {
        self.client.cancel(request, reason, self.now)
    }

    fn answer(&mut self, peer: PeerRequestHandle, answer: &InputAnswer) -> Result<(), ApiError> {
        self.client.answer(peer, answer, self.now)
    }

    fn close(&mut self) {
        self.client.close(self.now);
    }
}
