//! Slips in definitions, told so that they can be mended.

use alloc::format;
use alloc::string::String;

use crate::jsonrpc::{JsonFault, JsonRef};
use crate::server::ListKind;

/// What is wrong with a text that is no JSON, with what stands there.
pub(super) fn not_json(text: &str, fault: JsonFault) -> String {
    /// How much of the text is shown before the fault, and from it on.
    const SHOWN: usize = 24;
    let before = fault.offset.saturating_sub(SHOWN);
    let near = |(at, _): &(usize, char)| (before..fault.offset.saturating_add(SHOWN)).contains(at);
    let excerpt: String = text.char_indices().filter(near).map(|(_, c)| c).collect();
    let mut said = format!("it is not JSON: {fault}");
    if !excerpt.is_empty() {
        said += &format!(", near {excerpt:?}");
    }
    if !text.trim_start().starts_with('{') {
        said += "; a definition is an object; describe in words by Tool::new(…), Resource::new(…) or Prompt::new(…)";
    }
    said
}

/// Members that only a definition of another kind has, and such that are spelt wrongly.
pub(super) fn slips(kind: ListKind, definition: JsonRef<'_>) -> impl Iterator<Item = String> {
    let is_tool = kind == ListKind::Tools;
    let is_resource = matches!(kind, ListKind::Resources | ListKind::Templates);
    let known = [
        ("inputSchema", !is_tool, "only a tool has that: offer it by Builder::tool"),
        ("outputSchema", !is_tool, "only a tool has that: offer it by Builder::tool"),
        ("arguments", is_tool, "a tool says in its inputSchema what it takes, only a prompt has arguments"),
        ("arguments", is_resource, "only a prompt has that: offer it by Builder::prompt"),
        ("mimeType", !is_resource, "only a resource has that: offer it by Builder::resource"),
        ("input_schema", true, "the member is spelt inputSchema"),
        ("output_schema", true, "the member is spelt outputSchema"),
        ("mime_type", true, "the member is spelt mimeType"),
    ];
    let found = known.into_iter().filter(move |(name, wrong, _)| *wrong && definition.get(name).is_some());
    found.map(|(name, _, remedy)| format!("it has {name}; {remedy}"))
}
