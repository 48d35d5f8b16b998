//! What a resource holds.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::jsonrpc::{ObjectWriter, RawJson};
use crate::server::Reply;

use crate::server::kit::reply::{Json, ToolError};

/// What becomes the contents of a resource: text, bytes, [`Json`], several [`Contents`], or a [`Reply`] as it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no contents of a resource",
    note = "give text, bytes, what serializes as `Json(…)`, or several with `Contents`"
)]
pub trait IntoContents {
    /// The result of reading `uri`, whose definition says that it is of `mime_type`.
    ///
    /// # Errors
    /// Why there is none.
    fn into_reply(self, uri: &str, mime_type: Option<&str>) -> Result<Reply, ToolError>;
}

impl IntoContents for &str {
    fn into_reply(self, uri: &str, mime_type: Option<&str>) -> Result<Reply, ToolError> {
        Contents::new().put(uri, mime_type, "text", self).into_reply(uri, mime_type)
    }
}

impl IntoContents for String {
    fn into_reply(self, uri: &str, mime_type: Option<&str>) -> Result<Reply, ToolError> {
        self.as_str().into_reply(uri, mime_type)
    }
}

impl IntoContents for &[u8] {
    fn into_reply(self, uri: &str, mime_type: Option<&str>) -> Result<Reply, ToolError> {
        Contents::new().put(uri, mime_type, "blob", &crate::base64::encode(self)).into_reply(uri, mime_type)
    }
}

impl<const N: usize> IntoContents for &[u8; N] {
    fn into_reply(self, uri: &str, mime_type: Option<&str>) -> Result<Reply, ToolError> {
        self.as_slice().into_reply(uri, mime_type)
    }
}

impl IntoContents for Vec<u8> {
    fn into_reply(self, uri: &str, mime_type: Option<&str>) -> Result<Reply, ToolError> {
        self.as_slice().into_reply(uri, mime_type)
    }
}

impl<T: Serialize> IntoContents for Json<T> {
    fn into_reply(self, uri: &str, mime_type: Option<&str>) -> Result<Reply, ToolError> {
        let json = RawJson::serialize(&self.0)?;
        json.as_str().into_reply(uri, mime_type.or(Some("application/json")))
    }
}

impl IntoContents for Reply {
    fn into_reply(self, _: &str, _: Option<&str>) -> Result<Reply, ToolError> {
        Ok(self)
    }
}

/// The contents of a resource in the making, where it has several: a folder's files, for instance.
///
/// Spec: MCP server/resources; schema, `ReadResourceResult`.
#[derive(Debug, Default)]
pub struct Contents {
    items: Vec<RawJson>,
    cache: Option<(u64, bool)>,
}

impl Contents {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Text.
    #[must_use]
    pub fn text(self, uri: &str, mime_type: &str, text: &str) -> Self {
        self.put(uri, Some(mime_type), "text", text)
    }

    /// Bytes. Copied and encoded: four for three.
    #[must_use]
    pub fn bytes(self, uri: &str, mime_type: &str, bytes: &[u8]) -> Self {
        self.put(uri, Some(mime_type), "blob", &crate::base64::encode(bytes))
    }

    /// How long this may be kept, in milliseconds, and whether by anyone (2026-07-28). Not said: as the configuration
    /// has it.
    #[must_use]
    pub const fn cache(mut self, ttl_ms: u64, public: bool) -> Self {
        self.cache = Some((ttl_ms, public));
        self
    }

    fn put(mut self, uri: &str, mime_type: Option<&str>, member: &str, value: &str) -> Self {
        self.items.push(RawJson::object(|w: &mut ObjectWriter<'_>| {
            w.string("uri", uri);
            if let Some(mime_type) = mime_type {
                w.string("mimeType", mime_type);
            }
            w.string(member, value);
        }));
        self
    }
}

impl IntoContents for Contents {
    fn into_reply(self, _: &str, _: Option<&str>) -> Result<Reply, ToolError> {
        Ok(Reply::Complete(RawJson::object(|w| {
            w.array("contents", |w| {
                for item in &self.items {
                    w.raw(item.view());
                }
            });
            if let Some((ttl_ms, public)) = self.cache {
                w.u64("ttlMs", ttl_ms).string("cacheScope", if public { "public" } else { "private" });
            }
        })))
    }
}
