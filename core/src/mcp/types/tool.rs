//! Tools as servers list them.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;

use super::flaw::{self, flag, member, required, text};
use super::page::{ListItem, Page, SetAsideReason};
use super::schema::{self, SchemaFault};
use crate::jsonrpc::{JsonRef, Kind, MAX_DEPTH, RawJson};

/// The input schema that stands in for one that is missing or no object.
pub const EMPTY_INPUT_SCHEMA: &str = r#"{"type":"object","properties":{}}"#;

/// Reads the result of `tools/list`: see [`Page::read`].
///
/// A tool without a usable input schema is kept with [`EMPTY_INPUT_SCHEMA`] and a [`ToolNote`]; one whose input
/// schema refers outside of itself is set aside.
#[must_use]
pub fn tools(result: &RawJson) -> Page<Tool> {
    Page::read(result)
}

/// A tool: a view of what the server sent, members that nobody knows included.
///
/// Everything in it is the server's word: names, descriptions and annotations are untrusted.
///
/// Spec: MCP server/tools; schema, `Tool`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    raw: RawJson,
    name: String,
    notes: Vec<ToolNote>,
}

/// What is wrong with a tool that can be used all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolNote {
    /// It has no input schema; [`EMPTY_INPUT_SCHEMA`] stands in.
    NoInputSchema,
    /// Its input schema is no object; [`EMPTY_INPUT_SCHEMA`] stands in.
    InputSchemaNotAnObject(Kind),
    /// The root of its input schema does not say `"type":"object"`; that is added.
    InputSchemaRootType,
    /// Its input schema refers to a part of itself that is not there. The reference, cut to 256 bytes.
    DanglingReference(String),
    /// Its output schema is no object, and counts as absent.
    OutputSchemaNotAnObject(Kind),
    /// Its output schema cannot be used, so results cannot be checked against it.
    OutputSchema(SchemaFault),
}

impl fmt::Display for ToolNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInputSchema => f.write_str("it has no inputSchema; taken as one without properties"),
            Self::InputSchemaNotAnObject(found) => {
                write!(f, "its inputSchema is {found}, not an object; taken as one without properties")
            }
            Self::InputSchemaRootType => {
                f.write_str("the root of its inputSchema lacks \"type\":\"object\", which was added")
            }
            Self::DanglingReference(reference) => {
                write!(f, "its inputSchema refers to {reference:?}, which it does not contain")
            }
            Self::OutputSchemaNotAnObject(found) => {
                write!(f, "its outputSchema is {found}, not an object; ignored")
            }
            Self::OutputSchema(fault) => write!(f, "its outputSchema is unusable: {fault}"),
        }
    }
}

impl Tool {
    /// The tool as the server sent it.
    #[must_use]
    pub const fn raw(&self) -> &RawJson {
        &self.raw
    }

    /// Its name, as a call has to give it. Any text: the rules for names are recommendations.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name for people.
    #[must_use]
    pub fn title(&self) -> Option<Cow<'_, str>> {
        text(self.raw.view(), "title")
    }

    /// What to show: `title`, else the annotations' title, else the name. Empty titles are passed over.
    ///
    /// Spec: MCP server/tools, "Tool"; schema, `BaseMetadata.title`.
    #[must_use]
    pub fn display_title(&self) -> Cow<'_, str> {
        let titles = [self.title(), self.annotations().title];
        titles
            .into_iter()
            .flatten()
            .find(|title| !title.trim().is_empty())
            .unwrap_or(Cow::Borrowed(&self.name))
    }

    /// What it does, for a model.
    #[must_use]
    pub fn description(&self) -> Option<Cow<'_, str>> {
        text(self.raw.view(), "description")
    }

    /// The input schema as the server sent it, where it is an object.
    #[must_use]
    pub fn input_schema(&self) -> Option<JsonRef<'_>> {
        object(self.raw.view(), "inputSchema")
    }

    /// An input schema that can be offered: as sent where that says `"type":"object"`, with this type put in where it
    /// does not, [`EMPTY_INPUT_SCHEMA`] where there is none. Allocates in the second case only.
    ///
    /// Spec: MCP server/tools; schema, `Tool.inputSchema`.
    #[must_use]
    pub fn effective_input_schema(&self) -> RawJson {
        self.effective(self.input_schema())
    }

    /// The same of its input schema, where that is known.
    pub(crate) fn effective(&self, input_schema: Option<JsonRef<'_>>) -> RawJson {
        let usable = input_schema.and_then(|schema| {
            if says_object(schema) { self.raw.slice_of(schema) } else { with_object_type(schema) }
        });
        usable.unwrap_or_else(empty_input_schema)
    }

    /// What its structured results look like, if it says so.
    #[must_use]
    pub fn output_schema(&self) -> Option<JsonRef<'_>> {
        object(self.raw.view(), "outputSchema")
    }

    /// What it says about its own effects.
    #[must_use]
    pub fn annotations(&self) -> ToolAnnotations<'_> {
        let raw = member(self.raw.view(), "annotations");
        ToolAnnotations {
            title: raw.and_then(|raw| text(raw, "title")),
            read_only: flag(raw, "readOnlyHint", false),
            destructive: flag(raw, "destructiveHint", true),
            idempotent: flag(raw, "idempotentHint", false),
            open_world: flag(raw, "openWorldHint", true),
        }
    }

    /// Its icons: an array of objects with `src`, `mimeType`, `sizes`, `theme`. Their addresses are hostile input.
    #[must_use]
    pub fn icons(&self) -> Option<JsonRef<'_>> {
        member(self.raw.view(), "icons").filter(|icons| icons.kind() == Kind::Array)
    }

    /// Its metadata.
    #[must_use]
    pub fn meta(&self) -> Option<JsonRef<'_>> {
        object(self.raw.view(), "_meta")
    }

    /// What is wrong with it; empty for a tool as it should be.
    #[must_use]
    pub fn notes(&self) -> &[ToolNote] {
        &self.notes
    }
}

