//! Calls on their way: their time, their server, what is lost, what is asked on the way.

use super::*;
use crate::client::{InputAnswers, InputRequired};
use crate::exchange::Partition;
use crate::host::config::Replay;
use crate::mcp::types::input::InputAnswer;

const SECOND: u64 = 1000;

fn limits(world: &World, call: CallHandle) -> Option<Duration> {
    let RequestOptions { idle, absolute, .. } = &world.sent(call).options;
    assert_eq!(idle, absolute);
    *absolute
}

#[test]
fn a_call_may_take_as_long_as_its_exposed_name_says() {
    // H-069
    let mut world = World::open(|config| {
        config.exposure.mode = crate::host::catalog::ExposureMode::Lazy;
        let limits = [("mcp__s__t", 5), ("t", 1), ("s/t", 2), ("mcp_call", 3)];
        config.timeouts.tools = limits.map(|(name, secs)| (name.into(), Duration::from_secs(secs))).into();
    });
    let arguments = r#"{"server":"s","tool":"t"}"#;
    let request = CallRequest::new("1", Target::Tool(Provenance::new("s", "t")), None);
    let calls = [
        world.call("s/t", r#"{"a":1}"#),
        world.own("mcp_call", arguments).unwrap(),
        world.begin(request).unwrap(),
    ];
    for call in calls {
        assert_eq!(limits(&world, call), Some(Duration::from_secs(5)));
    }
    let other = world.call("s/u", "");
    assert_eq!(limits(&world, other), Some(Duration::from_secs(30)));
    let broken = [(Duration::ZERO, "mcp__s__t"), (Duration::from_secs(1), " ")];
    for (limit, name) in broken {
        let mut config = HostConfig::default();
        config.timeouts.tools.insert(name.into(), limit);
        assert_eq!(Calls::new(&config).unwrap_err().field, "timeouts", "{name:?}");
    }
}

#[test]
fn a_call_that_takes_too_long_is_given_up_and_nothing_else_happens() {
    // H-071, H-072, H-073, H-074
    let mut world = World::open(|_| {});
    let call = world.call("s/t", "{}");
    let client = world.sent(call).client;
    assert_eq!(world.calls.poll_timeout(), Some(at(30 * SECOND)));
    world.pass(30 * SECOND - 1);
    assert!(world.is_open(call));
    world.pass(1);
    assert_eq!((world.told(call).0, world.cancelled.as_slice()), ("timeout", &[call][..]));
    assert!(world.told(call).1.contains("30s") && world.told(call).1.contains("may or may not have run"));
    assert!(world.servers.lost.is_empty(), "the connection is as it was");
    world.completes(call, r#"{"content":[{"type":"text","text":"late"}]}"#);
    assert_eq!(world.told(call).0, "timeout");
    let next = world.call("s/t", "{}");
    assert_eq!(world.sent(next).client, client);
    world.outcome(
        next,
        Ok(Outcome::TimedOut {
            which: crate::client::Deadline::Idle,
            limit: Duration::from_secs(1),
            mistyped_reply: false,
        }),
    );
    assert!(matches!(world.end(next), CallOutcome::TimedOut(limit) if limit.as_secs() == 30));
    assert_eq!((world.cancelled.len(), world.servers.lost.len()), (1, 0), "the connection knows of it");
}

#[test]
fn a_call_waits_for_its_server_under_its_own_limit() {
    // H-107
    let mut world = World::open(|_| {});
    world.road("s", Road::Pending);
    let first = world.call("s/t", r#"{"n":1}"#);
    world.pass(10 * SECOND);
    let second = world.call("s/t", r#"{"n":2}"#);
    let elsewhere = world.call("r/t", "{}");
    assert!(world.is_sent(elsewhere), "servers do not wait for each other");
    world.settled("s");
    world.settled("r");
    assert_eq!(world.sent.len(), 1, "it is tried once more");
    world.pass(10 * SECOND);
    world.road("s", Road::Open);
    world.settled("s");
    assert_eq!(world.sent.iter().map(|sent| sent.call).collect::<Vec<_>>(), [elsewhere, first, second]);
    assert_eq!(limits(&world, first), Some(Duration::from_secs(10)));
    assert_eq!(limits(&world, second), Some(Duration::from_secs(20)));

    world.road("s", Road::Pending);
    let (late, refused) = (world.call("s/u", r#"{"n":1}"#), {
        world.pass(29 * SECOND);
        world.call("s/u", r#"{"n":2}"#)
    });
    let cancelled = world.cancelled.len();
    world.pass(SECOND);
    assert_eq!(
        (world.told(late).0, world.cancelled.len()),
        ("timeout", cancelled),
        "there is nothing to give up"
    );
    world.road("s", Road::Shut);
    world.settled("s");
    let told = "unavailable: the server is unavailable; the call was not made: gone";
    assert_eq!(world.told(refused), ("unavailable", told.into()));
    let at_once = world.call("s/u", r#"{"n":3}"#);
    assert_eq!(world.told(at_once).0, "unavailable");
}

#[test]
fn a_call_whose_time_is_over_is_not_sent_though_nobody_said_that_time_passed() {
    let mut world = World::open(|_| {});
    world.road("s", Road::Pending);
    let call = world.call("s/t", "{}");
    world.now = 30 * SECOND;
    world.road("s", Road::Open);
    world.settled("s");
    assert_eq!(world.told(call).0, "timeout");
    assert!(world.sent.is_empty());
}

#[test]
fn time_runs_from_the_answer_on() {
    let mut world = World::new(|_| {});
    let call = world.call("s/t", "{}");
    world.pass(60 * SECOND);
    world.answer(Answer::AllowOnce);
    assert_eq!(limits(&world, call), Some(Duration::from_secs(30)));
    world.pass(30 * SECOND);
    assert_eq!(world.told(call).0, "timeout");
}

#[test]
fn a_lost_call_is_never_made_again_unless_it_never_left_and_that_is_wanted() {
    // H-105, H-198
    let lost = |maybe_ran| Ok(Outcome::Lost { maybe_ran });
    let table = [
        (Replay::Never, lost(true), Some(true)),
        (Replay::Never, lost(false), Some(false)),
        (Replay::Never, Err(ApiError::Closed), Some(false)),
        (Replay::Never, Err(ApiError::NotReady), Some(false)),
        (Replay::UnsentOnly, lost(true), Some(true)),
        (Replay::UnsentOnly, lost(false), None),
        (Replay::UnsentOnly, Err(ApiError::Closed), None),
    ];
    for (replay, outcome, end) in table {
        let mut world = World::open(|config| config.replay = replay);
        let calls = [world.call("s/t", r#"{"n":1}"#), world.call("s/t", r#"{"n":2}"#)];
        let client = world.sent(calls[0]).client;
        world.pass(SECOND);
        for call in calls {
            world.outcome(call, outcome.clone());
        }
        assert_eq!(world.servers.lost, [client, client], "{outcome:?}");
        for call in calls {
            match end {
                Some(ran) => {
                    let CallOutcome::Disconnected { maybe_ran } = world.end(call) else { panic!() };
                    assert_eq!(*maybe_ran, ran, "{replay:?} {outcome:?}");
                    let told = world.told(call).1;
                    assert_eq!(told.contains("may or may not have run: verify the state"), ran, "{told}");
                }
                None => {
                    assert_eq!(limits(&world, call), Some(Duration::from_secs(29)), "it is the same call");
                    world.outcome(call, outcome.clone());
                    assert_eq!(world.told(call).0, "disconnected", "once");
                }
            }
        }
    }
}

#[test]
fn a_call_that_is_made_again_waits_for_its_server_and_is_looked_at_again() {
    let mut world = World::open(|config| config.replay = Replay::UnsentOnly);
    let calls = [world.call("s/t", "{}"), world.call("s/u", "{}")];
    world.road("s", Road::Pending);
    for call in calls {
        world.outcome(call, Ok(Outcome::Lost { maybe_ran: false }));
        assert!(world.is_open(call) && !world.is_sent(call));
    }
    world.offer("s", r#"{"name":"t"}"#);
    world.road("s", Road::Open);
    world.settled("s");
    assert!(world.is_sent(calls[0]));
    assert_eq!(world.told(calls[1]).0, "denied", "it is not offered any more");
}

fn input(round: u32) -> InputRequired {
    let asked = r#"{"resultType":"input_required","requestState":"x","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m"}}}}"#;
    let params = json(r#"{"name":"t"}"#);
    InputRequired::read(&json(asked), Method::ToolsCall, params, round, Partition::default()).unwrap()
}

fn answers() -> InputAnswers {
    InputAnswers::collect(&input(1), |_| InputAnswer::accept(None))
}

impl World {
    fn resume(&mut self, call: CallHandle) -> bool {
        let waits = self.calls.resume(call, answers(), &mut self.servers, at(self.now));
        self.drain();
        waits
    }
}

#[test]
fn a_call_whose_server_asks_something_stands_still_until_it_is_answered() {
    let mut world = World::open(|_| {});
    let call = world.call("s/t", "{}");
    assert!(!world.resume(call), "nothing was asked");
    world.pass(10 * SECOND);
    world.outcome(call, Ok(Outcome::InputRequired(Box::new(input(1)))));
    let Some(Event::InputRequired { call: of, input: asked }) = world.events.last() else { panic!() };
    assert_eq!((*of, asked.round()), (call, 1));
    assert!(world.calls.retained_bytes() > 0);
    world.pass(60 * SECOND);
    assert!(world.is_open(call));
    assert!(world.resume(call) && !world.resume(call), "once");
    assert_eq!(limits(&world, call), Some(Duration::from_secs(20)));
    assert_eq!(world.sent(call).params, format!("{:?}", answers()));
    world.completes(call, "{}");
    assert_eq!(world.told(call).0, "completed");
    assert!(!world.resume(call));
    assert_eq!(world.calls.retained_bytes(), 0);
}

#[test]
fn what_servers_ask_first_is_held_within_a_bound() {
    // One that is held, as a copy, and one that comes.
    let two = input(1).clone().retained_len() + input(1).retained_len();
    let mut world = World::open(|config| config.max_call_bytes = two);
    let calls = [0, 1, 2].map(|n| world.call("s/t", &format!(r#"{{"n":{n}}}"#)));
    for call in calls {
        world.outcome(call, Ok(Outcome::InputRequired(Box::new(input(1)))));
    }
    let told = world.told(calls[2]);
    assert_eq!(told.0, "protocol_error");
    assert!(told.1.contains("max_call_bytes"), "{told:?}");
    assert!(world.is_open(calls[0]) && world.is_open(calls[1]));
    // There is room again when one goes on.
    assert!(world.resume(calls[0]));
    world.outcome(calls[0], Ok(Outcome::InputRequired(Box::new(input(2)))));
    assert!(world.is_open(calls[0]));
}

#[test]
fn a_call_that_is_never_resumed_ends_and_later_rounds_are_not_made_again() {
    let mut world = World::open(|config| config.replay = Replay::UnsentOnly);
    let call = world.call("s/t", "{}");
    world.outcome(call, Ok(Outcome::InputRequired(Box::new(input(1)))));
    world.pass(599 * SECOND);
    assert!(world.is_open(call));
    world.pass(SECOND);
    assert!(matches!(world.end(call), CallOutcome::TimedOut(limit) if limit.as_secs() == 600));
    assert!(world.cancelled.is_empty(), "nothing is under way");

    let call = world.call("s/t", "{}");
    world.outcome(call, Ok(Outcome::InputRequired(Box::new(input(1)))));
    world.road("s", Road::Pending);
    assert!(world.resume(call) && !world.is_sent(call), "its server is being tried");
    world.road("s", Road::Open);
    world.settled("s");
    world.outcome(call, Ok(Outcome::Lost { maybe_ran: false }));
    assert_eq!(world.told(call).0, "disconnected");

    let call = world.call("s/t", r#"{"a":1}"#);
    world.outcome(call, Ok(Outcome::InputRequired(Box::new(input(10)))));
    assert!(world.resume(call));
    world.outcome(call, Err(ApiError::TooManyRounds { limit: 10 }));
    assert!(world.told(call).1.contains("10 times"), "{:?}", world.told(call));
}
