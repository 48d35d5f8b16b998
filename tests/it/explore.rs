//! Every state that a few steps lead to: what was gone through is counted, and is the same on every machine. The program
//! `explore --further 2` goes two steps further than this.

use sanswire_tests::explore::{Found, Model, Rule, Rules};

fn explored(model: Model) -> Found {
    let mut rules = Rules::new();
    let found = model.explore(0, &mut rules).unwrap_or_else(|broken| panic!("{broken}"));
    for rule in Rule::ALL.iter().filter(|rule| rule.model() == model) {
        assert!(rules.held(*rule) > 0, "nothing was held against {rule:?}");
    }
    found
}

#[test]
fn the_search_for_an_era_keeps_its_rules_in_every_state() {
    let found = explored(Model::Era);
    assert!(found.states > 1000, "{found}");
}

#[test]
fn a_server_that_is_lost_is_tried_anew_within_its_rules_in_every_state() {
    let found = explored(Model::Reconnect);
    assert!(found.states > 1000, "{found}");
}

#[test]
fn calls_that_are_asked_about_keep_their_rules_in_every_state() {
    let found = explored(Model::Approvals);
    assert!(found.states > 1000, "{found}");
}

#[test]
fn a_client_that_listens_keeps_its_rules_in_every_state() {
    let found = explored(Model::Listening);
    assert!(found.states > 500, "{found}");
}

#[test]
fn a_server_that_is_listened_to_keeps_its_rules_in_every_state() {
    let found = explored(Model::Served);
    assert!(found.states > 500, "{found}");
}
