//! What is decided about a call, and who is asked.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::table::{Open, State};
use super::{Calls, Reach};
use crate::host::event::{CallHandle, CallOutcome, Denial, Event};
use crate::host::policy::{
    Answer, ApprovalHandle, Binding, CallContext, Decision, NotReleased, Question, Reason, Verdict, decide,
};
use crate::jsonrpc::RawJson;
use crate::time::Instant;

/// One open question.
#[derive(Debug)]
pub(super) struct Asked {
    /// The calls that it is about, which are the same: the first that came is the one that is asked about.
    calls: Vec<CallHandle>,
    /// Somebody was asked.
    told: bool,
}

impl Calls {
    /// Decides about a call as things are now: a new one, or one whose tool is defined otherwise than before, or one
    /// that another took the answer of.
    ///
    /// What somebody was asked about once passes by an answer only, whatever else has changed meanwhile.
    pub(super) fn consider(&mut self, call: CallHandle, reach: &mut impl Reach, now: Instant) {
        let Some(open) = self.table.get_mut(call) else { return };
        let Some(offered) = reach.registry().find(&open.tool.server, &open.tool.tool) else {
            return self.deny(call, Denial::NotReleased(NotReleased::NotOffered), now);
        };
        let (definition, hints) = (offered.definition.hash, offered.definition.hints);
        let saved = self.grants.saved().changed(&open.tool, definition);
        let allowed = self.grants.definition(&open.tool).or(saved);
        let arguments = open.arguments.as_ref().map(RawJson::view);
        let granted = self.grants.holds_for(&open.tool, definition, arguments);
        if let Some(before) =
            [Some(open.definition), allowed].into_iter().flatten().find(|it| *it != definition)
        {
            open.changed_from = Some(before);
        }
        open.definition = definition;
        open.state = State::Deciding;
        let context = CallContext {
            hints,
            plan_mode: self.plan_mode,
            approver: self.approver,
            granted,
            guard_refuses: open.guard_refuses,
            nth_in_turn: open.nth_in_turn,
            ..CallContext::new(&open.tool)
        };
        let decision = decide(&self.policy, &context);
        open.decision = Some(decision);
        match (decision.verdict, open.asked) {
            (Verdict::Deny, _) => self.deny(call, Denial::Decided(decision), now),
            (Verdict::Call, Some(reason)) if decision.reason != Reason::SessionGrant => {
                self.ask(call, Decision { verdict: Verdict::Ask, reason, ..decision }, now);
            }
            (Verdict::Call, _) => self.release(call, reach, now),
            (Verdict::Ask, _) => self.ask(call, decision, now),
        }
    }

    /// Puts a question, or lets one that is open already stand for this call as well.
    fn ask(&mut self, call: CallHandle, decision: Decision, now: Instant) {
        let Some(open) = self.table.get_mut(call) else { return };
        if !self.approver {
            let nobody = Decision { verdict: Verdict::Deny, reason: Reason::NoApprover, ..decision };
            open.decision = Some(nobody);
            return self.deny(call, Denial::Decided(nobody), now);
        }
        self.table.set_deadline(call, None);
        let Some(open) = self.table.get(call) else { return };
        let same = self.questions.iter().find(|(_, asked)| self.is_about(asked, open)).map(|(it, _)| *it);
        let question = match same {
            Some(question) => Ok(question),
            None => self.approvals.register(
                Question {
                    call: open.id.clone(),
                    owner: open.owner.clone(),
                    tool: open.tool.clone(),
                    definition: open.definition,
                    changed_from: open.changed_from,
                    arguments: open.arguments.clone(),
                    reason: decision.reason,
                },
                &self.mask,
                now,
            ),
        };
        match question {
            Err(why) => self.deny(call, Denial::NotAsked(why), now),
            Ok(question) => {
                let asked = self.questions.entry(question);
                asked.or_insert_with(|| Asked { calls: vec![], told: false }).calls.push(call);
                if let Some(open) = self.table.get_mut(call) {
                    (open.asked, open.decision) = (Some(decision.reason), Some(decision));
                    open.state = State::Asked(question);
                }
            }
        }
    }

