//! What a client has to do, told from the bytes alone: a plain model that reads both directions with `serde_json` and
//! shares no code with the client.
//!
//! Each call is over for the first reason that there is, and must end with just that. Where a line is so strange that the
//! model does not judge it, the calls that it may mean are in doubt, and may end with whatever a peer can bring about.

use std::collections::BTreeMap;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{Deadline, Event, Outcome, Peer, RequestHandle};
use sanswire::error::CloseReason;
use sanswire::mcp::Era;
use serde_json::Value;

use super::end::Watch;
use super::results::{Meaning, depth, meaning};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// How a call has to end.
#[derive(Clone, Debug)]
enum End {
    Complete(Value),
    Error(i64),
    /// The result asks for input, or makes a mess of it.
    Asks,
    Invalid,
    TooLarge(u64),
    TimedOut(Deadline, Duration),
    Cancelled,
    /// The application ended the connection.
    Closed,
    Lost,
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

#[derive(Debug)]
struct Call {
    handle: RequestHandle,
    method: &'static str,
    /// Its id, once it was seen on the wire.
    wire: Option<u64>,
    idle: Option<(Duration, Instant)>,
    absolute: Option<(Duration, Instant)>,
    progress: f64,
    reports: Vec<f64>,
    end: Option<End>,
    /// The read that `end` came with.
    at_read: u64,
    doubt: bool,
    ended: bool,
    notice_owed: bool,
}

impl Call {
    fn open(&self) -> bool {
        self.end.is_none() && !self.ended
    }
}

/// The model.
#[derive(Debug)]
pub(super) struct ClientModel {
    limit: usize,
    depth: usize,
    lenient: bool,
    pinned: Option<Era>,
    calls: Vec<Call>,
    /// The first call that was not seen on the wire.
    unwritten: usize,
    partial_in: Vec<u8>,
    partial_out: Vec<u8>,
    reads: u64,
    /// Openings on the wire that were not answered: id, and whether it is `initialize`.
    openings: Vec<(u64, bool)>,
    /// Revisions that the server named in answer to an opening.
    offered: Vec<String>,
    ready: Option<(Era, String)>,
    batches: bool,
    spoken: Option<Era>,
    initialized: bool,
    /// Requests of the server's that were not answered, by id.
    owed: BTreeMap<String, usize>,
    over: bool,
    local: bool,
    disputed: bool,
    pub(super) lines: u64,
}

impl ClientModel {
    pub(super) fn new(config: &sanswire::client::Config) -> Self {
        let pinned = match &config.start {
            sanswire::client::Start::Pinned(revision) => Some(revision.era()),
            _ => None,
        };
        Self {
            limit: config.limits.max_message_bytes,
            depth: usize::from(config.limits.max_json_depth),
            lenient: config.lenient_ids,
            pinned,
            calls: Vec::new(),
            unwritten: 0,
            partial_in: Vec::new(),
            partial_out: Vec::new(),
            reads: 0,
            openings: Vec::new(),
            offered: Vec::new(),
            ready: None,
            batches: false,
            spoken: None,
            initialized: false,
            owed: BTreeMap::new(),
            over: false,
            local: false,
            disputed: false,
            lines: 0,
        }
    }

    /// A request was accepted.
    pub(super) fn accepted(
        &mut self,
        handle: RequestHandle,
        method: &'static str,
        limits: Option<(Duration, Duration)>,
        now: Instant,
    ) {
        assert!(!self.over, "a request was accepted after the end");
        assert!(self.calls.iter().all(|call| call.handle != handle), "{handle:?} names two requests");
        let timer = |limit: Duration| (limit, now.saturating_add(limit));
        self.calls.push(Call {
            handle,
            method,
            wire: None,
            idle: limits.map(|(idle, _)| timer(idle)),
            absolute: limits.map(|(_, absolute)| timer(absolute)),
            progress: f64::NEG_INFINITY,
            reports: Vec::new(),
            end: None,
            at_read: 0,
            doubt: false,
            ended: false,
            notice_owed: false,
        });
    }

