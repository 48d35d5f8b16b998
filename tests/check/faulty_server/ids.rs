//! Ids: what goes back.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::Value;

use crate::Server;

/// Whether it is an id: a string or an integer that fits.
pub(crate) fn is_one(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

/// Whether it is taken all the same.
pub(crate) fn is_taken(server: &Server, id: &Value) -> bool {
    id.is_number() && (server.fault("double-ids") || server.fault("whole-ids"))
}

/// The id as it stands in the answer, in JSON; none if there is no answer.
pub(crate) fn as_it_goes_back(server: &Server, id: &Value) -> Option<String> {
    Some(match id {
        Value::Number(n) if server.fault("falsy-ids") && n.as_u64() == Some(0) => return None,
        Value::String(text) if server.fault("falsy-ids") && text.is_empty() => return None,
        Value::Number(n) if server.fault("unsigned-ids") && n.as_i64().is_some_and(|n| n < 0) => return None,
        Value::Number(n) if server.fault("double-ids") => format!("{}", n.as_f64().unwrap_or_default()),
        Value::Number(n) if server.fault("whole-ids") && n.as_f64().is_some_and(|n| n.fract() != 0.0) => {
            format!("{}", n.as_f64().unwrap_or_default().trunc())
        }
        Value::String(text) if server.fault("parsed-ids") && text.parse::<i64>().is_ok() => text.clone(),
        Value::String(text) if server.fault("short-ids") => {
            Value::from(text.chars().take(32).collect::<String>()).to_string()
        }
        Value::String(text) if server.fault("ids-of-letters") && text.contains('"') => {
            Value::from(text.chars().filter(char::is_ascii_alphanumeric).collect::<String>()).to_string()
        }
        Value::String(text) if server.fault("halves-of-pairs") => {
            Value::from(text.replace(|c| c > '\u{ffff}', "\u{fffd}\u{fffd}")).to_string()
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => id.to_string(),
    })
}

/// How often each id came, as text.
static SEEN: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// How often a request is answered.
pub(crate) fn times(server: &Server, id: &str) -> usize {
    let mut seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let before = *seen.entry(id.trim_matches('"').to_owned()).and_modify(|n| *n += 1).or_insert(0);
    match () {
        () if server.fault("one-table-of-ids") && before > 0 => 0,
        () if server.fault("three-for-two") && before > 0 && id.contains("twice") => 2,
        () if server.fault("doubles-in-flight") && id.contains("in-flight") && id.contains('5') => 2,
        () => 1,
    }
}
