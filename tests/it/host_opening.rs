//! Servers of a host, opened side by side.

use sanswire::host::Warning;
use sanswire::host::link::Status;
use sanswire_tests::fixture::{legacy_fixture, modern_fixture};
use sanswire_tests::fleet::{Started, World, host_config, runs};
use sanswire_tests::peer::Server;

#[test]
fn one_that_hangs_and_one_that_is_missing_hold_nobody_up() {
    // H-087 H-091 H-222
    let config = host_config(&["hangs", "legacy", "missing", "modern", "mute"]);
    let mut world = World::new(
        config,
        vec![
            ("hangs", Box::new(|_| Started::Hangs)),
            ("legacy", runs(legacy_fixture)),
            ("missing", Box::new(|_| Started::Missing)),
            ("modern", runs(modern_fixture)),
            ("mute", runs(Server::mute)),
        ],
    );
    world.wait_ms(100);
    let status = |world: &World, name: &str| world.status(name);
    assert_eq!(["legacy", "modern"].map(|name| status(&world, name)), [Status::Connected; 2]);
    assert_eq!(["hangs", "mute"].map(|name| status(&world, name)), [Status::Connecting; 2]);
    assert_eq!(status(&world, "missing"), Status::Failed);
    for server in ["legacy", "modern"] {
        let call = world.call(&format!("mcp__{server}__echo"), r#"{"text":"at once"}"#);
        assert_eq!(world.complete(call), "at once");
    }
    assert!(world.elapsed_ms() < 200, "{} ms", world.elapsed_ms());
    assert!(!world.fleet.host().is_started());

    world.until("started", |world| world.fleet.host().is_started());
    assert_eq!(world.elapsed_ms(), 15_000, "the slowest, not the sum");
    assert_eq!(["hangs", "mute"].map(|name| status(&world, name)), [Status::Failed; 2]);
    let failed: Vec<_> = world.warnings();
    let names: Vec<_> = failed
        .iter()
        .filter_map(|warning| match warning {
            Warning::ServerFailed { server, error } => Some((&**server, error.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(names[0], ("missing", "no such program"));
    assert_eq!(names.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["missing", "mute", "hangs"]);
    assert_eq!(failed.last(), Some(&Warning::Summary { failed: 3, enabled: 5 }));
}