    /// The application gave a request up; whether that had to be refused.
    pub(super) fn cancelled(&mut self, handle: RequestHandle, accepted: bool) {
        let over = self.over;
        let call = self.calls.iter_mut().find(|call| call.handle == handle).expect("a known call");
        if call.doubt {
            if accepted {
                call.end = Some(End::Cancelled);
                call.notice_owed = true;
            }
            return;
        }
        assert!(!accepted || call.open() && !over, "what is over was cancelled: {call:?}");
        // Refused, so the connection must have ended, and that was not heard of yet.
        self.disputed |= !accepted && call.open() && !over;
        if accepted {
            call.end = Some(End::Cancelled);
            call.notice_owed = true;
        }
    }

    /// The application ended the connection.
    pub(super) fn closed_by_us(&mut self) {
        self.local = true;
        self.finish_all(&End::Closed, true);
    }

    fn finish_all(&mut self, end: &End, notice: bool) {
        if self.over {
            return;
        }
        self.over = true;
        for call in &mut self.calls {
            if call.open() {
                call.end = Some(end.clone());
                call.notice_owed = notice;
            }
        }
    }

    /// What the client told.
    pub(super) fn event(&mut self, event: &Event, now: Instant) {
        match event {
            Event::Ready(peer) => self.ready(peer),
            Event::Finished { request, outcome } => self.finished(*request, outcome, now),
            Event::Progress { request, progress } => {
                let call = self.calls.iter_mut().find(|call| call.handle == *request).expect("a known call");
                assert!(!call.ended, "progress of a call that is over");
                let next = (!call.reports.is_empty()).then(|| call.reports.remove(0));
                assert!(next == Some(progress.progress) || call.doubt, "progress {progress:?}, not {next:?}");
            }
            Event::Closed(reason) => {
                // Where the end came first and was not heard of yet, that stands.
                assert!(self.local || *reason != CloseReason::Local, "nobody closed it");
                self.over = true;
                self.disputed = false;
                let open: Vec<_> = self.calls.iter().filter(|call| !call.ended).collect();
                assert!(open.is_empty(), "rule 1: closed, and these never ended: {open:?}");
            }
            _ => {}
        }
    }

    fn ready(&mut self, peer: &Peer) {
        let revision = peer.revision.as_str().to_owned();
        assert!(self.offered.contains(&revision), "{revision} was never offered: {:?}", self.offered);
        assert!(self.pinned.is_none_or(|era| era == peer.era), "another era than the one that was pinned");
        self.ready = Some((peer.era, revision));
    }

    fn finished(&mut self, request: RequestHandle, outcome: &Outcome, now: Instant) {
        let reads = self.reads;
        let call = self.calls.iter_mut().find(|call| call.handle == request);
        let call = call.unwrap_or_else(|| panic!("rule 1: {request:?} ended and was never accepted"));
        assert!(!call.ended, "rule 1: {request:?} ended twice, now with {outcome:?}");
        call.ended = true;
        let fits = match (&call.end, outcome) {
            (Some(End::Complete(value)), Outcome::Complete(result)) => {
                serde_json::from_slice::<Value>(result.as_bytes()).is_ok_and(|result| result == *value)
            }
            (Some(End::Error(code)), Outcome::Error(error)) => error.code == *code,
            (Some(End::Asks), Outcome::InputRequired(_) | Outcome::Invalid(_))
            | (Some(End::Invalid), Outcome::Invalid(_))
            | (Some(End::Cancelled | End::Closed), Outcome::Cancelled)
            | (Some(End::Lost), Outcome::Lost { .. }) => true,
            (Some(End::TooLarge(len)), Outcome::TooLarge { len: told, .. }) => len == told,
            (Some(End::TimedOut(which, limit)), Outcome::TimedOut { which: told, limit: of, .. }) => {
                which == told && limit == of
            }
            // The connection ended before, for a reason of the peer's: its last event has to say so.
            (None, Outcome::Lost { .. }) => {
                self.disputed |= !call.doubt;
                true
            }
            // So it did where it was not heard of yet.
            (Some(End::TimedOut(..) | End::Closed), Outcome::Lost { .. }) => {
                self.disputed = true;
                true
            }
            (Some(_), Outcome::Lost { .. }) if call.at_read == reads => {
                self.disputed = true;
                true
            }
            _ => false,
        };
        // What was done about it in doubt came first, whatever followed.
        let fits = fits || call.doubt && *outcome != Outcome::Cancelled;
        if matches!(outcome, Outcome::TimedOut { .. }) {
            call.notice_owed = true;
        }
        let call = self.calls.iter().find(|call| call.handle == request);
        assert!(fits, "at {now:?} it ended with {outcome:?}, which cannot be: {call:?}");
    }

