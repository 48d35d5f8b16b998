//! Why a call is decided as it is, step by step.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::decide::{CallContext, Facts, Policy, Reason, STEPS, Verdict};
use super::mode::ServerMode;
use crate::mcp::types::flaw::cut;

/// One step of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Which.
    pub step: Reason,
    /// Whether it applies to the call, also where another one decided before its turn.
    pub applies: bool,
    /// What it decided; `None`: nothing, since it does not apply or another one had decided.
    pub decided: Option<Verdict>,
    /// Why it applies or does not, in words. Short, one line, without anything that a server says.
    pub why: String,
}

/// Tells of every step of a decision, in their order: those of [`decide`](super::decide()), and at last the one that
/// holds back what was called too often. The last one that [decided](Step::decided) is the one that [`decide`](super::decide())
/// names; there are two if that one is [`Reason::Repeat`].
///
/// Both ask the same questions, so they cannot disagree. O(rules).
///
/// ```
/// use sanswire::host::Provenance;
/// use sanswire::host::policy::{CallContext, Policy, Reason, explain};
///
/// let tool = Provenance::new("files", "delete");
/// let steps = explain(&Policy::default(), &CallContext::new(&tool));
/// let decided = steps.iter().rfind(|step| step.decided.is_some()).expect("one always does");
/// assert_eq!((decided.step, &*decided.why), (Reason::NoApprover, "there is nobody to ask"));
/// ```
#[must_use]
pub fn explain(policy: &Policy, call: &CallContext<'_>) -> Vec<Step> {
    let facts = Facts::of(policy, call);
    let mut verdict = None;
    let steps = STEPS.into_iter().chain([Reason::Repeat]);
    let steps = steps.map(|step| {
        let (applies, because) = facts.look(step);
        let turn = if step == Reason::Repeat { verdict == Some(Verdict::Call) } else { verdict.is_none() };
        let decided = (applies && turn).then(|| facts.verdict(step));
        verdict = decided.or(verdict);
        Step { step, applies, decided, why: because.words(&facts).into_owned() }
    });
    steps.collect()
}

/// What a step looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Because {
    Guard(bool),
    Mode(ServerMode),
    NoRule,
    /// The last rule about the tool.
    Rule,
    /// That there is a rule.
    RuleInstead,
    Planning,
    NoneTrusted,
    NotTrusted,
    ReadOnly(Option<bool>),
    Harm {
        destructive: Option<bool>,
        open_world: Option<bool>,
    },
    Skips(bool),
    Approver(bool),
    Granted(bool),
    GrantWhilePlanning,
    NothingElse,
    Nth {
        nth: u32,
        from: u32,
    },
}

impl Because {
    fn words(self, facts: &Facts<'_>) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Guard(true) => "the guard refuses the call",
            Self::Guard(false) => "the guard does not refuse the call",
            Self::Mode(mode) => match mode {
                ServerMode::Ask => "the server's approval is ask",
                ServerMode::Allow => "the server's approval is allow",
                ServerMode::Deny => "the server's approval is deny",
            },
            Self::NoRule => "no rule is about the tool",
            Self::Rule => return rule(facts, "").into(),
            Self::RuleInstead => return rule(facts, ", and takes the place of the server's approval").into(),
            Self::Planning => "nothing is allowed that way while planning",
            Self::NoneTrusted => "no server's hints are trusted (never_trust_annotations)",
            Self::NotTrusted => "the server's hints are not trusted (trust_annotations)",
            Self::ReadOnly(said) => return format!("readOnlyHint {}", says(said, false)).into(),
            Self::Harm { destructive, open_world } => {
                let (destructive, open_world) = (says(destructive, true), says(open_world, true));
                return format!("destructiveHint {destructive}; openWorldHint {open_world}").into();
            }
            Self::Skips(true) => "prompts are skipped",
            Self::Skips(false) => "prompts are not skipped",
            Self::Approver(true) => "there is somebody to ask",
            Self::Approver(false) => "there is nobody to ask",
            Self::Granted(true) => "the call, of the tool as it is defined now, was allowed before",
            Self::Granted(false) => "the call, of the tool as it is defined now, was not allowed before",
            Self::GrantWhilePlanning => {
                "the call was allowed before, which does not count while planning (plan_mode_honours_grants)"
            }
            Self::NothingElse => "whatever is neither denied nor let pass is asked about",
            Self::Nth { from: 0, .. } => "calls may be repeated (ask_on_repeat is 0)",
            Self::Nth { nth, from } => {
                let text = "of this tool with these arguments in this turn; somebody is asked from call";
                return format!("call {nth} {text} {from} on (ask_on_repeat)").into();
            }
        })
    }
}

fn rule(facts: &Facts<'_>, more: &str) -> String {
    let Some((place, decision)) = facts.rule else { return String::new() };
    let key = facts.policy.rules.rules().get(place).map(|(key, _)| format!("{key}")).unwrap_or_default();
    format!("the last rule about the tool, {:?}, says {}{more}", cut(&key, 256), decision.as_str())
}

const fn says(hint: Option<bool>, unsaid: bool) -> &'static str {
    match (hint, unsaid) {
        (Some(true), _) => "is true",
        (Some(false), _) => "is false",
        (None, true) => "is not said, which means true",
        (None, false) => "is not said, which means false",
    }
}

#[cfg(test)]
mod tests;
