//! Ids: what goes back.

use serde_json::Value;

use crate::Server;

/// The id as it stands in the answer, in JSON; none if there is no answer.
pub(crate) fn as_it_goes_back(server: &Server, id: &Value) -> Option<String> {
    Some(match id {
        Value::Null => return None,
        Value::Number(n) if server.fault("falsy-ids") && n.as_u64() == Some(0) => return None,
        Value::String(text) if server.fault("falsy-ids") && text.is_empty() => return None,
        Value::Number(n) if server.fault("unsigned-ids") && n.as_i64().is_some_and(|n| n < 0) => return None,
        Value::Number(n) if server.fault("double-ids") => format!("{}", n.as_f64().unwrap_or_default()),
        Value::String(text) if server.fault("parsed-ids") && text.parse::<i64>().is_ok() => text.clone(),
        Value::String(text) if server.fault("short-ids") => {
            Value::from(text.chars().take(32).collect::<String>()).to_string()
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            id.to_string()
        }
    })
}
