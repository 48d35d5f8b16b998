//! Requests without a handshake: what they say of themselves, and what is said in each answer.

use serde_json::{Value, json};

use crate::{Answer, MODERN, Request, Server, VERSIONS};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";

/// Whether a request is meant for the revision without a handshake.
pub(crate) fn is_modern(method: &str, params: &Value) -> bool {
    let meta = &params["_meta"];
    meta.get(VERSION).is_some() || meta.get(CAPABILITIES).is_some() || method == "server/discover"
}

/// What is wrong with what it says of itself.
pub(crate) fn refusal(server: &Server, request: &Request<'_>) -> Option<Answer> {
    let meta = &request.params["_meta"];
    let lacks = |name: &str, guessed: &str| meta.get(name).is_none() && !server.fault(guessed);
    if lacks(VERSION, "guesses-version") || lacks(CAPABILITIES, "guesses-capabilities") {
        return Some(Answer::error(-32602, "a member of _meta is missing"));
    }
    if meta.get(VERSION).is_some_and(|version| version != MODERN) {
        let code = if server.fault("old-version-code") { -32004 } else { -32022 };
        let data = if server.fault("no-version-data") {
            Value::Null
        } else {
            json!({"supported": [MODERN, VERSIONS[3]], "requested": meta[VERSION]})
        };
        return Some(Answer::refusal(code, "no such version", data));
    }
    if server.fault("wants-client") && meta.get(CLIENT).is_none() {
        return Some(Answer::error(-32602, "who asks?"));
    }
    if server.fault("wants-known-metadata") && meta.get("traceparent").is_some() {
        return Some(Answer::error(-32602, "what is that?"));
    }
    let mut state = server.state();
    let first = state.client.get_or_insert_with(|| meta[CLIENT].clone());
    if server.fault("one-client") && meta.get(CLIENT).is_some_and(|client| client != first) {
        return Some(Answer::error(-32600, "another client is here"));
    }
    state.discovered |= request.method == "server/discover";
    let early = server.fault("wants-discover") && !state.discovered;
    early.then(|| Answer::error(-32600, "discover first"))
}

/// Completes a result.
pub(crate) fn complete(server: &Server, request: &Request<'_>, result: &mut Value) {
    let info = json!({"io.modelcontextprotocol/serverInfo": {"name": "faulty", "version": "1"}});
    let mut put = |name: &str, value: Value, fault: &str| {
        if server.fault(fault) {
            result.as_object_mut().map(|members| members.remove(name));
        } else if result.get(name).is_none() {
            result[name] = value;
        }
    };
    put("resultType", json!("complete"), "no-result-type");
    put("_meta", info, "no-server-info");
    if request.method.ends_with("/list") || request.method == "server/discover" {
        put("ttlMs", json!(0), "no-cache-hints");
        put("cacheScope", json!("private"), "no-cache-hints");
    }
}
