//! A tool as it is offered: what its server says of it, within bounds.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::outcome::SkipReason;
use crate::error::ConfigError;
use crate::host::Mask;
use crate::host::policy::{DefinitionHash, Hints, Part, Pin};
use crate::jsonrpc::{JsonRef, Kind, RawJson, compact_len, write_compact};
use crate::mcp::types::tool::{Tool, ToolNote};

/// The most characters of a title that are offered.
const MAX_TITLE: usize = 256;

/// The most characters of a name in a description that is made up.
const MAX_NAME: usize = 128;

/// Bounds of what a server says of its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefinitionLimits {
    /// Bytes of a schema without the white space between its tokens. A tool whose input schema has more is skipped; an
    /// output schema with more is left out. Default: 64 KiB.
    ///
    /// Escapes count as they were sent, and `<`, `>` and `&` count one byte each: other programs count differently, so
    /// a schema that is near the bound may be skipped there and offered here.
    pub max_schema_bytes: usize,
    /// Bytes of a description. A longer one is cut. Default: 16 KiB.
    pub max_description_bytes: usize,
    /// Tools of one server; further ones are left out. Default: 10,000.
    pub max_tools: usize,
}

impl Default for DefinitionLimits {
    fn default() -> Self {
        Self { max_schema_bytes: 64 * 1024, max_description_bytes: 16 * 1024, max_tools: 10_000 }
    }
}

impl DefinitionLimits {
    /// Whether these bounds can be kept.
    ///
    /// # Errors
    /// [`ConfigError`] if one is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let bounds = [
            ("max_schema_bytes", 64, 16 << 20, self.max_schema_bytes),
            ("max_description_bytes", 64, 1 << 20, self.max_description_bytes),
            ("max_tools", 1, 1 << 20, self.max_tools),
        ];
        let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let wrong = bounds.into_iter().find(|(_, min, max, got)| got < min || got > max);
        wrong.map_or(Ok(()), |(field, min, max, got)| {
            Err(ConfigError { field, min: number(min), max: number(max), got: number(got) })
        })
    }
}

/// A tool as it is offered. Owns what it holds, so it keeps no listing alive.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definition {
    /// Its name as its server gives it. Untrusted, and not masked: it is what a call has to give.
    pub tool: Arc<str>,
    /// Its name for people, masked, at most 256 characters.
    pub title: Option<String>,
    /// What it does, for a model: masked, at most [`DefinitionLimits::max_description_bytes`]. Never blank: a tool that
    /// says nothing is described by its name and its server's.
    pub description: String,
    /// An object schema without white space; otherwise as sent.
    pub input_schema: RawJson,
    /// The same, if the tool has one that can be offered.
    pub output_schema: Option<RawJson>,
    /// What it says of its own effects.
    pub hints: Hints,
    /// By which a changed definition is told from this one: of what the server sent, not of what is left of it here.
    pub hash: DefinitionHash,
    /// What is to be known about it.
    pub notes: Vec<DefinitionNote>,
}

/// What is to be known about a tool that is offered all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefinitionNote {
    /// What is wrong with it as it was sent.
    Tool(ToolNote),
    /// Its description was cut.
    DescriptionCut {
        /// Its bytes before.
        bytes: usize,
        /// The limit: [`DefinitionLimits::max_description_bytes`].
        limit: usize,
    },
    /// Its output schema was left out.
    OutputSchemaTooBig {
        /// Its bytes.
        bytes: usize,
        /// The limit: [`DefinitionLimits::max_schema_bytes`].
        limit: usize,
    },
}

impl fmt::Display for DefinitionNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(note) => note.fmt(f),
            Self::DescriptionCut { bytes, limit } => {
                write!(f, "its description has {bytes} bytes and was cut to {limit} (max_description_bytes)")
            }
            Self::OutputSchemaTooBig { bytes, limit } => {
                write!(
                    f,
                    "its outputSchema has {bytes} bytes, more than {limit} (max_schema_bytes); left out"
                )
            }
        }
    }
}

