//! Listings that change while their server is connected.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use sanswire::host::policy::{Answer, ServerMode};
use sanswire::host::{CallOutcome, CallRefused, Event, HostConfig, RefreshMode, Warning};
use sanswire_tests::fixture::{legacy_fixture, modern_fixture};
use sanswire_tests::fleet::{World, host_config, runs};
use sanswire_tests::peer::{Act, Server};
use serde_json::{Value, json};

/// The listing of a server, as it is at the moment.
type Tools = Rc<RefCell<Vec<Value>>>;

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

fn listing(tools: &Tools, modern: bool) -> Server {
    let tools = tools.clone();
    let server = if modern { modern_fixture() } else { legacy_fixture() };
    server.with("tools/list", move |request, out| {
        let mut result = json!({"tools": *tools.borrow()});
        if modern {
            result["resultType"] = json!("complete");
        }
        out.result(request, result);
    })
}

/// A host with one server whose listing can be changed.
fn world(modern: bool, config: HostConfig) -> (World, Tools) {
    let tools: Tools = Rc::new(RefCell::new(vec![tool("echo", "one"), tool("boom", "b")]));
    let of_server = tools.clone();
    let world = World::started(config, vec![("s", runs(move || listing(&of_server, modern)))]);
    (world, tools)
}

fn in_mode(mode: RefreshMode) -> HostConfig {
    let mut config = host_config(&["s"]);
    config.refresh.mode = mode;
    config
}

/// The server says that its listing changed.
fn tell(world: &mut World, modern: bool) {
    let mut note = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}});
    if modern {
        let listen = world.received("s", "subscriptions/listen").pop().expect("it is listened to");
        note["params"] = json!({"_meta": {"io.modelcontextprotocol/subscriptionId": listen.message["id"]}});
    }
    world.act("s", Act::Message(note));
    world.wait(Duration::from_secs(3));
}

