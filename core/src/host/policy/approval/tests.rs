//! Questions against a model: each lets at most one call pass, and only the one that was asked about.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::host::Provenance;
use crate::host::policy::{DefinitionHash, Reason};
use crate::server::Principal;

const ONE: DefinitionHash = DefinitionHash([1; 32]);
const TWO: DefinitionHash = DefinitionHash([2; 32]);

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

fn question(call: &str, arguments: &str) -> Question {
    Question {
        call: call.into(),
        owner: Principal::named("ann"),
        tool: Provenance::new("s", "t"),
        definition: ONE,
        changed_from: Some(TWO),
        arguments: Some(json(arguments)),
        reason: Reason::Prompt,
    }
}

fn binding(arguments: &str) -> Binding {
    let arguments = ArgumentsHash::of(Some(json(arguments).view()));
    Binding { tool: Provenance::new("s", "t"), definition: ONE, arguments }
}

fn approvals(max_open: usize, expiry: u64) -> Approvals {
    let expiry = Duration::from_millis(expiry);
    Approvals::new(ApprovalLimits { max_open, expiry, ..ApprovalLimits::default() }).unwrap()
}

fn register(approvals: &mut Approvals, call: &str, arguments: &str, now: u64) -> ApprovalHandle {
    approvals.register(question(call, arguments), &Mask::default(), at(now)).unwrap()
}

#[test]
fn a_person_is_asked_with_all_that_is_needed_to_decide() {
    // H-039, H-059, P-250
    let mut approvals = approvals(4, 1000);
    let arguments = r#"{"to": "x\u202e", "n": 1.0, "secret": "s3cr3t"}"#;
    let handle = approvals.register(question("call-7", arguments), &Mask::new(["s3cr3t"]), at(5)).unwrap();
    let request = approvals.poll_request().unwrap();
    assert_eq!(request.handle, handle);
    assert_eq!((&*request.call, request.kind), ("call-7", "mcp"));
    assert_eq!(request.tool, Provenance::new("s", "t"));
    assert_eq!(request.preview, "n: 1.0\nsecret: ***\nto: x\\u{202e}");
    assert_eq!(
        request.arguments.as_ref().map(RawJson::as_str),
        Some(arguments),
        "in full, as they will be sent"
    );
    assert_eq!(request.arguments_hash, binding(arguments).arguments);
    assert_eq!((request.reason, request.definition, request.expires), (Reason::Prompt, ONE, at(1005)));
    assert_eq!((request.owner, request.changed_from), (Principal::named("ann"), Some(TWO)));
    assert!(request.hint.contains("approval"), "{}", request.hint);
    assert_eq!(approvals.poll_request(), None, "each once");

    assert!(approvals.answer(handle, Answer::AllowOnce, at(6)));
    let released = approvals.release(handle, &binding(arguments), at(6)).unwrap();
    assert_eq!(released.arguments.as_ref().map(RawJson::as_str), Some(arguments), "byte for byte");
    assert_eq!((&*released.call, &released.binding, released.grant), ("call-7", &binding(arguments), false));
}

#[test]
fn an_answer_counts_from_the_registration_on_and_releases_once() {
    // H-236, H-061
    let mut approvals = approvals(4, 1000);
    assert!(approvals.is_empty());
    let handle = register(&mut approvals, "1", "{}", 0);
    assert!(!approvals.is_empty());
    assert_eq!(approvals.release(handle, &binding("{}"), at(0)), Err(NotReleased::Waiting));
    assert!(approvals.answer(handle, Answer::AlwaysAllow, at(1)), "before anybody was told of the question");
    assert_eq!(approvals.poll_request(), None, "what is answered is not asked");
    assert!(!approvals.answer(handle, Answer::Deny, at(1)), "the first answer counts");
    assert_eq!(approvals.poll_settled(), Some(handle));
    assert_eq!(approvals.poll_settled(), None);
    assert!(approvals.release(handle, &binding("{}"), at(2)).unwrap().grant);
    assert_eq!(approvals.release(handle, &binding("{}"), at(2)), Err(NotReleased::Unknown));
    assert!(!approvals.answer(handle, Answer::AllowOnce, at(2)));
    assert!(!approvals.answer(ApprovalHandle::from_u64(99), Answer::AllowOnce, at(2)));
    assert_eq!((approvals.len(), approvals.bytes()), (0, 0));
}

