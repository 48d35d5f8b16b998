//! Finds the closure that a request is for.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use sanswire::jsonrpc::{ErrorObject, JsonRef, RawJson};
use sanswire::mcp::codes::{self, ErrorCode};
use sanswire::mcp::types::completion::MAX_VALUES;
use sanswire::mcp::types::request::{CallTool, Complete, resource_uri};
use sanswire::mcp::{Method, types::flaw};
use sanswire::server::{ListKind, Reply, UnknownTool};

use crate::serve::application::Application;
use crate::serve::call::Call;
use crate::serve::reply::ToolError;
use crate::serve::template::{ResourceUri, Template};

/// What a closure of the embedder's became: it reads its arguments and makes a reply.
pub(super) type ToolFn = dyn Fn(JsonRef<'_>, &Call<'_>) -> Result<Reply, ToolError> + Send + Sync;
pub(super) type ReadFn = dyn Fn(&ResourceUri, &Call<'_>) -> Result<Reply, ToolError> + Send + Sync;
pub(super) type CompleteFn = dyn Fn(&Complete, &Call<'_>) -> Result<Vec<String>, ToolError> + Send + Sync;

/// The closures by name. A lookup holds the lock, a handler does not.
#[derive(Default)]
pub(super) struct Router {
    table: RwLock<Table>,
    pub(super) complete: Option<Box<CompleteFn>>,
    pub(super) unknown_tool: UnknownTool,
}

#[derive(Clone, Default)]
pub(super) struct Table {
    pub(super) tools: BTreeMap<Box<str>, Arc<ToolFn>>,
    pub(super) prompts: BTreeMap<Box<str>, Arc<ToolFn>>,
    pub(super) resources: BTreeMap<Box<str>, Arc<ReadFn>>,
    /// In the order in which they are tried.
    pub(super) templates: Vec<(Box<str>, Template, Arc<ReadFn>)>,
}

impl Table {
    /// Forgets a closure.
    pub(super) fn remove(&mut self, kind: ListKind, key: &str) {
        match kind {
            ListKind::Tools => drop(self.tools.remove(key)),
            ListKind::Prompts => drop(self.prompts.remove(key)),
            ListKind::Resources => drop(self.resources.remove(key)),
            ListKind::Templates => self.templates.retain(|(template, ..)| **template != *key),
        }
    }

    /// Who reads this address: the resource of that address, or the first template that it is made from.
    fn reader(&self, uri: String) -> Option<(ResourceUri, &Arc<ReadFn>)> {
        if let Some(read) = self.resources.get(&*uri) {
            return Some((ResourceUri::new(uri, Vec::new()), read));
        }
        let found =
            self.templates.iter().find_map(|(_, template, read)| Some((template.matches(&uri)?, read)));
        found.map(|(variables, read)| (ResourceUri::new(uri, variables), read))
    }
}

impl Router {
    pub(super) fn new(table: Table, complete: Option<Box<CompleteFn>>, unknown_tool: UnknownTool) -> Self {
        Self { table: RwLock::new(table), complete, unknown_tool }
    }

    fn table(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what there is, in the [turn](crate::serve::server::Turn) of whoever changes. Gives what there was: a closure
    /// that goes with it may do anything with the server, so let go of it when nothing is locked.
    pub(super) fn change(&self, change: impl FnOnce(&mut Table)) -> Table {
        let mut table = self.table().clone();
        change(&mut table);
        std::mem::replace(&mut *self.table.write().unwrap_or_else(PoisonError::into_inner), table)
    }

    fn call_tool(&self, call: &Call<'_>) -> Reply {
        let none = RawJson::empty_object();
        let (name, arguments) = named(call.params(), &none);
        let tool = self.table().tools.get(&*name).cloned();
        // It was there when the call was admitted.
        let Some(tool) = tool else { return self.no_tool(&name) };
        match tool(arguments, call) {
            Ok(reply) => reply,
            Err(ToolError::Failed(text) | ToolError::Arguments(text)) => Reply::tool_error(&text),
            Err(ToolError::NotFound) => Reply::tool_error("there is no such resource"),
            Err(ToolError::Protocol(error)) => Reply::Error(error),
            Err(ToolError::Suspended) => call.suspend(),
        }
    }

    fn no_tool(&self, name: &str) -> Reply {
        let message = format!("unknown tool: {name}");
        match self.unknown_tool {
            UnknownTool::ToolError => Reply::tool_error(&message),
            _ => error(codes::INVALID_PARAMS, &message),
        }
    }

    fn get_prompt(&self, call: &Call<'_>) -> Reply {
        let none = RawJson::empty_object();
        let (name, arguments) = named(call.params(), &none);
        let prompt = self.table().prompts.get(&*name).cloned();
        match prompt {
            Some(prompt) => or_error(call, prompt(arguments, call)),
            None => error(codes::INVALID_PARAMS, "unknown prompt"),
        }
    }

    fn read_resource(&self, call: &Call<'_>) -> Reply {
        let uri = match resource_uri(call.params()) {
            Ok(uri) => uri,
            Err(flaw) => return flawed(&flaw),
        };
        let found = self.table().reader(uri.clone()).map(|(uri, read)| (uri, Arc::clone(read)));
        match found.map(|(uri, read)| read(&uri, call)) {
            None | Some(Err(ToolError::NotFound)) => Reply::resource_not_found(&uri),
            Some(result) => or_error(call, result),
        }
    }

    /// Only what can be read can be watched.
    fn watch(&self, call: &Call<'_>) -> Reply {
        match resource_uri(call.params()) {
            Ok(uri) if self.table().reader(uri.clone()).is_some() => Reply::Complete(RawJson::empty_object()),
            Ok(uri) => Reply::resource_not_found(&uri),
            Err(flaw) => flawed(&flaw),
        }
    }

    fn complete(&self, call: &Call<'_>) -> Reply {
        let Some(complete) = &self.complete else { return no_method() };
        let asked = match Complete::read(call.params()) {
            Ok(asked) => asked,
            Err(flaw) => return flawed(&flaw),
        };
        let completed = complete(&asked, call).map(|values| {
            Reply::Complete(RawJson::object(|w| {
                w.object("completion", |w| {
                    w.array_of_strings("values", values.iter().take(MAX_VALUES).map(String::as_str));
                    w.u64("total", values.len() as u64).bool("hasMore", values.len() > MAX_VALUES);
                });
            }))
        });
        or_error(call, completed)
    }
}

impl Application for Arc<Router> {
    fn handle(&self, call: &Call<'_>) -> Reply {
        match call.method() {
            Method::ToolsCall => self.call_tool(call),
            Method::ResourcesRead => self.read_resource(call),
            Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => self.watch(call),
            Method::PromptsGet => self.get_prompt(call),
            Method::CompletionComplete => self.complete(call),
            _ => no_method(),
        }
    }
}

/// The name and the arguments of a call or of a prompt, found in one pass. The session has looked at their kinds.
fn named<'a>(params: &'a RawJson, none: &'a RawJson) -> (std::borrow::Cow<'a, str>, JsonRef<'a>) {
    match CallTool::view(params) {
        Ok((name, arguments)) => (name.decode(), arguments.unwrap_or_else(|| none.view())),
        Err(_) => (std::borrow::Cow::Borrowed(""), none.view()),
    }
}

/// What became of a request whose failures are the client's to see.
fn or_error(call: &Call<'_>, result: Result<Reply, ToolError>) -> Reply {
    match result {
        Ok(reply) => reply,
        Err(ToolError::Failed(text)) => error(codes::INTERNAL_ERROR, &text),
        Err(ToolError::Arguments(text)) => error(codes::INVALID_PARAMS, &text),
        Err(ToolError::NotFound) => error(codes::INVALID_PARAMS, "not found"),
        Err(ToolError::Protocol(error)) => Reply::Error(error),
        Err(ToolError::Suspended) => call.suspend(),
    }
}

fn flawed(flaw: &flaw::Flaw) -> Reply {
    error(codes::INVALID_PARAMS, &format!("the parameters are unusable: {flaw}"))
}

fn no_method() -> Reply {
    error(codes::METHOD_NOT_FOUND, "nothing answers this method")
}

fn error(code: ErrorCode, message: &str) -> Reply {
    Reply::Error(ErrorObject::new(code, message))
}
