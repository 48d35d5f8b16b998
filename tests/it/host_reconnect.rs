//! A connection of a host that is lost: tried anew within bounds. What was done is counted by the servers themselves.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use sanswire::host::link::Status::{Connected, Failed, Reconnecting, Unavailable};
use sanswire::host::{CallOutcome, Event, HostConfig, Replay, ServerConfig};
use sanswire_tests::fixture::{legacy_fixture, modern_fixture};
use sanswire_tests::fleet::{Program, Started, World, at_first, host_config, runs};
use sanswire_tests::peer::{Act, Server};

const SECOND: Duration = Duration::from_secs(1);

fn world(program: Program) -> World {
    World::started(host_config(&["s"]), vec![("s", program)])
}

fn disconnected(end: &CallOutcome) -> bool {
    matches!(end, CallOutcome::Disconnected { maybe_ran: true })
}

/// A server that takes a second to introduce itself.
fn slow() -> Server {
    legacy_fixture().with("initialize", |request, out| {
        out.after(SECOND).result(request, sanswire_tests::peer::initialize_result("2025-11-25"));
    })
}

#[test]
fn one_death_is_one_new_start_and_nothing_is_made_twice() {
    // H-103 H-105 H-106 H-107 H-110 H-225 H-244 P-128
    for (first, then) in [
        (legacy_fixture as fn() -> Server, slow as fn() -> Server),
        (modern_fixture, modern_fixture),
        (legacy_fixture, modern_fixture),
    ] {
        let mut world = world(at_first(first(), move |_| Started::Runs(then())));
        let offered = world.offered();
        let dies = world.call("mcp__s__die", "{}");
        assert!(disconnected(&world.end(dies)));
        assert_eq!(world.status("s"), Reconnecting);
        let waiting: Vec<_> =
            (0..3).map(|n| world.call("mcp__s__echo", &format!(r#"{{"text":"{n}"}}"#))).collect();
        for (n, call) in waiting.into_iter().enumerate() {
            assert_eq!(world.complete(call), n.to_string());
        }
        assert_eq!(world.statuses("s"), [Connected, Reconnecting, Connected]);
        let opened = |run: usize| {
            let methods = world.runs[run].peer.server.methods();
            methods
                .into_iter()
                .filter(|it| ["initialize", "server/discover"].contains(it))
                .collect::<Vec<_>>()
        };
        let (before, again) = (opened(0), opened(1));
        assert_eq!(before[0], "server/discover", "nothing was known of it");
        // What was learnt of it is what the next start begins with.
        assert_eq!(again[0], *before.last().unwrap());
        assert_eq!(world.starts("s"), 2, "one death, one new start");
        assert_eq!(world.runs.len(), 2);
        let count = |run: usize, method: &str| world.runs[run].peer.server.with_method(method).len();
        assert_eq!([count(0, "tools/call"), count(1, "tools/call")], [1, 3]);
        let again = world.runs[1].peer.server.with_method("tools/call");
        assert!(again.iter().all(|call| call.message["params"]["name"] == "echo"), "nothing is made again");
        assert_eq!([count(0, "tools/list"), count(1, "tools/list")], [1, 0], "the listing stays");
        assert_eq!(world.offered(), offered);
        assert!(world.runs[0].closed.is_some() && world.runs[1].closed.is_none());
    }
}

#[test]
fn many_calls_lost_with_one_session_start_one_worker() {
    // H-105 H-109
    let mut world = world(at_first(legacy_fixture(), |_| Started::Runs(slow())));
    let calls: Vec<_> =
        (0..10).map(|n| world.call("mcp__s__sleep", &format!(r#"{{"ms":20000,"n":{n}}}"#))).collect();
    world.wait_ms(10);
    world.act("s", Act::Close);
    for call in calls {
        assert!(disconnected(&world.end(call)));
    }
    world.until("connected", |world| world.status("s") == Connected);
    world.wait(SECOND * 40);
    assert_eq!((world.starts("s"), world.status("s")), (2, Connected));
    assert_eq!(world.received("s", "tools/call").len(), 10, "none is made again");
    assert_eq!(world.statuses("s"), [Connected, Reconnecting, Connected]);
}

#[test]
fn three_failed_attempts_are_the_end_until_somebody_says_otherwise() {
    // H-107 H-108 H-114
    let back = Rc::new(Cell::new(false));
    let there = back.clone();
    let mut world = world(at_first(legacy_fixture(), move |_| {
        if there.get() { Started::Runs(legacy_fixture()) } else { Started::Missing }
    }));
    let dies = world.call("mcp__s__die", "{}");
    let waits = world.call("mcp__s__echo", r#"{"text":"1"}"#);
    assert!(disconnected(&world.end(dies)));
    assert!(disconnected(&world.end(waits)) || world.ended(waits).is_some());
    assert_eq!((world.status("s"), world.starts("s")), (Unavailable, 4));
    assert_eq!(world.statuses("s"), [Connected, Reconnecting, Unavailable]);
    let before = world.elapsed_ms();
    let refused = world.call("mcp__s__echo", r#"{"text":"2"}"#);
    let end = world.end(refused);
    assert!(
        matches!(&end, CallOutcome::Unavailable { status: Unavailable, error } if error == "no such program"),
        "{end:?}"
    );
    world.wait(SECOND * 100);
    assert_eq!(
        (world.elapsed_ms() / 1000 - before / 1000, world.starts("s")),
        (100, 4),
        "nothing is started"
    );

    // The counter begins anew.
    let now = world.now();
    assert!(world.fleet.reconnect("s", now));
    world.wait_ms(10);
    assert_eq!((world.status("s"), world.starts("s")), (Unavailable, 7));
    back.set(true);
    let now = world.now();
    assert!(world.fleet.reconnect("s", now));
    let call = world.call("mcp__s__echo", r#"{"text":"again"}"#);
    assert_eq!(world.complete(call), "again");
    assert_eq!(world.starts("s"), 8);
    back.set(false);
    let dies = world.call("mcp__s__die", r#"{"n":2}"#);
    world.end(dies);
    world.until("unavailable", |world| world.status("s") == Unavailable);
    assert_eq!(world.starts("s"), 11);
}

#[test]
fn an_attempt_takes_no_longer_than_connecting_may_and_calls_keep_their_own_time() {
    // H-103 H-107
    let mut config = host_config(&["s"]);
    config.servers.get_mut("s").unwrap().connect_timeout = Some(SECOND * 4);
    config.timeouts.tools.insert("mcp__s__echo".into(), SECOND * 3);
    let program = at_first(legacy_fixture(), |_| Started::Runs(Server::mute()));
    let mut world = World::started(config, vec![("s", program)]);
    let dies = world.call("mcp__s__die", "{}");
    world.end(dies);
    let lost = world.elapsed_ms();
    let brief = world.call("mcp__s__echo", "{}");
    let patient = world.call("mcp__s__boom", "{}");
    assert!(matches!(world.end(brief), CallOutcome::TimedOut(limit) if limit == SECOND * 3));
    assert_eq!(world.elapsed_ms() - lost, 3000);
    assert!(matches!(world.end(patient), CallOutcome::Unavailable { status: Unavailable, .. }));
    assert_eq!((world.elapsed_ms() - lost, world.starts("s")), (12_000, 4), "three times four seconds");
    assert!(world.runs.iter().all(|run| run.closed.is_some()));
}

#[test]
fn closing_ends_an_attempt_and_lets_every_waiting_call_go_once() {
    // H-111
    let mut world = world(at_first(legacy_fixture(), |_| Started::Runs(slow())));
    let dies = world.call("mcp__s__die", "{}");
    world.end(dies);
    let waiting: Vec<_> =
        (0..5).map(|n| world.call("mcp__s__echo", &format!(r#"{{"text":"{n}"}}"#))).collect();
    world.wait_ms(500);
    let now = world.now();
    world.fleet.close(now);
    world.until("over", |world| world.fleet.is_over());
    for call in waiting {
        assert!(matches!(world.ended(call), Some(CallOutcome::Cancelled)));
    }
    world.wait(SECOND * 60);
    assert_eq!(world.statuses("s"), [Connected, Reconnecting, Unavailable]);
    assert_eq!(world.starts("s"), 2);
    assert!(world.received("s", "tools/call").len() == 1 && world.runs[1].closed.is_some());
}

#[test]
fn a_server_that_was_not_there_at_first_is_tried_by_a_call() {
    let mut world = World::started(
        host_config(&["a", "s"]),
        vec![
            ("a", runs(legacy_fixture)),
            ("s", Box::new(|n| if n < 1 { Started::Missing } else { Started::Runs(legacy_fixture()) })),
        ],
    );
    assert_eq!((world.status("s"), world.starts("s")), (Failed, 1));
    world.wait(SECOND * 100);
    assert_eq!(world.starts("s"), 1, "nobody wanted it");
    // Nothing is known of its tools, so nothing of it can be called before it was there once.
    assert!(world.try_call("mcp__s__echo", "{}").is_err());
    let now = world.now();
    assert!(world.fleet.reconnect("s", now));
    world.until("connected", |world| world.status("s") == Connected);
    let call = world.call("mcp__s__echo", r#"{"text":"here"}"#);
    assert_eq!(world.complete(call), "here");
}

#[test]
fn attempts_pause_as_long_as_they_are_told_and_a_call_ends_the_pause() {
    // H-112
    let mut config = host_config(&["s"]);
    config.reconnect.backoff = SECOND * 10;
    let mut world = World::started(config, vec![("s", at_first(legacy_fixture(), |_| Started::Missing))]);
    let dies = world.call("mcp__s__die", "{}");
    world.end(dies);
    world.wait_ms(1);
    assert_eq!((world.starts("s"), world.status("s")), (2, Reconnecting));
    world.wait(SECOND * 9);
    assert_eq!(world.starts("s"), 2);
    world.wait(SECOND);
    assert_eq!(world.starts("s"), 3);
    let call = world.call("mcp__s__echo", "{}");
    assert!(matches!(world.end(call), CallOutcome::Unavailable { .. }));
    assert_eq!((world.starts("s"), world.status("s")), (4, Unavailable), "the call did not wait");
}

#[test]
fn only_what_never_left_is_made_again_and_only_on_request() {
    // H-105
    for (replay, expected) in [(Replay::Never, 0), (Replay::UnsentOnly, 1)] {
        let mut config: HostConfig = host_config(&["s"]);
        config.replay = replay;
        let mut world = World::started(config, vec![("s", runs(legacy_fixture))]);
        let sent = world.call("mcp__s__sleep", r#"{"ms":20000}"#);
        world.wait_ms(10);
        // Its end comes before the next call has left.
        let (client, now) = (world.run_of("s").client, world.now());
        let unsent = world.call("mcp__s__echo", r#"{"text":"unsent"}"#);
        world.fleet.handle_eof(client, now);
        assert!(disconnected(&world.end(sent)));
        let end = world.end(unsent);
        match replay {
            Replay::Never => {
                assert!(matches!(end, CallOutcome::Disconnected { maybe_ran: false }), "{end:?}")
            }
            _ => assert!(matches!(end, CallOutcome::Completed(_)), "{end:?}"),
        }
        world.until("connected", |world| world.status("s") == Connected);
        let calls = world.received("s", "tools/call");
        assert_eq!(calls.len(), 1 + expected, "{replay:?}");
        assert_eq!(calls.iter().filter(|call| call.text.contains("sleep")).count(), 1);
    }
}

#[test]
fn what_was_given_up_or_had_begun_to_answer_is_never_made_again() {
    // H-239 H-240
    let mut config = host_config(&["s"]);
    config.replay = Replay::UnsentOnly;
    let mut world =
        World::started(config, vec![("s", at_first(legacy_fixture(), |_| Started::Runs(slow())))]);
    world.run_of("s").peer.server.on("tools/call", |request, out| {
        out.progress(request, 1.0);
        out.after(SECOND).close();
    });
    let begun = world.call("mcp__s__sleep", "{}");
    world.wait_ms(500);
    let told =
        world.find(|event| matches!(event, Event::Progress { call, .. } if *call == begun).then_some(()));
    assert_eq!(told.len(), 1);
    // It has not left when the connection ends, and is given up before there is another.
    world.wait_ms(490);
    let (client, now) = (world.run_of("s").client, world.now());
    let unsent = world.call("mcp__s__echo", r#"{"text":"unsent"}"#);
    world.fleet.handle_eof(client, now);
    assert!(disconnected(&world.end(begun)));
    assert_eq!(world.status("s"), Reconnecting);
    let now = world.now();
    assert!(world.fleet.cancel(unsent, now));
    assert!(matches!(world.end(unsent), CallOutcome::Cancelled));
    world.until("connected", |world| world.status("s") == Connected);
    world.wait(SECOND * 10);
    assert_eq!(world.received("s", "tools/call").len(), 1, "{}", world.report());
}

#[test]
fn a_server_that_is_not_to_be_used_is_never_started() {
    // H-088 H-090
    let mut config = host_config(&["off", "on"]);
    let mut off = ServerConfig::default();
    off.enabled = false;
    config.servers.insert("off".into(), off);
    let programs =
        || -> Vec<(&str, Program)> { vec![("off", runs(legacy_fixture)), ("on", runs(legacy_fixture))] };
    let mut world = World::started(config.clone(), programs());
    let now = world.now();
    assert!(!world.fleet.reconnect("off", now) && !world.fleet.reconnect("nobody", now));
    world.wait(SECOND);
    assert_eq!((world.starts("off"), world.starts("on")), (0, 1));
    config.enabled = false;
    let mut world = World::new(config, programs());
    assert!(world.fleet.host().is_started(), "at once");
    world.wait(SECOND);
    assert!(world.starts.is_empty());
    let states = world.fleet.host().states();
    let told: Vec<_> = states.iter().map(|state| (&*state.name, state.status.as_str())).collect();
    assert_eq!(told, [("off", "disabled"), ("on", "disabled")]);
}
