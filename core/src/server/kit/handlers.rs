//! Finds the handler that a request is for.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use crate::jsonrpc::{JsonRef, RawJson};
use crate::mcp::types::request::{CallTool, Complete, resource_uri};
use crate::mcp::{Method, codes};
use crate::server::catalog::ListKind;
use crate::server::config::UnknownTool;
use crate::server::event::Reply;
use crate::server::kit::offer::{Handler, Offer};
use crate::server::kit::outcome::{error, flawed};
use crate::server::kit::template::{ResourceUri, Template};

/// The handlers of a server by name: `T` of tools and prompts, `R` of resources and templates, `C` of completions.
///
/// A runtime keeps one behind whatever keeps its threads or tasks apart, and holds that for the lookup only: what is
/// found is a clone.
#[derive(Clone)]
pub struct Handlers<T, R, C> {
    tools: BTreeMap<Box<str>, T>,
    prompts: BTreeMap<Box<str>, T>,
    resources: BTreeMap<Box<str>, R>,
    /// In the order in which they are tried.
    templates: Vec<(Box<str>, Template, R)>,
    pub(super) complete: Option<C>,
    /// How a tool is refused that there is none of.
    pub(super) unknown_tool: UnknownTool,
}

/// Who answers a request.
#[derive(Clone, Debug)]
pub enum Route<'a, T, R, C> {
    /// The handler of a tool or prompt, and the arguments for it: an object, empty if the client sent none.
    Call(T, JsonRef<'a>),
    /// The handler of a resource, or of the first template that the address is made from.
    Read(R, ResourceUri),
    /// What completes arguments, and what is to be completed.
    Complete(C, Complete),
    /// No handler: this is the answer.
    Answer(Reply),
}

impl<T, R, C> Default for Handlers<T, R, C> {
    fn default() -> Self {
        Self {
            tools: BTreeMap::new(),
            prompts: BTreeMap::new(),
            resources: BTreeMap::new(),
            templates: Vec::new(),
            complete: None,
            unknown_tool: UnknownTool::default(),
        }
    }
}

impl<T, R, C> fmt::Debug for Handlers<T, R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("tools", &self.tools.keys())
            .field("prompts", &self.prompts.keys())
            .field("resources", &self.resources.keys())
            .field("templates", &self.templates.len())
            .finish_non_exhaustive()
    }
}

impl<T: Clone, R: Clone, C: Clone> Handlers<T, R, C> {
    /// Who answers a request that a session reported. A subscription to a resource is answered at once: only what can
    /// be read can be watched.
    #[must_use]
    pub fn route<'a>(&self, method: &Method, params: &'a RawJson) -> Route<'a, T, R, C> {
        match method {
            Method::ToolsCall => {
                let (name, arguments) = named(params);
                match self.tools.get(&*name) {
                    Some(tool) => Route::Call(tool.clone(), arguments),
                    // It was listed when the session looked.
                    None => Route::Answer(self.no_tool(&name)),
                }
            }
            Method::ResourcesRead => match self.reader(params) {
                Ok((read, uri)) => Route::Read(read.clone(), uri),
                Err(reply) => Route::Answer(reply),
            },
            Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => Route::Answer(
                self.reader(params).map_or_else(|reply| reply, |_| Reply::Complete(RawJson::empty_object())),
            ),
            Method::PromptsGet => {
                let (name, arguments) = named(params);
                match self.prompts.get(&*name) {
                    Some(prompt) => Route::Call(prompt.clone(), arguments),
                    None => Route::Answer(error(codes::INVALID_PARAMS, "unknown prompt")),
                }
            }
            Method::CompletionComplete => match (&self.complete, Complete::read(params)) {
                (None, _) => Route::Answer(no_method()),
                (Some(complete), Ok(asked)) => Route::Complete(complete.clone(), asked),
                (Some(_), Err(flaw)) => Route::Answer(flawed(&flaw)),
            },
            _ => Route::Answer(no_method()),
        }
    }

    /// Takes in the handler of what is offered, in place of that of the same name or address. A template is tried last.
    pub fn put(&mut self, offer: &Offer<T, R>) {
        let key = || offer.key().into();
        match offer.handler.clone() {
            Handler::Tool(tool) => drop(self.tools.insert(key(), tool)),
            Handler::Prompt(prompt) => drop(self.prompts.insert(key(), prompt)),
            Handler::Resource(read) => drop(self.resources.insert(key(), read)),
            Handler::Template(template, read) => {
                self.remove(ListKind::Templates, offer.key());
                self.templates.push((key(), template, read));
            }
        }
    }
}

impl<T, R, C> Handlers<T, R, C> {
    /// Forgets the handler of that name or address, if there is one.
    pub fn remove(&mut self, kind: ListKind, key: &str) {
        match kind {
            ListKind::Tools => drop(self.tools.remove(key)),
            ListKind::Prompts => drop(self.prompts.remove(key)),
            ListKind::Resources => drop(self.resources.remove(key)),
            ListKind::Templates => self.templates.retain(|(template, ..)| **template != *key),
        }
    }

    /// Who reads the address in `params`: the resource of that address, or the first template that it is made from.
    fn reader(&self, params: &RawJson) -> Result<(&R, ResourceUri), Reply> {
        let uri = resource_uri(params).map_err(|flaw| flawed(&flaw))?;
        if let Some(read) = self.resources.get(&*uri) {
            return Ok((read, ResourceUri::new(uri, Vec::new())));
        }
        let mut matching = self.templates.iter();
        match matching.find_map(|(_, template, read)| Some((read, template.matches(&uri)?))) {
            Some((read, variables)) => Ok((read, ResourceUri::new(uri, variables))),
            None => Err(Reply::resource_not_found(&uri)),
        }
    }

    fn no_tool(&self, name: &str) -> Reply {
        let message = format!("unknown tool: {name}");
        match self.unknown_tool {
            UnknownTool::ToolError => Reply::tool_error(&message),
            UnknownTool::ProtocolError => error(codes::INVALID_PARAMS, &message),
        }
    }
}

/// The name and the arguments of a call or of a prompt, found in one pass. The session has looked at their kinds.
fn named(params: &RawJson) -> (Cow<'_, str>, JsonRef<'_>) {
    let none = JsonRef::trusted(b"{}");
    match CallTool::view(params) {
        Ok((name, arguments)) => (name.decode(), arguments.unwrap_or(none)),
        Err(_) => (Cow::Borrowed(""), none),
    }
}

fn no_method() -> Reply {
    error(codes::METHOD_NOT_FOUND, "nothing answers this method")
}
