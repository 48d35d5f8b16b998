//! The scripted server over HTTP/1.1: bytes of its connections in, bytes out. It shares no code with the machines it tests.
//!
//! An answer that is all there is to say comes as one JSON text, anything else as a stream of events in chunks. Sessions of
//! the older revisions have ids; a session that it does not know is refused with 404.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sanswire::Instant;
use serde_json::Value;

use super::out::{Act, Agenda, End, Out, Stream};
use super::{Server, entry};

/// Bytes for a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The connection.
    pub conn: u64,
    /// What to write.
    pub bytes: Vec<u8>,
    /// It ends behind them.
    pub ends: bool,
}

/// A request whose answer is not over.
#[derive(Debug)]
struct Exchange {
    conn: u64,
    id: Option<Value>,
    what: String,
    session: Option<String>,
    streams: bool,
}

/// A whole request.
struct Request {
    verb: String,
    fields: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// A [`Server`] behind any number of connections.
#[derive(Debug, Default)]
pub struct HttpPeer {
    /// What it answers, and what it received.
    pub server: Server,
    /// What came, in order: messages as [`entry`] says, `closed WHAT` for an answer that its client did not wait for,
    /// `GET`, `DELETE`, and `404 WHAT` for what came in a session that is not known.
    pub record: Vec<String>,
    agenda: Agenda,
    conns: BTreeMap<u64, Vec<u8>>,
    streams: BTreeMap<u64, Exchange>,
    numbers: u64,
    sessions: BTreeSet<String>,
    opened: u64,
    push: Stream,
    /// How often it ended, and began anew.
    pub deaths: usize,
    unpushed: VecDeque<Act>,
    out: VecDeque<Written>,
    now: Instant,
}

impl HttpPeer {
    /// This server.
    #[must_use]
    pub fn new(server: Server) -> Self {
        Self { server, ..Self::default() }
    }

    /// Bytes came on a connection.
    pub fn handle_input(&mut self, conn: u64, bytes: &[u8], now: Instant) {
        self.conns.entry(conn).or_default().extend_from_slice(bytes);
        self.advance(now);
    }

    /// The client ended a connection.
    pub fn handle_gone(&mut self, conn: u64, now: Instant) {
        self.conns.remove(&conn);
        self.out.retain(|written| written.conn != conn);
        let open = self.streams.iter().find(|(_, exchange)| exchange.conn == conn).map(|(stream, _)| *stream);
        if let Some(stream) = open
            && let Some(exchange) = self.over(stream)
        {
            self.server.closed_streams.push(stream);
            self.record.push(format!("closed {}", exchange.what));
        }
        self.advance(now);
    }

    /// Time passed.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
    }

