//! The client on a link that gives each exchange a stream of its own, as HTTP does, without HTTP.
//!
//! A message from the client opens a stream; its answer comes back on that stream and ends it. Giving an exchange
//! up closes its stream under a modern revision; under an older one the notice goes out as an exchange of its own
//! and the stream stays. What the server sends of its own accord comes as a push.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use sanswire::Instant;
use sanswire::client::{
    Config, Event, InputAnswers, InputRequired, PeerRequestHandle, RequestHandle, RequestOptions, Session,
};
use sanswire::error::{ApiError, CloseReason};
use sanswire::exchange::{Challenge, Effect, Exchange, ExchangeEnd, ExchangeHandle, HttpRefusal, Origin};
use sanswire::frame::Frame;
use sanswire::jsonrpc::{JsonRef, RawJson, RequestId};
use sanswire::mcp::types::input::InputAnswer;
use sanswire::mcp::{Era, Method};
use serde_json::Value;

use crate::client_link::ClientLink;
use crate::peer::{Act, Agenda, End, Out, Server, Stream};
use crate::watch::Ledger;

/// A session, a server, and a stream for each exchange between them.
#[derive(Debug)]
pub struct ExchangeLink {
    session: Session,
    server: Server,
    agenda: Agenda,
    /// Messages on their way to the server.
    posted: Vec<(Instant, u64, Bytes)>,
    streams: BTreeMap<u64, OpenStream>,
    opened: u64,
    latency: Duration,
    now: Instant,
    events: Vec<(Instant, Event)>,
    ledger: Ledger<RequestHandle>,
    holding: bool,
    dead: bool,
    log: Vec<(Instant, String)>,
    /// Every exchange that was sent, in order.
    pub sent: Vec<Exchange>,
    /// Say again what was said of an exchange that is over: it must be harmless.
    pub fidget: bool,
}

#[derive(Debug)]
struct OpenStream {
    handle: ExchangeHandle,
    /// The id its answer carries.
    id: Option<Value>,
}

impl ExchangeLink {
    /// A client with this configuration and this server; a message takes `latency` each way.
    ///
    /// # Panics
    /// If the configuration is refused.
    #[must_use]
    pub fn new(config: Config, server: Server, latency: Duration, now: Instant) -> Self {
        let mut link = Self {
            session: Session::new(config, [7; 32], now).unwrap(),
            server,
            agenda: Agenda::default(),
            posted: Vec::new(),
            streams: BTreeMap::new(),
            opened: 0,
            latency,
            now,
            events: Vec::new(),
            ledger: Ledger::default(),
            holding: false,
            dead: false,
            log: Vec::new(),
            sent: Vec::new(),
            fidget: false,
        };
        link.server.start(Out { agenda: &mut link.agenda, at: now, stream: None });
        link
    }

    fn settle(&mut self) {
        self.session.handle_timeout(self.now);
        loop {
            let mut busy = false;
            while let Some(effect) = self.session.poll_effect() {
                busy = true;
                self.carry_out(effect);
            }
            while let Some(index) = self.posted.iter().position(|(at, ..)| *at <= self.now) {
                busy = true;
                let (_, stream, message) = self.posted.remove(index);
                let line = message.strip_suffix(b"\n").expect("a message ends in LF");
                assert!(!line.contains(&b'\n'), "a message has no other LF");
                let at = self.now.saturating_add(self.latency);
                let out = Out { agenda: &mut self.agenda, at, stream: Some(stream) };
                self.server.line(line, out);
            }
            if self.session.wants_input()
                && let Some((stream, act)) = self.agenda.due(self.now)
            {
                busy = true;
                self.arrive(stream, act);
            }
            busy |= !self.holding && self.take_events();
            if !busy {
                break;
            }
        }
        if let Some(at) = self.session.poll_timeout().filter(|_| !self.holding) {
            assert!(at > self.now, "drained, and the deadline {at:?} is not ahead of {:?}", self.now);
        }
        if self.ledger.is_closed() {
            assert!(!self.session.wants_input(), "closed, and wants input");
            self.agenda.clear();
            self.streams.clear();
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Send(exchange) => self.send(exchange),
            Effect::Abort { exchange, notice } => {
                // The notice itself says of which era it is: the session may be closed by now.
                let legacy = |notice: &Exchange| {
                    notice.facts.revision.is_some_and(|revision| revision.era() == Era::Legacy)
                };
                if let Some(notice) = notice.filter(legacy) {
                    return self.send(notice);
                }
                if let Some(stream) = self.stream_of(exchange) {
                    self.note(format!("stream {stream} is closed by the client"));
                    self.streams.remove(&stream);
                    self.server.closed_streams.push(stream);
                }
            }
        }
    }

    fn send(&mut self, exchange: Exchange) {
        self.opened += 1;
        let stream = self.opened;
        let text = String::from_utf8_lossy(&exchange.message).into_owned();
        self.note(format!("stream {stream} opens with {}", text.trim_end()));
        // What serde_json does not read (half a surrogate pair) gets its answer too, but no end from it.
        let message: Option<Value> = serde_json::from_slice(&exchange.message).ok();
        let id = message.and_then(|message| message.get("id").cloned());
        let handle = exchange.handle;
        assert!(self.sent.iter().all(|sent| sent.handle != handle), "{handle:?} is used twice");
        self.sent.push(exchange.clone());
        self.session.handle_sent(handle, self.now);
        if self.dead {
            return self.session.handle_end(handle, ExchangeEnd::Broken, self.now);
        }
        self.streams.insert(stream, OpenStream { handle, id });
        self.posted.push((self.now.saturating_add(self.latency), stream, exchange.message));
    }

