//! Resources, their templates, and what reading one gives.

use alloc::borrow::Cow;
use alloc::string::String;

use super::content::Annotations;
use super::flaw::{self, Flaw, member, required, string, text};
use super::page::{ListItem, Page, SetAsideReason};
use crate::jsonrpc::{JsonRef, JsonStr, Kind, RawJson};

/// Reads the result of `resources/list`: see [`Page::read`].
#[must_use]
pub fn resources(result: &RawJson) -> Page<Resource> {
    Page::read(result)
}

/// Reads the result of `resources/templates/list`: see [`Page::read`].
#[must_use]
pub fn resource_templates(result: &RawJson) -> Page<ResourceTemplate> {
    Page::read(result)
}

macro_rules! listed {
    ($(#[$doc:meta])* $type:ident, $key:ident, $member:literal, $(#[$key_doc:meta])*, $items:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $type {
            raw: RawJson,
            name: String,
            $key: String,
        }

        impl $type {
            /// It, as the server sent it.
            #[must_use]
            pub const fn raw(&self) -> &RawJson {
                &self.raw
            }

            $(#[$key_doc])*
            #[must_use]
            pub fn $key(&self) -> &str {
                &self.$key
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

            /// What it is, in words.
            #[must_use]
            pub fn description(&self) -> Option<Cow<'_, str>> {
                text(self.raw.view(), "description")
            }

            /// Its media type, such as `text/plain`.
            #[must_use]
            pub fn mime_type(&self) -> Option<Cow<'_, str>> {
                text(self.raw.view(), "mimeType")
            }

            /// For whom it is and how much it matters.
            #[must_use]
            pub fn annotations(&self) -> Annotations<'_> {
                Annotations::read(member(self.raw.view(), "annotations"))
            }
        }

        impl ListItem for $type {
            const ITEMS: &'static str = $items;
            const KEY: &'static str = $member;

            fn read(raw: RawJson) -> Result<Self, SetAsideReason> {
                let view = raw.view();
                flaw::object(view)?;
                let $key = required(view.get($member), $member)?.decode().into_owned();
                let name = required(view.get("name"), "name")?.decode().into_owned();
                Ok(Self { raw, name, $key })
            }

            fn key(&self) -> &str {
                &self.$key
            }
        }
    };
}

listed! {
    /// A resource: a view of what the server sent.
    ///
    /// Spec: MCP server/resources; schema, `Resource`.
    Resource, uri, "uri",
    /// Its address.
    , "resources"
}

listed! {
    /// A family of resources whose addresses are made from a template: a view of what the server sent.
    ///
    /// Spec: MCP server/resources; schema, `ResourceTemplate`.
    ResourceTemplate, uri_template, "uriTemplate",
    /// The template, as in RFC 6570.
    , "resourceTemplates"
}

impl Resource {
    /// Its size in bytes before any encoding, if known.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.raw.view().get("size").and_then(JsonRef::as_u64)
    }
}

/// The contents of a resource, borrowed.
///
/// Spec: MCP schema, `TextResourceContents`, `BlobResourceContents`.
#[derive(Clone, Copy, Debug)]
pub struct ResourceContents<'a> {
    raw: JsonRef<'a>,
    uri: JsonStr<'a>,
    body: Body<'a>,
}

/// What a resource holds.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// Text.
    Text(JsonStr<'a>),
    /// Bytes in Base64. Not checked.
    Blob(JsonStr<'a>),
}

impl<'a> ResourceContents<'a> {
    /// Reads the contents of a resource. With both text and bytes the text counts.
    ///
    /// # Errors
    /// What is missing; pass the value on as it is.
    pub fn read(raw: JsonRef<'a>) -> Result<Self, Flaw> {
        flaw::object(raw)?;
        let uri = required(raw.get("uri"), "uri")?;
        let body = match (member(raw, "text"), member(raw, "blob")) {
            (Some(text), _) => Body::Text(required(Some(text), "text")?),
            (None, Some(blob)) => Body::Blob(required(Some(blob), "blob")?),
            (None, None) => return Err(Flaw::MissingBoth("text", "blob")),
        };
        Ok(Self { raw, uri, body })
    }

    /// The contents as they were sent.
    #[must_use]
    pub const fn raw(&self) -> JsonRef<'a> {
        self.raw
    }

    /// The address. May be that of a part of what was asked for.
    #[must_use]
    pub const fn uri(&self) -> JsonStr<'a> {
        self.uri
    }

    /// The media type, such as `text/plain`.
    #[must_use]
    pub fn mime_type(&self) -> Option<JsonStr<'a>> {
        string(self.raw, "mimeType")
    }

    /// What it holds.
    #[must_use]
    pub const fn body(&self) -> Body<'a> {
        self.body
    }
}

/// The result of `resources/read`: a view of what the server sent.
///
/// Spec: MCP schema, `ReadResourceResult`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadResourceResult(RawJson);

impl ReadResourceResult {
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

    /// The contents in order, each with its raw value. One that cannot be read is an error with the reason and takes
    /// nothing from the others; no array counts as none.
    pub fn contents(&self) -> impl Iterator<Item = (JsonRef<'_>, Result<ResourceContents<'_>, Flaw>)> {
        let contents = self.0.view().get("contents").filter(|contents| contents.kind() == Kind::Array);
        contents.into_iter().flat_map(JsonRef::elements).map(|raw| (raw, ResourceContents::read(raw)))
    }
}

#[cfg(test)]
mod tests;
