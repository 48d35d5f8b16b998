//! A client over HTTP that does what a script says, right or wrong, and what has to come back to it, told from the bytes
//! alone: for each request at most one answer, which is HTTP as it should be and answers no other.

use std::collections::VecDeque;

use sanswire::Instant;
use sanswire::http::pool::ConnectionHandle;
use serde_json::Value;

use super::answers::{Answers, Events, Piece, Told};
use super::coverage::Coverage;
use super::mouth::Mouth;
use super::wire::Wire;

/// Something that such a client may do.
pub struct WebCallerEntry {
    /// Its name in a script.
    pub name: &'static str,
    /// The cases of public reports that it shows.
    pub cases: &'static [&'static str],
    /// Does it.
    pub act: fn(&mut WebCaller, u32),
}

impl std::fmt::Debug for WebCallerEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A request that was sent, as far as its answer depends on it.
#[derive(Clone, Debug)]
struct Sent {
    /// The ids that it may be answered under; none: any, for what is sent there belongs to other requests.
    ids: Option<Vec<String>>,
    answered: Vec<String>,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) connection: ConnectionHandle,
    pub(super) to_site: Wire,
    pub(super) to_client: Wire,
    mouth: Mouth,
    answers: Answers,
    /// What was sent and not answered, oldest first.
    sent: VecDeque<Sent>,
    /// So many answers may come to what is no request: one to it, and one to what is taken for the next.
    more: usize,
    /// Something of that kind was sent: what belongs to what cannot be seen from then on.
    spoilt: bool,
    kind: String,
    content: Vec<u8>,
    events: Events,
}

/// The client: up to three connections.
#[derive(Debug)]
pub struct WebCaller {
    pub(super) open: Vec<Caller>,
    /// Those that are over for it, and of which the server has not seen that yet.
    pub(super) parting: Vec<Caller>,
    at: usize,
    connections: u64,
    /// Requests so far; each bears its number.
    pub count: u64,
    /// Sessions that it was given.
    pub sessions: Vec<String>,
    /// Events' ids that it saw.
    pub seen: Vec<String>,
    /// How long a message the server takes.
    pub limit: usize,
}

const MOST: usize = 3;

impl WebCaller {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            open: Vec::new(),
            parting: Vec::new(),
            at: 0,
            connections: 0,
            count: 0,
            sessions: Vec::new(),
            seen: Vec::new(),
            limit,
        }
    }

    /// Does something on one of its connections, a new one if that has ended.
    pub(super) fn step(
        &mut self,
        entry: &'static WebCallerEntry,
        n: u32,
        wire: impl Fn() -> Wire,
        now: Instant,
        seen: &mut Coverage,
    ) {
        seen.behaviour(entry.name, entry.cases);
        let over = |caller: &mut Caller| caller.mouth.is_closed() && caller.to_client.has_ended(now);
        self.parting.extend(self.open.extract_if(.., over));
        let at = (n >> 24) as usize % MOST;
        if at >= self.open.len() {
            self.connections += 1;
            self.open.push(Caller {
                connection: ConnectionHandle::numbered(self.connections),
                to_site: wire(),
                to_client: wire(),
                mouth: Mouth::new(),
                answers: Answers::new(1 << 20),
                sent: VecDeque::new(),
                more: 0,
                spoilt: false,
                kind: String::new(),
                content: Vec::new(),
                events: Events::default(),
            });
        }
        self.at = at.min(self.open.len() - 1);
        self.open[self.at].mouth.begin(now);
        (entry.act)(self, n);
    }

    /// Writes bytes as they are: they are no request, or none that is understood.
    pub fn raw(&mut self, bytes: impl Into<Vec<u8>>) {
        let caller = &mut self.open[self.at];
        caller.spoilt = true;
        caller.more += 2;
        caller.mouth.raw(bytes);
    }

    /// The rest of a request that was sent in part.
    pub fn rest(&mut self, text: &str) {
        self.open[self.at].mouth.raw(text);
    }

    /// See [`Mouth::later`].
    pub fn later(&mut self, millis: u64) {
        self.open[self.at].mouth.later(millis);
    }

    /// See [`Mouth::close`].
    pub fn close(&mut self) {
        self.open[self.at].mouth.close();
    }

    /// The text of a request. `fields`: each with its end of a line.
    #[must_use]
    pub fn text(&self, verb: &str, fields: &str, content: &str) -> String {
        let len = match content.len() {
            0 => String::new(),
            len => format!("Content-Type: application/json\r\nContent-Length: {len}\r\n"),
        };
        format!(
            "{verb} /mcp HTTP/1.1\r\nHost: localhost:8080\r\nAccept: application/json, text/event-stream\r\n{fields}{len}\r\n{content}"
        )
    }

    /// Sends a request that can be understood, of which an answer may bear these ids.
    pub fn send(&mut self, text: &str, ids: Option<Vec<String>>) {
        let caller = &mut self.open[self.at];
        caller.sent.push_back(Sent { ids, answered: Vec::new() });
        caller.mouth.raw(text);
    }

    /// A message, in the newest era or with a session.
    pub fn message(&mut self, method: &str, params: &str, modern: bool, n: u32) {
        let id = 10 + self.count;
        self.message_as(&id.to_string(), method, params, modern, n);
    }

    /// The fields that name a session, one of the newest.
    #[must_use]
    pub fn session(&self, n: u32) -> String {
        let newest = self.sessions.len().saturating_sub(2);
        let some = &self.sessions[newest..];
        let id = some.get(n as usize % some.len().max(1));
        id.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"))
    }

    /// As [`message`](Self::message), under this id.
    pub fn message_as(&mut self, id: &str, method: &str, params: &str, modern: bool, n: u32) {
        self.count += 1;
        let k = self.count;
        let comma = if params.is_empty() { "" } else { "," };
        let (meta, fields) = match modern {
            true => (
                r#","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#,
                format!(
                    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{}",
                    if method == "tools/call" { "Mcp-Name: a\r\n" } else { "" }
                ),
            ),
            false => ("", self.session(n)),
        };
        let content = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{comma}"_meta":{{"x/k":{k},"progressToken":{k}{meta}}}}}}}"#
        );
        let text = self.text("POST", &fields, &content);
        self.send(&text, Some(vec![id.to_owned()]));
    }

    /// Reads and writes all of its connections. True: there was something.
    pub(super) fn turn(&mut self, now: Instant) -> bool {
        let mut busy = false;
        for caller in self.open.iter_mut().chain(&mut self.parting) {
            let arrived = caller.to_client.arrived(now).to_vec();
            caller.to_client.take(arrived.len());
            busy |= !arrived.is_empty();
            for byte in arrived {
                caller.read(byte, &mut self.sessions, &mut self.seen);
            }
            if caller.to_client.has_ended(now) && !caller.mouth.is_closed() {
                caller.mouth.give_up(now);
                busy = true;
            }
            busy |= caller.mouth.write(&mut caller.to_site, now);
        }
        busy
    }

    /// All connections.
    pub(super) fn all(&self) -> impl Iterator<Item = &Caller> {
        self.open.iter().chain(&self.parting)
    }

    /// Nothing more is said.
    pub(super) fn give_up(&mut self, now: Instant) {
        self.open.iter_mut().for_each(|caller| caller.mouth.give_up(now));
    }

    /// When it does something next.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        let own = self.open.iter().filter_map(|caller| caller.mouth.next());
        let wires = self.all().flat_map(|caller| [&caller.to_site, &caller.to_client]);
        own.chain(wires.filter_map(|wire| wire.next_arrival(now))).filter(|at| *at > now).min()
    }
}

