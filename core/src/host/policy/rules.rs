//! Rules about single tools: a table in which the last one that matches decides.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::host::Provenance;
use crate::host::pattern::{self, Form};
use crate::mcp::types::flaw::cut;

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleDecision {
    /// Calls pass, except while planning.
    Allow,
    /// Somebody is asked, whatever the server's mode and the tool's hints say.
    Ask,
    /// Nothing passes.
    Deny,
}

impl RuleDecision {
    /// The decision of that name: `allow`, `ask` or `deny`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|decision| decision.as_str() == name)
    }

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Which tools a rule is about. Both parts name what they name in [`Provenance`], never exposed names; `*` stands for
/// any run of characters, `?` for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleKey {
    /// The server.
    pub server: String,
    /// The tool, as its server calls it.
    pub tool: String,
}

impl RuleKey {
    /// Reads `SERVER/TOOL`; `None` if a part is missing. What stands behind the first slash is the tool's.
    #[must_use]
    pub fn read(key: &str) -> Option<Self> {
        let (server, tool) = key.split_once('/')?;
        let (server, tool) = (server.trim(), tool.trim());
        (!server.is_empty() && !tool.is_empty()).then(|| Self { server: server.into(), tool: tool.into() })
    }

    /// Whether it is about this tool.
    #[must_use]
    pub fn matches(&self, tool: &Provenance) -> bool {
        pattern::matches(&self.server, &tool.server) && pattern::matches(&self.tool, tool.tool.trim())
    }
}

impl fmt::Display for RuleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.tool)
    }
}

/// The table. What matches nothing in it is for the server's mode to decide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallRules {
    rules: Vec<(RuleKey, RuleDecision)>,
    /// What the two parts of each key are like.
    forms: Vec<(Form, Form)>,
    /// Places of the rules about one server, by its name, and of those about several.
    named: BTreeMap<String, Vec<usize>>,
    open: Vec<usize>,
}

/// An entry that is no rule, and was left out: what it is about stays as without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedRule {
    /// Its place, from 0.
    pub index: usize,
    /// Its key, cut to 256 bytes.
    pub key: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for DroppedRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {} ({:?}) has no effect: {}", self.index, self.key, self.why)
    }
}

impl CallRules {
    /// A table of these rules, in order.
    pub fn of(rules: impl IntoIterator<Item = (RuleKey, RuleDecision)>) -> Self {
        let rules: Vec<_> = rules.into_iter().collect();
        let forms = rules.iter().map(|(key, _)| (Form::of(&key.server), Form::of(&key.tool)));
        let mut all = Self { forms: forms.collect(), ..Self::default() };
        for (place, ((key, _), (server, _))) in rules.iter().zip(&all.forms).enumerate() {
            match server {
                Form::Name => all.named.entry(key.server.clone()).or_default().push(place),
                Form::Any | Form::Beginning | Form::Other => all.open.push(place),
            }
        }
        Self { rules, ..all }
    }

    /// Reads entries `(SERVER/TOOL, DECISION)` in order. An entry that cannot be read never lets anything through: it
    /// is left out and told.
    pub fn read<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> (Self, Vec<DroppedRule>) {
        let (mut rules, mut dropped) = (Vec::new(), Vec::new());
        for (index, (key, decision)) in entries.into_iter().enumerate() {
            let why = match (RuleKey::read(key), RuleDecision::named(decision)) {
                (Some(key), Some(decision)) => {
                    rules.push((key, decision));
                    continue;
                }
                (None, _) => "its key is not SERVER/TOOL",
                (_, None) => "its decision is none of allow, ask and deny",
            };
            dropped.push(DroppedRule { index, key: cut(key, 256).into(), why });
        }
        (Self::of(rules), dropped)
    }

    /// These rules as defaults under `configured`: a configured entry takes the place of all defaults with its very
    /// key, and stands behind the others.
    #[must_use]
    pub fn under(self, configured: Self) -> Self {
        let replaced = |key: &RuleKey| configured.rules.iter().any(|(other, _)| other == key);
        let mut rules: Vec<_> = self.rules.into_iter().filter(|(key, _)| !replaced(key)).collect();
        rules.extend(configured.rules);
        Self::of(rules)
    }

    /// The last rule about this tool, and its place. O(rules about its server, and about several).
    #[must_use]
    pub fn find(&self, tool: &Provenance) -> Option<(usize, RuleDecision)> {
        let name = tool.tool.trim();
        let (mut named, mut open) =
            (self.named.get(&*tool.server).map_or(&[][..], Vec::as_slice), &*self.open);
        loop {
            let place = match (named.split_last(), open.split_last()) {
                (Some((one, rest)), other) if other.is_none_or(|(other, _)| one > other) => {
                    named = rest;
                    *one
                }
                (_, Some((other, rest))) => {
                    open = rest;
                    *other
                }
                (_, None) => return None,
            };
            let ((key, decision), (server, form)) = (self.rules.get(place)?, self.forms.get(place)?);
            if form.matches(&key.tool, name) && server.matches(&key.server, &tool.server) {
                return Some((place, *decision));
            }
        }
    }

