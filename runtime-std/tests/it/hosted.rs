//! A server for hosts: it lists tools, does what its arguments say, and writes down what happened to it.
//!
//! Arguments: `record=FILE` (a line for each thing that happened, over all of its starts), `modern`, `hang` (answers
//! nothing), `die-on-call`, `list-once` (answers one listing), `broken` (lists tools that cannot be offered),
//! `ignore-eof`, `no-ping` (answers no ping), `die-on-list`, `no-list` (answers no listing). When it is started again:
//! `hang-again`, `crash-again` (dies at once), `die-ready-again` (dies as soon as it is ready), `slow-again` (takes a
//! moment to begin).

use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sanswire::jsonrpc::{JsonRef, RawJson};

use crate::child::{content, reply, say, text};

const EMPTY: &str = r#""inputSchema":{"type":"object"}"#;

struct Hosted {
    flags: Vec<String>,
    record: Option<Mutex<File>>,
    /// Started before.
    again: bool,
    grown: AtomicBool,
    listed: AtomicBool,
    listen: Mutex<Option<String>>,
}

pub(crate) fn serve(flags: &[String]) {
    let path = flags.iter().find_map(|flag| flag.strip_prefix("record="));
    let before = path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let record =
        path.map(|path| Mutex::new(OpenOptions::new().create(true).append(true).open(path).unwrap()));
    let server = Arc::new(Hosted {
        flags: flags.to_vec(),
        record,
        again: before.contains("start "),
        grown: AtomicBool::new(false),
        listed: AtomicBool::new(false),
        listen: Mutex::default(),
    });
    server.note(&format!("start {}", std::process::id()));
    if server.again && server.has("crash-again") {
        std::process::exit(5);
    }
    if server.again && server.has("slow-again") {
        std::thread::sleep(Duration::from_millis(500));
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        server.line(&line);
    }
    server.note("end");
    if server.has("ignore-eof") {
        std::thread::sleep(Duration::from_secs(60));
    }
}

