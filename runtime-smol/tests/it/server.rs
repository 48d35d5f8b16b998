//! A server of revision 2025-11-25 (with `modern`, of 2026-07-28) over any stream, which does what its flags and tools say.
//!
//! Flags: `modern`, `die-on-probe`, `silent`, `deaf` (reads no more once ready), `ignore-eof`, `pid=FILE` (writes its
//! number there at once).

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sanswire_smol::sanswire::jsonrpc::{JsonRef, RawJson};

use crate::child::{content, text};

pub(crate) struct Server {
    flags: Vec<String>,
    out: Mutex<Box<dyn Write + Send>>,
    pub(crate) held: Mutex<Vec<String>>,
    asked: Mutex<Vec<(String, String)>>,
    pub(crate) cancelled: Mutex<Vec<String>>,
    pub(crate) pongs: AtomicU64,
    next: AtomicU64,
    ended: AtomicBool,
    stream: Mutex<Option<UnixStream>>,
}

pub(crate) fn serve_stdio(flags: &[String]) {
    if let Some((kind, flags)) = flags.split_first()
        && kind == "hosted"
    {
        return crate::hosted::serve(flags);
    }
    if let Some(path) = flags.iter().find_map(|flag| flag.strip_prefix("pid=")) {
        std::fs::write(path, std::process::id().to_string()).unwrap();
    }
    let server = Server::new(flags, Box::new(std::io::stdout()));
    server.serve(std::io::stdin());
    if server.has("ignore-eof") {
        std::thread::sleep(Duration::from_secs(60));
    }
}

