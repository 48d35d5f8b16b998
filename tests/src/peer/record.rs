//! What a peer puts on record of a message that came.

use serde_json::Value;

/// A message in few words: `call NAME ID` for a call of a tool, `cancelled ID`, `response ID`, else its method.
#[must_use]
pub fn entry(message: &Value) -> String {
    match message["method"].as_str() {
        None => format!("response {}", message["id"]),
        Some("tools/call") => {
            format!("call {} {}", message["params"]["name"].as_str().unwrap_or_default(), message["id"])
        }
        Some("notifications/cancelled") => format!("cancelled {}", message["params"]["requestId"]),
        Some(method) => method.to_owned(),
    }
}
