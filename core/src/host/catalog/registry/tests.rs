//! What is offered as listings come and go.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::host::Mask;
use crate::host::catalog::ListingSettings;
use crate::jsonrpc::RawJson;

/// A listing of tools, each `name` or `name=description`.
fn listing(server: &str, tools: &[&str]) -> ServerTools {
    let tools = tools.iter().map(|tool| {
        let (name, description) = tool.split_once('=').unwrap_or((tool, "d"));
        format!(r#"{{"name":"{name}","description":"{description}"}}"#)
    });
    let page = format!(r#"{{"tools":[{}]}}"#, tools.collect::<Vec<_>>().join(","));
    let page = RawJson::parse_str(&page).expect("a page");
    ServerTools::read(server, &ListingSettings::default(), &Mask::default(), &[page])
}

fn set(registry: &mut Registry, server: &str, tools: &[&str]) -> Change {
    registry.set(server, listing(server, tools))
}

fn told(change: &Change) -> [Vec<&str>; 3] {
    [&change.added, &change.removed, &change.changed].map(|names| names.iter().map(|name| &**name).collect())
}

#[test]
fn what_is_offered_is_sorted_and_leads_back() {
    // H-229, H-011
    let mut registry = Registry::default();
    set(&mut registry, "z", &["b", "a"]);
    set(&mut registry, "a", &["c.d", "z"]);
    let names: Vec<_> = registry.offered().map(|(name, _)| &**name).collect();
    assert_eq!(names.len(), 4);
    assert!(names.is_sorted(), "{names:?}");
    for (name, offered) in registry.offered() {
        assert_eq!(registry.resolve(name), Some(offered));
        assert_eq!(registry.find(&offered.tool.server, &offered.tool.tool), Some(offered));
        assert_eq!(offered.definition.tool, offered.tool.tool);
    }
    assert_eq!(registry.resolve("mcp__z__a").unwrap().tool, Provenance::new("z", "a"));
    assert_eq!(registry.resolve("a"), None);
    assert_eq!([registry.find("z", "c.d"), registry.find("a", "c_d"), registry.find("a", "z ")], [None; 3]);
    assert!(registry.servers().map(|(server, _)| &**server).eq(["a", "z"]));
}

#[test]
fn a_change_is_told_by_exposed_name() {
    let mut registry = Registry::default();
    let change = set(&mut registry, "s", &["a", "b=one"]);
    assert_eq!(told(&change), [vec!["mcp__s__a", "mcp__s__b"], vec![], vec![]]);
    assert!(set(&mut registry, "s", &["b=one", "a"]).is_empty(), "another order is no change");
    let change = set(&mut registry, "s", &["b=two", "c"]);
    assert_eq!(told(&change), [vec!["mcp__s__c"], vec!["mcp__s__a"], vec!["mcp__s__b"]]);
    assert_eq!(told(&registry.remove("s"))[1], ["mcp__s__b", "mcp__s__c"]);
    assert!(registry.remove("s").is_empty() && registry.offered().len() == 0);
}

#[test]
fn a_name_goes_to_the_first_by_server_whoever_came_first_and_comes_back() {
    // H-008, H-026
    let mut registry = Registry::default();
    let joint = "mcp__a__b__c";
    assert_eq!(told(&set(&mut registry, "a__b", &["c"]))[0], [joint]);
    let change = set(&mut registry, "a", &["b__c"]);
    assert_eq!(told(&change), [vec![], vec![], vec![joint]], "it stands for another tool now");
    assert_eq!(registry.resolve(joint).unwrap().tool, Provenance::new("a", "b__c"));
    let lost = &registry.server("a__b").unwrap().tools[0];
    assert_eq!(lost.outcome.as_str(), "skipped");
    assert!(lost.outcome.to_string().contains("\"b__c\" of \"a\""), "{}", lost.outcome);
    assert_eq!(told(&registry.remove("a"))[2], [joint]);
    assert_eq!(registry.resolve(joint).unwrap().tool, Provenance::new("a__b", "c"));
    assert_eq!(registry.server("a__b").unwrap().tools[0].outcome, ToolOutcome::Registered);
}

fn listings() -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    let tools = prop::collection::vec("[a_.]{0,3}(=[xy])?", 0..5);
    prop::collection::vec(("[a_]{1,3}", tools), 0..8)
}

/// Servers with names that nobody would give them, and tools that are after each other's names.
fn hostile() -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    let tool = prop_oneof![
        3 => "a(__a){0,2}",
        1 => "[a_.]{0,4}",
        1 => "a_?__[0-9a-f]{8}",
        1 => "a{20,60}[.é]?",
        1 => "[aé日\u{202e}\u{0}\n ]{0,4}",
    ];
    let tools = prop::collection::vec(tool, 0..8);
    let servers = prop::collection::btree_map("a(__a){0,2}|[a_.]{0,4}|[aé日 ]{0,3}|a{20,30}", tools, 0..5);
    servers.prop_map(|all| all.into_iter().collect::<Vec<_>>()).prop_shuffle()
}

