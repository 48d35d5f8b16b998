//! The published schemas: what results have to be in each revision.

use std::sync::OnceLock;

use sanswire::mcp::Revision;
use serde_json::Value;

use super::{Fit, judge};

/// Of each revision what results are made of, without descriptions: a tenth of what is published.
const TEXTS: [&str; 5] = [
    include_str!("../../schema/2024-11-05.json"),
    include_str!("../../schema/2025-03-26.json"),
    include_str!("../../schema/2025-06-18.json"),
    include_str!("../../schema/2025-11-25.json"),
    include_str!("../../schema/2026-07-28.json"),
];

/// Whether a value is what this revision calls by that name: `ListToolsResult`. Unknown where the revision has none.
pub(crate) fn published(revision: Revision, name: &str, value: &Value) -> Fit {
    static DOCUMENTS: [OnceLock<Value>; 5] = [const { OnceLock::new() }; 5];
    let Some(place) = Revision::ALL.iter().position(|it| *it == revision) else { return Fit::Unknown };
    let document = DOCUMENTS[place].get_or_init(|| serde_json::from_str(TEXTS[place]).unwrap_or_default());
    let definitions = document.get("$defs").or_else(|| document.get("definitions"));
    definitions.and_then(|all| all.get(name)).map_or(Fit::Unknown, |schema| judge(document, schema, value))
}
