//! Servers of a host, opened side by side.

use std::time::Duration;

use sanswire::client::{Start, Verdict};
use sanswire::host::link::Status;
use sanswire::host::policy::ServerMode;
use sanswire::host::{CallRefused, Event, FleetEvent, RefreshMode, Warning};
use sanswire::mcp::Revision;
use sanswire_tests::fixture::{fixture_tools, legacy_fixture, modern_fixture};
use sanswire_tests::fleet::{Program, Started, World, host_config, runs};
use sanswire_tests::peer::{Server, discover_result};
use serde_json::json;

#[test]
fn one_that_hangs_and_one_that_is_missing_hold_nobody_up() {
    // H-087 H-091
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

#[test]
fn no_more_servers_start_at_once_than_may() {
    let names = ["a", "b", "c", "d", "e"];
    let mut config = host_config(&names);
    config.max_starting = 2;
    let slow = || {
        legacy_fixture().with("tools/list", |request, out| {
            out.after(Duration::from_secs(3)).result(request, json!({"tools": fixture_tools()}));
        })
    };
    let mut programs: Vec<(&str, Program)> = vec![("a", Box::new(|_| Started::Hangs))];
    programs.extend(names[1..].iter().map(|name| (*name, runs(slow))));
    let mut world = World::new(config, programs);
    world.wait_ms(0);
    assert_eq!(names.map(|name| world.starts(name)), [1, 1, 0, 0, 0]);
    let mut seen = vec![];
    while !world.fleet.host().is_started() {
        assert!(world.step());
        let starting = world.runs.iter().filter(|run| world.status(&run.server) == Status::Connecting);
        assert!(starting.count() < 2, "beside the one that hangs\n{}", world.report());
        let connected = names.iter().filter(|name| world.status(name) == Status::Connected).count();
        if seen.last().is_none_or(|(_, last)| *last != connected) {
            seen.push((world.elapsed_ms() / 1000, connected));
        }
    }
    // The probe's hedge and the listing: five seconds each, one after the other in the place that is left.
    assert_eq!(seen.last().map(|(_, connected)| *connected), Some(4));
    assert_eq!(world.status("a"), Status::Failed);
}

#[test]
fn the_time_for_connecting_covers_the_first_listing() {
    // H-070
    let listed_after = |millis: u64| {
        runs(move || {
            legacy_fixture().with("tools/list", move |request, out| {
                out.after(Duration::from_millis(millis)).result(request, json!({"tools": fixture_tools()}));
            })
        })
    };
    let mut config = host_config(&["brief", "in-time", "late", "zero"]);
    let mut set = |name: &str, timeout: Duration| {
        let mut server = config.servers[name].clone();
        server.connect_timeout = Some(timeout);
        server.start = Start::Remembered(Verdict::Legacy);
        config.servers.insert(name.into(), server);
    };
    set("brief", Duration::from_secs(1));
    set("in-time", Duration::from_secs(15));
    set("late", Duration::from_secs(15));
    set("zero", Duration::ZERO);
    let mut world = World::started(
        config,
        vec![
            ("brief", listed_after(2000)),
            ("in-time", listed_after(14_000)),
            ("late", listed_after(16_000)),
            ("zero", listed_after(14_000)),
        ],
    );
    let failed_at = |world: &World, name: &str| {
        let told = world.events.iter().find_map(|(at, event)| match event {
            FleetEvent::Host(Event::Status { server, status: Status::Failed }) if **server == *name => {
                Some((at.as_micros() - 1_000_000) / 1000)
            }
            _ => None,
        });
        (world.status(name), told)
    };
    assert_eq!(failed_at(&world, "brief"), (Status::Failed, Some(1000)));
    assert_eq!(failed_at(&world, "in-time"), (Status::Connected, None));
    assert_eq!(failed_at(&world, "late"), (Status::Failed, Some(15_000)));
    assert_eq!(failed_at(&world, "zero"), (Status::Connected, None), "zero is the default");
    world.wait_ms(5000);
    assert_eq!(world.status("late"), Status::Failed, "what comes later is not heard");
    assert!(world.run_of("late").closed.is_some());
    assert!(!world.offered().iter().any(|name| name.contains("late")));
}

#[test]
fn one_server_of_each_era_behind_one_host() {
    // H-012
    let mut config = host_config(&["new", "old.one"]);
    config.refresh.mode = RefreshMode::Staged;
    let mut world =
        World::started(config, vec![("new", runs(modern_fixture)), ("old.one", runs(legacy_fixture))]);
    let revision = |world: &World, name: &str| world.fleet.host().state(name).unwrap().revision.unwrap();
    assert_eq!(revision(&world, "new"), Revision::V2026_07_28);
    assert_eq!(revision(&world, "old.one"), Revision::V2025_11_25);
    let exposed = world.offered();
    assert_eq!(exposed.len(), 12);
    for name in exposed.iter().filter(|name| name.contains("__echo")) {
        let call = world.call(name, r#"{"text":"hi"}"#);
        assert_eq!(world.complete(call), "hi");
    }
    for server in ["new", "old.one"] {
        let calls = world.received(server, "tools/call");
        assert_eq!(calls.len(), 1, "{server}");
        assert_eq!(calls[0].message["params"]["name"], "echo", "a server hears its own names only");
        assert_eq!(calls[0].message["params"]["arguments"], json!({"text": "hi"}));
    }
    assert!(world.received("new", "initialize").is_empty());
}

#[test]
fn a_server_that_is_denied_is_connected_with_no_tools() {
    // H-097
    let mut config = host_config(&["s"]);
    config.servers.get_mut("s").unwrap().mode = ServerMode::Deny;
    let mut world = World::started(config, vec![("s", runs(legacy_fixture))]);
    let state = world.fleet.host().state("s").unwrap();
    assert_eq!((state.status, state.tools.unwrap().count("denied")), (Status::Connected, 6));
    assert_eq!(world.offered(), [""; 0]);
    let told = world.find(|event| match event {
        Event::Connected { tools, .. } => Some(*tools),
        _ => None,
    });
    assert_eq!(told, [0]);
    assert_eq!(world.try_call("mcp__s__echo", "{}"), Err(CallRefused::UnknownTool));
}

#[test]
fn nothing_is_published_of_what_connects_while_all_is_closed() {
    // H-098
    for wait in [0, 1, 2, 3, 4, 5, 6, 7, 8] {
        let names = ["late", "now"];
        let slow = || {
            modern_fixture().with("server/discover", |request, out| {
                let mut result = discover_result(&["2026-07-28"]);
                result["capabilities"] = json!({"tools": {}});
                out.after(Duration::from_secs(1)).result(request, result);
            })
        };
        let mut world =
            World::new(host_config(&names), vec![("late", runs(slow)), ("now", runs(modern_fixture))]);
        world.wait_ms(wait);
        let before = world.find(|event| match event {
            Event::Connected { server, .. } => Some(server.clone()),
            _ => None,
        });
        let now = world.now();
        world.fleet.close(now);
        world.until("over", |world| world.fleet.is_over());
        world.wait_ms(5000);
        let connected = world.find(|event| match event {
            Event::Connected { server, .. } => Some(server.clone()),
            _ => None,
        });
        assert_eq!(connected, before, "closed after {wait} ms\n{}", world.report());
        assert!(!connected.iter().any(|name| **name == *"late"));
        assert!(world.runs.iter().all(|run| run.closed.is_some()), "each stream is closed");
        assert_eq!(names.map(|name| world.status(name)), [Status::Unavailable; 2]);
    }
}
