//! A client that looks for the era of a server, which answers whatever a server could: modern, legacy, both, neither, late,
//! twice, or not at all. A process that ended before it was ready is followed by the next one, as the client advises.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use sanswire::client::{
    Config, Event, LineConnection, Link as _, RequestHandle, RequestOptions, Start, Verdict, era::next_start,
};
use sanswire::error::CloseReason;
use sanswire::mcp::{Era, Method, Revision};
use sanswire::{Instant, Machine as _};
use serde_json::Value;

use super::{Rule, Rules, World};

mod answers;

pub use answers::Answer;
use answers::{NEW, TO_CALL, TO_DISCOVER, TO_INITIALIZE, written};

/// Something that may happen.
#[derive(Clone, Debug)]
pub enum Step {
    /// The server answers the request of this id.
    Answer(u64, Answer),
    /// The server ends.
    Eof,
    /// The server reads no more.
    WriteClosed,
    /// The next deadline comes.
    Deadline,
    /// Half of the time until then passes.
    Half,
    /// The application asks for tools.
    Ask,
    /// The application gives its oldest request up.
    Cancel,
}

/// A way to the end.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// The server says nothing more.
    Mute,
    /// The application closes, and the server reads.
    Close,
    /// The application closes, and the server reads nothing.
    CloseUnread,
    /// The server ends.
    Eof,
}

/// What was noted of one process.
#[derive(Clone, Debug, Default)]
struct Notes {
    /// Requests of the client's, by wire id: what they are, and how often they were answered.
    requests: BTreeMap<u64, (String, u32)>,
    discovers: u32,
    handshakes: u32,
    /// A modern version was named to the probe.
    modern: bool,
    /// The probe was refused as only a modern server can, before there was a handshake.
    refused_as_modern: bool,
    /// The probe was answered with versions of which none was acceptable, or by a modern code.
    other: bool,
    /// A handshake was answered with this version.
    shaken: Option<&'static str>,
    ready: Option<Era>,
    closed: Option<CloseReason>,
    ended: bool,
    unread: bool,
}

/// A client, its server, and what was noted.
pub struct Search {
    start: Start,
    first: Start,
    attempt: u32,
    machine: LineConnection,
    began: Instant,
    now: Instant,
    notes: Notes,
    /// How often each request that was accepted has ended.
    asked: BTreeMap<RequestHandle, u32>,
    pending: Vec<u8>,
}

fn config(start: &Start) -> Config {
    let mut config = Config::new("explorer", "1");
    config.start = start.clone();
    config.limits.max_message_bytes = 4096;
    config
}

fn connect(start: &Start, now: Instant) -> LineConnection {
    LineConnection::new(config(start), [0; 32], now).expect("a good configuration")
}

/// Whether a version is known, and of that era.
fn is(version: &str, era: Era) -> bool {
    Revision::from_date(version).is_some_and(|revision| revision.era() == era)
}

impl Search {
    fn limit(&self) -> Duration {
        config(&self.start).limits.connect
    }

