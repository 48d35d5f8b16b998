//! A client that writes requests and reads answers byte by byte, for what a real one never does.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;

use sanswire_std::sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire_std::{HttpOptions, Server};

use crate::common::{LONG, raw};
use crate::served::server;

/// A server that serves over HTTP, and what ends it.
pub(crate) struct Site {
    pub(crate) server: Server,
    pub(crate) address: SocketAddr,
    serving: Option<JoinHandle<()>>,
}

impl Site {
    /// With the flags of [`served`](crate::served).
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::with(server(flags), HttpOptions::default())
    }

    /// At an address that was one's before.
    pub(crate) fn at(address: SocketAddr) -> Self {
        Self::on(TcpListener::bind(address).unwrap(), server(&[]), HttpOptions::default())
    }

    pub(crate) fn with(server: Server, options: HttpOptions) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), server, options)
    }

    fn on(listener: TcpListener, server: Server, options: HttpOptions) -> Self {
        let address = listener.local_addr().unwrap();
        let serves = server.clone();
        let serving = std::thread::spawn(move || serves.serve_http(listener, options).unwrap());
        Self { server, address, serving: Some(serving) }
    }

    pub(crate) fn connect(&self) -> Wire {
        Wire::to(self.address)
    }

    /// A client that has opened its session.
    pub(crate) fn session(&self) -> Session {
        let mut wire = self.connect();
        wire.send(&post(&[], INITIALIZE));
        let answer = wire.answer();
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.field("mcp-session-id").unwrap().to_owned();
        let mut session = Session { wire, id };
        session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(session.wire.answer().status, 202);
        session
    }

    /// Waits until all is over.
    pub(crate) fn join(mut self) {
        self.serving.take().unwrap().join().unwrap();
    }

    /// Stops, and returns once all is over.
    pub(crate) fn stop(self) {
        self.server.stopper().stop();
        self.join();
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.stopper().stop_now();
    }
}

const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{"elicitation":{}},"clientInfo":{"name":"peer","version":"1"}}}"#
);

/// A request with a body.
pub(crate) fn post(fields: &[(&str, &str)], body: &str) -> String {
    let mut head = String::from("POST /mcp HTTP/1.1\r\nHost: localhost\r\n");
    head += "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    for (name, value) in fields {
        head += &format!("{name}: {value}\r\n");
    }
    head + &format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p"}"#
);

/// A request of 2026-07-28.
pub(crate) fn modern(id: u64, method: &str, name: Option<&str>, members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}{comma}{META}}}}}"#);
    let mut fields = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    fields.extend(name.map(|name| ("Mcp-Name", name)));
    post(&fields, &body)
}

/// A call of 2026-07-28.
pub(crate) fn call(id: u64, tool: &str, arguments: &str) -> String {
    modern(id, "tools/call", Some(tool), &format!(r#""name":"{tool}","arguments":{arguments}"#))
}

/// A subscription of 2026-07-28 to changes of the tools.
pub(crate) fn listen(id: u64) -> String {
    modern(id, "subscriptions/listen", None, r#""notifications":{"toolsListChanged":true}"#)
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(is, _)| is == name).map(|(_, value)| &**value)
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.field("content-type") == Some("text/event-stream")
    }

    pub(crate) fn json(&self) -> RawJson {
        raw(std::str::from_utf8(&self.body).unwrap())
    }

    /// The id of the message, and the text of its result if it has one.
    pub(crate) fn said(&self) -> (u64, String) {
        said(&self.json())
    }
}

/// The id of a message, and the text of its result if it has one.
pub(crate) fn said(message: &RawJson) -> (u64, String) {
    let id = message.view().get("id").and_then(JsonRef::as_u64);
    (id.unwrap_or_else(|| panic!("{}", message.as_str())), crate::peer::text(message))
}

/// One event of a stream.
pub(crate) struct StreamEvent {
    pub(crate) id: Option<String>,
    pub(crate) message: Option<RawJson>,
}

/// A connection.
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
}

