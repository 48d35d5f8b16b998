//! One end for each call, in order; and never more at once than may be.

use alloc::collections::BTreeMap;
use alloc::vec;
use core::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::host::catalog::{ListingSettings, Registry, ServerTools};
use crate::host::policy::RuleKey;
use crate::host::{CallTimeouts, Provenance};

fn cancelled() -> Ending {
    Ending::Ended(CallOutcome::Cancelled)
}

/// A turn of calls, each named after its tool's class and weight: `-` runs alone, `a2` is of class `a` and weighs 2.
fn turn(tools: &[&str], limit: u32) -> Executor {
    let calls = tools.iter().enumerate().map(|(n, tool)| ModelCall::new(format!("{n}"), *tool, "{}"));
    Executor::new(calls, |tool| parallel(tool, limit))
}

fn parallel(tool: &str, limit: u32) -> Option<Parallel> {
    let weight = tool.get(1..).and_then(|weight| weight.parse().ok()).unwrap_or(1);
    (!tool.starts_with('-')).then(|| Parallel { class: tool[..1].into(), limit, weight })
}

/// The tickets of all that may start now.
fn starts(turn: &mut Executor) -> Vec<usize> {
    core::iter::from_fn(|| turn.poll_start()).map(|start| start.ticket).collect()
}

fn ends(turn: &mut Executor) -> Vec<(String, &'static str)> {
    let ends = core::iter::from_fn(|| turn.poll_end());
    ends.map(|end| (String::from(&*end.id), end.ending.as_str())).collect()
}

#[test]
fn neighbours_of_one_class_run_together_and_others_alone() {
    // H-233
    let mut turn = turn(&["-", "a", "a", "a", "b", "a", "-"], 2);
    assert_eq!(starts(&mut turn), [0], "alone");
    assert!(turn.finish(0, cancelled()));
    assert_eq!(starts(&mut turn), [1, 2], "no more than the limit");
    assert!(turn.finish(2, cancelled()));
    assert_eq!(starts(&mut turn), [3]);
    assert!(turn.finish(1, cancelled()) && turn.finish(3, cancelled()));
    assert_eq!(starts(&mut turn), [4], "another class is another batch");
    assert!(turn.finish(4, cancelled()));
    assert_eq!(starts(&mut turn), [5]);
    assert!(turn.finish(5, cancelled()));
    assert_eq!(starts(&mut turn), [6]);
}

#[test]
fn what_weighs_more_waits_for_more_room_and_nothing_overtakes_it() {
    // H-233
    let mut turn = turn(&["a2", "a3", "a1", "a9", "a1"], 4);
    assert_eq!(starts(&mut turn), [0], "2 and 3 are more than 4, and 1 does not overtake");
    assert!(turn.finish(0, cancelled()));
    assert_eq!(starts(&mut turn), [1, 2]);
    assert!(turn.finish(1, cancelled()));
    assert_eq!(starts(&mut turn), [0; 0], "the heaviest needs all there is");
    assert!(turn.finish(2, cancelled()));
    assert_eq!(starts(&mut turn), [3]);
    assert!(turn.finish(3, cancelled()));
    assert_eq!(starts(&mut turn), [4]);
    let mut turn = self::turn(&["a", "a"], 1);
    assert_eq!(starts(&mut turn), [0], "a class of one is none");
}

