//! What a client over HTTP has to do, told from the bytes of its connections alone.
//!
//! A request of ours is known by its number, which stands in its `_meta`, so that it is known again wherever it turns up.
//! Each call is over for the first reason there is, and must end with just that. Where what came is so strange that this
//! model does not judge it, the call is in doubt: it may end with what a peer can bring about, but with no result and no
//! error that nobody sent.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{Deadline, Event, Outcome, RequestHandle};
use sanswire::error::{CloseReason, Violation};
use sanswire::http::pool::ConnectionHandle;
use sanswire::mcp::Era;
use serde_json::Value;

use super::answers::{Answers, Piece};
use super::results::Meaning;
use super::web_exchange::{Asked, Content, Exchange, Kind, Role, request};

/// How a call has to end.
#[derive(Clone, Debug)]
pub(super) enum End {
    Complete(Value),
    Error(i64),
    /// The result asks for input, or makes a mess of it.
    Asks,
    Invalid,
    TooLarge,
    Refused(u16),
    Challenged(u16),
    SessionGone,
    TimedOut(Deadline, Duration),
    Cancelled,
    /// The application ended the session.
    Closed,
    Lost,
    /// What came on its connection is no HTTP.
    Faulty,
}

impl From<Meaning> for End {
    fn from(meaning: Meaning) -> Self {
        match meaning {
            Meaning::Complete(result) => Self::Complete(result),
            Meaning::Asks => Self::Asks,
            Meaning::Invalid => Self::Invalid,
        }
    }
}

/// A request of the application's.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) handle: RequestHandle,
    pub(super) method: &'static str,
    /// The ids that it bore on the wire, the newest last.
    pub(super) wire: Vec<u64>,
    idle: Option<(Duration, Instant)>,
    absolute: Option<(Duration, Instant)>,
    progress: f64,
    reports: Vec<f64>,
    pub(super) end: Option<End>,
    at_read: u64,
    pub(super) doubt: bool,
    /// It was to leave, and a connection failed: it may have been to carry this.
    pub(super) troubled: bool,
    pub(super) ended: bool,
    /// So often it may be sent: once, and once more for each answer that says where else, or when.
    pub(super) may_leave: usize,
    /// Where to go on behind, once its stream has ended.
    pub(super) last_id: Option<String>,
    /// Its stream has ended, and it goes on behind that place, or is lost.
    pub(super) waits: bool,
    /// However it ends, it has to end now.
    pub(super) due: bool,
}

impl Call {
    pub(super) fn open(&self) -> bool {
        self.end.is_none() && !self.ended
    }
}

/// One connection.
#[derive(Debug)]
struct Line {
    partial: Vec<u8>,
    answers: Answers,
    exchange: Exchange,
    wrote_at: Instant,
    head_since: Option<Instant>,
}

/// The model.
#[derive(Debug)]
pub(super) struct WebModel {
    pub(super) limit: usize,
    pub(super) depth: usize,
    pub(super) lenient: bool,
    most_reading: usize,
    timers: (Duration, Duration),
    max_head: usize,
    pub(super) calls: Vec<Call>,
    numbers: BTreeMap<u64, usize>,
    lines: BTreeMap<ConnectionHandle, Line>,
    reads: u64,
    /// Reads before everything was taken from the client last.
    drained: u64,
    offered: Vec<String>,
    /// The era and the revision that requests are sent in.
    pub(super) spoken: Option<(Era, String)>,
    /// The stream of the oldest transport is asked for, and named where to post.
    pub(super) looks_for_old: bool,
    pub(super) old: bool,
    /// Ids that answers to `initialize` gave to a session.
    sessions: BTreeSet<String>,
    /// Results and errors that came, by the id that they bore.
    pub(super) came: Vec<(Option<u64>, Result<Value, i64>)>,
    /// Messages that were too long came.
    pub(super) long: bool,
    /// Requests of the server's that were not answered, by id.
    pub(super) owed: BTreeMap<String, usize>,
    /// What was sent that is no call, and was pointed elsewhere.
    pub(super) moved_answers: usize,
    over: bool,
    local: bool,
    disputed: bool,
}

