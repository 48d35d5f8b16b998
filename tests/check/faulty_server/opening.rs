//! How a conversation is opened.

use serde_json::{Value, json};

use crate::{Answer, MODERN, Server, VERSIONS};

pub(crate) fn initialize(server: &Server, params: &Value) -> Answer {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let known = VERSIONS.contains(&asked) || server.fault("any-version");
    if server.fault("refuses-version") && !known {
        return Answer::error(-32602, "no such version");
    }
    Answer::Result(json!({
        "protocolVersion": if known { asked } else { VERSIONS[3] },
        "capabilities": capabilities(),
        "serverInfo": {"name": "faulty", "version": "1"},
    }))
}

pub(crate) fn discover() -> Answer {
    Answer::Result(json!({
        "supportedVersions": [MODERN], "capabilities": capabilities(), "ttlMs": 0, "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "faulty", "version": "1"}},
    }))
}

fn capabilities() -> Value {
    json!({"tools": {}})
}
