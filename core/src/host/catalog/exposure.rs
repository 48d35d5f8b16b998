//! How much of what is offered a model is told, and which helpers may use it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::registry::{Offered, Registry};

/// How tools are told to a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExposureMode {
    /// Every tool with its schema: pays for a tool or two.
    Eager,
    /// Only the tools that list, inspect and call the others: pays for many.
    Lazy,
    /// Eager, as long as that stays within [`Exposure::eager_bytes`]. The default.
    #[default]
    Auto,
}

impl ExposureMode {
    /// The mode of that name: `eager`, `lazy` or `auto`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Eager, Self::Lazy, Self::Auto].into_iter().find(|mode| mode.as_str() == name)
    }

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eager => "eager",
            Self::Lazy => "lazy",
            Self::Auto => "auto",
        }
    }
}

/// How tools are told to a model, for all servers alike.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exposure {
    /// The mode.
    pub mode: ExposureMode,
    /// The most bytes of names, titles, descriptions and input schemas that [`ExposureMode::Auto`] tells eagerly.
    /// Default: 16 KiB.
    pub eager_bytes: usize,
}

impl Default for Exposure {
    fn default() -> Self {
        Self { mode: ExposureMode::default(), eager_bytes: 16 * 1024 }
    }
}

/// How the tools of a registry are told, and what that costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exposed {
    /// Whether only the tools that list, inspect and call the others are told.
    pub lazy: bool,
    /// How many tools there are.
    pub registered: usize,
    /// How many of them are told one by one: all, or none. None is ever withheld for another's sake.
    pub told: usize,
    /// What telling all of them takes, in bytes of names, titles, descriptions and input schemas.
    pub bytes: usize,
}

impl Exposure {
    /// How the tools of `registry` are told. O(tools).
    #[must_use]
    pub fn of(&self, registry: &Registry) -> Exposed {
        let bytes = registry.offered().map(|(name, offered)| size(name, offered)).sum();
        let lazy = match self.mode {
            ExposureMode::Eager => false,
            ExposureMode::Lazy => true,
            ExposureMode::Auto => bytes > self.eager_bytes,
        };
        let registered = registry.offered().len();
        Exposed { lazy, registered, told: if lazy { 0 } else { registered }, bytes }
    }
}

fn size(name: &str, offered: &Offered) -> usize {
    let definition = &offered.definition;
    let title = definition.title.as_ref().map_or(0, String::len);
    name.len() + title + definition.description.len() + definition.input_schema.len()
}

/// Which kinds of helper may use which server's tools: their setting `sub_agents`, by server.
///
/// A server that is not there, or has none, is for none of them. What a helper calls still goes through the decision of
/// whoever it helps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubAgents {
    /// The kinds, by server.
    pub servers: BTreeMap<String, Vec<String>>,
}

impl SubAgents {
    /// The exposed names that each kind of helper may use, sorted; only what is offered, and no kind without a name.
    #[must_use]
    pub fn names(&self, registry: &Registry) -> BTreeMap<String, BTreeSet<Arc<str>>> {
        let mut all: BTreeMap<String, BTreeSet<Arc<str>>> = BTreeMap::new();
        for (name, offered) in registry.offered() {
            for kind in self.servers.get(&*offered.tool.server).into_iter().flatten() {
                all.entry(kind.clone()).or_default().insert(name.clone());
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec;

    use super::*;
    use crate::host::Mask;
    use crate::host::catalog::{ListingSettings, ServerTools, ToolFilter};
    use crate::jsonrpc::RawJson;

    fn registry(servers: &[(&str, &[&str])]) -> Registry {
        let mut registry = Registry::default();
        for (server, tools) in servers {
            let tools: Vec<_> =
                tools.iter().map(|tool| format!(r#"{{"name":"{tool}","description":"dddd"}}"#)).collect();
            let page = RawJson::parse_str(&format!(r#"{{"tools":[{}]}}"#, tools.join(","))).unwrap();
            let filter = ToolFilter { blocked_tools: vec!["blocked".into()], ..ToolFilter::default() };
            let settings = ListingSettings { filter, ..ListingSettings::default() };
            registry.set(server, ServerTools::read(server, &settings, &Mask::default(), &[page]));
        }
        registry
    }

    #[test]
    fn tools_are_told_one_by_one_until_that_costs_too_much() {
        // H-145
        let few = registry(&[("s", &["a", "b", "blocked"])]);
        // mcp__s__a, a description, and {"type":"object","properties":{}}
        let bytes = 2 * (9 + 4 + 33);
        let table = [
            (ExposureMode::Auto, bytes, false),
            (ExposureMode::Auto, bytes - 1, true),
            (ExposureMode::Eager, 0, false),
            (ExposureMode::Lazy, usize::MAX, true),
        ];
        for (mode, eager_bytes, lazy) in table {
            let exposed = Exposure { mode, eager_bytes }.of(&few);
            let told = if lazy { 0 } else { 2 };
            assert_eq!(exposed, Exposed { lazy, registered: 2, told, bytes }, "{mode:?} {eager_bytes}");
            assert_eq!(ExposureMode::named(mode.as_str()), Some(mode));
        }
        assert_eq!(Exposure::default(), Exposure { mode: ExposureMode::Auto, eager_bytes: 16_384 });
        assert!(!Exposure::default().of(&Registry::default()).lazy, "nothing costs nothing");
    }

    #[test]
    fn helpers_get_what_their_server_names_them_for_and_is_offered() {
        // H-135, H-136
        let registry = registry(&[
            ("one", &["b", "a", "blocked"]),
            ("two", &["c"]),
            ("three", &["d"]),
            ("four", &["blocked"]),
            ("five", &["e"]),
        ]);
        let kinds = |kinds: &[&str]| kinds.iter().map(ToString::to_string).collect::<Vec<_>>();
        let agents = SubAgents {
            servers: [
                ("one".to_string(), kinds(&["reviewer", "writer", "reviewer"])),
                ("two".to_string(), kinds(&["writer"])),
                ("three".to_string(), vec![]),
                ("four".to_string(), kinds(&["idler"])),
                ("gone".to_string(), kinds(&["idler"])),
            ]
            .into(),
        };
        let names = agents.names(&registry);
        let of = |kind: &str| names[kind].iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names.keys().collect::<Vec<_>>(), ["reviewer", "writer"]);
        assert_eq!(of("reviewer"), ["mcp__one__a", "mcp__one__b"]);
        assert_eq!(of("writer"), ["mcp__one__a", "mcp__one__b", "mcp__two__c"]);
        assert_eq!(SubAgents::default().names(&registry), BTreeMap::new());
    }
}
