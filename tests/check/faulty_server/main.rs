//! A server for the tests of the checks: correct, but for the one fault that it is told. It shares no code with what it is
//! checked by.
//!
//! A fault is a word, asked for where it shows: `server.fault("banner")`. What is correct stands beside it.

mod answers;
mod asking;
mod cancel;
mod changes;
mod ids;
mod lines;
mod messages;
mod modern;
mod opening;
mod process;
mod prompts;
mod resources;
mod rounds;
mod telling;
mod tools;

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    /// Whether it takes batches: in one of the versions it does.
    pub(crate) batches: AtomicBool,
    state: Mutex<State>,
}

/// What it remembers.
#[derive(Default)]
pub(crate) struct State {
    /// The handshake is done.
    pub(crate) ready: bool,
    /// The client said that it has roots.
    pub(crate) has_roots: bool,
    /// Nothing is served until the client has answered, and what is left for then.
    pub(crate) waiting: bool,
    pub(crate) left: Vec<Value>,
    /// The place among the levels from which on messages are sent.
    pub(crate) level: Option<usize>,
    /// The ids of open subscriptions, and the resources that are subscribed to in the older way.
    pub(crate) listening: Vec<Value>,
    pub(crate) subscribed: Vec<Value>,
    /// Requests that are answered later.
    pub(crate) at_work: Vec<Value>,
    /// Who asked first without a handshake, and whether anybody asked what there is.
    pub(crate) client: Option<Value>,
    pub(crate) discovered: bool,
}

/// An error, as JSON-RPC has it.
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) message: &'static str,
    /// Null for none.
    pub(crate) data: Value,
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

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify(&self, method: &str, params: Value) {
        self.out.line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Takes a message.
    pub(crate) fn take(&'static self, message: &Value) {
        let Some(method) = message["method"].as_str() else { return asking::take_answer(self, message) };
        if message.get("id").is_none() {
            return self.hear(method, &message["params"]);
        }
        if asking::waits(self, message) {
            return;
        }
        if cancel::is_slow(self) && method != "initialize" {
            return cancel::later(self, message);
        }
        self.serve(message);
    }

    /// Takes a notification.
    fn hear(&self, method: &str, params: &Value) {
        match method {
            "notifications/initialized" => asking::begin(self),
            "notifications/cancelled" => cancel::cancel(self, params),
            _ => {}
        }
    }

    /// Takes a request.
    fn serve(&self, message: &Value) {
        let (Some(method), params) = (message["method"].as_str(), &message["params"]) else { return };
        let Some(id) = ids::as_it_goes_back(self, &message["id"]) else { return };
        let modern = modern::is_modern(method, params);
        let request = Request { id, method, params, modern };
        let answer = self.answer(&request);
        answers::answer(self, &request, answer);
        telling::after(self, &request);
    }

    fn answer(&self, request: &Request<'_>) -> Answer {
        if request.modern {
            if let Some(refusal) = modern::refusal(self, request) {
                return refusal;
            }
            if self.fault("asks-anyway") && request.method == "tools/list" {
                self.out.line(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
            }
            if self.fault("one-thing-at-a-time") && !self.state().listening.is_empty() {
                return Answer::Later;
            }
        }
        if let Some(refusal) = telling::refusal(self, request) {
            return refusal;
        }
        telling::before(self, request);
        if self.fault("tells-all") && request.method == "tools/list" {
            changes::tell_all(self);
        }
        self.dispatch(request)
    }

    fn dispatch(&self, request: &Request<'_>) -> Answer {
        let early = !request.modern && !self.state().ready;
        let method =
            if self.fault("any-case") { request.method.to_lowercase() } else { request.method.into() };
        match method.as_str() {
            "initialize" if !request.modern => opening::initialize(self, request.params),
            "server/discover" => opening::discover(self),
            "ping" if early && self.fault("early-ping-silent") => Answer::Later,
            "ping" if self.fault("ping-says-pong") => Answer::Result(json!({"pong": true})),
            "ping" if !request.modern || self.fault("keeps-ping") => Answer::Result(json!({})),
            _ if early && self.fault("early-silent") => Answer::Later,
            "resources/list" if self.fault("declares-too-much") => Answer::error(-32601, "no such method"),
            "tools/list" => {
                process::works(self);
                tools::list(self, request)
            }
            "tools/call" => tools::call(self, request),
            "resources/list" => resources::list(self),
            "resources/templates/list" => resources::templates(self),
            "resources/read" => resources::read(self, request),
            "prompts/list" => prompts::list(self, request),
            "prompts/get" => prompts::get(self, request),
            "completion/complete" => prompts::complete(self, request),
            "resources/subscribe" | "resources/unsubscribe" if !request.modern => {
                changes::subscribe(self, request)
            }
            "subscriptions/listen" if request.modern => changes::listen(self, request),
            "logging/setLevel" if !request.modern => telling::set_level(self, request.params),
            "tasks/list" if self.fault("serves-undeclared") => {
                Answer::Result(json!({"tasks": [{"taskId": "1"}]}))
            }
            "tasks/list" if self.fault("internal-undeclared") => {
                Answer::error(-32603, "something went wrong")
            }
            _ if self.fault("silent-about-methods") => Answer::Later,
            name if self.fault("dies-of-methods") && name.contains("no-such") => std::process::exit(1),
            _ if self.fault("invalid-methods") => Answer::error(-32600, "no"),
            _ if self.fault("own-codes") => Answer::error(-32050, "no such method"),
            _ => Answer::error(-32601, "no such method"),
        }
    }
}

impl Answer {
    pub(crate) const fn error(code: i64, message: &'static str) -> Self {
        Self::refusal(code, message, Value::Null)
    }

    pub(crate) const fn refusal(code: i64, message: &'static str, data: Value) -> Self {
        Self::Error(Refusal { code, message, data })
    }
}

fn main() {
    let fault = std::env::args().nth(1).unwrap_or_default();
    let out = Out::new(&fault);
    let server = Server { fault, out, batches: AtomicBool::new(false), state: Mutex::default() };
    let server: &'static Server = Box::leak(Box::new(server));
    let _held = process::start(server);
    if lines::says_nothing_that_is_meant(server) {
        return;
    }
    lines::serve(server);
    process::end(server);
    server.out.finish();
}
