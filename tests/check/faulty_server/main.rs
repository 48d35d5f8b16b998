//! A server for the tests of the checks: correct, but for the one fault that it is told. It shares no code with what it is
//! checked by.
//!
//! A fault is a word, asked for where it shows: `server.fault("banner")`. What is correct stands beside it.

mod answers;
mod ids;
mod lines;
mod opening;
mod prompts;
mod resources;
mod tools;

use serde_json::{Value, json};

use crate::lines::Out;

/// The versions with a handshake.
pub(crate) const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The version without.
pub(crate) const MODERN: &str = "2026-07-28";

/// The server, shared by the threads that work for it.
pub(crate) struct Server {
    fault: String,
    pub(crate) out: Out,
}

/// An error, as JSON-RPC has it.
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) message: &'static str,
}

/// What is answered: now, or later by a thread, or never.
pub(crate) enum Answer {
    Result(Value),
    Error(Refusal),
    /// Somebody else says it.
    Later,
}

/// A request, taken apart.
pub(crate) struct Request<'a> {
    /// As it goes back, in JSON.
    pub(crate) id: String,
    pub(crate) method: &'a str,
    pub(crate) params: &'a Value,
    /// Without a handshake, by what its metadata say.
    pub(crate) modern: bool,
}

impl Server {
    /// Whether it has this fault.
    pub(crate) fn fault(&self, name: &str) -> bool {
        self.fault == name
    }

    /// Takes a message.
    pub(crate) fn take(&self, message: &Value) {
        let (Some(method), params) = (message["method"].as_str(), &message["params"]) else { return };
        let Some(id) = message.get("id") else { return self.hear(method, params) };
        let Some(id) = ids::as_it_goes_back(self, id) else { return };
        let modern = params["_meta"]["io.modelcontextprotocol/protocolVersion"] == MODERN;
        let request = Request { id, method, params, modern };
        answers::answer(self, &request, self.answer(&request));
    }

    /// Takes a notification.
    fn hear(&self, _method: &str, _params: &Value) {}

    fn answer(&self, request: &Request<'_>) -> Answer {
        match request.method {
            "initialize" => opening::initialize(self, request.params),
            "server/discover" if request.modern => opening::discover(self),
            "ping" => Answer::Result(json!({})),
            "tools/list" => tools::list(self, request),
            "tools/call" => tools::call(self, request),
            "resources/list" => resources::list(self),
            "resources/templates/list" => resources::templates(self),
            "resources/read" => resources::read(self, request),
            "prompts/list" => prompts::list(self, request),
            "prompts/get" => prompts::get(self, request),
            "completion/complete" => prompts::complete(self, request),
            _ if self.fault("silent-about-methods") => Answer::Later,
            name if self.fault("dies-of-methods") && name.contains("no-such") => std::process::exit(1),
            _ if self.fault("invalid-methods") => Answer::error(-32600, "no"),
            _ => Answer::error(-32601, "no such method"),
        }
    }
}

impl Answer {
    pub(crate) const fn error(code: i64, message: &'static str) -> Self {
        Self::Error(Refusal { code, message })
    }
}

fn main() {
    let fault = std::env::args().nth(1).unwrap_or_default();
    let server = Server { fault, out: Out };
    if lines::says_nothing_that_is_meant(&server) {
        return;
    }
    lines::serve(&server);
    if server.fault("stays") {
        loop {
            std::thread::park();
        }
    }
}