/// What a tool says about its own effects. Hints, untrusted unless the server is trusted; what is not said has the
/// default of the specification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolAnnotations<'a> {
    /// A name for people.
    pub title: Option<Cow<'a, str>>,
    /// It changes nothing. Default: false.
    pub read_only: bool,
    /// It may destroy something; of meaning for a tool that is not read-only. Default: true.
    pub destructive: bool,
    /// Calling it twice does no more than calling it once; of meaning as before. Default: false.
    pub idempotent: bool,
    /// It reaches things outside. Default: true.
    pub open_world: bool,
}

impl ListItem for Tool {
    const ITEMS: &'static str = "tools";
    const KEY: &'static str = "name";

    fn read(raw: RawJson) -> Result<Self, SetAsideReason> {
        let view = raw.view();
        flaw::object(view)?;
        let (mut name, mut input, mut output) = (None, None, None);
        for (member, value) in view.members() {
            if member.eq_str("name") {
                name.get_or_insert(value);
            } else if member.eq_str("inputSchema") {
                input.get_or_insert(value);
            } else if member.eq_str("outputSchema") {
                output.get_or_insert(value);
            }
        }
        let name = required(name, "name")?.decode().into_owned();
        let mut notes = Vec::new();
        match input.filter(|schema| !schema.is_null()) {
            None => notes.push(ToolNote::NoInputSchema),
            Some(schema) if schema.kind() != Kind::Object => {
                notes.push(ToolNote::InputSchemaNotAnObject(schema.kind()));
            }
            Some(schema) => {
                if !says_object(schema) {
                    notes.push(ToolNote::InputSchemaRootType);
                }
                let report = schema::check(schema).map_err(SetAsideReason::InputSchema)?;
                notes.extend(report.dangling.into_iter().map(ToolNote::DanglingReference));
            }
        }
        match output.filter(|schema| !schema.is_null()) {
            None => {}
            Some(schema) if schema.kind() != Kind::Object => {
                notes.push(ToolNote::OutputSchemaNotAnObject(schema.kind()));
            }
            Some(schema) => notes.extend(schema::check(schema).err().map(ToolNote::OutputSchema)),
        }
        Ok(Self { name, notes, raw })
    }

    fn key(&self) -> &str {
        &self.name
    }
}

fn object<'a>(value: JsonRef<'a>, name: &str) -> Option<JsonRef<'a>> {
    member(value, name).filter(|found| found.kind() == Kind::Object)
}

fn says_object(schema: JsonRef<'_>) -> bool {
    schema.get("type").and_then(JsonRef::str).is_some_and(|kind| kind.eq_str("object"))
}

fn empty_input_schema() -> RawJson {
    RawJson::from_static(EMPTY_INPUT_SCHEMA).unwrap_or_else(|_| RawJson::empty_object())
}

/// The schema with `"type":"object"` in front and without what it said there.
fn with_object_type(schema: JsonRef<'_>) -> Option<RawJson> {
    let mut out = Vec::with_capacity(schema.as_bytes().len() + 18);
    out.extend_from_slice(br#"{"type":"object""#);
    for (name, value) in schema.members().filter(|(name, _)| !name.eq_str("type")) {
        out.extend_from_slice(b",\"");
        out.extend_from_slice(name.raw());
        out.extend_from_slice(b"\":");
        out.extend_from_slice(value.as_bytes());
    }
    out.push(b'}');
    RawJson::parse(Bytes::from(out), MAX_DEPTH).ok()
}

#[cfg(test)]
mod tests;
