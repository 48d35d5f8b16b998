//! Listings, good and bad, tool by tool.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::mcp::types::tool::EMPTY_INPUT_SCHEMA;

fn page(tools: &str) -> RawJson {
    RawJson::parse_str(&format!(r#"{{"tools":[{tools}]}}"#)).expect(tools)
}

fn named(name: &str) -> String {
    format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)
}

fn settings(mode: ServerMode, allowed: Option<&[&str]>, blocked: &[&str]) -> ListingSettings {
    let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect();
    let filter = ToolFilter { allowed_tools: allowed.map(owned), blocked_tools: owned(blocked) };
    ListingSettings { mode, filter, ..ListingSettings::default() }
}

fn read(settings: &ListingSettings, pages: &[RawJson]) -> ServerTools {
    ServerTools::read("s", settings, &Mask::default(), pages)
}

fn outcomes(tools: &ServerTools) -> Vec<(&str, String)> {
    tools.tools.iter().map(|tool| (&*tool.name, tool.outcome.to_string())).collect()
}

#[test]
fn every_listed_tool_keeps_an_outcome_in_the_order_listed() {
    // H-019, H-022, H-026
    let big = format!(r#"{{"name":"big","inputSchema":{{"type":"object","x":"{}"}}}}"#, "x".repeat(70_000));
    let external = r#"{"name":"external","inputSchema":{"$ref":"https://a.example/s"}}"#;
    let listing = [
        named("good"),
        named("blocked"),
        big,
        external.into(),
        named("  "),
        r#"{"title":"nameless"}"#.into(),
        named("good"),
        named("also good"),
        named("a\\u0000b"),
        "7".into(),
    ];
    let second = [named("good"), named("last")];
    let pages = [page(&listing.join(",")), page(&second.join(","))];
    let tools = read(&settings(ServerMode::Ask, None, &["blocked", "gone"]), &pages);
    let expected = [
        ("good", "registered"),
        ("blocked", "filtered: blocked_tools names it"),
        ("big", "skipped: its inputSchema has 70024 bytes, more than 65536 (max_schema_bytes)"),
        (
            "external",
            "skipped: its input schema is unusable: it refers to \"https://a.example/s\", which is outside of it and is not fetched",
        ),
        ("  ", "skipped: its name is blank"),
        ("", "skipped: it has no name"),
        ("good", "skipped: an earlier one has the same name"),
        ("also good", "registered"),
        ("a\0b", "skipped: its name holds control characters"),
        ("", "skipped: it is a number, not an object"),
        ("good", "skipped: an earlier tool of the server has the same name"),
        ("last", "registered"),
    ];
    let expected: Vec<_> = expected.into_iter().map(|(name, outcome)| (name, outcome.to_string())).collect();
    assert_eq!(outcomes(&tools), expected);
    let warned: Vec<_> = tools.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warned, ["blocked_tools names \"gone\", which the server does not list"]);
    let counts = ["registered", "filtered", "denied", "skipped"].map(|outcome| tools.count(outcome));
    assert_eq!((counts, tools.left_out), ([3, 1, 0, 8], 0));
    for tool in &tools.tools {
        assert_eq!(tool.definition.is_some(), tool.outcome == ToolOutcome::Registered, "{}", tool.name);
    }
}

#[test]
fn b_41_anyof_root_drops_all() {
    // H-023, H-024
    let middle = [
        r#","inputSchema":{"anyOf":[{"type":"object"}]}"#,
        r#","inputSchema":{}"#,
        r#","inputSchema":true"#,
        r#","inputSchema":"text""#,
        "",
    ];
    for schema in middle {
        let tools = format!(r#"{},{{"name":"odd"{schema}}},{}"#, named("one"), named("three"));
        let tools = read(&ListingSettings::default(), &[page(&tools)]);
        assert_eq!(tools.count("registered"), 3, "{schema}");
        let odd = tools.tools[1].definition.as_ref().unwrap();
        assert!(!odd.notes.is_empty(), "what is wrong is told: {schema}");
        let offered = odd.input_schema.as_str();
        let expected = if schema.contains(":{") { r#"{"type":"object""# } else { EMPTY_INPUT_SCHEMA };
        assert!(offered.starts_with(expected), "{schema}: {offered}");
    }
}

#[test]
fn a_server_that_is_denied_offers_nothing_whatever_it_lists() {
    // H-018
    let pages = [page(&[named("a"), "7".into(), named("  ")].join(","))];
    let tools = read(&settings(ServerMode::Deny, Some(&["a", "zzz"]), &["gone"]), &pages);
    assert_eq!((tools.count("denied"), tools.tools.len()), (3, 3));
    assert_eq!(tools.warnings, []);
    assert!(tools.tools.iter().all(|tool| tool.definition.is_none()));
}

#[test]
fn a_page_that_is_none_and_a_listing_without_end_take_nothing_from_the_rest() {
    let odd = |text| RawJson::parse_str(text).unwrap();
    let mut bounded = ListingSettings::default();
    bounded.limits.max_tools = 2;
    let pages = [odd("7"), odd("7"), odd(r#"{"tools":null}"#), page(&["a", "b", "c"].map(named).join(","))];
    let tools = read(&bounded, &pages);
    assert_eq!(outcomes(&tools), [("a", "registered".into()), ("b", "registered".into())]);
    assert_eq!(tools.left_out, 1);
    assert_eq!(tools.page_warnings.len(), 2, "each once: {:?}", tools.page_warnings);

    let junk = vec!["7"; 1500].join(",");
    let tools = read(&ListingSettings::default(), &[page(&format!("{junk},{}", named("late")))]);
    assert_eq!((tools.count("skipped"), tools.count("registered"), tools.left_out), (1000, 1, 500));
}

proptest! {
    #[test]
    fn the_same_listing_gives_the_same_and_every_element_is_accounted_for(
        elements in prop::collection::vec(prop_oneof![
            "[ab ]{0,2}".prop_map(|name| named(&name)), Just("1".to_string()), Just(r#"{"name":7}"#.to_string()),
            Just(r##"{"name":"c","inputSchema":{"$ref":"x:y"}}"##.to_string()),
        ], 0..20),
        cut in 0usize..20, blocked in prop::option::of("[ab*]{1,2}"),
    ) {
        // H-020
        let (front, back) = elements.split_at(cut.min(elements.len()));
        let pages = [page(&front.join(",")), page(&back.join(","))];
        let settings = ListingSettings {
            filter: ToolFilter { blocked_tools: blocked.into_iter().collect(), ..ToolFilter::default() },
            ..ListingSettings::default()
        };
        let tools = read(&settings, &pages);
        prop_assert_eq!(&read(&settings, &pages), &tools);
        prop_assert_eq!(tools.tools.len() + tools.left_out, elements.len());
        let whole = read(&settings, &[page(&elements.join(","))]);
        let kept = |tools: &ServerTools| -> Vec<_> {
            tools.tools.iter().map(|tool| (tool.name.clone(), tool.outcome.as_str(), tool.definition.clone())).collect()
        };
        prop_assert_eq!(kept(&whole), kept(&tools), "where pages end says nothing");
    }
}
