//! Tools of the host's own: three in the place of many, for lazy mode, and one for the rest of a long result.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::registry::{Offered, Registry};
use crate::host::Mask;
use crate::host::results::PageHandle;
use crate::jsonrpc::{JsonRef, JsonStr, Kind, RawJson};

/// The most characters of a description that a list shows.
const MAX_SUMMARY: usize = 120;

/// The most characters of a name that is repeated to whoever asked for it.
const MAX_NAME: usize = 128;

/// The most names that are offered for one that is unknown.
const MAX_NAMES: usize = 200;

/// A tool of the host's own: it tells of other tools, calls one, or shows more of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaTool {
    /// `mcp_list`: the servers, or the tools of one.
    List,
    /// `mcp_inspect`: one tool, with its schema.
    Inspect,
    /// `mcp_call`: calls one tool.
    Call,
    /// `mcp_more`: the rest of a result that was cut, page by page.
    More,
}

/// What a call of a [`MetaTool`] comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetaOutcome<'a> {
    /// A result for the model.
    Text(String),
    /// The same, with `isError`: what was wrong, and which names there are.
    Error(String),
    /// A call of this tool, about which everything is still to be decided, as about a direct one.
    Call {
        /// The tool. Rules, grants and limits are those of this one, never of `mcp_call`.
        offered: &'a Offered,
        /// Its arguments, as they were written.
        arguments: Option<RawJson>,
    },
    /// A page of a result is wanted: see [`Pages::page`](crate::host::results::Pages::page), which asks for whom.
    More {
        /// Of which.
        handle: PageHandle,
        /// From where; none: where what was shown first ends.
        offset: Option<usize>,
    },
}

impl MetaTool {
    /// All of them, in the order they are listed in.
    pub const ALL: [Self; 4] = [Self::List, Self::Inspect, Self::Call, Self::More];

    /// Those that a model is told of: all in lazy mode, else only the one that shows more of a result.
    #[must_use]
    pub fn told(lazy: bool) -> &'static [Self] {
        if lazy { &Self::ALL } else { &[Self::More] }
    }

    /// Its name. No exposed name of a server's tool is like it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::List => "mcp_list",
            Self::Inspect => "mcp_inspect",
            Self::Call => "mcp_call",
            Self::More => "mcp_more",
        }
    }

    /// The tool of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }

    /// Its definition, as a server would list it, with the names of the servers there are.
    #[must_use]
    pub fn definition(self, registry: &Registry) -> RawJson {
        let servers = server_names(registry, &|_| true);
        let (what, members, required): (_, &[_], &[_]) = match self {
            Self::List => {
                ("Names the tools of an MCP server, or the servers if none is given.", &["server"], &[])
            }
            Self::Inspect => (
                "Shows one tool of an MCP server with the schema of its arguments. Look before you call.",
                &["server", "tool"],
                &["server", "tool"],
            ),
            Self::Call => (
                "Calls one tool of an MCP server. Never guess a name: list first.",
                &["server", "tool", "arguments"],
                &["server", "tool"],
            ),
            Self::More => (
                "Shows more of a result that was cut, from the handle and the offset that came with it.",
                &["handle", "offset"],
                &["handle"],
            ),
        };
        RawJson::object(|w| {
            w.string("name", self.as_str());
            if self == Self::More {
                w.string("description", what);
            } else {
                w.string("description", &format!("{what} Servers: {servers}."));
            }
            w.object("inputSchema", |w| {
                w.string("type", "object");
                w.object("properties", |w| {
                    for member in members {
                        let kind = match *member {
                            "arguments" => "object",
                            "handle" | "offset" => "integer",
                            _ => "string",
                        };
                        w.object(member, |w| {
                            w.string("type", kind);
                        });
                    }
                });
                w.array_of_strings("required", required.iter().copied());
            });
            w.object("annotations", |w| {
                w.bool("readOnlyHint", self != Self::Call);
            });
        })
    }

    /// What a call of it with these arguments comes to. What is not offered is unknown here, whatever the reason.
    #[must_use]
    pub fn run<'a>(self, registry: &'a Registry, arguments: Option<&RawJson>) -> MetaOutcome<'a> {
        self.run_within(registry, &|_| true, arguments)
    }

    /// The same for somebody who may know of some servers only: the others are unknown.
    #[must_use]
    pub fn run_within<'a>(
        self,
        registry: &'a Registry,
        known: &dyn Fn(&str) -> bool,
        arguments: Option<&RawJson>,
    ) -> MetaOutcome<'a> {
        if self == Self::More {
            return more(arguments);
        }
        let text =
            |name| arguments.and_then(|all| all.view().get(name)).and_then(JsonRef::str).map(JsonStr::decode);
        let Some(server) = text("server") else {
            return if self == Self::List {
                MetaOutcome::Text(servers(registry, known))
            } else {
                missing("server", registry, known)
            };
        };
        let server = server.trim();
        if registry.server(server).is_none() || !known(server) {
            let servers = server_names(registry, known);
            return MetaOutcome::Error(format!("There is no server {}. Servers: {servers}.", shown(server)));
        }
        if self == Self::List {
            return MetaOutcome::Text(tools(registry, server));
        }
        let Some(tool) = text("tool") else { return missing("tool", registry, known) };
        let Some(offered) = registry.find(server, &tool) else {
            let tools = names(of(registry, server).map(|offered| &*offered.tool.tool));
            let (tool, server) = (shown(&tool), shown(server));
            return MetaOutcome::Error(format!("Server {server} has no tool {tool}. Tools: {tools}."));
        };
        if self == Self::Inspect {
            return MetaOutcome::Text(inspected(offered));
        }
        match arguments
            .and_then(|all| Some((all, all.view().get("arguments").filter(|value| !value.is_null())?)))
        {
            None => MetaOutcome::Call { offered, arguments: None },
            Some((all, value)) if value.kind() == Kind::Object => {
                MetaOutcome::Call { offered, arguments: all.slice_of(value) }
            }
            Some((_, value)) => MetaOutcome::Error(format!("arguments is {}, not an object.", value.kind())),
        }
    }
}

