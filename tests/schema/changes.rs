//! Every small change of a value: one member or element left out or put in another's place, one member added.

use serde_json::{Value, json};

/// A changed value, and where and how it was changed.
pub(crate) struct Change {
    /// The names that lead there; `*` for an element.
    pub(crate) at: String,
    /// What was done.
    pub(crate) how: &'static str,
    /// What it comes to.
    pub(crate) value: Value,
}

/// What is put in the place of a value.
fn others() -> [(&'static str, Value); 8] {
    [
        ("null", json!(null)),
        ("true", json!(true)),
        ("integer", json!(7)),
        ("fraction", json!(-1.5)),
        ("text", json!("q")),
        ("blank", json!("")),
        ("array", json!([])),
        ("object", json!({})),
    ]
}

/// All changes of `value`, to a depth of `depth`.
pub(crate) fn changes(value: &Value, depth: usize) -> Vec<Change> {
    let mut places = Vec::new();
    walk(value, depth, &mut Vec::new(), &mut places);
    let mut out = Vec::new();
    for place in places {
        let shown: Vec<&str> = place
            .iter()
            .map(|step| if step.parse::<usize>().is_ok() { "*" } else { step.as_str() })
            .collect();
        let at = shown.join(".");
        let pointer: String =
            place.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect();
        for (how, other) in others() {
            let mut changed = value.clone();
            let there = changed.pointer_mut(&pointer).expect("it is there");
            if *there != other {
                *there = other;
                out.push(Change { at: at.clone(), how, value: changed });
            }
        }
        if let Some((last, before)) = place.split_last() {
            let before: String = before
                .iter()
                .map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1")))
                .collect();
            let mut changed = value.clone();
            if let Some(members) = changed.pointer_mut(&before).and_then(Value::as_object_mut) {
                members.remove(last);
                out.push(Change { at: at.clone(), how: "absent", value: changed });
            }
        }
        let mut changed = value.clone();
        if let Some(members) = changed.pointer_mut(&pointer).and_then(Value::as_object_mut) {
            members.insert("x-unheard-of".into(), json!([1]));
            out.push(Change { at, how: "one more", value: changed });
        }
    }
    out
}

fn walk(value: &Value, depth: usize, place: &mut Vec<String>, places: &mut Vec<Vec<String>>) {
    places.push(place.clone());
    if depth == 0 {
        return;
    }
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), value)).collect(),
        // One element is like the others.
        Value::Array(items) => {
            items.iter().take(2).enumerate().map(|(at, value)| (at.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (step, value) in inside {
        place.push(step);
        walk(value, depth - 1, place, places);
        place.pop();
    }
}
