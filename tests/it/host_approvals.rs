//! Calls that somebody is asked about: one answer, one call.

use std::time::Duration;

use sanswire::host::policy::{Answer, NotReleased, Reason, ServerMode};
use sanswire::host::{CallHandle, CallOutcome, Denial, Event};
use sanswire_tests::fixture::{legacy_fixture, modern_fixture};
use sanswire_tests::fleet::{World, host_config, runs};

/// A host that asks, and somebody to be asked.
fn asking() -> World {
    let mut config = host_config(&["new", "old"]);
    for server in config.servers.values_mut() {
        server.mode = ServerMode::Ask;
    }
    let mut world =
        World::started(config, vec![("new", runs(modern_fixture)), ("old", runs(legacy_fixture))]);
    let now = world.now();
    world.fleet.set_approver(true, now);
    world
}

/// A call, and the question about it.
fn asked(
    world: &mut World,
    tool: &str,
    arguments: &str,
) -> (CallHandle, sanswire::host::policy::ApprovalHandle) {
    let before = world.questions().len();
    let call = world.call(tool, arguments);
    world.wait_ms(1);
    let questions = world.questions();
    assert_eq!(questions.len(), before + 1, "{}", world.report());
    (call, questions.last().unwrap().handle)
}

fn answer(world: &mut World, question: sanswire::host::policy::ApprovalHandle, answer: Answer) -> bool {
    let now = world.now();
    world.fleet.answer(question, answer, now)
}

fn denial(end: CallOutcome) -> Denial {
    match end {
        CallOutcome::Denied(why) => why,
        other => panic!("not denied but {other:?}"),
    }
}