#[test]
fn every_end_but_an_allowing_answer_denies() {
    // H-062 P-254
    let table = [
        (Some(Answer::Deny), NotReleased::Declined),
        (Some(Answer::Failed), NotReleased::ApproverFailed),
        (Some(Answer::named("yes")), NotReleased::Declined),
        (Some(Answer::named("")), NotReleased::Declined),
        (None, NotReleased::Expired),
    ];
    for (answer, expected) in table {
        let mut approvals = approvals(4, 1000);
        let handle = register(&mut approvals, "1", "{}", 0);
        if let Some(answer) = answer {
            assert!(approvals.answer(handle, answer, at(1)));
        }
        approvals.handle_timeout(at(1000));
        assert_eq!(approvals.poll_settled(), Some(handle), "{answer:?}");
        assert!(!approvals.answer(handle, Answer::AllowOnce, at(1000)), "too late: {answer:?}");
        assert_eq!(approvals.release(handle, &binding("{}"), at(1000)), Err(expected), "{answer:?}");
        assert_eq!(
            approvals.release(handle, &binding("{}"), at(1000)),
            Err(NotReleased::Unknown),
            "{answer:?}"
        );
    }
    let mut approvals = approvals(4, 1000);
    let handle = register(&mut approvals, "1", "{}", 0);
    assert!(approvals.withdraw(handle) && !approvals.withdraw(handle));
    assert!(!approvals.answer(handle, Answer::AllowOnce, at(0)), "the call was cancelled");
    assert_eq!((approvals.poll_request(), approvals.poll_settled(), approvals.bytes()), (None, None, 0));
    assert_eq!(
        [Answer::named("allow_once"), Answer::named("always_allow")],
        [Answer::AllowOnce, Answer::AlwaysAllow]
    );
}

#[test]
fn an_answer_that_is_not_taken_in_time_is_over() {
    let mut approvals = approvals(4, 1000);
    let handle = register(&mut approvals, "1", "{}", 0);
    assert!(approvals.answer(handle, Answer::AllowOnce, at(999)));
    assert_eq!(approvals.poll_settled(), Some(handle));
    assert_eq!(approvals.poll_timeout(), Some(at(1000)));
    assert_eq!(approvals.release(handle, &binding("{}"), at(1000)), Err(NotReleased::Expired));
    assert_eq!(approvals.poll_timeout(), None);
}

