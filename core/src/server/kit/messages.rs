//! What a prompt becomes.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::jsonrpc::RawJson;
use crate::mcp::types::content::Role;
use crate::server::Reply;

use crate::server::kit::content::Content;
use crate::server::kit::reply::ToolError;

/// What becomes the result of a prompt: one text of the user's, [`Messages`], or a [`Reply`] as it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no result of a prompt",
    note = "give text, which the user says then, or `Messages`: `Messages::new().user(…).assistant(…)`"
)]
pub trait IntoMessages {
    /// The result. `description` is that of the prompt's definition.
    ///
    /// # Errors
    /// Why there is none.
    fn into_reply(self, description: Option<&str>) -> Result<Reply, ToolError>;
}

impl IntoMessages for &str {
    fn into_reply(self, description: Option<&str>) -> Result<Reply, ToolError> {
        Messages::new().user(self).into_reply(description)
    }
}

impl IntoMessages for String {
    fn into_reply(self, description: Option<&str>) -> Result<Reply, ToolError> {
        self.as_str().into_reply(description)
    }
}

impl IntoMessages for Reply {
    fn into_reply(self, _: Option<&str>) -> Result<Reply, ToolError> {
        Ok(self)
    }
}

/// The messages of a prompt in the making.
///
/// Spec: MCP server/prompts; schema, `GetPromptResult`.
#[derive(Debug, Default)]
pub struct Messages {
    messages: Vec<(Role, RawJson)>,
}

impl Messages {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The user says this.
    #[must_use]
    pub fn user(self, text: &str) -> Self {
        self.content(Role::User, &Content::new().text(text))
    }

    /// The model says this.
    #[must_use]
    pub fn assistant(self, text: &str) -> Self {
        self.content(Role::Assistant, &Content::new().text(text))
    }

    /// Blocks of any kind, each a message of its own.
    #[must_use]
    pub fn content(mut self, role: Role, content: &Content) -> Self {
        self.messages.extend(content.blocks().iter().map(|block| (role, block.clone())));
        self
    }
}

impl IntoMessages for Messages {
    fn into_reply(self, description: Option<&str>) -> Result<Reply, ToolError> {
        Ok(Reply::Complete(RawJson::object(|w| {
            if let Some(description) = description {
                w.string("description", description);
            }
            w.array("messages", |w| {
                for (role, block) in &self.messages {
                    w.object(|w| {
                        w.string("role", &role.to_string()).raw("content", block.view());
                    });
                }
            });
        })))
    }
}
