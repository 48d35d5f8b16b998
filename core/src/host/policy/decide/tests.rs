//! The order of steps: by table, and by what must never happen whatever else is set.

use alloc::string::ToString;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::host::Mask;
use crate::host::policy::{
    Answer, ApprovalLimits, Approvals, ArgumentsHash, Binding, DefinitionHash, Grants, NotReleased, Question,
    RuleKey,
};
use crate::jsonrpc::RawJson;
use crate::mcp::types::page::ListItem;
use crate::server::Principal;
use crate::time::Instant;

const DEFINITION: DefinitionHash = DefinitionHash([7; 32]);

fn tool() -> Provenance {
    Provenance::new("s", "t")
}

fn hints(annotations: &str) -> Hints {
    let text = alloc::format!(r#"{{"name":"t","annotations":{annotations}}}"#);
    Hints::of(&Tool::read(RawJson::parse_str(&text).expect(&text)).expect(&text))
}

fn policy(mode: &str, trust_annotations: bool) -> Policy {
    let server = ServerPolicy { mode: ServerMode::named(mode).expect(mode), trust_annotations };
    Policy { servers: [("s".to_string(), server)].into(), ..Policy::default() }
}

/// What a call comes to: called or not, the step that decided, whether somebody was asked, whether a grant was recorded.
type Came = (bool, &'static str, bool, bool);

/// Goes all the way with a call: decides, asks if that is the verdict, and gives what came of it.
fn run(policy: &Policy, call: &CallContext<'_>, answer: Option<&str>, grants: &mut Grants) -> Came {
    let decision = decide(policy, call);
    let step = decision.reason.as_str();
    match decision.verdict {
        Verdict::Call => return (true, step, false, false),
        Verdict::Deny => return (false, step, false, false),
        Verdict::Ask => {}
    }
    let now = Instant::ZERO;
    let mut approvals = Approvals::new(ApprovalLimits::default()).unwrap();
    let (tool, reason) = (call.tool.clone(), decision.reason);
    let question = Question {
        call: "1".into(),
        owner: Principal::anonymous(),
        tool: tool.clone(),
        definition: DEFINITION,
        changed_from: None,
        arguments: None,
        reason,
    };
    let handle = approvals.register(question, &Mask::default(), now).unwrap();
    assert!(approvals.poll_request().is_some());
    let answer = match answer {
        Some("error") | None => Answer::Failed,
        Some(name) => Answer::named(name),
    };
    assert!(approvals.answer(handle, answer, now));
    let binding = Binding { tool, definition: DEFINITION, arguments: ArgumentsHash::of(None) };
    match approvals.release(handle, &binding, now) {
        Ok(released) => {
            let recorded =
                released.grant && grants.allow(&released.binding.tool, released.binding.definition);
            (true, step, true, recorded)
        }
        Err(NotReleased::Declined) => (false, step, true, false),
        Err(why) => (false, why.as_str(), true, false),
    }
}

/// Note; mode, plan mode, trust, annotations; approver, session grant; what it comes to.
type Row<'a> = (&'a str, (&'a str, bool, bool, &'a str), (Option<&'a str>, bool), Came);

#[test]
fn the_first_step_that_applies_decides() {
    // H-030, H-031, H-032, H-033, H-034, H-036, H-061
    const READS: &str = r#"{"readOnlyHint":true}"#;
    const TAME: &str = r#"{"destructiveHint":false,"openWorldHint":false}"#;
    let (once, always, no) = (Some("allow_once"), Some("always_allow"), Some("deny"));
    let asked = (true, "prompt", true, false);
    let declined = (false, "prompt", true, false);
    let nobody = (false, "no_approver", false, false);
    let reads = (true, "trusted_read_only", false, false);
    let granted = (true, "session_grant", false, false);
    #[rustfmt::skip]
    let table: [Row<'_>; 24] = [
        ("deny beats all", ("deny", false, true, READS), (once, true), (false, "server_deny", false, false)),
        ("allow needs nobody", ("allow", false, false, "null"), (None, false), (true, "server_allow", false, false)),
        ("allow asks while planning", ("allow", true, false, "null"), (once, false), asked),
        ("and fails closed", ("allow", true, false, "null"), (None, false), nobody),
        ("trust while planning", ("allow", true, true, READS), (None, false), reads),
        ("asked, accepted", ("ask", false, false, "null"), (once, false), asked),
        ("asked, declined", ("ask", false, false, "null"), (no, false), declined),
        ("asking fails", ("ask", false, false, "null"), (Some("error"), false), (false, "approver_error", true, false)),
        ("nobody to ask", ("ask", false, false, "null"), (None, false), nobody),
        ("empty mode", ("", false, false, "null"), (once, false), asked),
        ("hints without trust", ("ask", false, false, READS), (once, false), asked),
        ("trusted, reads only", ("ask", false, true, READS), (None, false), reads),
        ("trusted, tame", ("ask", false, true, TAME), (None, false), (true, "trusted_closed_harmless", false, false)),
        ("open world not said", ("ask", false, true, r#"{"destructiveHint":false}"#), (once, false), asked),
        ("destructive not said", ("ask", false, true, r#"{"openWorldHint":false}"#), (once, false), asked),
        ("nothing said", ("ask", false, true, "{}"), (once, false), asked),
        ("no annotations", ("ask", false, true, "null"), (once, false), asked),
        ("contradiction", ("ask", false, true, r#"{"readOnlyHint":true,"destructiveHint":true}"#), (None, false), reads),
        ("destructive", ("ask", false, true, r#"{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":false}"#),
            (no, false), declined),
        ("always allow", ("ask", false, false, "null"), (always, false), (true, "prompt", true, true)),
        ("granted", ("ask", false, false, "null"), (no, true), granted),
        ("granted, planning", ("ask", true, false, "null"), (no, true), granted),
        ("nobody comes before grants", ("ask", false, false, "null"), (None, true), nobody),
        ("unknown answer", ("ask", false, false, "null"), (Some("something_else"), false), declined),
    ];
    let tool = tool();
    for (note, (mode, plan_mode, trust, annotations), (approver, granted), expected) in table {
        let mut grants = Grants::default();
        let mut call = CallContext::new(&tool);
        (call.hints, call.plan_mode) = (hints(annotations), plan_mode);
        (call.approver, call.granted) = (approver.is_some(), granted);
        assert_eq!(run(&policy(mode, trust), &call, approver, &mut grants), expected, "{note}");
        assert_eq!(grants.iter().len(), usize::from(expected.3), "{note}");
    }
    assert_eq!(DENIED_KIND, "approval_denied");
}

#[test]
fn what_is_no_boolean_is_no_hint() {
    // H-033
    let said = hints(r#"{"readOnlyHint":"true","destructiveHint":0,"openWorldHint":null}"#);
    assert_eq!(said, Hints::default());
    assert_eq!(hints("[]"), Hints::default());
}

#[test]
fn a_servers_policy_of_a_mode_believes_no_hints() {
    for mode in [ServerMode::Ask, ServerMode::Allow, ServerMode::Deny] {
        assert_eq!(ServerPolicy::of(mode), ServerPolicy { mode, trust_annotations: false });
    }
}

fn decided(policy: &Policy, call: &CallContext<'_>) -> (Verdict, Reason) {
    let decision = decide(policy, call);
    (decision.verdict, decision.reason)
}

#[test]
fn every_tool_of_every_server_is_asked_about_by_default() {
    // H-040, H-048, H-050, P-237
    for (server, name) in [("s", "read_file"), ("unknown", "list"), ("s", "mcp_list")] {
        let tool = Provenance::new(server, name);
        let mut call = CallContext::new(&tool);
        call.hints = Hints { read_only: Some(true), destructive: Some(false), open_world: Some(false) };
        assert_eq!(decided(&Policy::default(), &call), (Verdict::Deny, Reason::NoApprover));
        let told = decide(&Policy::default(), &call).to_string();
        assert!(told.starts_with("denied (no_approver): nobody can be asked"), "{told}");
        call.approver = true;
        assert_eq!(decided(&Policy::default(), &call), (Verdict::Ask, Reason::Prompt));
    }
}

#[test]
fn the_mode_and_the_approver_are_those_of_the_moment() {
    // H-031, H-038
    let (tool, allowing, asking) = (tool(), policy("allow", false), policy("ask", false));
    let mut call = CallContext::new(&tool);
    assert_eq!(decided(&asking, &call).0, Verdict::Deny);
    call.approver = true;
    assert_eq!(decided(&asking, &call).0, Verdict::Ask, "somebody came");
    assert_eq!(decided(&allowing, &call).0, Verdict::Call);
    call.plan_mode = true;
    assert_eq!(decided(&allowing, &call).0, Verdict::Ask, "planning began");
}

#[test]
fn rules_are_about_the_resolved_tool_and_denials_stay() {
    // H-043, H-044
    let rule = |key: &str, decision| (RuleKey::read(key).expect(key), decision);
    let with = |mode: &str, rules: &[(&str, RuleDecision)]| {
        let rules = CallRules::of(rules.iter().map(|(key, decision)| rule(key, *decision)));
        Policy { rules, ..policy(mode, true) }
    };
    let (allow, ask, deny) = (RuleDecision::Allow, RuleDecision::Ask, RuleDecision::Deny);
    let tool = tool();
    let mut call = CallContext::new(&tool);
    call.hints.read_only = Some(true);
    (call.approver, call.granted) = (true, true);
    let table = [
        (with("ask", &[("s/*", allow)]), Verdict::Call, Reason::RuleAllow, Some(0)),
        (with("allow", &[("s/t", deny)]), Verdict::Deny, Reason::RuleDeny, Some(0)),
        (with("ask", &[("s/t", deny), ("*/*", allow)]), Verdict::Call, Reason::RuleAllow, Some(1)),
        (with("ask", &[("*/*", allow), ("s/t", deny)]), Verdict::Deny, Reason::RuleDeny, Some(1)),
        (with("deny", &[("s/t", allow)]), Verdict::Deny, Reason::ServerDeny, Some(0)),
        (with("allow", &[("s/t", ask)]), Verdict::Call, Reason::SessionGrant, Some(0)),
        (
            with("ask", &[("s/mcp_call", allow), ("mcp__*/*", deny)]),
            Verdict::Call,
            Reason::TrustedReadOnly,
            None,
        ),
    ];
    for (policy, verdict, reason, rule) in &table {
        let decision = decide(policy, &call);
        assert_eq!(
            decision,
            Decision { verdict: *verdict, reason: *reason, rule: *rule },
            "{:?}",
            policy.rules
        );
    }
    call.granted = false;
    let asking = with("allow", &[("s/t", ask)]);
    assert_eq!(
        decided(&asking, &call),
        (Verdict::Ask, Reason::Prompt),
        "neither mode nor hints pass a rule that asks"
    );
    call.plan_mode = true;
    let unsafe_hints = Hints::default();
    call.hints = unsafe_hints;
    let allowing = with("ask", &[("s/t", allow)]);
    assert_eq!(
        decided(&allowing, &call),
        (Verdict::Ask, Reason::Prompt),
        "a rule lets nothing pass while planning"
    );
}

#[test]
fn skipping_prompts_turns_asking_into_passing_and_no_denial() {
    // H-041
    let tool = tool();
    let mut call = CallContext::new(&tool);
    let mut skipping = policy("ask", false);
    assert_eq!(decided(&skipping, &call).0, Verdict::Deny);
    skipping.skip_prompts = true;
    assert_eq!(decided(&skipping, &call), (Verdict::Call, Reason::SkipPrompts));
    call.guard_refuses = true;
    assert_eq!(decided(&skipping, &call), (Verdict::Deny, Reason::Guard));
    call.guard_refuses = false;
    let denying = Policy { skip_prompts: true, ..policy("deny", false) };
    assert_eq!(decided(&denying, &call), (Verdict::Deny, Reason::ServerDeny));
    skipping.rules = CallRules::of([(RuleKey::read("s/t").unwrap(), RuleDecision::Deny)]);
    assert_eq!(decided(&skipping, &call), (Verdict::Deny, Reason::RuleDeny));
}

#[test]
fn the_third_same_call_in_a_turn_is_asked_about_whatever_let_it_pass() {
    // H-045
    let tool = tool();
    let mut call = CallContext::new(&tool);
    let mut allowing = policy("allow", false);
    for (nth, approver, expected) in [
        (1, true, (Verdict::Call, Reason::ServerAllow)),
        (2, true, (Verdict::Call, Reason::ServerAllow)),
        (3, true, (Verdict::Ask, Reason::Repeat)),
        (u32::MAX, true, (Verdict::Ask, Reason::Repeat)),
        (3, false, (Verdict::Deny, Reason::Repeat)),
    ] {
        (call.nth_in_turn, call.approver) = (nth, approver);
        assert_eq!(decided(&allowing, &call), expected, "call {nth}");
    }
    allowing.ask_on_repeat = 0;
    assert_eq!(decided(&allowing, &call), (Verdict::Call, Reason::ServerAllow), "off");
    (call.approver, call.granted) = (true, true);
    assert_eq!(decided(&policy("ask", false), &call), (Verdict::Ask, Reason::Repeat), "a grant as well");
}

#[test]
fn settings_that_tighten() {
    let tool = tool();
    let mut call = CallContext::new(&tool);
    (call.approver, call.granted, call.plan_mode) = (true, true, true);
    let mut strict = policy("ask", true);
    assert_eq!(decided(&strict, &call), (Verdict::Call, Reason::SessionGrant));
    strict.plan_mode_honours_grants = false;
    assert_eq!(decided(&strict, &call), (Verdict::Ask, Reason::Prompt));
    call.plan_mode = false;
    assert_eq!(decided(&strict, &call), (Verdict::Call, Reason::SessionGrant));
    (call.hints.read_only, call.granted) = (Some(true), false);
    assert_eq!(decided(&strict, &call), (Verdict::Call, Reason::TrustedReadOnly));
    strict.never_trust_annotations = true;
    assert_eq!(decided(&strict, &call), (Verdict::Ask, Reason::Prompt));
}

fn policies() -> impl Strategy<Value = Policy> {
    let rule = (prop_oneof![Just("s/*"), Just("*/t"), Just("x/*")], 0..3usize);
    let rules = prop::collection::vec(rule, 0..4);
    (0..3usize, rules, any::<(bool, bool, bool, bool)>(), 0..4u32).prop_map(|(mode, rules, flags, repeat)| {
        let all = [RuleDecision::Allow, RuleDecision::Ask, RuleDecision::Deny];
        let rules = rules.into_iter().map(|(key, n)| (RuleKey::read(key).unwrap(), all[n]));
        Policy {
            rules: CallRules::of(rules),
            never_trust_annotations: flags.1,
            skip_prompts: flags.2,
            plan_mode_honours_grants: flags.3,
            ask_on_repeat: repeat,
            ..policy(["ask", "allow", "deny"][mode], flags.0)
        }
    })
}

type Facts = ((bool, bool, bool, bool), [Option<bool>; 3], u32);

fn context<'a>(tool: &'a Provenance, (flags, hints, nth): &Facts) -> CallContext<'a> {
    CallContext {
        tool,
        hints: Hints { read_only: hints[0], destructive: hints[1], open_world: hints[2] },
        plan_mode: flags.0,
        approver: flags.1,
        granted: flags.2,
        guard_refuses: flags.3,
        nth_in_turn: *nth,
    }
}

proptest! {
    #[test]
    fn nothing_passes_a_denial_and_nobody_is_asked_who_is_not_there(
        policy in policies(), facts in (any::<(bool, bool, bool, bool)>(), any::<[Option<bool>; 3]>(), 1..5u32),
    ) {
        // H-048
        let tool = tool();
        let call = context(&tool, &facts);
        let (verdict, reason) = decided(&policy, &call);
        let last = policy.rules.find(&tool).map(|(_, decision)| decision);
        let denied = call.guard_refuses
            || policy.servers["s"].mode == ServerMode::Deny
            || last == Some(RuleDecision::Deny);
        prop_assert!(!denied || verdict == Verdict::Deny);
        prop_assert!(call.approver || verdict != Verdict::Ask);
        if verdict == Verdict::Deny && !denied {
            prop_assert!(!call.approver, "only for want of somebody to ask: {reason}");
        }
        // Less of anything that lets pass never lets more pass.
        let passes = |policy: &Policy, call: &CallContext<'_>| decided(policy, call).0 == Verdict::Call;
        let mut less: Vec<(Policy, CallContext<'_>)> = alloc::vec![(policy.clone(), call); 5];
        less[0].1.granted = false;
        less[1].1.hints = Hints::default();
        less[2].0.skip_prompts = false;
        less[3].0.never_trust_annotations = true;
        less[4].1.plan_mode = true;
        for (n, (policy, call)) in less.iter().enumerate() {
            prop_assert!(!passes(policy, call) || verdict == Verdict::Call, "case {n}: {reason}");
        }
    }
}
