//! A server of revision 2025-11-25 (with `modern`, of 2026-07-28) that does what its arguments and tools say.
//!
//! Arguments: `modern`, `die-on-probe`, `die-on-initialize`, `silent`, `deaf` (closes its stdin once ready),
//! `ignore-eof`, `stderr=BYTES` and `stderr-line=BYTES` (before each reply), `mute` (closes its stdout at once and
//! lives on), `dawdle=MS` (lives on so long after the end of its stdin).

use std::io::{BufRead, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sanswire_std::sanswire::jsonrpc::{JsonRef, RawJson};

struct Server {
    flags: Vec<String>,
    held: Mutex<Vec<String>>,
    asked: Mutex<Vec<(String, String)>>,
    cancelled: Mutex<Vec<String>>,
    pongs: AtomicU64,
    next: AtomicU64,
    most_in_a_read: AtomicU64,
}

pub(crate) fn serve(flags: &[String]) {
    match flags.split_first() {
        Some((kind, flags)) if kind == "asking" => return crate::asks::serve(flags),
        Some((kind, flags)) if kind == "governed" => return crate::governed::serve(flags),
        Some((kind, _)) if kind == "closures" => return crate::closures::serve(),
        Some((kind, flags)) if kind == "hosted" => return crate::hosted::serve(flags),
        _ => {}
    }
    let server = Arc::new(Server {
        flags: flags.to_vec(),
        held: Mutex::default(),
        asked: Mutex::default(),
        cancelled: Mutex::default(),
        pongs: AtomicU64::new(0),
        next: AtomicU64::new(0),
        most_in_a_read: AtomicU64::new(0),
    });
    if server.has("mute") {
        close(1);
        std::thread::sleep(Duration::from_secs(60));
    }
    let mut input = std::io::BufReader::with_capacity(64 * 1024, std::io::stdin());
    let mut line = Vec::new();
    loop {
        if let Ok(buffered) = input.fill_buf() {
            let lines = buffered.iter().filter(|byte| **byte == b'\n').count() as u64;
            server.most_in_a_read.fetch_max(lines, Ordering::Relaxed);
        }
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => server.line(&line),
        }
    }
    if server.has("ignore-eof") {
        std::thread::sleep(Duration::from_secs(60));
    }
    if let Some(ms) = server.number("dawdle=") {
        std::thread::sleep(Duration::from_millis(ms));
    }
}

#[expect(unsafe_code, reason = "a server that closes one of its standard streams is what is tested against")]
fn close(fd: i32) {
    // SAFETY: nothing in this process uses the descriptor afterwards but to fail.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
}

pub(crate) fn text(value: Option<JsonRef<'_>>) -> String {
    value.and_then(JsonRef::str).map(|text| text.decode().into_owned()).unwrap_or_default()
}

pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}

