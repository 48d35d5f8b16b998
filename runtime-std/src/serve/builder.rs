//! Servers made of closures.

use std::collections::BTreeMap;
use std::fmt;

use sanswire::jsonrpc::{ErrorObject, RawJson};
use sanswire::mcp::types::request::CallTool;
use sanswire::mcp::{Method, codes};
use sanswire::server::{Catalog, Config, Reply};
use serde::de::DeserializeOwned;

use crate::serve::application::Application;
use crate::serve::call::Call;
use crate::serve::options::ServerOptions;
use crate::serve::reply::{IntoReply, ToolError};
use crate::serve::server::Server;

/// Why a server could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    what: String,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for BuildError {}

type ToolFn = dyn Fn(&Call<'_>) -> Result<Reply, ToolError> + Send + Sync;

/// A server in the making.
pub struct Builder {
    config: Config,
    catalog: Catalog,
    tools: BTreeMap<String, Box<ToolFn>>,
    fault: Option<BuildError>,
    pub(super) options: ServerOptions,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("tools", &self.tools.keys()).finish_non_exhaustive()
    }
}

impl Builder {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        let config = Config::new(name, version);
        Self {
            config,
            catalog: Catalog::new(),
            tools: BTreeMap::new(),
            fault: None,
            options: ServerOptions::default(),
        }
    }

    /// Offers a tool. `definition` is its definition in JSON, without the name; arguments are read into `A`.
    #[must_use]
    pub fn tool<A, R, F>(mut self, name: &str, definition: &str, run: F) -> Self
    where
        A: DeserializeOwned,
        R: IntoReply,
        F: Fn(A, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
    {
        let handler = move |call: &Call<'_>| {
            let read = CallTool::read(call.params()).map_err(|flaw| ToolError::new(format!("{flaw:?}")))?;
            run(read.arguments.decode()?, call)?.into_reply()
        };
        let named = RawJson::parse_str(definition).map(|definition| {
            RawJson::object(|w| {
                w.string("name", name);
                for (member, value) in definition.view().members() {
                    w.raw(&member.decode(), value);
                }
            })
        });
        match named.map(|named| self.catalog.tool(&named)) {
            Ok(Ok(())) => drop(self.tools.insert(name.into(), Box::new(handler))),
            _ => {
                self.fault = Some(BuildError { what: format!("the definition of tool {name} is not usable") })
            }
        }
        self
    }

    /// The server.
    ///
    /// # Errors
    /// What a definition lacks.
    pub fn build(self) -> Result<Server, BuildError> {
        match self.fault {
            Some(fault) => Err(fault),
            None => {
                let router = Router { tools: self.tools };
                Server::with_options(self.config, self.catalog, router, self.options)
                    .map_err(|error| BuildError { what: format!("the options are not usable: {error}") })
            }
        }
    }
}

/// Finds the closure that a request is for.
struct Router {
    tools: BTreeMap<String, Box<ToolFn>>,
}

impl Application for Router {
    fn handle(&self, call: &Call<'_>) -> Reply {
        let name = CallTool::read(call.params()).map(|read| read.name).unwrap_or_default();
        let Some(run) = self.tools.get(&name).filter(|_| *call.method() == Method::ToolsCall) else {
            return Reply::Error(ErrorObject::new(codes::METHOD_NOT_FOUND, "nothing answers this method"));
        };
        match run(call) {
            Ok(reply) => reply,
            Err(ToolError::Failed(text)) => Reply::tool_error(&text),
            Err(ToolError::Protocol(error)) => Reply::Error(error),
            Err(ToolError::Suspended) => Reply::tool_error("not yet"),
        }
    }
}