    /// Takes out everything that there is.
    fn drain(&mut self, reads: bool, rules: &mut Rules) {
        loop {
            self.pending.extend_from_slice(self.machine.transmit());
            let len = self.machine.transmit().len();
            if reads && len > 0 {
                self.machine.handle_written(len, self.now);
            }
            let lines = core::mem::take(&mut self.pending);
            if reads {
                for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                    self.sent(line, rules);
                }
            }
            let mut told = false;
            while let Some(event) = self.machine.poll_event() {
                told = true;
                self.told(event, rules);
            }
            if !told && (!reads || self.machine.transmit().is_empty()) {
                break;
            }
        }
        let due = self.machine.poll_timeout();
        rules.hold(Rule::EraNoSpin, due.is_none_or(|due| due > self.now), || {
            format!("due {due:?} at {:?}", self.now)
        });
    }

    /// The client sent a message.
    fn sent(&mut self, line: &[u8], rules: &mut Rules) {
        let message: Value = serde_json::from_slice(line).expect("what a client writes is JSON");
        let text = || message.to_string();
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let modern = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
        let legacy = matches!(method.as_str(), "initialize" | "notifications/initialized");
        let notes = &mut self.notes;
        let open = notes.requests.values().any(|(asked, answers)| asked == "initialize" && *answers == 0);
        if open && notes.ready.is_none() {
            rules.hold(Rule::EraHandshakeAlone, false, text);
        } else {
            rules.hold(Rule::EraHandshakeAlone, true, text);
        }
        match (notes.ready, notes.shaken.filter(|version| is(version, Era::Legacy))) {
            (Some(Era::Modern), _) => {
                let request = message["id"].is_u64();
                rules.hold(Rule::EraNotBoth, !legacy && (modern || !request), text);
            }
            (Some(Era::Legacy), _) | (None, Some(_)) => rules.hold(Rule::EraNotBoth, !modern, text),
            (None, None) => {}
        }
        let asks = [u32::from(method == "server/discover"), u32::from(method == "initialize")];
        notes.discovers += asks[0];
        notes.handshakes += asks[1];
        let within = notes.discovers <= 2 && notes.handshakes <= 1;
        rules.hold(Rule::EraTries, within, || format!("{notes:?}"));
        if legacy {
            rules.hold(Rule::EraModernRefusal, !notes.refused_as_modern, text);
        }
        if let Start::Pinned(revision) = self.start {
            let fits = match revision.era() {
                Era::Modern => !legacy,
                Era::Legacy => !modern,
            };
            let offered = method != "initialize" || message["params"]["protocolVersion"] == revision.as_str();
            rules.hold(Rule::EraPinned, fits && offered, text);
        }
        if let Some(id) = message["id"].as_u64().filter(|_| !method.is_empty()) {
            let fresh = notes.requests.insert(id, (method, 0)).is_none();
            assert!(fresh, "an id is used twice: {message}");
        }
    }

    /// The client told something.
    fn told(&mut self, event: Event, rules: &mut Rules) {
        let notes = &mut self.notes;
        rules.hold(Rule::EraClosedLast, notes.closed.is_none(), || format!("{event:?} after the end"));
        match event {
            Event::Ready(peer) => {
                rules.hold(Rule::EraReadyOnce, notes.ready.is_none(), || format!("{peer:?}"));
                notes.ready = Some(peer.era);
                let revision = peer.revision.as_str();
                let proved = match peer.era {
                    Era::Modern => notes.modern && revision == NEW,
                    Era::Legacy => notes.shaken == Some(revision),
                };
                rules.hold(Rule::EraProved, proved, || format!("{revision} although {notes:?}"));
                if let Start::Pinned(pinned) = self.start {
                    rules.hold(Rule::EraPinned, peer.revision == pinned, || revision.to_owned());
                }
            }
            Event::Verdict(verdict) => {
                let shown = match verdict {
                    Verdict::Modern => notes.modern,
                    Verdict::Legacy => notes.shaken.is_some_and(|version| is(version, Era::Legacy)),
                    // A probe that could not leave counts as one that did: it is not known what was read of it.
                    Verdict::Died => {
                        notes.ended && (notes.discovers > 0 || notes.unread) && notes.ready.is_none()
                    }
                    Verdict::ModernOther => notes.other,
                    _ => false,
                };
                rules.hold(Rule::EraVerdict, shown, || format!("{verdict:?} although {notes:?}"));
            }
            Event::Finished { request, outcome } => {
                let times = self.asked.get_mut(&request).map(|times| {
                    *times += 1;
                    *times
                });
                rules.hold(Rule::EraOutcomes, times == Some(1), || format!("{request:?} ends {outcome:?}"));
            }
            Event::Closed(reason) => notes.closed = Some(reason),
            _ => {}
        }
    }

    /// If the process ended before it was ready, the next one.
    fn go_on(&mut self, rules: &mut Rules) {
        while let Some(reason) = self.notes.closed.clone().filter(|_| self.notes.ready.is_none()) {
            let Some(next) = next_start(&reason, &self.start, self.attempt) else { return };
            self.attempt += 1;
            rules.hold(Rule::EraTries, self.attempt < 2, || format!("attempt {}", self.attempt));
            if self.attempt >= 2 {
                return;
            }
            let pinned = matches!(self.start, Start::Pinned(_)).then(|| self.start.clone());
            rules.hold(Rule::EraPinned, pinned.is_none_or(|pinned| pinned == next), || format!("{next:?}"));
            self.start = next;
            self.machine = connect(&self.start, self.now);
            self.began = self.now;
            self.notes = Notes::default();
            self.drain(true, rules);
        }
    }

    fn answer(&mut self, id: u64, answer: Answer) {
        let notes = &mut self.notes;
        let shaking = notes.handshakes > 0;
        if let Some((method, times)) = notes.requests.get_mut(&id) {
            *times += 1;
            match (method.as_str(), answer) {
                ("server/discover", Answer::Speaks(versions)) => {
                    notes.modern |= versions.iter().any(|version| is(version, Era::Modern));
                    notes.other |= !versions.iter().any(|version| is(version, Era::Modern));
                }
                ("server/discover", Answer::Supports(versions)) => {
                    notes.other = true;
                    let hopeless = !versions.iter().any(|version| is(version, Era::Legacy));
                    let again = versions.iter().any(|version| is(version, Era::Modern));
                    notes.refused_as_modern |= hopeless && !again && !shaking;
                }
                ("server/discover", Answer::Error(-32020)) => {
                    notes.other = true;
                    notes.refused_as_modern |= !shaking;
                }
                ("initialize", Answer::Shakes(version)) => notes.shaken = Some(version),
                _ => {}
            }
        }
        let line = written(answer, id);
        let mut rest = line.as_bytes();
        while !rest.is_empty() && self.machine.wants_read() {
            let taken = self.machine.handle_input(rest, self.now);
            rest = &rest[taken..];
        }
    }

    fn deadline(&mut self) -> bool {
        // One that does not lie ahead would come for ever.
        let Some(due) = self.machine.poll_timeout().filter(|due| *due > self.now) else { return false };
        self.now = due;
        self.machine.handle_timeout(due);
        true
    }

    fn over(&self) -> bool {
        self.notes.closed.is_some()
    }
}

