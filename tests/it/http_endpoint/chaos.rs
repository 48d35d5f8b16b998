//! Whatever clients and the application do, in whatever order.

use proptest::prelude::*;
use sanswire_tests::seed::{Rng, each_seed};
use sanswire_tests::web_chaos::{check_http_endpoint, junk, run};

#[test]
fn every_exchange_is_answered_once_and_every_bound_holds() {
    each_seed(150, |seed| {
        run(&mut Rng::new(seed), 120);
    });
}

#[test]
fn the_same_calls_have_the_same_answers_to_the_byte() {
    let all = || {
        let said = |seed| format!("{:?}", run(&mut Rng::new(seed), 150));
        (0..5).map(said).collect::<Vec<_>>()
    };
    assert_eq!(all(), all());
}

#[test]
fn what_fuzzing_begins_with() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/http_endpoint");
    let seeds: Vec<_> = std::fs::read_dir(folder).unwrap().map(|seed| seed.unwrap().path()).collect();
    assert!(!seeds.is_empty());
    for seed in seeds {
        check_http_endpoint(&std::fs::read(seed).unwrap());
    }
}

proptest! {
    #[test]
    fn calls_in_no_order_at_all_are_harmless(data in prop::collection::vec(any::<u8>(), 0..2000)) {
        junk(&data);
    }
}