    /// When it wants to do something next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.agenda.next()
    }

    /// What it wants written.
    pub fn poll_output(&mut self) -> Option<Written> {
        self.out.pop_front()
    }

    /// Every session is forgotten.
    pub fn forget_sessions(&mut self) {
        self.sessions.clear();
    }

    fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
        loop {
            if let Some((stream, act)) = self.agenda.due(self.now) {
                self.act(stream, act);
                continue;
            }
            let busy = |conn: u64| self.streams.values().any(|exchange| exchange.conn == conn);
            let free: Vec<u64> = self.conns.keys().copied().filter(|conn| !busy(*conn)).collect();
            let next = free.into_iter().find_map(|conn| {
                let request = take_request(self.conns.get_mut(&conn)?)?;
                Some((conn, request))
            });
            let Some((conn, request)) = next else { return };
            self.request(conn, request);
        }
    }

    fn request(&mut self, conn: u64, request: Request) {
        let session = request.fields.get("mcp-session-id").cloned();
        let modern =
            request.fields.get("mcp-protocol-version").is_some_and(|version| version == "2026-07-28");
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let what = if request.verb == "POST" { entry(&message) } else { request.verb.clone() };
        if session.as_ref().is_some_and(|id| !self.sessions.contains(id)) {
            self.record.push(format!("404 {what}"));
            return self.answer(conn, "404 Not Found", "", b"no such session");
        }
        self.record.push(what.clone());
        match request.verb.as_str() {
            "POST" => {
                let opens = message["method"] == "initialize";
                if !opens && !modern && session.is_none() && message["method"] != "server/discover" {
                    return self.answer(conn, "400 Bad Request", "", b"no session");
                }
                let asks = message.get("method").is_some() && message.get("id").is_some();
                let stream = asks.then(|| {
                    let session = opens.then(|| {
                        self.opened += 1;
                        format!("session-{}", self.opened)
                    });
                    self.begin(Exchange {
                        conn,
                        id: message.get("id").cloned(),
                        what,
                        session,
                        streams: false,
                    })
                });
                let out = Out { agenda: &mut self.agenda, at: self.now, stream };
                self.server.line(&request.body, out);
                if !asks {
                    self.answer(conn, "202 Accepted", "", b"");
                }
            }
            "GET" if session.is_some() => {
                let exchange = Exchange { conn, id: None, what, session: None, streams: false };
                let stream = self.begin(exchange);
                self.begin_events(stream);
                self.push = Some(stream);
                while let Some(act) = self.unpushed.pop_front() {
                    self.act(None, act);
                }
            }
            "DELETE" => {
                self.sessions.remove(&session.unwrap_or_default());
                self.answer(conn, "200 OK", "", b"");
            }
            _ => self.answer(conn, "405 Method Not Allowed", "Allow: POST\r\n", b""),
        }
    }

    fn begin(&mut self, exchange: Exchange) -> u64 {
        self.numbers += 1;
        self.streams.insert(self.numbers, exchange);
        self.numbers
    }

    fn over(&mut self, stream: u64) -> Option<Exchange> {
        if self.push == Some(stream) {
            self.push = None;
        }
        self.streams.remove(&stream)
    }

    fn act(&mut self, stream: Stream, act: Act) {
        if act == Act::Close {
            return self.die();
        }
        let Some(stream) = stream.or(self.push) else { return self.unpushed.push_back(act) };
        match act {
            Act::Message(message) => self.say(stream, message.to_string().as_bytes()),
            Act::Raw(bytes) => self.say(stream, bytes.trim_ascii_end()),
            Act::End(end) => self.end(stream, end),
            Act::Close => {}
        }
    }

    /// Every connection ends and nothing is known any more, as if the program had ended and begun anew.
    fn die(&mut self) {
        self.deaths += 1;
        self.agenda.clear();
        self.streams.clear();
        self.sessions.clear();
        self.unpushed.clear();
        self.push = None;
        for conn in std::mem::take(&mut self.conns).into_keys() {
            self.out.push_back(Written { conn, bytes: Vec::new(), ends: true });
        }
    }

    fn say(&mut self, stream: u64, message: &[u8]) {
        let Some(exchange) = self.streams.get(&stream) else { return };
        let parsed: Option<Value> = serde_json::from_slice(message).ok();
        let answers = parsed.as_ref().is_some_and(|said| {
            said.get("method").is_none() && exchange.id.is_some() && said.get("id") == exchange.id.as_ref()
        });
        let (conn, streams) = (exchange.conn, exchange.streams);
        if answers && !streams {
            let opened = self.over(stream).and_then(|exchange| exchange.session);
            // A session that is refused is none.
            let opened = opened.filter(|_| parsed.is_some_and(|said| said.get("result").is_some()));
            let field = opened.as_ref().map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
            self.sessions.extend(opened);
            let fields = format!("Content-Type: application/json\r\n{field}");
            return self.answer(conn, "200 OK", &fields, message);
        }
        self.begin_events(stream);
        let event = [b"data: ", message, b"\n\n"].concat();
        self.chunk(conn, &event);
        if answers {
            self.end(stream, End::Finished);
        }
    }

    fn end(&mut self, stream: u64, end: End) {
        let Some(exchange) = self.over(stream) else { return };
        let conn = exchange.conn;
        match end {
            End::Refused(status) | End::Challenged(status) if !exchange.streams => {
                self.answer(conn, &format!("{status} No"), "", b"");
            }
            End::Finished => {
                if !exchange.streams {
                    self.write(conn, EVENTS.as_bytes().to_vec());
                }
                self.write(conn, b"0\r\n\r\n".to_vec());
            }
            _ => {
                self.conns.remove(&conn);
                self.out.push_back(Written { conn, bytes: Vec::new(), ends: true });
            }
        }
    }

    fn begin_events(&mut self, stream: u64) {
        if let Some(exchange) = self.streams.get_mut(&stream)
            && !std::mem::replace(&mut exchange.streams, true)
        {
            let conn = exchange.conn;
            self.write(conn, EVENTS.as_bytes().to_vec());
        }
    }

    fn chunk(&mut self, conn: u64, data: &[u8]) {
        let mut bytes = format!("{:x}\r\n", data.len()).into_bytes();
        bytes.extend_from_slice(data);
        bytes.extend_from_slice(b"\r\n");
        self.write(conn, bytes);
    }

    fn answer(&mut self, conn: u64, status: &str, fields: &str, body: &[u8]) {
        let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
        self.write(conn, [head.as_bytes(), body].concat());
    }

    fn write(&mut self, conn: u64, bytes: Vec<u8>) {
        self.out.push_back(Written { conn, bytes, ends: false });
    }
}

const EVENTS: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A request, once it is whole.
fn take_request(unread: &mut Vec<u8>) -> Option<Request> {
    let end = unread.windows(4).position(|part| part == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&unread[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let verb = lines.next()?.split(' ').next()?.to_owned();
    let field = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let fields: BTreeMap<String, String> = lines.filter_map(field).collect();
    let length = fields.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let whole = end + 4 + length;
    if unread.len() < whole {
        return None;
    }
    let body = unread[end + 4..whole].to_vec();
    unread.drain(..whole);
    Some(Request { verb, fields, body })
}