impl WebModel {
    pub(super) fn new(config: &sanswire::client::Config, http: &sanswire::http::h1::Limits) -> Self {
        let limits = &config.limits;
        Self {
            limit: limits.max_message_bytes,
            depth: usize::from(limits.max_json_depth),
            lenient: config.lenient_ids,
            most_reading: limits.max_queued_event_bytes + 2 * limits.max_message_bytes,
            timers: (http.head, http.stall),
            max_head: http.max_head_bytes,
            calls: Vec::new(),
            numbers: BTreeMap::new(),
            lines: BTreeMap::new(),
            reads: 0,
            drained: 0,
            offered: Vec::new(),
            spoken: None,
            looks_for_old: false,
            old: false,
            sessions: BTreeSet::new(),
            came: Vec::new(),
            long: false,
            owed: BTreeMap::new(),
            moved_answers: 0,
            over: false,
            local: false,
            disputed: false,
        }
    }

    /// A request was accepted; `limits`: how long it may bring nothing, and take in all.
    pub(super) fn accepted(
        &mut self,
        handle: RequestHandle,
        method: &'static str,
        number: u64,
        limits: Option<(Duration, Duration)>,
        now: Instant,
    ) {
        assert!(!self.over, "a request was accepted after the end");
        let timer = |limit: Duration| (limit, now.saturating_add(limit));
        self.numbers.insert(number, self.calls.len());
        self.calls.push(Call {
            handle,
            method,
            wire: Vec::new(),
            idle: limits.map(|(idle, _)| timer(idle)),
            absolute: limits.map(|(_, absolute)| timer(absolute)),
            progress: f64::NEG_INFINITY,
            reports: Vec::new(),
            end: None,
            at_read: 0,
            doubt: false,
            troubled: false,
            ended: false,
            may_leave: 1,
            last_id: None,
            waits: false,
            due: false,
        });
    }

    /// The application gave a request up; whether that was taken.
    pub(super) fn cancelled(&mut self, handle: RequestHandle, accepted: bool) {
        let over = self.over;
        let call = self.calls.iter_mut().find(|call| call.handle == handle).expect("a known call");
        let unsure = call.doubt || call.waits || call.troubled;
        assert!(!accepted || call.open() && !over || unsure, "what is over was cancelled: {call:?}");
        self.disputed |= !accepted && call.open() && !over && !unsure;
        if accepted {
            call.end = Some(End::Cancelled);
        }
    }

    /// The application ended the session.
    pub(super) fn closed_by_us(&mut self) {
        self.local = true;
        if !self.over {
            self.over = true;
            for call in self.calls.iter_mut().filter(|call| call.open()) {
                call.end = Some(End::Closed);
            }
        }
    }

    /// What the client told.
    pub(super) fn event(&mut self, event: &Event, now: Instant) {
        match event {
            Event::Ready(peer) => {
                let revision = peer.revision.as_str().to_owned();
                assert!(self.offered.contains(&revision), "{revision} was never offered: {:?}", self.offered);
            }
            Event::Finished { request, outcome } => self.finished(*request, outcome, now),
            Event::Progress { request, progress } => {
                let call = self.calls.iter_mut().find(|call| call.handle == *request).expect("a known call");
                assert!(!call.ended, "progress of a call that is over");
                let next = (!call.reports.is_empty()).then(|| call.reports.remove(0));
                assert!(next == Some(progress.progress) || call.doubt, "progress {progress:?}, not {next:?}");
            }
            Event::Closed(reason) => {
                assert!(self.local || *reason != CloseReason::Local, "nobody closed it");
                self.over = true;
                self.disputed = false;
                let open: Vec<_> = self.calls.iter().filter(|call| !call.ended).collect();
                assert!(open.is_empty(), "rule 1: closed, and these never ended: {open:?}");
            }
            _ => {}
        }
    }

