//! Which of a server's tools are let in.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::outcome::{FilteredBy, ToolOutcome};
use crate::host::pattern;
use crate::host::policy::ServerMode;

/// Which of a server's tools are let in: those that the first list names, without those that the second names.
///
/// Both lists hold names as the server gives them, never exposed ones. `*` in an entry stands for any run of
/// characters and `?` for one; everything else, case too, is meant as it is written. White space around names does not
/// count, on either side. The default lets everything in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolFilter {
    /// What is let in. `None`: everything; an empty list: nothing.
    pub allowed_tools: Option<Vec<String>>,
    /// What is left out, also of what the other list names.
    pub blocked_tools: Vec<String>,
}

/// What a filter made of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filtered {
    /// One for each tool, in the order listed. [`ToolOutcome::Registered`] means that nothing here keeps it out.
    pub outcomes: Vec<ToolOutcome>,
    /// Entries that named nothing.
    pub warnings: Vec<FilterWarning>,
}

/// An entry of a list names no tool that the server lists: it may be mistyped, or the tool may be gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterWarning {
    /// Which list it stands in.
    pub list: FilterList,
    /// The entry, without white space around it.
    pub name: String,
}

/// One of the two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FilterList {
    /// [`ToolFilter::allowed_tools`]
    Allowed,
    /// [`ToolFilter::blocked_tools`]
    Blocked,
}

impl FilterList {
    /// The setting's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed_tools",
            Self::Blocked => "blocked_tools",
        }
    }
}

impl fmt::Display for FilterWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} names {:?}, which the server does not list", self.list.as_str(), self.name)
    }
}

impl ToolFilter {
    /// Goes through a listing, in its order.
    ///
    /// With [`ServerMode::Deny`] every tool is denied, and the lists are not looked at. Entries that name nothing are
    /// told once each, in order, those of `allowed_tools` first. O(n log n), and n for each entry with a `*` or `?`.
    #[must_use]
    pub fn apply<'a>(&self, mode: ServerMode, advertised: impl IntoIterator<Item = &'a str>) -> Filtered {
        let advertised = advertised.into_iter().map(str::trim);
        if mode == ServerMode::Deny {
            return Filtered {
                outcomes: advertised.map(|_| ToolOutcome::Denied).collect(),
                ..Filtered::default()
            };
        }
        let allowed = self.allowed_tools.as_deref().map(Entries::read);
        let blocked = Entries::read(&self.blocked_tools);
        let advertised: Vec<_> = advertised.collect();
        let outcomes = advertised.iter().map(|tool| match judge(allowed.as_ref(), &blocked, tool) {
            Ok(()) => ToolOutcome::Registered,
            Err(by) => ToolOutcome::Filtered(by),
        });
        let outcomes = outcomes.collect();
        let known: BTreeSet<_> = advertised.into_iter().collect();
        let lists = [(FilterList::Allowed, allowed.as_ref()), (FilterList::Blocked, Some(&blocked))];
        let warnings = lists.into_iter().flat_map(|(list, entries)| {
            let lost = entries.map_or_else(Vec::new, |entries| entries.naming_none_of(&known));
            lost.into_iter().map(move |name| FilterWarning { list, name: name.into() })
        });
        Filtered { outcomes, warnings: warnings.collect() }
    }

    /// Whether a tool of this name is let in: the same rule for a call as for a listing.
    ///
    /// # Errors
    /// Which list keeps it out. Answer as if there were no such tool.
    pub fn admit(&self, tool: &str) -> Result<(), FilteredBy> {
        let allowed = self.allowed_tools.as_deref().map(Entries::read);
        judge(allowed.as_ref(), &Entries::read(&self.blocked_tools), tool.trim())
    }
}

fn judge(allowed: Option<&Entries<'_>>, blocked: &Entries<'_>, tool: &str) -> Result<(), FilteredBy> {
    if allowed.is_some_and(|allowed| !allowed.name(tool)) {
        Err(FilteredBy::NotAllowed)
    } else if blocked.name(tool) {
        Err(FilteredBy::Blocked)
    } else {
        Ok(())
    }
}

