//! What a scripted peer wants done, and when.

use std::time::Duration;

use sanswire::Instant;
use serde_json::{Value, json};

/// The stream an answer goes to: that of the client's message with this number; `None`: the shared one, or, where
/// each exchange has its own, the one the server pushes on.
pub type Stream = Option<u64>;

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Send a message.
    Message(Value),
    /// Send these bytes as they are.
    Raw(Vec<u8>),
    /// End the stream of one exchange. A shared stream knows no such thing.
    End(End),
    /// Send nothing more at all.
    Close,
}

/// How the stream of one exchange ends, in HTTP's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// In good order.
    Finished,
    /// It breaks off.
    Broken,
    /// A status without a usable body.
    Refused(u16),
    /// A status that asks for credentials.
    Challenged(u16),
}

/// Things to do, by time.
#[derive(Debug, Default)]
pub struct Agenda {
    acts: Vec<(Instant, u64, Stream, Act)>,
    count: u64,
}

impl Agenda {
    pub(crate) fn add(&mut self, at: Instant, stream: Stream, act: Act) {
        self.count += 1;
        self.acts.push((at, self.count, stream, act));
    }

    /// What is due, oldest first.
    pub(crate) fn due(&mut self, now: Instant) -> Option<(Stream, Act)> {
        let (index, _) = self
            .acts
            .iter()
            .enumerate()
            .filter(|(_, (at, ..))| *at <= now)
            .min_by_key(|(_, (at, count, ..))| (*at, *count))?;
        let (_, _, stream, act) = self.acts.remove(index);
        Some((stream, act))
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.acts.iter().map(|(at, ..)| *at).min()
    }

    pub(crate) fn clear(&mut self) {
        self.acts.clear();
    }
}

/// Where a peer's logic puts what it wants done in answer to one message.
#[derive(Debug)]
pub struct Out<'a> {
    pub(crate) agenda: &'a mut Agenda,
    pub(crate) at: Instant,
    pub(crate) stream: Stream,
}

impl Out<'_> {
    /// The same, `time` later.
    pub fn after(&mut self, time: Duration) -> Out<'_> {
        Out { at: self.at.saturating_add(time), agenda: self.agenda, stream: self.stream }
    }

    /// The same, on the stream that belongs to no exchange.
    pub fn push(&mut self) -> Out<'_> {
        Out { at: self.at, agenda: self.agenda, stream: None }
    }

    /// The same, on another stream.
    pub fn on(&mut self, stream: Stream) -> Out<'_> {
        Out { at: self.at, agenda: self.agenda, stream }
    }

    /// The stream that is answered on.
    #[must_use]
    pub const fn stream(&self) -> Stream {
        self.stream
    }

    /// Sends any value as a message.
    pub fn message(&mut self, message: Value) {
        self.agenda.add(self.at, self.stream, Act::Message(message));
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: impl Into<Vec<u8>>) {
        self.agenda.add(self.at, self.stream, Act::Raw(bytes.into()));
    }

    /// Answers `request` with a result.
    pub fn result(&mut self, request: &Value, result: Value) {
        self.message(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// Answers `request` with an error.
    pub fn error(&mut self, request: &Value, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.message(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    }

    /// Answers `request` with an error that has data.
    pub fn error_with(&mut self, request: &Value, code: i64, data: Value) {
        let error = json!({"code": code, "message": "no", "data": data});
        self.message(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.message(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request of the server's own.
    pub fn request(&mut self, id: Value, method: &str, params: Value) {
        self.message(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// Reports progress of `request`.
    pub fn progress(&mut self, request: &Value, progress: f64) {
        let token = &request["params"]["_meta"]["progressToken"];
        self.notify("notifications/progress", json!({"progressToken": token, "progress": progress}));
    }

    /// Ends the exchange's own stream, where it has one.
    pub fn end(&mut self, end: End) {
        self.agenda.add(self.at, self.stream, Act::End(end));
    }

    /// Sends nothing more at all.
    pub fn close(&mut self) {
        self.agenda.add(self.at, self.stream, Act::Close);
    }
}