    fn finished(&mut self, request: RequestHandle, outcome: &Outcome, now: Instant) {
        let place = self.calls.iter().position(|call| call.handle == request);
        let place = place.unwrap_or_else(|| panic!("rule 1: {request:?} ended and was never accepted"));
        assert!(!self.calls[place].ended, "rule 1: {request:?} ended twice, now with {outcome:?}");
        // Which call it is for cannot be seen before all of the request has left.
        let unseen = self.calls[place].wire.is_empty();
        let is_its = |exchange: &Exchange| exchange.is_of(place) || unseen && exchange.role == Role::Begun;
        let in_head = self.lines.values().any(|line| is_its(&line.exchange) && line.answers.in_head());
        let evident = self.is_evident(&self.calls[place], outcome);
        let holds_much = self.reading() > self.most_reading;
        let drained = self.drained;
        let call = &mut self.calls[place];
        call.ended = true;
        let fits = match (&call.end, outcome) {
            (Some(End::Complete(value)), Outcome::Complete(result)) => read(result.as_bytes()) == *value,
            (Some(End::Error(code)), Outcome::Error(error)) => error.code == *code,
            (Some(End::Asks), Outcome::InputRequired(_) | Outcome::Invalid(_))
            | (Some(End::Invalid), Outcome::Invalid(_))
            | (Some(End::Faulty), Outcome::Invalid(Violation::Http(_)) | Outcome::Lost { .. })
            | (Some(End::Cancelled | End::Closed), Outcome::Cancelled)
            | (Some(End::SessionGone), Outcome::SessionGone { .. })
            | (Some(End::Lost), Outcome::Lost { .. }) => true,
            (Some(End::TooLarge), Outcome::TooLarge { len, limit }) => *len > *limit as u64,
            (Some(End::Refused(status)), Outcome::Refused(refusal)) => refusal.status == *status,
            (Some(End::Challenged(status)), Outcome::Challenged(challenge)) => challenge.status == *status,
            (Some(End::TimedOut(which, limit)), Outcome::TimedOut { which: told, limit: of, .. }) => {
                which == told && limit == of
            }
            (None, Outcome::Invalid(Violation::Http(_))) if in_head => true,
            (None, Outcome::TooLarge { .. }) => holds_much,
            // Nothing more came of its stream, or of any, before it was taken; or what came was no HTTP.
            (
                None | Some(End::TimedOut(..) | End::Closed),
                Outcome::Lost { .. } | Outcome::Invalid(Violation::Http(_)),
            ) if call.waits || call.troubled => true,
            // The session ended, for a reason of the peer's: the last event has to say so.
            (None, Outcome::Lost { .. } | Outcome::SessionGone { .. }) => {
                self.disputed |= !call.doubt;
                true
            }
            (Some(End::TimedOut(..) | End::Closed), Outcome::Lost { .. } | Outcome::SessionGone { .. }) => {
                self.disputed |= !call.doubt;
                true
            }
            (Some(_), Outcome::Lost { .. } | Outcome::SessionGone { .. }) if call.at_read > drained => {
                self.disputed = true;
                true
            }
            _ => false,
        };
        if let Outcome::Lost { maybe_ran: false } = outcome {
            // One that was refused for how it was asked, or pointed elsewhere, did not run.
            let refused = call.may_leave > 0;
            assert!(call.wire.is_empty() || refused, "it was sent, and is said not to have run: {call:?}");
        }
        let call = &self.calls[place];
        let fits = fits || call.doubt && evident;
        assert!(fits, "at {now:?} it ended with {outcome:?}, which cannot be: {call:?}");
    }

    /// Whether the peer can have brought this about.
    fn is_evident(&self, call: &Call, outcome: &Outcome) -> bool {
        let own = |id: &Option<u64>| id.is_none_or(|id| call.wire.is_empty() || call.wire.contains(&id));
        match outcome {
            Outcome::Complete(result) => {
                let result = read(result.as_bytes());
                self.came.iter().any(|(id, came)| own(id) && *came == Ok(result.clone()))
            }
            Outcome::Error(error) => self.came.iter().any(|(_, came)| *came == Err(error.code)),
            Outcome::TooLarge { .. } => self.long,
            // It may have been open still when the application ended the session.
            Outcome::Cancelled => self.local,
            _ => true,
        }
    }

    /// Everything was taken from the client.
    pub(super) fn check_drained(&mut self, closed: bool) {
        assert!(closed || !self.disputed, "rule 1: a call was lost, and the session goes on");
        let due = |call: &&Call| !call.ended && (call.end.is_some() && !call.doubt || call.due);
        if let Some(call) = self.calls.iter().find(due) {
            panic!("rule 1: this call is over and was not told: {call:?}");
        }
        self.drained = self.reads;
    }

