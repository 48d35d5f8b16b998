//! Content blocks: what tools, prompts and resources hand out.

use alloc::borrow::Cow;
use core::fmt;

use super::flaw::{Flaw, member, object, required, string};
use super::resource::ResourceContents;
use crate::jsonrpc::{JsonRef, JsonStr, Kind};

/// One block, borrowed from a result: what it is, and the whole of it as it was sent.
///
/// Spec: MCP schema, `ContentBlock`.
#[derive(Clone, Copy, Debug)]
pub struct ContentBlock<'a> {
    raw: JsonRef<'a>,
    content: Content<'a>,
}

/// What a block is. Text is handed out as it stands in the message; decode it where it is needed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Content<'a> {
    /// Text.
    Text(JsonStr<'a>),
    /// An image.
    Image(Media<'a>),
    /// A sound (2025-03-26 and later).
    Audio(Media<'a>),
    /// A resource, whole.
    Resource(ResourceContents<'a>),
    /// Where a resource can be read (2025-06-18 and later).
    ResourceLink(Link<'a>),
    /// A block of another type, or one that lacks what its type asks for. Pass it on as it is.
    Unknown {
        /// Its `type`, where that is text.
        kind: Option<JsonStr<'a>>,
        /// What is wrong with it; `None` for a type that is not known here.
        flaw: Option<Flaw>,
    },
}

/// Bytes of a media type.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Media<'a> {
    /// The bytes in Base64. Not checked.
    pub data: JsonStr<'a>,
    /// What they are, such as `image/png`.
    pub mime_type: JsonStr<'a>,
}

/// Where a resource can be read.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Link<'a> {
    /// Its address; hostile input like everything a server names.
    pub uri: JsonStr<'a>,
    /// Its name.
    pub name: JsonStr<'a>,
    /// What it is, such as `text/plain`.
    pub mime_type: Option<JsonStr<'a>>,
}

impl<'a> ContentBlock<'a> {
    /// Reads a block. One pass over its members; nothing is copied or decoded.
    #[must_use]
    pub fn read(raw: JsonRef<'a>) -> Self {
        let mut members = BlockMembers::default();
        for (name, value) in raw.members() {
            members.note(name, value);
        }
        let kind = members.kind.and_then(JsonRef::str);
        let content = match members.content(raw, kind) {
            Ok(content) => content,
            Err(flaw) => Content::Unknown { kind, flaw: Some(flaw) },
        };
        Self { raw, content }
    }

    /// What it is.
    #[must_use]
    pub const fn content(&self) -> Content<'a> {
        self.content
    }

    /// The block as it was sent.
    #[must_use]
    pub const fn raw(&self) -> JsonRef<'a> {
        self.raw
    }

    /// The text, decoded, if it is a text block.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'a, str>> {
        if let Content::Text(text) = self.content { Some(text.decode()) } else { None }
    }

    /// For whom it is and how much it matters. Some servers write this beside an embedded resource, some into it.
    #[must_use]
    pub fn annotations(&self) -> Annotations<'a> {
        let inside = || member(self.raw, "resource").and_then(|resource| member(resource, "annotations"));
        Annotations::read(member(self.raw, "annotations").or_else(inside))
    }

    /// Its metadata.
    #[must_use]
    pub fn meta(&self) -> Option<JsonRef<'a>> {
        member(self.raw, "_meta").filter(|meta| meta.kind() == Kind::Object)
    }
}

/// The members that decide what a block is; of those that stand twice the first counts.
#[derive(Default)]
struct BlockMembers<'a> {
    kind: Option<JsonRef<'a>>,
    text: Option<JsonRef<'a>>,
    data: Option<JsonRef<'a>>,
    mime_type: Option<JsonRef<'a>>,
    resource: Option<JsonRef<'a>>,
    uri: Option<JsonRef<'a>>,
    name: Option<JsonRef<'a>>,
}

