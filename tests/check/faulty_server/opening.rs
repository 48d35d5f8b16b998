//! How a conversation is opened.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Answer, MODERN, Server, VERSIONS, asking};

pub(crate) fn initialize(server: &Server, params: &Value) -> Answer {
    if server.fault("mute-about-versions") {
        return Answer::error(-32601, "no such method");
    }
    if server.fault("dies-of-second") && server.state().ready {
        std::process::exit(1);
    }
    for required in ["protocolVersion", "capabilities", "clientInfo"] {
        if params.get(required).is_none() {
            let code = if server.fault("internal-errors") { -32603 } else { -32602 };
            return Answer::error(code, "something is missing");
        }
    }
    if server.fault("closed-capabilities") && params["capabilities"].get("somethingNew").is_some() {
        return Answer::error(-32602, "no such capability");
    }
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let newer = server.fault("newest-by-order") && asked > VERSIONS[3];
    let known = VERSIONS.contains(&asked) || server.fault("any-version") || newer;
    if server.fault("refuses-version") && !known {
        return Answer::error(-32602, "no such version");
    }
    asking::meet(server, params);
    let version = if known { asked } else { VERSIONS[3] };
    server.batches.store(version == VERSIONS[1], Ordering::Relaxed);
    let mut result = json!({
        "protocolVersion": version,
        "capabilities": capabilities(server),
        "serverInfo": {"name": "faulty", "version": "1"},
        "instructions": "Nothing here does anything.",
    });
    if server.fault("no-server-version") {
        result["serverInfo"] = json!({"name": "faulty"});
    }
    if server.fault("null-instructions") {
        result["instructions"] = Value::Null;
    }
    Answer::Result(result)
}

pub(crate) fn discover(server: &Server) -> Answer {
    static ASKED: AtomicBool = AtomicBool::new(false);
    if server.fault("slow-start") && !ASKED.swap(true, Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(5500));
    }
    let mut capabilities = capabilities(server);
    let name = if server.fault("bare-extension") { "bare" } else { "com.example/extension" };
    capabilities["extensions"] = json!({ name: {} });
    let instructions = "Nothing here does anything.";
    let mut result =
        json!({"supportedVersions": [MODERN], "capabilities": capabilities, "instructions": instructions});
    if server.fault("no-capabilities-told") {
        result["capabilities"] = Value::Null;
    }
    if server.fault("null-instructions") {
        result["instructions"] = Value::Null;
    }
    if server.fault("instructions-of-lines") {
        result["instructions"] = json!(["a"]);
    }
    Answer::Result(result)
}

fn capabilities(server: &Server) -> Value {
    let changes = if server.fault("flags-in-words") { json!("yes") } else { json!(true) };
    let mut all = json!({
        "tools": {"listChanged": changes},
        "resources": {"listChanged": true, "subscribe": true},
        "prompts": {},
        "completions": {},
        "logging": {},
    });
    if server.fault("capabilities-true") {
        all["logging"] = json!(true);
    }
    if server.fault("undeclared-logs") {
        all.as_object_mut().map(|all| all.remove("logging"));
    }
    all
}