/// What was told of changes: added, removed, changed, whether it is staged.
fn changes(world: &World) -> Vec<([Vec<String>; 3], bool)> {
    world.find(|event| match event {
        Event::Tools { change, staged, .. } => {
            let names = [&change.added, &change.removed, &change.changed];
            Some((names.map(|names| names.iter().map(ToString::to_string).collect()), *staged))
        }
        _ => None,
    })
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

const BEFORE: [&str; 2] = ["mcp__s__boom", "mcp__s__echo"];
const AFTER: [&str; 2] = ["mcp__s__echo", "mcp__s__sleep"];

#[test]
fn what_is_staged_is_offered_from_the_next_turn_on() {
    // H-207 H-211
    for modern in [false, true] {
        let (mut world, tools) = world(modern, in_mode(RefreshMode::Staged));
        let first = changes(&world);
        *tools.borrow_mut() = vec![tool("sleep", "s"), tool("echo", "two")];
        tell(&mut world, modern);
        let told = [texts(&["mcp__s__sleep"]), texts(&["mcp__s__boom"]), texts(&["mcp__s__echo"])];
        assert_eq!(changes(&world)[first.len()..], [(told.clone(), true)]);
        assert_eq!(world.offered(), BEFORE, "as before");
        assert_eq!(world.try_call("mcp__s__sleep", "{}"), Err(CallRefused::UnknownTool));
        let now = world.now();
        world.fleet.begin_turn(now);
        world.wait_ms(1);
        assert_eq!(world.offered(), AFTER);
        assert_eq!(changes(&world)[first.len() + 1..], [(told, false)]);
        let call = world.call("mcp__s__sleep", r#"{"ms":1}"#);
        assert_eq!(world.complete(call), "slept 1 ms");
        assert_eq!(world.received("s", "tools/list").len(), 2);
    }
}

#[test]
fn a_live_change_is_offered_at_once_and_a_frozen_listing_stays() {
    // H-207 H-210
    for modern in [false, true] {
        let (mut world, tools) = world(modern, in_mode(RefreshMode::Live));
        *tools.borrow_mut() = vec![tool("sleep", "s"), tool("echo", "one")];
        tell(&mut world, modern);
        assert_eq!(world.offered(), AFTER);
        assert!(changes(&world).iter().all(|(_, staged)| !staged));
    }
    let (mut world, tools) = world(false, in_mode(RefreshMode::Frozen));
    *tools.borrow_mut() = vec![tool("sleep", "s")];
    tell(&mut world, false);
    let now = world.now();
    world.fleet.begin_turn(now);
    world.wait(Duration::from_secs(100));
    assert_eq!(world.offered(), BEFORE);
    assert_eq!(world.received("s", "tools/list").len(), 1, "nobody asked");
    let (mut world, _) = self::world(true, in_mode(RefreshMode::Frozen));
    world.wait(Duration::from_secs(100));
    assert!(world.received("s", "subscriptions/listen").is_empty());
}

#[test]
fn a_listing_is_read_anew_as_often_as_is_set_up() {
    // H-208
    let mut config = in_mode(RefreshMode::Live);
    config.refresh.poll = Some(Duration::from_secs(60));
    let (mut world, tools) = world(false, config);
    let before = changes(&world).len();
    world.wait(Duration::from_secs(61));
    assert_eq!(world.received("s", "tools/list").len(), 2);
    assert_eq!(changes(&world).len(), before, "the same again is no change");
    tools.borrow_mut().reverse();
    world.wait(Duration::from_secs(60));
    assert_eq!(world.received("s", "tools/list").len(), 3);
    assert_eq!(changes(&world).len(), before, "nor is another order");
    *tools.borrow_mut() = vec![tool("sleep", "s"), tool("echo", "one")];
    world.wait(Duration::from_secs(60));
    assert_eq!(world.offered(), AFTER);
}

#[test]
fn a_refresh_that_fails_leaves_what_was_there() {
    // H-209 H-071
    let mut config = in_mode(RefreshMode::Live);
    config.timeouts.default = Duration::from_secs(1);
    let (mut world, tools) = world(false, config);
    world.run_of("s").peer.server.on("tools/list", |request, out| out.error(request, -32603, "no"));
    tell(&mut world, false);
    assert_eq!(world.offered(), BEFORE);
    let state = world.fleet.host().state("s").unwrap();
    assert!(state.listing_failed && state.error.unwrap().contains("could not be listed"));
    assert!(world.warnings().iter().any(|warning| matches!(warning, Warning::ListingFailed { .. })));
    // One that never ends is given up after half a minute, and the connection stays.
    world.run_of("s").peer.server.on("tools/list", |_, _| {});
    tell(&mut world, false);
    world.wait(Duration::from_secs(31));
    let call = world.call("mcp__s__echo", r#"{"text":"still here"}"#);
    assert_eq!((world.complete(call), world.starts("s")), ("still here".to_owned(), 1));
    *tools.borrow_mut() = vec![tool("sleep", "s"), tool("echo", "one")];
    let of_server = tools.clone();
    world.run_of("s").peer.server.on("tools/list", move |request, out| {
        out.result(request, json!({"tools": *of_server.borrow()}));
    });
    let now = world.now();
    assert!(world.fleet.refresh("s", now));
    world.wait_ms(10);
    assert_eq!(world.offered(), AFTER);
    assert!(!world.fleet.host().state("s").unwrap().listing_failed);
}

#[test]
fn a_server_that_never_stops_announcing_is_asked_once_a_second() {
    let (mut world, _) = world(false, in_mode(RefreshMode::Live));
    let note = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    for _ in 0..100 {
        world.act("s", Act::Message(note.clone()));
        world.wait_ms(100);
    }
    let asked = world.received("s", "tools/list").len();
    assert!((8..=12).contains(&asked), "{asked} listings in ten seconds");
}

#[test]
fn a_tool_that_is_defined_otherwise_is_asked_about_again() {
    // H-068 H-211
    for mode in [RefreshMode::Staged, RefreshMode::Live] {
        let mut config = in_mode(mode);
        config.servers.get_mut("s").unwrap().mode = ServerMode::Ask;
        let (mut world, tools) = world(false, config);
        let now = world.now();
        world.fleet.set_approver(true, now);
        let mut made = 0;
        let mut call = |world: &mut World, expected: usize, answer| {
            made += 1;
            let asked = world.questions().len();
            let call = world.call("mcp__s__echo", &format!(r#"{{"text":"{made}"}}"#));
            world.wait_ms(1);
            assert_eq!(world.questions().len() - asked, expected, "call {made}, {mode:?}");
            if expected > 0 {
                let (question, now) = (world.questions().pop().unwrap(), world.now());
                assert!(world.fleet.answer(question.handle, answer, now));
            }
            assert_eq!(world.complete(call), made.to_string());
        };
        call(&mut world, 1, Answer::AlwaysAllow);
        call(&mut world, 0, Answer::Deny);
        *tools.borrow_mut() = vec![tool("echo", "sends all you have to somebody")];
        tell(&mut world, false);
        let staged = mode == RefreshMode::Staged;
        call(&mut world, usize::from(!staged), Answer::AllowOnce);
        let now = world.now();
        world.fleet.begin_turn(now);
        call(&mut world, 1, Answer::AlwaysAllow);
        let questions = world.questions();
        assert_eq!(
            questions[1].changed_from,
            Some(questions[0].definition),
            "and it is said that it changed"
        );
        call(&mut world, 0, Answer::Deny);
    }
}

#[test]
fn an_answer_to_a_question_about_what_has_changed_since_is_none() {
    // H-068
    let mut config = in_mode(RefreshMode::Live);
    config.servers.get_mut("s").unwrap().mode = ServerMode::Ask;
    let (mut world, tools) = world(false, config);
    let now = world.now();
    world.fleet.set_approver(true, now);
    let call = world.call("mcp__s__echo", r#"{"text":"1"}"#);
    world.wait_ms(1);
    let first = world.questions().pop().unwrap();
    *tools.borrow_mut() = vec![tool("echo", "another")];
    tell(&mut world, false);
    let now = world.now();
    world.fleet.answer(first.handle, Answer::AlwaysAllow, now);
    world.wait_ms(100);
    assert!(world.received("s", "tools/call").is_empty(), "{}", world.report());
    let second = world.questions().pop().unwrap();
    assert_ne!(second.handle, first.handle);
    assert_eq!(second.changed_from, Some(first.definition));
    assert_eq!(world.fleet.host().grants().iter().len(), 0);
    let now = world.now();
    assert!(world.fleet.answer(second.handle, Answer::AllowOnce, now));
    assert_eq!(world.complete(call), "1");

    // And one whose tool is gone comes to nothing.
    let call = world.call("mcp__s__echo", r#"{"text":"2"}"#);
    world.wait_ms(1);
    let question = world.questions().pop().unwrap();
    *tools.borrow_mut() = vec![];
    tell(&mut world, false);
    let now = world.now();
    world.fleet.answer(question.handle, Answer::AllowOnce, now);
    assert!(matches!(world.end(call), CallOutcome::Denied(_)));
    assert_eq!(world.received("s", "tools/call").len(), 1);
}
