//! What is read of a server's first listing, and what becomes of one that cannot be read.

use super::*;
use crate::client::Deadline;
use crate::error::Violation;
use crate::host::policy::ServerMode;

const LISTED: &str = "a connected";

fn timed_out() -> Ended {
    let which = Deadline::Absolute;
    Ok(Outcome::TimedOut { which, limit: Duration::from_secs(15), mistyped_reply: false })
}

#[test]
fn a_listing_is_read_page_by_page_within_the_time_for_connecting() {
    // H-070, H-094
    let mut world = World::new(&["a"], |_| ());
    world.ready("a");
    assert_eq!((world.told().len(), world.statuses()), (0, vec!["connecting"]));
    let first = world.listing("a").unwrap();
    assert_eq!((&first.method, first.params.is_none()), (&Method::ToolsList, true));
    assert_eq!(first.options.idle, Some(Duration::from_secs(15)));
    world.wait(4_000);
    world.page("a", r#"{"tools":[{"name":"x"},{"name":"z"}],"nextCursor":"2"}"#);
    assert_eq!(world.offered(), [""; 0], "nothing of it before it is whole");
    assert_eq!(world.way("a"), "wait");
    let second = world.listing("a").unwrap();
    assert_eq!(second.params.as_ref().map(RawJson::as_str), Some(r#"{"cursor":"2"}"#));
    let rest = Some(Duration::from_secs(11));
    assert_eq!((second.options.idle, second.options.absolute), (rest, rest));
    world.page("a", r#"{"tools":[{"name":"y"},{"name":""}]}"#);
    let up = ["a +mcp__a__x +mcp__a__y +mcp__a__z", "a connected", "a speaks 2025-11-25: 3 tools", "started"];
    assert_eq!(world.told(), up);
    let tools = world.state("a").tools.unwrap();
    let outcomes: Vec<_> = tools.tools.iter().map(|tool| tool.outcome.as_str()).collect();
    assert_eq!(outcomes, ["registered", "registered", "registered", "skipped"]);
    assert_eq!(world.manager.poll_timeout(), None, "the time for connecting is over");
}

#[test]
fn a_denied_server_is_connected_and_offers_nothing() {
    // H-097
    let mut world = World::new(&["a"], |config| {
        config.servers.get_mut("a").unwrap().mode = ServerMode::Deny;
    });
    world.connect("a", &["t", "u"]);
    assert_eq!(world.told(), ["a connected", "a speaks 2025-11-25: 0 tools", "started"]);
    assert_eq!((world.offered().len(), world.state("a").tools.unwrap().count("denied")), (0, 2));
}

#[test]
fn entries_of_a_filter_that_name_nothing_are_told_once() {
    let mut world = World::new(&["a"], |config| {
        let filter = &mut config.servers.get_mut("a").unwrap().filter;
        filter.allowed_tools = Some(vec!["t".into(), "gone".into()]);
        filter.blocked_tools = vec!["u".into()];
        config.refresh.mode = RefreshMode::Live;
    });
    world.connect("a", &["t", "u", "v"]);
    let warned = "! a: allowed_tools names \"gone\", which the server does not list";
    assert_eq!(world.told()[..2], [warned, "a +mcp__a__t"]);
    for tools in [&["t"][..], &["t", "gone"]] {
        assert!(world.manager.refresh("a", world.now));
        world.drain();
        world.page("a", &page(tools));
    }
    let blocked = "! a: blocked_tools names \"u\", which the server does not list";
    assert_eq!(world.told(), [blocked, "a +mcp__a__gone"]);
}

#[test]
fn a_server_that_cannot_list_is_connected_with_its_error() {
    // H-101
    let cases: [(Ended, &str); 5] = [
        (error(-32603, "b\u{7}oom"), "error -32603: b\\u{7}oom"),
        (
            Ok(Outcome::TooLarge { len: 99, limit: 9 }),
            "its answer has 99 bytes, the limit is 9 (max_message_bytes)",
        ),
        (
            Ok(Outcome::Invalid(Violation::BadResult { method: Method::ToolsList, why: "no object" })),
            "the result of tools/list is unusable: no object",
        ),
        (Err(ApiError::OutboundFull), "too much waits to be written; the peer reads too slowly"),
        (Ok(Outcome::Cancelled), "it was given up"),
    ];
    for (outcome, why) in cases {
        let mut world = World::new(&["a"], |_| ());
        world.ready("a");
        world.outcome("a", outcome);
        let failed = format!("its tools could not be listed: {why}");
        assert_eq!(world.told()[..2], [format!("! a list: {failed}"), LISTED.into()]);
        let state = world.state("a");
        assert_eq!((state.error, state.listing_failed, state.tools.is_none()), (Some(failed), true, true));
        assert_eq!(world.way("a"), "go", "it can be called");
        // Listed the next time it is connected, since it never was.
        world.lose("a");
        world.connect("a", &["t"]);
        let state = world.state("a");
        assert_eq!((state.error, state.listing_failed, world.offered()), (None, false, vec!["mcp__a__t"]));
    }
}

#[test]
fn what_could_be_read_before_a_page_failed_is_offered() {
    // H-101
    let mut world = World::new(&["a"], |_| ());
    world.ready("a");
    world.page("a", r#"{"tools":[{"name":"x"}],"nextCursor":"2"}"#);
    world.outcome("a", error(-32602, "what cursor?"));
    let failed = "its tools could not be listed: error -32602: what cursor?";
    assert_eq!(world.told()[..3], ["a +mcp__a__x".to_owned(), format!("! a list: {failed}"), LISTED.into()]);
    assert!(world.state("a").listing_failed);
}

#[test]
fn a_server_that_never_said_that_it_has_tools_is_asked_and_may_say_no() {
    // H-206
    let other = Revision::V2026_07_28;
    for (revision, outcome) in [
        (Revision::V2024_11_05, error(-32601, "no")),
        (Revision::V2025_11_25, timed_out()),
        (other, Err(ApiError::WrongEra { method: Method::ToolsList, revision: other })),
    ] {
        let mut world = World::new(&["a"], |_| ());
        world.ready_as("a", revision, r#"{"prompts":{}}"#);
        world.outcome("a", outcome);
        assert_eq!(world.told(), [LISTED.into(), format!("a speaks {revision}: 0 tools"), "started".into()]);
        assert!(!world.state("a").listing_failed && world.state("a").tools.is_some());
    }
    let mut forgets = World::new(&["a"], |_| ());
    forgets.ready_as("a", Revision::V2024_11_05, "{}");
    forgets.page("a", &page(&["t"]));
    assert_eq!(forgets.offered(), ["mcp__a__t"]);
}

#[test]
fn silence_of_a_server_without_tools_is_an_empty_listing_when_time_is_over() {
    let mut world = World::new(&["a"], |_| ());
    world.ready_as("a", Revision::V2025_11_25, "{}");
    world.wait(15_000);
    assert_eq!(world.told()[0], LISTED);
    // What was asked is still open: nothing else is asked before it is over, and its answer counts for nothing.
    assert!(world.manager.refresh("a", world.now));
    world.drain();
    world.page("a", &page(&["late"]));
    assert_eq!(world.offered(), [""; 0]);
    world.wait(1_000);
    world.page("a", &page(&["t"]));
    world.begin_turn();
    assert_eq!(world.offered(), ["mcp__a__t"]);
}

#[test]
fn a_connection_that_ends_while_it_is_listed_was_not_opened() {
    // H-101
    let ends: [fn(&mut World); 5] = [
        |world| world.lose("a"),
        |world| world.outcome("a", Ok(Outcome::Lost { maybe_ran: true })),
        |world| world.outcome("a", Err(ApiError::Closed)),
        |world| world.outcome("a", timed_out()),
        |world| {
            world.page("a", r#"{"tools":[{"name":"x"}],"nextCursor":"2"}"#);
            world.outcome("a", timed_out());
        },
    ];
    for end in ends {
        let mut world = World::new(&["a"], |_| ());
        world.ready("a");
        end(&mut world);
        assert_eq!((world.statuses(), world.opens().len()), (vec!["failed"], 0));
        assert_eq!(world.told().len(), 4, "failed, why, how many, and that all were tried");
        assert_eq!(world.settled(), ["a"]);
    }
}

#[test]
fn a_listing_that_is_cut_is_told_with_the_bound() {
    let cases: [(Set, &str); 4] = [
        (|config| config.limits.max_pages = 1, "it has more than 1 pages (max_pages)"),
        (|config| config.limits.max_items = 2, "it has more than 2 items (max_items)"),
        (|config| config.limits.max_list_bytes = 9, "it has more than 9 bytes (max_list_bytes)"),
        (
            |config| config.definitions.max_tools = 1,
            "1 tools were left out, or could not be named (max_tools)",
        ),
    ];
    for (set, why) in cases {
        let mut world = World::new(&["a"], set);
        let cursor = if why.contains("max_tools") { "" } else { r#","nextCursor":"2""# };
        let text = format!(r#"{{"tools":[{{"name":"x"}},{{"name":"y"}}]{cursor}}}"#);
        world.ready("a");
        world.page("a", &text);
        let told = world.told();
        assert_eq!((told[0].clone(), &*told[2]), (format!("! a cut: {why}"), LISTED));
        assert!(!world.state("a").listing_failed);
        assert!(world.manager.refresh("a", world.now));
        world.drain();
        world.page("a", &text);
        assert_eq!(world.told(), [""; 0], "not told again");
    }
}

#[test]
fn a_name_that_two_servers_come_to_is_the_first_ones_and_copies_stay_as_they_were() {
    let mut world = World::new(&["a", "a__b"], |_| ());
    world.connect("a__b", &["c"]);
    let before = world.state("a__b").tools.unwrap();
    world.connect("a", &["b__c"]);
    let counts = ["a", "a__b"].map(|server| world.state(server).tools.unwrap().count("registered"));
    assert_eq!((world.offered(), counts), (vec!["mcp__a__b__c"], [1, 0]));
    assert_eq!(before.count("registered"), 1);
}
