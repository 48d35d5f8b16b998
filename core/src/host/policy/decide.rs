//! The one decision about a call, before anything of it reaches its server.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;

use super::explain::Because;
use super::mode::ServerMode;
use super::rules::{CallRules, RuleDecision};
use crate::host::Provenance;
use crate::jsonrpc::JsonRef;
use crate::mcp::types::tool::Tool;

/// The kind of the error that a denied call ends in: a result for the model, no fault of a connection.
pub const DENIED_KIND: &str = "approval_denied";

/// What a host decides by. The default asks about every call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// What is to happen with the calls of each server; one that is not named is asked about.
    pub servers: BTreeMap<String, ServerPolicy>,
    /// Rules about single tools.
    pub rules: CallRules,
    /// Takes back [`ServerPolicy::trust_annotations`] of every server. Default: no.
    pub never_trust_annotations: bool,
    /// Lets pass what would be asked about. For whoever says so explicitly: what is denied stays denied. Default: no.
    pub skip_prompts: bool,
    /// Whether what was allowed before passes while planning too. Default: yes.
    pub plan_mode_honours_grants: bool,
    /// From which identical call in one turn on somebody is asked although it would pass; 0: never. Default: the third.
    pub ask_on_repeat: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            servers: BTreeMap::new(),
            rules: CallRules::default(),
            never_trust_annotations: false,
            skip_prompts: false,
            plan_mode_honours_grants: true,
            ask_on_repeat: 3,
        }
    }
}

/// What is to happen with the calls of one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerPolicy {
    /// Asked about, let through, or denied.
    pub mode: ServerMode,
    /// Whether the server is believed what it says of its tools' effects. Default: no.
    pub trust_annotations: bool,
}

impl ServerPolicy {
    /// A policy of this mode that believes no hints.
    #[must_use]
    pub const fn of(mode: ServerMode) -> Self {
        Self { mode, trust_annotations: false }
    }
}

/// What a tool says of its own effects; `None`: it does not say.
///
/// Spec: MCP schema, `ToolAnnotations`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hints {
    /// `readOnlyHint`; not said means false.
    pub read_only: Option<bool>,
    /// `destructiveHint`; not said means true.
    pub destructive: Option<bool>,
    /// `openWorldHint`; not said means true.
    pub open_world: Option<bool>,
}

impl Hints {
    /// The hints of a tool. What is no boolean is not said.
    #[must_use]
    pub fn of(tool: &Tool) -> Self {
        tool.raw().view().get("annotations").map_or_else(Self::default, Self::said_by)
    }

    /// The hints of a tool's annotations.
    pub(in crate::host) fn said_by(annotations: JsonRef<'_>) -> Self {
        let names = ["readOnlyHint", "destructiveHint", "openWorldHint"];
        let [read_only, destructive, open_world] =
            annotations.get_each(names).map(|said| said.and_then(JsonRef::as_bool));
        Self { read_only, destructive, open_world }
    }
}

/// A call that is about to be made, as far as it matters to the decision. There is nothing of its arguments in it:
/// what a model writes cannot let itself through.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallContext<'a> {
    /// The tool that would run: the resolved one, also for a call by way of another tool.
    pub tool: &'a Provenance,
    /// What it says of its effects.
    pub hints: Hints,
    /// Whether the session is planning, now.
    pub plan_mode: bool,
    /// Whether there is somebody to ask, now.
    pub approver: bool,
    /// Whether the call, of the tool as it is defined now, was allowed before: see
    /// [`Grants::holds_for`](super::Grants::holds_for).
    pub granted: bool,
    /// Whether the embedder's guard refuses the call.
    pub guard_refuses: bool,
    /// Which call of this tool with these arguments it is in this turn: 1 is the first.
    pub nth_in_turn: u32,
}

impl<'a> CallContext<'a> {
    /// A first call of `tool` outside of plan mode, with nobody to ask, nothing granted and nothing said of effects.
    #[must_use]
    pub const fn new(tool: &'a Provenance) -> Self {
        Self {
            tool,
            hints: Hints { read_only: None, destructive: None, open_world: None },
            plan_mode: false,
            approver: false,
            granted: false,
            guard_refuses: false,
            nth_in_turn: 1,
        }
    }
}

/// What is to happen with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is made.
    Call,
    /// Somebody is asked first.
    Ask,
    /// It is not made, and ends in an error of the kind [`DENIED_KIND`].
    Deny,
}

