//! Servers made of closures.

use std::fmt;
use std::sync::Arc;

use sanswire::jsonrpc::JsonRef;
use sanswire::mcp::types::request::Complete;
use sanswire::server::Config;
use sanswire::server::kit::{
    self, BuildError, Definition, IntoContents, IntoMessages, IntoReply, ResourceUri, ToolError,
};
use sanswire_system::serve::ServerOptions;
use serde::de::DeserializeOwned;

use crate::serve::call::Call;
use crate::serve::router::{Assembly, Offer, ReadFn, Router, ToolFn};
use crate::serve::server::Server;

/// A server in the making.
///
/// Handlers are closures, run on many threads at once. What they fail with by `?` reaches the client in words; one
/// that panics is answered with an internal error.
///
/// ```
/// use sanswire_std::{Prompt, Resource, Server, Tool};
///
/// let server = Server::builder("counter", "1.0")
///     .instructions("Counts what it is given.")
///     .tool("count", Tool::new("Counts characters").string("text", "Of what"), |(), call| {
///         let text: String = call.argument("text")?;
///         Ok(text.chars().count().to_string())
///     })
///     .resource("count://about", r#"{"name":"about","mimeType":"text/plain"}"#, |_, _| Ok("It counts."))
///     .resource_template("count://of/{text}", Resource::new("count"), |uri, _| {
///         Ok(uri.variable("text").chars().count().to_string())
///     })
///     .prompt("count", Prompt::new("Asks for a count").argument("text", "Of what"), |(), call| {
///         Ok(format!("How many characters are in {}?", call.argument::<String>("text")?))
///     })
///     .complete(|asked, _| {
///         Ok(["one", "two"].into_iter().filter(|word| word.starts_with(&asked.value)).collect())
///     })
///     .build()?;
/// # let _ = server;
/// # Ok::<(), sanswire_std::BuildError>(())
/// ```
pub struct Builder {
    assembly: Assembly,
    pub(super) options: ServerOptions,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("server", &self.assembly.config.server).finish_non_exhaustive()
    }
}

