//! Whole conversations by a seed. A failing one is printed as a script that `simulate --script FILE` runs again.

use std::collections::BTreeSet;

use sanswire_tests::simulation::{
    Coverage, Script, Step, Who, World, check, menu, minimise, web_caller_menu, web_menu,
};

#[test]
fn conversations_of_every_kind_keep_the_golden_rules() {
    // Golden rules 1 to 6.
    let mut seen = Coverage::default();
    for seed in 0..700 {
        let script = Script::of(seed);
        if let Err(failure) = check(&script, &mut seen) {
            let (shortest, how) = minimise(&script, &failure);
            panic!("seed {seed}: {failure}\nshortest:\n{}# {how}", shortest.text());
        }
    }
    for kind in World::ALL {
        assert!(seen.count("world", kind.name()) > 20, "{}", seen.text());
    }
    for rule in ["rule 3", "rule 6"] {
        assert!(seen.count("checked", rule) > 20, "{}", seen.text());
    }
    for outcome in [
        "complete",
        "error",
        "invalid",
        "timed out",
        "cancelled",
        "lost, maybe ran",
        "lost unsent",
        "too large",
    ] {
        assert!(seen.count("outcome", outcome) > 0, "never {outcome}: {}", seen.text());
    }
    for outcome in ["complete", "error", "refused", "challenged", "invalid", "timed out"] {
        assert!(seen.count("outcome over HTTP", outcome) > 0, "never {outcome}: {}", seen.text());
    }
}

#[test]
fn every_behaviour_of_the_menu_is_met() {
    let met: BTreeSet<(Who, usize)> =
        (0..3000).flat_map(|seed| Script::of(seed).steps).map(|step| (step.who, step.act)).collect();
    for who in Who::ALL {
        for (act, name) in who.acts().iter().enumerate() {
            assert!(met.contains(&(who, act)), "nobody ever does {name} ({who:?})");
        }
    }
    let names: BTreeSet<_> = menu::SERVER_MENU.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), menu::SERVER_MENU.len(), "a name stands for two behaviours");
    let names: BTreeSet<_> = web_menu::WEB_MENU.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), web_menu::WEB_MENU.len(), "a name stands for two behaviours");
    let names: BTreeSet<_> = web_caller_menu::WEB_CALLER_MENU.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), web_caller_menu::WEB_CALLER_MENU.len(), "a name stands for two behaviours");
}

#[test]
fn a_script_is_read_back_as_it_was_written() {
    for seed in 0..300 {
        let script = Script::of(seed);
        assert_eq!(Script::parse(&script.text()), Ok(script));
    }
    for bad in
        ["", "world nowhere 1", "world pair x", "world pair 1\nclient dances 3", "world pair 1\nclient call"]
    {
        assert!(Script::parse(bad).is_err(), "{bad:?} was taken");
    }
}

#[test]
fn steps_that_do_not_matter_are_left_out() {
    // Fails where two certain steps stand, in this order.
    let of = |act, n| Step { who: Who::Wait, act, n };
    let fails = |script: &Script| {
        let one = script.steps.iter().position(|step| step.n == 7);
        let other = script.steps.iter().position(|step| step.n == 9);
        if one.is_some() && one < other { Err("both".to_owned()) } else { Ok(()) }
    };
    let mut script = Script { world: World::Pair, setup: 1, steps: (20..60).map(|n| of(0, n)).collect() };
    script.steps[13] = of(1, 7);
    script.steps[31] = of(2, 9);
    let (shortest, how) = sanswire_tests::simulation::shorten(&script, "both", fails);
    assert_eq!(shortest.steps, [of(1, 7), of(2, 9)]);
    assert_eq!(how, "both");
}