    /// Everything was taken from the client.
    pub(super) fn check_drained(&self, closed: bool) {
        assert!(closed || !self.disputed, "rule 1: a call was lost, and the connection goes on");
        if let Some(call) = self.calls.iter().find(|call| !call.ended && call.end.is_some() && !call.doubt) {
            panic!("rule 1: this call is over and was not told: {call:?}");
        }
        assert!(
            !self.over || closed || !self.partial_out.is_empty() || self.calls.iter().all(|call| call.ended)
        );
    }

    /// Calls that have not ended.
    pub(super) fn open(&self) -> usize {
        self.calls.iter().filter(|call| !call.ended).count()
    }

    fn end(&mut self, wire: u64, end: impl FnOnce(&Call, bool) -> End) {
        let modern = self.modern();
        let reads = self.reads;
        if let Some(call) = self.calls.iter_mut().find(|call| call.wire == Some(wire)) {
            if call.open() {
                call.end = Some(end(call, modern));
                call.at_read = reads;
            }
            return;
        }
        // It may mean a call that waits to be written.
        self.doubt(None);
    }

    /// The calls that may be meant by `text` are in doubt; `None`: those that were not seen on the wire.
    fn doubt(&mut self, text: Option<&str>) {
        for call in &mut self.calls {
            let meant = match (call.wire, text) {
                (Some(wire), Some(text)) => text.contains(&wire.to_string()),
                (None, _) => true,
                (Some(_), None) => false,
            };
            call.doubt |= meant && call.open();
        }
    }

    fn modern(&self) -> bool {
        self.spoken == Some(Era::Modern)
    }

    fn id_of(&self, id: &Value) -> Option<u64> {
        let spelled = || {
            let text = id.as_str().filter(|_| self.lenient)?;
            text.parse::<u64>().ok().filter(|id| id.to_string() == text)
        };
        id.as_u64().or_else(spelled)
    }

    fn line_in(&mut self, line: &[u8], now: Instant) {
        self.lines += 1;
        let text = String::from_utf8_lossy(line).into_owned();
        let parsed = serde_json::from_slice::<Value>(line).ok();
        if line.len() > self.limit {
            let Some(Value::Object(message)) = parsed else { return self.doubt(Some(&text)) };
            match (message.get("id"), message.contains_key("method")) {
                (Some(id), true) => *self.owed.entry(id.to_string()).or_default() += 1,
                (Some(id), false) => {
                    if let Some(id) = self.id_of(id) {
                        let len = line.len() as u64;
                        self.end(id, |_, _| End::TooLarge(len));
                    }
                }
                (None, _) => {}
            }
            return;
        }
        let twice = |name: &str| text.matches(name).count() > 1;
        let strange = twice("\"id\":") || twice("\"result\":") || depth(line) >= self.depth;
        match parsed {
            Some(Value::Array(elements)) => {
                for element in elements {
                    // Before the revision is known there is no call that it could answer.
                    if self.batches {
                        self.message(&element, &element.to_string(), false, now);
                    }
                }
            }
            Some(message) => self.message(&message, &text, strange, now),
            None => self.doubt(Some(&text)),
        }
    }

