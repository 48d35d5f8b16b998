//! What a tool gives back.

use alloc::string::String;
use core::fmt;

use super::content::ContentBlock;
use super::flaw::member;
use crate::jsonrpc::{Cursor, JsonRef, Kind, RawJson};

/// The result of `tools/call`: a view of what the server sent.
///
/// Spec: MCP server/tools; schema, `CallToolResult`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallToolResult(RawJson);

/// What is wrong with a result as a whole. What is there can be used all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResultFlaw {
    /// It is no object.
    NotAnObject(Kind),
    /// Its content is no array, and counts as empty.
    ContentNotAnArray(Kind),
    /// It has neither content nor structured content.
    Empty,
}

impl fmt::Display for ResultFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject(found) => write!(f, "the result is {found}, not an object"),
            Self::ContentNotAnArray(found) => write!(f, "the result's content is {found}, not an array"),
            Self::Empty => f.write_str("the result has neither content nor structuredContent"),
        }
    }
}

impl CallToolResult {
    /// Wraps a result.
    #[must_use]
    pub const fn new(raw: RawJson) -> Self {
        Self(raw)
    }

    /// The result as it was sent.
    #[must_use]
    pub const fn raw(&self) -> &RawJson {
        &self.0
    }

    /// The result, given away.
    #[must_use]
    pub fn into_raw(self) -> RawJson {
        self.0
    }

    /// The blocks in order. A block that cannot be read is [`Content::Unknown`](super::content::Content::Unknown)
    /// with the reason, and takes nothing from the others; content that is no array counts as empty.
    pub fn content(&self) -> impl Iterator<Item = ContentBlock<'_>> {
        let content = self.0.view().get("content");
        content.into_iter().flat_map(JsonRef::elements).map(ContentBlock::read)
    }

    /// The text of all text blocks, a line feed between two. See [`append_text`](Self::append_text).
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.append_text(&mut out);
        out
    }

    /// Appends the text of all text blocks, a line feed between two; returns how many there are.
    ///
    /// Passes over the result once and decodes on the way: into `out` itself, which grows once by the length of the
    /// text as it was sent, if nothing stands in it yet. About 3 instructions a byte for long ASCII text.
    pub fn append_text(&self, out: &mut String) -> usize {
        let mut at = Cursor::new(self.0.view());
        if !at.enter(b'{') {
            return 0;
        }
        while let Some(name) = at.member() {
            if name.eq_str("content") {
                return if at.enter(b'[') { append_blocks(&mut at, out) } else { 0 };
            }
            at.value();
        }
        0
    }

    /// The structured content. `Some` of a `null` is a value that the tool gave; `None` means there is none.
    ///
    /// Spec: MCP 2025-06-18 and later, server/tools, "Structured Content".
    #[must_use]
    pub fn structured_content(&self) -> Option<JsonRef<'_>> {
        self.0.view().get("structuredContent")
    }

    /// Whether the tool says that it failed. Absent, `null` or no boolean: it does not.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.0.view().get("isError").and_then(JsonRef::as_bool) == Some(true)
    }

    /// The result's metadata.
    #[must_use]
    pub fn meta(&self) -> Option<JsonRef<'_>> {
        member(self.0.view(), "_meta").filter(|meta| meta.kind() == Kind::Object)
    }

    /// What is wrong with the result as a whole.
    #[must_use]
    pub fn flaw(&self) -> Option<ResultFlaw> {
        let view = self.0.view();
        if view.kind() != Kind::Object {
            return Some(ResultFlaw::NotAnObject(view.kind()));
        }
        match member(view, "content") {
            Some(content) if content.kind() != Kind::Array => {
                Some(ResultFlaw::ContentNotAnArray(content.kind()))
            }
            None if self.structured_content().is_none() => Some(ResultFlaw::Empty),
            _ => None,
        }
    }
}

/// The text blocks of an array that was entered.
fn append_blocks(at: &mut Cursor<'_>, out: &mut String) -> usize {
    let mut blocks = 0;
    while at.element() {
        if !at.enter(b'{') {
            at.value();
            continue;
        }
        let (mut kind, mut text) = (None, None);
        while let Some(name) = at.member() {
            let value = at.value();
            if name.eq_str("type") {
                kind.get_or_insert(value);
            } else if name.eq_str("text") {
                text.get_or_insert(value);
            }
        }
        let is_text = kind.and_then(JsonRef::str).is_some_and(|kind| kind.eq_str("text"));
        if let Some(text) = text.and_then(JsonRef::str).filter(|_| is_text) {
            if blocks > 0 {
                out.push('\n');
            }
            blocks += 1;
            text.decode_into(out);
        }
    }
    blocks
}

#[cfg(test)]
mod tests;
