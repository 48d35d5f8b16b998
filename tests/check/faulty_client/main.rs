//! A client for the tests of the checks: correct, but for the one fault that it is told. It shares no code with what it is
//! checked by. It opens the server behind its first argument, lists its tools, calls the first, looks whether the list has
//! changed, and exits.
//!
//! A fault is a word, asked for where it shows: `client.fault("no-initialized")`. What is correct stands beside it.

mod calls;
mod lines;
mod listing;
mod opening;
mod requests;
mod server;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::Server;

/// The versions with a handshake.
pub(crate) const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The version without.
pub(crate) const MODERN: &str = "2026-07-28";
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// The client and the server that it has started.
pub(crate) struct Client {
    pub(crate) fault: String,
    pub(crate) server: Server,
    ids: u64,
    /// Without a handshake.
    pub(crate) modern: bool,
    /// The server has answered `initialize`.
    pub(crate) opened: bool,
    /// What the server declared.
    pub(crate) capabilities: Value,
    /// A tool is called now.
    pub(crate) calling: bool,
    /// How many requests of the server's were answered.
    pub(crate) answered: u32,
    /// The id of the request that was answered last.
    pub(crate) last: Value,
}

/// Why a request has no result.
pub(crate) enum Failure {
    Refused(Value),
    Late,
    Ended,
    /// By the fault.
    Spoiled,
}

impl Client {
    /// Whether it has this fault.
    pub(crate) fn fault(&self, name: &str) -> bool {
        self.fault == name
    }

    /// Asks, and gives the id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.id();
        self.ask_as(&id, method, params);
        id
    }

    /// Asks with an id that is given.
    pub(crate) fn ask_as(&mut self, id: &Value, method: &str, mut params: Value) {
        if self.modern {
            self.add_meta(method, &mut params);
        }
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if params != json!({}) {
            message["params"] = params;
        }
        lines::say(self, &message);
    }

    /// Asks and waits for the answer.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        let id = self.ask(method, params);
        self.answer_to(&id)
    }

    pub(crate) fn answer_to(&mut self, id: &Value) -> Result<Value, Failure> {
        let patience = if self.fault("waits-for-ever") { Duration::from_secs(3600) } else { PATIENCE };
        let until = Instant::now() + patience;
        loop {
            let message = lines::hear(self, until)?;
            if message.get("method").is_some() {
                requests::take(self, &message)?;
            } else if self.is_of(&message, id) {
                self.last = id.clone();
                return match message.get("error") {
                    Some(error) => Err(Failure::Refused(error.clone())),
                    None => self.checked(&message["result"]),
                };
            } else {
                requests::stray(self, &message)?;
            }
        }
    }

    fn is_of(&self, answer: &Value, id: &Value) -> bool {
        let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        answer["id"] == *id
            || self.fault("loose-ids") && text(&answer["id"]) == text(id)
            || self.fault("takes-any-error") && answer["id"].is_null()
    }

    fn checked(&self, result: &Value) -> Result<Value, Failure> {
        let whole = !self.modern || !self.fault("needs-result-type") || result.get("resultType").is_some();
        if whole { Ok(result.clone()) } else { Err(Failure::Spoiled) }
    }

    pub(crate) fn notify(&mut self, method: &str) {
        lines::say(self, &json!({"jsonrpc": "2.0", "method": method}));
    }

    fn id(&mut self) -> Value {
        self.ids += 1;
        match self.fault.as_str() {
            "fractional-ids" => json!(0.5 + self.ids as f64),
            "same-id" => json!(1),
            _ => json!(self.ids),
        }
    }

    fn add_meta(&self, method: &str, params: &mut Value) {
        if !self.fault("no-meta-version") || method == "server/discover" {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
        }
        if !self.fault("no-meta-info") {
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "faulty", "version": "1"});
        }
        if !self.fault("no-meta-capabilities") {
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
    }
}

/// For ever.
pub(crate) fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

fn work(client: &mut Client) -> Result<(), Failure> {
    opening::open(client)?;
    lines::say_something_else(client);
    if client.modern && client.fault("pings-always") {
        let _ = client.request("ping", json!({}));
    }
    if client.capabilities.get("tools").is_some() || client.fault("uses-undeclared") {
        let tools = listing::tools(client)?;
        calls::call_first(client, &tools)?;
        listing::tools(client)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(fault), Some(program)) = (words.next(), words.next()) else { return ExitCode::from(2) };
    if fault == "dead" {
        return ExitCode::SUCCESS;
    }
    let Ok(server) = Server::start(&fault, &program, words) else { return ExitCode::from(3) };
    let mut client = Client {
        fault,
        server,
        ids: 0,
        modern: false,
        opened: false,
        capabilities: json!({}),
        calling: false,
        answered: 0,
        last: Value::Null,
    };
    if lines::says_nothing_that_is_meant(&mut client) {
        return ExitCode::SUCCESS;
    }
    let done = work(&mut client);
    if done.is_err() && client.fault("hangs-on-failure") {
        hang();
    }
    lines::say_last_words(&mut client);
    server::stop(&mut client);
    let complained = client.server.complained.load(std::sync::atomic::Ordering::SeqCst);
    let well = done.is_ok() && !(client.fault("dies-of-stderr") && complained);
    if well || client.fault("always-succeeds") { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
