//! How calls end.

use alloc::boxed::Box;

use super::table::State;
use super::{Calls, Reach};
use crate::client::{Outcome, Progress};
use crate::error::ApiError;
use crate::host::event::{
    CallEnd, CallHandle, CallOutcome, ClientHandle, Effect, Event, ProtocolFault, RequestKey, ToolResult,
};
use crate::host::results::present;
use crate::jsonrpc::RawJson;
use crate::mcp::types::call_result::CallToolResult;
use crate::time::Instant;
use crate::waist::{End, ErrorClass};

impl Calls {
    pub(in crate::host) fn handle_outcome(
        &mut self,
        call: CallHandle,
        outcome: Result<Outcome, ApiError>,
        reach: &mut impl Reach,
        now: Instant,
    ) {
        let now = self.clock.advance(now);
        if self.handle_probe(call, &outcome, reach, now) {
            return;
        }
        let Some(open) = self.table.get(call) else { return };
        let State::Sent { client, first } = open.state else { return };
        let limit = open.limit;
        match &outcome {
            Ok(Outcome::TimedOut { .. }) => {
                let server = open.tool.server.clone();
                self.was_mute(&server, client, now);
            }
            Ok(Outcome::Cancelled | Outcome::Lost { .. } | Outcome::SessionGone { .. }) | Err(_) => {}
            Ok(_) => self.probes.answers(&open.tool.server),
        }
        let fault = match outcome {
            Ok(Outcome::Complete(raw)) => return self.complete(call, raw, now),
            Ok(Outcome::InputRequired(input)) => return self.park(call, input, now),
            Ok(Outcome::TimedOut { .. }) => return self.finish(call, CallOutcome::TimedOut(limit), now),
            Ok(Outcome::Lost { maybe_ran } | Outcome::SessionGone { maybe_ran }) => {
                reach.lost(client, now);
                return self.lose(call, (first, maybe_ran), reach, now);
            }
            Err(ApiError::Closed | ApiError::NotReady) => {
                reach.gone(client, now);
                return self.lose(call, (first, false), reach, now);
            }
            // Not by us: whoever drives the connection closed it.
            Ok(Outcome::Cancelled) => {
                return self.finish(call, CallOutcome::Disconnected { maybe_ran: true }, now);
            }
            Ok(Outcome::Error(error)) => ProtocolFault::Error(error),
            Ok(Outcome::Invalid(violation)) => ProtocolFault::Invalid(violation),
            Ok(Outcome::TooLarge { len, limit }) => ProtocolFault::TooLarge { len, limit },
            Ok(Outcome::Refused(refusal)) => ProtocolFault::Refused(refusal),
            Ok(Outcome::Challenged(challenge)) => ProtocolFault::Challenged(challenge),
            Err(error) => ProtocolFault::NotSent(error),
        };
        self.finish(call, CallOutcome::ProtocolError(fault), now);
    }

    fn complete(&mut self, call: CallHandle, raw: RawJson, now: Instant) {
        let Some(open) = self.table.get(call) else { return };
        let result = CallToolResult::new(raw);
        let presented = present(&result, &self.cap, &self.mask, &mut self.pages, &open.owner, now);
        let is_error = presented.is_error;
        let result = ToolResult { presented, raw: Some(result.into_raw()) };
        let outcome = if is_error { CallOutcome::ToolError(result) } else { CallOutcome::Completed(result) };
        self.finish(call, outcome, now);
    }

    /// The server asks something first. The call's time stands still, but nobody is waited for without end.
    fn park(&mut self, call: CallHandle, input: Box<crate::client::InputRequired>, now: Instant) {
        let limit = self.max_call_bytes;
        if self.table.input_bytes().saturating_add(input.retained_len()) > limit {
            let fault = ProtocolFault::InputTooLarge { limit };
            return self.finish(call, CallOutcome::ProtocolError(fault), now);
        }
        let Some(open) = self.table.get_mut(call) else { return };
        let left = open.deadline().map_or(open.limit, |deadline| deadline.saturating_since(now));
        open.state = State::Parked { input: input.clone(), left };
        self.table.set_deadline(call, Some(now.saturating_add(self.park)));
        self.out.event(Event::InputRequired { call, input });
    }

    pub(in crate::host) fn handle_progress(&mut self, call: CallHandle, progress: Progress, now: Instant) {
        self.clock.advance(now);
        let sent = self.table.get(call).filter(|open| matches!(open.state, State::Sent { .. }));
        if let Some(open) = sent {
            self.probes.answers(&open.tool.server);
            self.out.progress(call, progress);
        }
    }

    /// Gives a call up. False: it is over.
    pub(in crate::host) fn cancel(&mut self, call: CallHandle, now: Instant) -> bool {
        let now = self.clock.advance(now);
        if self.table.get(call).is_none() {
            return false;
        }
        self.abandon(call);
        self.finish(call, CallOutcome::Cancelled, now);
        true
    }

    pub(super) fn time_out(&mut self, call: CallHandle, now: Instant) {
        let Some(open) = self.table.get(call) else { return };
        let limit = if matches!(open.state, State::Parked { .. }) { self.park } else { open.limit };
        let sent = if let State::Sent { client, .. } = open.state {
            Some((open.tool.server.clone(), client))
        } else {
            None
        };
        self.abandon(call);
        if let Some((server, client)) = sent {
            self.was_mute(&server, client, now);
        }
        self.finish(call, CallOutcome::TimedOut(limit), now);
    }

    /// Takes back what is under way for a call: its question, or its request. The connection stays.
    fn abandon(&mut self, call: CallHandle) {
        match self.table.get(call).map(|open| &open.state) {
            Some(State::Asked(question)) => {
                let question = *question;
                self.leave_question(question, call);
            }
            Some(State::Sent { client, .. }) => {
                let client = *client;
                self.give_up(call, client);
            }
            Some(State::Parked { .. }) => self.out.forget_input(call),
            Some(State::Deciding | State::Waiting(_)) | None => {}
        }
    }

    /// A request's outcome matters no more.
    pub(super) fn give_up(&mut self, request: CallHandle, client: ClientHandle) {
        if !self.out.take_back(request) {
            self.out.effect(Effect::Cancel { key: RequestKey::Call(request), client });
        }
    }

    /// The one place where an open call ends.
    pub(super) fn finish(&mut self, call: CallHandle, outcome: CallOutcome, now: Instant) {
        let Some(open) = self.table.remove(call) else { return };
        if let (Some(waist), Some(admitted)) = (&mut self.waist, open.admitted) {
            waist.end(admitted, outcome.error_class().map_or(End::ok(), End::failed), now);
        }
        self.out.finished(call, CallEnd { tool: Some(open.tool), decision: open.decision, outcome });
    }

    /// Every open call ends as cancelled; none is accepted any more.
    pub(in crate::host) fn close(&mut self, now: Instant) {
        self.closed = true;
        self.drop_probes();
        for call in self.table.handles() {
            self.cancel(call, now);
        }
    }
}

impl CallOutcome {
    /// Its class, for the waist; none: it went well.
    const fn error_class(&self) -> Option<ErrorClass> {
        match self {
            Self::Completed(_) => None,
            Self::ToolError(_) | Self::ProtocolError(_) => Some(ErrorClass::Terminal),
            Self::Denied(_) => Some(ErrorClass::Forbidden),
            Self::Cancelled => Some(ErrorClass::Cancelled),
            Self::TimedOut(_) | Self::Disconnected { .. } | Self::Unavailable { .. } => {
                Some(ErrorClass::Transient)
            }
        }
    }
}