    fn message(&mut self, message: &Value, text: &str, strange: bool, now: Instant) {
        let id = message.get("id");
        let method = message["method"].as_str();
        let (result, error) = (message.get("result"), message.get("error"));
        if message.get("method").is_some() {
            if let Some(id) = id {
                *self.owed.entry(id.to_string()).or_default() += 1;
            }
            if result.is_some() || error.is_some() || strange {
                return self.doubt(Some(text));
            }
            if message["jsonrpc"] != "2.0" || id.is_some() {
                return;
            }
            return match method {
                Some("notifications/progress") => self.progress(&message["params"], now),
                Some("notifications/cancelled") if self.modern() => {
                    if let Some(id) = message["params"]["requestId"].as_u64() {
                        let listen =
                            |call: &Call| call.wire == Some(id) && call.method == "subscriptions/listen";
                        match self.calls.iter().any(listen) {
                            true => self.end(id, |_, _| End::Complete(serde_json::json!({}))),
                            false => self.doubt(None),
                        }
                    }
                }
                _ => {}
            };
        }
        let Some(id) = id.filter(|id| !id.is_null()) else { return };
        if message["jsonrpc"] != "2.0" || result.is_some() == error.is_some() || strange {
            return self.doubt(Some(text));
        }
        let Some(id) = self.id_of(id) else { return };
        if let Some(place) = self.openings.iter().position(|(opening, _)| *opening == id) {
            let (_, initialize) = self.openings.remove(place);
            return self.opening_answered(initialize, result);
        }
        match (result, error) {
            (Some(result), _) => {
                let result = result.clone();
                self.end(id, |call, modern| meaning(call.method, modern, result).into());
            }
            (None, Some(error)) => {
                let (code, message) = (error["code"].as_i64(), error["message"].as_str());
                match code.filter(|_| message.is_some()) {
                    Some(code) => self.end(id, |_, _| End::Error(code)),
                    None => self.doubt(Some(text)),
                }
            }
            (None, None) => {}
        }
    }

    fn opening_answered(&mut self, initialize: bool, result: Option<&Value>) {
        let Some(result) = result else { return };
        if initialize {
            self.offered.extend(result["protocolVersion"].as_str().map(str::to_owned));
        } else {
            let versions = result["supportedVersions"].as_array().into_iter().flatten();
            self.offered.extend(versions.filter_map(Value::as_str).map(str::to_owned));
        }
    }

    fn progress(&mut self, params: &Value, now: Instant) {
        let Some(token) = params["progressToken"].as_u64() else { return };
        let Some(progress) = params["progress"].as_f64() else { return };
        match self.calls.iter_mut().find(|call| call.wire == Some(token)) {
            Some(call) if call.open() && progress > call.progress => {
                call.progress = progress;
                call.idle = call.idle.map(|(limit, _)| (limit, now.saturating_add(limit)));
                call.reports.push(progress);
            }
            Some(_) => {}
            None => self.doubt(None),
        }
    }

    fn line_out(&mut self, line: &[u8]) {
        assert!(!line.contains(&b'\r'), "a carriage return in a line");
        assert!(line.len() <= self.limit, "a line of {} bytes", line.len());
        let text = String::from_utf8_lossy(line);
        let message: Value = serde_json::from_slice(line)
            .unwrap_or_else(|error| panic!("no JSON was written: {error}: {text}"));
        assert_eq!(message["jsonrpc"], "2.0", "{text}");
        let method = message["method"].as_str();
        let params = &message["params"];
        assert!(params.is_object() || message.get("params").is_none(), "{text}");
        let version = params["_meta"][VERSION].as_str();
        match (message.get("id"), method) {
            (Some(id), Some("initialize")) => {
                assert!(self.spoken.is_none() && self.pinned != Some(Era::Modern), "{text}");
                assert!(version.is_none() && params["protocolVersion"].is_string(), "{text}");
                self.openings.push((id.as_u64().expect("a number"), true));
            }
            (Some(id), Some("server/discover")) => {
                assert!(self.spoken.is_none() && self.pinned != Some(Era::Legacy), "{text}");
                assert_eq!(version, Some("2026-07-28"), "{text}");
                self.openings.push((id.as_u64().expect("a number"), false));
            }
            (Some(id), Some(method)) => {
                let era = if version.is_some() { Era::Modern } else { Era::Legacy };
                self.speaks(era, &text);
                let call = self.calls.get_mut(self.unwritten);
                let call = call.unwrap_or_else(|| panic!("nobody asked for this: {text}"));
                self.unwritten += 1;
                assert_eq!(method, call.method, "another request than the next: {text}");
                let id = id.as_u64().expect("a number");
                call.wire = Some(id);
                let token = &params["_meta"]["progressToken"];
                assert!(token.is_null() || *token == id, "{text}");
                let twice = |call: &&Call| call.wire == Some(id);
                assert_eq!(self.calls.iter().filter(twice).count(), 1, "an id was used twice: {text}");
            }
            (None, Some("notifications/initialized")) => {
                assert!(!self.initialized, "said twice: {text}");
                self.initialized = true;
                self.speaks(Era::Legacy, &text);
            }
            (None, Some("notifications/cancelled")) => {
                let id = params["requestId"].as_u64().expect("a number");
                let call = self.calls.iter_mut().find(|call| call.wire == Some(id));
                let call = call.unwrap_or_else(|| panic!("{text} is about no call"));
                let owed = call.notice_owed || matches!(call.end, Some(End::TimedOut(..))) || call.doubt;
                assert!(owed, "{text} is about a call that was not given up: {call:?}");
                call.notice_owed = false;
            }
            (None, Some(_)) => assert!(!self.offered.is_empty(), "before the era is known: {text}"),
            (Some(id), None) => {
                assert!(message.get("result").is_some() != message.get("error").is_some(), "{text}");
                let owed = self.owed.get_mut(&id.to_string());
                let owed = owed.unwrap_or_else(|| panic!("an answer to what was not asked: {text}"));
                *owed = owed.checked_sub(1).unwrap_or_else(|| panic!("answered twice: {text}"));
                assert!(!self.modern(), "a modern client answers nothing: {text}");
            }
            (None, None) => panic!("neither this nor that: {text}"),
        }
    }

