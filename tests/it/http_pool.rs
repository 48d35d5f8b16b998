//! The connections of a client over HTTP, whatever a runtime, the network and servers do.

use sanswire_tests::pool_chaos::{Reached, run};
use sanswire_tests::seed::{Rng, each_seed};

#[test]
fn what_is_asked_ends_once_and_leaves_once_over_no_more_connections_than_allowed() {
    // Golden rules 1, 4 and 6.
    each_seed(100, |seed| {
        let once = run(&mut Rng::new(seed), 400);
        assert_eq!(run(&mut Rng::new(seed), 400), once, "the same calls come to the same");
    });
}

#[test]
fn the_runs_reach_what_they_are_meant_to_reach() {
    let mut all = Reached::default();
    for seed in 0..60 {
        let one = run(&mut Rng::new(seed), 400);
        all.complete += one.complete;
        all.lost += one.lost;
        all.other += one.other;
        all.found_over += one.found_over;
        all.moved += one.moved;
        all.failed += one.failed;
        all.most = all.most.max(one.most);
    }
    all.trace.clear();
    let seen = [all.complete, all.lost, all.other, all.found_over, all.moved, all.failed, all.most];
    assert!(seen.iter().all(|count| *count > 3), "{all:?}");
}
