//! What the head of a modern request repeats of its body: names and designated arguments, as text that a field may
//! hold.
//!
//! A tool's input schema may mark properties with `x-mcp-header`; their values go into `Mcp-Param-…` fields. Both sides
//! need the same rules: the client to write the fields and to leave out tools that break them, the server to compare.
//!
//! Spec: MCP 2026-07-28 basic/transports, "Custom Headers from Tool Parameters" and "Value Encoding".

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::base64;
use crate::jsonrpc::{JsonRef, JsonStr, Kind};
use crate::octets::is_token;

/// What `Mcp-Param-…` fields begin with.
pub const PARAM_PREFIX: &str = "Mcp-Param-";
/// The member of a property's schema that designates it.
pub const ANNOTATION: &str = "x-mcp-header";
/// A tool may designate so many properties: a head is no place for more.
pub const MAX_MIRRORED: usize = 64;
/// The names that lead to a designated property may be so long together, in bytes as they are written.
pub const MAX_PATH: usize = 4096;
/// A field's name may be so long, without its prefix.
pub const MAX_NAME: usize = 128;
/// The greatest integer that may be mirrored, 2^53 - 1; the least is its negative.
pub const MAX_INTEGER: i64 = (1 << 53) - 1;

const OPENS: &str = "=?base64?";
const CLOSES: &str = "?=";

/// One designated property of a tool's input schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirrored {
    /// The names of the properties from the root down to it.
    pub path: Vec<Box<str>>,
    /// The field's name without [`PARAM_PREFIX`], as the schema spells it.
    pub name: Box<str>,
    /// What its values are.
    pub kind: ValueKind,
}

/// What a designated property may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Text.
    Text,
    /// An integer within ±[`MAX_INTEGER`].
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// Why a schema's designations cannot be used. The tool is not offered over HTTP then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The field's name is no text, empty, longer than [`MAX_NAME`], or no token.
    Name,
    /// Two properties give the same field, upper and lower case aside.
    Twice,
    /// The property's type is not one of string, integer and boolean (each also with null).
    Type,
    /// The property is not reached from the root by `properties` alone.
    Position,
    /// There are more than [`MAX_MIRRORED`].
    TooMany,
    /// The names that lead to the property are longer than [`MAX_PATH`] together.
    Path,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "x-mcp-header is not the name of a field",
            Self::Twice => "two properties have the same x-mcp-header",
            Self::Type => "x-mcp-header stands on a property that is not a string, an integer or a boolean",
            Self::Position => "x-mcp-header stands where `properties` alone does not lead",
            Self::TooMany => "x-mcp-header stands on more than 64 properties",
            Self::Path => "the names that lead to a property with x-mcp-header are longer than 4096 bytes",
        })
    }
}

/// The properties that a tool's input schema designates, in the order of the schema.
///
/// Reads the schema once for each level that it nests; nothing at all is walked where the word does not occur.
///
/// # Errors
/// The first rule that a designation breaks.
pub fn mirrored(input_schema: JsonRef<'_>) -> Result<Vec<Mirrored>, Why> {
    // An escape may spell the word in another way.
    let bytes = input_schema.as_bytes();
    if memchr::memmem::find(bytes, ANNOTATION.as_bytes()).is_none() && !bytes.contains(&b'\\') {
        return Ok(Vec::new());
    }
    let mut walk = Walk::default();
    walk.schema(input_schema, true)?;
    Ok(walk.found)
}

/// A way through a schema. It holds the names that lead to where it stands and what it found, and nothing of what it has
/// yet to see: a schema may have as many branches as it has bytes.
#[derive(Default)]
struct Walk<'a> {
    path: Vec<JsonStr<'a>>,
    found: Vec<Mirrored>,
}

impl<'a> Walk<'a> {
    /// Goes through a schema. `reached`: `properties` alone lead to it.
    fn schema(&mut self, schema: JsonRef<'a>, reached: bool) -> Result<(), Why> {
        for (name, value) in schema.members() {
            if name.eq_str(ANNOTATION) {
                if !reached || self.path.is_empty() {
                    return Err(Why::Position);
                }
                let designated = designated(&self.path, value, schema)?;
                if self.found.iter().any(|other| other.name.eq_ignore_ascii_case(&designated.name)) {
                    return Err(Why::Twice);
                }
                if self.found.len() == MAX_MIRRORED {
                    return Err(Why::TooMany);
                }
                self.found.push(designated);
            } else if name.eq_str("properties") {
                for (property, schema) in value.members() {
                    self.path.push(property);
                    self.schema(schema, reached)?;
                    self.path.pop();
                }
            } else if ["$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies"]
                .iter()
                .any(|map| name.eq_str(map))
            {
                for (_, schema) in value.members() {
                    self.schema(schema, false)?;
                }
            } else if SUBSCHEMAS.iter().any(|keyword| name.eq_str(keyword)) {
                self.schema(value, false)?;
                for schema in value.elements() {
                    self.schema(schema, false)?;
                }
            }
        }
        Ok(())
    }
}

/// Keywords whose value is a schema, or a list of them.
const SUBSCHEMAS: [&str; 16] = [
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];

