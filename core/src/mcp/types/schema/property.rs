//! Which kinds of value a property admits, as far as its schema says so in simple ways.

use core::fmt;

use super::resolve::{Target, resolve};
use crate::jsonrpc::{JsonRef, JsonStr, Kind};
use crate::mcp::types::flaw::member;

/// The most subschemas that one question looks at; what is beyond is taken to admit anything.
const MAX_STEPS: u32 = 256;
/// How many subschemas may lie inside one another.
const MAX_NESTED: u32 = 16;

/// A set of the seven type names of JSON Schema. `number` includes `integer`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct JsonTypes(u8);

impl JsonTypes {
    /// No value at all.
    pub const NONE: Self = Self(0);
    /// `null`
    pub const NULL: Self = Self(1);
    /// `boolean`
    pub const BOOLEAN: Self = Self(1 << 1);
    /// `integer`
    pub const INTEGER: Self = Self(1 << 2);
    /// `number`, which every integer is too.
    pub const NUMBER: Self = Self(1 << 3 | 1 << 2);
    /// `string`
    pub const STRING: Self = Self(1 << 4);
    /// `array`
    pub const ARRAY: Self = Self(1 << 5);
    /// `object`
    pub const OBJECT: Self = Self(1 << 6);
    /// Any value.
    pub const ANY: Self = Self(0b111_1111);

    const NAMES: [(&'static str, Self); 7] = [
        ("null", Self::NULL),
        ("boolean", Self::BOOLEAN),
        ("integer", Self::INTEGER),
        ("number", Self::NUMBER),
        ("string", Self::STRING),
        ("array", Self::ARRAY),
        ("object", Self::OBJECT),
    ];

    /// The set of one type name; `None` if there is no such type.
    #[must_use]
    pub fn named(name: JsonStr<'_>) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| name.eq_str(known)).map(|(_, set)| set)
    }

    /// The smallest set that holds `value`. A number without fraction and exponent is an integer.
    #[must_use]
    pub fn of(value: JsonRef<'_>) -> Self {
        match value.kind() {
            Kind::Null => Self::NULL,
            Kind::Bool => Self::BOOLEAN,
            Kind::Number if value.as_bytes().iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => {
                Self::NUMBER
            }
            Kind::Number => Self::INTEGER,
            Kind::String => Self::STRING,
            Kind::Array => Self::ARRAY,
            Kind::Object => Self::OBJECT,
        }
    }

    /// Whether every value of `other` is one of these.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What either set holds.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What both sets hold.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The names, with a bar between them: `string | null`.
impl fmt::Display for JsonTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (name, set) in Self::NAMES {
            if !self.contains(set) || (set == Self::INTEGER && self.contains(Self::NUMBER)) {
                continue;
            }
            f.write_str(if first { "" } else { " | " })?;
            f.write_str(name)?;
            first = false;
        }
        if first { f.write_str("nothing") } else { Ok(()) }
    }
}

impl fmt::Debug for JsonTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonTypes({self})")
    }
}

/// The types that property `name` of an object with this schema may have; `None` if the schema does not speak of it.
///
/// Reads `type`, `const`, `enum`, `anyOf`, `oneOf`, `allOf` and local `$ref`s, at the property and, to find it, at
/// the root; then `additionalProperties`. Everything else, and a reference that leads nowhere, counts as saying
/// nothing, so the answer may be wider than the schema, never narrower. A property that admits nothing counts as not
/// spoken of. Bounded work: some 256 subschemas, 16 inside one another.
///
/// Spec: JSON Schema 2020-12 validation, section 6.1; MCP schema, `Tool.inputSchema`.
#[must_use]
pub fn property_types(schema: JsonRef<'_>, name: &str) -> Option<JsonTypes> {
    let mut question = Question { root: schema, steps: MAX_STEPS };
    question
        .property(schema, name, 0)
        .or_else(|| {
            let rest = member(schema, "additionalProperties").filter(|rest| rest.kind() == Kind::Object)?;
            Some(question.types(rest, 0))
        })
        .filter(|types| *types != JsonTypes::NONE)
}

struct Question<'a> {
    root: JsonRef<'a>,
    steps: u32,
}

impl<'a> Question<'a> {
    fn step(&mut self, depth: u32) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0 && depth < MAX_NESTED
    }

    /// What the schemas that apply to the same object say about a property of it.
    fn property(&mut self, schema: JsonRef<'a>, name: &str, depth: u32) -> Option<JsonTypes> {
        if !self.step(depth) || schema.kind() != Kind::Object {
            return None;
        }
        let mut said = member(schema, "properties")
            .and_then(|properties| properties.get(name))
            .map(|property| self.types(property, depth + 1));
        if let Some(target) = self.target(schema) {
            said = both(said, self.property(target, name, depth + 1));
        }
        for part in member(schema, "allOf").into_iter().flat_map(JsonRef::elements) {
            said = both(said, self.property(part, name, depth + 1));
        }
        for keyword in ["anyOf", "oneOf"] {
            let mut either = None;
            for part in member(schema, keyword).into_iter().flat_map(JsonRef::elements) {
                if let Some(types) = self.property(part, name, depth + 1) {
                    either = Some(either.unwrap_or(JsonTypes::NONE).union(types));
                }
            }
            said = both(said, either);
        }
        said
    }

    /// The types that a schema admits.
    fn types(&mut self, schema: JsonRef<'a>, depth: u32) -> JsonTypes {
        if !self.step(depth) {
            return JsonTypes::ANY;
        }
        if schema.kind() != Kind::Object {
            return if schema.as_bool() == Some(false) { JsonTypes::NONE } else { JsonTypes::ANY };
        }
        let mut types = declared(schema);
        if let Some(value) = schema.get("const") {
            types = types.intersection(JsonTypes::of(value));
        }
        if let Some(values) = member(schema, "enum").filter(|values| values.kind() == Kind::Array) {
            types = types
                .intersection(values.elements().map(JsonTypes::of).fold(JsonTypes::NONE, JsonTypes::union));
        }
        if let Some(target) = self.target(schema) {
            types = types.intersection(self.types(target, depth + 1));
        }
        for part in member(schema, "allOf").into_iter().flat_map(JsonRef::elements) {
            types = types.intersection(self.types(part, depth + 1));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(parts) = member(schema, keyword).filter(|parts| parts.kind() == Kind::Array) {
                let either = parts
                    .elements()
                    .fold(JsonTypes::NONE, |all, part| all.union(self.types(part, depth + 1)));
                types = types.intersection(either);
            }
        }
        types
    }

    fn target(&self, schema: JsonRef<'a>) -> Option<JsonRef<'a>> {
        let reference = schema.get("$ref")?.str()?.decode();
        match resolve(self.root, reference.strip_prefix('#')?) {
            Target::Part(target) => Some(target),
            Target::Anchor | Target::Nowhere => None,
        }
    }
}

/// What `type` says: a name or several. Unknown names say nothing.
fn declared(schema: JsonRef<'_>) -> JsonTypes {
    let Some(kind) = member(schema, "type") else { return JsonTypes::ANY };
    match kind.str() {
        Some(name) => JsonTypes::named(name).unwrap_or(JsonTypes::ANY),
        None if kind.kind() == Kind::Array => kind
            .elements()
            .map(|name| name.str().and_then(JsonTypes::named).unwrap_or(JsonTypes::ANY))
            .fold(JsonTypes::NONE, JsonTypes::union),
        None => JsonTypes::ANY,
    }
}

fn both(one: Option<JsonTypes>, other: Option<JsonTypes>) -> Option<JsonTypes> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.intersection(other)),
        (one, other) => one.or(other),
    }
}
