//! A server's listing, judged tool by tool.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::filter::{FilterWarning, ToolFilter};
use super::names;
use super::outcome::{SkipReason, ToolOutcome};
use super::schema_cap::{Definition, DefinitionLimits};
use crate::host::Mask;
use crate::host::policy::ServerMode;
use crate::jsonrpc::RawJson;
use crate::mcp::types::flaw::cut;
use crate::mcp::types::page::{MAX_SET_ASIDE_NAME, Page, PageWarning, SetAsideReason};
use crate::mcp::types::tool::Tool;

/// What to do with a server's listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListingSettings {
    /// What is to happen with the server's calls; with [`ServerMode::Deny`] no tool is offered.
    pub mode: ServerMode,
    /// Which tools are let in.
    pub filter: ToolFilter,
    /// Bounds of what is offered of each.
    pub limits: DefinitionLimits,
}

/// One tool of a listing and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedTool {
    /// Its name, cut to 256 bytes; untrusted text. Empty if it has none.
    pub name: String,
    /// What became of it.
    pub outcome: ToolOutcome,
    /// What is offered of it, if it can be offered.
    pub definition: Option<Arc<Definition>>,
}

/// A server's listing, judged: every tool that the server lists, in its order, with what became of it.
///
/// The same settings and the same listing give the same. Holds no part of the listing itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerTools {
    /// The tools.
    pub tools: Vec<ListedTool>,
    /// Tools behind the [`max_tools`](DefinitionLimits::max_tools)th, and such as could not even be named one by one.
    pub left_out: usize,
    /// Entries of the filter that named nothing.
    pub warnings: Vec<FilterWarning>,
    /// What is wrong with the pages themselves, each once.
    pub page_warnings: Vec<PageWarning>,
}

/// An element of a page: one that can be read, or why not.
enum Element {
    Tool(Tool),
    SetAside(String, SetAsideReason),
}

impl ServerTools {
    /// Judges the results of `tools/list`, all pages in order.
    ///
    /// A tool is denied with its server; else skipped if it was set aside, repeats a name or has one that cannot be
    /// called; else filtered; else skipped if too much is to be said of it; else it is offered, for as long as no other
    /// server's tool takes its exposed name ([`Registry`](super::Registry)). No tool takes anything from the others.
    ///
    /// O(bytes of the pages).
    #[must_use]
    pub fn read(server: &str, settings: &ListingSettings, mask: &Mask, pages: &[RawJson]) -> Self {
        let mut read = Self::default();
        let mut elements = Vec::new();
        for page in pages {
            let page = Page::<Tool>::read(page);
            read.left_out += page.set_aside_total.saturating_sub(page.set_aside.len());
            for warning in &page.warnings {
                if !read.page_warnings.contains(warning) {
                    read.page_warnings.push(*warning);
                }
            }
            elements.extend(in_order(page));
        }
        let max = settings.limits.max_tools;
        read.left_out += elements.len().saturating_sub(max);
        elements.truncate(max);

        let filtered = settings.filter.apply(settings.mode, elements.iter().map(Element::name));
        let mut known = BTreeSet::new();
        let judged = elements.iter().zip(filtered.outcomes).map(|(element, outcome)| {
            let found = match (outcome, element) {
                (ToolOutcome::Registered | ToolOutcome::Filtered(_), Element::SetAside(_, reason)) => {
                    Err(ToolOutcome::Skipped(SkipReason::SetAside(reason.clone())))
                }
                (outcome @ (ToolOutcome::Registered | ToolOutcome::Filtered(_)), Element::Tool(tool)) => {
                    let fresh = known.insert(tool.name());
                    let named =
                        if fresh { names::check(tool.name()) } else { Err(names::NameFault::Duplicate) };
                    match (named, outcome) {
                        (Err(fault), _) => Err(ToolOutcome::Skipped(SkipReason::Name(fault))),
                        (Ok(()), ToolOutcome::Registered) => {
                            Definition::of(server, tool, &settings.limits, mask).map_err(ToolOutcome::Skipped)
                        }
                        (Ok(()), outcome) => Err(outcome),
                    }
                }
                (outcome, _) => Err(outcome),
            };
            let name = cut(element.name(), MAX_SET_ASIDE_NAME).into();
            match found {
                Ok(definition) => {
                    let definition = Some(Arc::new(definition));
                    ListedTool { name, outcome: ToolOutcome::Registered, definition }
                }
                Err(outcome) => ListedTool { name, outcome, definition: None },
            }
        });
        read.tools = judged.collect();
        read.warnings = filtered.warnings;
        read
    }

    /// How many tools have this outcome, by its name: see [`ToolOutcome::as_str`].
    #[must_use]
    pub fn count(&self, outcome: &str) -> usize {
        self.tools.iter().filter(|tool| tool.outcome.as_str() == outcome).count()
    }
}

impl Element {
    fn name(&self) -> &str {
        match self {
            Self::Tool(tool) => tool.name(),
            Self::SetAside(name, _) => name,
        }
    }
}

/// The elements of a page in the order they were sent.
fn in_order(page: Page<Tool>) -> Vec<Element> {
    let mut tools = page.items.into_iter().map(Element::Tool);
    let mut all = Vec::with_capacity(tools.len() + page.set_aside.len());
    for aside in page.set_aside {
        let before = aside.index.saturating_sub(all.len());
        all.extend(tools.by_ref().take(before));
        all.push(Element::SetAside(aside.name.unwrap_or_default(), aside.reason));
    }
    all.extend(tools);
    all
}

#[cfg(test)]
mod tests;
