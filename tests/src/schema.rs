//! The published schema of each revision, as it stands in `tests/schema`, and its examples.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use sanswire::mcp::Revision;
use serde_json::Value;

const FILES: [(Revision, &str); 5] = [
    (Revision::V2024_11_05, include_str!("../schema/2024-11-05.json")),
    (Revision::V2025_03_26, include_str!("../schema/2025-03-26.json")),
    (Revision::V2025_06_18, include_str!("../schema/2025-06-18.json")),
    (Revision::V2025_11_25, include_str!("../schema/2025-11-25.json")),
    (Revision::V2026_07_28, include_str!("../schema/2026-07-28.json")),
];

const EXAMPLES: &str = include_str!("../schema/examples-2026-07-28.jsonl");

/// The schema of a revision.
///
/// # Panics
/// If there is none, or the file is no JSON.
#[must_use]
pub fn document(revision: Revision) -> &'static Value {
    static DOCUMENTS: OnceLock<Vec<(Revision, Value)>> = OnceLock::new();
    let read = |(revision, text): (Revision, &str)| (revision, serde_json::from_str(text).expect("JSON"));
    let all = DOCUMENTS.get_or_init(|| FILES.into_iter().map(read).collect());
    &all.iter().find(|(of, _)| *of == revision).expect("a schema of each revision").1
}

/// The member that holds the definitions of a revision: older ones have another draft.
#[must_use]
pub fn definitions(revision: Revision) -> &'static str {
    if document(revision).get("$defs").is_some() { "$defs" } else { "definitions" }
}

/// The definition of that name, if the revision has one.
#[must_use]
pub fn definition(revision: Revision, name: &str) -> Option<&'static Value> {
    document(revision)[definitions(revision)].get(name)
}

/// The messages that a union such as `ClientRequest` names, each by its method and definition; none if the revision has no
/// such union.
fn union(revision: Revision, union: &'static str) -> Vec<(&'static str, &'static str)> {
    let Some(found) = definition(revision, union) else { return Vec::new() };
    let method = |of: &'static Value| of["properties"]["method"]["const"].as_str();
    let Some(members) = found["anyOf"].as_array() else {
        return method(found).map(|method| (method, union)).into_iter().collect();
    };
    let named = |member: &'static Value| {
        let name = member["$ref"].as_str()?.rsplit('/').next()?;
        Some((method(definition(revision, name)?)?, name))
    };
    members.iter().filter_map(named).collect()
}

/// The methods of the messages that a union such as `ClientRequest` names; none if the revision has no such union.
#[must_use]
pub fn methods(revision: Revision, of: &'static str) -> BTreeSet<&'static str> {
    union(revision, of).into_iter().map(|(method, _)| method).collect()
}

/// The definition of the message of this method among those of a union.
#[must_use]
pub fn definition_of(revision: Revision, of: &'static str, method: &str) -> Option<&'static str> {
    union(revision, of).into_iter().find(|(found, _)| *found == method).map(|(_, name)| name)
}

/// An example of the newest revision.
#[derive(Clone, Debug)]
pub struct Example {
    /// The name of its definition.
    pub of: String,
    /// Its own.
    pub name: String,
    /// The example.
    pub value: Value,
}

/// All examples.
///
/// # Panics
/// If the file is not what it should be.
#[must_use]
pub fn examples() -> Vec<Example> {
    let read = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        let text = |name: &str| line[name].as_str().expect("a text").to_owned();
        Example { of: text("type"), name: text("name"), value: line["value"].take() }
    };
    EXAMPLES.lines().map(read).collect()
}