impl Definition {
    /// Makes of a tool what can be offered of it.
    ///
    /// A schema that refers outside of itself does not get this far: [`tools`](crate::mcp::types::tool::tools) sets its
    /// tool aside. A missing input schema, or one that is no object, is one without properties, and within every bound.
    ///
    /// # Errors
    /// Why the tool cannot be offered: leave it out and say so; the others are not affected.
    ///
    /// Spec: MCP server/tools; schema, `Tool.inputSchema`.
    pub fn of(server: &str, tool: &Tool, limits: &DefinitionLimits, mask: &Mask) -> Result<Self, SkipReason> {
        let limit = limits.max_schema_bytes;
        let mut notes: Vec<_> = tool.notes().iter().cloned().map(DefinitionNote::Tool).collect();
        let members = ["title", "description", "inputSchema", "outputSchema", "annotations"];
        let [title, sent, input_schema, output_schema, annotations] = tool.raw().view().get_each(members);
        let text = |value: Option<JsonRef<'_>>| Some(value?.str()?.decode().into_owned());
        let object = |value: &JsonRef<'_>| value.kind() == Kind::Object;

        let input_schema = input_schema.filter(object);
        let effective = tool.effective(input_schema);
        if let Some(bytes) = over(effective.view(), limit).filter(|_| input_schema.is_some()) {
            return Err(SkipReason::SchemaTooBig { bytes, limit });
        }
        let output_schema = output_schema.filter(object).filter(|schema| match over(*schema, limit) {
            Some(bytes) => {
                notes.push(DefinitionNote::OutputSchemaTooBig { bytes, limit });
                false
            }
            None => true,
        });
        let sent = text(sent).unwrap_or_default();
        let description = if sent.trim().is_empty() {
            let name = |name: &str| mask.line_within(name, MAX_NAME);
            format!("The tool \"{}\" of the MCP server \"{}\".", name(tool.name()), name(server))
        } else {
            let (whole, limit) = (mask.text(&sent), limits.max_description_bytes);
            if whole.len() <= limit {
                whole
            } else {
                notes.push(DefinitionNote::DescriptionCut { bytes: sent.len(), limit });
                mask.text_within(&sent, limit)
            }
        };
        let title = text(title).or_else(|| text(annotations?.get("title")));
        let title = title.filter(|title| !title.trim().is_empty());
        Ok(Self {
            tool: tool.name().into(),
            title: title.map(|title| mask.line_within(&title, MAX_TITLE)),
            description,
            input_schema: compact(effective.view()),
            output_schema: output_schema.map(compact),
            hints: annotations.map_or_else(Hints::default, Hints::said_by),
            hash: DefinitionHash::of(tool),
            notes,
        })
    }

    /// What to remember of it, to tell later what is new about a definition that changed.
    #[must_use]
    pub fn pin(&self) -> Pin {
        let Hints { read_only, destructive, open_world } = self.hints;
        let hints =
            [("readOnlyHint", read_only), ("destructiveHint", destructive), ("openWorldHint", open_world)];
        let said = hints.into_iter().filter_map(|(name, said)| Some((name, said?)));
        let annotations = RawJson::object(|w| {
            said.for_each(|(name, said)| {
                w.bool(name, said);
            });
        });
        let mut parts = Vec::new();
        parts.extend(self.title.as_deref().map(|title| ("title", Part::Text(title))));
        parts.push(("description", Part::Text(&self.description)));
        parts.push(("inputSchema", Part::Json(self.input_schema.view())));
        parts.extend(self.output_schema.as_ref().map(|schema| ("outputSchema", Part::Json(schema.view()))));
        if self.hints != Hints::default() {
            parts.push(("annotations", Part::Json(annotations.view())));
        }
        Pin::of(self.hash, &parts)
    }
}

/// How many bytes a schema has without white space, if these are more than the limit.
fn over(schema: JsonRef<'_>, limit: usize) -> Option<usize> {
    let long = schema.as_bytes().len() > limit;
    long.then(|| compact_len(schema)).filter(|bytes| *bytes > limit)
}