    /// Something of the server's arrives.
    fn arrive(&mut self, stream: Stream, act: Act) {
        match act {
            Act::Message(message) => self.frame(stream, message.to_string().as_bytes()),
            Act::Raw(bytes) => {
                for line in bytes.split(|byte| *byte == b'\n') {
                    if !line.iter().all(u8::is_ascii_whitespace) {
                        self.frame(stream, line);
                    }
                }
            }
            Act::End(end) => self.end(stream, end),
            Act::Close => {
                self.dead = true;
                self.agenda.clear();
                self.posted.clear();
                for stream in self.streams.keys().copied().collect::<Vec<_>>() {
                    self.end(Some(stream), End::Broken);
                }
            }
        }
    }

    fn frame(&mut self, stream: Stream, line: &[u8]) {
        let origin = match stream {
            None => Origin::Push,
            Some(stream) => match self.streams.get(&stream) {
                Some(open) => Origin::Exchange(open.handle),
                None => return,
            },
        };
        let text = String::from_utf8_lossy(&line[..line.len().min(240)]).escape_debug().to_string();
        self.note(format!("stream {stream:?} brings {text}"));
        let message: Option<Value> = serde_json::from_slice(line).ok();
        let limit = self.session.config().limits.max_message_bytes;
        let frame = if line.len() > limit {
            let id = message.as_ref().and_then(|message| message.get("id")).map(ToString::to_string);
            let id = id.and_then(|id| RawJson::parse_str(&id).ok());
            let id = id.as_ref().map(RawJson::view).and_then(|id: JsonRef<'_>| RequestId::parse(id).ok());
            let has_method = message.as_ref().is_some_and(|message| message.get("method").is_some());
            Frame::TooLong { id, has_method, len: line.len() as u64 }
        } else {
            Frame::Message(Bytes::copy_from_slice(line))
        };
        self.session.handle_message(origin, frame, self.now);
        let answers = message.is_some_and(|message| {
            message.get("method").is_none()
                && stream
                    .and_then(|stream| self.streams.get(&stream))
                    .is_some_and(|open| open.id.is_some() && open.id.as_ref() == message.get("id"))
        });
        if answers {
            self.end(stream, End::Finished);
        }
    }

    fn end(&mut self, stream: Stream, end: End) {
        let Some(open) = stream.and_then(|stream| self.streams.remove(&stream)) else { return };
        self.note(format!("stream {stream:?} ends: {end:?}"));
        let end = match end {
            End::Finished => ExchangeEnd::Finished,
            End::Broken => ExchangeEnd::Broken,
            End::Refused(status) => ExchangeEnd::Refused(HttpRefusal::new(status)),
            End::Challenged(status) => ExchangeEnd::Challenged(Challenge::new(status, None)),
        };
        self.session.handle_end(open.handle, end.clone(), self.now);
        if self.fidget {
            self.session.handle_end(open.handle, end, self.now);
            self.session.handle_sent(open.handle, self.now);
            self.session.handle_timeout(Instant::ZERO);
        }
    }

    fn stream_of(&self, exchange: ExchangeHandle) -> Stream {
        self.streams.iter().find(|(_, open)| open.handle == exchange).map(|(stream, _)| *stream)
    }

    fn take_events(&mut self) -> bool {
        let before = self.events.len();
        while let Some(event) = self.session.poll_event() {
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
        let posted = self.posted.iter().map(|(at, ..)| *at).min();
        let due = self.agenda.next().filter(|_| self.session.wants_input());
        [posted, due, self.session.poll_timeout()].into_iter().flatten().min()
    }

    /// The server forgets the session.
    pub fn forget_session(&mut self) {
        self.session.handle_closed(CloseReason::SessionGone, self.now);
        self.settle();
    }
}

impl ClientLink for ExchangeLink {
    fn now(&self) -> Instant {
        self.now
    }

    fn session(&self) -> &Session {
        &self.session
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
        self.sent.iter().flat_map(|exchange| exchange.message.to_vec()).collect()
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
        let request = self.session.request(method, params, options, self.now)?;
        self.ledger.accept(request);
        Ok(request)
    }

    fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        let request = self.session.resume(from, answers, options, self.now)?;
        self.ledger.accept(request);
        Ok(request)
    }

    fn notify(&mut self, method: Method, params: Option<RawJson>) -> Result<(), ApiError> {
        self.session.notify(method, params, self.now)
    }

    fn cancel(&mut self, request: RequestHandle, reason: Option<&str>) -> Result<(), ApiError> {
        self.session.cancel(request, reason, self.now)
    }

    fn answer(&mut self, peer: PeerRequestHandle, answer: &InputAnswer) -> Result<(), ApiError> {
        self.session.answer(peer, answer, self.now)
    }

    fn close(&mut self) {
        self.session.close(self.now);
    }
}
