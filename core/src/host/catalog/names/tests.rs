//! Names as they are given out: nobody takes another's, and every name leads back.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::host::catalog::MAX_EXPOSED_BYTES;

type Listing<'a> = (&'a str, Vec<&'a str>);

fn assign(servers: Vec<Listing<'_>>) -> (Names, Vec<NameRefused>) {
    Names::assign(Naming::default(), servers)
}

fn pair(server: &str, tool: &str) -> Provenance {
    Provenance { server: server.into(), tool: tool.into() }
}

#[test]
fn a_name_may_be_as_long_as_the_bound_and_no_names_are_none() {
    let (longest, longer) = ("x".repeat(MAX_NAME_BYTES), "x".repeat(MAX_NAME_BYTES + 1));
    let (names, refused) = assign(vec![("s", vec![longest.as_str(), longer.as_str()])]);
    assert_eq!((names.len(), names.is_empty()), (1, false));
    assert_eq!(refused[0].fault, NameFault::TooLong { len: MAX_NAME_BYTES + 1 });
    let (none, _) = assign(vec![("s", vec![])]);
    assert_eq!((none.len(), none.is_empty()), (0, true));
}

#[test]
fn b_93_prefix_split_at_first_underscore() {
    // H-010, H-011
    let (names, refused) = assign(vec![
        ("my_db", vec!["execute_sql"]),
        ("db", vec!["execute_sql", "mcp__my_db__execute_sql"]),
        ("a_b", vec!["c"]),
        ("a", vec!["b_c"]),
    ]);
    assert_eq!(refused, []);
    let table = [
        ("mcp__db__execute_sql", "db", "execute_sql"),
        ("mcp__my_db__execute_sql", "my_db", "execute_sql"),
        ("mcp__db__mcp__my_db__execute_sql", "db", "mcp__my_db__execute_sql"),
        ("mcp__a__b_c", "a", "b_c"),
        ("mcp__a_b__c", "a_b", "c"),
    ];
    for (name, server, tool) in table {
        assert_eq!(names.resolve(name), Some(&pair(server, tool)), "{name}");
        assert_eq!(names.name_of(server, tool).map(AsRef::as_ref), Some(name));
    }
    for unknown in ["execute_sql", "mcp__DB__execute_sql", "mcp__db__execute_sql ", "db/execute_sql", ""] {
        assert_eq!(names.resolve(unknown), None, "{unknown}");
    }
}

#[test]
fn b_95_truncation_collision() {
    let tail = "ConfluencePageWithAttachmentsAndPermissionsForTheWholeSpace";
    let mut tools = vec![
        format!("create{tail}"),
        format!("delete{tail}"),
        format!("{tail}Create"),
        format!("{tail}Delete"),
    ];
    for len in [63, 64, 65, 128] {
        tools.extend(["x", "é", "語"].map(|letter| letter.repeat(len)));
        // As long as the whole name, with "mcp__wiki__" in front.
        tools.push("y".repeat(len - 11));
    }
    let (names, refused) = assign(vec![("wiki", tools.iter().map(String::as_str).collect())]);
    assert_eq!((names.len(), refused), (tools.len(), vec![]), "every tool has a name of its own");
    for tool in &tools {
        let name = names.name_of("wiki", tool).expect(tool);
        assert!(name.len() <= MAX_EXPOSED_BYTES, "{name}");
        assert_eq!(names.resolve(name), Some(&pair("wiki", tool)), "the original name is what is called");
    }
    let alike = ["Create", "Delete"].map(|verb| names.name_of("wiki", &format!("{tail}{verb}")).unwrap());
    assert_eq!(alike[0][..37], alike[1][..37], "told apart by the hash alone");
}

#[test]
fn of_two_pairs_with_one_name_the_first_by_server_keeps_it_whoever_came_first() {
    // H-008
    let one: Listing<'_> = ("a", vec!["b__c"]);
    let other: Listing<'_> = ("a__b", vec!["x", "c"]);
    for servers in [vec![one.clone(), other.clone()], vec![other, one]] {
        let (names, refused) = assign(servers);
        assert_eq!(names.resolve("mcp__a__b__c"), Some(&pair("a", "b__c")));
        assert_eq!(names.name_of("a__b", "c"), None);
        let [refused] = &refused[..] else { panic!("{refused:?}") };
        assert_eq!((&*refused.server, refused.index, &*refused.tool), ("a__b", 1, "c"));
        assert_eq!(refused.fault, NameFault::Taken { by: pair("a", "b__c") });
        assert!(refused.fault.to_string().contains("hash_ambiguous"), "{}", refused.fault);
    }
    let naming = Naming { hash_ambiguous: true };
    let (names, refused) = Names::assign(naming, [("a", vec!["b__c"]), ("a__b", vec!["c"])]);
    assert_eq!((names.len(), refused), (2, vec![]), "both have names of their own");
}

