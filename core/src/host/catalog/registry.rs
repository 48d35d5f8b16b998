//! What all servers together offer.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::listing::ServerTools;
use super::names::{Names, check};
use super::naming::Naming;
use super::outcome::{SkipReason, ToolOutcome};
use super::schema_cap::Definition;
use crate::host::Provenance;

/// What all servers together offer: a table of exposed names, made anew whenever a server's listing comes or goes.
///
/// Depends on the listings only, never on the order they came in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registry {
    naming: Naming,
    servers: BTreeMap<Arc<str>, Arc<ServerTools>>,
    offered: BTreeMap<Arc<str>, Offered>,
    /// How many tools got no name.
    nameless: usize,
}

/// One tool that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Which tool of which server it is.
    pub tool: Provenance,
    /// What is offered of it.
    pub definition: Arc<Definition>,
}

/// What a change of one server's listing did to what is offered: exposed names, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// New ones.
    pub added: Vec<Arc<str>>,
    /// Those that are gone.
    pub removed: Vec<Arc<str>>,
    /// Those that stand for another tool now, or for one that is defined otherwise: what was allowed of them was
    /// allowed of something else.
    pub changed: Vec<Arc<str>>,
}

impl Change {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    fn between(before: &BTreeMap<Arc<str>, Offered>, now: &BTreeMap<Arc<str>, Offered>) -> Self {
        let differs = |one: &Offered, other: &Offered| {
            one.tool != other.tool || one.definition.hash != other.definition.hash
        };
        let mut change = Self::default();
        for (name, now) in now {
            match before.get(name) {
                None => change.added.push(name.clone()),
                Some(then) if differs(then, now) => change.changed.push(name.clone()),
                Some(_) => {}
            }
        }
        change.removed = before.keys().filter(|name| !now.contains_key(*name)).cloned().collect();
        change
    }
}

impl Registry {
    /// An empty one that names tools so.
    #[must_use]
    pub fn new(naming: Naming) -> Self {
        Self { naming, ..Self::default() }
    }

    /// Takes a server's listing in the place of the one before it. O(its tools), if no two tools come to one name, and
    /// O(tools of all servers) otherwise or if there was one before.
    pub fn set(&mut self, server: &str, tools: impl Into<Arc<ServerTools>>) -> Change {
        let (server, tools): (Arc<str>, _) = (server.into(), tools.into());
        let names = self.names_without_fault(&server, &tools);
        let known = self.servers.insert(server.clone(), tools).is_some();
        let Some(names) = names else { return self.rebuild() };
        let before = if known { self.take_offered(&server) } else { BTreeMap::new() };
        let change = Change::between(&before, &names);
        self.offered.extend(names);
        change
    }

    /// What [`set`](Self::set) would change. O(tools of all servers).
    #[must_use]
    pub fn change_of(&self, server: &str, tools: impl Into<Arc<ServerTools>>) -> Change {
        self.clone().set(server, tools)
    }

    /// Forgets a server.
    pub fn remove(&mut self, server: &str) -> Change {
        if self.servers.remove(server).is_none() {
            return Change::default();
        }
        if self.nameless > 0 {
            return self.rebuild();
        }
        Change::between(&self.take_offered(server), &BTreeMap::new())
    }

