//! One thing that a server offers.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::jsonrpc::RawJson;
use crate::server::catalog::{Catalog, ListKind};
use crate::server::kit::definition::{self, Definition, text_of};
use crate::server::kit::fault::BuildError;
use crate::server::kit::template::Template;

/// A tool, resource, template or prompt: its definition, checked, and the handler that answers for it.
///
/// Before a server serves, [add](crate::server::kit::Assembly::add) it to an assembly. While it serves,
/// [put](crate::server::kit::Handlers::put) it among the handlers first and [list](Self::list) it then: whoever sees it
/// listed can call it.
#[derive(Clone)]
pub struct Offer<T, R> {
    key: Box<str>,
    definition: RawJson,
    pub(super) handler: Handler<T, R>,
}

#[derive(Clone)]
pub(super) enum Handler<T, R> {
    Tool(T),
    Prompt(T),
    Resource(R),
    Template(Template, R),
}

impl<T, R> fmt::Debug for Offer<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offer").field("kind", &self.kind()).field("key", &self.key).finish_non_exhaustive()
    }
}

impl<T, R> Offer<T, R> {
    /// A tool of this name.
    ///
    /// # Errors
    /// All that is wrong with the definition.
    pub fn tool(name: &str, definition: impl Definition, handler: T) -> Result<Self, BuildError> {
        let definition = complete(ListKind::Tools, name, definition.into_json())?;
        Ok(Self { key: name.into(), definition, handler: Handler::Tool(handler) })
    }

    /// A prompt of this name. `handler` is given the definition's description, which goes with the messages
    /// ([`IntoMessages`](crate::server::kit::IntoMessages)).
    ///
    /// # Errors
    /// All that is wrong with the definition.
    pub fn prompt(
        name: &str,
        definition: impl Definition,
        handler: impl FnOnce(Option<Box<str>>) -> T,
    ) -> Result<Self, BuildError> {
        let definition = complete(ListKind::Prompts, name, definition.into_json())?;
        let handler = Handler::Prompt(handler(text_of(&definition, "description")));
        Ok(Self { key: name.into(), definition, handler })
    }

    /// A resource at this address. `handler` is given the definition's `mimeType`, which goes with the contents
    /// ([`IntoContents`](crate::server::kit::IntoContents)).
    ///
    /// # Errors
    /// All that is wrong with the definition.
    pub fn resource(
        uri: &str,
        definition: impl Definition,
        handler: impl FnOnce(Option<Box<str>>) -> R,
    ) -> Result<Self, BuildError> {
        let definition = complete(ListKind::Resources, uri, definition.into_json())?;
        let handler = Handler::Resource(handler(text_of(&definition, "mimeType")));
        Ok(Self { key: uri.into(), definition, handler })
    }

    /// All resources whose addresses are made from this template: `{name}` stands for one segment, which
    /// [`ResourceUri::variable`](crate::server::kit::ResourceUri::variable) gives. `handler` as in
    /// [`resource`](Self::resource).
    ///
    /// # Errors
    /// All that is wrong with the definition, or with the template.
    ///
    /// Source: RFC 6570, level 1.
    pub fn resource_template(
        template: &str,
        definition: impl Definition,
        handler: impl FnOnce(Option<Box<str>>) -> R,
    ) -> Result<Self, BuildError> {
        let kind = ListKind::Templates;
        let definition = complete(kind, template, definition.into_json())?;
        let parsed = Template::parse(template).map_err(|why| BuildError::about(kind, template, vec![why]))?;
        let handler = Handler::Template(parsed, handler(text_of(&definition, "mimeType")));
        Ok(Self { key: template.into(), definition, handler })
    }

    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> ListKind {
        match &self.handler {
            Handler::Tool(_) => ListKind::Tools,
            Handler::Prompt(_) => ListKind::Prompts,
            Handler::Resource(_) => ListKind::Resources,
            Handler::Template(..) => ListKind::Templates,
        }
    }

    /// Its name, address or template.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Puts its definition among what is listed, in place of that of the same name or address.
    pub fn list(&self, catalog: &mut Catalog) {
        // It was tried on an empty one, and no definition depends on another.
        drop(definition::offer(self.kind(), catalog, &self.definition));
    }

    /// Why it is not taken.
    #[must_use]
    pub fn refused(&self, why: &str) -> BuildError {
        BuildError::about(self.kind(), &self.key, vec![why.into()])
    }
}

fn complete(kind: ListKind, key: &str, definition: Result<RawJson, String>) -> Result<RawJson, BuildError> {
    definition::complete(kind, key, definition)
        .map_err(|faults: Vec<String>| BuildError::about(kind, key, faults))
}
