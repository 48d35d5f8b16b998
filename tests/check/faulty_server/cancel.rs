//! Cancellations: of what is still to be answered.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Server, changes};

/// Takes `notifications/cancelled`.
pub(crate) fn cancel(server: &Server, params: &Value) {
    let id = &params["requestId"];
    if !id.is_string() && !id.is_number() {
        if server.fault("refuses-cancels") {
            let error = json!({"code": -32602, "message": "which one?"});
            server.out.line(&json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string());
        }
        return;
    }
    if server.fault("answers-cancels") {
        let error = json!({"code": -32800, "message": "cancelled"});
        server.out.line(&json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
    }
    if changes::end(server, id) {
        return;
    }
    let text = |id: &Value| id.to_string().trim_matches('"').to_owned();
    server.state().at_work.retain(|pending| {
        let by_text = server.fault("cancels-by-text") && text(pending) == text(id);
        !(pending == id || by_text || server.fault("cancels-all"))
    });
}

/// Whether its requests take their time.
pub(crate) fn is_slow(server: &Server) -> bool {
    server.fault("cancels-by-text") || server.fault("cancels-all")
}

/// Takes a request later, if it is not cancelled by then.
pub(crate) fn later(server: &'static Server, message: &Value) {
    let message = message.clone();
    server.state().at_work.push(message["id"].clone());
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(40));
        let mut state = server.state();
        let Some(at) = state.at_work.iter().position(|pending| *pending == message["id"]) else { return };
        state.at_work.remove(at);
        drop(state);
        server.serve(&message);
    });
}
