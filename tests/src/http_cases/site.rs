//! A server that answers one kind of request as its row says, and all others as a good server does. It is told
//! requests and gives bytes; that it shares no code with the machines is the point of it.

use serde_json::{Value, json};

use super::{Answer, SECRET, Then, To};
use crate::peer::{discover_result, initialize_result};

/// A request, as its server reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is to be done.
    pub verb: String,
    /// To what.
    pub target: String,
    /// The fields, names in lower case.
    pub fields: Vec<(String, String)>,
    /// The content.
    pub body: Vec<u8>,
}

impl Request {
    /// The request at the start of `bytes` and how long it is; `None` before it is whole.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap().split(' ').map(str::to_owned);
        let (verb, target) = (words.next().unwrap(), words.next().unwrap());
        let fields: Vec<(String, String)> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length = fields.iter().find(|(name, _)| name == "content-length");
        let len = length.map_or(0, |(_, length)| length.parse().unwrap());
        let body = bytes.get(end + 4..end + 4 + len)?.to_vec();
        Some((Self { verb, target, fields, body }, end + 4 + len))
    }

    /// A field of the head.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(is, _)| is == name).map(|(_, value)| value.as_str())
    }

    fn message(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn method(&self) -> String {
        self.message()["method"].as_str().map_or_else(|| String::from("response"), str::to_owned)
    }

    fn line(&self) -> String {
        let mut line = format!("{} {}", self.verb, self.target);
        if self.verb == "POST" {
            line += &format!(" {}", self.method());
        }
        match &self.message()["id"] {
            Value::Null => {}
            id => line += &format!(" {id}"),
        }
        line
    }
}

/// What the server sends.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether they are those of the row, to be sent in pieces.
    pub of_the_row: bool,
    /// What becomes of the connection.
    pub then: Then,
}

/// The server.
#[derive(Clone, Debug)]
pub struct Site {
    row: Answer,
    left: usize,
    sessions: usize,
    /// The id of the request that was answered last as the row says.
    open: Value,
    lines: Vec<String>,
    /// How many of them came before the row's first answer.
    before: Option<usize>,
    faults: Vec<String>,
}

impl Site {
    /// One that nobody has come to.
    #[must_use]
    pub fn new(row: &Answer) -> Self {
        Self {
            left: row.times,
            row: row.clone(),
            sessions: 0,
            open: Value::Null,
            lines: Vec::new(),
            before: None,
            faults: Vec::new(),
        }
    }

    /// The answer to a request.
    pub fn answer(&mut self, request: &Request) -> Reply {
        self.check(request);
        // To see whether all goes on afterwards, and nothing else.
        let passing = request.verb == "DELETE" || request.message()["params"]["cursor"] == "afterwards";
        if !passing {
            self.lines.push(request.line());
        }
        if self.left > 0 && !passing && self.is_meant(request) {
            self.left -= 1;
            self.before.get_or_insert(self.lines.len());
            self.open = request.message()["id"].clone();
            return Reply { bytes: self.row.bytes.clone(), of_the_row: true, then: self.row.then };
        }
        Reply { bytes: self.good(request).into_bytes(), of_the_row: false, then: Then::Stays }
    }

    /// What it was sent behind the first request that it answered as the row says. The order in which requests of
    /// two connections come is their own.
    ///
    /// # Panics
    /// If that was never asked, or a request lacked what it has to have.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        assert!(self.faults.is_empty(), "{:?}", self.faults);
        let before = self.before.unwrap_or_else(|| panic!("it was not asked: {:?}", self.lines));
        let mut behind = self.lines[before..].to_vec();
        behind.sort();
        behind
    }

    fn is_meant(&self, request: &Request) -> bool {
        let (method, id) = match self.row.to {
            To::Probe => ("server/discover", None),
            To::Initialized => ("notifications/initialized", None),
            To::Get => return request.verb == "GET",
            // What is answered so again and again is asked again under other ids.
            To::Legacy(method, id) | To::Modern(method, id) => (method, (self.row.times == 1).then_some(id)),
        };
        request.verb == "POST"
            && request.method() == method
            && id.is_none_or(|id| request.message()["id"] == id)
    }

    /// What has to be in every request, wherever it was sent.
    fn check(&mut self, request: &Request) {
        let session = format!("{SECRET}-session-{}", self.sessions);
        let legacy = self.row.to.is_legacy() && self.sessions > 0 && request.method() != "initialize";
        let post = request.verb == "POST";
        let streams = (request.verb == "GET").then_some("text/event-stream");
        let modern = matches!(request.method().as_str(), "server/discover" | "tools/list" | "tools/call");
        let version = match request.method().as_str() {
            "initialize" => None,
            _ if self.sessions > 0 => Some("2025-11-25"),
            _ => modern.then_some("2026-07-28"),
        };
        let expected = [
            ("mcp-protocol-version", version),
            ("authorization", Some(&*format!("Bearer {SECRET}-token"))),
            ("mcp-session-id", legacy.then_some(&*session)),
            ("content-type", post.then_some("application/json")),
            ("accept", if post { Some("application/json, text/event-stream") } else { streams }),
            ("accept-encoding", (request.verb != "DELETE").then_some("identity")),
        ];
        for (name, value) in expected {
            if request.field(name) != value {
                self.faults.push(format!("{}: {name} is {:?}", request.line(), request.field(name)));
            }
        }
    }

    fn good(&mut self, request: &Request) -> String {
        let result = |site: &Self, mut result: Value| {
            if site.row.to.is_legacy() || matches!(site.row.to, To::Probe) {
                return result;
            }
            result["resultType"] = json!("complete");
            result
        };
        let id = request.message()["id"].clone();
        let answer = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        match (&*request.verb, &*request.method()) {
            ("POST", "server/discover") => json_answer("", &answer(discover_result(&["2026-07-28"]))),
            ("POST", "initialize") => {
                self.sessions += 1;
                let session = format!("Mcp-Session-Id: {SECRET}-session-{}\r\n", self.sessions);
                let session = if self.row.to.is_legacy() { &*session } else { "" };
                json_answer(session, &answer(initialize_result("2025-11-25")))
            }
            ("POST", "tools/list") => json_answer("", &answer(result(self, json!({"tools": []})))),
            ("POST", "tools/call") => json_answer("", &answer(result(self, json!({"content": []})))),
            ("POST", _) => "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".into(),
            ("GET", _) if request.field("last-event-id").is_some() => {
                let id = self.open.clone();
                let late = json!({"jsonrpc": "2.0", "id": id, "result": {"tools": []}});
                let event = format!("id: late\ndata: {late}\n\n");
                let len = event.len();
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n\
                     {len:x}\r\n{event}\r\n0\r\n\r\n"
                )
            }
            ("GET", _) => "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n".into(),
            _ => "HTTP/1.1 204 No Content\r\n\r\n".into(),
        }
    }
}

fn json_answer(field: &str, body: &str) -> String {
    let len = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{field}Content-Length: {len}\r\n\r\n{body}")
}
