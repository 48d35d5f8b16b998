//! A server of the older kind.

use serde_json::{Value, json};

use super::Server;

/// The tool every server here has.
#[must_use]
pub fn echo_tool() -> Value {
    json!({"name": "echo", "description": "says it again", "inputSchema": {"type": "object"}})
}

/// The answer to `initialize` in this version.
#[must_use]
pub fn initialize_result(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": true}, "logging": {}},
        "serverInfo": {"name": "old", "version": "1"},
        "instructions": "be kind",
    })
}

pub(super) fn echo_result(request: &Value) -> Value {
    let text = request["params"]["arguments"].to_string();
    json!({"content": [{"type": "text", "text": text}]})
}

impl Server {
    /// Opens with `initialize`, speaks `version` whatever is offered, and knows nothing newer.
    #[must_use]
    pub fn legacy(version: &str) -> Self {
        let version = version.to_owned();
        Self::mute()
            .refusing("*", -32601)
            .with("initialize", move |request, out| out.result(request, initialize_result(&version)))
            .with("ping", |request, out| out.result(request, json!({})))
            .with("tools/list", |request, out| out.result(request, json!({"tools": [echo_tool()]})))
            .with("tools/call", |request, out| out.result(request, echo_result(request)))
    }
}