/// One line for a model's instructions, if there is a server at all.
#[must_use]
pub fn meta_tools_hint(registry: &Registry) -> Option<String> {
    (registry.servers().len() > 0).then(|| {
        let servers = server_names(registry, &|_| true);
        format!(
            "MCP servers: {servers}. mcp_list names a server's tools, mcp_inspect shows one tool's schema, mcp_call \
             calls it. Never guess a server or tool name: list first."
        )
    })
}

fn of<'a>(registry: &'a Registry, server: &str) -> impl Iterator<Item = &'a Offered> {
    registry.offered().map(|(_, offered)| offered).filter(move |offered| &*offered.tool.server == server)
}

fn more<'a>(arguments: Option<&RawJson>) -> MetaOutcome<'a> {
    let member = |name| arguments.and_then(|all| all.view().get(name)).filter(|value| !value.is_null());
    let Some(handle) = member("handle").and_then(JsonRef::as_u64) else {
        return MetaOutcome::Error("handle is missing: give the one that came with the cut result.".into());
    };
    let offset = member("offset").map(|offset| offset.as_u64().and_then(|at| usize::try_from(at).ok()));
    if offset == Some(None) {
        return MetaOutcome::Error("offset is not a number of bytes.".into());
    }
    MetaOutcome::More { handle: PageHandle::from_u64(handle), offset: offset.flatten() }
}

fn server_names(registry: &Registry, known: &dyn Fn(&str) -> bool) -> String {
    names(registry.servers().map(|(server, _)| &**server).filter(|server| known(server)))
}

fn missing<'a>(member: &str, registry: &Registry, known: &dyn Fn(&str) -> bool) -> MetaOutcome<'a> {
    let servers = server_names(registry, known);
    MetaOutcome::Error(format!("{member} is missing: give it as a string. Servers: {servers}."))
}

fn shown(name: &str) -> String {
    Mask::default().line_within(name, MAX_NAME)
}

/// The names in a row, as many as there is room for.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<_> = all.collect();
    let mut named: Vec<_> = all.iter().take(MAX_NAMES).map(|name| shown(name)).collect();
    match all.len().saturating_sub(MAX_NAMES) {
        0 if named.is_empty() => named.push("none".into()),
        0 => {}
        more => named.push(format!("and {more} more")),
    }
    named.join(", ")
}

fn servers(registry: &Registry, known: &dyn Fn(&str) -> bool) -> String {
    let lines = registry
        .servers()
        .filter(|(server, _)| known(server))
        .map(|(server, tools)| format!("{}: {} tools", shown(server), tools.count("registered")));
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() { "no servers".into() } else { lines.join("\n") }
}

fn tools(registry: &Registry, server: &str) -> String {
    let lines = of(registry, server).map(|offered| {
        let first = offered.definition.description.lines().next().unwrap_or_default();
        format!("{}: {}", shown(&offered.tool.tool), Mask::default().line_within(first, MAX_SUMMARY))
    });
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() { "no tools".into() } else { lines.join("\n") }
}

fn inspected(offered: &Offered) -> String {
    let definition = &offered.definition;
    let text = RawJson::object(|w| {
        w.string("name", &offered.tool.tool);
        if let Some(title) = &definition.title {
            w.string("title", title);
        }
        w.string("description", &definition.description);
        w.raw("inputSchema", definition.input_schema.view());
        if let Some(schema) = &definition.output_schema {
            w.raw("outputSchema", schema.view());
        }
    });
    text.as_str().into()
}

#[cfg(test)]
mod tests;