impl Wire {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        Self { stream, unread: Vec::new() }
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    /// Reads on; false at the end.
    fn fill(&mut self) -> bool {
        let mut block = [0; 64 * 1024];
        match self.stream.read(&mut block) {
            Ok(0) => false,
            Ok(len) => {
                self.unread.extend_from_slice(&block[..len]);
                true
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Everything in front of `mark`, which is taken as well; none at the end.
    fn until(&mut self, mark: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.unread.windows(mark.len()).position(|part| part == mark) {
                let mut taken: Vec<u8> = self.unread.drain(..at + mark.len()).collect();
                taken.truncate(at);
                return Some(taken);
            }
            if !self.fill() {
                return None;
            }
        }
    }

    pub(crate) fn exactly(&mut self, len: usize) -> Vec<u8> {
        while self.unread.len() < len {
            assert!(self.fill(), "it ended too early");
        }
        self.unread.drain(..len).collect()
    }

    /// The head of the next answer; none at the end.
    pub(crate) fn head(&mut self) -> Option<Answer> {
        let head = String::from_utf8(self.until(b"\r\n\r\n")?).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let field = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        Some(Answer { status, fields: lines.map(field).collect(), body: Vec::new() })
    }

    /// The next answer, which is no stream.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.head().expect("an answer");
        assert!(!answer.is_stream(), "{answer:?}");
        if answer.field("transfer-encoding").is_some() {
            while let Some(mut chunk) = self.chunk() {
                answer.body.append(&mut chunk);
            }
        } else {
            let len = answer.field("content-length").map_or(0, |len| len.parse().unwrap());
            answer.body = self.exactly(len);
        }
        answer
    }

    /// The head of the next answer, which is a stream.
    pub(crate) fn stream(&mut self) -> Answer {
        let head = self.head().expect("an answer");
        assert_eq!((head.status, head.is_stream()), (200, true), "{head:?}");
        head
    }

    /// The next chunk; none behind the last.
    fn chunk(&mut self) -> Option<Vec<u8>> {
        let len = String::from_utf8(self.until(b"\r\n").expect("a chunk")).unwrap();
        let len = usize::from_str_radix(&len, 16).unwrap();
        let chunk = self.exactly(len);
        assert_eq!(self.exactly(2), b"\r\n");
        (len > 0).then_some(chunk)
    }

    /// The next event of a stream; none at its end. Each comes in a chunk of its own here.
    pub(crate) fn next_event(&mut self) -> Option<StreamEvent> {
        let chunk = String::from_utf8(self.chunk()?).unwrap();
        let of = |field: &'static str| chunk.lines().filter_map(move |line| line.strip_prefix(field));
        let data = of("data:").collect::<Vec<_>>().join("\n");
        Some(StreamEvent {
            id: of("id:").next().map(|id| id.trim().to_owned()),
            message: (!data.trim().is_empty()).then(|| raw(data.trim())),
        })
    }

    /// The next message of a stream; none at its end.
    pub(crate) fn event(&mut self) -> Option<RawJson> {
        loop {
            if let Some(message) = self.next_event()?.message {
                return Some(message);
            }
        }
    }

    /// The answer to a request, be it a stream: what was told before, and the last message.
    pub(crate) fn outcome(&mut self) -> (Vec<RawJson>, RawJson) {
        let mut head = self.head().expect("an answer");
        if !head.is_stream() {
            let len = head.field("content-length").unwrap().parse().unwrap();
            head.body = self.exactly(len);
            return (Vec::new(), head.json());
        }
        let mut events = Vec::new();
        while let Some(event) = self.event() {
            events.push(event);
        }
        let last = events.pop().expect("an answer");
        (events, last)
    }

    /// Whether the end has come, with nothing before it.
    pub(crate) fn ended(&mut self) -> bool {
        self.unread.is_empty() && !self.fill()
    }

    pub(crate) fn echoes(&mut self, id: u64) {
        self.send(&call(id, "echo", &format!(r#"{{"text":"{id}"}}"#)));
        assert_eq!(self.answer().said(), (id, id.to_string()));
    }
}

/// A client of 2025-11-25.
pub(crate) struct Session {
    pub(crate) wire: Wire,
    pub(crate) id: String,
}

impl Session {
    /// A request of this session's.
    pub(crate) fn post(&self, body: &str) -> String {
        post(&[("Mcp-Session-Id", &self.id), ("MCP-Protocol-Version", "2025-11-25")], body)
    }

    pub(crate) fn send(&mut self, body: &str) {
        let request = self.post(body);
        self.wire.send(&request);
    }

    /// The same session, over a connection of its own.
    pub(crate) fn beside(&self, site: &Site) -> Self {
        Self { wire: site.connect(), id: self.id.clone() }
    }

    pub(crate) fn call(&mut self, id: u64, tool: &str, arguments: &str) {
        self.send(crate::peer::call(id, tool, arguments).trim_end());
    }

    /// Asks for what belongs to no request.
    pub(crate) fn get(&mut self) {
        self.ask("GET", "Accept: text/event-stream\r\n");
    }

    /// Asks for what came behind an event.
    pub(crate) fn resume(&mut self, last: &str) {
        self.ask("GET", &format!("Accept: text/event-stream\r\nLast-Event-ID: {last}\r\n"));
    }

    /// Ends the session.
    pub(crate) fn delete(&mut self) {
        self.ask("DELETE", "");
    }

    fn ask(&mut self, verb: &str, fields: &str) {
        let head = format!("{verb} /mcp HTTP/1.1\r\nHost: localhost\r\n{fields}");
        let session = format!("Mcp-Session-Id: {}\r\nMCP-Protocol-Version: 2025-11-25\r\n", self.id);
        self.wire.send(&format!("{head}{session}\r\n"));
    }
}
