//! The peer that is ours: the served half of a runtime, with the tools that the scenarios call, and a record of what its
//! handlers saw.

mod on_smol;
mod on_std;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::types::input::{InputKind, InputRequest};
use sanswire::server::{Catalog, Config};

use crate::axes::{Half, Transport};
use crate::live::{Peer, Record};

/// Its tools, as they are listed.
pub(crate) const TOOLS: [&str; 10] =
    ["echo", "boom", "hold", "sleep", "progress", "big", "change", "ask", "panic", "stop"];

/// What a call wants done.
pub(crate) enum Job {
    Say(String),
    Fail(String),
    /// Until it is cancelled.
    Hold,
    Sleep(Duration),
    /// So many steps, each so long.
    Steps(u64, Duration),
    Change,
    Ask,
    Panic,
    Stop,
}

/// The tool that is called, and what it wants done.
pub(crate) fn job(params: &RawJson) -> (String, Job) {
    let text = |value: Option<JsonRef<'_>>| {
        value.and_then(JsonRef::str).map(|text| text.decode().into_owned()).unwrap_or_default()
    };
    let arguments = params.view().get("arguments");
    let argument = |name: &str| arguments.and_then(|arguments| arguments.get(name));
    let number = |name: &str| argument(name).and_then(JsonRef::as_u64).unwrap_or(0);
    let time = Duration::from_millis(number("ms"));
    let name = text(params.view().get("name"));
    let job = match name.as_str() {
        "echo" => Job::Say(text(argument("text"))),
        "big" => Job::Say("x".repeat(usize::try_from(number("bytes")).unwrap())),
        "boom" => Job::Fail("boom".into()),
        "hold" => Job::Hold,
        "sleep" => Job::Sleep(time),
        "progress" => Job::Steps(number("n"), time),
        "change" => Job::Change,
        "ask" => Job::Ask,
        "panic" => Job::Panic,
        "stop" => Job::Stop,
        other => panic!("a server reports the tools that it has, not {other}"),
    };
    (name, job)
}

fn tool(name: &str) -> RawJson {
    RawJson::parse_str(&format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)).unwrap()
}

/// What is listed.
pub(crate) fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    for name in TOOLS {
        catalog.tool(&tool(name)).unwrap();
    }
    catalog
}

/// Adds a tool to what is listed.
pub(crate) fn grow(catalog: &mut Catalog) {
    catalog.tool(&tool("grown")).unwrap();
}

pub(crate) fn config() -> Config {
    let mut config = Config::new("served", "1");
    config.limits.list_changed_debounce = Duration::from_millis(20);
    config
}

pub(crate) fn form() -> InputRequest {
    let params = r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#;
    InputRequest { kind: InputKind::ElicitForm, params: Some(RawJson::parse_str(params).unwrap()) }
}

/// Puts on record what handlers see.
pub(crate) struct Book {
    record: Record,
    calls: AtomicU64,
}

impl Book {
    pub(crate) const fn new(record: Record) -> Self {
        Self { record, calls: AtomicU64::new(0) }
    }

    /// A call begins; its number.
    pub(crate) fn begins(&self, name: &str) -> u64 {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        self.record.push(&format!("call {name} {number}"));
        number
    }

    /// A call is not waited for any more.
    pub(crate) fn is_given_up(&self, number: u64) {
        self.record.push(&format!("cancelled {number}"));
    }

    /// A question to the client was answered.
    pub(crate) fn is_answered(&self) {
        self.record.push("response");
    }
}

/// Serves as a process does, over standard input and output.
pub(crate) fn child(arguments: &[String]) {
    let [half, record] = arguments else { panic!("{arguments:?}") };
    let record = Record::in_file(record);
    record.push(&format!("start {}", std::process::id()));
    if half == Half::Std.name() { on_std::stdio(record) } else { on_smol::stdio(record) }
}

/// A server on threads of this process's or in another one.
pub(crate) fn start(half: Half, transport: Transport) -> Peer {
    Peer::serving(transport, half.name(), |listener, record| {
        if half == Half::Std {
            on_std::listen(transport, listener, record)
        } else {
            on_smol::listen(transport, listener, record)
        }
    })
}
