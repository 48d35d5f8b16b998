//! That what is told is what is decided: for every kind of call under every kind of policy.

use alloc::string::ToString;
use alloc::vec;

use super::*;
use crate::host::Provenance;
use crate::host::policy::{CallRules, Hints, RuleDecision, RuleKey, ServerPolicy, decide};

const MODES: [ServerMode; 3] = [ServerMode::Ask, ServerMode::Allow, ServerMode::Deny];
const RULES: [Option<RuleDecision>; 4] =
    [None, Some(RuleDecision::Allow), Some(RuleDecision::Ask), Some(RuleDecision::Deny)];

fn hints(read_only: Option<bool>, destructive: Option<bool>, open_world: Option<bool>) -> Hints {
    Hints { read_only, destructive, open_world }
}

/// Looks at all of them.
fn each(mut look: impl FnMut(&Policy, &CallContext<'_>)) {
    let tool = Provenance::new("s", "t");
    let said = [
        Hints::default(),
        hints(Some(true), Some(true), None),
        hints(None, Some(false), Some(false)),
        hints(Some(false), Some(false), None),
    ];
    for (mode, rule, flags) in MODES
        .iter()
        .flat_map(|mode| RULES.iter().flat_map(move |rule| (0..256).map(move |n| (mode, rule, n))))
    {
        let on = |bit: u32| flags & (1 << bit) != 0;
        let policy = Policy {
            servers: [("s".to_string(), ServerPolicy { mode: *mode, trust_annotations: on(0) })].into(),
            rules: CallRules::of(rule.map(|rule| (RuleKey::read("s/*").unwrap(), rule))),
            never_trust_annotations: on(1),
            skip_prompts: on(2),
            plan_mode_honours_grants: on(3),
            ..Policy::default()
        };
        for (hints, nth) in said.iter().flat_map(|hints| [(hints, 2), (hints, 3)]) {
            let mut call = CallContext::new(&tool);
            (call.hints, call.nth_in_turn) = (*hints, nth);
            (call.plan_mode, call.approver) = (on(4), on(5));
            (call.granted, call.guard_refuses) = (on(6), on(7));
            look(&policy, &call);
        }
    }
}

/// The decision once more, said otherwise: as questions inside of questions.
fn by_definition(policy: &Policy, call: &CallContext<'_>) -> (Verdict, Reason) {
    let (server, rule) = (policy.servers["s"], policy.rules.find(call.tool).map(|(_, decision)| decision));
    if call.guard_refuses {
        return (Verdict::Deny, Reason::Guard);
    }
    if server.mode == ServerMode::Deny {
        return (Verdict::Deny, Reason::ServerDeny);
    }
    if rule == Some(RuleDecision::Deny) {
        return (Verdict::Deny, Reason::RuleDeny);
    }
    let tame = call.hints.destructive == Some(false) && call.hints.open_world == Some(false);
    let trusted =
        server.trust_annotations && !policy.never_trust_annotations && rule != Some(RuleDecision::Ask);
    let passes = if rule == Some(RuleDecision::Allow) && !call.plan_mode {
        Some(Reason::RuleAllow)
    } else if rule.is_none() && server.mode == ServerMode::Allow && !call.plan_mode {
        Some(Reason::ServerAllow)
    } else if trusted && call.hints.read_only == Some(true) {
        Some(Reason::TrustedReadOnly)
    } else if trusted && tame {
        Some(Reason::TrustedClosedHarmless)
    } else if policy.skip_prompts {
        Some(Reason::SkipPrompts)
    } else if call.approver && call.granted && (!call.plan_mode || policy.plan_mode_honours_grants) {
        Some(Reason::SessionGrant)
    } else {
        None
    };
    let asked = if call.approver { Verdict::Ask } else { Verdict::Deny };
    match passes {
        Some(_) if call.nth_in_turn >= policy.ask_on_repeat => (asked, Reason::Repeat),
        Some(reason) => (Verdict::Call, reason),
        None if call.approver => (asked, Reason::Prompt),
        None => (asked, Reason::NoApprover),
    }
}

#[test]
fn the_last_step_that_decided_is_the_decision() {
    // H-030, H-034, H-041, H-044, H-045, H-048
    let mut cases = 0;
    each(|policy, call| {
        cases += 1;
        let (decision, steps) = (decide(policy, call), explain(policy, call));
        assert_eq!((decision.verdict, decision.reason), by_definition(policy, call), "{policy:?} {call:?}");
        let last = steps.iter().rfind(|step| step.decided.is_some()).expect("one decides");
        assert_eq!((last.step, last.decided), (decision.reason, Some(decision.verdict)), "{steps:?}");

        let order: Vec<_> = steps.iter().map(|step| step.step).collect();
        assert_eq!(order[..11], STEPS);
        assert_eq!(order[11..], [Reason::Repeat]);
        let decided: Vec<_> = steps.iter().filter(|step| step.decided.is_some()).collect();
        let first = steps.iter().find(|step| step.applies).expect("the prompt does");
        assert_eq!(decided.first(), Some(&first), "nothing that applies is passed over: {steps:?}");
        assert!(decided.iter().all(|step| step.applies), "{steps:?}");
        match decided[..] {
            [_] => {}
            [first, last] => assert_eq!((first.decided, last.step), (Some(Verdict::Call), Reason::Repeat)),
            _ => panic!("{steps:?}"),
        }
        for step in &steps {
            assert!(!step.why.is_empty() && !step.why.contains('\n'), "{step:?}");
        }
    });
    assert_eq!(cases, 3 * 4 * 256 * 8);
}

#[test]
fn nothing_passes_what_denies_for_good() {
    // H-041, H-049
    each(|policy, call| {
        let denied = call.guard_refuses
            || policy.servers["s"].mode == ServerMode::Deny
            || policy.rules.find(call.tool).is_some_and(|(_, rule)| rule == RuleDecision::Deny);
        let steps = explain(policy, call);
        let decided: Vec<_> = steps.iter().filter_map(|step| step.decided).collect();
        if denied {
            assert_eq!(decided, [Verdict::Deny], "{steps:?}");
            assert_eq!(decide(policy, call).verdict, Verdict::Deny, "{steps:?}");
        }
    });
}

#[test]
fn every_step_says_why_it_applies_or_does_not() {
    let tool = Provenance::new("s", "t");
    let why = |policy: &Policy, call: &CallContext<'_>, step: Reason| {
        let steps = explain(policy, call);
        let step = steps.into_iter().find(|told| told.step == step).expect("each is told");
        (step.applies, step.why)
    };
    let ruled = |key: &str, decision| CallRules::of([(RuleKey::read(key).expect(key), decision)]);
    let with = |mode, trust_annotations| Policy {
        servers: [("s".to_string(), ServerPolicy { mode, trust_annotations })].into(),
        ..Policy::default()
    };
    let (allowing, trusting) = (with(ServerMode::Allow, false), with(ServerMode::Ask, true));
    let mut call = CallContext::new(&tool);
    call.hints = hints(Some(false), None, Some(false));
    let table = vec![
        (&allowing, Reason::Guard, false, "the guard does not refuse the call"),
        (&allowing, Reason::ServerDeny, false, "the server's approval is allow"),
        (&allowing, Reason::RuleDeny, false, "no rule is about the tool"),
        (&allowing, Reason::ServerAllow, true, "the server's approval is allow"),
        (&trusting, Reason::ServerAllow, false, "the server's approval is ask"),
        (&allowing, Reason::TrustedReadOnly, false, "the server's hints are not trusted (trust_annotations)"),
        (&trusting, Reason::TrustedReadOnly, false, "readOnlyHint is false"),
        (
            &trusting,
            Reason::TrustedClosedHarmless,
            false,
            "destructiveHint is not said, which means true; openWorldHint is false",
        ),
        (&trusting, Reason::NoApprover, true, "there is nobody to ask"),
    ];
    for (policy, step, applies, words) in table {
        assert_eq!(why(policy, &call, step), (applies, words.into()), "{step}");
    }
    let denying = Policy { rules: ruled("s/t*", RuleDecision::Deny), ..allowing.clone() };
    let said = r#"the last rule about the tool, "s/t*", says deny"#;
    assert_eq!(why(&denying, &call, Reason::RuleDeny), (true, said.into()));
    let (applies, words) = why(&denying, &call, Reason::ServerAllow);
    assert!(!applies && words.ends_with("takes the place of the server's approval"), "{words}");
    let long = Policy {
        rules: ruled(&alloc::format!("s/{}*", "x\n".repeat(300)), RuleDecision::Deny),
        ..Policy::default()
    };
    let odd = Provenance::new("s", "x\n".repeat(301));
    let (applies, words) = why(&long, &CallContext::new(&odd), Reason::RuleDeny);
    assert!(applies && words.len() < 600 && !words.contains('\n'), "{words}");

    (call.plan_mode, call.granted, call.nth_in_turn) = (true, true, 3);
    let strict = Policy { plan_mode_honours_grants: false, ..allowing.clone() };
    assert_eq!(why(&allowing, &call, Reason::ServerAllow).1, "nothing is allowed that way while planning");
    assert!(why(&strict, &call, Reason::SessionGrant).1.contains("plan_mode_honours_grants"));
    assert_eq!(
        why(&strict, &call, Reason::Repeat),
        (
            true,
            "call 3 of this tool with these arguments in this turn; somebody is asked from call 3 on \
             (ask_on_repeat)"
                .into()
        )
    );
}
