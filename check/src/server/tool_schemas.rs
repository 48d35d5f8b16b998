//! What tools say of their arguments and results.

use sanswire::mcp::Revision;
use serde_json::Value;

use super::tools::{called, listed, no_tools};
use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::schema::{Dialect, flaw, subschemas};
use crate::talk::Talk;

const USE: Source = Source::Spec("basic#json-schema-usage");
/// Where the use of JSON Schema is spoken of.
const USED: Speaks = Speaks::Between(Revision::V2025_11_25, Revision::V2026_07_28);

pub(super) const CHECKS: &[Check] = &[
    shared!(
        "tools-schema-object",
        "arguments are an object",
        Source::Spec("server/tools#tool"),
        Must,
        Speaks::EachEra,
        ["tools"],
        |talk| each(talk, &["inputSchema"], |schema| {
            let is = schema["type"] == "object";
            (!is).then(|| ("type object at the root".into(), format!("type {}", schema["type"])))
        }),
        "Arguments go over the wire as an object, so inputSchema says \"type\": \"object\" at its root, for a tool without arguments too."
    ),
    shared!(
        "tools-schema-valid",
        "schemas are valid by their dialect",
        Source::Spec("basic#schema-validation"),
        Must,
        USED,
        ["tools"],
        |talk| each(talk, BOTH, |schema| {
            flaw(schema, false).map(|flaw| ("a valid JSON Schema".into(), format!("one where {flaw}")))
        }),
        "Clients compile a schema before they use it, and drop the tool where that fails. Without $schema it is 2020-12."
    ),
    shared!(
        "tools-schema-dialect",
        "schemas are of a dialect that clients know",
        USE,
        Advice,
        USED,
        ["tools"],
        |talk| each(talk, BOTH, |schema| {
            let known = Dialect::of(schema) != Dialect::Other;
            (!known).then(|| ("2020-12, or an older draft".into(), format!("$schema {}", schema["$schema"])))
        }),
        "Every client understands JSON Schema 2020-12; another dialect may be refused. Leave $schema out, or name a published draft."
    ),
    shared!(
        "tools-schema-external-reference",
        "schemas refer to nothing outside of themselves",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        ["tools"],
        |talk| each(talk, BOTH, |schema| {
            let found = references(schema).find(|to| !to.starts_with('#') && !is_named(schema, to));
            found.map(|to| ("references into the schema itself".into(), format!("$ref {to}")))
        }),
        "Clients fetch no schema from the network, so what it refers to is missing and the tool is dropped. Copy it into $defs."
    ),
    shared!(
        "tools-schema-reference",
        "references lead somewhere",
        USE,
        Should,
        USED,
        ["tools"],
        |talk| each(talk, BOTH, |schema| {
            let found = references(schema).find(|to| to.starts_with('#') && !leads(schema, to));
            found.map(|to| ("references to what is there".into(), format!("$ref {to}, which is not")))
        }),
        "A reference is a JSON Pointer from the root of this schema: #/$defs/name. One that leads nowhere makes the schema useless."
    ),
    shared!(
        "tools-schema-root-choice",
        "the root of a schema is one object, not a choice",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        ["tools"],
        |talk| each(talk, &["inputSchema"], |schema| {
            let choice = ["oneOf", "anyOf", "allOf"].into_iter().find(|it| schema.get(it).is_some());
            choice.map(|it| ("properties at the root".into(), format!("{it} there")))
        }),
        "The interfaces of several models refuse a schema with oneOf, anyOf or allOf at its root. Make it one object, and say in the description what goes together."
    ),
    shared!(
        "tools-property-names",
        "arguments have names that fit the interfaces of models",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        ["tools"],
        |talk| each(talk, &["inputSchema"], |schema| {
            let mut names = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
            let odd = names.find(|name| !fits_hosts(name));
            odd.map(|name| ("64 letters, digits, _, - and . at most".into(), name.clone()))
        }),
        "The interfaces of several models take argument names of 64 letters, digits, _, - and . at most, and refuse a tool with others."
    ),
    shared!(
        "tools-header-names",
        "what is marked as x-mcp-header can be a header",
        Source::Spec("server/tools#x-mcp-header"),
        Must,
        Speaks::Modern,
        ["tools"],
        |talk| each(talk, &["inputSchema"], header_flaw),
        "A client over HTTP drops a tool whose x-mcp-header is no token, stands twice, or is on what is no string, integer or boolean that properties lead to."
    ),
];

const BOTH: &[&str] = &["inputSchema", "outputSchema"];

/// What was to be, and what is.
type Flaw = (String, String);

fn each(talk: &mut Talk, members: &[&str], flaw: impl Fn(&Value) -> Option<Flaw>) -> Result<(), Finding> {
    let Some(list) = listed(talk)? else { return no_tools(talk) };
    for tool in list.entries() {
        for member in members {
            if let Some((expected, got)) = tool.get(*member).and_then(&flaw) {
                return Err(Finding::new(
                    format!("{member} with {expected}"),
                    format!("{got} ({})", called(tool)),
                ));
            }
        }
    }
    Ok(())
}

fn references(schema: &Value) -> impl Iterator<Item = &str> {
    let mut all = Vec::new();
    subschemas(schema, &mut |_, schema| all.extend(schema.get("$ref").and_then(Value::as_str)));
    all.into_iter()
}

/// Whether a schema inside this one calls itself so.
fn is_named(schema: &Value, name: &str) -> bool {
    let mut found = false;
    subschemas(schema, &mut |_, schema| {
        let calls = |keyword: &str, name: &str| schema.get(keyword).is_some_and(|it| it == name);
        // What is relative to such a name is not followed.
        found |= schema.get("$id").is_some() || calls("$anchor", name) || calls("$dynamicAnchor", name);
    });
    found
}

fn leads(schema: &Value, to: &str) -> bool {
    let pointer = to.trim_start_matches('#');
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return is_named(schema, pointer);
    }
    schema.pointer(pointer).is_some() || pointer.contains('%') || is_named(schema, to)
}

fn fits_hosts(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(allowed)
}

const HEADER: &str = "x-mcp-header";

fn header_flaw(schema: &Value) -> Option<Flaw> {
    let (mut names, mut found) = (Vec::new(), None);
    subschemas(schema, &mut |at, schema| {
        let Some(said) = schema.get(HEADER) else { return };
        let name = said.as_str().unwrap_or_default().to_ascii_lowercase();
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let wrong = if name.is_empty() || !name.chars().all(token) {
            Some("a token of HTTP")
        } else if names.contains(&name) {
            Some("a name that is there once")
        } else if !is_reachable(at) {
            Some("it on what properties alone lead to")
        } else if !is_primitive(&schema["type"]) {
            Some("it on a string, an integer or a boolean")
        } else {
            None
        };
        if let Some(wanted) = wrong {
            found.get_or_insert((format!("x-mcp-header: {wanted}"), format!("{said} at {at}")));
        }
        names.push(name);
    });
    found
}

/// Whether every other step is `properties`.
fn is_reachable(at: &str) -> bool {
    let mut steps = at.split('/').skip(1);
    at.is_empty()
        || std::iter::from_fn(|| Some((steps.next()?, steps.next()))).all(|(step, _)| step == "properties")
}

fn is_primitive(said: &Value) -> bool {
    let is = |it: &Value| matches!(it.as_str(), Some("string" | "integer" | "boolean"));
    match said {
        // One of them, or null.
        Value::Array(many) => many.iter().any(is) && many.iter().all(|it| is(it) || it == "null"),
        one => is(one),
    }
}
