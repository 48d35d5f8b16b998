//! What is done for a call, by whoever waits for it.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;

use super::slot::{Running, Slot, Step, Work};
use super::{Desk, Kinds};
use crate::client::{Outcome, Progress};
use crate::error::ApiError;
use crate::host::calls::{CallRefused, CallRequest};
use crate::host::event::{CallHandle, RequestKey};
use crate::host::policy::ApprovalRequest;
use crate::time::Instant;

/// What is done for a call.
impl<K: Kinds> Desk<K> {
    /// Asks for a call, which has its place here until it is [forgotten](Self::forget) or its end was taken.
    ///
    /// # Errors
    /// [`CallRefused`]: it was not accepted.
    pub fn call(
        &mut self,
        request: CallRequest,
        wants_progress: bool,
        now: Instant,
    ) -> Result<CallHandle, CallRefused> {
        let call = self.machine.call(request, now)?;
        self.calls.insert(call, Slot::new(wants_progress));
        Ok(call)
    }

    /// What whoever waits for a call is to do next.
    pub fn step(&mut self, call: CallHandle) -> Step {
        let Some(slot) = self.calls.get_mut(&call) else { return Step::Sleep };
        slot.attended = true;
        let step = slot.step();
        if matches!(step, Step::End(_)) {
            self.calls.remove(&call);
        } else if matches!(step, Step::Sleep)
            && let Some(question) = self.unasked(call)
        {
            if let Some(slot) = self.calls.get_mut(&call) {
                slot.asking = Some(question.handle);
            }
            return Step::Ask(question);
        }
        step
    }

    /// A question that is about this call too, and that nobody has begun to ask.
    fn unasked(&mut self, call: CallHandle) -> Option<Box<ApprovalRequest>> {
        let machine = &self.machine;
        self.calls.values_mut().find_map(|slot| {
            slot.question.take_if(|question| machine.asked_about(question.handle).contains(&call))
        })
    }

    /// There is nothing to do for a call: `waiter` is woken once there is. Who was to be woken before; `waiter` itself if
    /// there is no such call.
    pub fn sleep(&mut self, call: CallHandle, waiter: K::Waiter) -> Option<K::Waiter> {
        match self.calls.get_mut(&call) {
            Some(slot) => slot.waiter.replace(waiter),
            None => Some(waiter),
        }
    }

    /// Who is woken once there is something to do for a call.
    #[must_use]
    pub fn sleeper(&self, call: CallHandle) -> Option<&K::Waiter> {
        self.calls.get(&call)?.waiter.as_ref()
    }

    /// Whether a call is over, or was forgotten.
    #[must_use]
    pub fn is_over(&self, call: CallHandle) -> bool {
        self.calls.get(&call).is_none_or(|slot| slot.end.is_some())
    }

    /// The request of a call, if it is to be made now.
    pub fn work_of(&mut self, call: CallHandle) -> Option<Work> {
        self.calls.get_mut(&call)?.take_work()
    }

    /// A request that was taken out was made. False: it is not wanted any more, so drop it.
    pub fn opened(&mut self, call: CallHandle, canceller: K::Canceller) -> bool {
        self.calls.get_mut(&call).is_some_and(|slot| slot.running.opened(canceller))
    }

    /// What the request of a call came to.
    pub fn outcome(&mut self, call: CallHandle, outcome: Result<Outcome, ApiError>, now: Instant) {
        if let Some(slot) = self.calls.get_mut(&call) {
            slot.running = Running::No;
        }
        self.machine.handle_outcome(RequestKey::Call(call), outcome, now);
    }

    /// Reports that wait for whoever waits for a call.
    pub fn take_progress(&mut self, call: CallHandle) -> VecDeque<Progress> {
        let waiting = self.calls.get_mut(&call).and_then(|slot| slot.progress.as_mut());
        waiting.map(core::mem::take).unwrap_or_default()
    }

    /// The server that a call was sent to last.
    #[must_use]
    pub fn server_of(&self, call: CallHandle) -> Option<Arc<str>> {
        self.calls.get(&call)?.server.clone()
    }

    /// Whether the question that this call took is still open and its own to ask.
    #[must_use]
    pub fn is_asking(&self, call: CallHandle, question: &ApprovalRequest) -> bool {
        self.calls.get(&call).is_some_and(|slot| slot.asking == Some(question.handle))
    }

    /// The question that this call took was put to somebody, who answered it or leaves it open.
    pub fn asked(&mut self, call: CallHandle, question: &ApprovalRequest) {
        if let Some(slot) = self.calls.get_mut(&call) {
            slot.asking.take_if(|asking| *asking == question.handle);
        }
    }

    /// Whoever waited for this call asks no more: the question that it took goes to another call that is the same, if it
    /// is still open. Call it once the call is over.
    pub fn hand_on(&mut self, question: Box<ApprovalRequest>) {
        self.ask(question);
    }

    /// Nobody waits for a call any more, and nothing of it matters. What is left of it is best dropped without the lock.
    pub fn forget(&mut self, call: CallHandle) -> Option<Slot<K>> {
        self.calls.remove(&call)
    }
}
