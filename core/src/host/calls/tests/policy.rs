//! What is decided about calls, seen from outside: what was made, what was asked, what was told.

use super::*;
use crate::host::policy::{CallRules, RuleDecision, RuleKey};

/// What a call comes to: made or not, the step that decided, whether somebody was asked, whether a grant was recorded.
type Came = (bool, &'static str, bool, bool);

/// Note; mode, plan mode, trust, annotations; what would be answered, if somebody is there; a grant; what it comes to.
type Row<'a> = (&'a str, (&'a str, bool, bool, &'a str), (Option<&'a str>, bool), Came);

fn run(
    (mode, plan, trust, annotations): (&str, bool, bool, &str),
    answer: Option<&str>,
    granted: bool,
) -> Came {
    let mut world = World::new(|config| {
        let server = config.servers.get_mut("s").unwrap();
        (server.mode, server.trust_annotations) = (ServerMode::named(mode).unwrap(), trust);
    });
    world.offer("s", &format!(r#"{{"name":"t","annotations":{annotations}}}"#));
    let tool = Provenance::new("s", "t");
    let definition = world.servers.registry.find("s", "t").unwrap().definition.hash;
    if granted {
        world.calls.grants_mut().allow(&tool, definition);
    }
    world.calls.set_plan_mode(plan);
    world.calls.set_approver(answer.is_some(), at(0));
    let call = world.call("s/t", r#"{"a":1}"#);
    let asked = world.asked.last().map(|asked| asked.reason.as_str());
    assert_eq!(
        (world.asked.len(), world.is_open(call)),
        (usize::from(asked.is_some()), world.ends.is_empty())
    );
    if asked.is_some() {
        assert!(world.is_open(call) && world.sent.is_empty() && world.servers.woken.is_empty());
        world.answer(match answer {
            Some("error") => Answer::Failed,
            other => Answer::named(other.unwrap_or_default()),
        });
    }
    let made = world.is_sent(call);
    let recorded = !granted && world.calls.grants().iter().len() > 0;
    if made {
        world.completes(call, "{}");
    }
    let end = &world.ends[&call];
    let step = match &end.outcome {
        CallOutcome::Denied(Denial::NotReleased(why)) => why.as_str(),
        CallOutcome::Denied(Denial::Decided(decision)) => {
            assert_eq!(end.decision, Some(*decision));
            decision.reason.as_str()
        }
        _ => end.decision.expect("it was decided about").reason.as_str(),
    };
    if !made {
        // H-035: a result for the model, and nothing on the way to the server.
        let (kind, told) = world.told(call);
        assert!(kind == "denied" && told.starts_with("approval_denied: the call was not made: "), "{told}");
        assert_eq!(world.servers.woken, Vec::<String>::new());
    }
    (made, step, asked.is_some(), recorded)
}

#[test]
fn a_call_comes_to_what_the_order_of_steps_says() {
    // H-030, H-031, H-035, H-049, H-061
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
    for (note, facts, (answer, granted), expected) in table {
        assert_eq!(run(facts, answer, granted), expected, "{note}");
    }
}

#[test]
fn decisions_are_about_the_tool_itself_whichever_way_it_was_named() {
    // H-042, H-043, H-052
    let rule = |key: &str, decision| (RuleKey::read(key).unwrap(), decision);
    let mut world = World::open(|config| {
        config.exposure.mode = crate::host::catalog::ExposureMode::Lazy;
        config.policy.rules = CallRules::of([
            rule("s/t", RuleDecision::Deny),
            rule("s/u", RuleDecision::Ask),
            // Of these names no tool is.
            rule("*/mcp_call", RuleDecision::Allow),
            rule("*/mcp__s__t", RuleDecision::Allow),
        ]);
    });
    for (tool, named) in [("t", true), ("t", false), ("u", true), ("u", false)] {
        let (denied, asked) = (tool == "t", world.asked.len());
        let direct = if named {
            world.call(&format!("s/{tool}"), "")
        } else {
            let target = Target::Tool(Provenance::new("s", tool));
            world.begin(CallRequest::new("1", target, None)).unwrap()
        };
        let lazy = world.own("mcp_call", &format!(r#"{{"server":"s","tool":"{tool}"}}"#)).unwrap();
        for call in [direct, lazy] {
            assert!(!world.is_sent(call), "{tool}");
            if denied {
                let reason = CallOutcome::Denied(Denial::Decided(crate::host::policy::Decision {
                    verdict: crate::host::policy::Verdict::Deny,
                    reason: Reason::RuleDeny,
                    rule: Some(0),
                }));
                assert_eq!(format!("{:?}", world.end(call)), format!("{reason:?}"));
                assert_eq!(world.ends[&call].tool, Some(Provenance::new("s", "t")));
            }
        }
        assert_eq!(world.asked.len() - asked > 0, !denied, "{tool}");
    }
    assert!(world.servers.woken.is_empty());
    let other = world.own("mcp_call", r#"{"server":"r","tool":"t","arguments":{ "n" : 1.0 }}"#).unwrap();
    assert_eq!(world.sent(other).params, r#"{"name":"t","arguments":{ "n" : 1.0 }}"#);
}

#[test]
fn a_grant_is_for_the_tool_itself_and_not_for_the_way_to_it() {
    // H-043, H-060, H-063
    let mut world = World::new(|config| config.exposure.mode = crate::host::catalog::ExposureMode::Lazy);
    let by = |tool: &str| format!(r#"{{"server":"s","tool":"{tool}"}}"#);
    let first = world.own("mcp_call", &by("t")).unwrap();
    assert!(world.answer(Answer::AlwaysAllow) && world.is_sent(first));
    let granted: Vec<_> = world.calls.grants().iter().map(|(tool, _)| tool.to_string()).collect();
    assert_eq!(granted, ["s/t"]);
    let direct = world.call("s/t", r#"{"x":1}"#);
    assert!(world.is_sent(direct), "by name as well");
    for other in [world.own("mcp_call", &by("u")).unwrap(), world.call("r/t", "{}")] {
        assert!(!world.is_sent(other) && world.is_open(other));
    }
    assert_eq!(world.asked.len(), 3);
    world.calls.grants_mut().clear();
    let again = world.call("s/t", r#"{"x":2}"#);
    assert!(!world.is_sent(again), "what was taken back is asked about");
}

#[test]
fn the_guard_is_first_and_nothing_is_asked_of_anybody() {
    // H-044
    let mut world = World::open(|config| config.exposure.mode = crate::host::catalog::ExposureMode::Lazy);
    world.calls.set_skip_prompts(true);
    for name in ["mcp__s__t", "mcp_call", "mcp_list"] {
        let arguments = json(r#"{"server":"s","tool":"t"}"#);
        let mut request = CallRequest::new("1", Target::Exposed(name.into()), Some(arguments));
        request.guard_refuses = true;
        let call = world.begin(request).unwrap();
        let (kind, told) = world.told(call);
        assert!(kind == "denied" && told.contains("(guard)"), "{name}: {told}");
    }
    assert!(world.sent.is_empty() && world.asked.is_empty() && world.servers.woken.is_empty());
}

#[test]
fn modes_are_those_of_the_moment_of_the_call() {
    // H-031, H-038, H-245
    let mut world = World::open(|_| {});
    world.calls.set_approver(false, at(0));
    let call = world.call("s/t", "");
    assert!(world.is_sent(call));
    world.calls.set_plan_mode(true);
    let denied = world.call("s/t", "");
    assert_eq!(world.told(denied).0, "denied");
    world.calls.set_approver(true, at(0));
    let asked = world.call("s/t", r#"{"a":1}"#);
    assert!(world.is_open(asked) && !world.is_sent(asked));
    // The switch is for calls to come: this one was asked about.
    world.calls.set_plan_mode(false);
    world.calls.set_skip_prompts(true);
    world.pass(1);
    world.settled("s");
    assert!(world.is_open(asked) && !world.is_sent(asked));
    let now = world.call("s/t", r#"{"a":2}"#);
    assert!(world.is_sent(now));
    assert!(world.answer(Answer::AllowOnce) && world.is_sent(asked));
}

#[test]
fn the_third_same_call_of_a_turn_is_asked_about_however_it_is_named() {
    // H-045
    let mut world = World::open(|config| config.exposure.mode = crate::host::catalog::ExposureMode::Lazy);
    let first = world.call("s/t", r#"{"a":1,"b":2}"#);
    let second = world.own("mcp_call", r#"{"server":"s","tool":"t","arguments":{"b":2,"a":1}}"#).unwrap();
    assert!(world.is_sent(first) && world.is_sent(second));
    let other = world.call("s/t", r#"{"a":1}"#);
    let third = world.call("s/t", r#"{"a":1,"b":2}"#);
    assert!(world.is_sent(other) && !world.is_sent(third));
    assert_eq!(world.asked.last().map(|asked| asked.reason), Some(Reason::Repeat));
    world.calls.begin_turn();
    let fresh = world.call("s/t", r#"{"a":1,"b":2}"#);
    assert!(world.is_sent(fresh) && !world.is_sent(third), "counted anew, and the question stays");
    // Being allowed for longer is no leave to repeat.
    world.answer(Answer::AlwaysAllow);
    let _ = world.call("s/t", r#"{"a":1,"b":2}"#);
    let third = world.call("s/t", r#"{"a":1,"b":2}"#);
    assert!(!world.is_sent(third));
}