impl Hosted {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|found| found == flag)
    }

    fn note(&self, what: &str) {
        if let Some(record) = &self.record {
            record.lock().unwrap().write_all(format!("{what}\n").as_bytes()).unwrap();
        }
    }

    fn line(self: &Arc<Self>, line: &str) {
        let Ok(message) = RawJson::parse_str(line) else { return };
        let view = message.view();
        let id = view.get("id").map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
        let method = text(view.get("method"));
        let params = view.get("params");
        match method.as_str() {
            "tools/call" => {
                self.note(&format!("call {}", text(params.and_then(|params| params.get("name")))))
            }
            _ => self.note(&method),
        }
        let mute = method == "ping" && self.has("no-ping");
        if self.has("hang") || mute || self.again && self.has("hang-again") {
            return;
        }
        let modern = self.has("modern");
        match (method.as_str(), id) {
            ("server/discover", Some(id)) if modern => reply(
                &id,
                r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}"#,
            ),
            ("initialize", Some(id)) if !modern => reply(
                &id,
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"hosted","version":"1"},"instructions":"Be kind."}"#,
            ),
            ("tools/list", Some(_)) if self.listed.swap(true, Ordering::Relaxed) && self.has("list-once") => {
            }
            ("tools/list", _) if self.has("die-on-list") => std::process::exit(8),
            ("tools/list", _) if self.has("no-list") => {}
            ("tools/list", Some(id)) => self.list(&id),
            ("notifications/initialized", _) if self.again && self.has("die-ready-again") => {
                std::process::exit(7);
            }
            ("subscriptions/listen", Some(id)) if modern => {
                say(&format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{{"toolsListChanged":true}}}}}}"#
                ));
                *self.listen.lock().unwrap() = Some(id);
            }
            ("tools/call", Some(id)) => {
                if self.has("die-on-call") {
                    std::process::exit(6);
                }
                let name = text(params.and_then(|params| params.get("name")));
                self.call(id, &name, params);
            }
            (_, Some(id)) if !method.is_empty() => {
                say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#));
            }
            _ => {}
        }
    }

    fn list(&self, id: &str) {
        let mut tools = vec![
            format!(r#"{{"name":"echo",{EMPTY},"annotations":{{"readOnlyHint":true}}}}"#),
            format!(r#"{{"name":"pid",{EMPTY}}}"#),
            format!(r#"{{"name":"slow",{EMPTY}}}"#),
            format!(r#"{{"name":"hold",{EMPTY}}}"#),
            format!(r#"{{"name":"exit",{EMPTY}}}"#),
            format!(r#"{{"name":"grow",{EMPTY}}}"#),
            format!(r#"{{"name":"progress",{EMPTY}}}"#),
            format!(r#"{{"name":"ask",{EMPTY}}}"#),
        ];
        if self.grown.load(Ordering::Relaxed) {
            tools.push(format!(r#"{{"name":"grown",{EMPTY}}}"#));
        }
        if self.has("broken") {
            let schema = format!(r#"{{"type":"object","description":"{}"}}"#, "x".repeat(65_536));
            tools.push(format!(r#"{{"name":"vast","inputSchema":{schema}}}"#));
            tools.push(format!(r#"{{"name":" ",{EMPTY}}}"#));
        }
        let kind = if self.has("modern") { r#""resultType":"complete","# } else { "" };
        reply(id, &format!(r#"{{{kind}"tools":[{}]}}"#, tools.join(",")));
    }

    fn call(self: &Arc<Self>, id: String, name: &str, params: Option<JsonRef<'_>>) {
        let member = |name: &str| params.and_then(|params| params.get(name));
        let argument = |name: &str| member("arguments").and_then(|arguments| arguments.get(name));
        let number = |name: &str| argument(name).and_then(JsonRef::as_u64).unwrap_or(0);
        match name {
            "echo" => self.done(&id, &text(argument("text"))),
            "pid" => self.done(&id, &std::process::id().to_string()),
            "hold" => {}
            "slow" => {
                let (wait, server) = (Duration::from_millis(number("ms")), Arc::clone(self));
                std::thread::spawn(move || {
                    std::thread::sleep(wait);
                    server.done(&id, "slow");
                });
            }
            "exit" => std::process::exit(i32::try_from(number("code")).unwrap()),
            "grow" => {
                self.grown.store(true, Ordering::Relaxed);
                let meta = match &*self.listen.lock().unwrap() {
                    Some(id) => {
                        format!(r#","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#)
                    }
                    None => String::new(),
                };
                say(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed"{meta}}}"#));
                self.done(&id, "grown");
            }
            "progress" => {
                let token = member("_meta").and_then(|meta| meta.get("progressToken"));
                let token = token.map(|token| String::from_utf8_lossy(token.as_bytes()).into_owned());
                for n in 1..=number("n") {
                    say(&format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{n}}}}}"#,
                        token.as_deref().unwrap_or("0")
                    ));
                }
                self.done(&id, "done");
            }
            "ask" => match member("inputResponses") {
                None => reply(
                    &id,
                    r#"{"resultType":"input_required","requestState":"s","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"name?","requestedSchema":{"type":"object","properties":{}}}}}}"#,
                ),
                Some(answers) => self.done(&id, &String::from_utf8_lossy(answers.as_bytes())),
            },
            _ => self.done(&id, "?"),
        }
    }

    fn done(&self, id: &str, text: &str) {
        let content = content(text);
        match content.strip_prefix('{').filter(|_| self.has("modern")) {
            Some(rest) => reply(id, &format!(r#"{{"resultType":"complete",{rest}"#)),
            None => reply(id, &content),
        }
    }
}

/// What a server wrote down, over all of its starts.
pub(crate) struct Record {
    path: std::path::PathBuf,
}

impl Record {
    pub(crate) fn new() -> Self {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let name = format!("sanswire-hosted-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        Self { path }
    }

    /// The argument for the server.
    pub(crate) fn flag(&self) -> String {
        format!("record={}", self.path.display())
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.path).unwrap_or_default()
    }

    /// How often this happened.
    pub(crate) fn count(&self, what: &str) -> usize {
        self.text().lines().filter(|line| line.split(' ').next() == Some(what) || *line == what).count()
    }

    /// The processes it ran in.
    pub(crate) fn pids(&self) -> Vec<u32> {
        self.text().lines().filter_map(|line| line.strip_prefix("start ")?.parse().ok()).collect()
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
