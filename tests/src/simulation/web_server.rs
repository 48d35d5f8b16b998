//! A server over HTTP that does what a script says, right or wrong. It shares no code with what it tests.

use std::collections::{BTreeMap, VecDeque};

use sanswire::Instant;
use sanswire::http::pool::ConnectionHandle;
use serde_json::Value;

use super::coverage::Coverage;
use super::mouth::Mouth;
use super::peer::Asked;
use super::web_menu::{WEB_MENU, WEB_OPENINGS};
use super::wire::Wire;

/// Which requests something may be an answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// Those that want a result.
    Call,
    /// Notifications, and answers to the server's own requests.
    Note,
    /// Those for a stream: the server's own, or the rest of an answer.
    Get,
    /// Any of them.
    Any,
}

/// Something that such a server may do.
pub struct WebEntry {
    /// Its name in a script.
    pub name: &'static str,
    /// The cases of public reports that it shows.
    pub cases: &'static [&'static str],
    /// What it may be the answer to.
    pub to: To,
    /// Does it, about a request.
    pub act: fn(&mut WebServer, &WebAsked, u32),
}

impl std::fmt::Debug for WebEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A request that reached the server.
#[derive(Clone, Debug)]
pub struct WebAsked {
    connection: ConnectionHandle,
    /// POST, GET or DELETE.
    pub verb: String,
    /// Its message, if that wants a result.
    pub rpc: Asked,
    /// What it may be answered with.
    pub to: To,
    /// Where it wants to go on.
    pub last_event: Option<String>,
}

impl WebAsked {
    /// A message with a result that fits.
    #[must_use]
    pub fn answer(&self, n: u32) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, self.rpc.id, self.rpc.result(n))
    }

    /// A message with an error.
    #[must_use]
    pub fn error(&self, code: i64) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":"no"}}}}"#, self.rpc.id)
    }
}

/// One connection.
#[derive(Debug)]
struct Open {
    partial: Vec<u8>,
    mouth: Mouth,
}

/// The server.
#[derive(Debug)]
pub struct WebServer {
    open: BTreeMap<ConnectionHandle, Open>,
    /// Requests that came, the newest last.
    asked: Vec<WebAsked>,
    answers: VecDeque<(usize, u32)>,
    opening: (usize, u32),
    at: ConnectionHandle,
    /// How long a message the client takes.
    pub limit: usize,
    /// How long a head it takes.
    pub head: usize,
    /// Sessions so far.
    pub sessions: u32,
    /// Events with an id so far.
    pub events: u32,
    /// Requests of its own so far.
    pub own: u32,
    /// Whether it pushes on a stream of its own.
    pub pushes: bool,
    /// Answers that were cut short, to go on with: the id behind which, and the rest.
    pub rests: Vec<(String, String)>,
}

impl WebServer {
    pub(super) const fn new(
        opening: (usize, u32),
        answers: VecDeque<(usize, u32)>,
        limit: usize,
        head: usize,
    ) -> Self {
        Self {
            open: BTreeMap::new(),
            asked: Vec::new(),
            answers,
            opening,
            at: ConnectionHandle::numbered(0),
            limit,
            head,
            sessions: 0,
            events: 0,
            own: 0,
            pushes: opening.1 % 3 == 0,
            rests: Vec::new(),
        }
    }

    fn mouth(&mut self) -> Option<&mut Mouth> {
        self.open.get_mut(&self.at).map(|open| &mut open.mouth)
    }

    /// See [`Mouth::later`].
    pub fn later(&mut self, millis: u64) {
        self.mouth().into_iter().for_each(|mouth| mouth.later(millis));
    }

    /// See [`Mouth::raw`].
    pub fn raw(&mut self, bytes: impl Into<Vec<u8>>) {
        if let Some(mouth) = self.mouth() {
            mouth.raw(bytes);
        }
    }

    /// See [`Mouth::close`].
    pub fn close(&mut self) {
        self.mouth().into_iter().for_each(Mouth::close);
    }

    /// An answer with its length. `fields`: each with its end of a line.
    pub fn reply(&mut self, status: u16, fields: &str, content: &str) {
        let len = content.len();
        self.raw(format!("HTTP/1.1 {status} .\r\n{fields}Content-Length: {len}\r\n\r\n{content}"));
    }

    /// A message, as JSON.
    pub fn json(&mut self, content: &str) {
        self.reply(200, "Content-Type: application/json\r\n", content);
    }

