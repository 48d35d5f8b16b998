//! A server without sessions.

use serde_json::{Value, json};

use super::Server;
use super::legacy::{echo_result, echo_tool};

/// The answer to `server/discover`, naming these versions.
#[must_use]
pub fn discover_result(versions: &[&str]) -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": versions,
        "capabilities": {"tools": {}},
        "instructions": "be kind",
        "ttlMs": 60_000,
        "cacheScope": "public",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "2"}},
    })
}

impl Server {
    /// Speaks 2026-07-28 and refuses `initialize`.
    #[must_use]
    pub fn modern() -> Self {
        Self::mute()
            .refusing("*", -32601)
            .with("initialize", |request, out| {
                out.error_with(request, -32601, json!({"supported": ["2026-07-28"]}));
            })
            .with("server/discover", |request, out| {
                out.result(request, discover_result(&["2026-07-28"]));
            })
            .with("tools/list", |request, out| {
                let result = json!({
                    "resultType": "complete", "tools": [echo_tool()], "ttlMs": 0, "cacheScope": "private",
                });
                out.result(request, result);
            })
            .with("tools/call", |request, out| {
                let mut result = echo_result(request);
                result["resultType"] = json!("complete");
                out.result(request, result);
            })
            .with("subscriptions/listen", |request, out| {
                out.notify(
                    "notifications/subscriptions/acknowledged",
                    json!({
                        "notifications": request["params"]["notifications"],
                        "_meta": {"io.modelcontextprotocol/subscriptionId": request["id"]},
                    }),
                );
            })
    }

    /// Speaks 2026-07-28, and `version` to those who open with `initialize`.
    #[must_use]
    pub fn dual(version: &str) -> Self {
        let mut server = Self::modern();
        let version = version.to_owned();
        server.on("initialize", move |request, out| {
            out.result(request, super::initialize_result(&version));
        });
        server
    }
}