    /// The tool that an exposed name stands for.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<&Offered> {
        self.offered.get(name)
    }

    /// The same, with its exposed name as it is held here.
    #[must_use]
    pub fn resolve_named(&self, name: &str) -> Option<(&Arc<str>, &Offered)> {
        self.offered.get_key_value(name)
    }

    /// The tool that a server calls so, if it is offered.
    #[must_use]
    pub fn find(&self, server: &str, tool: &str) -> Option<&Offered> {
        self.find_named(server, tool).map(|(_, offered)| offered)
    }

    /// The same, with its exposed name.
    #[must_use]
    pub fn find_named(&self, server: &str, tool: &str) -> Option<(&Arc<str>, &Offered)> {
        let name = self.naming.name(server, tool.trim());
        let found = self.offered.get_key_value(name.as_str());
        found.filter(|(_, offered)| *offered.tool.server == *server && *offered.tool.tool == *tool)
    }

    /// All that is offered, sorted by exposed name.
    pub fn offered(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Offered)> {
        self.offered.iter()
    }

    /// The servers, sorted by name, each with all tools it lists and what became of them.
    pub fn servers(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &ServerTools)> {
        self.servers.iter().map(|(server, tools)| (server, &**tools))
    }

    /// One server's.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&Arc<ServerTools>> {
        self.servers.get(name)
    }

    /// Gives names out anew. A tool that lost its name to another gets it back once that is gone.
    fn rebuild(&mut self) -> Change {
        let mut offered = BTreeMap::new();
        let definitions = |tools: &ServerTools| -> Vec<Arc<Definition>> {
            tools.tools.iter().filter_map(|tool| tool.definition.clone()).collect()
        };
        let all: Vec<_> =
            self.servers.iter().map(|(server, tools)| (&**server, definitions(tools))).collect();
        let asked = all.iter().map(|(server, tools)| (*server, tools.iter().map(|found| &*found.tool)));
        let (names, refused) = Names::assign(self.naming, asked);
        for (server, tools) in &all {
            for definition in tools {
                if let Some(name) = names.name_of(server, &definition.tool) {
                    let tool = Provenance::new(*server, definition.tool.clone());
                    offered.insert(name.clone(), Offered { tool, definition: definition.clone() });
                }
            }
        }
        self.nameless = refused.len();
        let mut refused = refused.into_iter().peekable();
        for (server, tools) in &mut self.servers {
            let candidates = tools.tools.iter().enumerate().filter(|(_, tool)| tool.definition.is_some());
            let mut other = Vec::new();
            for (index, (place, tool)) in candidates.enumerate() {
                let lost = refused.next_if(|refused| refused.server == *server && refused.index == index);
                let outcome = lost.map_or(ToolOutcome::Registered, |refused| {
                    ToolOutcome::Skipped(SkipReason::Name(refused.fault))
                });
                if tool.outcome != outcome {
                    other.push((place, outcome));
                }
            }
            // Copied only where somebody holds it and it changes.
            for (place, outcome) in other {
                if let Some(tool) = Arc::make_mut(tools).tools.get_mut(place) {
                    tool.outcome = outcome;
                }
            }
        }
        let before = core::mem::replace(&mut self.offered, offered);
        Change::between(&before, &self.offered)
    }

    /// What a server's tools are offered as, if none of them, and none of any other server, is left without a name: then
    /// nobody else's names depend on it.
    fn names_without_fault(
        &self,
        server: &Arc<str>,
        tools: &ServerTools,
    ) -> Option<BTreeMap<Arc<str>, Offered>> {
        if self.nameless > 0 {
            return None;
        }
        let mut offered = BTreeMap::new();
        for tool in &tools.tools {
            let Some(definition) = &tool.definition else { continue };
            if tool.outcome != ToolOutcome::Registered || check(&definition.tool).is_err() {
                return None;
            }
            let name = self.naming.name(server, definition.tool.trim()).into_text();
            let others = self.offered.get(&name).is_some_and(|known| known.tool.server != *server);
            let tool = Provenance { server: server.clone(), tool: definition.tool.clone() };
            let twice = offered.insert(name, Offered { tool, definition: definition.clone() }).is_some();
            if others || twice {
                return None;
            }
        }
        Some(offered)
    }

    fn take_offered(&mut self, server: &str) -> BTreeMap<Arc<str>, Offered> {
        let of_server = self.offered.iter().filter(|(_, offered)| *offered.tool.server == *server);
        let names: Vec<_> = of_server.map(|(name, _)| name.clone()).collect();
        names.into_iter().filter_map(|name| self.offered.remove_entry(&name)).collect()
    }
}

#[cfg(test)]
mod tests;
