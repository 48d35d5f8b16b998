//! A client that writes lines and reads lines, for what a real one never does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use sanswire_std::sanswire::jsonrpc::{JsonRef, RawJson};

use crate::common::{LONG, eventually, raw};

/// Two ends of a connection.
pub(crate) fn socket_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (ours, listener.accept().unwrap().0)
}

/// What there is between a client's first line and its calls.
pub(crate) const OPENING: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{"elicitation":{}},"clientInfo":{"name":"peer","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
);

/// The lines that come out of something, on a thread that reads them at once.
pub(crate) struct Lines(Receiver<String>);

impl Lines {
    pub(crate) fn of(from: impl Read + Send + 'static) -> Self {
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::with_capacity(1 << 20, from).lines() {
                let Ok(line) = line else { return };
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self(lines)
    }

    /// The next line, whatever it is.
    pub(crate) fn line(&self) -> String {
        self.0.recv_timeout(LONG).unwrap()
    }

    /// The next message.
    pub(crate) fn next(&self) -> RawJson {
        raw(&self.line())
    }

    /// Whether the end has come, with nothing before it.
    pub(crate) fn ended(&self) -> bool {
        self.0.recv_timeout(LONG) == Err(RecvTimeoutError::Disconnected)
    }

    /// Whether nothing comes for a moment.
    pub(crate) fn silent(&self) -> bool {
        self.0.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout)
    }

    /// As [`answer`](Self::answer), if there is one already.
    pub(crate) fn try_answer(&self) -> Option<(u64, String)> {
        self.0.try_recv().ok().map(|line| Self::read(&raw(&line)))
    }

    /// As [`answer`](Self::answer); none at the end.
    pub(crate) fn until_end(&self) -> Option<(u64, String)> {
        self.message_or_end().map(|message| Self::read(&message))
    }

    /// The next message; none at the end.
    pub(crate) fn message_or_end(&self) -> Option<RawJson> {
        match self.0.recv_timeout(LONG) {
            Ok(line) => Some(raw(&line)),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("neither a message nor the end"),
        }
    }

    /// The id of the next message, and the text of its result if it has one.
    pub(crate) fn answer(&self) -> (u64, String) {
        Self::read(&self.next())
    }

    fn read(message: &RawJson) -> (u64, String) {
        let id = message.view().get("id").and_then(JsonRef::as_u64);
        (id.unwrap_or_else(|| panic!("{}", message.as_str())), text(message))
    }
}

/// The text of a tool's result.
pub(crate) fn text(message: &RawJson) -> String {
    let content = message.view().get("result").and_then(|result| result.get("content"));
    let block = content.and_then(|content| content.elements().next());
    let text = block.and_then(|block| block.get("text")).and_then(JsonRef::str);
    text.map(|text| text.decode().into_owned()).unwrap_or_default()
}

/// A call, as a line.
pub(crate) fn call(id: u64, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    ) + "\n"
}

pub(crate) fn ping(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#) + "\n"
}

pub(crate) fn cancel(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#) + "\n"
}

/// A client of a server over pipes.
pub(crate) struct Peer {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    pub(crate) lines: Lines,
    /// What it says on stderr, read as it comes.
    pub(crate) stderr: Option<JoinHandle<String>>,
}

impl Peer {
    /// A client that has opened its session.
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::open(command(flags))
    }

    /// As [`start`](Self::start), of a server that is started otherwise.
    pub(crate) fn open(mut command: std::process::Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let lines = Lines::of(child.stdout.take().unwrap());
        input.write_all(OPENING.as_bytes()).unwrap();
        assert!(lines.next().view().get("result").is_some());
        let mut stderr = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            said
        });
        Self { child, input: Some(input), lines, stderr: Some(stderr) }
    }

    pub(crate) fn send(&mut self, lines: &str) {
        self.input.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    }

    /// The status of the server, which ends within `LONG`.
    pub(crate) fn exit(&mut self) -> ExitStatus {
        let mut status = None;
        eventually("the server ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Ends the input: all is answered by then, so the server ends well and says nothing more.
    pub(crate) fn finish(mut self) {
        self.input = None;
        assert!(self.lines.ended());
        assert!(self.exit().success());
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How to start the server that is this program.
pub(crate) fn command(flags: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.arg("--served").args(flags);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