#[test]
fn an_answer_lets_one_call_pass_and_a_second_answer_none() {
    // H-035 H-049
    let mut world = asking();
    for server in ["new", "old"] {
        let (call, question) = asked(&mut world, &format!("mcp__{server}__echo"), r#"{"text":"yes"}"#);
        world.wait(Duration::from_secs(100));
        assert_eq!(world.ended(call).map(|_| ()), None, "it waits as long as nobody answers");
        assert!(world.received(server, "tools/call").is_empty());
        assert!(answer(&mut world, question, Answer::AllowOnce));
        assert!(!answer(&mut world, question, Answer::AllowOnce));
        assert!(!answer(&mut world, question, Answer::Deny));
        assert_eq!(world.complete(call), "yes");
        assert!(!answer(&mut world, question, Answer::AlwaysAllow));
        assert_eq!(world.received(server, "tools/call").len(), 1);
        let (call, question) = asked(&mut world, &format!("mcp__{server}__echo"), r#"{"text":"no"}"#);
        assert!(answer(&mut world, question, Answer::Deny));
        assert!(!answer(&mut world, question, Answer::AllowOnce), "an answer is not taken back");
        let why = denial(world.end(call));
        assert_eq!(why, Denial::NotReleased(NotReleased::Declined));
        world.wait_ms(100);
        assert_eq!(world.received(server, "tools/call").len(), 1, "nothing reaches the wire");
    }
    assert_eq!(world.fleet.host().grants().iter().len(), 0);
}

#[test]
fn a_question_that_nobody_answers_in_time_is_answered_with_no() {
    // H-062
    let mut world = asking();
    let (call, question) = asked(&mut world, "mcp__old__echo", "{}");
    let began = world.elapsed_ms();
    assert_eq!(denial(world.end(call)), Denial::NotReleased(NotReleased::Expired));
    assert_eq!((world.elapsed_ms() - began) / 1000, 599, "ten minutes from the call on");
    assert!(!answer(&mut world, question, Answer::AllowOnce), "too late");
    let ended = world.find(|event| match event {
        Event::ApprovalEnded(ended) => Some(*ended),
        _ => None,
    });
    assert_eq!(ended, [question]);
    world.wait_ms(100);
    assert!(world.received("old", "tools/call").is_empty());
}

#[test]
fn when_whoever_was_asked_leaves_nothing_passes() {
    // H-035 H-038 H-062
    let mut world = asking();
    let (call, question) = asked(&mut world, "mcp__old__echo", "{}");
    let now = world.now();
    world.fleet.set_approver(false, now);
    assert_eq!(denial(world.end(call)), Denial::NotReleased(NotReleased::ApproverFailed));
    assert!(!answer(&mut world, question, Answer::AllowOnce));
    let nobody = world.call("mcp__old__echo", r#"{"n":1}"#);
    let why = denial(world.end(nobody));
    assert!(matches!(why, Denial::Decided(decision) if decision.reason == Reason::NoApprover));
    let now = world.now();
    world.fleet.set_approver(true, now);
    let (call, question) = asked(&mut world, "mcp__old__echo", r#"{"text":"back"}"#);
    assert!(answer(&mut world, question, Answer::AlwaysAllow));
    assert_eq!(world.complete(call), "back");
    let granted = world.call("mcp__old__echo", r#"{"text":"granted"}"#);
    assert_eq!(world.complete(granted), "granted");
    let (other, question) = asked(&mut world, "mcp__new__echo", "{}");
    assert!(answer(&mut world, question, Answer::Deny));
    world.end(other);
    assert_eq!(world.received("old", "tools/call").len(), 2);
}

#[test]
fn planning_asks_about_what_is_allowed_otherwise() {
    // H-031 H-051
    let config = host_config(&["s"]);
    let mut world = World::started(config, vec![("s", runs(legacy_fixture))]);
    let now = world.now();
    world.fleet.set_approver(true, now);
    let call = world.call("mcp__s__echo", r#"{"text":"1","mode":"read"}"#);
    world.complete(call);
    world.fleet.host_mut().set_plan_mode(true);
    // No argument of a call talks it past the question.
    let (call, question) = asked(&mut world, "mcp__s__echo", r#"{"text":"2","mode":"read"}"#);
    assert!(answer(&mut world, question, Answer::Deny));
    assert!(matches!(world.end(call), CallOutcome::Denied(_)));
    world.fleet.host_mut().set_plan_mode(false);
    let call = world.call("mcp__s__echo", r#"{"text":"3"}"#);
    assert_eq!(world.complete(call), "3");
    assert_eq!(world.received("s", "tools/call").len(), 2);
}

#[test]
fn what_the_arguments_are_decides_nothing() {
    // H-051 H-053
    let mut world = asking();
    let all = [
        r#"{"path":"/tmp/own/file","n":1}"#,
        r#"{"path":"/etc/shadow","n":2}"#,
        r#"{"mode":"read","n":3}"#,
        r#"{"mode":"list","uri":"file:///tmp/own","n":4}"#,
        "{}",
    ];
    for arguments in all {
        let (call, question) = asked(&mut world, "mcp__old__echo", arguments);
        assert!(answer(&mut world, question, Answer::Deny));
        assert!(matches!(world.end(call), CallOutcome::Denied(_)), "{arguments}");
    }
    let (call, question) = asked(&mut world, "mcp__old__echo", r#"{"path":"/tmp/own","text":"5"}"#);
    assert!(answer(&mut world, question, Answer::AlwaysAllow));
    assert_eq!(world.complete(call), "5");
    let call = world.call("mcp__old__echo", r#"{"path":"/etc/shadow","text":"6"}"#);
    assert_eq!(world.complete(call), "6", "what is allowed is the tool");
    assert_eq!(world.received("old", "tools/call").len(), 2);
}

#[test]
fn being_listed_permits_nothing() {
    // H-052
    let mut config = host_config(&["s"]);
    config.servers.get_mut("s").unwrap().mode = ServerMode::Ask;
    let mut world = World::started(config, vec![("s", runs(legacy_fixture))]);
    for name in world.offered() {
        let call = world.call(&name, "{}");
        let end = world.end(call);
        assert!(matches!(end, CallOutcome::Denied(_)), "{name}: {end:?}");
    }
    world.wait_ms(100);
    assert!(world.received("s", "tools/call").is_empty());
}