    /// Calls that have not ended.
    pub(super) fn open(&self) -> usize {
        self.calls.iter().filter(|call| !call.ended).count()
    }

    /// A call is over.
    pub(super) fn end(&mut self, place: usize, end: End) {
        let reads = self.reads;
        let call = &mut self.calls[place];
        if call.open() {
            call.end = Some(end);
            call.at_read = reads;
        }
    }

    pub(super) fn modern(&self) -> bool {
        self.spoken.as_ref().is_some_and(|(era, _)| *era == Era::Modern)
    }

    /// Whether an answer may be gone on with where its stream ended.
    pub(super) fn resumes(&self) -> bool {
        self.spoken.as_ref().is_some_and(|(era, revision)| *era == Era::Legacy && revision != "2024-11-05")
    }

    /// What answers hold that are not whole, as far as it can be seen.
    fn reading(&self) -> usize {
        self.lines.values().map(|line| 4096 + 2 * line.exchange.held()).sum()
    }

    /// Something became of a connection, and what it was to carry cannot be seen.
    fn trouble(&mut self) {
        for call in self.calls.iter_mut().filter(|call| call.may_leave > 0 && call.open()) {
            call.troubled = true;
        }
    }

    pub(super) fn connected(&mut self, connection: ConnectionHandle, now: Instant) {
        let line = Line {
            partial: Vec::new(),
            answers: Answers::new(self.max_head),
            exchange: Exchange::none(),
            wrote_at: now,
            head_since: None,
        };
        self.lines.insert(connection, line);
    }

    pub(super) fn connect_failed(&mut self) {
        self.trouble();
    }

    /// Whether an answer is open on a connection.
    pub(super) fn carries(&self, connection: ConnectionHandle) -> bool {
        self.lines.get(&connection).is_some_and(|line| line.answers.is_open())
    }

    /// The client wants nothing more of a connection.
    pub(super) fn dropped(&mut self, connection: ConnectionHandle) {
        let Some(line) = self.lines.remove(&connection) else { return };
        if line.answers.in_head() {
            // It saw in a part of the head what this model sees once that is whole.
            self.exchange_over(&line.exchange, End::Faulty);
        }
    }

    /// These bytes left.
    pub(super) fn wrote(&mut self, connection: ConnectionHandle, bytes: &[u8], now: Instant) {
        let line = self.lines.get_mut(&connection).expect("a connection that is there");
        line.wrote_at = now;
        if line.partial.is_empty() {
            line.answers.asked();
            line.exchange = Exchange::begun();
        }
        line.partial.extend_from_slice(bytes);
        let Some((asked, len)) = request(&line.partial) else { return };
        assert_eq!(len, line.partial.len(), "more than one request at a time");
        line.partial.clear();
        asked.check(&self.sessions, self.limit);
        let role = self.role(&asked);
        if let Some(line) = self.lines.get_mut(&connection) {
            line.exchange.is_whole(role, &asked);
        }
    }