impl World for Search {
    type Setup = Start;
    type Step = Step;
    type End = End;

    fn setups() -> Vec<Start> {
        vec![
            Start::Unknown,
            Start::Remembered(Verdict::Modern),
            Start::Remembered(Verdict::Legacy),
            Start::Remembered(Verdict::Died),
            Start::Remembered(Verdict::ModernOther),
            Start::Pinned(Revision::NEWEST_MODERN),
            Start::Pinned(Revision::NEWEST_LEGACY),
        ]
    }

    fn new(setup: &Start, rules: &mut Rules) -> Self {
        let now = Instant::from_millis(1000);
        let mut this = Self {
            start: setup.clone(),
            first: setup.clone(),
            attempt: 0,
            machine: connect(setup, now),
            began: now,
            now,
            notes: Notes::default(),
            asked: BTreeMap::new(),
            pending: Vec::new(),
        };
        this.drain(true, rules);
        this
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.over() {
            return steps;
        }
        for (id, (method, times)) in &self.notes.requests {
            let answers = match (method.as_str(), times) {
                ("server/discover", 0) => TO_DISCOVER,
                ("initialize", 0) => TO_INITIALIZE,
                (_, 0) => TO_CALL,
                // Once more, when it was answered.
                ("server/discover", 1) => &TO_DISCOVER[..1],
                ("initialize", 1) => &TO_INITIALIZE[..1],
                _ => &[],
            };
            if !self.notes.ended {
                steps.extend(answers.iter().map(|answer| Step::Answer(*id, *answer)));
            }
        }
        if !self.notes.ended {
            steps.push(Step::Eof);
        }
        if !self.notes.unread {
            steps.push(Step::WriteClosed);
        }
        if self.machine.poll_timeout().is_some() {
            steps.push(Step::Deadline);
            // Before that, a probe may be answered or not.
            let probing = self.notes.ready.is_none() && self.notes.handshakes == 0;
            steps.extend(probing.then_some(Step::Half));
        }
        if self.notes.ready.is_some() && self.asked.len() < 2 {
            steps.push(Step::Ask);
        }
        if self.asked.values().any(|times| *times == 0) {
            steps.push(Step::Cancel);
        }
        steps
    }