/// Which step decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The embedder's guard refused.
    Guard,
    /// The server's mode is deny.
    ServerDeny,
    /// A rule denies the tool.
    RuleDeny,
    /// The server's mode is allow.
    ServerAllow,
    /// A rule allows the tool.
    RuleAllow,
    /// The tool says that it changes nothing, and its server is believed.
    TrustedReadOnly,
    /// The tool says that it destroys nothing and reaches nothing outside, and its server is believed.
    TrustedClosedHarmless,
    /// Prompts are skipped.
    SkipPrompts,
    /// There is nobody to ask.
    NoApprover,
    /// It was allowed before, for the session or for longer.
    SessionGrant,
    /// It is to be asked about.
    Prompt,
    /// It would pass, but is the same call once again.
    Repeat,
}

impl Reason {
    /// Its name, for records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Guard => "guard",
            Self::ServerDeny => "server_deny",
            Self::RuleDeny => "rule_deny",
            Self::ServerAllow => "server_allow",
            Self::RuleAllow => "rule_allow",
            Self::TrustedReadOnly => "trusted_read_only",
            Self::TrustedClosedHarmless => "trusted_closed_harmless",
            Self::SkipPrompts => "skip_prompts",
            Self::NoApprover => "no_approver",
            Self::SessionGrant => "session_grant",
            Self::Prompt => "prompt",
            Self::Repeat => "repeat",
        }
    }

    /// What a person can change about it, for whoever is asked or was refused.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Guard => "the program's own guard decides this",
            Self::ServerDeny | Self::ServerAllow | Self::Prompt => {
                "set by the server's approval (ask, allow, deny)"
            }
            Self::RuleDeny | Self::RuleAllow => "set by a rule about this tool",
            Self::TrustedReadOnly | Self::TrustedClosedHarmless => "set by the server's trust_annotations",
            Self::SkipPrompts => "prompts are skipped",
            Self::NoApprover => {
                "nobody can be asked; allow the server or the tool, or run where somebody can be asked"
            }
            Self::SessionGrant => "allowed before, for this session or for longer",
            Self::Repeat => "the same call was made before in this turn (ask_on_repeat)",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A decision, with what made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Decision {
    /// What is to happen.
    pub verdict: Verdict,
    /// Which step decided.
    pub reason: Reason,
    /// Which rule of [`Policy::rules`] was the last one about the tool, if one was: it decided if the reason says so.
    pub rule: Option<usize>,
}

impl fmt::Display for Decision {
    /// Such as `denied (no_approver): nobody can be asked; …`: what a model is told of a call that is not made.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Call => "allowed",
            Verdict::Ask => "asked about",
            Verdict::Deny => "denied",
        };
        write!(f, "{verdict} ({}): {}", self.reason, self.reason.hint())
    }
}

impl Policy {
    fn server(&self, name: &str) -> ServerPolicy {
        self.servers.get(name).copied().unwrap_or_default()
    }
}

/// The steps, in the order in which they are gone through; the first that applies decides. [`Reason::Repeat`] is looked
/// at afterwards, where the one that decided lets the call pass.
pub(super) const STEPS: [Reason; 11] = [
    Reason::Guard,
    Reason::ServerDeny,
    Reason::RuleDeny,
    Reason::RuleAllow,
    Reason::ServerAllow,
    Reason::TrustedReadOnly,
    Reason::TrustedClosedHarmless,
    Reason::SkipPrompts,
    Reason::NoApprover,
    Reason::SessionGrant,
    Reason::Prompt,
];

/// Decides about a call. The first of these steps that applies decides:
///
/// 1. the guard refuses: denied;
/// 2. the server's mode is deny: denied;
/// 3. the last rule about the tool says deny: denied;
/// 4. outside of plan mode, that rule says allow, or there is none and the server's mode is allow: passes;
/// 5. no rule says ask, hints are trusted, and the tool says that it only reads, or both that it destroys nothing and
///    that it reaches nothing outside: passes, in plan mode as well;
/// 6. prompts are skipped: passes;
/// 7. there is nobody to ask: denied;
/// 8. it was allowed before, for the session or for longer: passes;
/// 9. somebody is asked.
///
/// What passes is asked about all the same, or denied if there is nobody to ask, where it is the same call too often in
/// one turn. A denial by 1 to 3 cannot be undone by anything below. [`explain`](super::explain) tells of every step.
pub fn decide(policy: &Policy, call: &CallContext<'_>) -> Decision {
    let facts = Facts::of(policy, call);
    let first = STEPS.into_iter().find(|step| facts.look(*step).0);
    let reason = first.unwrap_or(Reason::Prompt);
    let repeats = facts.verdict(reason) == Verdict::Call && facts.look(Reason::Repeat).0;
    let reason = if repeats { Reason::Repeat } else { reason };
    Decision { verdict: facts.verdict(reason), reason, rule: facts.rule.map(|(place, _)| place) }
}

