//! A server over HTTP whose every byte is a script's: a socket, a parser of requests that asks for no more than the
//! client's own form, and a closure for each request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::common::HttpTarget;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) verb: String,
    pub(crate) target: String,
    /// The head's fields, names in lower case.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(is, _)| is == name).map(|(_, value)| &**value)
    }

    /// The method of the message in its body.
    pub(crate) fn method(&self) -> &str {
        self.body.split("\"method\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default()
    }

    /// The id of the message in its body, as it stands there.
    pub(crate) fn id(&self) -> Option<&str> {
        self.body.split("\"id\":").nth(1).and_then(|rest| rest.split([',', '}']).next())
    }

    pub(crate) fn is(&self, method: &str) -> bool {
        self.method() == method
    }
}

/// What a script answers with.
pub(crate) struct Answer<'a> {
    stream: &'a TcpStream,
    request: &'a Request,
    /// The connection ends with this exchange.
    ends: bool,
}

impl Answer<'_> {
    pub(crate) fn raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.ends |= (&*self.stream).write_all(bytes.as_ref()).is_err();
    }

    /// Byte by byte.
    pub(crate) fn dribble(&mut self, bytes: impl AsRef<[u8]>) {
        for byte in bytes.as_ref() {
            self.raw([*byte]);
            std::thread::yield_now();
        }
    }

    pub(crate) fn status(&mut self, status: u16) {
        self.raw(format!("HTTP/1.1 {status} .\r\nContent-Length: 0\r\n\r\n"));
    }

    pub(crate) fn json(&mut self, status: u16, fields: &str, body: &str) {
        let len = body.len();
        self.raw(format!(
            "HTTP/1.1 {status} .\r\nContent-Type: application/json\r\nContent-Length: {len}\r\n{fields}\r\n{body}"
        ));
    }

    /// The result of the request.
    pub(crate) fn result(&mut self, result: &str) {
        let message = self.reply(result);
        self.json(200, "", &message);
    }

    /// The message of a result.
    pub(crate) fn reply(&self, result: &str) -> String {
        let id = self.request.id().unwrap_or("null");
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
    }

    /// The head of a stream of events.
    pub(crate) fn stream(&mut self) {
        self.raw("HTTP/1.1 200 .\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    }

    pub(crate) fn event(&mut self, data: &str) {
        let event = format!("data: {data}\n\n");
        self.raw(format!("{:x}\r\n{event}\r\n", event.len()));
    }

    /// The last event and the end of the stream in one piece: whoever has read the one has read the other.
    pub(crate) fn last_event(&mut self, data: &str) {
        let event = format!("data: {data}\n\n");
        self.raw(format!("{:x}\r\n{event}\r\n0\r\n\r\n", event.len()));
    }

    pub(crate) fn end_stream(&mut self) {
        self.raw("0\r\n\r\n");
    }

    /// Whether nobody takes what is said any more, as the last word showed.
    pub(crate) const fn has_ended(&self) -> bool {
        self.ends
    }

    /// Closes the connection after this.
    pub(crate) const fn close(&mut self) {
        self.ends = true;
    }

    /// The result of the request, and behind it, in one piece where the system can, the end of the connection.
    pub(crate) fn result_and_end(&mut self, result: &str) {
        #[cfg(target_os = "linux")]
        rustix::net::sockopt::set_tcp_cork(self.stream, true).unwrap();
        self.result(result);
        self.ends |= self.stream.shutdown(std::net::Shutdown::Both).is_ok();
    }

    /// Waits until the client ends the connection.
    pub(crate) fn wait_for_the_end(&mut self) {
        self.ends = true;
        while matches!((&*self.stream).read(&mut [0; 1024]), Ok(1..)) {}
    }
}

type Script = dyn Fn(&Request, &mut Answer<'_>) + Send + Sync;

/// The server.
pub(crate) struct Peer {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    requests: Vec<Request>,
    connections: usize,
    /// Connections that are over.
    ended: usize,
}

impl Peer {
    pub(crate) fn start(script: impl Fn(&Request, &mut Answer<'_>) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (kept, script): (_, Arc<Script>) = (Arc::clone(&seen), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                kept.lock().unwrap().connections += 1;
                let (kept, script) = (Arc::clone(&kept), Arc::clone(&script));
                std::thread::spawn(move || {
                    stream.set_nodelay(true).unwrap();
                    serve(&stream, &kept, &*script);
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                    kept.lock().unwrap().ended += 1;
                });
            }
        });
        Self { address, seen }
    }

    pub(crate) fn target(&self) -> HttpTarget {
        HttpTarget::new(&format!("http://{}/mcp", self.address)).unwrap()
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().requests.clone()
    }

    /// How many requests of that method came.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.seen.lock().unwrap().requests.iter().filter(|request| request.is(method)).count()
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.lock().unwrap().connections
    }

    pub(crate) fn ended(&self) -> usize {
        self.seen.lock().unwrap().ended
    }
}

fn serve(stream: &TcpStream, seen: &Mutex<Seen>, script: &Script) {
    let mut input = BufReader::new(stream);
    while let Some(request) = read_request(&mut input) {
        seen.lock().unwrap().requests.push(request.clone());
        let mut answer = Answer { stream, request: &request, ends: false };
        script(&request, &mut answer);
        if answer.ends {
            return;
        }
    }
}

fn read_request(input: &mut impl BufRead) -> Option<Request> {
    let line = |input: &mut dyn BufRead| {
        let mut line = String::new();
        let whole = input.read_line(&mut line).ok()? > 0 && line.ends_with("\r\n");
        whole.then(|| line.trim_end().to_owned())
    };
    let first = line(input)?;
    let mut words = first.split(' ').map(str::to_owned);
    let (verb, target) = (words.next()?, words.next()?);
    let mut fields = Vec::new();
    loop {
        let field = line(input)?;
        if field.is_empty() {
            break;
        }
        let (name, value) = field.split_once(':')?;
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = fields.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    input.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).unwrap();
    Some(Request { verb, target, fields, body })
}

/// A server of 2025-11-25 whose other requests are `script`'s.
pub(crate) fn legacy(script: impl Fn(&Request, &mut Answer<'_>) + Send + Sync + 'static) -> Peer {
    Peer::start(move |request, answer| match (&*request.verb, request.method()) {
        ("POST", "server/discover") => answer.status(400),
        ("POST", "initialize") => {
            let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"peer","version":"1"}}"#;
            let message = answer.reply(result);
            answer.json(200, "Mcp-Session-Id: session-1\r\n", &message);
        }
        ("POST", "notifications/initialized" | "notifications/cancelled") => answer.status(202),
        ("DELETE", _) => answer.status(200),
        _ => script(request, answer),
    })
}

/// A server of 2026-07-28 whose other requests are `script`'s.
pub(crate) fn modern(script: impl Fn(&Request, &mut Answer<'_>) + Send + Sync + 'static) -> Peer {
    Peer::start(move |request, answer| {
        match request.method() {
        "server/discover" => answer.result(
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"peer","version":"1"}}"#,
        ),
        _ => script(request, answer),
    }
    })
}

/// The result of a tool that says `text`.
pub(crate) fn says(text: &str) -> String {
    format!(r#"{{"resultType":"complete","content":[{{"type":"text","text":"{text}"}}]}}"#)
}
