//! Servers made of closures.

use std::fmt;
use std::sync::Arc;

use sanswire::Instant;
use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::types::request::Complete;
use sanswire::server::{Catalog, Config, LineConnection, ListKind};
use serde::de::DeserializeOwned;

use crate::serve::arguments::unfit;
use crate::serve::call::Call;
use crate::serve::contents::IntoContents;
use crate::serve::definition::{self, Definition};
use crate::serve::fault::BuildError;
use crate::serve::messages::IntoMessages;
use crate::serve::options::{ServerOptions, Terms};
use crate::serve::reply::{IntoReply, ToolError};
use crate::serve::router::{CompleteFn, ReadFn, Router, Table, ToolFn};
use crate::serve::server::Server;
use crate::serve::template::{ResourceUri, Template};

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
    config: Config,
    catalog: Catalog,
    table: Table,
    complete: Option<Box<CompleteFn>>,
    faults: Vec<String>,
    pub(super) options: ServerOptions,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("server", &self.config.server).finish_non_exhaustive()
    }
}

impl Builder {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            catalog: Catalog::new(),
            table: Table::default(),
            complete: None,
            faults: Vec::new(),
            options: ServerOptions::default(),
        }
    }

    /// The server's name for people.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.config.server.title = Some(title.into());
        self
    }

    /// How to use the server, in words, for a model.
    #[must_use]
    pub fn instructions(mut self, words: &str) -> Self {
        self.config.instructions = Some(words.into());
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
        if self.offer(ListKind::Tools, name, definition.into_json()).is_some() {
            self.table.tools.insert(name.into(), tool(run));
        }
        self
    }

    /// Offers a resource at an address. What its definition says of the type goes with the contents.
    #[must_use]
    pub fn resource<R, F>(mut self, uri: &str, definition: impl Definition, read: F) -> Self
    where
        R: IntoContents,
        F: Fn(&ResourceUri, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
    {
        if let Some(definition) = self.offer(ListKind::Resources, uri, definition.into_json()) {
            self.table.resources.insert(uri.into(), reader(&definition, read));
        }
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
        let offered = self.offer(ListKind::Templates, template, definition.into_json());
        if let (Some(definition), Ok(parsed)) = (offered, Template::parse(template)) {
            self.table.templates.push((template.into(), parsed, reader(&definition, read)));
        }
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
        if let Some(definition) = self.offer(ListKind::Prompts, name, definition.into_json()) {
            self.table.prompts.insert(name.into(), prompt(&definition, run));
        }
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
        self.config.capabilities.completions = true;
        self.complete = Some(Box::new(move |asked: &Complete, call: &Call<'_>| {
            Ok(suggest(asked, call)?.into_iter().map(Into::into).collect())
        }));
        self
    }

    /// Resources can be watched: say what changed by [`Server::resource_updated`].
    #[must_use]
    pub const fn subscribable(mut self) -> Self {
        self.config.capabilities.subscribe = true;
        self
    }

    /// Handlers write log messages for the client, by [`Call::log`].
    #[must_use]
    pub const fn logging(mut self) -> Self {
        self.config.capabilities.logging = true;
        self
    }

    /// Changes any other setting.
    #[must_use]
    pub fn config(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// The server.
    ///
    /// # Errors
    /// Everything that is wrong with what was given: each fault says what it is about.
    pub fn build(mut self) -> Result<Server, BuildError> {
        // A connection's machine looks at the configuration: better now than at the first client.
        if let Err(error) = LineConnection::new(self.config.clone(), [0; 32], Instant::ZERO) {
            self.faults.push(format!("the configuration: {error}"));
        }
        let terms = Terms::new(self.options);
        if let Err(error) = &terms {
            self.faults.push(format!("what binds it: {error}"));
        }
        match terms {
            Ok(terms) if self.faults.is_empty() => {
                let router = Router::new(self.table, self.complete, self.config.unknown_tool);
                Ok(Server::with_router(self.config, self.catalog, Arc::new(router), terms))
            }
            _ => Err(BuildError::new(self.faults)),
        }
    }

    /// Puts a definition into the catalog; `None`: something is wrong with it, and noted.
    fn offer(&mut self, kind: ListKind, key: &str, definition: Result<RawJson, String>) -> Option<RawJson> {
        let mut faults = match definition::complete(kind, key, definition) {
            Ok(definition) if self.catalog.find(kind, key).is_none() => {
                match definition::offer(kind, &mut self.catalog, &definition) {
                    Ok(()) => return Some(definition),
                    Err(why) => vec![why],
                }
            }
            Ok(_) => vec!["it is defined twice".into()],
            Err(faults) => faults,
        };
        for why in &mut faults {
            *why = BuildError::about(kind, key, why);
        }
        self.faults.append(&mut faults);
        None
    }
}

/// A tool's closure as the router keeps it.
pub(super) fn tool<A, R, F>(run: F) -> Arc<ToolFn>
where
    A: DeserializeOwned,
    R: IntoReply,
    F: Fn(A, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
{
    Arc::new(move |arguments: JsonRef<'_>, call: &Call<'_>| {
        run(arguments.read().map_err(unfit)?, call)?.into_reply()
    })
}

/// A prompt's closure as the router keeps it.
pub(super) fn prompt<A, R, F>(definition: &RawJson, run: F) -> Arc<ToolFn>
where
    A: DeserializeOwned,
    R: IntoMessages,
    F: Fn(A, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
{
    let description = definition::text_of(definition, "description");
    Arc::new(move |arguments: JsonRef<'_>, call: &Call<'_>| {
        run(arguments.read().map_err(unfit)?, call)?.into_reply(description.as_deref())
    })
}

/// A resource's closure as the router keeps it.
pub(super) fn reader<R, F>(definition: &RawJson, read: F) -> Arc<ReadFn>
where
    R: IntoContents,
    F: Fn(&ResourceUri, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
{
    let mime_type = definition::text_of(definition, "mimeType");
    Arc::new(move |uri: &ResourceUri, call: &Call<'_>| {
        read(uri, call)?.into_reply(uri.as_str(), mime_type.as_deref())
    })
}