/// A list, read.
struct Entries<'a> {
    /// All of it.
    all: BTreeSet<&'a str>,
    patterns: Vec<&'a str>,
}

impl<'a> Entries<'a> {
    fn read(list: &'a [String]) -> Self {
        let all: BTreeSet<_> = list.iter().map(|entry| entry.trim()).collect();
        let patterns = all.iter().copied().filter(|entry| pattern::is_pattern(entry)).collect();
        Self { all, patterns }
    }

    fn name(&self, tool: &str) -> bool {
        self.all.contains(tool) || self.patterns.iter().any(|entry| pattern::matches(entry, tool))
    }

    /// The entries that name none of these, sorted.
    fn naming_none_of(&self, known: &BTreeSet<&str>) -> Vec<&'a str> {
        let names_one = |entry: &str| {
            known.contains(entry)
                || (pattern::is_pattern(entry) && known.iter().any(|tool| pattern::matches(entry, tool)))
        };
        self.all.iter().copied().filter(|entry| !names_one(entry)).collect()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    const LISTED: [&str; 6] = ["echo", "boom", "readonly_echo", "die", "sleep", "big_output"];

    fn filter(allowed: Option<&[&str]>, blocked: Option<&[&str]>) -> ToolFilter {
        let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        ToolFilter {
            allowed_tools: allowed.map(owned),
            blocked_tools: blocked.map(owned).unwrap_or_default(),
        }
    }

    fn told(filtered: &Filtered) -> Vec<(&str, &str)> {
        filtered.warnings.iter().map(|warning| (warning.list.as_str(), warning.name.as_str())).collect()
    }