    /// The rules, in order.
    #[must_use]
    pub fn rules(&self) -> &[(RuleKey, RuleDecision)] {
        &self.rules
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;

    fn tool(server: &str, tool: &str) -> Provenance {
        Provenance { server: server.into(), tool: tool.into() }
    }

    fn found(rules: &CallRules, server: &str, name: &str) -> Option<&'static str> {
        rules.find(&tool(server, name)).map(|(_, decision)| decision.as_str())
    }

    #[test]
    fn the_last_rule_that_matches_decides() {
        // H-044, H-046
        let entries = [
            ("*/*", "ask"),
            ("fs/*", "allow"),
            ("fs/delete_*", "deny"),
            ("fs/delete_tmp", "allow"),
            ("g?t/push", "deny"),
        ];
        let (rules, dropped) = CallRules::read(entries);
        assert_eq!(dropped, []);
        let table = [
            ("fs", "read", Some("allow")),
            ("fs", "delete_all", Some("deny")),
            ("fs", "delete_tmp", Some("allow")),
            ("fs", "a/b", Some("allow")),
            ("git", "push", Some("deny")),
            ("git", "pull", Some("ask")),
            ("FS", "read", Some("ask")),
        ];
        for (server, name, expected) in table {
            assert_eq!(found(&rules, server, name), expected, "{server}/{name}");
        }
        assert_eq!(rules.find(&tool("fs", "delete_tmp")), Some((3, RuleDecision::Allow)));
        assert_eq!(found(&CallRules::default(), "fs", "read"), None);
        let (rules, _) = CallRules::read([("fs/read", "deny"), ("fs/*", "allow")]);
        assert_eq!(found(&rules, "fs", "read"), Some("allow"), "not the most exact one");
        assert_eq!(found(&rules, "fs", "read "), Some("allow"));
        let (rules, _) = CallRules::read([("fs/read", "deny")]);
        assert_eq!(found(&rules, "fs", " read"), Some("deny"), "white space is no way past a rule");
    }

    proptest! {
        #[test]
        fn what_is_found_is_the_last_that_matches(
            keys in prop::collection::vec("[ab*?]{1,2}/[ab*?]{1,3}", 0..12), server in "[ab]{1,2}", name in "[ab ]{1,3}",
        ) {
            // H-044
            let rules = keys.iter().map(|key| (RuleKey::read(key).unwrap(), RuleDecision::Ask));
            let (rules, tool) = (CallRules::of(rules), tool(&server, &name));
            let expected = rules.rules().iter().rposition(|(key, _)| key.matches(&tool));
            prop_assert_eq!(rules.find(&tool).map(|(place, _)| place), expected);
        }
    }

    #[test]
    fn an_entry_that_cannot_be_read_lets_nothing_through() {
        // H-046
        let entries =
            [("fs/read", "allow"), ("fs/read", "Allow"), ("fs", "allow"), ("/x", "allow"), ("fs/", "deny")];
        let (rules, dropped) = CallRules::read(entries);
        assert_eq!(rules.rules().len(), 1);
        let told: Vec<_> = dropped.iter().map(|dropped| (dropped.index, dropped.key.as_str())).collect();
        assert_eq!(told, [(1, "fs/read"), (2, "fs"), (3, "/x"), (4, "fs/")]);
        assert!(dropped[0].to_string().contains("allow, ask and deny"), "{}", dropped[0]);
        assert!(dropped[1].to_string().contains("SERVER/TOOL"), "{}", dropped[1]);
    }

    #[test]
    fn a_configured_entry_takes_the_place_of_a_default_with_its_key() {
        // H-047
        let (defaults, _) = CallRules::read([("fs/*", "deny"), ("git/*", "deny"), ("fs/*", "ask")]);
        let (configured, _) = CallRules::read([("fs/*", "allow"), ("fs/rm", "deny")]);
        let rules = defaults.under(configured);
        let all: Vec<_> = rules.rules().iter().map(|(key, decision)| (key.to_string(), *decision)).collect();
        let (allow, deny) = (RuleDecision::Allow, RuleDecision::Deny);
        assert_eq!(all, [("git/*".into(), deny), ("fs/*".into(), allow), ("fs/rm".into(), deny)]);
    }
}
