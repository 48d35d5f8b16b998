//! Prompts, and what filling one in gives.

use alloc::borrow::Cow;
use alloc::string::String;

use super::content::{ContentBlock, Role};
use super::flaw::{self, Flaw, flag, member, required, text};
use super::page::{ListItem, Page, SetAsideReason};
use crate::jsonrpc::{JsonRef, Kind, RawJson};

/// Reads the result of `prompts/list`: see [`Page::read`].
#[must_use]
pub fn prompts(result: &RawJson) -> Page<Prompt> {
    Page::read(result)
}

/// A prompt: a view of what the server sent.
///
/// Spec: MCP server/prompts; schema, `Prompt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    raw: RawJson,
    name: String,
}

impl Prompt {
    /// The prompt as the server sent it.
    #[must_use]
    pub const fn raw(&self) -> &RawJson {
        &self.raw
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What to show: the title, or the name where that is missing or empty.
    #[must_use]
    pub fn display_title(&self) -> Cow<'_, str> {
        let title = text(self.raw.view(), "title").filter(|title| !title.trim().is_empty());
        title.unwrap_or(Cow::Borrowed(&self.name))
    }

    /// What it is for, in words.
    #[must_use]
    pub fn description(&self) -> Option<Cow<'_, str>> {
        text(self.raw.view(), "description")
    }

    /// Its arguments in order. One without a name is an error with the reason; the others stay.
    pub fn arguments(&self) -> impl Iterator<Item = Result<PromptArgument<'_>, Flaw>> {
        let arguments = self.raw.view().get("arguments");
        arguments.into_iter().flat_map(JsonRef::elements).map(PromptArgument::read)
    }
}

impl ListItem for Prompt {
    const ITEMS: &'static str = "prompts";
    const KEY: &'static str = "name";

    fn read(raw: RawJson) -> Result<Self, SetAsideReason> {
        flaw::object(raw.view())?;
        let name = required(raw.view().get("name"), "name")?.decode().into_owned();
        Ok(Self { raw, name })
    }

    fn key(&self) -> &str {
        &self.name
    }
}

/// An argument of a prompt. Values are always text.
///
/// Spec: MCP schema, `PromptArgument`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptArgument<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its name for people.
    pub title: Option<Cow<'a, str>>,
    /// What it is, in words.
    pub description: Option<Cow<'a, str>>,
    /// Whether it has to be given. Not said: no.
    pub required: bool,
}

impl<'a> PromptArgument<'a> {
    /// Reads one argument.
    ///
    /// # Errors
    /// Why it cannot be given.
    pub fn read(raw: JsonRef<'a>) -> Result<Self, Flaw> {
        flaw::object(raw)?;
        Ok(Self {
            name: required(raw.get("name"), "name")?.decode(),
            title: text(raw, "title"),
            description: text(raw, "description"),
            required: flag(Some(raw), "required", false),
        })
    }
}

/// The result of `prompts/get`: a view of what the server sent.
///
/// Spec: MCP server/prompts; schema, `GetPromptResult`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetPromptResult(RawJson);

impl GetPromptResult {
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

    /// What the prompt is for, in words.
    #[must_use]
    pub fn description(&self) -> Option<Cow<'_, str>> {
        text(self.0.view(), "description")
    }

    /// The messages in order; no array counts as none.
    pub fn messages(&self) -> impl Iterator<Item = PromptMessage<'_>> {
        let messages = self.0.view().get("messages");
        messages.into_iter().flat_map(JsonRef::elements).map(|raw| PromptMessage { raw })
    }
}

/// One message of a prompt, borrowed.
///
/// Spec: MCP schema, `PromptMessage`.
#[derive(Clone, Copy, Debug)]
pub struct PromptMessage<'a> {
    raw: JsonRef<'a>,
}

impl<'a> PromptMessage<'a> {
    /// The message as it was sent.
    #[must_use]
    pub const fn raw(&self) -> JsonRef<'a> {
        self.raw
    }

    /// Who speaks; `None` if that is neither of the two.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        self.raw.get("role").and_then(JsonRef::str).and_then(Role::named)
    }

    /// What is said: one block, or the blocks of an array, which some servers send.
    pub fn content(&self) -> impl Iterator<Item = ContentBlock<'a>> {
        let content = member(self.raw, "content");
        let one = content.filter(|content| content.kind() != Kind::Array);
        let many = content.filter(|content| content.kind() == Kind::Array);
        one.into_iter().chain(many.into_iter().flat_map(JsonRef::elements)).map(ContentBlock::read)
    }
}

#[cfg(test)]
mod tests;
