//! What a handler may give back, and why it may not.

use alloc::string::{String, ToString};
use core::fmt;

use serde::Serialize;

use crate::jsonrpc::{ErrorObject, RawJson};
use crate::mcp::codes::ErrorCode;
use crate::server::Reply;

/// Why a handler has no result. `?` makes one of whatever is a [`core::error::Error`].
///
/// `String`, `&str`, `Box<dyn Error>` and what else is none needs [`ToolError::new`]:
///
/// ```
/// use sanswire::server::kit::ToolError;
///
/// fn load(path: &str) -> Result<String, Box<dyn std::error::Error>> {
///     Ok(String::from_utf8(std::fs::read(path)?)?)
/// }
///
/// // A handler.
/// fn first_line() -> Result<String, ToolError> {
///     let notes = load("notes.txt").map_err(ToolError::new)?;
///     let line = notes.lines().next().ok_or_else(|| ToolError::new("there are no notes"))?;
///     Ok(line.to_owned())
/// }
/// # assert!(first_line().is_err());
/// ```
///
/// A tool's failure goes to the model, as a result with `isError`; that of a resource, prompt or completion goes to the
/// client, as the error -32603.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolError {
    /// A failure that a model can read.
    Failed(String),
    /// The arguments do not fit, and this says which. To a model it is a failure, to the client of a prompt the error
    /// -32602.
    Arguments(String),
    /// An error of the protocol instead of a result.
    Protocol(ErrorObject),
    /// There is no such resource: the code is that of the request's revision.
    NotFound,
    /// A question has no answer yet: [`AskError::Suspended`](crate::server::kit::AskError::Suspended) on its way up.
    Suspended,
}

impl ToolError {
    /// A failure, in words for a model. No secrets.
    #[must_use]
    pub fn new(text: impl fmt::Display) -> Self {
        Self::Failed(text.to_string())
    }

    /// An error of the protocol. A code of your own lies outside of -32768 to -32000.
    #[must_use]
    pub fn protocol(code: ErrorCode, message: &str) -> Self {
        Self::Protocol(ErrorObject::new(code, message))
    }

    /// There is no such resource.
    ///
    /// Spec: MCP server/resources, "Error Handling".
    #[must_use]
    pub const fn not_found() -> Self {
        Self::NotFound
    }
}

impl<E: core::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// What becomes a tool's result: text, [`Json`] (or JSON that is ready) as `structuredContent`, [`Content`] of several
/// blocks, nothing at all (`()`), or a [`Reply`] as it is.
///
/// [`Content`]: crate::server::kit::Content
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no result of a tool",
    note = "give what serializes as `Json(…)`; text, `Content`, `RawJson`, `Reply` and `()` are results as they are"
)]
pub trait IntoReply {
    /// The result.
    ///
    /// # Errors
    /// Why there is none.
    fn into_reply(self) -> Result<Reply, ToolError>;
}

impl IntoReply for () {
    fn into_reply(self) -> Result<Reply, ToolError> {
        Ok(Reply::Complete(RawJson::empty_object()))
    }
}

impl IntoReply for &str {
    fn into_reply(self) -> Result<Reply, ToolError> {
        Ok(Reply::text(self))
    }
}

impl IntoReply for String {
    fn into_reply(self) -> Result<Reply, ToolError> {
        Ok(Reply::text(&self))
    }
}

impl IntoReply for Reply {
    fn into_reply(self) -> Result<Reply, ToolError> {
        Ok(self)
    }
}

/// The value is the structured result; clients that know none get it as text.
impl IntoReply for RawJson {
    fn into_reply(self) -> Result<Reply, ToolError> {
        Ok(Reply::Complete(Self::object(|w| {
            w.raw("structuredContent", self.view());
        })))
    }
}

/// A value as `structuredContent`, and as text for clients that know no structure.
///
/// Give an object where clients before 2026-07-28 matter: they get anything else as text alone.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoReply for Json<T> {
    fn into_reply(self) -> Result<Reply, ToolError> {
        RawJson::serialize(&self.0)?.into_reply()
    }
}
