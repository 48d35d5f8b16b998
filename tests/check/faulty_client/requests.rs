//! What the server says unasked.

use serde_json::{Value, json};

use crate::{Client, Failure, lines};

/// Takes a request or a notification.
pub(crate) fn take(client: &mut Client, message: &Value) -> Result<(), Failure> {
    let method = message["method"].as_str().unwrap_or_default();
    let Some(id) = message.get("id") else { return hear(client, method, &message["params"]) };
    // Without a handshake servers ask nothing.
    if client.modern && !client.fault("answers-anyway") {
        return Ok(());
    }
    let Some(id) = as_it_goes_back(client, id) else { return Ok(()) };
    let answer = match (method, client.fault.as_str()) {
        ("ping", "mute-to-pings") => return Ok(()),
        ("ping", "opens-before-it-answers") if !client.opened => return Ok(()),
        ("ping", "deaf-in-calls") if client.calling => return Ok(()),
        ("ping", "says-pong") => json!({"result": {"pong": true}}),
        ("ping", _) => json!({"result": {}}),
        ("roots/list", "bad-roots") => json!({"result": {"roots": [{"uri": "http://localhost/"}]}}),
        ("roots/list", _) => json!({"result": {"roots": [{"uri": "file:///tmp", "name": "tmp"}]}}),
        ("sampling/createMessage", "samples") => {
            json!({"result": {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}})
        }
        ("elicitation/create", "elicits") => json!({"result": {"action": "accept", "content": {}}}),
        (_, "silent-about-methods") => return Ok(()),
        (_, "invalid-methods") => json!({"error": {"code": -32600, "message": "no"}}),
        _ => json!({"error": {"code": -32601, "message": "no such method"}}),
    };
    client.answered += 1;
    if client.fault("answers-some") && client.answered > 20 {
        return Ok(());
    }
    let mut answer = answer;
    answer["jsonrpc"] = json!("2.0");
    answer["id"] = id;
    lines::say(client, &answer);
    if client.fault("answers-twice") {
        lines::say(client, &answer);
    }
    Ok(())
}

/// Takes a notification.
fn hear(client: &mut Client, method: &str, params: &Value) -> Result<(), Failure> {
    let dies = match (method, client.fault.as_str()) {
        ("notifications/message", "dies-of-logs") => params["level"] == "emergency",
        ("notifications/progress", "dies-of-progress") => client.calling,
        ("notifications/progress", "dies-of-late-progress") => !client.calling,
        ("notifications/tools/list_changed", "dies-of-changes") => true,
        _ => false,
    };
    if client.fault("answers-notifications") && !client.modern {
        let error = json!({"code": -32601, "message": "no such method"});
        lines::say(client, &json!({"jsonrpc": "2.0", "id": null, "error": error}));
    }
    if dies { Err(Failure::Spoiled) } else { Ok(()) }
}

/// The id of an answer; none if there is no answer.
fn as_it_goes_back(client: &Client, id: &Value) -> Option<Value> {
    match (id, client.fault.as_str()) {
        (Value::Number(n), "falsy-ids") if n.as_i64() == Some(0) => None,
        (Value::String(text), "falsy-ids") if text.is_empty() => None,
        (Value::Number(n), "double-ids") => n.as_f64().map(|n| json!(n as i64)),
        (Value::String(text), "parsed-ids") => {
            Some(text.parse::<i64>().map_or_else(|_| id.clone(), Value::from))
        }
        (Value::String(text), "short-ids") => Some(text.chars().take(32).collect::<String>().into()),
        _ => Some(id.clone()),
    }
}

/// Takes an answer that nobody waits for.
pub(crate) fn stray(client: &mut Client, message: &Value) -> Result<(), Failure> {
    let again = message["id"] == client.last;
    if client.fault("dies-of-strays") && !again || client.fault("dies-of-duplicates") && again {
        return Err(Failure::Spoiled);
    }
    Ok(())
}
