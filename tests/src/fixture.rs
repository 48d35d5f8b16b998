//! The server that a host's scenarios are about: it shares no code with the library, and its tools do what tools do.

use std::time::Duration;

use serde_json::{Value, json};

use crate::peer::{Out, Server, discover_result, initialize_result};

/// Its tools, as it lists them.
#[must_use]
pub fn fixture_tools() -> Vec<Value> {
    let schema = json!({"type": "object"});
    let named = |name: &str| json!({"name": name, "description": name, "inputSchema": schema});
    let mut tools: Vec<_> = ["echo", "boom", "readonly_echo", "die", "sleep", "big_output"].map(named).into();
    tools[2]["annotations"] = json!({"readOnlyHint": true});
    tools
}

/// Answers `tools/call` as the tools say; `kind` goes into every result.
fn call(request: &Value, out: &mut Out<'_>, kind: Option<&str>) {
    let arguments = &request["params"]["arguments"];
    let text = |text: String| {
        let mut result = json!({"content": [{"type": "text", "text": text}]});
        if let Some(kind) = kind {
            result["resultType"] = json!(kind);
        }
        result
    };
    let said = || arguments["text"].as_str().unwrap_or_default().to_owned();
    match request["params"]["name"].as_str().unwrap_or_default() {
        "echo" | "readonly_echo" => out.result(request, text(said())),
        "boom" => {
            let mut result = text("boom".to_owned());
            result["isError"] = json!(true);
            out.result(request, result);
        }
        "die" => out.close(),
        "sleep" => {
            let time = Duration::from_millis(arguments["ms"].as_u64().unwrap_or(0));
            out.after(time).result(request, text(format!("slept {} ms", time.as_millis())));
        }
        "big_output" => {
            let bytes = usize::try_from(arguments["bytes"].as_u64().unwrap_or(200_000)).unwrap();
            out.result(request, text("X".repeat(bytes)));
        }
        other => out.error(request, -32602, &format!("unknown tool {other}")),
    }
}

/// Speaks 2025-11-25. Answers pings, and -32601 to whatever else.
#[must_use]
pub fn legacy_fixture() -> Server {
    Server::mute()
        .refusing("*", -32601)
        .with("initialize", |request, out| out.result(request, initialize_result("2025-11-25")))
        .with("ping", |request, out| out.result(request, json!({})))
        .with("tools/list", |request, out| out.result(request, json!({"tools": fixture_tools()})))
        .with("tools/call", |request, out| call(request, out, None))
}

/// Speaks 2026-07-28.
#[must_use]
pub fn modern_fixture() -> Server {
    let listen = Server::modern();
    listen
        .with("server/discover", |request, out| {
            let mut result = discover_result(&["2026-07-28"]);
            result["capabilities"] = json!({"tools": {"listChanged": true}});
            out.result(request, result);
        })
        .with("tools/list", |request, out| {
            let tools = fixture_tools();
            out.result(
                request,
                json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"}),
            );
        })
        .with("tools/call", |request, out| call(request, out, Some("complete")))
}
