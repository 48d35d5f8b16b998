//! Messages: what is one, and what is refused.

use std::sync::atomic::Ordering;

use serde_json::Value;

use crate::{Server, ids};

/// Takes what stands on a line.
pub(crate) fn take(server: &'static Server, text: &str) {
    let Ok(message) = serde_json::from_str::<Value>(text) else {
        if server.fault("dies-of-what-is-no-json") {
            std::process::exit(1);
        }
        let code = if server.fault("calls-no-json-invalid") { -32600 } else { -32700 };
        return refuse(server, None, code);
    };
    let Value::Array(batch) = &message else { return take_one(server, &message) };
    if server.fault("dies-of-arrays") {
        std::process::exit(1);
    }
    if batch.is_empty() || !server.batches.load(Ordering::Relaxed) || server.fault("no-batches") {
        return refuse(server, None, -32600);
    }
    server.out.batch(|| batch.iter().for_each(|message| take_one(server, message)));
}

fn take_one(server: &'static Server, message: &Value) {
    if !message.is_object() {
        if server.fault("dies-of-what-is-no-object") {
            std::process::exit(1);
        }
        let code = if server.fault("calls-no-object-no-json") { -32700 } else { -32600 };
        return refuse(server, None, code);
    }
    let id = message.get("id").and_then(|id| ids::as_it_goes_back(server, id));
    let version = message.get("jsonrpc");
    if version.is_none_or(|version| version != "2.0") {
        let dies = if version.is_none() { "dies-without-a-version" } else { "dies-of-other-versions" };
        if server.fault(dies) {
            std::process::exit(1);
        }
        return refuse(server, id.as_deref(), -32600);
    }
    let Some(method) = message.get("method") else {
        if message.get("result").or_else(|| message.get("error")).is_some() {
            return take_answer(server, message);
        }
        if server.fault("finds-no-method") {
            return refuse(server, id.as_deref(), -32601);
        }
        return refuse(server, id.as_deref(), -32600);
    };
    let Some(method) = method.as_str() else {
        if server.fault("dies-of-methods-that-are-no-string") {
            std::process::exit(1);
        }
        return refuse(server, id.as_deref(), -32600);
    };
    let params = message.get("params").unwrap_or(&Value::Null);
    let known = ["jsonrpc", "id", "method", "params"];
    if server.fault("closed-messages")
        && message.as_object().is_some_and(|it| it.keys().any(|key| !known.contains(&key.as_str())))
    {
        return;
    }
    if !message.as_object().is_some_and(|it| it.contains_key("id")) {
        if server.fault("answers-notifications") && method.contains("no-such") {
            refuse(server, None, -32601);
        }
        if server.fault("answers-without-id") && matches!(method, "ping" | "server/discover") {
            server.out.line(r#"{"jsonrpc":"2.0","id":null,"result":{"resultType":"complete"}}"#);
        }
        return server.take(message);
    }
    if server.fault("drops-odd-parameters") && !params.is_object() && !params.is_null() {
        return;
    }
    if server.fault("drops-null-parameters") && message.get("params").is_some_and(Value::is_null) {
        return;
    }
    if !ids::is_one(&message["id"]) {
        if server.fault("dies-of-odd-ids") {
            std::process::exit(1);
        }
        if !ids::is_taken(server, &message["id"]) {
            return refuse(server, None, -32600);
        }
    }
    let Some(id) = id else { return };
    if !params.is_object() && !params.is_null() {
        return refuse(server, Some(&id), -32602);
    }
    if server.fault("closed-parameters") && params.get("sanswireUnknown").is_some() {
        return refuse(server, Some(&id), -32602);
    }
    server.take(message);
}

fn take_answer(server: &'static Server, message: &Value) {
    if message.get("error").is_some() {
        if server.fault("dies-of-errors") {
            std::process::exit(1);
        }
    } else if server.fault("answers-answers") {
        refuse(server, message.get("id").map(Value::to_string).as_deref(), -32600);
    }
    server.take(message);
}

/// Says an error.
fn refuse(server: &Server, id: Option<&str>, code: i64) {
    let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    server.out.line(&format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":{code},"message":"no"}}}}"#));
}