/// All that the steps look at.
pub(super) struct Facts<'a> {
    pub(super) policy: &'a Policy,
    pub(super) call: &'a CallContext<'a>,
    server: ServerPolicy,
    pub(super) rule: Option<(usize, RuleDecision)>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(policy: &'a Policy, call: &'a CallContext<'a>) -> Self {
        Self { policy, call, server: policy.server(&call.tool.server), rule: policy.rules.find(call.tool) }
    }

    /// What comes of a call by this step.
    pub(super) const fn verdict(&self, step: Reason) -> Verdict {
        match step {
            Reason::Guard | Reason::ServerDeny | Reason::RuleDeny | Reason::NoApprover => Verdict::Deny,
            Reason::RuleAllow
            | Reason::ServerAllow
            | Reason::TrustedReadOnly
            | Reason::TrustedClosedHarmless
            | Reason::SkipPrompts
            | Reason::SessionGrant => Verdict::Call,
            Reason::Repeat if !self.call.approver => Verdict::Deny,
            Reason::Prompt | Reason::Repeat => Verdict::Ask,
        }
    }

    /// Whether a step applies, and because of what: the one place that knows, for decisions and for their explanation.
    pub(super) fn look(&self, step: Reason) -> (bool, Because) {
        let Self { policy, call, server, rule } = self;
        let rule = rule.map(|(_, decision)| decision);
        let by_rule = if rule.is_some() { Because::Rule } else { Because::NoRule };
        match step {
            Reason::Guard => (call.guard_refuses, Because::Guard(call.guard_refuses)),
            Reason::ServerDeny => (server.mode == ServerMode::Deny, Because::Mode(server.mode)),
            Reason::RuleDeny => (rule == Some(RuleDecision::Deny), by_rule),
            Reason::RuleAllow if rule != Some(RuleDecision::Allow) => (false, by_rule),
            Reason::RuleAllow => (!call.plan_mode, if call.plan_mode { Because::Planning } else { by_rule }),
            Reason::ServerAllow if rule.is_some() => (false, Because::RuleInstead),
            Reason::ServerAllow if server.mode != ServerMode::Allow => (false, Because::Mode(server.mode)),
            Reason::ServerAllow if call.plan_mode => (false, Because::Planning),
            Reason::ServerAllow => (true, Because::Mode(server.mode)),
            Reason::TrustedReadOnly | Reason::TrustedClosedHarmless if rule == Some(RuleDecision::Ask) => {
                (false, Because::Rule)
            }
            Reason::TrustedReadOnly | Reason::TrustedClosedHarmless if policy.never_trust_annotations => {
                (false, Because::NoneTrusted)
            }
            Reason::TrustedReadOnly | Reason::TrustedClosedHarmless if !server.trust_annotations => {
                (false, Because::NotTrusted)
            }
            Reason::TrustedReadOnly => {
                (call.hints.read_only == Some(true), Because::ReadOnly(call.hints.read_only))
            }
            Reason::TrustedClosedHarmless => {
                let Hints { destructive, open_world, .. } = call.hints;
                (
                    destructive == Some(false) && open_world == Some(false),
                    Because::Harm { destructive, open_world },
                )
            }
            Reason::SkipPrompts => (policy.skip_prompts, Because::Skips(policy.skip_prompts)),
            Reason::NoApprover => (!call.approver, Because::Approver(call.approver)),
            Reason::SessionGrant if call.granted && call.plan_mode && !policy.plan_mode_honours_grants => {
                (false, Because::GrantWhilePlanning)
            }
            Reason::SessionGrant => (call.granted, Because::Granted(call.granted)),
            Reason::Prompt => (true, Because::NothingElse),
            Reason::Repeat => {
                let (nth, from) = (call.nth_in_turn, policy.ask_on_repeat);
                (from != 0 && nth >= from, Because::Nth { nth, from })
            }
        }
    }
}

#[cfg(test)]
mod tests;
