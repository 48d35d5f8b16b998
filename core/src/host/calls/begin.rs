//! Which tool a call is of, and what is turned away at once.

use alloc::sync::Arc;

use super::own::Ran;
use super::table::Open;
use super::{CallRefused, CallRequest, Calls, Reach, Target};
use crate::host::Provenance;
use crate::host::catalog::{MetaOutcome, MetaTool, Offered};
use crate::host::event::{CallEnd, CallHandle, CallOutcome, Denial};
use crate::host::policy::{Decision, DefinitionHash, Reason, Verdict};
use crate::jsonrpc::{Kind, RawJson};
use crate::time::Instant;

/// What a call is of.
enum Resolved {
    /// A tool of a server, by its exposed name, with the arguments that it gets.
    Tool(Arc<str>, Provenance, DefinitionHash, Option<RawJson>),
    /// A tool of the host's own, which ran already.
    Own(Ran),
}

impl Calls {
    /// A call, decided at once: made, asked about, or denied. Denied ones end in an event as well.
    pub(in crate::host) fn begin(
        &mut self,
        request: CallRequest,
        reach: &mut impl Reach,
        now: Instant,
    ) -> Result<CallHandle, CallRefused> {
        let now = self.clock.advance(now);
        self.expire_questions(now);
        if self.closed {
            return Err(CallRefused::Closed);
        }
        if request.arguments.as_ref().is_some_and(|arguments| arguments.view().kind() != Kind::Object) {
            return Err(CallRefused::BadArguments);
        }
        if self.table.len().saturating_add(self.out.untold()) >= self.max_calls {
            return Err(CallRefused::TooMany(self.max_calls));
        }
        let resolved = self.resolve(&request, reach).ok_or(CallRefused::UnknownTool)?;
        let (exposed, tool, definition, arguments) = match resolved {
            Resolved::Own(ran) => {
                let outcome = if request.guard_refuses {
                    let decision = Decision { verdict: Verdict::Deny, reason: Reason::Guard, rule: None };
                    CallOutcome::Denied(Denial::Decided(decision))
                } else {
                    self.run_own(ran, &request.owner, now)
                };
                let call = self.table.new_handle();
                self.out.finished(call, CallEnd { tool: None, decision: None, outcome });
                return Ok(call);
            }
            Resolved::Tool(exposed, tool, definition, arguments) => (exposed, tool, definition, arguments),
        };
        let more = arguments.as_ref().map_or(0, RawJson::len).saturating_add(request.id.len());
        if self.table.bytes().saturating_add(more) > self.max_call_bytes {
            return Err(CallRefused::TooLarge(self.max_call_bytes));
        }
        let limit = self.timeouts.of(&exposed);
        let named = (exposed, tool, definition);
        let mut open = Open::new((request.id, request.owner), named, arguments.as_ref(), limit);
        open.guard_refuses = request.guard_refuses;
        if self.policy.ask_on_repeat != 0 {
            open.nth_in_turn = self.turn.count(&open.tool, open.arguments_hash);
        }
        let call = self.table.new_handle();
        self.table.insert(call, open);
        self.consider(call, reach, now);
        Ok(call)
    }

    /// `None`: there is no such tool for whoever asks.
    fn resolve(&self, request: &CallRequest, reach: &impl Reach) -> Option<Resolved> {
        let registry = reach.registry();
        let kind = request.sub_agent.as_deref();
        let known = |server: &str| {
            kind.is_none_or(|kind| reach.sub_agents(server).iter().any(|listed| listed == kind))
        };
        let tool = |exposed: &Arc<str>, offered: &Offered, arguments| {
            let Offered { tool, definition } = offered;
            known(&tool.server)
                .then(|| Resolved::Tool(exposed.clone(), tool.clone(), definition.hash, arguments))
        };
        match &request.target {
            Target::Exposed(name) => {
                if let Some(own) = MetaTool::named(name) {
                    let told = MetaTool::told(self.exposure.of(registry).lazy).contains(&own);
                    let ran = told.then(|| own.run_within(registry, &known, request.arguments.as_ref()))?;
                    return match ran {
                        MetaOutcome::Call { offered, arguments } => {
                            let (exposed, offered) =
                                registry.find_named(&offered.tool.server, &offered.tool.tool)?;
                            tool(exposed, offered, arguments)
                        }
                        MetaOutcome::Text(text) => Some(Resolved::Own(Ran::Text(text))),
                        MetaOutcome::Error(text) => Some(Resolved::Own(Ran::Error(text))),
                        MetaOutcome::More { handle, offset } => {
                            Some(Resolved::Own(Ran::More { handle, offset }))
                        }
                    };
                }
                tool(name, registry.resolve(name)?, request.arguments.clone())
            }
            Target::Tool(Provenance { server, tool: native }) => {
                let (exposed, offered) = registry.find_named(server, native)?;
                tool(exposed, offered, request.arguments.clone())
            }
        }
    }
}
