//! Calls: what is to be done for them is done by the thread that waits for them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use sanswire::client::{InputAnswers, InputRequired, Outcome, Progress};
use sanswire::error::ApiError;
use sanswire::host::desk::{Asked, Step, Work};
use sanswire::host::policy::{Answer, ApprovalRequest};
use sanswire::host::{CallEnd, CallHandle, RequestKey};
use sanswire::mcp::types::input::InputAnswer;

use super::shared::Shared;
use crate::pending::Pending;

/// A call under way. What it takes (questions, input, the request itself if it had to wait) is done by the thread that
/// waits for it. Dropping it cancels the call, on the wire too.
#[must_use = "dropping it cancels the call"]
pub struct PendingCall {
    host: Arc<Shared>,
    call: CallHandle,
    wants_progress: bool,
    /// The request that is out.
    sent: Option<Pending>,
    over: bool,
}

impl std::fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingCall").field("call", &self.call).finish_non_exhaustive()
    }
}

impl PendingCall {
    pub(super) const fn new(host: Arc<Shared>, call: CallHandle, wants_progress: bool) -> Self {
        Self { host, call, wants_progress, sent: None, over: false }
    }

    /// The call's handle, by which any thread can [`cancel`](super::Host::cancel) it.
    #[must_use]
    pub const fn handle(&self) -> CallHandle {
        self.call
    }

    /// Waits for the end of the call. Whoever is to be asked is asked on this thread.
    #[must_use]
    pub fn wait(self) -> CallEnd {
        self.wait_with(&mut |_| {})
    }

    /// As [`wait`](Self::wait). Progress is reported on this thread; a slow callback delays this call only, and misses
    /// reports once 64 wait.
    #[must_use]
    pub fn wait_with(mut self, on_progress: &mut dyn FnMut(&Progress)) -> CallEnd {
        loop {
            if let Some(sent) = self.sent.take() {
                self.wait_for(sent, on_progress);
            }
            match self.next() {
                Step::Progress(reports) => reports.iter().for_each(&mut *on_progress),
                Step::End(end) => {
                    self.over = true;
                    return *end;
                }
                Step::Work(work) => self.make(work),
                Step::Ask(question) => self.ask(&question),
                Step::Input(input) => self.answer(&input),
                // Whoever has something for this thread leaves it first, and unparks it then.
                Step::Sleep => std::thread::park(),
            }
        }
    }

    /// Sends the request, if it may leave at once.
    pub(super) fn send(&mut self) {
        let work = self.host.lock().desk.work_of(self.call);
        if let Some(work) = work {
            self.make(work);
        }
    }

    fn next(&self) -> Step {
        let mut state = self.host.lock();
        let step = state.desk.step(self.call);
        if matches!(step, Step::Sleep) {
            state.desk.sleep(self.call, std::thread::current());
        }
        step
    }

    fn make(&mut self, work: Work) {
        let Work { client, what, options } = work;
        let connection = self.host.lock().desk.connection(client);
        let made = match (connection, what) {
            (None, _) => Err(ApiError::Closed),
            (Some(connection), Asked::Request(method, params)) => {
                connection.start_with(method, params, &options, self.wants_progress)
            }
            (Some(connection), Asked::Resume(from, answers)) => {
                connection.start_resume(&from, &answers, &options, self.wants_progress)
            }
        };
        match made {
            Ok(pending) => {
                if self.host.lock().desk.opened(self.call, pending.canceller()) {
                    self.sent = Some(pending);
                }
            }
            Err(error) => self.tell(Err(error)),
        }
    }

    fn wait_for(&self, sent: Pending, on_progress: &mut dyn FnMut(&Progress)) {
        let outcome = sent.wait_with(&mut |progress| {
            let (key, progress) = (RequestKey::Call(self.call), progress.clone());
            self.host.act(|machine, now| machine.handle_progress(key, progress, now));
            let reports = self.host.lock().desk.take_progress(self.call);
            reports.iter().for_each(&mut *on_progress);
        });
        self.tell(Ok(outcome));
    }

    fn tell(&self, outcome: Result<Outcome, ApiError>) {
        let mut state = self.host.lock();
        let now = self.host.clock.now();
        state.desk.outcome(self.call, outcome, now);
        self.host.settle(state);
    }

    fn ask(&self, question: &ApprovalRequest) {
        let Some(approver) = self.host.lock().approver.clone() else { return };
        let answer = catch_unwind(AssertUnwindSafe(|| approver.ask(question)));
        self.host.lock().desk.asked(self.call, question);
        if let Some(answer) = answer.unwrap_or(Some(Answer::Failed)) {
            self.host.act(|machine, now| machine.answer(question.handle, answer, now));
        }
    }

    /// Answers what the server wants to know, by the responder of its connection. Without one nothing is answered, and
    /// the server is told so.
    fn answer(&self, input: &InputRequired) {
        if !self.pause(input.pause()) {
            return;
        }
        let server = self.host.lock().desk.server_of(self.call);
        let launch = server.and_then(|server| self.host.launches.get(&server));
        let responder = launch.and_then(|launch| launch.options().responder.as_ref());
        let answers = InputAnswers::collect(input, |request| match responder {
            Some(responder) => responder.respond(request),
            None => InputAnswer::Cancel,
        });
        self.host.act(|machine, now| machine.resume(self.call, answers, now));
    }

    /// False: the call was over before.
    fn pause(&self, pause: Duration) -> bool {
        let until = self.host.clock.later(pause);
        loop {
            let over = {
                let mut state = self.host.lock();
                state.desk.sleep(self.call, std::thread::current());
                state.desk.is_over(self.call)
            };
            let left = until.saturating_since(self.host.clock.now());
            if over || left.is_zero() {
                return !over;
            }
            std::thread::park_timeout(left);
        }
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if !self.over {
            // While it has its place still, so that a question goes to another call that waits for it.
            self.host.act(|machine, now| machine.cancel(self.call, now));
            let left = self.host.lock().desk.forget(self.call);
            drop(left);
        }
    }
}
