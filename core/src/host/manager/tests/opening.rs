//! Opened side by side, late, lost, tried anew, shut.

use super::*;
use crate::client::Verdict;
use crate::host::policy::ServerMode;

/// The settings of one server.
fn of<'a>(config: &'a mut HostConfig, server: &str) -> &'a mut ServerConfig {
    config.servers.get_mut(server).expect(server)
}

#[test]
fn servers_are_opened_side_by_side_each_in_its_own_time() {
    // H-070, H-087, H-089, H-091, H-092
    let mut world = World::new(&["c", "a", "b"], |config| {
        of(config, "b").connect_timeout = Some(Duration::from_secs(3));
        of(config, "c").connect_timeout = Some(Duration::ZERO);
    });
    assert_eq!(world.opens(), ["a", "b", "c"]);
    assert!(world.manager.states().iter().map(|state| &*state.name).eq(["a", "b", "c"]));
    assert_eq!(world.statuses(), ["connecting"; 3]);
    let untils = ["a", "b", "c"].map(|server| world.until(server).as_micros() / 1_000_000);
    assert_eq!(untils, [15, 3, 15], "nothing and zero mean the default");
    world.connect("c", &["t", "u"]);
    assert_eq!(
        world.told(),
        ["c +mcp__c__t +mcp__c__u", "c connected", "c speaks 2025-11-25: 2 tools"],
        "neither waits for the others"
    );
    world.wait(2_999);
    assert_eq!(world.told(), [""; 0]);
    world.wait(1);
    let late = "! b: it was not ready within 3000 ms (connect_timeout)";
    assert_eq!(world.told(), ["b failed", late]);
    assert!(!world.is_open("b"), "it is shut");
    // The first listing counts as well.
    world.ready("a");
    assert_eq!(world.listing("a").unwrap().options.absolute, Some(Duration::from_secs(12)));
    world.wait(12_000);
    let late = "! a: its tools were not listed within 15000 ms (connect_timeout)";
    assert_eq!(world.told(), ["a failed", late, "! 2 of 3", "started"]);
    assert_eq!(world.statuses(), ["failed", "failed", "connected"]);
    assert_eq!(world.opens(), ["c"]);
}