    fn speaks(&mut self, era: Era, text: &str) {
        assert!(self.spoken.is_none_or(|spoken| spoken == era), "two eras on one stream: {text}");
        assert!(era == Era::Modern || self.initialized, "before the handshake was over: {text}");
        let offered = |revision: &String| (revision == "2026-07-28") == (era == Era::Modern);
        assert!(self.offered.iter().any(offered), "{:?}, which was not offered: {text}", era);
        self.spoken = Some(era);
        self.batches = era == Era::Legacy && self.offered.iter().any(|revision| revision == "2025-03-26");
    }
}

impl Watch for ClientModel {
    fn read(&mut self, bytes: &[u8], now: Instant) {
        self.reads += 1;
        self.partial_in.extend_from_slice(bytes);
        let buffer = std::mem::take(&mut self.partial_in);
        let mut rest = &buffer[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.whole(&rest[..end], now);
            rest = &rest[end + 1..];
        }
        self.partial_in = rest.to_vec();
    }

    fn wrote(&mut self, bytes: &[u8], _: Instant) {
        self.partial_out.extend_from_slice(bytes);
        let buffer = std::mem::take(&mut self.partial_out);
        let mut rest = &buffer[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line_out(&rest[..end]);
            rest = &rest[end + 1..];
        }
        self.partial_out = rest.to_vec();
    }

    fn time(&mut self, now: Instant) {
        if self.over {
            return;
        }
        for call in self.calls.iter_mut().filter(|call| call.open()) {
            let over = |timer: Option<(Duration, Instant)>| timer.filter(|(_, at)| *at <= now);
            if let Some((limit, _)) = over(call.absolute) {
                call.end = Some(End::TimedOut(Deadline::Absolute, limit));
            } else if let Some((limit, _)) = over(call.idle) {
                call.end = Some(End::TimedOut(Deadline::Idle, limit));
            }
        }
    }

    fn ended(&mut self, now: Instant) {
        self.reads += 1;
        let last = std::mem::take(&mut self.partial_in);
        self.whole(&last, now);
        self.finish_all(&End::Lost, false);
    }

    fn unread(&mut self, _: Instant) {
        // What had not begun to leave never will.
        let begun = !self.partial_out.is_empty();
        for (n, call) in self.calls.iter_mut().filter(|call| call.wire.is_none()).enumerate() {
            if call.open() {
                if begun && n == 0 {
                    call.doubt = true;
                } else {
                    call.end = Some(End::Lost);
                }
            }
        }
    }
}

impl ClientModel {
    /// A line without its LF.
    fn whole(&mut self, line: &[u8], now: Instant) {
        if self.over {
            return;
        }
        let text = line.strip_suffix(b"\r").filter(|_| line.len() <= self.limit).unwrap_or(line);
        if !text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            self.line_in(text, now);
        }
    }
}
