//! A client of its own for the comparison: JSON lines over the pipes of a child, with std and serde_json alone.
//!
//! It shares no code with the library, so that what both report of a server was seen twice.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fmt, io};

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(30);
const MODERN: &str = "2026-07-28";
/// What is offered in `initialize`.
pub(crate) const LEGACY: &str = "2025-11-25";

/// What came back for a request.
#[derive(Debug)]
pub(crate) enum Reply {
    Result(Value),
    Error { code: i64, message: String },
}

/// Why nothing came back.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The server ended its output; the last of what it wrote to stderr.
    Closed(String),
    /// No answer in time.
    Silent,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(stderr) => write!(f, "the server ended its output; stderr: {stderr}"),
            Self::Silent => write!(f, "no answer within {PATIENCE:?}"),
        }
    }
}

/// Which era's form the requests have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// What a server said of itself, and its tools.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) version: String,
    pub(crate) identity: (String, String),
    /// In the server's order.
    pub(crate) tools: Vec<String>,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Raw {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    next_id: i64,
}

impl Raw {
    pub(crate) fn spawn(mut command: Command) -> io::Result<Self> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (Some(stdin), Some(stdout), Some(mut stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("a pipe is missing"));
        };
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = thread::spawn(move || {
            let mut all = Vec::new();
            // What was read until an error is as good as the whole for a message.
            let _ = stderr.read_to_end(&mut all);
            all
        });
        Ok(Self { child, stdin: Some(stdin), lines, stderr: Some(stderr), next_id: 1 })
    }

    fn send(&mut self, message: &Value) -> Result<(), Broken> {
        let line = format!("{message}\n");
        let sent = self.stdin.as_mut().is_some_and(|stdin| stdin.write_all(line.as_bytes()).is_ok());
        if sent { Ok(()) } else { Err(self.closed()) }
    }

    /// Sends a request and waits for its reply; refuses what the server asks meanwhile.
    pub(crate) fn request(&mut self, era: Era, method: &str, mut params: Value) -> Result<Reply, Broken> {
        let id = self.next_id;
        self.next_id += 1;
        if era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "0" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let until = Instant::now() + PATIENCE;
        loop {
            let line = match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return Err(Broken::Silent),
                Err(RecvTimeoutError::Disconnected) => return Err(self.closed()),
            };
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if message.get("method").is_some() {
                if let Some(theirs) = message.get("id") {
                    let error = json!({ "code": -32601, "message": "not here" });
                    self.send(&json!({ "jsonrpc": "2.0", "id": theirs, "error": error }))?;
                }
                continue;
            }
            if message["id"] != id {
                continue;
            }
            return Ok(match message.get("error") {
                Some(error) => Reply::Error {
                    code: error["code"].as_i64().unwrap_or_default(),
                    message: text(&error["message"]),
                },
                None => Reply::Result(message["result"].clone()),
            });
        }
    }

    /// The handshake of the old era, up to the listing.
    pub(crate) fn legacy_listing(&mut self, offered: &str) -> Result<Listing, String> {
        let client = json!({ "name": "raw", "version": "0" });
        let offer = json!({ "protocolVersion": offered, "capabilities": {}, "clientInfo": client });
        let hello = self.result(Era::Legacy, "initialize", offer)?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .map_err(|broken| broken.to_string())?;
        Ok(Listing {
            version: text(&hello["protocolVersion"]),
            identity: identity(&hello["serverInfo"]),
            tools: self.tools(Era::Legacy)?,
        })
    }

    /// The same in the new era, on a connection that was opened with `server/discover`.
    pub(crate) fn modern_listing(&mut self) -> Result<Listing, String> {
        let hello = self.result(Era::Modern, "server/discover", json!({}))?;
        let versions = hello["supportedVersions"].as_array().cloned().unwrap_or_default();
        Ok(Listing {
            version: versions.iter().map(text).collect::<Vec<_>>().join(" "),
            identity: identity(&hello["_meta"]["io.modelcontextprotocol/serverInfo"]),
            tools: self.tools(Era::Modern)?,
        })
    }

    fn tools(&mut self, era: Era) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        let mut params = json!({});
        loop {
            let page = self.result(era, "tools/list", params)?;
            let tools = page["tools"].as_array().ok_or("a page without tools")?;
            names.extend(tools.iter().map(|tool| text(&tool["name"])));
            match page.get("nextCursor") {
                Some(Value::String(cursor)) => params = json!({ "cursor": cursor }),
                _ => return Ok(names),
            }
        }
    }

    /// Calls a tool: all texts of the result in one, and whether the result is marked as an error.
    pub(crate) fn call(&mut self, era: Era, tool: &str, arguments: &str) -> Result<(String, bool), String> {
        let arguments: Value = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        let result = self.result(era, "tools/call", json!({ "name": tool, "arguments": arguments }))?;
        let blocks = result["content"].as_array().cloned().unwrap_or_default();
        let texts = blocks.iter().map(|block| text(&block["text"])).collect::<Vec<_>>();
        Ok((texts.join("\n"), result["isError"] == true))
    }

    fn result(&mut self, era: Era, method: &str, params: Value) -> Result<Value, String> {
        match self.request(era, method, params) {
            Ok(Reply::Result(result)) => Ok(result),
            Ok(Reply::Error { code, message }) => Err(format!("{method}: error {code}: {message}")),
            Err(broken) => Err(format!("{method}: {broken}")),
        }
    }

    /// Ends the server as a client should, by the end of its input.
    pub(crate) fn finish(mut self) -> Result<ExitStatus, String> {
        drop(self.stdin.take());
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().map_err(|error| error.to_string())? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err("still running long after the end of its input".to_owned())
    }

    fn closed(&mut self) -> Broken {
        drop(self.stdin.take());
        let all = self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        Broken::Closed(String::from_utf8_lossy(&all[all.len().saturating_sub(500)..]).into_owned())
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Both fail only when the server is gone, which is what they are for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn identity(info: &Value) -> (String, String) {
    (text(&info["name"]), text(&info["version"]))
}