#[test]
fn a_tool_that_calls_itself_like_anothers_hashed_name_does_not_get_it() {
    // H-009
    for tools in [vec!["tool.name", "tool_name__d6d126fd"], vec!["tool_name__d6d126fd", "tool.name"]] {
        let (names, refused) = assign(vec![("server", tools.clone())]);
        assert_eq!(names.resolve("mcp__server__tool_name__d6d126fd"), Some(&pair("server", tools[0])));
        assert_eq!(refused[0].tool, tools[1]);
        assert_eq!(refused[0].fault, NameFault::Taken { by: pair("server", tools[0]) });
    }
}

#[test]
fn names_that_cannot_be_called_are_refused_with_the_reason() {
    // H-013, H-022, H-067
    let long = "x".repeat(MAX_NAME_BYTES + 1);
    let tools = vec!["ok", "", " \t", "a\0b", "a\nb", "a\u{9b}b", "ok", &long, " ok", " padded "];
    let (names, refused) = assign(vec![("s", tools)]);
    let faults: Vec<_> = refused.iter().map(|refused| (refused.index, refused.fault.clone())).collect();
    let taken = NameFault::Taken { by: pair("s", "ok") };
    assert_eq!(
        faults,
        [
            (1, NameFault::Blank),
            (2, NameFault::Blank),
            (3, NameFault::Control),
            (4, NameFault::Control),
            (5, NameFault::Control),
            (6, NameFault::Duplicate),
            (7, NameFault::TooLong { len: MAX_NAME_BYTES + 1 }),
            (8, taken),
        ]
    );
    assert_eq!(refused[6].tool.len(), MAX_SHOWN);
    let given: Vec<_> = names.iter().map(|(name, _)| &**name).collect();
    assert_eq!(given, ["mcp__s__ok", "mcp__s__padded"]);
    assert_eq!(names.resolve("mcp__s__padded"), Some(&pair("s", " padded ")), "called as it calls itself");
}

fn listings() -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    let tool = prop_oneof!["[a_.]{0,5}", "[a_]{1,3}__[0-9a-f]{2}", "[aé\0 ]{0,3}", "a{50,60}\\.?"];
    let tools = prop::collection::vec(tool, 0..8);
    prop::collection::btree_map("[a_.]{0,4}|a{20,30}", tools, 0..5).prop_map(|all| all.into_iter().collect())
}

fn borrowed(servers: &[(String, Vec<String>)]) -> Vec<Listing<'_>> {
    servers.iter().map(|(server, tools)| (&**server, tools.iter().map(String::as_str).collect())).collect()
}

proptest! {
    #[test]
    fn registered_names_are_injective_fit_and_do_not_depend_on_order(
        servers in listings(), hash_ambiguous in any::<bool>(),
    ) {
        // H-006, H-007, H-008, H-011
        let naming = Naming { hash_ambiguous };
        let (names, refused) = Names::assign(naming, borrowed(&servers));
        let mut backwards = borrowed(&servers);
        backwards.reverse();
        let again = Names::assign(naming, backwards);
        prop_assert_eq!((&names, &refused), (&again.0, &again.1));

        let asked: usize = servers.iter().map(|(_, tools)| tools.len()).sum();
        prop_assert_eq!(names.len() + refused.len(), asked, "each has a name or a reason");
        let mut pairs = Vec::new();
        for (name, pair) in names.iter() {
            prop_assert!((1..=MAX_EXPOSED_BYTES).contains(&name.len()));
            prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{name}");
            prop_assert_eq!(names.name_of(&pair.server, &pair.tool), Some(name));
            let alone = naming.name(&pair.server, pair.tool.trim());
            prop_assert_eq!(&**name, alone.as_str());
            pairs.push(pair.clone());
        }
        pairs.sort();
        pairs.dedup();
        prop_assert_eq!(pairs.len(), names.len(), "no pair has two names");
    }

    #[test]
    fn who_else_is_there_changes_no_name_but_may_take_it(servers in listings(), more in listings()) {
        // H-006
        let (names, _) = Names::assign(Naming::default(), borrowed(&servers));
        let mut all = servers.clone();
        all.extend(more.into_iter().filter(|(server, _)| servers.iter().all(|(known, _)| known != server)));
        let (with_more, _) = Names::assign(Naming::default(), borrowed(&all));
        for (name, pair) in names.iter() {
            if let Some(now) = with_more.name_of(&pair.server, &pair.tool) {
                prop_assert_eq!(now, name);
            }
        }
    }
}