    /// The head of a stream of events in chunks.
    pub fn begin(&mut self, fields: &str) {
        self.raw(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{fields}Transfer-Encoding: chunked\r\n\r\n"
        ));
    }

    /// A chunk.
    pub fn chunk(&mut self, text: &str) {
        if !text.is_empty() {
            self.raw(format!("{:x}\r\n{text}\r\n", text.len()));
        }
    }

    /// The last one.
    pub fn finish(&mut self) {
        self.raw("0\r\n\r\n");
    }

    /// A message, as the only event of a stream.
    pub fn event(&mut self, content: &str) {
        self.begin("");
        self.chunk(&format!("data: {content}\n\n"));
        self.finish();
    }

    pub(super) fn welcome(&mut self, connection: ConnectionHandle) {
        self.open.insert(connection, Open { partial: Vec::new(), mouth: Mouth::new() });
    }

    fn act(&mut self, entry: &'static WebEntry, asked: &WebAsked, n: u32, now: Instant, seen: &mut Coverage) {
        seen.behaviour(entry.name, entry.cases);
        self.at = asked.connection;
        self.mouth().into_iter().for_each(|mouth| mouth.begin(now));
        (entry.act)(self, asked, n);
    }

    /// Does something of its own accord, about some request.
    pub(super) fn step(&mut self, entry: usize, n: u32, now: Instant, seen: &mut Coverage) {
        let newest = self.asked.len().saturating_sub(3);
        let recent = &self.asked[newest..];
        if let Some(about) = recent.get(n as usize % recent.len().max(1)).cloned() {
            self.act(&WEB_MENU[entry], &about, n, now, seen);
        }
    }

    fn request(
        &mut self,
        connection: ConnectionHandle,
        head: &str,
        body: &[u8],
        now: Instant,
        seen: &mut Coverage,
    ) {
        let field = |name: &str| {
            let fields = head.split("\r\n").filter_map(|line| line.split_once(": "));
            fields
                .filter(|(found, _)| found.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.to_owned())
                .next()
        };
        let message: Value = match body.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(body).expect("the client writes JSON"),
        };
        let verb = head.split(' ').next().unwrap_or_default().to_owned();
        let (id, method) = (message["id"].as_u64(), message["method"].as_str());
        let params = &message["params"];
        let rpc = Asked {
            id: id.unwrap_or(0),
            method: method.unwrap_or_default().into(),
            modern: params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string(),
            call: params["_meta"]["x/k"].as_u64(),
        };
        let to = match (&*verb, id.is_some() && method.is_some()) {
            ("POST", true) => To::Call,
            ("POST", false) => To::Note,
            _ => To::Get,
        };
        let asked = WebAsked { connection, verb, rpc, to, last_event: field("last-event-id") };
        self.asked.push(asked.clone());
        let opens = matches!(method, Some("initialize" | "server/discover"));
        // The oldest transport names its address on a stream that is asked for before anything else.
        if opens || asked.verb == "GET" && self.sessions == 0 && field("mcp-protocol-version").is_none() {
            let (entry, n) = self.opening;
            return self.act(&WEB_OPENINGS[entry], &asked, n, now, seen);
        }
        let fits =
            |(entry, _): &(usize, u32)| matches!(WEB_MENU[*entry].to, To::Any) || WEB_MENU[*entry].to == to;
        let next = self.answers.iter().position(fits).filter(|_| asked.verb != "DELETE");
        let (entry, n) = next.and_then(|place| self.answers.remove(place)).unwrap_or((0, 7));
        self.act(&WEB_MENU[entry], &asked, n, now, seen);
    }

    /// Reads and writes one connection. True: there was something.
    pub(super) fn drive(
        &mut self,
        connection: ConnectionHandle,
        input: &mut Wire,
        out: &mut Wire,
        now: Instant,
        seen: &mut Coverage,
    ) -> bool {
        let Some(open) = self.open.get_mut(&connection) else { return false };
        let arrived = input.arrived(now);
        let len = arrived.len();
        open.partial.extend_from_slice(arrived);
        input.take(len);
        let mut busy = len > 0;
        let partial = std::mem::take(&mut open.partial);
        let rest =
            if open.mouth.is_closed() { &[][..] } else { self.requests(connection, &partial, now, seen) };
        let Some(open) = self.open.get_mut(&connection) else { return busy };
        open.partial = rest.to_vec();
        if input.has_ended(now) && !open.mouth.is_closed() {
            open.mouth.give_up(now);
            busy = true;
        }
        busy | open.mouth.write(out, now)
    }

    /// Answers all requests that are whole. What is left.
    fn requests<'b>(
        &mut self,
        connection: ConnectionHandle,
        mut rest: &'b [u8],
        now: Instant,
        seen: &mut Coverage,
    ) -> &'b [u8] {
        while let Some(end) = rest.windows(4).position(|end| end == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            let lower = head.to_ascii_lowercase();
            let len = lower.split("content-length: ").nth(1).and_then(|len| len.split("\r\n").next());
            let len = len.map_or(0, |len| len.parse().expect("a length"));
            let Some(body) = rest.get(end + 4..end + 4 + len) else { break };
            self.request(connection, &head, body, now, seen);
            rest = &rest[end + 4 + len..];
        }
        rest
    }

    /// When it does something next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.open.values().filter_map(|open| open.mouth.next()).min()
    }
}