impl<'a> BlockMembers<'a> {
    fn note(&mut self, name: JsonStr<'a>, value: JsonRef<'a>) {
        let slot = if name.eq_str("type") {
            &mut self.kind
        } else if name.eq_str("text") {
            &mut self.text
        } else if name.eq_str("data") {
            &mut self.data
        } else if name.eq_str("mimeType") {
            &mut self.mime_type
        } else if name.eq_str("resource") {
            &mut self.resource
        } else if name.eq_str("uri") {
            &mut self.uri
        } else if name.eq_str("name") {
            &mut self.name
        } else {
            return;
        };
        slot.get_or_insert(value);
    }

    fn content(&self, raw: JsonRef<'a>, kind: Option<JsonStr<'a>>) -> Result<Content<'a>, Flaw> {
        object(raw)?;
        let kind = match kind {
            Some(kind) => kind,
            None => required(self.kind, "type")?,
        };
        Ok(if kind.eq_str("text") {
            Content::Text(required(self.text, "text")?)
        } else if kind.eq_str("image") {
            Content::Image(self.media()?)
        } else if kind.eq_str("audio") {
            Content::Audio(self.media()?)
        } else if kind.eq_str("resource") {
            let resource = self.resource.filter(|resource| !resource.is_null());
            let resource = resource.ok_or(Flaw::Missing("resource"))?;
            if resource.kind() != Kind::Object {
                return Err(Flaw::WrongKind { member: "resource", found: resource.kind() });
            }
            Content::Resource(ResourceContents::read(resource)?)
        } else if kind.eq_str("resource_link") {
            Content::ResourceLink(Link {
                uri: required(self.uri, "uri")?,
                name: required(self.name, "name")?,
                mime_type: self.mime_type.and_then(JsonRef::str),
            })
        } else {
            Content::Unknown { kind: Some(kind), flaw: None }
        })
    }

    fn media(&self) -> Result<Media<'a>, Flaw> {
        Ok(Media { data: required(self.data, "data")?, mime_type: required(self.mime_type, "mimeType")? })
    }
}

/// Who speaks, or for whom something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The person.
    User,
    /// The language model.
    Assistant,
}

impl Role {
    /// The role of that name.
    #[must_use]
    pub fn named(name: JsonStr<'_>) -> Option<Self> {
        if name.eq_str("user") {
            Some(Self::User)
        } else if name.eq_str("assistant") {
            Some(Self::Assistant)
        } else {
            None
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        })
    }
}

/// For whom a block or resource is, how much it matters, how old it is. Hints of the server's.
///
/// Spec: MCP schema, `Annotations`.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Annotations<'a> {
    /// Meant for the person. False if the audience is not said: then see [`for_anyone`](Self::for_anyone).
    pub for_user: bool,
    /// Meant for the model.
    pub for_assistant: bool,
    /// From 0 (may be left out) to 1 (required); `None` if it is not said or outside of that.
    pub priority: Option<f64>,
    /// When it was changed, as ISO 8601 text. Not checked.
    pub last_modified: Option<JsonStr<'a>>,
}

impl<'a> Annotations<'a> {
    /// Reads an annotations object; whatever cannot be read is not said.
    #[must_use]
    pub fn read(raw: Option<JsonRef<'a>>) -> Self {
        let Some(raw) = raw else { return Self::default() };
        let mut read = Self {
            priority: raw
                .get("priority")
                .and_then(JsonRef::as_f64)
                .filter(|priority| (0.0..=1.0).contains(priority)),
            last_modified: string(raw, "lastModified"),
            ..Self::default()
        };
        for role in raw.get("audience").into_iter().flat_map(JsonRef::elements) {
            match role.str().and_then(Role::named) {
                Some(Role::User) => read.for_user = true,
                Some(Role::Assistant) => read.for_assistant = true,
                None => {}
            }
        }
        read
    }

    /// Whether no audience is named.
    #[must_use]
    pub const fn for_anyone(&self) -> bool {
        !self.for_user && !self.for_assistant
    }
}

#[cfg(test)]
mod tests;
