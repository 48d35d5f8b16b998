//! A call, as the thread that waits for it finds it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::Thread;

use sanswire::client::{InputAnswers, InputRequired, Progress, RequestOptions};
use sanswire::host::policy::{ApprovalHandle, ApprovalRequest};
use sanswire::host::{CallEnd, ClientHandle};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;

use crate::pending::Canceller;

/// Progress reports that wait for a slow callback; past that the oldest go.
const MAX_PROGRESS: usize = 64;

/// What an open call wants of its thread.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) work: Option<Work>,
    pub(super) running: Running,
    pub(super) question: Option<Box<ApprovalRequest>>,
    pub(super) input: Option<Box<InputRequired>>,
    /// `None`: nobody asked for progress.
    pub(super) progress: Option<VecDeque<Progress>>,
    pub(super) end: Option<Box<CallEnd>>,
    /// A thread waits for it, and does what is to be done.
    pub(super) attended: bool,
    /// The server that it was sent to.
    pub(super) server: Option<Arc<str>>,
    /// The thread that sleeps until there is something to do.
    pub(super) waiter: Option<Thread>,
}

/// A request to be made.
pub(super) struct Work {
    pub(super) client: ClientHandle,
    pub(super) what: Asked,
    pub(super) options: Box<RequestOptions>,
}

pub(super) enum Asked {
    Request(Method, Option<RawJson>),
    Resume(Box<InputRequired>, InputAnswers),
}

/// What a thread is to do next for its call.
pub(super) enum Step {
    Progress(VecDeque<Progress>),
    End(Box<CallEnd>),
    Work(Work),
    Ask(Box<ApprovalRequest>),
    Input(Box<InputRequired>),
    Sleep,
}

impl Slot {
    pub(super) fn step(&mut self) -> Step {
        if let Some(progress) = self.progress.as_mut().filter(|progress| !progress.is_empty()) {
            Step::Progress(std::mem::take(progress))
        } else if let Some(end) = self.end.take() {
            Step::End(end)
        } else if let Some(work) = self.work.take() {
            self.running = Running::Starting;
            Step::Work(work)
        } else if let Some(question) = self.question.take() {
            Step::Ask(question)
        } else if let Some(input) = self.input.take() {
            Step::Input(input)
        } else {
            Step::Sleep
        }
    }

    pub(super) fn report(&mut self, progress: Progress) {
        let Some(waiting) = &mut self.progress else { return };
        if waiting.len() >= MAX_PROGRESS {
            waiting.pop_front();
        }
        waiting.push_back(progress);
    }

    /// Forgets a question that needs no answer any more.
    pub(super) fn withdraw(&mut self, question: ApprovalHandle) {
        self.question.take_if(|open| open.handle == question);
    }
}

/// A request on its way from a host's word to its connection, where it can be cancelled by another thread.
#[derive(Default)]
pub(super) enum Running {
    #[default]
    No,
    /// A thread is about to make it.
    Starting,
    /// It is to be dropped as soon as it is made.
    Cancelled,
    Open(Canceller),
}

impl Running {
    /// It was made. False: it is not wanted any more.
    pub(super) fn opened(&mut self, canceller: Canceller) -> bool {
        let wanted = matches!(self, Self::Starting);
        *self = if wanted { Self::Open(canceller) } else { Self::No };
        wanted
    }

    /// It is not wanted any more; what is to be cancelled without the lock.
    pub(super) fn cancel(&mut self) -> Option<Canceller> {
        match std::mem::take(self) {
            Self::No => None,
            Self::Starting | Self::Cancelled => {
                *self = Self::Cancelled;
                None
            }
            Self::Open(canceller) => Some(canceller),
        }
    }
}
