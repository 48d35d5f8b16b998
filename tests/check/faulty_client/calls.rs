//! Calls of tools.

use serde_json::{Value, json};

use crate::{Client, Failure, hang};

/// How often the server may ask for the same call again.
const ROUNDS: usize = 8;

/// Calls the first.
pub(crate) fn call_first(client: &mut Client, tools: &[Value]) -> Result<(), Failure> {
    let Some(tool) = tools.first() else { return Ok(()) };
    client.calling = true;
    let called = call(client, &tool["name"]);
    client.calling = false;
    if matches!(called, Err(Failure::Refused(_))) && client.fault("hangs-on-call-error") {
        hang();
    }
    let result = called?;
    let blocks = result["content"].as_array().cloned().unwrap_or_default();
    let is = |kind: &str| blocks.iter().any(|it| it["type"] == kind);
    if result["isError"] == true && client.fault("hangs-on-tool-failure")
        || is("hologram") && client.fault("hangs-on-unknown-content")
    {
        hang();
    }
    let dies = match client.fault.as_str() {
        "needs-content" => blocks.is_empty(),
        "dies-of-structure" => result.get("structuredContent").is_some(),
        "text-only" => is("image"),
        "small-results" => result.to_string().len() > 500_000,
        _ => false,
    };
    if dies { Err(Failure::Spoiled) } else { Ok(()) }
}

fn call(client: &mut Client, name: &Value) -> Result<Value, Failure> {
    let arguments = if client.fault("null-arguments") { Value::Null } else { json!({"text": "hi"}) };
    let token = if client.fault("fractional-token") { json!(1.5) } else { json!("call") };
    let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": token}});
    let mut id = client.ask("tools/call", params.clone());
    for _ in 0..ROUNDS {
        let result = client.answer_to(&id)?;
        if result["resultType"] != "input_required" {
            return Ok(result);
        }
        let mut again = params.clone();
        if let Some(state) = result["requestState"].as_str() {
            again["requestState"] = json!(if client.fault("trims-state") { state.trim() } else { state });
        }
        if client.fault("same-id-again") {
            client.ask_as(&id, "tools/call", again);
        } else {
            id = client.ask("tools/call", again);
        }
    }
    Err(Failure::Late)
}