fn raw_text(value: JsonRef<'_>) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

impl Server {
    pub(crate) fn new(flags: &[String], out: Box<dyn Write + Send>) -> Arc<Self> {
        Arc::new(Self {
            flags: flags.to_vec(),
            out: Mutex::new(out),
            held: Mutex::default(),
            asked: Mutex::default(),
            cancelled: Mutex::default(),
            pongs: AtomicU64::new(0),
            next: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            stream: Mutex::new(None),
        })
    }

    /// Until the end of the input.
    pub(crate) fn serve(self: &Arc<Self>, input: impl Read) {
        let mut input = BufReader::with_capacity(64 * 1024, input);
        let mut line = Vec::new();
        loop {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    if self.line(&line) {
                        return;
                    }
                }
            }
        }
    }

    /// As [`new`](Self::new), on a thread, until the stream or the input ends.
    pub(crate) fn start(flags: &[String], stream: UnixStream) -> Arc<Self> {
        let server = Self::new(flags, Box::new(stream.try_clone().unwrap()));
        *server.stream.lock().unwrap() = Some(stream.try_clone().unwrap());
        let serving = Arc::clone(&server);
        std::thread::spawn(move || {
            serving.serve(&stream);
            serving.ended.store(true, Ordering::SeqCst);
            serving.end();
        });
        server
    }

    /// Ends the stream.
    pub(crate) fn end(&self) {
        if let Some(stream) = &*self.stream.lock().unwrap() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }

    /// Whether the client ended the stream.
    pub(crate) fn ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Answers what is held.
    pub(crate) fn release(&self) {
        for held in std::mem::take(&mut *self.held.lock().unwrap()) {
            self.reply(&held, &content("released"));
        }
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|found| found == flag)
    }

    pub(crate) fn say(&self, line: &str) {
        let mut out = self.out.lock().unwrap();
        let _ = out.write_all(format!("{line}\n").as_bytes());
        let _ = out.flush();
    }

    fn reply(&self, id: &str, result: &str) {
        self.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }

    /// Whether it reads no more from here on.
    fn line(self: &Arc<Self>, line: &[u8]) -> bool {
        let Ok(message) = RawJson::from_slice(line.trim_ascii(), 64) else { return false };
        let view = message.view();
        let id = view.get("id").map(raw_text);
        let method = text(view.get("method"));
        if self.has("silent") {
            return false;
        }
        match (method.as_str(), id) {
            ("server/discover", Some(_)) if self.has("die-on-probe") => std::process::exit(3),
            ("server/discover", Some(id)) if self.has("modern") => self.reply(
                &id,
                r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#,
            ),
            ("initialize", Some(id)) => self.reply(
                &id,
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"child","version":"1"}}"#,
            ),
            ("notifications/initialized", _) if self.has("deaf") => return true,
            ("notifications/cancelled", _) => {
                let id = view.get("params").and_then(|params| params.get("requestId"));
                self.cancelled.lock().unwrap().extend(id.map(raw_text));
            }
            ("tools/list", Some(id)) => self.list(&id, view.get("params")),
            ("tools/call", Some(id)) => {
                let params = view.get("params");
                let name = text(params.and_then(|params| params.get("name")));
                if self.has("modern") {
                    self.modern_tool(&id, params);
                } else {
                    let meta = params.and_then(|params| params.get("_meta"));
                    let token = meta.and_then(|meta| meta.get("progressToken")).map(raw_text);
                    self.tool(id, &name, params.and_then(|params| params.get("arguments")), token);
                }
            }
            ("ping", Some(id)) => self.reply(&id, "{}"),
            ("", Some(id)) => self.answered(id.trim_matches('"'), view),
            (_, Some(id)) => {
                self.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#));
            }
            _ => {}
        }
        false
    }

    /// Three pages.
    fn list(&self, id: &str, params: Option<JsonRef<'_>>) {
        let page: u32 = text(params.and_then(|params| params.get("cursor"))).parse().unwrap_or(0);
        let next = if page < 2 { format!(r#","nextCursor":"{}""#, page + 1) } else { String::new() };
        self.reply(
            id,
            &format!(r#"{{"tools":[{{"name":"t{page}","inputSchema":{{"type":"object"}}}}]{next}}}"#),
        );
    }

    fn modern_tool(&self, id: &str, params: Option<JsonRef<'_>>) {
        match params.and_then(|params| params.get("inputResponses")) {
            None => self.reply(
                id,
                r#"{"resultType":"input_required","requestState":"s","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"name?","requestedSchema":{"type":"object","properties":{}}}}}}"#,
            ),
            Some(answers) => {
                let text = RawJson::serialize(&raw_text(answers)).unwrap();
                let result = format!(
                    r#"{{"resultType":"complete","content":[{{"type":"text","text":{}}}]}}"#,
                    text.as_str()
                );
                self.reply(id, &result);
            }
        }
    }

    fn tool(self: &Arc<Self>, id: String, name: &str, arguments: Option<JsonRef<'_>>, token: Option<String>) {
        let argument = |name: &str| arguments.and_then(|arguments| arguments.get(name));
        let number = |name: &str| argument(name).and_then(JsonRef::as_u64).unwrap_or(0);
        match name {
            "echo" => self.reply(&id, &content(&text(argument("text")))),
            "len" => self.reply(&id, &content(&text(argument("text")).len().to_string())),
            "big" => self.reply(&id, &content(&"x".repeat(usize::try_from(number("bytes")).unwrap()))),
            "hold" => self.held.lock().unwrap().push(id),
            "release" => {
                self.release();
                self.reply(&id, &content("ok"));
            }
            "cancelled" => self.reply(&id, &content(&self.cancelled.lock().unwrap().join(","))),
            // Reads nothing meanwhile.
            "block" => {
                std::thread::sleep(Duration::from_millis(number("ms")));
                self.reply(&id, &content("ok"));
            }
            "progress" => {
                let token = token.unwrap_or_default();
                for n in 1..=number("n") {
                    self.say(&format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{n},"total":{}}}}}"#,
                        number("n")
                    ));
                }
                self.reply(&id, &content("done"));
            }
            "notify" => {
                for n in 0..number("n") {
                    self.notify(n);
                }
                self.reply(&id, &content("ok"));
            }
            "ask" => {
                let key = format!("ask{}", self.next.fetch_add(1, Ordering::Relaxed));
                self.asked.lock().unwrap().push((key.clone(), id));
                self.say(&format!(
                    r#"{{"jsonrpc":"2.0","id":"{key}","method":"elicitation/create","params":{{"message":{},"requestedSchema":{{"type":"object","properties":{{}}}}}}}}"#,
                    RawJson::serialize(&text(argument("message"))).unwrap().as_str()
                ));
            }
            "grandchild" => {
                let command = Command::new("/bin/sh")
                    .args(["-c", "trap '' TERM; while :; do sleep 1; done"])
                    .stdin(Stdio::null())
                    .spawn();
                self.reply(&id, &content(&command.map_or(0, |child| child.id()).to_string()));
            }
            "complain" => {
                let _ = std::io::stderr().lock().write_all(text(argument("text")).as_bytes());
                self.reply(&id, &content("ok"));
            }
            "exit" => std::process::exit(i32::try_from(number("code")).unwrap()),
            _ => self.reply(&id, &content("?")),
        }
    }

    pub(crate) fn notify(&self, n: u64) {
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":{n}}}}}"#
        ));
    }

    pub(crate) fn ping(&self) {
        self.say(r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#);
    }

    /// An answer to what it asked.
    fn answered(&self, key: &str, answer: JsonRef<'_>) {
        if key == "ping" {
            self.pongs.fetch_add(1, Ordering::SeqCst);
            return;
        }
        let mut asked = self.asked.lock().unwrap();
        let Some(place) = asked.iter().position(|(found, _)| found == key) else { return };
        let (_, id) = asked.swap_remove(place);
        let body = answer.get("result").or_else(|| answer.get("error"));
        self.reply(&id, &content(&body.map(raw_text).unwrap_or_default()));
    }
}