    /// What a request is for.
    fn role(&mut self, asked: &Asked) -> Role {
        let message = &asked.message;
        if let Some(spoken) = asked.speaks() {
            self.spoken = Some(spoken);
        }
        match asked.verb.as_str() {
            "DELETE" => return Role::Other,
            "GET" => {
                let Some(last) = &asked.last_event else {
                    // Nobody listens before there is a session, but for the oldest transport.
                    self.looks_for_old |= self.spoken.is_none() && self.offered.is_empty();
                    return Role::Stream;
                };
                let waits = |call: &Call| call.waits && call.last_id.as_ref() == Some(last);
                let of: Vec<usize> =
                    (0..self.calls.len()).filter(|place| waits(&self.calls[*place])).collect();
                return match of[..] {
                    [] => Role::Stream,
                    [one] => {
                        self.calls[one].waits = false;
                        Role::Resume(one)
                    }
                    // Which one it is cannot be seen.
                    _ => {
                        for place in of {
                            self.calls[place].doubt = true;
                        }
                        Role::Stream
                    }
                };
            }
            _ => {}
        }
        let (id, method) = (message["id"].as_u64(), message["method"].as_str());
        match (id, method) {
            (Some(_), Some("initialize")) => Role::Opening(true),
            (Some(_), Some("server/discover")) => Role::Opening(false),
            (Some(id), Some(method)) => {
                let number = message["params"]["_meta"]["x/k"].as_u64();
                let Some(place) = number.and_then(|number| self.numbers.get(&number)).copied() else {
                    // A list of tools that is read anew before a call is repeated.
                    assert_eq!(method, "tools/list", "nobody asked for this: {message}");
                    return Role::Other;
                };
                let call = &mut self.calls[place];
                assert_eq!(method, call.method, "{message}");
                call.may_leave = call.may_leave.checked_sub(1).unwrap_or_else(|| {
                    panic!("it was sent before, and nothing says that it may be sent again: {call:?}")
                });
                call.wire.push(id);
                // On a connection of its own it can fail for nobody else's reason.
                call.troubled = false;
                Role::Call(place)
            }
            (Some(_), None) => {
                assert!(!self.modern(), "a modern client answers nothing: {message}");
                let owed = self.owed.get_mut(&message["id"].to_string());
                let owed = owed.unwrap_or_else(|| panic!("an answer to what was not asked: {message}"));
                // One that was pointed elsewhere is sent there.
                if *owed == 0 && self.moved_answers > 0 {
                    (*owed, self.moved_answers) = (1, self.moved_answers - 1);
                }
                *owed = owed.checked_sub(1).unwrap_or_else(|| panic!("answered twice: {message}"));
                Role::Other
            }
            (None, Some("notifications/cancelled")) => {
                let id = message["params"]["requestId"].as_u64().expect("a number");
                let given_up =
                    |call: &Call| matches!(call.end, Some(End::Cancelled | End::Closed | End::TimedOut(..)));
                let known = self.calls.iter().find(|call| call.wire.contains(&id));
                // Part of its request may have left.
                let unknown = || self.calls.iter().any(|call| call.wire.is_empty() && given_up(call));
                let over = known.map_or_else(unknown, |call| given_up(call) || call.doubt);
                assert!(over, "{message} is about a call that was not given up: {known:?}");
                Role::Other
            }
            (None, Some(_)) => Role::Other,
            // An answer to a request whose id is text, or none.
            (None, None) => Role::Other,
        }
    }

    /// These bytes arrived.
    pub(super) fn read(&mut self, connection: ConnectionHandle, bytes: &[u8], now: Instant) {
        self.reads += 1;
        let Some(line) = self.lines.get_mut(&connection) else { return };
        let pieces = line.answers.read(bytes);
        let line = &mut self.lines.get_mut(&connection).expect("it is there");
        line.head_since = line.answers.in_head().then(|| line.head_since.unwrap_or(now));
        for piece in pieces {
            self.piece(connection, piece, now);
        }
    }

    fn piece(&mut self, connection: ConnectionHandle, piece: Piece, now: Instant) {
        let Some(line) = self.lines.get_mut(&connection) else { return };
        let mut exchange = std::mem::replace(&mut line.exchange, Exchange::none());
        if !line.partial.is_empty() {
            // It answers what it has not read: which call that is cannot be seen.
            for call in self.calls.iter_mut().filter(|call| call.wire.is_empty() && call.open()) {
                call.doubt = true;
            }
        }
        match piece {
            Piece::Head(status, fields) => self.head(&mut exchange, status, &fields),
            Piece::Body(bytes) => self.body(&mut exchange, &bytes, now),
            Piece::End => self.whole(&mut exchange, now),
            Piece::Fault => self.exchange_over(&exchange, End::Faulty),
        }
        let is_over = matches!(exchange.kind, Kind::Over);
        if let Some(line) = self.lines.get_mut(&connection) {
            line.exchange = if is_over { Exchange::none() } else { exchange };
        }
    }

    /// The connection is over with what it carries.
    pub(super) fn ended(&mut self, connection: ConnectionHandle, broken: bool, now: Instant) {
        self.reads += 1;
        let Some(line) = self.lines.get_mut(&connection) else { return };
        if let Some(piece) = line.answers.ended(broken) {
            self.piece(connection, piece, now);
        }
        let Some(line) = self.lines.remove(&connection) else { return };
        self.exchange_over(&line.exchange, End::Lost);
        // What was to leave on it is lost as well, or leaves on another.
        self.trouble();
    }

