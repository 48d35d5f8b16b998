//! Results of several blocks.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::jsonrpc::{ObjectWriter, RawJson};
use crate::server::Reply;

use crate::server::kit::reply::{IntoReply, ToolError};

/// The blocks of a result, in the making. What a client's revision does not have, it gets as text.
///
/// ```
/// use sanswire::server::kit::Content;
///
/// Content::new()
///     .text("This is the house:")
///     .image("image/png", &[0x89, b'P', b'N', b'G'])
///     .link("file:///house.txt", "house.txt");
/// ```
///
/// Spec: MCP server/tools, "Tool Result"; schema, `ContentBlock`.
#[derive(Debug, Default)]
pub struct Content {
    blocks: Vec<RawJson>,
    structured: Option<RawJson>,
    failed: bool,
    fault: Option<String>,
}

impl Content {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.put(|w| {
            w.string("type", "text").string("text", text);
        })
    }

    /// An image of that type, such as `image/png`. Copied and encoded: four bytes for three.
    #[must_use]
    pub fn image(self, mime_type: &str, bytes: &[u8]) -> Self {
        self.media("image", mime_type, bytes)
    }

    /// A sound (2025-03-26 and later), as [`image`](Self::image).
    #[must_use]
    pub fn audio(self, mime_type: &str, bytes: &[u8]) -> Self {
        self.media("audio", mime_type, bytes)
    }

    /// Where a resource can be read (2025-06-18 and later).
    #[must_use]
    pub fn link(self, uri: &str, name: &str) -> Self {
        self.put(|w| {
            w.string("type", "resource_link").string("uri", uri).string("name", name);
        })
    }

    /// A resource, whole, that is text.
    #[must_use]
    pub fn resource_text(self, uri: &str, mime_type: &str, text: &str) -> Self {
        self.put(|w| {
            w.string("type", "resource").object("resource", |w| {
                w.string("uri", uri).string("mimeType", mime_type).string("text", text);
            });
        })
    }

    /// A resource, whole.
    #[must_use]
    pub fn resource_bytes(self, uri: &str, mime_type: &str, bytes: &[u8]) -> Self {
        self.put(|w| {
            w.string("type", "resource").object("resource", |w| {
                w.string("uri", uri)
                    .string("mimeType", mime_type)
                    .string("blob", &crate::base64::encode(bytes));
            });
        })
    }

    /// Any block, as the schema has it: one with `annotations`, for instance.
    #[must_use]
    pub fn block(mut self, block: RawJson) -> Self {
        self.blocks.push(block);
        self
    }

    /// The structured result of a tool beside the blocks, or its text where there are none.
    #[must_use]
    pub fn structured<T: Serialize + ?Sized>(mut self, value: &T) -> Self {
        match RawJson::serialize(value) {
            Ok(value) => self.structured = Some(value),
            Err(error) => self.fault = Some(format!("the result cannot be written as JSON: {error}")),
        }
        self
    }

    /// The tool failed, and this tells the model why.
    #[must_use]
    pub const fn failed(mut self) -> Self {
        self.failed = true;
        self
    }

    pub(super) fn blocks(&self) -> &[RawJson] {
        &self.blocks
    }

    fn media(self, kind: &str, mime_type: &str, bytes: &[u8]) -> Self {
        self.put(|w| {
            w.string("type", kind)
                .string("mimeType", mime_type)
                .string("data", &crate::base64::encode(bytes));
        })
    }

    fn put(mut self, write: impl FnOnce(&mut ObjectWriter<'_>)) -> Self {
        self.blocks.push(RawJson::object(write));
        self
    }
}

impl IntoReply for Content {
    fn into_reply(self) -> Result<Reply, ToolError> {
        if let Some(fault) = self.fault {
            return Err(ToolError::Failed(fault));
        }
        Ok(Reply::Complete(RawJson::object(|w| {
            if !self.blocks.is_empty() || self.structured.is_none() {
                w.array("content", |w| {
                    for block in &self.blocks {
                        w.raw(block.view());
                    }
                });
            }
            if let Some(structured) = &self.structured {
                w.raw("structuredContent", structured.view());
            }
            if self.failed {
                w.bool("isError", true);
            }
        })))
    }
}