impl Caller {
    fn read(&mut self, byte: u8, sessions: &mut Vec<String>, seen: &mut Vec<String>) {
        if !self.answers.is_open() {
            assert!(!self.sent.is_empty() || self.more > 0, "rule 2: an answer that nobody asked for");
            self.answers.asked();
        }
        for piece in self.answers.read(&[byte]) {
            match piece {
                Piece::Head(_, fields) => {
                    let of = |name: &str| fields.iter().find(|(found, _)| found == name);
                    sessions.extend(of("mcp-session-id").map(|(_, id)| id.clone()));
                    self.kind = of("content-type").map_or(String::new(), |(_, kind)| kind.clone());
                    (self.content, self.events) = (Vec::new(), Events::default());
                }
                Piece::Body(bytes) if self.kind == "text/event-stream" => {
                    for told in self.events.read(&bytes) {
                        match told {
                            Told::Id(id) => seen.push(id),
                            Told::Event(_, data) => self.message(&data),
                        }
                    }
                }
                Piece::Body(bytes) => self.content.extend_from_slice(&bytes),
                Piece::End => {
                    let content = std::mem::take(&mut self.content);
                    if self.kind == "application/json" && !content.is_empty() {
                        self.message(&content);
                    }
                    if self.sent.pop_front().is_none() {
                        self.more -= 1;
                    }
                }
                // What answers a request for a head alone says how long the rest would be.
                Piece::Fault => assert!(self.spoilt, "the server's answer is no HTTP: {:?}", self.answers),
            }
        }
    }

    /// A message in the answer to the oldest request that has none.
    fn message(&mut self, bytes: &[u8]) {
        let message: Value = serde_json::from_slice(bytes).expect("the server writes JSON");
        let all = message.as_array().cloned().unwrap_or_else(|| vec![message]);
        let Some(sent) = self.sent.front_mut().filter(|_| !self.spoilt) else { return };
        for message in all {
            if message.get("result").is_none() && message.get("error").is_none() {
                continue;
            }
            let Some(id) = message.get("id").filter(|id| !id.is_null()).map(Value::to_string) else {
                continue;
            };
            if let Some(ids) = &sent.ids {
                assert!(ids.contains(&id), "rule 2: the answer to another request: {message}, not {ids:?}");
                let times = |all: &[String]| all.iter().filter(|one| **one == id).count();
                assert!(times(&sent.answered) < times(ids), "rule 2: answered twice: {message}");
            }
            sent.answered.push(id);
        }
    }
}
