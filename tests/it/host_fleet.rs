//! A host together with its connections: what whoever drives it has to do, and may do wrong.

use std::time::Duration;

use sanswire::client::{Config, PeerRequestHandle};
use sanswire::error::ApiError;
use sanswire::host::link::Status;
use sanswire::host::{CallOutcome, ClientHandle, Fleet, FleetEvent, Opening, ProtocolFault};
use sanswire::mcp::types::input::InputAnswer;
use sanswire::{Instant, client};
use sanswire_tests::client::json;
use sanswire_tests::fixture::{legacy_fixture, modern_fixture};
use sanswire_tests::fleet::{World, host_config, runs};
use sanswire_tests::peer::{Act, initialize_result};
use serde_json::json;

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn attach(fleet: &mut Fleet, client: ClientHandle, millis: u64) -> bool {
    fleet.attach(client, Config::new("harness", "1"), [1; 32], at(millis)).unwrap()
}

fn opened(fleet: &mut Fleet) -> Opening {
    fleet.poll_open().expect("something to open")
}

#[test]
fn what_took_too_long_to_open_is_not_wanted_any_more() {
    let mut fleet = Fleet::new(host_config(&["s"]), at(0)).unwrap();
    let opening = opened(&mut fleet);
    assert_eq!((&*opening.server, opening.until), ("s", at(15_000)));
    assert_eq!((fleet.poll_open(), fleet.poll_shut()), (None, None));
    assert_eq!(fleet.clients().count(), 0);
    fleet.handle_timeout(at(14_999));
    assert_eq!(fleet.poll_shut(), None);
    fleet.handle_timeout(at(15_000));
    assert_eq!(fleet.poll_shut(), Some(opening.client), "stop opening it");
    assert!(!attach(&mut fleet, opening.client, 15_001));
    fleet.failed(opening.client, "no such program", at(15_002));
    let state = fleet.host().state("s").unwrap();
    assert_eq!(state.status, Status::Failed);
    assert!(!state.error.unwrap().contains("no such program"), "what comes late is not heard");
    assert!(fleet.read_buffer(opening.client).is_none() && fleet.connection(opening.client).is_none());
    assert_eq!(fleet.handle_input(opening.client, b"x\n", at(15_003)), 0);
    assert!(fleet.transmit(opening.client).is_empty() && !fleet.wants_read(opening.client));
}

#[test]
fn what_was_shut_before_anybody_took_it_is_not_given_out() {
    let mut fleet = Fleet::new(host_config(&["a", "b"]), at(0)).unwrap();
    let a = opened(&mut fleet).client;
    fleet.close(at(1));
    assert_eq!(fleet.poll_open(), None);
    assert!(!fleet.is_over(), "one is being opened");
    assert_eq!((fleet.poll_shut(), fleet.poll_shut()), (Some(a), None));
    assert!(fleet.is_over());
    assert!(!attach(&mut fleet, a, 2));
}

#[test]
fn a_stream_is_attached_once_and_says_at_once_what_to_write() {
    let mut fleet = Fleet::new(host_config(&["s"]), at(0)).unwrap();
    let client = opened(&mut fleet).client;
    assert!(attach(&mut fleet, client, 5));
    assert!(!attach(&mut fleet, client, 6));
    fleet.failed(client, "too late", at(7));
    assert!(String::from_utf8_lossy(fleet.transmit(client)).contains("server/discover"));
    let len = fleet.transmit(client).len();
    fleet.handle_written(client, len, at(8));
    assert!(fleet.transmit(client).is_empty() && fleet.wants_read(client));
    let limits = &fleet.connection(client).unwrap().session().config().limits;
    assert_eq!(limits.connect, Duration::from_millis(14_995), "as long as the host waits");
    // The stream ends before anything came: it is opened otherwise, under another name.
    fleet.handle_eof(client, at(9));
    assert_eq!(fleet.poll_shut(), Some(client));
    let again = opened(&mut fleet);
    assert_ne!(again.client, client);
    assert_eq!(again.until, at(15_000));
    assert!(attach(&mut fleet, again.client, 10));
    assert!(String::from_utf8_lossy(fleet.transmit(again.client)).contains("initialize"));
    fleet.handle_eof(again.client, at(11));
    assert_eq!(fleet.host().state("s").unwrap().status, Status::Failed);
    assert_eq!((fleet.poll_shut(), fleet.poll_open()), (Some(again.client), None));
}

#[test]
fn a_connection_that_cannot_be_set_up_counts_as_failed() {
    let mut fleet = Fleet::new(host_config(&["s"]), at(0)).unwrap();
    let client = opened(&mut fleet).client;
    let mut config = Config::new("harness", "1");
    config.limits.max_message_bytes = 1;
    let error = fleet.attach(client, config, [1; 32], at(1)).unwrap_err();
    assert_eq!(error.field, "max_message_bytes");
    let state = fleet.host().state("s").unwrap();
    assert_eq!((state.status, state.error.unwrap()), (Status::Failed, error.to_string()));
    assert!(fleet.host().is_started());
}

