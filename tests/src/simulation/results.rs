//! What messages come to, for every model: read with `serde_json`, by the words of the specification.

use serde_json::Value;

/// What a result comes to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    Complete(Value),
    /// It asks for input, or makes a mess of it.
    Asks,
    Invalid,
}

/// What the result of a request of this method comes to, in the newest era or before.
pub(super) fn meaning(method: &str, modern: bool, result: Value) -> Meaning {
    let result = match result {
        Value::Array(elements) if elements.is_empty() => serde_json::json!({}),
        result => result,
    };
    if !result.is_object() {
        return Meaning::Invalid;
    }
    let asks = matches!(method, "tools/call" | "prompts/get" | "resources/read");
    match result.get("resultType") {
        _ if !modern => Meaning::Complete(result),
        None => Meaning::Complete(result),
        Some(kind) if kind == "complete" => Meaning::Complete(result),
        Some(kind) if kind == "input_required" && asks => Meaning::Asks,
        Some(_) => Meaning::Invalid,
    }
}

/// How deep brackets nest, those in strings included.
pub(super) fn depth(line: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in line {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(depth);
    }
    deepest
}
