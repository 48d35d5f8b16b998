//! Servers on the web: the demo server as a process, and one that answers as a test says.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::home::{Home, wait};

/// The demo server over HTTP, in a process of its own.
pub(crate) struct Demo {
    child: Child,
    /// Its address, as it says it.
    pub(crate) url: String,
}

impl Demo {
    /// Starts it on a port that is free.
    pub(crate) fn start(home: &Home) -> Self {
        Self::start_with(home, &["--http", "127.0.0.1:0"], &[])
    }

    /// Starts it with these words.
    pub(crate) fn start_with(home: &Home, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = home.command(&[&["demo-server"], words].concat());
        command.envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url =
            line.trim_end().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, url }
    }

    /// Host and port.
    pub(crate) fn host(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().split('/').next().unwrap()
    }

    /// Ends it by a signal; gives its exit status.
    pub(crate) fn end(mut self, signal: &str) -> i32 {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        wait(&mut self.child)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) verb: String,
    pub(crate) target: String,
    /// By name, in lower case.
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Asked {
    /// The message in it.
    pub(crate) fn message(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub(crate) fn method(&self) -> String {
        self.message()["method"].as_str().unwrap_or_default().to_owned()
    }
}

/// A server on the web that answers each request as a test says; each connection serves one.
pub(crate) struct Web {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    over: Arc<AtomicBool>,
}

impl Web {
    /// Answers with these bytes, then closes.
    pub(crate) fn new(answer: impl Fn(&Asked) -> String + Send + Sync + 'static) -> Self {
        Self::streaming(move |asked, mut stream| {
            let _ = stream.write_all(answer(asked).as_bytes());
        })
    }

    /// Hands each request to `answer`, with the connection that it came on.
    pub(crate) fn streaming(answer: impl Fn(&Asked, TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let this =
            Self { address: listener.local_addr().unwrap(), asked: Arc::default(), over: Arc::default() };
        let (asked, over, answer) = (Arc::clone(&this.asked), Arc::clone(&this.over), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    asked.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
                    let ended = stream.try_clone();
                    answer(&request, stream);
                    let _ = ended.map(|stream| stream.shutdown(Shutdown::Write));
                });
            }
        });
        this
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// What was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

/// One request off a stream.
pub(crate) fn read(stream: impl Read) -> Option<Asked> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (verb, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut fields = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        fields.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let len = fields.get("content-length").and_then(|len| len.parse().ok()).unwrap_or(0);
    let mut body = vec![0; len];
    stream.read_exact(&mut body).ok()?;
    Some(Asked { verb, target, fields, body: String::from_utf8(body).ok()? })
}

/// An answer of this status, with these fields (each with its line end) and this body.
pub(crate) fn answer(status: &str, fields: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

/// An answer with JSON.
pub(crate) fn json_answer(status: &str, fields: &str, body: &Value) -> String {
    answer(status, &format!("Content-Type: application/json\r\n{fields}"), &body.to_string())
}

/// A server of 2025-11-25 with one tool `t`, whose answer is `said`.
pub(crate) fn legacy(asked: &Asked, said: &str) -> String {
    let message = asked.message();
    let reply = |result: Value| {
        json_answer("200 OK", "", &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
    };
    match (asked.verb.as_str(), asked.method().as_str()) {
        ("POST", "initialize") => reply(json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "fake", "version": "1"}
        })),
        ("POST", "tools/list") => reply(json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})),
        ("POST", "tools/call") => reply(json!({"content": [{"type": "text", "text": said}]})),
        ("POST", method) if method.starts_with("notifications/") => answer("202 Accepted", "", ""),
        ("POST", _) => json_answer(
            "400 Bad Request",
            "",
            &json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}}),
        ),
        _ => answer("405 Method Not Allowed", "Allow: POST\r\n", ""),
    }
}
