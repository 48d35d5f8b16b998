//! Whether a schema is one: each keyword holds what it has to hold.

use serde_json::Value;

use super::walk::{HOLDERS, Holds, subschemas};
use super::{Misfit, kind, step};

/// Which JSON Schema it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// 2020-12, or nothing is said.
    Newest,
    /// 2019-09.
    Draft2019,
    /// Draft 6 or 7.
    Old,
    /// Draft 4.
    Oldest,
    /// Another, or none that is known here.
    Other,
}

impl Dialect {
    /// What a schema says of itself.
    pub(crate) fn of(root: &Value) -> Self {
        let Some(said) = root.get("$schema") else { return Self::Newest };
        let said = said.as_str().unwrap_or_default();
        let said = said.strip_prefix("https://").or_else(|| said.strip_prefix("http://")).unwrap_or_default();
        match said.strip_suffix('#').unwrap_or(said) {
            "json-schema.org/draft/2020-12/schema" => Self::Newest,
            "json-schema.org/draft/2019-09/schema" => Self::Draft2019,
            "json-schema.org/draft-07/schema" | "json-schema.org/draft-06/schema" => Self::Old,
            "json-schema.org/draft-04/schema" => Self::Oldest,
            _ => Self::Other,
        }
    }

    /// Whether nothing beside a `$ref` counts.
    pub(super) const fn is_old(self) -> bool {
        matches!(self, Self::Old | Self::Oldest)
    }
}

/// What a keyword holds, where that is no schema.
#[derive(Clone, Copy)]
enum Is {
    Text,
    Number,
    Count,
    Boolean,
    List,
    Names,
}

const PLAIN: &[(&str, Is)] = &[
    ("$comment", Is::Text),
    ("$ref", Is::Text),
    ("$schema", Is::Text),
    ("description", Is::Text),
    ("enum", Is::List),
    ("examples", Is::List),
    ("exclusiveMaximum", Is::Number),
    ("exclusiveMinimum", Is::Number),
    ("format", Is::Text),
    ("maxItems", Is::Count),
    ("maxLength", Is::Count),
    ("maxProperties", Is::Count),
    ("maximum", Is::Number),
    ("minItems", Is::Count),
    ("minLength", Is::Count),
    ("minProperties", Is::Count),
    ("minimum", Is::Number),
    ("multipleOf", Is::Number),
    ("pattern", Is::Text),
    ("required", Is::Names),
    ("title", Is::Text),
    ("uniqueItems", Is::Boolean),
];

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// The first place where the schema is none by its own dialect. None where the dialect is not known, and in draft 4, which
/// nobody writes any more. `lists`: whether `items` may be an array, as it may until 2019-09.
pub(crate) fn flaw(schema: &Value, lists: bool) -> Option<Misfit> {
    let dialect = Dialect::of(schema);
    if matches!(dialect, Dialect::Other | Dialect::Oldest) {
        return None;
    }
    let lists = lists || dialect != Dialect::Newest;
    let mut found = None;
    subschemas(schema, &mut |at, schema| {
        if found.is_none() {
            found = of_one(schema, at, lists);
        }
    });
    found
}

fn of_one(schema: &Value, at: &str, lists: bool) -> Option<Misfit> {
    let misfit = |at: &str, rule: String| Some(Misfit { at: at.to_owned(), rule, of_the_kind: false });
    let rules = match schema {
        Value::Bool(_) => return None,
        Value::Object(rules) => rules,
        other => return misfit(at, format!("has to be a schema, and is {}", kind(other))),
    };
    for (keyword, is) in PLAIN {
        if let Some(held) = rules.get(*keyword)
            && let Some(wanted) = wants(*is, held)
        {
            return misfit(&step(at, keyword), format!("has to be {wanted}, and is {}", told(held)));
        }
    }
    let types = match rules.get("type") {
        None => &[][..],
        Some(Value::Array(many)) if !many.is_empty() => many.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    if let Some(unknown) = types.iter().find(|it| !it.as_str().is_some_and(|it| TYPES.contains(&it))) {
        return misfit(&step(at, "type"), format!("has to be a type of JSON, and is {}", told(unknown)));
    }
    for (keyword, holds) in HOLDERS {
        let Some(held) = rules.get(*keyword) else { continue };
        let wanted = match (holds, held) {
            (Holds::Many, Value::Array(many)) if !many.is_empty() => continue,
            (Holds::OneOrMany, Value::Array(_)) if lists => continue,
            (Holds::OneOrMany, Value::Array(_)) => "a schema: prefixItems holds a list of them in 2020-12",
            (Holds::Named, Value::Object(_)) => continue,
            // What it is, is told where it stands.
            (Holds::One | Holds::OneOrMany, _) => continue,
            (Holds::Many, _) => "a list of schemas that is not empty",
            (Holds::Named, _) => "an object of schemas",
        };
        return misfit(&step(at, keyword), format!("has to be {wanted}, and is {}", told(held)));
    }
    None
}

/// What it was to be, if it is not that.
fn wants(is: Is, held: &Value) -> Option<&'static str> {
    let (fits, wanted) = match is {
        Is::Text => (held.is_string(), "a string"),
        Is::Number => (held.is_number(), "a number"),
        Is::Count => (
            held.as_f64().is_some_and(|n| n >= 0.0 && n.fract() == 0.0),
            "a whole number that is not negative",
        ),
        Is::Boolean => (held.is_boolean(), "a boolean"),
        Is::List => (held.is_array(), "an array"),
        Is::Names => {
            let names = held.as_array().map(Vec::as_slice).unwrap_or_default();
            let unique =
                names.iter().enumerate().all(|(n, one)| one.is_string() && !names[..n].contains(one));
            (held.is_array() && unique, "an array of names, each once")
        }
    };
    (!fits).then_some(wanted)
}

fn told(value: &Value) -> String {
    match value {
        Value::Array(many) if many.is_empty() => "an empty array".into(),
        Value::Null | Value::Array(_) | Value::Object(_) => kind(value).into(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}
