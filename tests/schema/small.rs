//! What `sanswire check` judges results by is what is published, without what nothing is judged by.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sanswire::mcp::Revision;
use sanswire_tests::schema::{definitions, document};
use serde_json::{Map, Value, json};

/// The results that a server gives.
const ROOTS: [&str; 11] = [
    "CallToolResult",
    "CompleteResult",
    "InputRequiredResult",
    "DiscoverResult",
    "GetPromptResult",
    "InitializeResult",
    "ListPromptsResult",
    "ListResourceTemplatesResult",
    "ListResourcesResult",
    "ListToolsResult",
    "ReadResourceResult",
];

/// The schema without descriptions. `named`: it is an object of schemas, whose names are no keywords.
fn without_words(schema: &Value, named: bool) -> Value {
    match schema {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| named || *name != "description");
            let inside = |name: &str| !named && matches!(name, "properties" | "definitions" | "$defs");
            kept.map(|(name, it)| (name.clone(), without_words(it, inside(name))))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(all) => all.iter().map(|it| without_words(it, false)).collect(),
        other => other.clone(),
    }
}

/// Adds the definition, and those that it refers to.
fn take(all: &Value, name: &str, taken: &mut BTreeSet<String>) {
    let Some(definition) = all.get(name) else { return };
    if taken.insert(name.to_owned()) {
        refer(all, definition, taken);
    }
}

fn refer(all: &Value, within: &Value, taken: &mut BTreeSet<String>) {
    match within {
        Value::Object(members) => {
            if let Some(to) = members.get("$ref").and_then(Value::as_str).and_then(|to| to.rsplit('/').next())
            {
                take(all, to, taken);
            }
            members.values().for_each(|it| refer(all, it, taken));
        }
        Value::Array(elements) => elements.iter().for_each(|it| refer(all, it, taken)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn small(revision: Revision) -> Value {
    let (document, key) = (document(revision), definitions(revision));
    let mut taken = BTreeSet::new();
    for root in ROOTS {
        take(&document[key], root, &mut taken);
    }
    let kept: BTreeMap<_, _> =
        taken.iter().map(|name| (name, without_words(&document[key][name], false))).collect();
    json!({"$schema": document["$schema"], key: kept})
}

#[test]
fn the_schemas_of_the_checks_are_the_published_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/schema");
    for revision in Revision::ALL {
        let (wanted, file) = (small(revision), folder.join(format!("{revision}.json")));
        if std::env::var_os("SANSWIRE_ACCEPT").is_some() {
            std::fs::write(&file, format!("{wanted}\n")).unwrap();
        }
        let kept: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(
            kept, wanted,
            "{revision}: SANSWIRE_ACCEPT=1 cargo test -p sanswire-tests --test schema small"
        );
    }
}