    /// The peer reads nothing more of it.
    pub(super) fn unread(&mut self, connection: ConnectionHandle) {
        self.reads += 1;
        let Some(line) = self.lines.get_mut(&connection) else { return };
        // What has begun to leave may still be answered.
        if !line.answers.is_open() {
            self.lines.remove(&connection);
        }
        self.trouble();
    }

    /// An exchange is over without the end of its answer.
    fn exchange_over(&mut self, exchange: &Exchange, end: End) {
        match exchange.role {
            Role::Begun => self.trouble(),
            Role::Call(place) | Role::Resume(place) => match &exchange.kind {
                Kind::Whole(status @ 300..) => self.end(place, End::Refused(*status)),
                Kind::Challenge(status) => self.end(place, End::Challenged(*status)),
                Kind::Events(_) => self.stream_ended(place, end),
                Kind::None if matches!(exchange.role, Role::Resume(_)) => self.calls[place].waits = true,
                Kind::Whole(_) | Kind::None => self.end(place, end),
                Kind::Pass | Kind::Over => {}
            },
            Role::Stream | Role::Other | Role::Opening(_) => {}
        }
    }

    /// The stream of an answer ended before the answer was there.
    pub(super) fn stream_ended(&mut self, place: usize, end: End) {
        let resumes = self.resumes();
        let call = &mut self.calls[place];
        match &call.last_id {
            Some(_) if resumes && call.open() => call.waits = true,
            _ => self.end(place, end),
        }
    }

    /// A revision that the server knows.
    pub(super) fn offers(&mut self, result: &Value) {
        self.offered.extend(result["protocolVersion"].as_str().map(str::to_owned));
        let versions = result["supportedVersions"].as_array().into_iter().flatten();
        self.offered.extend(versions.filter_map(Value::as_str).map(str::to_owned));
    }

    pub(super) fn gives_session(&mut self, id: &str) {
        self.sessions.insert(id.to_owned());
    }

    /// A report on the progress of a call.
    pub(super) fn progress(&mut self, params: &Value, now: Instant) {
        let Some(token) = params["progressToken"].as_u64() else { return };
        let Some(progress) = params["progress"].as_f64() else { return };
        let call = self.calls.iter_mut().find(|call| call.wire.last() == Some(&token));
        if let Some(call) = call.filter(|call| call.open() && progress > call.progress) {
            call.progress = progress;
            call.idle = call.idle.map(|(limit, _)| (limit, now.saturating_add(limit)));
            call.reports.push(progress);
        }
    }

    /// The client is told the time.
    pub(super) fn time(&mut self, now: Instant) {
        let (head, stall) = self.timers;
        let past = |since: Instant, limit: Duration| since.saturating_add(limit) <= now;
        let stuck = |line: &Line| !line.partial.is_empty() && past(line.wrote_at, stall);
        if self.lines.values().any(stuck) {
            self.trouble();
        }
        // Whether anything waits to be written on a connection cannot be seen.
        for call in self.calls.iter_mut().filter(|call| call.may_leave > 0) {
            call.troubled |= self.lines.values().any(|line| past(line.wrote_at, stall));
        }
        let slow: Vec<ConnectionHandle> = self
            .lines
            .iter()
            .filter(|(_, line)| line.head_since.is_some_and(|since| past(since, head)))
            .map(|(connection, _)| *connection)
            .collect();
        // The calls' own deadlines come first.
        if !self.over {
            for call in self.calls.iter_mut().filter(|call| call.open()) {
                let over = |timer: Option<(Duration, Instant)>| timer.filter(|(_, at)| *at <= now);
                if let Some((limit, _)) = over(call.absolute) {
                    call.end = Some(End::TimedOut(Deadline::Absolute, limit));
                } else if let Some((limit, _)) = over(call.idle) {
                    call.end = Some(End::TimedOut(Deadline::Idle, limit));
                }
            }
        }
        for connection in slow {
            if let Some(line) = self.lines.remove(&connection) {
                self.exchange_over(&line.exchange, End::Faulty);
            }
        }
    }
}

/// JSON of the client's.
pub(super) fn read(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

impl Exchange {
    fn held(&self) -> usize {
        match &self.kind {
            Kind::Events(events) => events.held(),
            _ => self.content.0.len(),
        }
    }
}

impl Content {
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}
