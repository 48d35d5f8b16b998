//! Three tools in the place of many: what a model is told of in lazy mode.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::registry::{Offered, Registry};
use crate::host::Mask;
use crate::jsonrpc::{JsonRef, JsonStr, Kind, RawJson};

/// The most characters of a description that a list shows.
const MAX_SUMMARY: usize = 120;

/// The most characters of a name that is repeated to whoever asked for it.
const MAX_NAME: usize = 128;

/// The most names that are offered for one that is unknown.
const MAX_NAMES: usize = 200;

/// A tool that tells of other tools, or calls one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaTool {
    /// `mcp_list`: the servers, or the tools of one.
    List,
    /// `mcp_inspect`: one tool, with its schema.
    Inspect,
    /// `mcp_call`: calls one tool.
    Call,
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
}

impl MetaTool {
    /// All of them, in the order they are listed in.
    pub const ALL: [Self; 3] = [Self::List, Self::Inspect, Self::Call];

    /// Its name. No exposed name of a server's tool is like it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::List => "mcp_list",
            Self::Inspect => "mcp_inspect",
            Self::Call => "mcp_call",
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
        let servers = names(registry.servers().map(|(server, _)| &**server));
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
        };
        RawJson::object(|w| {
            w.string("name", self.as_str());
            w.string("description", &format!("{what} Servers: {servers}."));
            w.object("inputSchema", |w| {
                w.string("type", "object");
                w.object("properties", |w| {
                    for member in members {
                        let kind = if *member == "arguments" { "object" } else { "string" };
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
        let text =
            |name| arguments.and_then(|all| all.view().get(name)).and_then(JsonRef::str).map(JsonStr::decode);
        let Some(server) = text("server") else {
            return if self == Self::List {
                MetaOutcome::Text(servers(registry))
            } else {
                missing("server", registry)
            };
        };
        let server = server.trim();
        if registry.server(server).is_none() {
            let servers = names(registry.servers().map(|(server, _)| &**server));
            return MetaOutcome::Error(format!("There is no server {}. Servers: {servers}.", shown(server)));
        }
        if self == Self::List {
            return MetaOutcome::Text(tools(registry, server));
        }
        let Some(tool) = text("tool") else { return missing("tool", registry) };
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
        let servers = names(registry.servers().map(|(server, _)| &**server));
        format!(
            "MCP servers: {servers}. mcp_list names a server's tools, mcp_inspect shows one tool's schema, mcp_call \
             calls it. Never guess a server or tool name: list first."
        )
    })
}

fn of<'a>(registry: &'a Registry, server: &str) -> impl Iterator<Item = &'a Offered> {
    registry.offered().map(|(_, offered)| offered).filter(move |offered| &*offered.tool.server == server)
}

fn missing<'a>(member: &str, registry: &Registry) -> MetaOutcome<'a> {
    let servers = names(registry.servers().map(|(server, _)| &**server));
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

fn servers(registry: &Registry) -> String {
    let lines = registry
        .servers()
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
mod tests {
    use alloc::string::ToString;
    use alloc::vec;

    use super::*;
    use crate::host::Provenance;
    use crate::host::catalog::{ListingSettings, ServerTools, ToolFilter};
    use crate::mcp::types::tool::tools as listed;

    fn registry() -> Registry {
        let mut registry = Registry::default();
        let filter = ToolFilter { blocked_tools: vec!["hidden".into()], ..ToolFilter::default() };
        let settings = ListingSettings { filter, ..ListingSettings::default() };
        for (server, tools) in [
            (
                "fs",
                r#"{"name":"read.file","description":"Reads.\nMore.","inputSchema":{"type":"object","a":1.0}},{"name":"hidden"}"#,
            ),
            ("empty", ""),
        ] {
            let page = RawJson::parse_str(&format!(r#"{{"tools":[{tools}]}}"#)).unwrap();
            registry.set(server, ServerTools::read(server, &settings, &Mask::default(), &[page]));
        }
        registry
    }

    fn run<'a>(registry: &'a Registry, name: &str, arguments: &str) -> MetaOutcome<'a> {
        let arguments = RawJson::parse_str(arguments).expect(arguments);
        MetaTool::named(name).expect(name).run(registry, Some(&arguments))
    }

    #[test]
    fn three_tools_stand_for_all_and_name_the_servers() {
        // H-140, H-141, H-144
        let registry = registry();
        let definitions: Vec<_> =
            MetaTool::ALL.iter().map(|tool| tool.definition(&registry).as_str().to_string()).collect();
        let page = RawJson::parse_str(&format!(r#"{{"tools":[{}]}}"#, definitions.join(","))).unwrap();
        let page = listed(&page);
        let names: Vec<_> = page.items.iter().map(|tool| tool.name()).collect();
        assert_eq!(names, ["mcp_list", "mcp_inspect", "mcp_call"]);
        for tool in &page.items {
            assert_eq!(tool.notes(), [], "{}", tool.name());
            assert!(tool.description().unwrap().ends_with("Servers: empty, fs."), "{}", tool.name());
            let required = tool.input_schema().unwrap().get("required").unwrap().as_bytes();
            let expected: &[u8] = if tool.name() == "mcp_list" { b"[]" } else { br#"["server","tool"]"# };
            assert_eq!(required, expected, "{}", tool.name());
        }
        let hint = meta_tools_hint(&registry).unwrap();
        assert!(hint.contains("empty, fs") && hint.contains("list first"), "{hint}");
        assert_eq!(meta_tools_hint(&Registry::default()), None);
        assert_eq!(MetaTool::named("mcp__fs__read_file"), None);
    }

    #[test]
    fn tools_are_listed_and_inspected_by_their_own_names() {
        // H-141
        let registry = registry();
        let table = [
            ("mcp_list", "{}", "empty: 0 tools\nfs: 1 tools"),
            ("mcp_list", r#"{"server":"fs"}"#, "read.file: Reads."),
            ("mcp_list", r#"{"server":"empty"}"#, "no tools"),
            (
                "mcp_inspect",
                r#"{"server":"fs","tool":"read.file"}"#,
                r#"{"name":"read.file","description":"Reads.\nMore.","inputSchema":{"type":"object","a":1.0}}"#,
            ),
        ];
        for (name, arguments, expected) in table {
            assert_eq!(
                run(&registry, name, arguments),
                MetaOutcome::Text(expected.into()),
                "{name} {arguments}"
            );
        }
        let nobody = Registry::default();
        assert_eq!(MetaTool::List.run(&nobody, None), MetaOutcome::Text("no servers".into()));
    }

    #[test]
    fn a_call_leads_to_the_tool_itself_with_its_arguments_as_written() {
        // H-042, H-043
        let registry = registry();
        let call =
            run(&registry, "mcp_call", r#"{"tool":"read.file","server":"fs","arguments":{ "n" : 1.0 }}"#);
        let MetaOutcome::Call { offered, arguments } = call else { panic!("{call:?}") };
        assert_eq!(offered.tool, Provenance::new("fs", "read.file"));
        assert_eq!(arguments.as_ref().map(RawJson::as_str), Some(r#"{ "n" : 1.0 }"#));
        for none in ["", r#","arguments":null"#] {
            let call = run(&registry, "mcp_call", &format!(r#"{{"tool":"read.file","server":"fs"{none}}}"#));
            assert!(matches!(call, MetaOutcome::Call { arguments: None, .. }), "{call:?}");
        }
    }

    #[test]
    fn what_is_not_offered_is_unknown_and_the_names_there_are_are_told() {
        // H-146
        let registry = registry();
        let unknown = |tool: &str| format!("Server fs has no tool {tool}. Tools: read.file.");
        let call = |tool: &str| format!(r#"{{"server":"fs","tool":"{tool}"}}"#);
        let mut table = vec![
            (
                r#"{"server":"gone","tool":"x"}"#.to_string(),
                "There is no server gone. Servers: empty, fs.".to_string(),
            ),
            (
                r#"{"tool":"read.file"}"#.into(),
                "server is missing: give it as a string. Servers: empty, fs.".into(),
            ),
            (r#"{"server":"fs"}"#.into(), "tool is missing: give it as a string. Servers: empty, fs.".into()),
            (r#"{"server":"empty","tool":"x"}"#.into(), "Server empty has no tool x. Tools: none.".into()),
            (
                r#"{"server":"a\n\u202eb","tool":"x"}"#.into(),
                "There is no server a\\n\\u{202e}b. Servers: empty, fs.".into(),
            ),
            ("[]".into(), "server is missing: give it as a string. Servers: empty, fs.".into()),
        ];
        for tool in ["hidden", "Hidden", "Read.File", "mcp__fs__hidden", "nothing", "read_file", "read.file "]
        {
            table.push((call(tool), unknown(tool)));
        }
        for (arguments, expected) in table {
            for name in ["mcp_inspect", "mcp_call"] {
                assert_eq!(
                    run(&registry, name, &arguments),
                    MetaOutcome::Error(expected.clone()),
                    "{arguments}"
                );
            }
        }
        let wrong = run(&registry, "mcp_call", r#"{"server":"fs","tool":"read.file","arguments":"{}"}"#);
        assert_eq!(wrong, MetaOutcome::Error("arguments is a string, not an object.".into()));
        let many: Vec<_> = (0..201).map(|n| n.to_string()).collect();
        assert!(names(many.iter().map(String::as_str)).ends_with("199, and 1 more"));
    }
}
