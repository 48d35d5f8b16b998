//! The rules of a host that never break, whatever its servers, the bytes, the clock or the application do.

use std::cell::RefCell;
use std::collections::BTreeMap;

use sanswire::host::Event;
use sanswire_tests::fleet::World;
use sanswire_tests::host_chaos::{torment, world};
use sanswire_tests::seed::each_seed;

#[test]
fn every_accepted_call_ends_once_and_none_is_made_twice() {
    // H-105 H-234
    each_seed(120, |seed| torment(&mut world(seed), seed));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let run = |seed| {
        let mut world = world(seed);
        torment(&mut world, seed);
        let written: Vec<_> = world.runs.iter().map(|run| run.written.clone()).collect();
        (world.report(), written)
    };
    each_seed(15, |seed| {
        let (one, two) = (run(seed), run(seed));
        let differ = one.0.lines().zip(two.0.lines()).find(|(one, two)| one != two);
        assert_eq!(differ, None);
        assert!(one == two, "one goes on where the other ends");
    });
}

#[test]
fn the_random_runs_reach_what_they_are_meant_to_reach() {
    let seen: RefCell<BTreeMap<&'static str, usize>> = RefCell::default();
    for seed in 0..60 {
        let mut world = world(seed);
        torment(&mut world, seed);
        for name in names(&world) {
            *seen.borrow_mut().entry(name).or_default() += 1;
        }
    }
    let seen = seen.into_inner();
    let wanted = [
        "approval",
        "cancelled",
        "completed",
        "denied",
        "disconnected",
        "input_required",
        "protocol_error",
        "timeout",
        "tools",
        "unavailable",
    ];
    for name in wanted {
        assert!(seen.get(name).is_some_and(|count| *count >= 2), "{name}: {seen:?}");
    }
}

/// What happened in a run, by name.
fn names(world: &World) -> Vec<&'static str> {
    world.find(|event| match event {
        Event::Finished { end, .. } => Some(end.outcome.as_str()),
        Event::Approval(_) => Some("approval"),
        Event::InputRequired { .. } => Some("input_required"),
        Event::Tools { .. } => Some("tools"),
        _ => None,
    })
}
