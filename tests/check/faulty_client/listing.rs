//! Lists of tools.

use serde_json::{Value, json};

use crate::{Client, Failure, hang};

/// The most pages that are asked for.
const PAGES: usize = 200;

/// All of them.
pub(crate) fn tools(client: &mut Client) -> Result<Vec<Value>, Failure> {
    let (mut tools, mut params) = (Vec::new(), json!({}));
    let most = if client.fault("endless") { usize::MAX } else { PAGES };
    for _ in 0..most {
        let page = match client.request("tools/list", params) {
            Err(Failure::Refused(_)) if client.fault("hangs-on-page-error") => hang(),
            answer => answer?,
        };
        tools.extend(page["tools"].as_array().cloned().unwrap_or_default());
        if client.fault("dies-of-null") && page.get("nextCursor").is_some_and(Value::is_null) {
            return Err(Failure::Spoiled);
        }
        let Some(cursor) = page["nextCursor"].as_str().filter(|_| !client.fault("one-page")) else { break };
        params = json!({"cursor": if client.fault("trims-cursors") { cursor.trim() } else { cursor }});
    }
    if tools.is_empty() && client.fault("hangs-without-tools") {
        hang();
    }
    let refused = |tool: &Value| match client.fault.as_str() {
        "needs-descriptions" => tool.get("description").is_none(),
        "dies-of-icons" => tool.get("icons").is_some(),
        "strict-tools" => tool.get("hologram").is_some(),
        "dies-of-references" => tool.to_string().contains("$ref"),
        _ => false,
    };
    if tools.iter().any(refused) || client.fault("few-tools") && tools.len() > 500 {
        return Err(Failure::Spoiled);
    }
    Ok(tools)
}
