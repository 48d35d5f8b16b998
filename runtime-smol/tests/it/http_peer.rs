//! A client that writes requests and reads answers byte by byte, for what a real one never does.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use async_io::Async;
use futures_lite::future::or;
use futures_lite::{AsyncReadExt as _, AsyncWriteExt as _};
use sanswire_smol::sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire_smol::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_smol::{HttpOptions, Server, Stopper, bind_loopback};

use crate::common::raw;

/// Options by which nothing happens but what is made to: no deadline of a connection or a stream comes within a test, and so
/// none hides that nobody was woken.
pub(crate) fn patient() -> HttpOptions {
    let hour = Duration::from_secs(3600);
    let mut options = HttpOptions::default();
    options.keep_alive = hour;
    (options.connection.head, options.connection.stall, options.connection.idle) = (hour, hour, hour);
    options
}

/// Serves while `use_it` lasts, and ends then.
pub(crate) async fn with<T>(
    server: &Server,
    options: HttpOptions,
    use_it: impl AsyncFnOnce(SocketAddr) -> T,
) -> T {
    let listener = bind_loopback(0).unwrap();
    let address = listener.local_addr().unwrap();
    let served = async {
        server.serve_http(listener, options).await.unwrap();
        panic!("it ended before it was stopped");
    };
    or(async { use_it(address).await }, served).await
}

/// As [`with`], of a server that is stopped meanwhile: returns once it has ended.
pub(crate) async fn until_stopped(
    server: &Server,
    options: HttpOptions,
    use_it: impl AsyncFnOnce(SocketAddr, Stopper),
) {
    let listener: TcpListener = bind_loopback(0).unwrap();
    let address = listener.local_addr().unwrap();
    let uses = async { use_it(address, server.stopper()).await };
    let (served, ()) = futures_lite::future::zip(server.serve_http(listener, options), uses).await;
    served.unwrap();
}

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
    modern_with(&[], id, method, name, members)
}

/// A request of 2026-07-28 with further fields.
pub(crate) fn modern_with(
    more: &[(&str, &str)],
    id: u64,
    method: &str,
    name: Option<&str>,
    members: &str,
) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}{comma}{META}}}}}"#);
    let mut fields = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    fields.extend(name.map(|name| ("Mcp-Name", name)));
    fields.extend(more);
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

/// The head of an answer, and its body unless that is a stream.
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

    /// The id of the message, and its text.
    pub(crate) fn said(&self) -> (u64, String) {
        said(&raw(std::str::from_utf8(&self.body).unwrap()))
    }
}

/// The id of a message, and the text of its result.
pub(crate) fn said(message: &RawJson) -> (u64, String) {
    let id = message.view().get("id").and_then(JsonRef::as_u64);
    let text = match message.view().get("result") {
        Some(result) => {
            let result = RawJson::parse_str(std::str::from_utf8(result.as_bytes()).unwrap()).unwrap();
            CallToolResult::new(result).text()
        }
        None => String::new(),
    };
    (id.unwrap_or_else(|| panic!("{}", message.as_str())), text)
}

/// The name of a notification or request.
pub(crate) fn method(message: &RawJson) -> String {
    let method = message.view().get("method").and_then(JsonRef::str);
    method.map(|name| name.decode().into_owned()).unwrap_or_default()
}

/// A connection.
pub(crate) struct Wire {
    stream: Async<TcpStream>,
    unread: Vec<u8>,
}