    /// Note, allowed, blocked, what is let in, what is told.
    type Row<'a> =
        (&'a str, Option<&'a [&'a str]>, Option<&'a [&'a str]>, &'a [&'a str], &'a [(&'a str, &'a str)]);

    #[test]
    fn the_first_list_lets_in_and_the_second_leaves_out() {
        // H-015, H-016, H-017, H-019
        let table: [Row<'_>; 14] = [
            ("no lists", None, None, &LISTED, &[]),
            ("allowed", Some(&["echo", "die"]), None, &["echo", "die"], &[]),
            ("nothing allowed", Some(&[]), None, &[], &[]),
            ("blocked", None, Some(&["boom", "big_output"]), &["echo", "readonly_echo", "die", "sleep"], &[]),
            ("nothing blocked", None, Some(&[]), &LISTED, &[]),
            ("blocked wins", Some(&["echo", "boom", "sleep"]), Some(&["boom"]), &["echo", "sleep"], &[]),
            (
                "unknown names",
                Some(&["echo", "no_such"]),
                Some(&["zzz"]),
                &["echo"],
                &[("allowed_tools", "no_such"), ("blocked_tools", "zzz")],
            ),
            (
                "each told once",
                Some(&["echo", "nope", "echo", "zzz"]),
                Some(&["nope"]),
                &["echo"],
                &[("allowed_tools", "nope"), ("allowed_tools", "zzz"), ("blocked_tools", "nope")],
            ),
            (
                "sorted",
                Some(&["zzz", "echo", "nope", "zzz"]),
                Some(&["b", "a", "b"]),
                &["echo"],
                &[
                    ("allowed_tools", "nope"),
                    ("allowed_tools", "zzz"),
                    ("blocked_tools", "a"),
                    ("blocked_tools", "b"),
                ],
            ),
            (
                "exposed names are no names here",
                Some(&["mcp__s__echo"]),
                None,
                &[],
                &[("allowed_tools", "mcp__s__echo")],
            ),
            ("case counts", None, Some(&["Echo"]), &LISTED, &[("blocked_tools", "Echo")]),
            ("white space does not", Some(&[" echo "]), None, &["echo"], &[]),
            ("patterns", Some(&["*echo", "?ie"]), Some(&["read*"]), &["echo", "die"], &[]),
            (
                "patterns that match nothing",
                None,
                Some(&["x*", "e?"]),
                &LISTED,
                &[("blocked_tools", "e?"), ("blocked_tools", "x*")],
            ),
        ];
        for (name, allowed, blocked, registered, warnings) in table {
            let filter = filter(allowed, blocked);
            let filtered = filter.apply(ServerMode::Ask, LISTED);
            let outcomes: Vec<_> = filtered.outcomes.iter().map(ToolOutcome::as_str).collect();
            let expected =
                LISTED.map(|tool| if registered.contains(&tool) { "registered" } else { "filtered" });
            assert_eq!(outcomes, expected, "{name}: each tool has an outcome, in the order listed");
            let admitted: Vec<_> = LISTED.into_iter().filter(|tool| filter.admit(tool).is_ok()).collect();
            assert_eq!(admitted, registered, "{name}");
            assert_eq!(told(&filtered), warnings, "{name}");
            assert_eq!(filter.apply(ServerMode::Allow, LISTED), filtered, "{name}");
        }
        let both = filter(Some(&["echo", "boom"]), Some(&["boom"]));
        let outcomes = both.apply(ServerMode::Ask, LISTED).outcomes;
        assert_eq!(outcomes[1], ToolOutcome::Filtered(FilteredBy::Blocked), "in both lists");
        assert_eq!(outcomes[3], ToolOutcome::Filtered(FilteredBy::NotAllowed));
    }

    #[test]
    fn deny_is_final_and_silences_warnings() {
        // H-018, H-019
        let filtered = filter(Some(&["echo"]), Some(&["zzz"])).apply(ServerMode::Deny, LISTED);
        assert_eq!(filtered, Filtered { outcomes: vec![ToolOutcome::Denied; 6], warnings: vec![] });
    }

    #[test]
    fn a_tool_does_not_slip_past_a_list_with_white_space() {
        let filter = filter(None, Some(&["delete"]));
        assert_eq!(filter.admit("delete "), Err(FilteredBy::Blocked));
        let filtered = filter.apply(ServerMode::Ask, ["\tdelete"]);
        assert_eq!(filtered.outcomes, [ToolOutcome::Filtered(FilteredBy::Blocked)]);
        assert_eq!(told(&filtered), []);
    }

    proptest! {
        #[test]
        fn a_longer_block_list_or_a_shorter_allow_list_never_lets_more_in(
            allowed in prop::option::of(prop::collection::vec("[ab*]{0,3}", 0..4)),
            blocked in prop::collection::vec("[ab*]{0,3}", 0..4),
            tools in prop::collection::vec("[ab]{0,3}", 0..6),
        ) {
            // H-020
            let filter = ToolFilter { allowed_tools: allowed, blocked_tools: blocked };
            let listed = || tools.iter().map(String::as_str);
            let whole = filter.apply(ServerMode::Ask, listed());
            prop_assert_eq!(&filter.apply(ServerMode::Ask, listed()), &whole);
            let mut mixed = filter.clone();
            mixed.blocked_tools.reverse();
            mixed.allowed_tools.iter_mut().for_each(|list| list.reverse());
            prop_assert_eq!(&mixed.apply(ServerMode::Ask, listed()), &whole, "the order of entries says nothing");
            let mut tighter = filter;
            tighter.blocked_tools.push("a*".into());
            tighter.allowed_tools = Some(tighter.allowed_tools.map_or_else(Vec::new, |mut list| { list.pop(); list }));
            for (now, before) in tighter.apply(ServerMode::Ask, listed()).outcomes.iter().zip(&whole.outcomes) {
                prop_assert!(*now != ToolOutcome::Registered || *before == ToolOutcome::Registered);
            }
        }
    }
}
