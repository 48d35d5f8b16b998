//! `tools`: what there is to call.

use sanswire::client::Peer;
use sanswire::error::Violation;
use sanswire::host::catalog::ToolFilter;
use sanswire::host::policy::ServerMode;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::mcp::types::collection::Collection;
use sanswire::mcp::types::tool::Tool;

use super::introduction;
use super::many::{self, merged};
use crate::arguments::signature;
use crate::context::Context;
use crate::failure::Failure;
use crate::json::text;
use crate::options::Reach;
use crate::output::table::summary;
use crate::output::{document, escape};
use crate::session::Session;

/// What a server lists.
pub(super) struct Tools {
    pub(super) pages: Vec<RawJson>,
    /// All of them, those that the configuration leaves out too.
    pub(super) all: Collection<Tool>,
    filter: ToolFilter,
    /// Those that the link left out, by name, and why: they cannot be called over it.
    left_out: Vec<(String, String)>,
}

impl Tools {
    /// Asks a server for its tools.
    pub(super) fn of(session: &Session<'_>) -> Result<Self, Failure> {
        let listed = session.list("tools", "tools", Method::ToolsList)?;
        let all = Collection::read(&listed.pages);
        let left_out = session.client.violations().into_iter().filter_map(|violation| match violation {
            Violation::ToolLeftOut { tool, why } => Some((tool.into(), session.masked(&why.to_string()))),
            _ => None,
        });
        Ok(Self { pages: listed.pages, all, filter: session.filter.clone(), left_out: left_out.collect() })
    }

    /// Those that there are, for whoever uses this configuration.
    pub(super) fn items(&self) -> impl Iterator<Item = &Tool> {
        self.all.items().iter().filter(|tool| self.filter.admit(tool.name()).is_ok())
    }

    /// The tool of that name. One that is left out is not there.
    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        self.all.find(name).filter(|tool| self.filter.admit(tool.name()).is_ok())
    }

    /// Those that the server lists and that cannot be called, with the reason; the configuration's own choice aside.
    pub(super) fn left_out(&self) -> impl Iterator<Item = (&str, &str)> {
        let admitted = self.left_out.iter().filter(|(name, _)| self.filter.admit(name).is_ok());
        admitted.map(|(name, why)| (name.as_str(), why.as_str()))
    }

    /// As they were sent, under one name.
    fn merged(&self) -> RawJson {
        merged(&self.pages, "tools", |tool| {
            text(tool, "name").is_none_or(|name| self.filter.admit(&name).is_ok())
        })
    }

    /// Says which ones cannot be used, and why.
    pub(super) fn warn(&self, context: &Context, server: &str) {
        for warning in self.all.warnings() {
            context.warn(&format!("{server}: {}", warning.what));
        }
        for aside in self.all.set_aside_items() {
            context.warn(&format!("{server}: {}", aside.what));
        }
        for (name, why) in self.left_out() {
            context.warn(&format!("{server}: the tool {name:?} cannot be called: {why}"));
        }
        let names = self.all.items().iter().map(Tool::name);
        for warning in self.filter.apply(ServerMode::Ask, names).warnings {
            context.warn(&format!("{server}: {warning}"));
        }
    }
}

struct Listed {
    peer: Peer,
    tools: Tools,
}

/// Lists the tools of one server or several.
pub(super) fn run(context: &Context, names: &[String], reach: &Reach) -> Result<u8, Failure> {
    let answers = many::ask(context, names, reach, |session| {
        Ok(Listed { peer: session.client.peer().clone(), tools: Tools::of(session)? })
    })?;
    if context.common.json {
        answers.print_json(|listed| listed.tools.merged())?;
        return Ok(answers.finish(context));
    }
    let mut text = String::new();
    for (name, listed) in &answers.of {
        if !text.is_empty() {
            text.push('\n');
        }
        let bold = console::style(escape::line(name)).bold();
        text.push_str(&format!("{bold} ({})\n", introduction(&listed.peer)));
        for tool in listed.tools.items() {
            text.push_str(&entry(tool));
        }
        if listed.tools.items().next().is_none() {
            text.push_str("  no tools\n");
        }
    }
    document(&text)?;
    for (name, listed) in &answers.of {
        listed.tools.warn(context, name);
    }
    Ok(answers.finish(context))
}

fn entry(tool: &Tool) -> String {
    let signature = signature(tool.input_schema());
    let bold = console::style(escape::line(tool.name())).bold();
    let mut text = format!("  {bold}({})\n", escape::line(&signature));
    let described = tool.description().unwrap_or_default();
    let described = if described.trim().is_empty() { tool.display_title() } else { described };
    let summary = summary(&described, 100);
    if !summary.is_empty() && summary != tool.name() {
        text.push_str(&format!("      {}\n", escape::line(&summary)));
    }
    text
}
