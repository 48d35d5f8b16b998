//! What a server has to do, told from the bytes alone, and from what its application took and gave.

use std::collections::BTreeMap;

use sanswire::Instant;
use sanswire::error::ApiError;
use sanswire::server::{Event, PeerRequestHandle, RequestHandle};
use serde_json::Value;

use super::end::Watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Answered,
    /// Its answer was seen on the wire.
    Written,
    /// An answer was refused: that it was cancelled has still to be told.
    Doomed,
    Cancelled,
}

#[derive(Debug)]
struct Reported {
    state: State,
    id: Option<String>,
}

/// What is known of an id that requests came with.
#[derive(Debug, Default)]
struct Count {
    asked: usize,
    replied: usize,
    cancelled: usize,
    open: usize,
    listens: bool,
}

/// A call as it came: which one it is for its sender, its id, and whether it was reported.
type Came = (String, bool);

/// The model.
#[derive(Debug)]
pub(super) struct ServerModel {
    limit: usize,
    reported: BTreeMap<RequestHandle, Reported>,
    ids: BTreeMap<String, Count>,
    calls: BTreeMap<u64, Vec<Came>>,
    tokens: BTreeMap<String, String>,
    partial_in: Vec<u8>,
    partial_out: Vec<u8>,
    /// Errors without an id that may still come.
    without: usize,
    /// Something came that this model does not judge, so not everything is known to be asked.
    doubt: bool,
    peers: BTreeMap<PeerRequestHandle, bool>,
    asked_client: BTreeMap<u64, bool>,
    unread: bool,
    pub(super) lines: u64,
}

impl ServerModel {
    pub(super) fn new(config: &sanswire::server::Config) -> Self {
        Self {
            limit: config.limits.max_message_bytes,
            reported: BTreeMap::new(),
            ids: BTreeMap::new(),
            calls: BTreeMap::new(),
            tokens: BTreeMap::new(),
            partial_in: Vec::new(),
            partial_out: Vec::new(),
            without: 0,
            doubt: false,
            peers: BTreeMap::new(),
            asked_client: BTreeMap::new(),
            unread: false,
            lines: 0,
        }
    }