#[test]
fn each_call_has_one_end_in_order_whatever_becomes_of_it() {
    // H-231, H-234
    let inputs = [r#"{"a":1}"#, "{a:1}", "[1]", " ", "null", "{}"];
    let calls = inputs.iter().enumerate().map(|(n, input)| ModelCall::new(format!("{n}"), "t", *input));
    let mut turn = Executor::new(calls, |_| Some(Parallel { class: "c".into(), limit: 9, weight: 1 }));
    let started: Vec<_> = core::iter::from_fn(|| turn.poll_start()).collect();
    let told: Vec<_> =
        started.iter().map(|start| (start.ticket, start.arguments.as_ref().map(RawJson::as_str))).collect();
    assert_eq!(
        told,
        [(0, Some(r#"{"a":1}"#)), (3, None), (5, Some("{}"))],
        "what cannot be read does not run"
    );
    assert!(turn.finish(5, Ending::Refused(CallRefused::UnknownTool)));
    assert!(turn.finish(3, Ending::Refused(CallRefused::TooMany(1))));
    assert_eq!(ends(&mut turn), [], "the first is still running");
    assert!(!turn.finish(1, cancelled()) && !turn.finish(6, cancelled()) && !turn.finish(3, cancelled()));
    assert!(turn.finish(0, cancelled()) && !turn.finish(0, cancelled()));
    let mut messages = Vec::new();
    let kinds = core::iter::from_fn(|| turn.poll_end()).map(|end| {
        messages.push(end.ending.message(&Mask::default()));
        (String::from(&*end.id), end.ending.as_str())
    });
    let (invalid, text) = (INVALID_INPUT_KIND, String::from);
    let expected = [
        (text("0"), "cancelled"),
        (text("1"), invalid),
        (text("2"), invalid),
        (text("3"), "refused"),
        (text("4"), invalid),
        (text("5"), "unknown_tool"),
    ];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
    assert!(turn.is_over() && !turn.finish(0, cancelled()));
    assert!(messages[1].starts_with("invalid_tool_input: the arguments are no JSON: "), "{messages:?}");
    assert_eq!(messages[2], "invalid_tool_input: the arguments are an array, not an object; nothing ran");
    assert!(messages[5].starts_with("unknown_tool: there is no such tool"), "{messages:?}");
}

#[test]
fn a_turn_that_is_given_up_ends_what_has_not_begun() {
    // H-234, H-247
    let mut turn = turn(&["a", "a", "-", "a"], 2);
    assert_eq!(starts(&mut turn), [0, 1]);
    assert!(turn.finish(0, Ending::Refused(CallRefused::Closed)));
    assert_eq!(ends(&mut turn), [(String::from("0"), "refused")]);
    assert_eq!(turn.interrupt(), [1]);
    assert_eq!(starts(&mut turn), [0; 0]);
    assert!(turn.finish(1, cancelled()));
    let end = |n: u8| (format!("{n}"), "cancelled");
    assert_eq!(ends(&mut turn), [end(1), end(2), end(3)]);
}

#[test]
fn too_many_calls_of_one_turn_do_not_run() {
    let mut turn = turn(&vec!["-"; MAX_CALLS + 1], 2);
    assert_eq!(turn.interrupt(), [0; 0]);
    let ends = ends(&mut turn);
    assert_eq!(
        (ends.len(), ends[MAX_CALLS - 1].1, ends[MAX_CALLS].1),
        (MAX_CALLS + 1, "cancelled", "refused")
    );
}

#[test]
fn tools_are_known_with_all_that_a_call_needs_sorted_by_name() {
    // H-229, H-230
    let page = RawJson::parse_str(r#"{"tools":[{"name":"write"},{"name":"read"}]}"#).unwrap();
    let listed = |server: &str| {
        ServerTools::read(server, &ListingSettings::default(), &Mask::default(), core::slice::from_ref(&page))
    };
    let mut registry = Registry::default();
    registry.set("fs", listed("fs"));
    registry.set("db", listed("db"));
    let limit = (String::from("mcp__fs__read"), Duration::from_secs(5));
    let timeouts = CallTimeouts { tools: [limit].into(), ..CallTimeouts::default() };
    let key = |key: &str| RuleKey::read(key).unwrap();
    let classes = Classes {
        limits: BTreeMap::from([("reads".into(), 4), ("one".into(), 1)]),
        tools: vec![
            (key("*/*"), "unknown".into(), 1),
            (key("*/read"), "reads".into(), 9),
            (key("db/read"), "one".into(), 1),
        ],
    };
    let known: Vec<_> = tools(&registry, &timeouts, &classes)
        .map(|tool| {
            (&**tool.name, tool.timeout.as_secs(), tool.parallel.map(|it| (it.class, it.limit, it.weight)))
        })
        .collect();
    let expected = [
        ("mcp__db__read", 30, None),
        ("mcp__db__write", 30, None),
        ("mcp__fs__read", 5, Some(("reads".into(), 4, 4))),
        ("mcp__fs__write", 30, None),
    ];
    assert_eq!(known, expected);
    let tool = Tool::of("mcp__fs__read", &registry, &timeouts, &classes).unwrap();
    assert_eq!(tool.offered.tool, Provenance::new("fs", "read"));
    assert_eq!(tool.offered.definition.input_schema.as_str(), r#"{"type":"object","properties":{}}"#);
    assert_eq!(Tool::of("fs/read", &registry, &timeouts, &classes), None);
}

proptest! {
    #[test]
    fn whatever_ends_first_the_rules_hold(
        kinds in prop::collection::vec(0usize..5, 0..12), limit in 1u32..5, order in prop::collection::vec(any::<usize>(), 12),
    ) {
        // H-233, H-234
        let tools: Vec<_> = kinds.iter().map(|kind| ["-", "a1", "a2", "a7", "b1"][*kind]).collect();
        let mut turn = turn(&tools, limit);
        let (mut running, mut begun, mut ended, mut order) = (Vec::new(), 0, Vec::new(), order.into_iter());
        loop {
            for ticket in starts(&mut turn) {
                prop_assert_eq!(ticket, begun, "in the order asked for");
                begun += 1;
                running.push(ticket);
            }
            let parallel: Vec<_> = running.iter().map(|ticket| parallel(tools[*ticket], limit)).collect();
            if running.len() > 1 {
                let weights = parallel.iter().map(|it| it.as_ref().map(|it| it.weight.clamp(1, limit)));
                let total: Option<u32> = weights.sum();
                prop_assert!(total.is_some_and(|total| total <= limit), "{running:?}");
                let class = |it: &Option<Parallel>| it.as_ref().map(|it| it.class.clone());
                prop_assert!(parallel.iter().all(|it| class(it) == class(&parallel[0])), "{running:?}");
                let (first, last) = (running.iter().min().unwrap(), running.iter().max().unwrap());
                prop_assert!(tools[*first..=*last].iter().all(|tool| tool[..1] == tools[*first][..1]), "neighbours");
            }
            ended.extend(ends(&mut turn).into_iter().map(|(id, _)| id.parse::<usize>().unwrap()));
            if running.is_empty() {
                break;
            }
            let place = order.next().unwrap() % running.len();
            prop_assert!(turn.finish(running.remove(place), cancelled()));
        }
        prop_assert_eq!(ended, (0..tools.len()).collect::<Vec<_>>());
        prop_assert!(turn.is_over());
    }
}