impl Builder {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self { assembly: Assembly::new(name, version), options: ServerOptions::default() }
    }

    /// The server's name for people.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.assembly.config.server.title = Some(title.into());
        self
    }

    /// How to use the server, in words, for a model.
    #[must_use]
    pub fn instructions(mut self, words: &str) -> Self {
        self.assembly.config.instructions = Some(words.into());
        self
    }

    /// Offers a tool. Its arguments are read into `A`; a unit takes any, and leaves them to
    /// [`Call::argument`]. Arguments that do not fit are answered with a result with `isError` that names the first
    /// of them and what is expected there.
    ///
    /// Spec: MCP 2025-11-25 and later, server/tools, "Error Handling".
    #[must_use]
    pub fn tool<A, R, F>(mut self, name: &str, definition: impl Definition, run: F) -> Self
    where
        A: DeserializeOwned,
        R: IntoReply,
        F: Fn(A, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
    {
        self.assembly.add(offer_tool(name, definition, run));
        self
    }

    /// Offers a resource at an address. What its definition says of the type goes with the contents.
    #[must_use]
    pub fn resource<R, F>(mut self, uri: &str, definition: impl Definition, read: F) -> Self
    where
        R: IntoContents,
        F: Fn(&ResourceUri, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
    {
        self.assembly.add(offer_resource(uri, definition, read));
        self
    }

    /// Offers all resources whose addresses are made from a template: `{name}` stands for one segment, which the handler
    /// finds by [`ResourceUri::variable`]. Of two templates that match, the earlier one counts; a resource of that very
    /// address comes first.
    ///
    /// Source: RFC 6570, level 1.
    #[must_use]
    pub fn resource_template<R, F>(mut self, template: &str, definition: impl Definition, read: F) -> Self
    where
        R: IntoContents,
        F: Fn(&ResourceUri, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
    {
        self.assembly.add(offer_template(template, definition, read));
        self
    }

    /// Offers a prompt. Its arguments, which are always text, are read into `A` as those of a [`tool`](Self::tool) are;
    /// what does not fit is answered with the error -32602.
    #[must_use]
    pub fn prompt<A, R, F>(mut self, name: &str, definition: impl Definition, run: F) -> Self
    where
        A: DeserializeOwned,
        R: IntoMessages,
        F: Fn(A, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
    {
        self.assembly.add(offer_prompt(name, definition, run));
        self
    }

    /// Suggests values for the arguments of prompts and templates, best first. A client gets the first hundred, and is
    /// told how many there are.
    #[must_use]
    pub fn complete<S, F>(mut self, suggest: F) -> Self
    where
        S: Into<String>,
        F: Fn(&Complete, &Call<'_>) -> Result<Vec<S>, ToolError> + Send + Sync + 'static,
    {
        self.assembly.complete(Arc::new(move |asked: &Complete, call: &Call<'_>| {
            let values: Vec<String> = suggest(asked, call)?.into_iter().map(Into::into).collect();
            Ok(kit::completion(&values))
        }));
        self
    }

    /// Resources can be watched: say what changed by [`Server::resource_updated`].
    #[must_use]
    pub const fn subscribable(mut self) -> Self {
        self.assembly.config.capabilities.subscribe = true;
        self
    }

    /// Handlers write log messages for the client, by [`Call::log`].
    #[must_use]
    pub const fn logging(mut self) -> Self {
        self.assembly.config.capabilities.logging = true;
        self
    }

    /// Changes any other setting.
    #[must_use]
    pub fn config(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.assembly.config);
        self
    }

    /// The server.
    ///
    /// # Errors
    /// Everything that is wrong with what was given: each fault says what it is about.
    pub fn build(self) -> Result<Server, BuildError> {
        let (offered, router) = Router::build(self.assembly, self.options)?;
        Ok(Server::with_router(offered, Arc::new(router)))
    }
}

/// A tool with its closure as the router keeps it.
pub(super) fn offer_tool<A, R, F>(
    name: &str,
    definition: impl Definition,
    run: F,
) -> Result<Offer, BuildError>
where
    A: DeserializeOwned,
    R: IntoReply,
    F: Fn(A, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
{
    let run =
        move |arguments: JsonRef<'_>, call: &Call<'_>| run(kit::arguments(arguments)?, call)?.into_reply();
    Offer::tool(name, definition, Arc::new(run))
}

/// As [`offer_tool`].
pub(super) fn offer_prompt<A, R, F>(
    name: &str,
    definition: impl Definition,
    run: F,
) -> Result<Offer, BuildError>
where
    A: DeserializeOwned,
    R: IntoMessages,
    F: Fn(A, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
{
    Offer::prompt(name, definition, |description| {
        Arc::new(move |arguments: JsonRef<'_>, call: &Call<'_>| {
            run(kit::arguments(arguments)?, call)?.into_reply(description.as_deref())
        }) as Arc<ToolFn>
    })
}

/// As [`offer_tool`].
pub(super) fn offer_resource<R, F>(
    uri: &str,
    definition: impl Definition,
    read: F,
) -> Result<Offer, BuildError>
where
    R: IntoContents,
    F: Fn(&ResourceUri, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
{
    Offer::resource(uri, definition, |mime_type| reader(mime_type, read))
}

/// As [`offer_tool`].
pub(super) fn offer_template<R, F>(
    template: &str,
    definition: impl Definition,
    read: F,
) -> Result<Offer, BuildError>
where
    R: IntoContents,
    F: Fn(&ResourceUri, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
{
    Offer::resource_template(template, definition, |mime_type| reader(mime_type, read))
}

fn reader<R, F>(mime_type: Option<Box<str>>, read: F) -> Arc<ReadFn>
where
    R: IntoContents,
    F: Fn(&ResourceUri, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
{
    Arc::new(move |uri: &ResourceUri, call: &Call<'_>| {
        read(uri, call)?.into_reply(uri.as_str(), mime_type.as_deref())
    })
}