#[test]
fn a_call_that_cannot_be_sent_ends_at_once() {
    let mut world = World::new(host_config(&["s"]), vec![("s", runs(legacy_fixture))]);
    world.config.limits.max_in_flight = 1;
    world.config.limits.max_message_bytes = 8192;
    world.until("started", |world| world.fleet.host().is_started());
    let slow = world.call("mcp__s__sleep", r#"{"ms":5000}"#);
    world.wait_ms(10);
    let before = world.elapsed_ms();
    let second = world.call("mcp__s__echo", "{}");
    let end = world.end(second);
    assert!(
        matches!(
            &end,
            CallOutcome::ProtocolError(ProtocolFault::NotSent(ApiError::TooManyInFlight { limit: 1 }))
        ),
        "{end:?}"
    );
    assert_eq!(world.elapsed_ms(), before);
    assert_eq!(world.complete(slow), "slept 5000 ms");
    let long = world.call("mcp__s__echo", &json!({"text": "x".repeat(9000)}).to_string());
    let end = world.end(long);
    assert!(
        matches!(&end, CallOutcome::ProtocolError(ProtocolFault::NotSent(ApiError::TooLarge { .. }))),
        "{end:?}"
    );
    assert_eq!((world.status("s"), world.received("s", "tools/call").len()), (Status::Connected, 1));
}

#[test]
fn a_server_is_called_what_the_configuration_calls_it() {
    // P-240 P-241
    let named = |name: &'static str| {
        move || {
            legacy_fixture().with("initialize", move |request, out| {
                let mut result = initialize_result("2025-11-25");
                result["serverInfo"]["name"] = json!(name);
                out.result(request, result);
            })
        }
    };
    let mut world = World::started(
        host_config(&["a", "b", "c"]),
        vec![("a", runs(named("b"))), ("b", runs(named("b"))), ("c", runs(named("mcp__a")))],
    );
    for server in ["a", "b", "c"] {
        let call = world.call(&format!("mcp__{server}__echo"), r#"{"text":"hi"}"#);
        assert_eq!(world.complete(call), "hi");
        assert_eq!(world.received(server, "tools/call").len(), 1, "{server}");
    }
}

/// Requests of servers that wait for an answer.
fn asked(world: &World) -> Vec<(ClientHandle, String, PeerRequestHandle)> {
    let told = world.events.iter().filter_map(|(_, event)| match event {
        FleetEvent::Client { client, server, event: client::Event::PeerRequest { handle, .. }, .. } => {
            Some((*client, server.to_string(), *handle))
        }
        _ => None,
    });
    told.collect()
}

#[test]
fn what_a_server_asks_is_told_and_takes_one_answer() {
    let mut world = World::new(host_config(&["s"]), vec![("s", runs(legacy_fixture))]);
    world.config.capabilities.roots = true;
    world.until("started", |world| world.fleet.host().is_started());
    let ask = |id: &str, method: &str| {
        Act::Message(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}))
    };
    world.act("s", ask("r", "roots/list"));
    world.act("s", ask("e", "elicitation/create"));
    world.wait_ms(10);
    let (client, server, handle) = asked(&world).pop().expect("it was told");
    assert_eq!((asked(&world).len(), &*server), (1, "s"), "what was not declared is refused");
    let (answer, now) = (InputAnswer::Result(json(r#"{"roots":[]}"#)), world.now());
    assert_eq!(world.fleet.answer_peer(client, handle, &answer, now), Ok(()));
    assert_eq!(world.fleet.answer_peer(client, handle, &answer, now), Err(ApiError::UnknownRequest));
    world.wait_ms(10);
    let said: Vec<_> = world.run_of("s").peer.server.responses().into_iter().cloned().collect();
    assert!(said.contains(&json!({"jsonrpc": "2.0", "id": "r", "result": {"roots": []}})), "{said:?}");
    assert!(said.iter().any(|said| said["id"] == "e" && said["error"]["code"] == -32601), "{said:?}");

    world.act("s", ask("late", "roots/list"));
    world.wait_ms(10);
    world.act("s", Act::Close);
    world.until("connected anew", |world| world.starts("s") == 2);
    let (client, _, handle) = asked(&world).pop().unwrap();
    let now = world.now();
    assert_eq!(world.fleet.answer_peer(client, handle, &answer, now), Err(ApiError::Closed));
}

#[test]
fn events_that_nobody_takes_stop_the_reading_and_nothing_is_lost() {
    let mut config = host_config(&["busy", "calm"]);
    config.limits.max_queued_events = 10;
    let mut world = World::new(config, vec![("busy", runs(legacy_fixture)), ("calm", runs(modern_fixture))]);
    world.config.limits.max_queued_events = 10;
    world.until("started", |world| world.fleet.host().is_started());
    world.holding = true;
    for n in 0..500 {
        let params = json!({"level": "info", "data": format!("{n} {}", "x".repeat(1000))});
        world.act(
            "busy",
            Act::Message(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params})),
        );
    }
    let call = world.call("mcp__calm__echo", r#"{"text":"through"}"#);
    world.wait_ms(100);
    let (busy, before) = (world.run_of("busy").client, world.events.len());
    assert!(!world.fleet.wants_read(busy));
    let held = world.fleet.connection(busy).unwrap().retained_bytes();
    assert!(held < 300_000, "{held} bytes held");
    world.holding = false;
    world.wait_ms(100);
    let told = world.events[before..].iter().filter_map(|(_, event)| match event {
        FleetEvent::Client { event: client::Event::Notification { params: Some(params), .. }, .. } => {
            let text = sanswire_tests::client::value(params)["data"].as_str().unwrap().to_owned();
            text.split(' ').next().unwrap().parse::<usize>().ok()
        }
        _ => None,
    });
    assert!(told.eq(0..500), "each of them, in order");
    assert_eq!(world.complete(call), "through");
    assert!(world.fleet.wants_read(busy));
}