fn designated(path: &[JsonStr<'_>], name: JsonRef<'_>, schema: JsonRef<'_>) -> Result<Mirrored, Why> {
    let name = name.str().ok_or(Why::Name)?.decode();
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_token) {
        return Err(Why::Name);
    }
    let kind = schema.get("type").and_then(value_kind).ok_or(Why::Type)?;
    if path.iter().map(|name| name.raw().len()).sum::<usize>() > MAX_PATH {
        return Err(Why::Path);
    }
    let path = path.iter().map(|name| name.decode().into()).collect();
    Ok(Mirrored { path, name: name.into(), kind })
}

/// The one allowed type that `type` names, beside null.
fn value_kind(types: JsonRef<'_>) -> Option<ValueKind> {
    let one = |name: JsonRef<'_>| {
        let name = name.str()?;
        [("string", ValueKind::Text), ("integer", ValueKind::Integer), ("boolean", ValueKind::Boolean)]
            .into_iter()
            .find(|(known, _)| name.eq_str(known))
            .map(|(_, kind)| kind)
    };
    if types.kind() != Kind::Array {
        return one(types);
    }
    let mut kind = None;
    for name in types.elements() {
        if name.str().is_some_and(|name| name.eq_str("null")) {
            continue;
        }
        let this = one(name)?;
        if kind.is_some_and(|kind| kind != this) {
            return None;
        }
        kind = Some(this);
    }
    kind
}

/// The value that the arguments hold at a path. `None`: it is absent or null, and no field is sent for it.
#[must_use]
pub fn value_at<'a>(arguments: JsonRef<'a>, path: &[Box<str>]) -> Option<JsonRef<'a>> {
    let value = path.iter().try_fold(arguments, |value, name| value.get(name))?;
    (!value.is_null()).then_some(value)
}

/// The value of a designated property as a field's value. `None`: its type is not the designated one, or it is an
/// integer beyond ±[`MAX_INTEGER`].
#[must_use]
pub fn encode_value(kind: ValueKind, value: JsonRef<'_>) -> Option<String> {
    match kind {
        ValueKind::Text => Some(encode_text(&value.str()?.decode()).into_owned()),
        ValueKind::Integer => Some(integer(value)?.to_string()),
        ValueKind::Boolean => Some(String::from(if value.as_bool()? { "true" } else { "false" })),
    }
}

/// Whether a field's value says what the body says. Integers compare as numbers.
#[must_use]
pub fn agrees(kind: ValueKind, value: JsonRef<'_>, field: &[u8]) -> bool {
    let Some(said) = decode_text(field) else { return false };
    match kind {
        ValueKind::Text => value.str().is_some_and(|text| text.eq_str(&said)),
        ValueKind::Boolean => value.as_bool().is_some_and(|is| *said == *if is { "true" } else { "false" }),
        ValueKind::Integer => {
            let same = |is: i64| {
                said.parse().map_or_else(
                    // Another way to write the number: `42.0`.
                    |_| said.parse().is_ok_and(|said: f64| whole(said) == Some(is)),
                    |said: i64| said == is,
                )
            };
            integer(value).is_some_and(same)
        }
    }
}

/// The integer a number is, within the bounds; JSON Schema counts `5.0` among them.
fn integer(value: JsonRef<'_>) -> Option<i64> {
    let number = value.as_i64().or_else(|| whole(value.as_f64()?))?;
    (-MAX_INTEGER..=MAX_INTEGER).contains(&number).then_some(number)
}

#[expect(clippy::float_cmp, reason = "a whole number comes back as it was")]
fn whole(number: f64) -> Option<i64> {
    let integer = number as i64;
    (integer.unsigned_abs() <= MAX_INTEGER.unsigned_abs() && integer as f64 == number).then_some(integer)
}

/// Text as a field's value: as it is where that is safe, else marked Base64.
#[must_use]
pub fn encode_text(text: &str) -> Cow<'_, str> {
    let looks_marked = text.starts_with(OPENS) && text.ends_with(CLOSES);
    let visible = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    let safe = visible && !looks_marked && !text.starts_with(' ') && !text.ends_with(' ');
    if safe {
        return Cow::Borrowed(text);
    }
    let mut out = String::from(OPENS);
    out.push_str(&base64::encode(text.as_bytes()));
    out.push_str(CLOSES);
    Cow::Owned(out)
}

/// The text that a field's value stands for. `None`: it is marked as Base64 and is none, or it is not text at all.
#[must_use]
pub fn decode_text(field: &[u8]) -> Option<Cow<'_, str>> {
    let marked = field.strip_prefix(OPENS.as_bytes()).and_then(|rest| rest.strip_suffix(CLOSES.as_bytes()));
    let Some(marked) = marked else {
        let plain = field.iter().all(|byte| matches!(byte, 0x20..=0x7e | b'\t'));
        return core::str::from_utf8(field).ok().filter(|_| plain).map(Cow::Borrowed);
    };
    let bytes = base64::decode(marked).filter(|_| marked.len().is_multiple_of(4))?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests;
