//! Which references a schema holds, and whether they lead anywhere.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::resolve::{Target, resolve};
use crate::jsonrpc::{Elements, JsonRef, JsonStr, Kind, Members};
use crate::mcp::types::flaw::cut;

/// The most objects and arrays of one schema that are looked at.
pub const MAX_SUBSCHEMAS: usize = 20_000;
/// The most distinct local references of one schema that are looked up; further ones are believed.
const MAX_LOOKED_UP: usize = 64;
/// The most `$id`s of one schema that are remembered.
const MAX_IDS: usize = 256;
/// The most dangling references that a report names.
pub const MAX_DANGLING: usize = 16;
/// The most bytes of a reference that a report keeps.
pub const MAX_REFERENCE: usize = 256;

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaFault {
    /// It refers to something outside itself, which is never fetched. The reference, cut to [`MAX_REFERENCE`] bytes.
    External(String),
    /// It refers to a part of itself that is not there. The reference, cut likewise. Of a schema of our own.
    Dangling(String),
    /// It is in a dialect that is not known. The `$schema`, cut likewise. Of a schema of our own.
    Dialect(String),
    /// It has more than [`MAX_SUBSCHEMAS`] parts, or is nested so that reading it costs too much.
    TooComplex,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::External(reference) => {
                write!(f, "it refers to {reference:?}, which is outside of it and is not fetched")
            }
            Self::Dangling(reference) => write!(f, "it refers to {reference:?}, which it does not contain"),
            Self::Dialect(dialect) => {
                write!(f, "its $schema {dialect:?} is not known; use 2020-12, or leave it out")
            }
            Self::TooComplex => f.write_str("it has too many parts"),
        }
    }
}

impl core::error::Error for SchemaFault {}

/// What [`check`] found in a schema that can be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaReport {
    /// Local references that lead nowhere, each once, cut to [`MAX_REFERENCE`] bytes; at most [`MAX_DANGLING`].
    pub dangling: Vec<String>,
}

/// Looks at every reference of a schema.
///
/// A local one (`#`, `#/pointer`, `#anchor`, or the `$id` of an embedded schema) is looked up; values that are data
/// (`const`, `enum`, `default`, `examples`) are not searched. O(bytes × depth), bounded; a schema without
/// references costs one search of its text.
///
/// # Errors
/// [`SchemaFault`] if the schema cannot be used: leave out what it belongs to and say so.
///
/// Spec: MCP 2026-07-28 basic, "JSON Schema Usage".
pub fn check(schema: JsonRef<'_>) -> Result<SchemaReport, SchemaFault> {
    let mut report = SchemaReport::default();
    if !may_refer(schema.as_bytes()) {
        return Ok(report);
    }
    let budget = schema.as_bytes().len().saturating_mul(64).saturating_add(64 * 1024);
    let mut found = Found { budget, ..Found::default() };
    found.walk(schema)?;

    let mut looked_up = 0;
    for reference in &found.references {
        if found.ids.iter().any(|id| names(id, reference)) {
            continue;
        }
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(SchemaFault::External(cut(reference, MAX_REFERENCE).into()));
        };
        if looked_up == MAX_LOOKED_UP || report.dangling.len() == MAX_DANGLING {
            continue;
        }
        looked_up += 1;
        // Inside an embedded schema with an `$id` of its own `#` is that schema; such references are believed.
        let lost = match resolve(schema, fragment) {
            Target::Part(_) => false,
            Target::Anchor => !found.anchors.iter().any(|anchor| anchor == fragment),
            Target::Nowhere => true,
        };
        if lost && found.ids.len() < 2 {
            report.dangling.push(cut(reference, MAX_REFERENCE).into());
        }
    }
    Ok(report)
}

/// Whether the text could hold a reference: it spells one out, or hides letters behind escapes.
fn may_refer(text: &[u8]) -> bool {
    let has = |needle| memchr::memmem::find(text, needle).is_some();
    has(b"$ref") || has(b"$dynamicRef") || has(b"\\u")
}

/// Whether `reference` is the schema that calls itself `id`, or a part of it.
fn names(id: &str, reference: &str) -> bool {
    let (base, _) = reference.split_once('#').unwrap_or((reference, ""));
    let id = id.strip_suffix('#').unwrap_or(id);
    if base.is_empty() || id.is_empty() {
        return false;
    }
    // A relative reference is meant relative to the folder of an `$id`.
    base == id || (!base.contains(':') && id.strip_suffix(base).is_some_and(|folder| folder.ends_with('/')))
}

/// What the members of an object are.
#[derive(Clone, Copy)]
enum Place {
    /// Keywords of a schema, or of something unknown that may hold schemas.
    Schema,
    /// Schemas under names of their own.
    Named,
}

/// An object or array that is being read.
enum Open<'a> {
    Members(Members<'a>, Place),
    Elements(Elements<'a>),
}

#[derive(Default)]
struct Found<'a> {
    /// Distinct, as long as they are few; in order.
    references: Vec<Cow<'a, str>>,
    ids: Vec<Cow<'a, str>>,
    anchors: Vec<Cow<'a, str>>,
    open: Vec<Open<'a>>,
    parts: usize,
    /// Bytes that may still be walked over.
    budget: usize,
}

impl<'a> Found<'a> {
    /// Reads the whole schema. Keeps its own stack: a thread's may be small.
    fn walk(&mut self, schema: JsonRef<'a>) -> Result<(), SchemaFault> {
        self.enter(schema, Place::Schema)?;
        while let Some(open) = self.open.last_mut() {
            match open {
                Open::Elements(elements) => match elements.next() {
                    Some(element) => self.enter(element, Place::Schema)?,
                    None => drop(self.open.pop()),
                },
                Open::Members(members, place) => match (members.next(), *place) {
                    (Some((_, schema)), Place::Named) => self.enter(schema, Place::Schema)?,
                    (Some((name, value)), Place::Schema) => self.keyword(name, value)?,
                    (None, _) => drop(self.open.pop()),
                },
            }
        }
        Ok(())
    }

    fn enter(&mut self, value: JsonRef<'a>, place: Place) -> Result<(), SchemaFault> {
        self.open.push(match value.kind() {
            Kind::Object => Open::Members(value.members(), place),
            Kind::Array => Open::Elements(value.elements()),
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => return Ok(()),
        });
        self.parts += 1;
        self.budget = self.budget.checked_sub(value.as_bytes().len()).ok_or(SchemaFault::TooComplex)?;
        if self.parts > MAX_SUBSCHEMAS { Err(SchemaFault::TooComplex) } else { Ok(()) }
    }

    fn keyword(&mut self, name: JsonStr<'a>, value: JsonRef<'a>) -> Result<(), SchemaFault> {
        match &*name.decode() {
            "$ref" | "$dynamicRef" => {
                if let Some(text) = value.str() {
                    let reference = text.decode();
                    if !self.references.iter().rev().take(MAX_LOOKED_UP).any(|known| *known == reference) {
                        self.references.push(reference);
                    }
                }
                Ok(())
            }
            "$id" => {
                if self.ids.len() < MAX_IDS {
                    self.ids.extend(value.str().map(JsonStr::decode));
                }
                Ok(())
            }
            "$anchor" | "$dynamicAnchor" => {
                self.anchors.extend(value.str().map(JsonStr::decode));
                Ok(())
            }
            "const" | "enum" | "default" | "examples" => Ok(()),
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
            | "dependencies" => self.enter(value, Place::Named),
            _ => self.enter(value, Place::Schema),
        }
    }
}