#[test]
fn only_the_call_that_was_asked_about_is_released() {
    // H-059, H-068
    let mut approvals = approvals(4, 1000);
    let handle = register(&mut approvals, "1", r#"{"a":1,"b":[2]}"#, 0);
    assert!(approvals.answer(handle, Answer::AllowOnce, at(0)));
    for other in
        [r#"{"a":1}"#, r#"{"a":1,"b":[2],"confirm":true}"#, r#"{"a":1.0,"b":[2]}"#, r#"{"a":1,"b":[3]}"#]
    {
        assert_eq!(approvals.release(handle, &binding(other), at(0)), Err(NotReleased::OtherCall), "{other}");
    }
    for tool in [Provenance::new("s", "u"), Provenance::new("r", "t")] {
        let other = Binding { tool, ..binding(r#"{"a":1,"b":[2]}"#) };
        assert_eq!(approvals.release(handle, &other, at(0)), Err(NotReleased::OtherCall));
    }
    let same = binding(r#"{ "b":[2], "a":1 }"#);
    let changed = Binding { definition: TWO, ..same.clone() };
    assert_eq!(approvals.release(handle, &changed, at(0)), Err(NotReleased::DefinitionChanged));
    assert_eq!(approvals.release(handle, &same, at(0)), Err(NotReleased::Unknown), "it has to be asked anew");

    let handle = register(&mut approvals, "2", r#"{"a":1,"b":[2]}"#, 0);
    assert!(approvals.answer(handle, Answer::AllowOnce, at(0)));
    let released = approvals.release(handle, &same, at(0)).unwrap();
    assert_eq!(
        released.arguments.map(|sent| sent.as_str().to_string()).as_deref(),
        Some(r#"{"a":1,"b":[2]}"#)
    );
}

#[test]
fn questions_have_a_bound_in_number_and_bytes() {
    let mut few = approvals(2, 1000);
    let first = register(&mut few, "1", "{}", 0);
    register(&mut few, "2", "{}", 0);
    let refused = few.register(question("3", "{}"), &Mask::default(), at(0));
    assert_eq!(refused, Err(NotAsked::TooMany(2)));
    assert!(few.withdraw(first));
    register(&mut few, "3", "{}", 0);

    let limits = ApprovalLimits { max_open_per_owner: 1, ..ApprovalLimits::default() };
    let mut fair = Approvals::new(limits).unwrap();
    let of = |owner: &str| Question { owner: Principal::named(owner), ..question("1", "{}") };
    let first = fair.register(of("ann"), &Mask::default(), at(0)).unwrap();
    assert!(fair.register(of("bob"), &Mask::default(), at(0)).is_ok());
    for owner in ["ann", "bob"] {
        let refused = fair.register(of(owner), &Mask::default(), at(0));
        assert_eq!(refused, Err(NotAsked::TooManyOfOwner(1)), "{owner}");
    }
    assert!(fair.withdraw(first));
    assert!(fair.register(of("ann"), &Mask::default(), at(0)).is_ok());

    let limits = ApprovalLimits { max_bytes: 100, ..ApprovalLimits::default() };
    let mut small = Approvals::new(limits).unwrap();
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(90));
    let refused = small.register(question("1", &long), &Mask::default(), at(0));
    assert_eq!(refused, Err(NotAsked::TooLarge(100)));
    assert_eq!((small.len(), small.bytes()), (0, 0));
    let frame = json(&format!(r#"{{"big":"{}","arguments":{{}}}}"#, "x".repeat(1000)));
    let arguments = frame.slice_of(frame.view().get("arguments").unwrap());
    let small_part = Question { arguments, ..question("1", "{}") };
    assert!(
        small.register(small_part, &Mask::default(), at(0)).is_ok(),
        "the message around it does not stay"
    );

    for (wrong, field) in [
        (ApprovalLimits { max_open: 0, ..ApprovalLimits::default() }, "max_open"),
        (ApprovalLimits { max_open_per_owner: 0, ..ApprovalLimits::default() }, "max_open_per_owner"),
        (ApprovalLimits { max_bytes: 0, ..ApprovalLimits::default() }, "max_bytes"),
        (ApprovalLimits { expiry: Duration::ZERO, ..ApprovalLimits::default() }, "expiry"),
    ] {
        assert_eq!(Approvals::new(wrong).unwrap_err().field, field);
    }
}

#[test]
fn what_questions_hold_is_counted_to_the_byte() {
    let mut approvals = approvals(4, 1000);
    let handle = register(&mut approvals, "call-17", r#"{"a": 1}"#, 0);
    let held = approvals.bytes();
    let preview = approvals.poll_request().unwrap().preview;
    // The call and its owner by name, the arguments as they came, and what is shown of them.
    assert_eq!(held, "call-17".len() + "ann".len() + r#"{"a": 1}"#.len() + preview.len());
    // Exactly as much as there may be, and not a byte more.
    for (max_bytes, fits) in [(held, true), (held - 1, false)] {
        let limits = ApprovalLimits { max_bytes, ..ApprovalLimits::default() };
        let mut bounded = Approvals::new(limits).unwrap();
        let registered = bounded.register(question("call-17", r#"{"a": 1}"#), &Mask::default(), at(0));
        assert_eq!(registered.is_ok(), fits, "{max_bytes} bytes");
    }
    assert!(approvals.withdraw(handle));
    assert_eq!(approvals.bytes(), 0);
}

#[test]
fn handles_count_on_from_where_they_are_told_to_and_never_back() {
    let mut approvals = approvals(4, 1000);
    approvals.count_from(41);
    assert_eq!(register(&mut approvals, "1", "{}", 0).as_u64(), 42);
    approvals.count_from(7);
    assert_eq!(register(&mut approvals, "2", "{}", 0).as_u64(), 43);
}

#[derive(Clone, Debug)]
enum Op {
    Register(u8),
    Answer(u8, Answer),
    Release(u8, u8, bool),
    Withdraw(u8),
    Pass(u16),
    PollRequest,
    PollSettled,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let answer = prop_oneof![Just(Answer::AllowOnce), Just(Answer::AlwaysAllow), Just(Answer::Deny)];
    let op = prop_oneof![
        4 => (0u8..2).prop_map(Op::Register),
        4 => (0u8..6, answer).prop_map(|(n, answer)| Op::Answer(n, answer)),
        4 => (0u8..6, 0u8..2, any::<bool>()).prop_map(|(n, with, same)| Op::Release(n, with, same)),
        1 => (0u8..6).prop_map(Op::Withdraw),
        1 => (0u16..700).prop_map(Op::Pass),
        2 => Just(Op::PollRequest),
        2 => Just(Op::PollSettled),
    ];
    prop::collection::vec(op, 0..60)
}

fn with(n: u8) -> String {
    format!(r#"{{"n":{n}}}"#)
}

proptest! {
    #[test]
    fn a_call_passes_once_and_only_after_it_was_allowed_in_time(ops in ops()) {
        // H-236
        let mut approvals = approvals(3, 1000);
        let (mut now, mut handles) = (0, vec![]);
        // Of each handle: its arguments, when it was registered, and what counts as its answer.
        let mut model: BTreeMap<ApprovalHandle, (u8, u64, Option<Answer>)> = BTreeMap::new();
        let (mut asked, mut released) = (vec![], vec![]);
        for op in ops {
            let handle = |n: u8| handles.get(usize::from(n)).copied().unwrap_or(ApprovalHandle::from_u64(1000));
            match op {
                Op::Register(arguments) => {
                    let room = approvals.len() < 3;
                    let new = approvals.register(question("c", &with(arguments)), &Mask::default(), at(now));
                    prop_assert_eq!(new.is_ok(), room);
                    if let Ok(new) = new {
                        prop_assert!(!model.contains_key(&new));
                        model.insert(new, (arguments, now, None));
                        handles.push(new);
                    }
                }
                Op::Answer(n, answer) => {
                    let known = model.get_mut(&handle(n)).filter(|(_, since, old)| old.is_none() && now < since + 1000);
                    prop_assert_eq!(approvals.answer(handle(n), answer, at(now)), known.is_some());
                    if let Some((_, _, old)) = known {
                        *old = Some(answer);
                    }
                }
                Op::Release(n, arguments, same) => {
                    let definition = if same { ONE } else { TWO };
                    let present = Binding { definition, ..binding(&with(arguments)) };
                    let found = approvals.release(handle(n), &present, at(now));
                    let known = model.get(&handle(n)).copied();
                    let allowed = known.is_some_and(|(asked_with, since, answer)| {
                        matches!(answer, Some(Answer::AllowOnce | Answer::AlwaysAllow))
                            && asked_with == arguments && same && now < since + 1000
                    });
                    prop_assert_eq!(found.is_ok(), allowed, "{:?} of {:?}", found, known);
                    if found.is_ok() {
                        prop_assert!(!released.contains(&handle(n)), "twice");
                        released.push(handle(n));
                    }
                    if !matches!(found, Err(NotReleased::Waiting | NotReleased::OtherCall)) {
                        model.remove(&handle(n));
                    }
                }
                Op::Withdraw(n) => {
                    prop_assert_eq!(approvals.withdraw(handle(n)), model.remove(&handle(n)).is_some());
                }
                Op::Pass(millis) => {
                    now += u64::from(millis);
                    approvals.handle_timeout(at(now));
                    prop_assert!(approvals.poll_timeout().is_none_or(|next| next > at(now)));
                }
                Op::PollRequest => {
                    if let Some(request) = approvals.poll_request() {
                        prop_assert!(!asked.contains(&request.handle), "asked twice");
                        prop_assert_eq!(model[&request.handle].2, None);
                        asked.push(request.handle);
                    }
                }
                Op::PollSettled => {
                    if let Some(settled) = approvals.poll_settled() {
                        let (_, since, answer) = model[&settled];
                        prop_assert!(answer.is_some() || now >= since + 1000);
                    }
                }
            }
            prop_assert_eq!(approvals.len(), model.len());
            prop_assert!(approvals.len() <= 3);
        }
    }
}