    /// What the server told. For a request: the number that its answer has to bear, if it is a call.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Request { request, params, .. } => {
                // Null where only we take it: a lone surrogate.
                let params: Value = serde_json::from_slice(params.as_bytes()).unwrap_or_default();
                let came = params["_meta"]["x/k"].as_u64().and_then(|k| self.calls.get_mut(&k));
                let came = came.and_then(|came| came.iter_mut().find(|(_, reported)| !reported));
                let id = came.map(|came| {
                    came.1 = true;
                    came.0.clone()
                });
                if let Some(id) = &id {
                    self.ids.entry(id.clone()).or_default().open += 1;
                } else {
                    // Which one it is nobody says.
                    self.doubt = true;
                }
                let new = self.reported.insert(*request, Reported { state: State::Open, id });
                assert!(new.is_none(), "{request:?} was reported twice");
            }
            Event::Cancelled { request, .. } => {
                let reported = self.reported.get_mut(request).expect("a reported request");
                let open = matches!(reported.state, State::Open | State::Doomed);
                assert!(open, "rule 2: {request:?} was cancelled, but it is over");
                reported.state = State::Cancelled;
                if let Some(id) = &reported.id {
                    let count = self.ids.entry(id.clone()).or_default();
                    count.open -= 1;
                    count.cancelled += 1;
                }
            }
            Event::Answered { peer, .. } => {
                let open = self.peers.insert(*peer, false);
                assert_eq!(open, Some(true), "{peer:?} ended and was not open");
            }
            Event::Closed(_) => {
                let open: Vec<_> = self.peers.iter().filter(|(_, open)| **open).collect();
                assert!(open.is_empty(), "closed, and these never ended: {open:?}");
            }
            _ => {}
        }
    }

    /// The application answered, and was told this.
    pub(super) fn responded(&mut self, request: RequestHandle, done: &Result<(), ApiError>) {
        let reported = self.reported.get_mut(&request).expect("a reported request");
        match done {
            Ok(()) => {
                assert_eq!(reported.state, State::Open, "rule 2: an answer to what is over was taken");
                reported.state = State::Answered;
                if let Some(id) = &reported.id {
                    self.ids.entry(id.clone()).or_default().open -= 1;
                }
            }
            Err(ApiError::UnknownRequest) => {
                if reported.state == State::Open {
                    reported.state = State::Doomed;
                }
            }
            Err(_) => {}
        }
    }

    /// The application asked the client something.
    pub(super) fn asked_client(&mut self, peer: PeerRequestHandle) {
        assert!(self.peers.insert(peer, true).is_none(), "{peer:?} names two requests");
    }

    /// Requests that are open, oldest first.
    pub(super) fn open(&self) -> Vec<RequestHandle> {
        self.with(|state| state == State::Open)
    }

    /// Requests that are over, oldest first.
    pub(super) fn over(&self) -> Vec<RequestHandle> {
        self.with(|state| state != State::Open)
    }

    fn with(&self, is: impl Fn(State) -> bool) -> Vec<RequestHandle> {
        self.reported.iter().filter(|(_, reported)| is(reported.state)).map(|(handle, _)| *handle).collect()
    }

    /// The number that an answer to this request bears.
    pub(super) fn number(&self, request: RequestHandle) -> usize {
        self.reported.keys().position(|known| *known == request).expect("a reported request")
    }

    /// Everything was taken from the server, and it is not over.
    pub(super) fn check_drained(&self) {
        let doomed = self.with(|state| state == State::Doomed);
        assert!(doomed.is_empty(), "answers to {doomed:?} were refused, and they were not cancelled");
        if self.unread || self.doubt {
            return;
        }
        for (id, count) in &self.ids {
            let done = count.replied + count.cancelled + count.open;
            assert!(
                count.listens || done == count.asked,
                "{id}: something was left without an answer: {count:?}"
            );
        }
    }

    fn line_in(&mut self, line: &[u8]) {
        self.lines += 1;
        let text = String::from_utf8_lossy(line);
        let strange = text.matches("\"id\":").count() > 1 || line.len() > self.limit;
        let parsed = serde_json::from_slice::<Value>(line);
        if strange || parsed.is_err() {
            self.without += 1;
            self.doubt = true;
            self.may_mean(&text);
        }
        let Ok(message) = parsed else { return };
        let Value::Object(_) = message else {
            let more = message.as_array().map_or(0, Vec::len);
            self.without += 1 + more;
            self.doubt = true;
            for element in message.as_array().into_iter().flatten() {
                self.message_in(element);
            }
            return;
        };
        self.message_in(&message);
    }

    /// Whatever stands where an id could stand may be answered.
    fn may_mean(&mut self, text: &str) {
        for (at, found) in text.match_indices("\"id\":") {
            let rest = &text[at + found.len()..];
            let id = rest.split([',', '}', ']']).next().unwrap_or_default();
            self.ids.entry(id.to_owned()).or_default().asked += 1;
        }
    }

    fn message_in(&mut self, message: &Value) {
        if message["jsonrpc"] != "2.0" || !message["method"].is_string() || message.get("result").is_some() {
            self.without += 1;
            self.doubt = true;
            if let Some(id) = message.get("id") {
                self.ids.entry(id.to_string()).or_default().asked += 1;
            }
        }
        // `serde_json` takes -0 for no integer.
        let whole = |id: &&Value| id.is_i64() || id.is_u64() || id.as_f64() == Some(0.0);
        let id = message.get("id").filter(|id| whole(id) || id.is_string());
        let Some(method) = message.get("method") else {
            return;
        };
        let Some(id) = id.map(Value::to_string) else {
            self.without += 1;
            return;
        };
        let count = self.ids.entry(id.clone()).or_default();
        count.asked += 1;
        count.listens |= method == "subscriptions/listen";
        let params = &message["params"];
        if let Some(token) = params["_meta"].get("progressToken") {
            self.tokens.insert(token.to_string(), id.clone());
        }
        if let Some(k) = params["_meta"]["x/k"].as_u64() {
            self.calls.entry(k).or_default().push((id, false));
        }
    }

    fn line_out(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        assert!(!line.contains(&b'\r'), "a carriage return in a line");
        assert!(line.len() <= self.limit, "a line of {} bytes", line.len());
        let message: Value = serde_json::from_slice(line)
            .unwrap_or_else(|error| panic!("no JSON was written: {error}: {text}"));
        assert!(message["jsonrpc"] == "2.0" || message.is_array(), "{text}");
        match &message {
            Value::Array(answers) => answers.iter().for_each(|answer| self.answer_out(answer, &text)),
            _ if message.get("method").is_none() => self.answer_out(&message, &text),
            _ if message.get("id").is_some() => {
                let id = message["id"].as_u64().expect("a number");
                assert!(self.asked_client.insert(id, true).is_none(), "an id was used twice: {text}");
            }
            _ if message["method"] == "notifications/progress" => {
                let token = message["params"]["progressToken"].to_string();
                let Some(id) = self.tokens.get(&token) else {
                    assert!(self.doubt, "progress under a token that nobody gave: {text}");
                    return;
                };
                let count = &self.ids[id];
                assert!(count.replied < count.asked, "progress of what was answered: {text}");
            }
            _ => {}
        }
    }

    fn answer_out(&mut self, message: &Value, text: &str) {
        assert!(message.get("result").is_some() != message.get("error").is_some(), "{text}");
        let Some(id) = message.get("id").filter(|id| !id.is_null()).map(Value::to_string) else {
            assert!(message.get("error").is_some(), "{text}");
            self.without = self.without.checked_sub(1).unwrap_or_else(|| panic!("an error too many: {text}"));
            return;
        };
        let count = self.ids.get_mut(&id);
        let count = count.unwrap_or_else(|| panic!("rule 2: an answer to what was not asked: {text}"));
        count.replied += 1;
        assert!(count.replied + count.cancelled <= count.asked, "rule 2: a reply too many: {text} {count:?}");
        let said =
            message["result"]["content"][0]["text"].as_str().and_then(|said| said.strip_prefix("answer "));
        let number = said.and_then(|said| said.split(' ').next()?.parse::<usize>().ok());
        if let Some((handle, reported)) = number.and_then(|number| self.reported.iter_mut().nth(number)) {
            assert_eq!(reported.state, State::Answered, "rule 2: {handle:?} was answered {:?}", reported);
            reported.state = State::Written;
            let asked = reported.id.as_ref().is_none_or(|asked| *asked == id);
            assert!(asked, "an answer to {:?} went to another: {text}", reported.id);
        }
    }
}

impl Watch for ServerModel {
    fn read(&mut self, bytes: &[u8], _: Instant) {
        self.partial_in.extend_from_slice(bytes);
        let buffer = std::mem::take(&mut self.partial_in);
        let mut rest = &buffer[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.whole(&rest[..end]);
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

    fn time(&mut self, _: Instant) {}

    fn ended(&mut self, _: Instant) {
        let last = std::mem::take(&mut self.partial_in);
        self.whole(&last);
    }

    fn unread(&mut self, _: Instant) {
        self.unread = true;
    }
}

impl ServerModel {
    fn whole(&mut self, line: &[u8]) {
        if !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            self.line_in(line);
        }
    }
}
