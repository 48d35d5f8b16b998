//! Calls: what is to be done for them is done by the future that waits for them.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use sanswire::client::{InputAnswers, InputRequired, Outcome, Progress};
use sanswire::error::ApiError;
use sanswire::host::desk::{Asked, Step, Work};
use sanswire::host::policy::{Answer, ApprovalRequest};
use sanswire::host::{CallEnd, CallHandle, RequestKey};

use super::shared::Shared;
use super::surface::Approver;
use crate::asking::answers_to;
use crate::jobs::Caught;
use crate::pending::Pending;

/// Reports of progress that are told in one poll, so that nobody starves beside a call.
const MAX_REPORTS: usize = 64;

/// A call under way: a future of its end. What it takes (questions, input, the request itself if it had to wait) is done
/// while it is polled. Dropping it cancels the call, on the wire too.
///
/// It may be moved to another task at any time.
#[must_use = "dropping it cancels the call"]
pub struct PendingCall {
    host: Arc<Shared>,
    call: CallHandle,
    wants_progress: bool,
    /// The request that is out.
    sent: Option<Pending>,
    /// What is waited for before the call goes on.
    doing: Option<Doing>,
    over: bool,
}

enum Doing {
    Asking(Arc<ApprovalRequest>, Caught<'static, Option<Answer>>),
    Answering(Pin<Box<dyn Future<Output = InputAnswers> + Send>>),
}

impl fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCall").field("call", &self.call).finish_non_exhaustive()
    }
}

impl PendingCall {
    pub(super) const fn new(host: Arc<Shared>, call: CallHandle, wants_progress: bool) -> Self {
        Self { host, call, wants_progress, sent: None, doing: None, over: false }
    }

    /// The call's handle, by which anybody can [`cancel`](super::Host::cancel) it.
    #[must_use]
    pub const fn handle(&self) -> CallHandle {
        self.call
    }

    /// Waits for the end of the call. Progress is reported within this future; a slow callback delays this call only, and
    /// misses reports once 64 wait.
    pub async fn wait_with(mut self, mut on_progress: impl FnMut(&Progress)) -> CallEnd {
        poll_fn(|cx| self.poll_with(cx, &mut on_progress)).await
    }

    /// Sends the request, if it may leave at once.
    pub(super) fn send(&mut self) {
        let work = self.host.lock().desk.work_of(self.call);
        if let Some(work) = work {
            self.make(work);
        }
    }

