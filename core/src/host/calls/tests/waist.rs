//! The host's calls through the waist: the one dispatch, behind the decision and before the server.

use super::*;
use crate::waist::{Bindings, BrakeLimits, ErrorClass, Grant, RecordKind, Tier, Trust};

fn governed(bindings: Bindings, set: impl FnOnce(&mut HostConfig)) -> World {
    let mut world = World::open(|config| {
        for server in config.servers.values_mut() {
            server.trust = Trust::Trusted;
        }
        set(config);
    });
    world.calls.set_waist(Waist::new(bindings).unwrap());
    world
}

fn records(world: &mut World) -> Vec<(RecordKind, String, Option<ErrorClass>)> {
    let waist = world.calls.waist_mut().unwrap();
    core::iter::from_fn(|| waist.poll_record())
        .map(|record| (record.kind, record.action.to_string(), record.error))
        .collect()
}

#[test]
fn every_call_that_was_let_through_is_recorded_with_what_it_came_to() {
    let mut world = governed(Bindings { always_record: true, ..Bindings::default() }, |_| {});
    let (start, end) = (RecordKind::Start, RecordKind::End);
    let name = || String::from("mcp__s__t");
    let done = world.call("s/t", "{}");
    assert_eq!(records(&mut world), [(start, name(), None)]);
    world.completes(done, "{}");
    assert_eq!(records(&mut world), [(end, name(), None)]);
    let failed = world.call("s/t", r#"{"a":1}"#);
    world.completes(failed, r#"{"isError":true}"#);
    let lost = world.call("s/t", r#"{"a":2}"#);
    world.outcome(lost, Ok(Outcome::Lost { maybe_ran: true }));
    let given_up = world.call("s/t", r#"{"a":3}"#);
    world.cancel(given_up);
    let classes: Vec<_> = records(&mut world).into_iter().filter_map(|(_, _, class)| class).collect();
    assert_eq!(classes, [ErrorClass::Terminal, ErrorClass::Transient, ErrorClass::Cancelled]);
    // What was never let through never comes so far.
    world.calls.set_plan_mode(true);
    world.calls.set_approver(false, at(0));
    world.call("s/t", "{}");
    assert_eq!(records(&mut world), []);
}

#[test]
fn what_the_waist_refuses_wakes_no_server() {
    let mut bindings =
        Bindings { grant: Some(Grant::of(["mcp__s__t", "mcp__r__t"]).into()), ..Bindings::default() };
    bindings.brakes = BrakeLimits { max_calls: 2, ..BrakeLimits::default() };
    let mut world = governed(bindings, |config| {
        let server = config.servers.get_mut("r").unwrap();
        (server.trust, server.tier) = (Trust::SemiTrusted, Some(Tier::Unconfined));
    });
    for (tool, told) in [
        ("s/u", "approval_denied: the call was not made: the grant does not name this action. "),
        (
            "r/t",
            "approval_denied: the call was not made: the work needs a boundary of tier kernel, it has unconfined. ",
        ),
    ] {
        let call = world.call(tool, "{}");
        let (kind, said) = world.told(call);
        assert!(kind == "denied" && said.starts_with(told), "{said}");
    }
    assert!(world.servers.woken.is_empty());
    for n in 0..3 {
        let call = world.call("s/t", &format!(r#"{{"n":{n}}}"#));
        assert_eq!(world.is_sent(call), n < 2, "the third is one too many");
    }
    assert_eq!(world.servers.woken.len(), 2);
    world.calls.waist_mut().unwrap().reset(None);
    let call = world.call("s/t", "{}");
    assert!(world.is_sent(call));
}

#[test]
fn a_call_passes_once_however_often_it_is_looked_at() {
    let bindings = Bindings { always_record: true, ..Bindings::default() };
    let mut world = governed(bindings, |config| config.servers.get_mut("s").unwrap().mode = ServerMode::Ask);
    world.road("s", Road::Pending);
    let call = world.call("s/t", "{}");
    assert_eq!(records(&mut world), [], "it is asked about first");
    world.answer(Answer::AllowOnce);
    world.offer("s", r#"{"name":"t","description":"new"}"#);
    world.road("s", Road::Open);
    world.settled("s");
    world.answer(Answer::AllowOnce);
    assert!(world.is_sent(call));
    world.completes(call, "{}");
    let kinds: Vec<_> = records(&mut world).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(kinds, [RecordKind::Start, RecordKind::End]);
}