    fn take(&mut self, step: &Step, rules: &mut Rules) {
        match step {
            Step::Answer(id, answer) => self.answer(*id, *answer),
            Step::Eof => {
                self.notes.ended = true;
                self.machine.handle_eof(self.now);
            }
            Step::WriteClosed => {
                self.notes.unread = true;
                self.machine.handle_write_closed(self.now);
            }
            Step::Deadline => drop(self.deadline()),
            Step::Half => {
                if let Some(due) = self.machine.poll_timeout() {
                    self.now = self.now.saturating_add(due.saturating_since(self.now) / 2);
                    self.machine.handle_timeout(self.now);
                }
            }
            Step::Ask => {
                let asked =
                    self.machine.request(Method::ToolsList, None, &RequestOptions::default(), self.now);
                if let Ok(request) = asked {
                    self.asked.insert(request, 0);
                }
            }
            Step::Cancel => {
                if let Some((request, _)) = self.asked.iter().find(|(_, times)| **times == 0) {
                    let _ = self.machine.cancel(*request, None, self.now);
                }
            }
        }
        self.drain(true, rules);
        self.go_on(rules);
    }

    fn tell(&self, into: &mut dyn fmt::Write) -> fmt::Result {
        let Self { start, first, attempt, machine, began, now, notes, asked, .. } = self;
        write!(into, "{first:?} {start:?} {attempt} {began:?} {now:?} {notes:?} {asked:?} {machine:?}")
    }

    fn ends(&self) -> Vec<End> {
        if self.over() { vec![] } else { vec![End::Mute, End::Close, End::CloseUnread, End::Eof] }
    }

    fn end(mut self, end: End, rules: &mut Rules) {
        let began = self.now;
        let rule = match end {
            End::Mute => {
                let mut late = false;
                while !self.over() && self.notes.ready.is_none() && self.deadline() {
                    // A second process has as long as the first.
                    late |= self.now.saturating_since(self.began) > self.limit();
                    self.drain(true, rules);
                    self.go_on(rules);
                }
                let done = self.over() || self.notes.ready.is_some();
                rules.hold(Rule::EraMuteEnds, done && !late, || format!("{:?}", self.notes));
                if self.over() {
                    return self.finished(rules);
                }
                while self.asked.values().any(|times| *times == 0) && self.deadline() {
                    self.drain(true, rules);
                }
                return self.finished(rules);
            }
            End::Close | End::CloseUnread => {
                let reads = matches!(end, End::Close);
                self.machine.close(self.now);
                self.drain(reads, rules);
                while !self.over() && self.deadline() {
                    self.drain(reads, rules);
                }
                let patience = if reads { Duration::ZERO } else { config(&self.start).limits.close_flush };
                let late = self.now.saturating_since(began) > patience;
                rules.hold(Rule::EraCloseEnds, !late, || format!("{:?} late", self.now));
                rules.hold(Rule::EraCloseEnds, self.notes.closed == Some(CloseReason::Local), || {
                    format!("{:?}", self.notes)
                });
                Rule::EraCloseEnds
            }
            End::Eof => {
                self.notes.ended = true;
                self.machine.handle_eof(self.now);
                self.drain(true, rules);
                Rule::EraEofEnds
            }
        };
        rules.hold(rule, self.over(), || format!("{:?}", self.notes));
        rules.hold(rule, self.machine.poll_timeout().is_none(), || "it still waits".to_owned());
        self.finished(rules);
    }
}

impl Search {
    fn finished(mut self, rules: &mut Rules) {
        if self.over() {
            // What is late brings nothing more.
            self.machine.handle_eof(self.now);
            self.machine.handle_timeout(self.now);
            self.machine.close(self.now);
            self.drain(true, rules);
        }
        let all = self.asked.values().all(|times| *times == 1);
        rules.hold(Rule::EraOutcomes, all, || format!("{:?}", self.asked));
    }
}
