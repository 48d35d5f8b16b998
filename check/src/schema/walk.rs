//! The schemas inside a schema.

use serde_json::Value;

use super::step;

/// How deep it is looked.
const MOST_DEPTH: usize = 100;

/// How a keyword holds other schemas.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// One.
    One,
    /// An array of them.
    Many,
    /// One, or an array of them: `items` in older drafts.
    OneOrMany,
    /// An object with one as each member.
    Named,
}

/// The keywords that hold schemas, of all drafts.
pub(super) const HOLDERS: &[(&str, Holds)] = &[
    ("additionalItems", Holds::One),
    ("additionalProperties", Holds::One),
    ("allOf", Holds::Many),
    ("anyOf", Holds::Many),
    ("contains", Holds::One),
    ("definitions", Holds::Named),
    ("dependentSchemas", Holds::Named),
    ("$defs", Holds::Named),
    ("else", Holds::One),
    ("if", Holds::One),
    ("items", Holds::OneOrMany),
    ("not", Holds::One),
    ("oneOf", Holds::Many),
    ("patternProperties", Holds::Named),
    ("prefixItems", Holds::Many),
    ("properties", Holds::Named),
    ("propertyNames", Holds::One),
    ("then", Holds::One),
    ("unevaluatedItems", Holds::One),
    ("unevaluatedProperties", Holds::One),
];

/// Calls `each` with every schema in this one, itself first, and where it stands. What stands where no schema may stand is
/// left out.
pub(crate) fn subschemas<'a>(schema: &'a Value, each: &mut impl FnMut(&str, &'a Value)) {
    walk(schema, "", 0, each);
}

fn walk<'a>(schema: &'a Value, at: &str, depth: usize, each: &mut impl FnMut(&str, &'a Value)) {
    if depth > MOST_DEPTH {
        return;
    }
    each(at, schema);
    let Value::Object(rules) = schema else { return };
    for (keyword, holds) in HOLDERS {
        let Some(held) = rules.get(*keyword) else { continue };
        let place = step(at, keyword);
        match (holds, held) {
            (Holds::Many | Holds::OneOrMany, Value::Array(many)) => {
                for (n, schema) in many.iter().enumerate() {
                    walk(schema, &step(&place, &n.to_string()), depth + 1, each);
                }
            }
            (Holds::Named, Value::Object(named)) => {
                for (name, schema) in named {
                    walk(schema, &step(&place, name), depth + 1, each);
                }
            }
            (Holds::One | Holds::OneOrMany, _) => walk(held, &place, depth + 1, each),
            (Holds::Many | Holds::Named, _) => {}
        }
    }
}