/// As a server would send it.
fn page(tools: &[String]) -> RawJson {
    let tools: Vec<_> = tools.iter().map(|name| serde_json::json!({ "name": name })).collect();
    RawJson::parse_str(&serde_json::json!({ "tools": tools }).to_string()).expect("a page")
}

proptest! {
    #[test]
    fn registered_names_are_unique_fit_and_stay_in_any_order_of_servers(servers in hostile()) {
        // H-006, H-007
        let offer = |servers: &[(String, Vec<String>)]| {
            let mut registry = Registry::default();
            for (server, tools) in servers {
                let (settings, mask) = (ListingSettings::default(), Mask::default());
                registry.set(server, ServerTools::read(server, &settings, &mask, &[page(tools)]));
            }
            registry
        };
        let registry = offer(&servers);
        let mut pairs: Vec<_> = registry.offered().map(|(_, offered)| &offered.tool).collect();
        pairs.sort();
        pairs.dedup();
        prop_assert_eq!(pairs.len(), registry.offered().len(), "no tool has two names");
        for (name, offered) in registry.offered() {
            prop_assert!((1..=64).contains(&name.len()), "{name}");
            prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{name}");
            let advertised = servers.iter().find(|(server, _)| *server == *offered.tool.server);
            prop_assert!(advertised.is_some_and(|(_, tools)| tools.iter().any(|tool| *tool == *offered.tool.tool)));
        }
        for turn in 0..servers.len() {
            let mut other = servers.clone();
            other.rotate_left(turn);
            prop_assert_eq!(&offer(&other), &registry);
            other.reverse();
            prop_assert_eq!(&offer(&other), &registry);
            // Whoever goes takes nobody's name along.
            let gone = other.pop().map(|(server, _)| server);
            let without = offer(&other);
            for (name, offered) in registry.offered().filter(|(_, offered)| Some(&*offered.tool.server) != gone.as_deref()) {
                prop_assert_eq!(without.resolve(name).map(|found| &found.tool), Some(&offered.tool));
            }
        }
    }

    #[test]
    fn what_is_offered_depends_on_the_last_listings_alone(steps in listings()) {
        // H-006, H-008, H-020
        let mut registry = Registry::default();
        let mut last: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (server, tools) in &steps {
            let before: BTreeMap<_, _> = registry.offered().map(|(name, found)| (name.clone(), found.clone())).collect();
            let tools: Vec<_> = tools.iter().map(String::as_str).collect();
            let change = if tools.is_empty() && server.len() < 3 {
                last.remove(server);
                registry.remove(server)
            } else {
                last.insert(server.clone(), tools.iter().map(ToString::to_string).collect());
                set(&mut registry, server, &tools)
            };
            let mut whole = registry.clone();
            prop_assert!(whole.rebuild().is_empty(), "what was changed alone is as if all were made anew");
            prop_assert_eq!(&whole, &registry);
            for (name, found) in registry.offered() {
                let new = change.added.contains(name);
                prop_assert_eq!(new, !before.contains_key(name));
                let same = before.get(name).is_some_and(|then| then == found);
                prop_assert_eq!(!same && !new, change.changed.contains(name));
            }
            prop_assert!(change.removed.iter().all(|name| before.contains_key(name) && registry.resolve(name).is_none()));
        }
        let mut anew = Registry::default();
        for (server, tools) in last.iter().rev() {
            set(&mut anew, server, &tools.iter().map(String::as_str).collect::<Vec<_>>());
        }
        prop_assert_eq!(&anew, &registry);
        let registered: usize = registry.servers().map(|(_, tools)| tools.count("registered")).sum();
        prop_assert_eq!(registered, registry.offered().len(), "every registered tool has a name");
    }
}
