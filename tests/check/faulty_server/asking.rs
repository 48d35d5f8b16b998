//! What is asked of the client.

use serde_json::{Value, json};

use crate::Server;

fn ask(server: &Server, id: u32, method: &str) {
    server.out.line(&json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string());
}

/// The client has asked for a handshake.
pub(crate) fn meet(server: &Server, params: &Value) {
    let roots = params["capabilities"].get("roots").is_some();
    server.state().has_roots = roots;
    if server.fault("asks-early") && roots {
        ask(server, 9, "roots/list");
    }
}

/// The client is ready.
pub(crate) fn begin(server: &Server) {
    let mut state = server.state();
    state.ready = true;
    let roots = state.has_roots;
    state.waiting = roots && server.fault("waits-for-answer");
    drop(state);
    if roots {
        ask(server, 1, "roots/list");
        ask(server, if server.fault("same-ids") { 1 } else { 2 }, "ping");
    }
    if server.fault("asks-undeclared") {
        ask(server, 3, "sampling/createMessage");
    }
}

/// Takes an answer of the client.
pub(crate) fn take_answer(server: &'static Server, answer: &Value) {
    if server.fault("dies-of-refusal") && answer.get("error").is_some() {
        std::process::exit(1);
    }
    let mut state = server.state();
    if answer["id"] == 1 {
        state.waiting = false;
    }
    let left = std::mem::take(&mut state.left);
    drop(state);
    for message in left {
        server.take(&message);
    }
}

/// Whether a message has to wait until the client has answered.
pub(crate) fn waits(server: &Server, message: &Value) -> bool {
    let mut state = server.state();
    if state.waiting {
        state.left.push(message.clone());
    }
    state.waiting
}
