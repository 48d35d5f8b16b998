//! A whole site: connections that come, break and rest, whatever else happens.

use sanswire_tests::seed::{Rng, each_seed};
use sanswire_tests::site_chaos::{run, run_calm};

#[test]
fn every_request_is_answered_once_and_nothing_is_held_when_all_is_over() {
    let answers = std::cell::Cell::new(0);
    each_seed(150, |seed| answers.set(answers.get() + run(&mut Rng::new(seed), 300).answers));
    if std::env::var_os("SANSWIRE_SEED").is_none() {
        assert!(answers.get() > 1000, "{answers:?}");
    }
}

#[test]
fn the_same_calls_have_the_same_bytes() {
    let all = || (0..5).map(|seed| run(&mut Rng::new(seed), 300)).collect::<Vec<_>>();
    assert_eq!(all(), all());
}

#[test]
fn whoever_waits_is_answered_however_its_bytes_are_cut() {
    each_seed(100, |seed| run_calm(&mut Rng::new(seed), 400));
}
