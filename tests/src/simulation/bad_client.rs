//! A client that does what a script says, right or wrong. It shares no code with what it tests.

use sanswire::Instant;
use serde_json::Value;

use super::coverage::Coverage;
use super::mouth::Mouth;
use super::wire::Wire;

/// Something that such a client may do.
pub struct ClientEntry {
    /// Its name in a script.
    pub name: &'static str,
    /// The cases of public reports that it shows.
    pub cases: &'static [&'static str],
    /// Does it.
    pub act: fn(&mut BadClient, u32),
}

impl std::fmt::Debug for ClientEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The client.
#[derive(Debug)]
pub struct BadClient {
    /// What it says.
    pub mouth: Mouth,
    partial: Vec<u8>,
    /// Ids that it used, as they stand on the wire.
    pub ids: Vec<String>,
    /// Requests so far; each bears its number.
    pub count: u64,
    /// Whether its requests name their revision themselves.
    pub modern: bool,
    /// How long a message the server takes.
    pub limit: usize,
    /// Requests of the server's: id and method.
    pub asked: Vec<(u64, String)>,
    /// The last cursor that a listing gave.
    pub cursor: Option<String>,
}

impl BadClient {
    pub(super) const fn new(modern: bool, limit: usize) -> Self {
        Self {
            mouth: Mouth::new(),
            partial: Vec::new(),
            ids: Vec::new(),
            count: 0,
            modern,
            limit,
            asked: Vec::new(),
            cursor: None,
        }
    }

    /// The `_meta` of its next request.
    #[must_use]
    pub fn meta(&self) -> String {
        let k = self.count;
        let capabilities = r#"{"roots":{},"elicitation":{},"sampling":{}}"#;
        let modern = match self.modern {
            true => format!(
                r#","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}"#
            ),
            false => String::new(),
        };
        format!(r#""_meta":{{"x/k":{k},"progressToken":{k}{modern}}}"#)
    }

    /// A request under an id of its own; `params` are the members of its parameters, without `_meta`.
    pub fn request(&mut self, method: &str, params: &str) {
        let id = format!("{}", 10 + self.count);
        self.request_as(&id, method, params);
    }

    /// A request under this id.
    pub fn request_as(&mut self, id: &str, method: &str, params: &str) {
        self.count += 1;
        self.ids.push(id.to_owned());
        let comma = if params.is_empty() { "" } else { "," };
        let meta = self.meta();
        self.mouth.line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{comma}{meta}}}}}"#
        ));
    }

    /// Tells something.
    pub fn notify(&mut self, method: &str, params: &str) {
        self.mouth.line(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
    }

    /// One of the ids of late.
    #[must_use]
    pub fn some_id(&self, n: u32) -> String {
        let newest = self.ids.len().saturating_sub(5);
        let some = &self.ids[newest..];
        some.get(n as usize % some.len().max(1)).cloned().unwrap_or_else(|| "1".into())
    }

    pub(super) fn step(&mut self, entry: &'static ClientEntry, n: u32, now: Instant, seen: &mut Coverage) {
        seen.behaviour(entry.name, entry.cases);
        self.mouth.begin(now);
        (entry.act)(self, n);
    }

    fn message(&mut self, line: &[u8]) {
        let message: Value = serde_json::from_slice(line).expect("the server writes JSON");
        if let (Some(id), Some(method)) = (message["id"].as_u64(), message["method"].as_str()) {
            self.asked.push((id, method.to_owned()));
        }
        if let Some(cursor) = message["result"]["nextCursor"].as_str() {
            self.cursor = Some(cursor.to_owned());
        }
    }

    /// Reads all that has arrived. True: there was something.
    pub(super) fn read(&mut self, input: &mut Wire, now: Instant) -> bool {
        let arrived = input.arrived(now);
        let len = arrived.len();
        self.partial.extend_from_slice(arrived);
        input.take(len);
        let partial = std::mem::take(&mut self.partial);
        let mut rest = &partial[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.message(&rest[..end]);
            rest = &rest[end + 1..];
        }
        self.partial = rest.to_vec();
        if input.has_ended(now) && !self.mouth.is_closed() {
            self.mouth.give_up(now);
            return true;
        }
        len > 0
    }
}