    fn poll_with(&mut self, cx: &mut Context<'_>, on_progress: &mut dyn FnMut(&Progress)) -> Poll<CallEnd> {
        let mut reports = 0;
        loop {
            match self.poll_sent(cx) {
                Poll::Ready(Sent::Progress(progress)) => {
                    let key = RequestKey::Call(self.call);
                    self.host.act(|machine, now| machine.handle_progress(key, progress, now));
                    reports += 1;
                }
                Poll::Ready(Sent::Ended(outcome)) => {
                    self.sent = None;
                    self.tell(Ok(outcome));
                }
                Poll::Pending => {}
            }
            self.poll_doing(cx);
            match self.next(cx.waker()) {
                Step::Progress(told) => told.iter().for_each(&mut *on_progress),
                Step::End(end) => {
                    self.over = true;
                    self.sent = None;
                    self.stop();
                    return Poll::Ready(*end);
                }
                Step::Work(work) => {
                    self.stop();
                    self.make(work);
                }
                Step::Ask(question) => self.ask(question),
                Step::Input(input) => self.answer(input),
                Step::Sleep => return Poll::Pending,
            }
            if reports >= MAX_REPORTS {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }

    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<Sent> {
        let Some(sent) = &mut self.sent else { return Poll::Pending };
        if self.wants_progress
            && let Some(progress) = std::task::ready!(sent.poll_progress(cx))
        {
            return Poll::Ready(Sent::Progress(progress));
        }
        Pin::new(sent).poll(cx).map(Sent::Ended)
    }

    /// Goes on with what is waited for, if it is waited for still.
    fn poll_doing(&mut self, cx: &mut Context<'_>) {
        match &mut self.doing {
            Some(Doing::Asking(question, asking)) => {
                if !self.host.lock().desk.is_asking(self.call, question) {
                    self.doing = None;
                } else if let Poll::Ready(answer) = Pin::new(asking).poll(cx) {
                    let answer = answer.unwrap_or(Some(Answer::Failed));
                    let mut state = self.host.lock();
                    state.desk.asked(self.call, question);
                    if let Some(answer) = answer {
                        let now = self.host.clock.now();
                        state.desk.machine.answer(question.handle, answer, now);
                    }
                    self.host.settle(state);
                    self.doing = None;
                }
            }
            Some(Doing::Answering(answering)) => {
                if let Poll::Ready(answers) = answering.as_mut().poll(cx) {
                    self.doing = None;
                    self.host.act(|machine, now| machine.resume(self.call, answers, now));
                }
            }
            None => {}
        }
    }

    fn next(&self, waker: &Waker) -> Step {
        let mut state = self.host.lock();
        let step = state.desk.step(self.call);
        let mut spent = None;
        if matches!(step, Step::Sleep)
            && !state.desk.sleeper(self.call).is_some_and(|known| known.will_wake(waker))
        {
            spent = state.desk.sleep(self.call, waker.clone());
        }
        drop(state);
        drop(spent);
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
                let wanted = self.host.lock().desk.opened(self.call, pending.canceller());
                self.sent = wanted.then_some(pending);
            }
            Err(error) => self.tell(Err(error)),
        }
    }

    fn tell(&self, outcome: Result<Outcome, ApiError>) {
        let mut state = self.host.lock();
        let now = self.host.clock.now();
        state.desk.outcome(self.call, outcome, now);
        self.host.settle(state);
    }

    fn ask(&mut self, question: Box<ApprovalRequest>) {
        let approver = self.host.lock().approver.clone();
        let Some(approver) = approver else { return };
        let question = Arc::from(question);
        let asking = put(approver, Arc::clone(&question));
        self.doing = Some(Doing::Asking(question, Caught::new(|| Box::pin(asking))));
    }

    /// Answers what the server wants to know, by the responder of its connection.
    fn answer(&mut self, input: Box<InputRequired>) {
        let host = Arc::clone(&self.host);
        let server = host.lock().desk.server_of(self.call);
        self.doing = Some(Doing::Answering(Box::pin(async move {
            let launch = server.and_then(|server| host.launches.get(&server));
            let responder = launch.and_then(|launch| launch.options().responder.as_deref());
            answers_to(&input, responder).await
        })));
    }

    /// What is waited for is of no use any more. A question that is open still goes to another call that is the same.
    fn stop(&mut self) {
        if let Some(Doing::Asking(question, asking)) = self.doing.take() {
            drop(asking);
            let mut state = self.host.lock();
            state.desk.hand_on(Box::new(ApprovalRequest::clone(&question)));
            self.host.settle(state);
        }
    }
}

/// What there is of a request that is out.
enum Sent {
    Progress(Progress),
    Ended(Outcome),
}

async fn put(approver: Arc<dyn Approver>, question: Arc<ApprovalRequest>) -> Option<Answer> {
    approver.ask(&question).await
}

/// After it is over it stays so: nothing is polled any more.
impl Future for PendingCall {
    type Output = CallEnd;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<CallEnd> {
        let this = self.get_mut();
        if this.over {
            return Poll::Pending;
        }
        this.poll_with(cx, &mut |_| {})
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if !self.over {
            // While it has its place still, so that a question goes to another call that waits for it.
            self.host.act(|machine, now| machine.cancel(self.call, now));
            self.stop();
            let left = self.host.lock().desk.forget(self.call);
            drop(left);
        }
    }
}
