//! Whether a call may be made: what the files say, what was said before, and who can be asked.
//!
//! Everything is decided by `sanswire::host::policy`; here stands where its facts come from, and what a person sees.

mod ask;
mod show;

use std::time::Instant as Clock;

use sanswire::Instant;
use sanswire::host::Provenance;
use sanswire::host::policy::{
    Answer, ApprovalLimits, Approvals, ArgumentsHash, Binding, CallContext, CallRules, DENIED_KIND, Decision,
    DefinitionHash, Hints, NotReleased, Policy, Question, Reason, RuleDecision, ServerMode, ServerPolicy,
    Verdict, decide,
};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::tool::Tool;
use sanswire::server::Principal;

use crate::config::{Configuration, Entry, GrantStore, Kind};
use crate::context::Context;
use crate::failure::{Failure, status};
use crate::output::escape;
use crate::state::{Held, Scope, ToolKey, terminal_session};
pub(crate) use show::hints_said;

/// What the files say of one server's calls.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    pub(crate) policy: Policy,
    /// Whether a tool may be allowed for good.
    persistent: bool,
    /// The file that the server stands in, for hints.
    file: Option<String>,
}

impl Control {
    /// Of a server of a file. The built-in one may be called: it does nothing to anybody.
    pub(crate) fn of_entry(configuration: &Configuration, entry: &Entry) -> Self {
        let mut policy = configuration.policy();
        if matches!(entry.kind, Kind::Demo) {
            policy.servers.insert(entry.name.clone(), ServerPolicy::of(ServerMode::Allow));
        }
        Self {
            policy,
            persistent: configuration.settings.grants == GrantStore::Persistent,
            file: entry.file.as_ref().map(|file| file.display().to_string()),
        }
    }

    /// Of a server that is in no file. What a file allows is about a server of its own: that another program has the
    /// same name lets nothing through.
    pub(crate) fn in_no_file(configuration: &Configuration) -> Self {
        let mut policy = configuration.policy();
        policy.servers.clear();
        let strict = policy.rules.rules().iter().filter(|(_, said)| *said != RuleDecision::Allow);
        policy.rules = CallRules::of(strict.cloned().collect::<Vec<_>>());
        let persistent = configuration.settings.grants == GrantStore::Persistent;
        Self { policy, persistent, file: None }
    }
}

/// A call that is about to be made.
pub(crate) struct Wanted<'a> {
    pub(crate) context: &'a Context,
    pub(crate) control: &'a Control,
    /// What runs behind the server's name.
    pub(crate) identity: &'a str,
    pub(crate) server: &'a str,
    pub(crate) tool: &'a Tool,
    /// What must not be shown.
    pub(crate) secrets: &'a [String],
}

