//! Progress and log messages, of what is listed.

use serde_json::{Value, json};

use crate::{Answer, Request, Server};

const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

fn place(level: &Value) -> Option<usize> {
    LEVELS.iter().position(|known| level == known)
}

/// `logging/setLevel`.
pub(crate) fn set_level(server: &Server, params: &Value) -> Answer {
    let known = place(&params["level"]).filter(|at| !server.fault("seven-levels") || *at != 2);
    if known.is_none() && !server.fault("any-level") {
        return Answer::error(-32602, "no such level");
    }
    server.state().level = known;
    Answer::Result(json!({}))
}

/// What is wrong with what a request asks to be told.
pub(crate) fn refusal(server: &Server, request: &Request<'_>) -> Option<Answer> {
    let meta = &request.params["_meta"];
    let level = meta.get(LEVEL).is_some_and(|level| place(level).is_none());
    if level && !server.fault("any-level") {
        return Some(Answer::error(-32602, "no such level"));
    }
    let token = &meta["progressToken"];
    if server.fault("refuses-falsy-tokens") && (*token == json!(0) || *token == json!("")) {
        return Some(Answer::error(-32602, "no token"));
    }
    None
}

/// Tells of the work, before the answer.
pub(crate) fn before(server: &Server, request: &Request<'_>) {
    let meta = &request.params["_meta"];
    if request.method == "tools/call" && request.params["name"] == "picture" {
        return called(server, request);
    }
    if !request.method.ends_with("/list") {
        return;
    }
    let least = if request.modern { meta.get(LEVEL).and_then(place) } else { server.state().level };
    let always = server.fault("undeclared-logs") || server.fault("logs-unasked") && request.modern;
    for (at, level) in LEVELS.iter().enumerate() {
        let wanted = least.is_some_and(|least| at >= least || server.fault("ignores-level"));
        if wanted || always {
            server.notify("notifications/message", json!({"level": level, "data": "listing"}));
        }
    }
    progress(server, meta.get("progressToken"));
}

/// Tells of a call: that it goes on, and of what it does where that is wanted.
fn called(server: &Server, request: &Request<'_>) {
    let meta = &request.params["_meta"];
    let least = if request.modern { meta.get(LEVEL).and_then(place) } else { server.state().level };
    if least.is_some_and(|least| least == 0 || server.fault("logs-calls-anyway")) {
        server.notify("notifications/message", json!({"level": "debug", "data": "calling"}));
    }
    if request.modern && server.fault("logs-calls-unasked") {
        server.notify("notifications/message", json!({"level": "debug", "data": "calling"}));
    }
    let unasked = json!("unasked");
    let told = server.fault("calls-tell-unasked").then_some(&unasked);
    let Some(token) = meta.get("progressToken").or(told) else { return };
    for progress in if server.fault("calls-go-back") { [2, 1] } else { [1, 2] } {
        server.notify("notifications/progress", json!({"progressToken": token, "progress": progress}));
    }
}

fn progress(server: &Server, token: Option<&Value>) {
    let unasked = json!("unasked");
    let Some(token) = token.or_else(|| server.fault("unasked-progress").then_some(&unasked)) else { return };
    let token = if server.fault("text-tokens") && token.is_number() {
        json!(token.to_string())
    } else {
        token.clone()
    };
    for progress in if server.fault("shrinking-progress") { [2, 1] } else { [1, 2] } {
        server.notify("notifications/progress", json!({"progressToken": token, "progress": progress}));
    }
}

/// Tells of the work that is done.
pub(crate) fn after(server: &Server, request: &Request<'_>) {
    let Some(token) = request.params["_meta"].get("progressToken") else { return };
    let late = server.fault("late-progress") && request.method.ends_with("/list")
        || server.fault("calls-tell-late") && request.method == "tools/call";
    if late {
        server.notify("notifications/progress", json!({"progressToken": token, "progress": 3}));
    }
}
