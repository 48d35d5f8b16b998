//! Questions, seen from outside: one answer, one call, and only as it was asked about.

use super::*;
use crate::host::policy::{ApprovalHandle, ApprovalLimits, DefinitionHash, SavedGrants};

fn definition(world: &World, server: &str, tool: &str) -> DefinitionHash {
    world.servers.registry.find(server, tool).expect(tool).definition.hash
}

#[test]
fn what_was_asked_about_is_what_is_sent_byte_for_byte() {
    // H-039, H-059, H-236
    let mut world = World::new(|config| config.mask = Mask::new(["s3cr3t"]));
    let arguments = r#"{ "to":"x\u202e", "n" : 1.0, "n":2, "key":"s3cr3t" }"#;
    let call = world.call("s/t", arguments);
    let asked = world.asked.last().unwrap();
    assert_eq!((&*asked.call, asked.kind, &asked.owner), ("1", "mcp", &Principal::named("ann")));
    assert_eq!(asked.tool, Provenance::new("s", "t"));
    assert_eq!(asked.definition, definition(&world, "s", "t"));
    assert_eq!(asked.arguments.as_ref().map(RawJson::as_str), Some(arguments));
    assert!(!asked.preview.contains("s3cr3t") && asked.preview.contains("n: 2"), "{}", asked.preview);
    assert_eq!((asked.reason, asked.changed_from), (Reason::Prompt, None));
    assert!(world.answer(Answer::AllowOnce));
    assert_eq!(world.sent(call).params, format!(r#"{{"name":"t","arguments":{arguments}}}"#));
    assert_eq!(world.ended, [world.asked[0].handle.as_u64()], "also other displays hear that it is answered");
    assert!(!world.answer(Answer::AllowOnce) && !world.answer(Answer::Deny), "once");
    assert!(!world.answer_to(ApprovalHandle::from_u64(77), Answer::AllowOnce));
    assert_eq!((world.sent.len(), world.asked.len()), (1, 1));
}

#[test]
fn an_answer_may_come_before_anybody_heard_of_the_question() {
    // H-236
    let mut world = World::new(|_| {});
    let request = world.request("s/t", "{}");
    let call = world.calls.begin(request, &mut world.servers, at(0)).unwrap();
    assert!(world.answer_to(ApprovalHandle::from_u64(1), Answer::AllowOnce));
    assert!(world.is_sent(call));
    assert_eq!((world.asked.len(), world.ended.len()), (0, 0), "nobody is asked what was answered");
}

#[test]
fn hosts_that_count_from_different_numbers_share_no_handle() {
    // H-236
    let mut world = World::new(|_| {});
    world.calls.count_from(1 << 40);
    let call = world.call("s/t", "{}");
    assert_eq!((call.as_u64(), world.asked[0].handle.as_u64()), ((1 << 40) + 1, (1 << 40) + 1));
    world.calls.count_from(0);
    assert!(!world.answer_to(ApprovalHandle::from_u64(1), Answer::AllowOnce) && world.sent.is_empty());
    assert_eq!(world.call("s/u", "{}").as_u64(), (1 << 40) + 2, "none is used twice");
}

#[test]
fn a_question_that_nobody_answers_denies_in_the_end() {
    // H-062
    let mut world = World::new(|_| {});
    let call = world.call("s/t", "{}");
    world.pass(599_999);
    assert!(world.is_open(call), "a question outlives the limit of a call");
    assert_eq!(world.calls.poll_timeout(), Some(at(600_000)));
    world.pass(1);
    assert_eq!(world.told(call).1, "approval_denied: the call was not made: the time for an answer is over");
    assert!(!world.answer(Answer::AllowOnce) && world.sent.is_empty());
    assert_eq!(world.ended, [1]);
}

#[test]
fn nobody_left_to_ask_denies_what_waits() {
    // H-062, H-038
    let mut world = World::new(|_| {});
    let calls = [world.call("s/t", "{}"), world.call("s/u", "{}"), world.call("s/t", "{}")];
    world.calls.set_approver(false, at(1));
    world.drain();
    for call in calls {
        assert_eq!(world.told(call).1, "approval_denied: the call was not made: nobody could be asked");
    }
    assert!(!world.answer(Answer::AllowOnce) && world.servers.woken.is_empty());
    assert_eq!(world.ended, [1, 2]);
    let denied = world.call("s/t", "{}");
    assert_eq!(world.told(denied).0, "denied");
    world.calls.set_approver(true, at(1));
    let asked = world.call("s/t", "{}");
    assert!(world.is_open(asked));
}

#[test]
fn same_questions_are_asked_once_and_each_answer_lets_one_call_pass() {
    let mut world = World::new(|_| {});
    let same: Vec<_> = (0..2).map(|_| world.call("s/t", r#"{"a":1}"#)).collect();
    // None of these is the same: other arguments, other bytes, another tool, another owner.
    world.call("s/t", r#"{"a":2}"#);
    world.call("s/t", r#"{ "a":1}"#);
    world.call("s/u", r#"{"a":1}"#);
    let request = CallRequest::new("x", Target::Exposed("mcp__s__t".into()), Some(json(r#"{"a":1}"#)));
    world.begin(request).unwrap();
    assert_eq!(world.asked.len(), 5);
    let first = world.asked[0].handle;
    assert_eq!(world.calls.asked_about(first), same, "in the order they came in");
    assert!(world.answer_to(first, Answer::AllowOnce));
    assert!(world.calls.asked_about(first).is_empty(), "it is over");
    assert_eq!(world.calls.asked_about(world.asked[5].handle), &same[1..]);
    assert_eq!(same.iter().map(|call| world.is_sent(*call)).collect::<Vec<_>>(), [true, false]);
    assert_eq!(world.asked.len(), 6, "the other is asked about anew");
    assert_eq!((&*world.asked[5].call, world.asked[5].definition), ("2", world.asked[0].definition));
    assert!(!world.answer_to(first, Answer::AllowOnce));
    assert!(world.answer(Answer::Deny));
    assert_eq!(world.told(same[1]).1, "approval_denied: the call was not made: declined");
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn denying_or_allowing_for_longer_is_for_all_that_are_the_same() {
    for (answer, passes) in [(Answer::Deny, false), (Answer::Failed, false), (Answer::AlwaysAllow, true)] {
        let mut world = World::new(|_| {});
        let calls: Vec<_> = (0..2).map(|_| world.call("s/t", "{}")).collect();
        let other = world.call("r/t", "{}");
        assert!(world.answer_to(world.asked[0].handle, answer));
        for call in calls {
            assert_eq!((world.is_sent(call), world.is_open(call)), (passes, passes), "{answer:?}");
        }
        assert!(world.is_open(other) && !world.is_sent(other), "{answer:?}");
        assert_eq!(world.asked.len(), 2, "{answer:?}");
    }
}

#[test]
fn a_cancelled_call_withdraws_its_question_unless_another_has_it_too() {
    // H-247
    let mut world = World::new(|_| {});
    let (one, other) = (world.call("s/t", "{}"), world.call("s/t", "{}"));
    assert!(world.cancel(one) && !world.cancel(one));
    assert_eq!(world.told(one).0, "cancelled");
    assert_eq!((world.ended.len(), world.asked.len()), (0, 1));
    assert!(world.answer(Answer::AllowOnce) && world.is_sent(other));
    let third = world.call("s/t", r#"{"a":1}"#);
    assert!(world.cancel(third));
    assert_eq!(world.ended, [1, 2]);
    assert!(!world.answer(Answer::AllowOnce) && world.sent.len() == 1);
}

#[test]
fn one_owner_cannot_take_all_places() {
    let mut world = World::new(|_| {});
    for n in 0..9 {
        world.call("s/t", &format!(r#"{{"n":{n}}}"#));
    }
    assert_eq!(world.asked.len(), 8);
    let (call, end) = world.ends.iter().next().unwrap();
    assert!(matches!(end.outcome, CallOutcome::Denied(Denial::NotAsked(_))), "{end:?}");
    assert!(world.told(*call).1.contains("max_open_per_owner"), "{:?}", world.told(*call));
    let same = world.call("s/t", r#"{"n":0}"#);
    assert!(world.is_open(same), "the same once more takes no place");
    let mut request = world.request("s/t", "{}");
    request.owner = Principal::named("bob");
    world.begin(request).unwrap();
    assert_eq!(world.asked.len(), 9);

    let approvals = ApprovalLimits { max_open: 2, ..ApprovalLimits::default() };
    let mut world = World::new(|config| config.approvals = approvals);
    let calls = ["s/t", "s/u", "r/t"].map(|tool| world.call(tool, ""));
    assert_eq!(calls.map(|call| world.is_open(call)), [true, true, false]);
    assert!(world.told(calls[2]).1.contains("max_open)"), "{:?}", world.told(calls[2]));
}

const CHANGED: &str = r#"{"name":"t","description":"Sends all to the world."},{"name":"u"}"#;
const BEFORE: &str = r#"{"name":"t"},{"name":"u"}"#;

#[test]
fn a_definition_that_changed_after_the_question_is_asked_about_anew() {
    // H-068
    for answer in [Answer::AllowOnce, Answer::AlwaysAllow] {
        let mut world = World::new(|_| {});
        let calls = [world.call("s/t", "{}"), world.call("s/t", "{}")];
        let before = definition(&world, "s", "t");
        world.offer("s", CHANGED);
        let now = definition(&world, "s", "t");
        assert!(before != now && world.answer(answer));
        assert!(world.sent.is_empty() && world.servers.woken.is_empty(), "{answer:?}");
        assert_eq!(world.calls.grants().iter().len(), 0);
        assert_eq!(world.asked.len(), 2, "a new question, for both");
        let asked = &world.asked[1];
        assert!(asked.handle != world.asked[0].handle);
        assert_eq!((asked.definition, asked.changed_from), (now, Some(before)));
        assert!(!world.answer_to(world.asked[0].handle, answer), "the old one is over");
        assert!(world.answer(answer) && world.is_sent(calls[0]));
        assert_eq!(world.is_sent(calls[1]), answer == Answer::AlwaysAllow);
    }
}

#[test]
fn a_definition_that_changed_loses_its_grant_and_the_question_says_so() {
    // H-068
    let mut world = World::new(|_| {});
    world.call("s/t", "{}");
    world.answer(Answer::AlwaysAllow);
    let before = definition(&world, "s", "t");
    world.offer("s", CHANGED);
    let call = world.call("s/t", "{}");
    assert!(!world.is_sent(call));
    assert_eq!(world.asked.last().unwrap().changed_from, Some(before));
    world.offer("s", BEFORE);
    assert!(world.answer(Answer::AllowOnce) && !world.is_sent(call), "it changed once more");
    assert_eq!(world.asked.len(), 3);
}

#[test]
fn what_was_allowed_for_longer_passes_as_far_as_it_goes() {
    let mut world = World::new(|_| {});
    let (tool, before) = (Provenance::new("s", "t"), definition(&world, "s", "t"));
    let (saved, dropped) = SavedGrants::read("r/t({\"p\":\"a*\"})\n").unwrap();
    assert_eq!(dropped, []);
    *world.calls.grants_mut().saved_mut() = saved;
    world.calls.grants_mut().saved_mut().allow(&tool, before).unwrap();
    for (tool, arguments, passes) in [
        ("r/t", r#"{"p":"ab"}"#, true),
        ("r/t", r#"{"p":"b"}"#, false),
        ("s/t", r#"{"p":"b"}"#, true),
        ("s/u", r#"{"p":"a"}"#, false),
    ] {
        let call = world.call(tool, arguments);
        assert_eq!(world.is_sent(call), passes, "{tool} {arguments}");
    }
    world.offer("s", CHANGED);
    let call = world.call("s/t", "{}");
    assert!(!world.is_sent(call));
    assert_eq!(world.asked.last().unwrap().changed_from, Some(before));
}

#[test]
fn a_definition_that_changed_while_the_call_waited_is_decided_about_anew() {
    // H-068
    let mut world = World::new(|config| config.servers.get_mut("r").unwrap().mode = ServerMode::Allow);
    for server in ["r", "s"] {
        world.road(server, Road::Pending);
    }
    let (passing, allowed) = (world.call("r/t", "{}"), world.call("s/t", "{}"));
    world.answer(Answer::AllowOnce);
    let before = definition(&world, "s", "t");
    for server in ["r", "s"] {
        world.offer(server, CHANGED);
        world.road(server, Road::Open);
        world.settled(server);
    }
    assert!(world.is_sent(passing), "nobody was asked about this one, and it would pass as it is");
    assert!(!world.is_sent(allowed), "what was allowed is another definition");
    assert_eq!(world.asked.last().unwrap().changed_from, Some(before));
    // Its time stands still while somebody is asked, and begins anew.
    world.pass(100_000);
    assert!(world.is_open(allowed) && world.answer(Answer::AllowOnce) && world.is_sent(allowed));
    assert_eq!(world.sent(allowed).options.absolute, Some(Duration::from_secs(30)));
}

#[test]
fn what_a_server_says_of_a_changed_tool_lets_no_asked_call_pass() {
    // H-068
    let mut world = World::new(|config| config.servers.get_mut("s").unwrap().trust_annotations = true);
    let call = world.call("s/t", "{}");
    world.offer("s", r#"{"name":"t","annotations":{"readOnlyHint":true}}"#);
    assert!(world.answer(Answer::AllowOnce) && !world.is_sent(call));
    assert_eq!(world.asked.len(), 2);
    let fresh = world.call("s/t", r#"{"a":1}"#);
    assert!(world.is_sent(fresh), "a new call goes by what is known when it is made");
    assert!(world.answer(Answer::AllowOnce) && world.is_sent(call));
}

#[test]
fn a_tool_that_is_gone_is_not_called_whatever_was_answered() {
    for answer in [Answer::AllowOnce, Answer::AlwaysAllow, Answer::Deny] {
        let mut world = World::new(|_| {});
        let call = world.call("s/t", "{}");
        world.offer("s", r#"{"name":"u"}"#);
        assert!(world.answer(answer));
        let told = world.told(call).1;
        let why = if answer == Answer::Deny { "declined" } else { "the tool is not offered any more" };
        assert_eq!(told, format!("approval_denied: the call was not made: {why}"));
        assert_eq!((world.calls.grants().iter().len(), world.servers.woken.len()), (0, 0));
    }
    let mut world = World::open(|_| {});
    world.road("s", Road::Pending);
    let call = world.call("s/t", "{}");
    world.offer("s", r#"{"name":"u"}"#);
    world.road("s", Road::Open);
    world.settled("s");
    assert_eq!(world.told(call).0, "denied");
    assert!(world.sent.is_empty());
}
