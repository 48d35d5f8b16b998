//! How a conversation is opened.

use serde_json::{Value, json};

use crate::{Answer, MODERN, Server, VERSIONS};

pub(crate) fn initialize(server: &Server, params: &Value) -> Answer {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let known = VERSIONS.contains(&asked) || server.fault("any-version");
    if server.fault("refuses-version") && !known {
        return Answer::error(-32602, "no such version");
    }
    let version = if server.fault("no-server-version") { Value::Null } else { json!("1") };
    Answer::Result(json!({
        "protocolVersion": if known { asked } else { VERSIONS[3] },
        "capabilities": capabilities(),
        "serverInfo": {"name": "faulty", "version": version},
    }))
}

pub(crate) fn discover(server: &Server) -> Answer {
    let instructions = if server.fault("instructions-of-lines") { json!(["a"]) } else { json!("a") };
    Answer::Result(json!({
        "instructions": instructions,
        "supportedVersions": [MODERN], "capabilities": capabilities(), "ttlMs": 0, "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "faulty", "version": "1"}},
    }))
}

fn capabilities() -> Value {
    json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}})
}