impl Wire {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self::of(Async::<TcpStream>::connect(address).await.unwrap())
    }

    pub(crate) fn of(stream: Async<TcpStream>) -> Self {
        stream.get_ref().set_nodelay(true).unwrap();
        Self { stream, unread: Vec::new() }
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Nothing more is sent.
    pub(crate) fn end_output(&self) {
        self.stream.get_ref().shutdown(Shutdown::Write).unwrap();
    }

    /// Reads on; false at the end.
    async fn fill(&mut self) -> bool {
        let mut block = vec![0; 64 * 1024];
        match self.stream.read(&mut block).await {
            Ok(0) => false,
            Ok(len) => {
                self.unread.extend_from_slice(&block[..len]);
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Everything in front of `mark`, which is taken as well; none at the end.
    async fn until(&mut self, mark: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.unread.windows(mark.len()).position(|part| part == mark) {
                let mut taken: Vec<u8> = self.unread.drain(..at + mark.len()).collect();
                taken.truncate(at);
                return Some(taken);
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    async fn exactly(&mut self, len: usize) -> Vec<u8> {
        while self.unread.len() < len {
            assert!(self.fill().await, "it ended too early");
        }
        self.unread.drain(..len).collect()
    }

    /// The head of the next answer; none at the end.
    pub(crate) async fn head(&mut self) -> Option<Answer> {
        let head = String::from_utf8(self.until(b"\r\n\r\n").await?).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let field = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        Some(Answer { status, fields: lines.map(field).collect(), body: Vec::new() })
    }

    /// The next answer, which is no stream.
    pub(crate) async fn answer(&mut self) -> Answer {
        let mut answer = self.head().await.expect("an answer");
        assert!(!answer.is_stream(), "{answer:?}");
        let len = answer.field("content-length").map_or(0, |len| len.parse().unwrap());
        answer.body = self.exactly(len).await;
        answer
    }

    /// The head of the next answer, which is a stream.
    pub(crate) async fn stream(&mut self) -> Answer {
        let head = self.head().await.expect("an answer");
        assert_eq!((head.status, head.is_stream()), (200, true), "{head:?}");
        head
    }

    /// The next chunk; none behind the last.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let len = String::from_utf8(self.until(b"\r\n").await.expect("a chunk")).unwrap();
        let len = usize::from_str_radix(&len, 16).unwrap();
        let chunk = self.exactly(len).await;
        assert_eq!(self.exactly(2).await, b"\r\n");
        (len > 0).then_some(chunk)
    }

    /// The next event of a stream, which comes in a chunk of its own here: its id and its message; none at its end.
    pub(crate) async fn next_event(&mut self) -> Option<(Option<String>, Option<RawJson>)> {
        let chunk = String::from_utf8(self.chunk().await?).unwrap();
        let of = |field: &'static str| chunk.lines().filter_map(move |line| line.strip_prefix(field));
        let data = of("data:").collect::<Vec<_>>().join("\n");
        let id = of("id:").next().map(|id| id.trim().to_owned());
        Some((id, (!data.trim().is_empty()).then(|| raw(data.trim()))))
    }

    /// The next message of a stream; none at its end.
    pub(crate) async fn event(&mut self) -> Option<RawJson> {
        loop {
            if let Some(message) = self.next_event().await?.1 {
                return Some(message);
            }
        }
    }

    /// Whether the end has come, with nothing before it.
    pub(crate) async fn ended(&mut self) -> bool {
        self.unread.is_empty() && !self.fill().await
    }

    pub(crate) async fn echoes(&mut self, id: u64) {
        self.send(&call(id, "echo", &format!(r#"{{"text":"{id}"}}"#))).await;
        assert_eq!(self.answer().await.said(), (id, id.to_string()));
    }
}

const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{"elicitation":{}},"clientInfo":{"name":"peer","version":"1"}}}"#
);

/// A client of 2025-11-25.
pub(crate) struct Session {
    pub(crate) wire: Wire,
    pub(crate) id: String,
}

impl Session {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let mut wire = Wire::connect(address).await;
        wire.send(&post(&[], INITIALIZE)).await;
        let answer = wire.answer().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.field("mcp-session-id").unwrap().to_owned();
        let mut session = Self { wire, id };
        session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        assert_eq!(session.wire.answer().await.status, 202);
        session
    }

    pub(crate) async fn send(&mut self, body: &str) {
        let request = post(&[("Mcp-Session-Id", &self.id), ("MCP-Protocol-Version", "2025-11-25")], body);
        self.wire.send(&request).await;
    }

    /// The same session, over a connection of its own.
    pub(crate) async fn beside(&self, address: SocketAddr) -> Self {
        Self { wire: Wire::connect(address).await, id: self.id.clone() }
    }

    pub(crate) async fn call(&mut self, id: u64, tool: &str, arguments: &str) {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)).await;
    }

    /// A request without a body.
    pub(crate) async fn ask(&mut self, verb: &str, fields: &str) {
        let id = &self.id;
        let head = format!("{verb} /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {id}\r\n");
        let head = head + "MCP-Protocol-Version: 2025-11-25\r\n" + fields + "\r\n";
        self.wire.send(&head).await;
    }
}