/// A copy of its own, without white space.
fn compact(schema: JsonRef<'_>) -> RawJson {
    let mut out = Vec::with_capacity(schema.as_bytes().len());
    write_compact(&mut out, schema);
    // White space gives its room back.
    out.shrink_to_fit();
    let len = out.len();
    RawJson::trusted(out.into(), 0, len)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec;

    use super::*;
    use crate::mcp::types::page::SetAsideReason;
    use crate::mcp::types::schema::SchemaFault;
    use crate::mcp::types::tool::{EMPTY_INPUT_SCHEMA, tools};

    fn listed(members: &str) -> Tool {
        let result = format!(r#"{{"tools":[{{"name":"t"{members}}}]}}"#);
        let mut page = tools(&RawJson::parse_str(&result).expect(members));
        page.items.pop().expect(members)
    }

    fn of(tool: &Tool) -> Result<Definition, SkipReason> {
        Definition::of("s", tool, &DefinitionLimits::default(), &Mask::default())
    }

    fn with_schema(schema: &str) -> Result<Definition, SkipReason> {
        of(&listed(&format!(r#","inputSchema":{schema}"#)))
    }

    /// `{"type":"object","x":"…"}` of so many bytes, and its filling.
    fn schema_of(bytes: usize) -> String {
        format!(r#"{{"type":"object","x":"{}"}}"#, "w".repeat(bytes - 24))
    }

    #[test]
    fn a_schema_over_the_cap_is_skipped_with_a_reason_and_at_the_cap_it_is_not() {
        // H-023, H-025, H-026
        let limit = 65_536;
        let at = with_schema(&schema_of(limit)).expect("at the limit");
        assert_eq!(at.input_schema.len(), limit);
        let skipped = with_schema(&schema_of(limit + 1)).unwrap_err();
        assert_eq!(skipped, SkipReason::SchemaTooBig { bytes: limit + 1, limit });
        assert!(skipped.to_string().contains("max_schema_bytes"), "{skipped}");

        let spaced = schema_of(limit).replace(',', &format!(",{}", " \r\n\t".repeat(20_000)));
        assert_eq!(with_schema(&spaced).expect("white space does not count").input_schema, at.input_schema);
        let html = schema_of(limit).replace('w', "<");
        assert_eq!(with_schema(&html).expect("one byte each").input_schema.len(), limit);
    }

    #[test]
    fn a_schema_that_is_no_object_is_offered_as_an_empty_one_within_any_cap() {
        // H-024
        let limits = DefinitionLimits { max_schema_bytes: 8, ..DefinitionLimits::default() };
        for members in ["", r#","inputSchema":null"#, r#","inputSchema":[1]"#, r#","inputSchema":"text""#] {
            let tool = listed(members);
            let definition = Definition::of("s", &tool, &limits, &Mask::default()).expect(members);
            assert_eq!(definition.input_schema.as_str(), EMPTY_INPUT_SCHEMA, "{members}");
            assert!(matches!(definition.notes[..], [DefinitionNote::Tool(_)]), "{members}");
        }
        let definition = with_schema(r#"{ "anyOf" : [ ] }"#).expect("a root without a type");
        assert_eq!(definition.input_schema.as_str(), r#"{"type":"object","anyOf":[]}"#);
    }

    #[test]
    fn one_bad_tool_takes_nothing_from_the_others() {
        // H-023, H-026
        let result = format!(
            r##"{{"tools":[{{"name":"big","inputSchema":{}}},{{"name":"out","inputSchema":{{"$ref":"https://a.example/x"}}}},
            {{"name":"fine","inputSchema":{{"type":"object","$ref":"#/$defs/x","$defs":{{"x":{{}}}}}}}}]}}"##,
            schema_of(70_000)
        );
        let page = tools(&RawJson::parse_str(&result).unwrap());
        let reasons: Vec<_> =
            page.set_aside.iter().map(|aside| (aside.index, aside.reason.clone())).collect();
        let external = SetAsideReason::InputSchema(SchemaFault::External("https://a.example/x".into()));
        assert_eq!(reasons, [(1, external)], "never fetched");
        let offered: Vec<_> =
            page.items.iter().map(|tool| of(tool).map(|found| found.tool.to_string())).collect();
        let too_big = Err(SkipReason::SchemaTooBig { bytes: 70_000, limit: 65_536 });
        assert_eq!(offered, [too_big, Ok("fine".into())]);
    }

    #[test]
    fn what_a_server_says_is_bounded_and_masked() {
        // H-027
        let text = |members: &str| of(&listed(members)).expect(members);
        let said = text(r#","title":"a\u202e\nb","description":"one\r\ntwo\u0007\u202e three""#);
        assert_eq!(said.description, "one\ntwo\\u{7}\\u{202e} three");
        assert_eq!(said.title.as_deref(), Some("a\\u{202e}\\nb"));

        let long = text(&format!(r#","title":"{0}","description":"{0}""#, "日".repeat(6000)));
        assert_eq!(long.description.len(), 16_383, "as many whole characters as there is room for");
        assert!(long.description.ends_with("日..."));
        assert_eq!(long.title.map(|title| title.chars().count()), Some(256));
        let cut = DefinitionNote::DescriptionCut { bytes: 18_000, limit: 16_384 };
        assert_eq!(long.notes[1..], [cut]);

        let tool = listed(r#","description":"token hunter2hunter2""#);
        let mask = Mask::new(["hunter2hunter2"]);
        let masked = Definition::of("s", &tool, &DefinitionLimits::default(), &mask).unwrap();
        assert_eq!(masked.description, "token ***");
    }

    #[test]
    fn a_tool_that_says_nothing_is_described_by_its_name_and_its_servers() {
        // H-028
        for members in ["", r#","description":null"#, r#","description":"""#, r#","description":" \n""#] {
            let definition = of(&listed(members)).expect(members);
            assert_eq!(definition.description, "The tool \"t\" of the MCP server \"s\".", "{members}");
        }
    }

    #[test]
    fn an_output_schema_is_left_out_where_it_is_too_big() {
        let big = schema_of(65_537);
        let both =
            of(&listed(&format!(r#","inputSchema":{{"type":"object"}},"outputSchema":{big}"#))).unwrap();
        assert_eq!(both.output_schema, None);
        assert_eq!(both.notes, vec![DefinitionNote::OutputSchemaTooBig { bytes: 65_537, limit: 65_536 }]);
        let both =
            of(&listed(r#","inputSchema":{"type":"object"},"outputSchema":{ "type" : "array" }"#)).unwrap();
        assert_eq!(both.output_schema.as_ref().map(RawJson::as_str), Some(r#"{"type":"array"}"#));
        assert_eq!(both.input_schema.retained_len(), both.input_schema.len(), "keeps no listing alive");
    }

    #[test]
    fn limits_out_of_range_are_told_by_name() {
        assert_eq!(DefinitionLimits::default().check(), Ok(()));
        let none = DefinitionLimits { max_schema_bytes: 0, ..DefinitionLimits::default() };
        assert_eq!(none.check().unwrap_err().field, "max_schema_bytes");
        let huge = DefinitionLimits { max_description_bytes: usize::MAX, ..DefinitionLimits::default() };
        assert_eq!(huge.check().unwrap_err().field, "max_description_bytes");
    }
}
