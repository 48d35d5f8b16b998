//! What a handler may give back.

use std::fmt;

use sanswire::jsonrpc::{ErrorObject, RawJson};
use sanswire::server::Reply;
use serde::Serialize;

use crate::serve::call::AskError;

/// Why a tool failed. Made by `?` of any error; the model gets to see its text, in a result with `isError`.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolError {
    /// A failure that a model can read.
    Failed(String),
    /// An error of the protocol instead of a result.
    Protocol(ErrorObject),
    /// A question has no answer yet: [`AskError::Suspended`] on its way up.
    Suspended,
}

impl ToolError {
    /// A failure, in words for a model.
    #[must_use]
    pub fn new(text: impl fmt::Display) -> Self {
        Self::Failed(text.to_string())
    }
}

impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suspended => f.write_str("the question was not answered yet"),
            Self::Undeclared => f.write_str("this tool asks a question, and the client takes none"),
            Self::Failed(outcome) => write!(f, "the client did not answer the question: {outcome:?}"),
            Self::Refused(error) => write!(f, "the question could not be asked: {error}"),
        }
    }
}

/// What becomes a tool's result.
pub trait IntoReply {
    /// The result.
    ///
    /// # Errors
    /// Why there is none.
    fn into_reply(self) -> Result<Reply, ToolError>;
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

/// A value as `structuredContent`, and as text for clients that know no structure.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoReply for Json<T> {
    fn into_reply(self) -> Result<Reply, ToolError> {
        let value = RawJson::serialize(&self.0)?;
        Ok(Reply::Complete(RawJson::object(|w| {
            w.array("content", |w| {
                w.object(|w| {
                    w.string("type", "text").string("text", value.as_str());
                });
            });
            w.raw("structuredContent", value.view());
        })))
    }
}
