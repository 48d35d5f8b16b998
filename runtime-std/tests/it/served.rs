//! A served half to test, over standard input and output: this program, started with `--served`.
//!
//! Arguments: `threads=N`, `drain=MS`, `max-message=BYTES`, `max-out=BYTES`, `max-waiting=BYTES`; `count-threads`: its
//! status is the number of threads that are left when it has served; `goes-on`: says so on its standard output when it
//! has served, and serves once more.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sanswire_std::sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire_std::sanswire::mcp::types::input::{InputKind, InputRequest};
use sanswire_std::sanswire::server::{Catalog, Config, ListKind, Reply};
use sanswire_std::{Application, AskError, Call, Server};

use crate::common::{PLAIN, eventually};

const TOOLS: [&str; 14] = [
    "echo", "sleep", "stubborn", "meet", "big", "panic", "print", "swallow", "change", "stop", "stop-now",
    "progress", "ask", "threads",
];

/// Tools that do what their names say.
pub(crate) struct Tools {
    /// The server they belong to, once it is there.
    pub(crate) server: OnceLock<Server>,
    /// How many calls of `meet` have begun.
    met: AtomicUsize,
}

fn tool(name: &str) -> RawJson {
    RawJson::object(|w| {
        w.string("name", name);
        w.object("inputSchema", |w| {
            w.string("type", "object");
        });
    })
}

impl Application for &'static Tools {
    fn handle(&self, call: &Call<'_>) -> Reply {
        let argument = |name| call.arguments().and_then(|arguments| arguments.get(name));
        let number = |name| argument(name).and_then(JsonRef::as_u64).unwrap_or(0);
        let millis = Duration::from_millis(number("ms"));
        let name = call.params().view().get("name").and_then(JsonRef::str).unwrap().decode().into_owned();
        let server = || self.server.get().unwrap().clone();
        match name.as_str() {
            "echo" => {
                let text = argument("text").and_then(JsonRef::str).unwrap();
                Reply::text(&text.decode())
            }
            "sleep" => Reply::text(if call.sleep(millis) { "cancelled" } else { "slept" }),
            "meet" => {
                self.met.fetch_add(1, Ordering::Relaxed);
                while self.met.load(Ordering::Relaxed) < usize::try_from(number("n")).unwrap() {
                    if call.sleep(Duration::from_millis(5)) {
                        break;
                    }
                }
                Reply::text("met")
            }
            "stubborn" => {
                std::thread::sleep(millis);
                Reply::text("slept")
            }
            "big" => {
                std::thread::sleep(millis);
                Reply::text(&"x".repeat(usize::try_from(number("bytes")).unwrap()))
            }
            // Without a word on stderr, of which there would be many.
            "panic" => std::panic::resume_unwind(Box::new("as it was asked to")),
            "print" => {
                let mut out = std::io::stdout().lock();
                out.write_all(b"a stray line\n").and_then(|()| out.flush()).unwrap();
                Reply::text("printed")
            }
            "swallow" => {
                let mut stolen = String::new();
                std::io::stdin().read_to_string(&mut stolen).unwrap();
                Reply::text(&stolen)
            }
            "change" => {
                // Whoever leads waits by then.
                let server = server();
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(50));
                    server.update(ListKind::Tools, |catalog| catalog.tool(&tool("new")).unwrap());
                });
                Reply::text("soon")
            }
            "stop" => {
                server().stopper().stop();
                Reply::text("stopped")
            }
            "stop-now" => {
                server().stopper().stop_now();
                Reply::text("stopped")
            }
            "progress" => {
                for n in 1..=number("n") {
                    call.progress(n as f64, None, None);
                    std::thread::sleep(millis);
                }
                Reply::text("done")
            }
            "ask" => {
                let params = r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#;
                let params = RawJson::parse_str(params).unwrap();
                let request = InputRequest { kind: InputKind::ElicitForm, params: Some(params) };
                match call.ask("k", &request) {
                    Ok(answer) => Reply::text(answer.as_str()),
                    Err(AskError::Suspended) => call.suspend(),
                    Err(error) => Reply::tool_error(&format!("{error:?}")),
                }
            }
            "threads" => Reply::text(&threads().to_string()),
            other => Reply::tool_error(other),
        }
    }
}

/// How many threads this process has. One that was joined may be listed a moment longer, on its way out.
pub(crate) fn threads() -> usize {
    /// What the kernel sets before it tells who joins (`PF_EXITING`).
    const EXITING: u64 = 0x4;
    let lives = |stat: &String| {
        // The name may hold anything; the flags are the seventh field behind it.
        let flags = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(6));
        flags.unwrap().parse::<u64>().unwrap() & EXITING == 0
    };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let stats = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("stat")));
    // Without one, it is gone.
    stats.filter_map(Result::ok).filter(lives).count()
}

/// The server that the arguments say.
pub(crate) fn server(flags: &[&str]) -> Server {
    let number = |name: &str| flags.iter().find_map(|flag| flag.strip_prefix(name)?.parse::<usize>().ok());
    let mut config = Config::new("served", "1");
    if let Some(ms) = number("drain=") {
        config.limits.drain = Duration::from_millis(ms as u64);
    }
    if let Some(bytes) = number("max-message=") {
        config.limits.max_message_bytes = bytes;
    }
    if let Some(bytes) = number("max-out=") {
        config.limits.max_queued_out_bytes = bytes;
    }
    if let Some(bytes) = number("max-waiting=") {
        config.limits.max_queued_event_bytes = bytes;
    }
    config.limits.list_changed_debounce = Duration::from_millis(20);
    let mut catalog = Catalog::new();
    for name in TOOLS {
        catalog.tool(&tool(name)).unwrap();
    }
    let tools: &'static Tools =
        Box::leak(Box::new(Tools { server: OnceLock::new(), met: AtomicUsize::new(0) }));
    let server = Server::new(config, catalog, tools);
    if let Some(threads) = number("threads=") {
        server.set_max_threads(threads);
    }
    if let Some(connections) = number("connections=") {
        server.set_max_connections(connections);
    }
    let _ = tools.server.set(server.clone());
    server
}

pub(crate) fn serve(flags: &[String]) -> ExitCode {
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    server(&flags).serve_stdio().unwrap();
    if flags.contains(&"goes-on") {
        println!("served");
        server(&flags).serve_stdio().unwrap();
    }
    if flags.contains(&"count-threads") {
        if PLAIN {
            // Those that read and write say that they are done, and end then: nobody joins them.
            eventually("the threads of the streams end", || threads() == 1);
        }
        return ExitCode::from(u8::try_from(threads()).unwrap());
    }
    ExitCode::SUCCESS
}