fn complain(text: &str) {
    let _ = std::io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

pub(crate) fn reply(id: &str, result: &str) {
    say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
}

pub(crate) fn content(text: &str) -> String {
    let text = RawJson::serialize(text).unwrap();
    format!(r#"{{"content":[{{"type":"text","text":{}}}]}}"#, text.as_str())
}

impl Server {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|found| found == flag)
    }

    fn number(&self, flag: &str) -> Option<u64> {
        self.flags.iter().find_map(|found| found.strip_prefix(flag)?.parse().ok())
    }

    fn line(self: &Arc<Self>, line: &[u8]) {
        let Ok(message) = RawJson::from_slice(line.trim_ascii(), 64) else { return };
        let view = message.view();
        let id = view.get("id").map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
        let method = text(view.get("method"));
        if self.has("silent") {
            return;
        }
        match (method.as_str(), id) {
            ("server/discover", Some(_)) if self.has("die-on-probe") => std::process::exit(3),
            ("server/discover", Some(id)) if self.has("modern") => reply(
                &id,
                r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#,
            ),
            ("initialize", Some(_)) if self.has("die-on-initialize") => std::process::exit(4),
            ("initialize", Some(id)) => reply(
                &id,
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"child","version":"1"}}"#,
            ),
            ("notifications/initialized", _) if self.has("deaf") => close(0),
            ("notifications/cancelled", _) => {
                let id = view.get("params").and_then(|params| params.get("requestId"));
                let id = id.map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
                self.cancelled.lock().unwrap().extend(id);
            }
            ("tools/list", Some(id)) => reply(&id, r#"{"tools":[]}"#),
            ("tools/call", Some(id)) => {
                self.chatter();
                let params = view.get("params");
                let name = text(params.and_then(|params| params.get("name")));
                let arguments = params.and_then(|params| params.get("arguments"));
                if self.has("modern") {
                    return self.modern_tool(&id, &name, params);
                }
                self.tool(id, &name, arguments, params.and_then(|params| params.get("_meta")));
            }
            ("", Some(id)) => self.answered(id.trim_matches('"'), view),
            (_, Some(id)) => {
                say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#));
            }
            _ => {}
        }
    }

    /// What it says on stderr before each reply.
    fn chatter(&self) {
        let mut err = std::io::stderr().lock();
        if let Some(bytes) = self.number("stderr=") {
            let _ = err.write_all("x".repeat(usize::try_from(bytes).unwrap()).as_bytes());
        }
        if let Some(bytes) = self.number("stderr-line=") {
            for n in 0..bytes / 64 {
                let _ = writeln!(err, "{n:063}");
            }
        }
    }

    fn modern_tool(&self, id: &str, name: &str, params: Option<JsonRef<'_>>) {
        let answers = params.and_then(|params| params.get("inputResponses"));
        match (name, answers) {
            ("ask", None) => reply(
                id,
                r#"{"resultType":"input_required","requestState":"s","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"name?","requestedSchema":{"type":"object","properties":{}}}}}}"#,
            ),
            ("ask", Some(answers)) => {
                let text = RawJson::serialize(&String::from_utf8_lossy(answers.as_bytes())).unwrap();
                reply(
                    id,
                    &format!(
                        r#"{{"resultType":"complete","content":[{{"type":"text","text":{}}}]}}"#,
                        text.as_str()
                    ),
                );
            }
            _ => reply(id, r#"{"resultType":"complete","content":[]}"#),
        }
    }

    fn tool(
        self: &Arc<Self>,
        id: String,
        name: &str,
        arguments: Option<JsonRef<'_>>,
        meta: Option<JsonRef<'_>>,
    ) {
        let argument = |name: &str| arguments.and_then(|arguments| arguments.get(name));
        let number = |name: &str| argument(name).and_then(JsonRef::as_u64).unwrap_or(0);
        let token = meta.and_then(|meta| meta.get("progressToken"));
        let token = token.map(|token| String::from_utf8_lossy(token.as_bytes()).into_owned());
        match name {
            "echo" => reply(&id, &content(&text(argument("text")))),
            "len" => reply(&id, &content(&text(argument("text")).len().to_string())),
            "big" => reply(&id, &content(&"x".repeat(usize::try_from(number("bytes")).unwrap()))),
            "hold" => self.held.lock().unwrap().push(id),
            "release" => {
                for held in std::mem::take(&mut *self.held.lock().unwrap()) {
                    reply(&held, &content("released"));
                }
                reply(&id, &content("ok"));
            }
            "held" => reply(&id, &content(&self.held.lock().unwrap().len().to_string())),
            "slow" => {
                let wait = Duration::from_millis(number("ms"));
                std::thread::spawn(move || {
                    std::thread::sleep(wait);
                    reply(&id, &content("slow"));
                });
            }
            // Reads nothing meanwhile.
            "block" => std::thread::sleep(Duration::from_millis(number("ms"))),
            "progress" => {
                let token = token.unwrap_or_default();
                for n in 1..=number("n") {
                    say(&format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{n},"total":{}}}}}"#,
                        number("n")
                    ));
                }
                match number("ms") {
                    0 => reply(&id, &content("done")),
                    ms => {
                        std::thread::spawn(move || {
                            std::thread::sleep(Duration::from_millis(ms));
                            reply(&id, &content("done"));
                        });
                    }
                }
            }
            "notify" => {
                for n in 0..number("n") {
                    say(&format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":{n}}}}}"#
                    ));
                }
                reply(&id, &content("ok"));
            }
            "ping me" => {
                let wait = Duration::from_millis(number("ms"));
                std::thread::spawn(move || {
                    std::thread::sleep(wait);
                    say(r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#);
                });
                reply(&id, &content("ok"));
            }
            "pongs" => reply(&id, &content(&self.pongs.load(Ordering::Relaxed).to_string())),
            "ask" => {
                let key = format!("ask{}", self.next.fetch_add(1, Ordering::Relaxed));
                say(&format!(
                    r#"{{"jsonrpc":"2.0","id":"{key}","method":"elicitation/create","params":{{"message":{},"requestedSchema":{{"type":"object","properties":{{}}}}}}}}"#,
                    RawJson::serialize(&text(argument("message"))).unwrap().as_str()
                ));
                self.asked.lock().unwrap().push((key, id));
            }
            "cancelled" => reply(&id, &content(&self.cancelled.lock().unwrap().join(","))),
            "most in a read" => {
                reply(&id, &content(&self.most_in_a_read.load(Ordering::Relaxed).to_string()));
            }
            "grandchild" => {
                let command = Command::new("/bin/sh")
                    .args(["-c", "trap '' TERM; while :; do sleep 1; done"])
                    .stdin(Stdio::null())
                    .spawn();
                let pid = command.map(|child| child.id()).unwrap_or(0);
                reply(&id, &content(&pid.to_string()));
            }
            "env" => {
                let mut names: Vec<String> = std::env::vars().map(|(n, v)| format!("{n}={v}")).collect();
                names.sort();
                reply(&id, &content(&names.join("\n")));
            }
            "cwd" => reply(&id, &content(&std::env::current_dir().unwrap().to_string_lossy())),
            "group" => {
                let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
                let group = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(2));
                reply(&id, &content(group.unwrap_or_default()));
            }
            "complain" => {
                complain(&text(argument("text")));
                reply(&id, &content("ok"));
            }
            "exit" => {
                complain(&text(argument("text")));
                std::process::exit(i32::try_from(number("code")).unwrap());
            }
            _ => reply(&id, &content("?")),
        }
    }

    /// An answer to what it asked.
    fn answered(&self, key: &str, answer: JsonRef<'_>) {
        if key == "ping" {
            self.pongs.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let mut asked = self.asked.lock().unwrap();
        let Some(place) = asked.iter().position(|(found, _)| found == key) else { return };
        let (_, id) = asked.swap_remove(place);
        let body = answer.get("result").or_else(|| answer.get("error"));
        let body = body.map(|body| String::from_utf8_lossy(body.as_bytes()).into_owned());
        reply(&id, &content(&body.unwrap_or_default()));
    }
}