impl Wanted<'_> {
    /// Decides about the call, asking if it has to be asked about. Gives the arguments to be sent: those that were
    /// approved.
    pub(crate) fn approve(&self, arguments: &RawJson, yes: bool) -> Result<RawJson, Failure> {
        let tool = Provenance::new(self.server, self.tool.name());
        let definition = DefinitionHash::of(self.tool);
        let key = ToolKey::new(self.identity, tool.clone());
        let session = terminal_session();
        let held = self.context.state.holds(&key, definition, session.as_deref());
        let mut policy = self.control.policy.clone();
        policy.skip_prompts |= yes;
        let mut call = CallContext::new(&tool);
        call.hints = Hints::of(self.tool);
        call.granted = held == Held::Yes;
        // Whoever allowed it before is as good as there.
        call.approver = self.context.interactive || call.granted;
        let decision = decide(&policy, &call);
        match decision.verdict {
            Verdict::Call => Ok(arguments.clone()),
            Verdict::Deny if decision.reason == Reason::NoApprover && held == Held::Lost => {
                Err(self.changed(&key, &tool))
            }
            Verdict::Deny => Err(self.denied(&tool, &policy, &decision)),
            Verdict::Ask => self.ask(&key, definition, arguments, decision.reason, session, held),
        }
    }

    /// Asks the person at the terminal. Whatever is asked about is what is sent, or nothing is.
    fn ask(
        &self,
        key: &ToolKey,
        definition: DefinitionHash,
        arguments: &RawJson,
        reason: Reason,
        session: Option<String>,
        held: Held,
    ) -> Result<RawJson, Failure> {
        let tool = &key.tool;
        let began = Clock::now();
        let now = || Instant::from_micros(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
        let mask = sanswire::host::Mask::new(self.secrets.iter().cloned());
        let mut approvals =
            Approvals::new(ApprovalLimits::default()).map_err(|error| Failure::usage(error.to_string()))?;
        let pin = self.context.state.pin(key);
        let changed = pin.filter(|pin| pin.definition != definition);
        let question = Question {
            call: "call".into(),
            owner: Principal::anonymous(),
            tool: tool.clone(),
            definition,
            changed_from: changed.as_ref().map(|pin| pin.definition),
            arguments: Some(arguments.clone()),
            reason,
        };
        let handle = approvals
            .register(question, &mask, now())
            .map_err(|error| self.not_called(tool, &error.to_string()))?;
        let request =
            approvals.poll_request().ok_or_else(|| self.not_called(tool, "it could not be asked about"))?;
        let prompt = ask::Prompt {
            request: &request,
            tool: self.tool,
            was: changed.as_ref().and_then(|pin| pin.tool.as_ref()),
            lost: held == Held::Lost,
            mask: &mask,
            session: session.filter(|_| reason == Reason::Prompt),
            always: self.control.persistent && reason == Reason::Prompt,
        };
        let said = prompt.ask();
        let answer = match &said {
            ask::Said::Yes(None) => Answer::AllowOnce,
            ask::Said::Yes(Some(_)) => Answer::AlwaysAllow,
            ask::Said::No => Answer::Deny,
            ask::Said::Failed => Answer::Failed,
        };
        approvals.answer(handle, answer, now());
        let present =
            Binding { tool: tool.clone(), definition, arguments: ArgumentsHash::of(Some(arguments.view())) };
        let released = approvals.release(handle, &present, now()).map_err(|why| match why {
            NotReleased::Declined => self.not_called(tool, "declined"),
            other => self.not_called(tool, &other.to_string()),
        })?;
        let scope: Option<Scope> = match said {
            ask::Said::Yes(scope) if released.grant => scope,
            _ => None,
        };
        if let Err(why) = self.context.state.allow(key, self.tool, definition, scope) {
            self.context.warn(&format!("the answer could not be kept: {why}"));
        }
        Ok(released.arguments.unwrap_or_else(RawJson::empty_object))
    }

    fn not_called(&self, tool: &Provenance, why: &str) -> Failure {
        let tool = named(tool);
        let failure = Failure::new(status::DENIED, DENIED_KIND, format!("{tool} was not called: {why}"));
        failure.of(self.server)
    }

    fn denied(&self, tool: &Provenance, policy: &Policy, decision: &Decision) -> Failure {
        let (server, file) = (self.server, self.control.file.as_deref());
        let rule = || {
            let found = decision.rule.and_then(|place| policy.rules.rules().get(place));
            found.map(|(key, _)| key.to_string()).unwrap_or_default()
        };
        let (why, hint) = match decision.reason {
            Reason::ServerDeny => (
                "its server's approval is deny".into(),
                file.map(|file| format!("\"approval\": \"ask\" for {server} in {file} lets you be asked")),
            ),
            Reason::RuleDeny => (
                format!("the rule {:?} denies it", rule()),
                Some("the rules stand under sanswire.rules in your file".into()),
            ),
            Reason::NoApprover => {
                let others = match file {
                    Some(file) => format!(
                        ", or allow it in {file}: \"approval\": \"allow\" for {server}, or the rule {:?}: \"allow\"",
                        tool.to_string()
                    ),
                    None => String::new(),
                };
                let hint = format!("run it on a terminal, or with --yes{others}");
                ("it has to be asked about, and there is nobody to ask".into(), Some(hint))
            }
            other => (other.hint().into(), None),
        };
        let mut failure = self.not_called(tool, &why);
        failure.reason = Some(decision.reason.as_str());
        failure.hint = hint;
        failure
    }

    /// It was allowed, but as it was defined before, and there is nobody to ask.
    fn changed(&self, key: &ToolKey, tool: &Provenance) -> Failure {
        let pin = self.context.state.pin(key);
        let mask = sanswire::host::Mask::new(self.secrets.iter().cloned());
        let was = pin.as_ref().and_then(|pin| pin.tool.as_ref());
        let changes = show::changes(was, self.tool, &mask).join("\n");
        let tool = named(tool);
        let message = format!("{tool} was not called: its definition is not the one that was allowed");
        let message = if changes.is_empty() { message } else { format!("{message}\n{changes}") };
        let mut failure = Failure::new(status::CHANGED, "definition_changed", message).of(self.server);
        failure.reason = Some(NotReleased::DefinitionChanged.as_str());
        failure.hint("look at it, and call it on a terminal, where you are asked anew, or with --yes")
    }
}

/// On one line, whatever its server calls it.
fn named(tool: &Provenance) -> String {
    escape::line(&tool.to_string()).into_owned()
}