    fn is_about(&self, asked: &Asked, open: &Open) -> bool {
        let first = asked.calls.first().and_then(|call| self.table.get(*call));
        first.is_some_and(|first| first.is_same(open))
    }

    /// The calls that a question is about.
    pub(in crate::host) fn asked_about(&self, approval: ApprovalHandle) -> &[CallHandle] {
        self.questions.get(&approval).map_or(&[], |asked| &asked.calls)
    }

    /// False: the question is not open.
    pub(in crate::host) fn answer(
        &mut self,
        approval: ApprovalHandle,
        answer: Answer,
        reach: &mut impl Reach,
        now: Instant,
    ) -> bool {
        let now = self.clock.advance(now);
        self.expire_questions(now);
        if !self.approvals.answer(approval, answer, now) {
            return false;
        }
        let calls = self.end_question(approval);
        let Some((first, others)) = calls.split_first() else { return true };
        let Some(open) = self.table.get(*first) else { return true };
        let tool = open.tool.clone();
        let present = reach.registry().find(&tool.server, &tool.tool).map(|offered| offered.definition.hash);
        let binding =
            Binding { tool, definition: present.unwrap_or(open.definition), arguments: open.arguments_hash };
        let denial = match self.approvals.release(approval, &binding, now) {
            Ok(_) if present.is_none() => NotReleased::NotOffered,
            Ok(released) => {
                if released.grant {
                    self.grants.allow(&released.binding.tool, released.binding.definition);
                }
                if let Some(open) = self.table.get_mut(*first) {
                    (open.arguments, open.state) = (released.arguments, State::Deciding);
                }
                self.release(*first, reach, now);
                // An answer lets one call pass. The others need one of their own, or what was allowed for longer.
                others.iter().for_each(|call| self.consider(*call, reach, now));
                return true;
            }
            Err(NotReleased::DefinitionChanged) => {
                calls.iter().for_each(|call| self.consider(*call, reach, now));
                return true;
            }
            Err(why) => why,
        };
        calls.iter().for_each(|call| self.deny(*call, Denial::NotReleased(denial), now));
        true
    }

    /// Whether there is somebody to ask. Withdrawing it denies what waits.
    pub(in crate::host) fn set_approver(&mut self, there: bool, now: Instant) {
        let now = self.clock.advance(now);
        self.approver = there;
        if !there {
            let open: Vec<_> = self.questions.keys().copied().collect();
            open.into_iter()
                .for_each(|question| self.drop_question(question, NotReleased::ApproverFailed, now));
        }
    }

    /// Denies what nobody answered in time.
    pub(super) fn expire_questions(&mut self, now: Instant) {
        self.approvals.handle_timeout(now);
        while let Some(question) = self.approvals.poll_settled() {
            self.drop_question(question, NotReleased::Expired, now);
        }
    }

    fn drop_question(&mut self, question: ApprovalHandle, why: NotReleased, now: Instant) {
        self.approvals.withdraw(question);
        for call in self.end_question(question) {
            self.deny(call, Denial::NotReleased(why), now);
        }
    }

    /// A call is given up about which somebody is asked. The question stays for others that are the same.
    pub(super) fn leave_question(&mut self, question: ApprovalHandle, call: CallHandle) {
        let Some(asked) = self.questions.get_mut(&question) else { return };
        asked.calls.retain(|asked| *asked != call);
        if asked.calls.is_empty() {
            self.approvals.withdraw(question);
            self.end_question(question);
        }
    }

    fn end_question(&mut self, question: ApprovalHandle) -> Vec<CallHandle> {
        let Some(asked) = self.questions.remove(&question) else { return Vec::new() };
        if asked.told {
            self.out.event(Event::ApprovalEnded(question));
        }
        asked.calls
    }

    /// The next question to be put to somebody.
    pub(super) fn poll_question(&mut self) -> Option<Event> {
        let request = self.approvals.poll_request()?;
        if let Some(asked) = self.questions.get_mut(&request.handle) {
            asked.told = true;
        }
        Some(Event::Approval(Box::new(request)))
    }

    fn deny(&mut self, call: CallHandle, why: Denial, now: Instant) {
        self.finish(call, CallOutcome::Denied(why), now);
    }
}
