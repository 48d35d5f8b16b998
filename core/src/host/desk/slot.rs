//! A call, as whoever waits for it finds it.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::fmt;

use super::Kinds;
use crate::client::{InputAnswers, InputRequired, Progress, RequestOptions};
use crate::host::event::{CallEnd, ClientHandle};
use crate::host::policy::{ApprovalHandle, ApprovalRequest};
use crate::jsonrpc::RawJson;
use crate::mcp::Method;

/// Progress reports that wait for a slow callback; past that the oldest go.
const MAX_PROGRESS: usize = 64;

/// What an open call wants of whoever waits for it.
pub struct Slot<K: Kinds> {
    pub(super) work: Option<Work>,
    pub(super) running: Running<K::Canceller>,
    pub(super) question: Option<Box<ApprovalRequest>>,
    /// The question that it took and that is being put to somebody.
    pub(super) asking: Option<ApprovalHandle>,
    pub(super) input: Option<Box<InputRequired>>,
    /// `None`: nobody asked for progress.
    pub(super) progress: Option<VecDeque<Progress>>,
    pub(super) end: Option<Box<CallEnd>>,
    /// Somebody waits for it, and does what is to be done.
    pub(super) attended: bool,
    /// The server that it was sent to.
    pub(super) server: Option<Arc<str>>,
    /// Who sleeps until there is something to do.
    pub(super) waiter: Option<K::Waiter>,
}

impl<K: Kinds> fmt::Debug for Slot<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("attended", &self.attended).finish_non_exhaustive()
    }
}

/// A request to be made.
#[derive(Debug)]
pub struct Work {
    /// Over this connection.
    pub client: ClientHandle,
    /// What.
    pub what: Asked,
    /// Its limits.
    pub options: Box<RequestOptions>,
}

/// What is asked of a server for a call.
#[derive(Debug)]
pub enum Asked {
    /// At first.
    Request(Method, Option<RawJson>),
    /// After a round of input.
    Resume(Box<InputRequired>, InputAnswers),
}

/// What is to be done next for a call, by whoever waits for it.
#[derive(Debug)]
pub enum Step {
    /// Tell its progress.
    Progress(VecDeque<Progress>),
    /// It is over, and has no place any more.
    End(Box<CallEnd>),
    /// Make its request, and tell that it is [opened](super::Desk::opened) or its
    /// [outcome](super::Desk::outcome).
    Work(Work),
    /// Ask somebody, and tell that they were [asked](super::Desk::asked).
    Ask(Box<ApprovalRequest>),
    /// Answer what its server wants to know ([`Host::resume`](crate::host::Host::resume)).
    Input(Box<InputRequired>),
    /// Nothing.
    Sleep,
}

impl<K: Kinds> Slot<K> {
    pub(super) fn new(wants_progress: bool) -> Self {
        Self {
            work: None,
            running: Running::No,
            question: None,
            asking: None,
            input: None,
            progress: wants_progress.then(VecDeque::new),
            end: None,
            attended: false,
            server: None,
            waiter: None,
        }
    }

    pub(super) fn step(&mut self) -> Step {
        if let Some(progress) = self.progress.as_mut().filter(|progress| !progress.is_empty()) {
            Step::Progress(core::mem::take(progress))
        } else if let Some(end) = self.end.take() {
            Step::End(end)
        } else if let Some(work) = self.take_work() {
            Step::Work(work)
        } else if let Some(question) = self.question.take() {
            self.asking = Some(question.handle);
            Step::Ask(question)
        } else if let Some(input) = self.input.take() {
            Step::Input(input)
        } else {
            Step::Sleep
        }
    }

    pub(super) fn take_work(&mut self) -> Option<Work> {
        let work = self.work.take()?;
        self.running = Running::Starting;
        Some(work)
    }

    pub(super) fn report(&mut self, progress: Progress) {
        let Some(waiting) = &mut self.progress else { return };
        if waiting.len() >= MAX_PROGRESS {
            waiting.pop_front();
        }
        waiting.push_back(progress);
    }

    /// Its request is not wanted any more; what is to be cancelled without the lock.
    pub(super) fn cancel(&mut self) -> Option<K::Canceller> {
        self.work = None;
        self.running.cancel()
    }

    /// Forgets a question that needs no answer any more. Who asks it, perhaps, and is to look again.
    pub(super) fn withdraw(&mut self, question: ApprovalHandle) -> Option<K::Waiter> {
        self.question.take_if(|open| open.handle == question);
        self.asking.take_if(|asking| *asking == question)?;
        self.waiter.take()
    }
}

/// A request on its way from a host's word to its connection, where it can be cancelled by somebody else.
#[derive(Debug, Default)]
pub(super) enum Running<C> {
    #[default]
    No,
    /// Somebody is about to make it.
    Starting,
    /// It is to be dropped as soon as it is made.
    Cancelled,
    Open(C),
}

impl<C> Running<C> {
    /// It was made. False: it is not wanted any more.
    pub(super) fn opened(&mut self, canceller: C) -> bool {
        let wanted = matches!(self, Self::Starting);
        *self = if wanted { Self::Open(canceller) } else { Self::No };
        wanted
    }

    /// It is not wanted any more; what is to be cancelled without the lock.
    pub(super) fn cancel(&mut self) -> Option<C> {
        match core::mem::replace(self, Self::No) {
            Self::No => None,
            Self::Starting | Self::Cancelled => {
                *self = Self::Cancelled;
                None
            }
            Self::Open(canceller) => Some(canceller),
        }
    }
}
