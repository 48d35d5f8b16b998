//! Whether a call may be made: what the files say, what was said before, and who can be asked.
//!
//! Everything is decided by `sanswire::host::policy`; here stands where its facts come from, and what a person sees.

mod ask;
mod show;

use std::time::Instant as Clock;

use sanswire::Instant;
use sanswire::host::catalog::{Definition, DefinitionLimits};
use sanswire::host::policy::{
    Answer, ApprovalLimits, Approvals, ArgumentsHash, Binding, CallContext, CallRules, DENIED_KIND, Decision,
    DefinitionHash, Hints, NotReleased, Pin, Policy, Question, Reason, RuleDecision, ServerMode,
    ServerPolicy, Verdict, decide,
};
use sanswire::host::{Mask, Provenance};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::tool::Tool;
use sanswire::server::Principal;

use crate::config::{Configuration, Entry, GrantStore, Kind};
use crate::context::Context;
use crate::failure::{Failure, status};
use crate::output::escape;
use crate::server::Server;
use crate::state::{Grant, Held, Scope, ToolKey, terminal_session};
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

/// What is known of a tool when it is decided about.
pub(crate) struct Situation {
    pub(crate) tool: Provenance,
    hints: Hints,
    held: Held,
}

impl Situation {
    /// As it is defined now, and as it was allowed before.
    pub(crate) fn of(context: &Context, server: &Server, tool: &Tool) -> Self {
        let key = key(server, tool);
        let definition = DefinitionHash::of(tool);
        let held = context.state.holds(&key, definition, terminal_session().as_deref());
        Self { tool: key.tool, hints: Hints::of(tool), held }
    }

    /// Without its server: what it was allowed as.
    pub(crate) fn unseen(context: &Context, server: &str, tool: &str) -> Self {
        let tool = Provenance::new(server, tool);
        let session = terminal_session();
        let here = |grant: &Grant| grant.tool == tool && grant.counts(session.as_deref());
        let held = if context.state.grants().iter().any(here) { Held::Yes } else { Held::No };
        Self { tool, hints: Hints::default(), held }
    }

    /// Whether it was allowed for longer than one call.
    pub(crate) fn granted(&self) -> bool {
        self.held == Held::Yes
    }

    /// A call of it, where somebody can be asked or not. Whoever allowed it before is as good as there.
    pub(crate) fn call(&self, interactive: bool) -> CallContext<'_> {
        let mut call = CallContext::new(&self.tool);
        call.hints = self.hints;
        call.granted = self.granted();
        call.approver = interactive || call.granted;
        call
    }
}

fn key(server: &Server, tool: &Tool) -> ToolKey {
    ToolKey::new(&server.identity, Provenance::new(server.name.as_str(), tool.name()))
}

/// A call that is about to be made.
pub(crate) struct Wanted<'a> {
    pub(crate) context: &'a Context,
    pub(crate) control: &'a Control,
    pub(crate) server: &'a Server,
    pub(crate) tool: &'a Tool,
}

impl Wanted<'_> {
    /// Decides about the call, asking if it has to be asked about. Gives the arguments to be sent: those that were
    /// approved.
    pub(crate) fn approve(&self, arguments: &RawJson, yes: bool) -> Result<RawJson, Failure> {
        let situation = Situation::of(self.context, self.server, self.tool);
        let mut policy = self.control.policy.clone();
        policy.skip_prompts |= yes;
        let decision = decide(&policy, &situation.call(self.context.interactive));
        let lost = situation.held == Held::Lost;
        match decision.verdict {
            Verdict::Call => Ok(arguments.clone()),
            Verdict::Deny if decision.reason == Reason::NoApprover && lost => {
                Err(self.changed(&situation.tool))
            }
            Verdict::Deny => Err(self.denied(&situation.tool, &policy, &decision)),
            Verdict::Ask => self.ask(arguments, decision.reason, lost),
        }
    }

    fn mask(&self) -> Mask {
        Mask::new(self.server.secrets.iter().cloned())
    }

    /// The definition as it is now, to be remembered and compared. However long it is, it is asked about.
    fn pin(&self, mask: &Mask) -> Option<Pin> {
        let mut limits = DefinitionLimits::default();
        limits.max_schema_bytes = usize::MAX;
        Definition::of(&self.server.name, self.tool, &limits, mask).ok().map(|definition| definition.pin())
    }

    /// Asks the person at the terminal. Whatever is asked about is what is sent, or nothing is.
    fn ask(&self, arguments: &RawJson, reason: Reason, lost: bool) -> Result<RawJson, Failure> {
        let (key, mask) = (&key(self.server, self.tool), self.mask());
        let (tool, definition) = (&key.tool, DefinitionHash::of(self.tool));
        let began = Clock::now();
        let now = || Instant::from_micros(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
        let mut approvals =
            Approvals::new(ApprovalLimits::default()).map_err(|error| Failure::usage(error.to_string()))?;
        let pin = self.pin(&mask);
        let was = self.context.state.pin(key).filter(|was| was.definition() != definition);
        let question = Question {
            call: "call".into(),
            owner: Principal::anonymous(),
            tool: tool.clone(),
            definition,
            changed_from: was.as_ref().map(Pin::definition),
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
            changes: news(was.as_ref(), pin.as_ref(), &mask),
            lost,
            mask: &mask,
            session: terminal_session(),
            always: self.control.persistent,
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
        if let Err(why) = self.context.state.allow(key, pin, definition, scope) {
            self.context.warn(&format!("the answer could not be kept: {why}"));
        }
        Ok(released.arguments.unwrap_or_else(RawJson::empty_object))
    }

    fn not_called(&self, tool: &Provenance, why: &str) -> Failure {
        let tool = named(tool);
        let failure = Failure::new(status::DENIED, DENIED_KIND, format!("{tool} was not called: {why}"));
        failure.of(&self.server.name)
    }

    fn denied(&self, tool: &Provenance, policy: &Policy, decision: &Decision) -> Failure {
        let (server, file) = (&self.server.name, self.control.file.as_deref());
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
    fn changed(&self, tool: &Provenance) -> Failure {
        let mask = self.mask();
        let was = self.context.state.pin(&key(self.server, self.tool));
        let mut message =
            format!("{} was not called: its definition is not the one that was allowed", named(tool));
        for line in news(was.as_ref(), self.pin(&mask).as_ref(), &mask) {
            message.push_str(&format!("\n{line}"));
        }
        let mut failure = Failure::new(status::CHANGED, "definition_changed", message).of(&self.server.name);
        failure.reason = Some(NotReleased::DefinitionChanged.as_str());
        failure.hint("look at it, and call it on a terminal, where you are asked anew, or with --yes")
    }
}

/// What is new in a definition, line by line, as far as it is known.
fn news(was: Option<&Pin>, is: Option<&Pin>, mask: &Mask) -> Vec<String> {
    was.zip(is).map(|(was, is)| was.diff(is, mask)).unwrap_or_default()
}

/// On one line, whatever its server calls it.
fn named(tool: &Provenance) -> String {
    escape::line(&tool.to_string()).into_owned()
}
