//! How a released call reaches its server.

use alloc::boxed::Box;

use super::table::{Open, State, Step};
use super::{Calls, Reach, Way};
use crate::client::{InputAnswers, RequestOptions, params};
use crate::host::config::Replay;
use crate::host::event::{CallHandle, CallOutcome, ClientHandle, Denial, Effect, RequestKey};
use crate::host::policy::NotReleased;
use crate::mcp::Method;
use crate::time::Instant;
use crate::waist;

impl Calls {
    /// A call was let through: its time runs from here on.
    pub(super) fn release(&mut self, call: CallHandle, reach: &mut impl Reach, now: Instant) {
        let Some(open) = self.table.get(call) else { return };
        let deadline = now.saturating_add(open.limit);
        if let Err(rejection) = self.admit(call, now) {
            return self.finish(call, CallOutcome::Denied(Denial::Rejected(rejection)), now);
        }
        self.table.set_deadline(call, Some(deadline));
        self.proceed(call, Step::Call, reach, now);
    }

    /// Asks the waist, if there is one. Once: a call that has its leave keeps it.
    fn admit(&mut self, call: CallHandle, now: Instant) -> Result<(), waist::Rejection> {
        let (Some(waist), Some(open)) = (&mut self.waist, self.table.get_mut(call)) else { return Ok(()) };
        if open.admitted.is_none() {
            let mut action = waist::Call::new(open.exposed.clone());
            action.subject = Some(open.arguments_hash.0);
            action.principal = open.owner.shared();
            (action.trust, action.tier) = self.contained.get(&open.tool.server).copied().unwrap_or_default();
            open.admitted = Some(waist.begin(&action, now)?);
        }
        Ok(())
    }

    /// Sends what is to be sent, waits for the server, or gives up.
    fn proceed(&mut self, call: CallHandle, step: Step, reach: &mut impl Reach, now: Instant) {
        let Some(open) = self.table.get_mut(call) else { return };
        if open.deadline().is_some_and(|deadline| deadline <= now) {
            return self.time_out(call, now);
        }
        if matches!(step, Step::Call) {
            // It may have waited for long: what was let through is this definition and no other.
            let present = reach.registry().find(&open.tool.server, &open.tool.tool);
            match present.map(|offered| offered.definition.hash) {
                Some(definition) if definition == open.definition => {}
                Some(_) => return self.consider(call, reach, now),
                None => {
                    let denial = Denial::NotReleased(NotReleased::NotOffered);
                    return self.finish(call, CallOutcome::Denied(denial), now);
                }
            }
        }
        match reach.way(&open.tool.server) {
            Way::Go(client) => self.send(call, step, client, now),
            Way::Wait => open.state = State::Waiting(step),
            Way::Refuse { status, error } => {
                self.finish(call, CallOutcome::Unavailable { status, error }, now);
            }
        }
    }

    fn send(&mut self, call: CallHandle, step: Step, client: ClientHandle, now: Instant) {
        let Some(open) = self.table.get_mut(call) else { return };
        let (key, options) = (RequestKey::Call(call), Box::new(options(open, now)));
        open.state = State::Sent { client, first: matches!(step, Step::Call) };
        self.out.effect(match step {
            Step::Call => Effect::Request {
                key,
                client,
                method: Method::ToolsCall,
                params: Some(params::call_tool(&open.tool.tool, open.arguments.as_ref())),
                options,
            },
            Step::Resume(from, answers) => Effect::Resume { key, client, from, answers, options },
        });
    }

    /// A server can be reached now, or cannot for good: its waiting calls go on.
    pub(in crate::host) fn settled(&mut self, server: &str, reach: &mut impl Reach, now: Instant) {
        let now = self.clock.advance(now);
        for call in self.table.waiting_for(server) {
            let Some(open) = self.table.get_mut(call) else { continue };
            if let State::Waiting(step) = core::mem::replace(&mut open.state, State::Deciding) {
                self.proceed(call, step, reach, now);
            }
        }
    }

    /// Goes on with a call whose server asked for input. False: it waits for none.
    pub(in crate::host) fn resume(
        &mut self,
        call: CallHandle,
        answers: InputAnswers,
        reach: &mut impl Reach,
        now: Instant,
    ) -> bool {
        let now = self.clock.advance(now);
        let Some(open) = self.table.get_mut(call) else { return false };
        if open.deadline().is_some_and(|deadline| deadline <= now) {
            self.time_out(call, now);
            return false;
        }
        if !matches!(open.state, State::Parked { .. }) {
            return false;
        }
        if let State::Parked { input, left } = core::mem::replace(&mut open.state, State::Deciding) {
            self.table.set_deadline(call, Some(now.saturating_add(left)));
            self.proceed(call, Step::Resume(input, answers), reach, now);
        }
        true
    }

    /// A call was lost. It is made again only if nothing of it had left, and only where that is wanted.
    pub(super) fn lose(
        &mut self,
        call: CallHandle,
        (first, maybe_ran): (bool, bool),
        reach: &mut impl Reach,
        now: Instant,
    ) {
        let Some(open) = self.table.get_mut(call) else { return };
        if self.replay == Replay::UnsentOnly && first && !maybe_ran && !open.replayed {
            (open.replayed, open.state) = (true, State::Deciding);
            return self.proceed(call, Step::Call, reach, now);
        }
        self.finish(call, CallOutcome::Disconnected { maybe_ran }, now);
    }
}

/// What is left of a call's time is all that its request may take.
fn options(open: &Open, now: Instant) -> RequestOptions {
    let left = open.deadline().map(|deadline| deadline.saturating_since(now));
    RequestOptions { idle: left, absolute: left, ..RequestOptions::default() }
}
