//! A server that does what a script says, right or wrong. It shares no code with what it tests.

use std::collections::VecDeque;

use sanswire::Instant;
use serde_json::Value;

use super::coverage::Coverage;
use super::menu::{Entry, OPENINGS, SERVER_MENU};
use super::mouth::Mouth;
use super::wire::Wire;

/// A request that reached the server.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its id, as it stands on the wire.
    pub id: u64,
    /// Its method.
    pub method: String,
    /// Whether it names its revision itself.
    pub modern: bool,
    /// The number of a call that is made for the first time, if its arguments have one.
    pub call: Option<u64>,
}

impl Asked {
    /// A result of the right shape, `n` makes it different from others.
    #[must_use]
    pub fn result(&self, n: u32) -> String {
        let kind = if self.modern { r#""resultType":"complete","# } else { "" };
        let hints = if self.modern { r#""ttlMs":0,"cacheScope":"private","# } else { "" };
        match self.method.as_str() {
            "tools/list" => {
                format!(r#"{{{kind}{hints}"tools":[{{"name":"t{n}","inputSchema":{{"type":"object"}}}}]}}"#)
            }
            "resources/list" => {
                format!(r#"{{{kind}{hints}"resources":[{{"uri":"x:{n}","name":"{n}"}}]}}"#)
            }
            "prompts/list" => format!(r#"{{{kind}{hints}"prompts":[{{"name":"p{n}"}}]}}"#),
            "tools/call" => format!(r#"{{{kind}"content":[{{"type":"text","text":"said {n}"}}]}}"#),
            "prompts/get" => format!(r#"{{{kind}"messages":[],"description":"{n}"}}"#),
            "resources/read" => {
                format!(r#"{{{kind}{hints}"contents":[{{"uri":"x:{n}","text":"{n}"}}]}}"#)
            }
            _ => format!(r#"{{{kind}"_meta":{{"x/n":{n}}}}}"#),
        }
    }
}

/// The server.
#[derive(Debug)]
pub struct BadServer {
    partial: Vec<u8>,
    /// Every request that came, and was not of the opening.
    pub asked: Vec<Asked>,
    answers: VecDeque<(usize, u32)>,
    opening: (usize, u32),
    /// What it says.
    pub(super) mouth: Mouth,
    /// How long a message the client takes.
    pub limit: usize,
    /// Requests of its own so far.
    pub own: u32,
    /// How often it was asked to open the connection.
    pub opened: u32,
}

impl BadServer {
    pub(super) fn new(opening: (usize, u32), answers: VecDeque<(usize, u32)>, limit: usize) -> Self {
        Self {
            partial: Vec::new(),
            asked: Vec::new(),
            answers,
            opening,
            mouth: Mouth::new(),
            limit,
            own: 0,
            opened: 0,
        }
    }

    /// See [`Mouth::later`].
    pub fn later(&mut self, millis: u64) {
        self.mouth.later(millis);
    }

    /// See [`Mouth::raw`].
    pub fn raw(&mut self, bytes: impl Into<Vec<u8>>) {
        self.mouth.raw(bytes);
    }

    /// See [`Mouth::line`].
    pub fn line(&mut self, line: &str) {
        self.mouth.line(line);
    }

    /// Answers with a result.
    pub fn result(&mut self, id: u64, result: &str) {
        self.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }

    /// Answers with an error.
    pub fn error(&mut self, id: u64, code: i64) {
        self.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no"}}}}"#));
    }

    /// Tells something.
    pub fn notify(&mut self, method: &str, params: &str) {
        self.line(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
    }

    /// Asks something of its own.
    pub fn request(&mut self, id: &str, method: &str, params: &str) {
        self.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
    }

    /// See [`Mouth::close`].
    pub fn close(&mut self) {
        self.mouth.close();
    }

    fn act(&mut self, entry: &'static Entry, asked: &Asked, n: u32, now: Instant, seen: &mut Coverage) {
        self.mouth.begin(now);
        seen.behaviour(entry.name, entry.cases);
        (entry.act)(self, asked, n);
    }

    /// Does something of its own accord, about some request.
    pub(super) fn step(&mut self, entry: usize, n: u32, now: Instant, seen: &mut Coverage) {
        let none = Asked { id: 0, method: "tools/call".into(), modern: false, call: None };
        let newest = self.asked.len().saturating_sub(4);
        let recent = &self.asked[newest..];
        let about = recent.get(n as usize % recent.len().max(1)).cloned().unwrap_or(none);
        self.act(&SERVER_MENU[entry], &about, n, now, seen);
    }

    fn message(&mut self, line: &[u8], now: Instant, seen: &mut Coverage) {
        let message: Value = serde_json::from_slice(line).expect("the client writes JSON");
        let (Some(id), Some(method)) = (message["id"].as_u64(), message["method"].as_str()) else { return };
        let meta = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let params = &message["params"];
        let again = params.get("inputResponses").is_some() || params.get("requestState").is_some();
        let call = params["arguments"]["k"].as_u64().filter(|_| !again);
        let asked = Asked { id, method: method.into(), modern: meta.is_string(), call };
        if matches!(method, "initialize" | "server/discover") {
            self.opened += 1;
            let (entry, n) = self.opening;
            return self.act(&OPENINGS[entry], &asked, n, now, seen);
        }
        self.asked.push(asked.clone());
        match self.answers.pop_front() {
            Some((entry, n)) => self.act(&SERVER_MENU[entry], &asked, n, now, seen),
            None => {
                self.mouth.begin(now);
                let result = asked.result(7);
                self.result(id, &result);
            }
        }
    }

    /// Reads all that has arrived. True: there was something.
    pub(super) fn read(&mut self, input: &mut Wire, now: Instant, seen: &mut Coverage) -> bool {
        let arrived = input.arrived(now);
        let len = arrived.len();
        if self.mouth.is_closed() {
            input.take(len);
            return false;
        }
        self.partial.extend_from_slice(arrived);
        input.take(len);
        let partial = std::mem::take(&mut self.partial);
        let mut rest = &partial[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.message(&rest[..end], now, seen);
            rest = &rest[end + 1..];
        }
        self.partial = rest.to_vec();
        if input.has_ended(now) {
            self.mouth.give_up(now);
        }
        len > 0
    }
}
