//! Futures that the watch runs: what a host does beside its calls, and the embedder's answers to what a server of the older
//! revisions asks, four at once for each connection. No call waits for them.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use async_io::Timer;
use sanswire::Instant;
use sanswire::client::PeerRequestHandle;
use sanswire::error::ApiError;
use sanswire::jsonrpc::ErrorObject;
use sanswire::mcp::codes::INTERNAL_ERROR;
use sanswire::mcp::types::input::{InputAnswer, InputRequest};

use crate::options::Responder;
use crate::shared::{Shared, State};
use crate::watch::Watch;

const MAX_JOBS: usize = 4;
/// How long to wait before looking for room in a full outbox again.
const ROOM: Duration = Duration::from_millis(10);

/// One of them.
pub(crate) struct Job {
    watch: Watch,
    work: Mutex<Option<Work>>,
    /// It waits in the queue of the watch.
    queued: AtomicBool,
    withdrawn: AtomicBool,
}

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Job {
    /// Work that waits to [begin](Self::begin).
    pub(crate) fn new(watch: Watch, work: impl Future<Output = ()> + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            watch,
            work: Mutex::new(Some(Box::pin(work))),
            queued: AtomicBool::new(false),
            withdrawn: AtomicBool::new(false),
        })
    }

    pub(crate) fn begin(self: Arc<Self>) {
        self.wake();
    }

    /// Nobody waits for it any more. One that is being polled is let go after that.
    pub(crate) fn withdraw(&self) {
        self.withdrawn.store(true, Ordering::SeqCst);
        let work = match self.work.try_lock() {
            Ok(mut work) => work.take(),
            Err(_) => None,
        };
        drop(work);
    }

    /// Polls it once. What fails in it costs nothing else.
    pub(crate) fn go_on(self: Arc<Self>) {
        self.queued.store(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self));
        let spent = {
            let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
            let over = work.as_mut().is_none_or(|work| {
                let polled =
                    catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut Context::from_waker(&waker))));
                !matches!(polled, Ok(Poll::Pending))
            });
            if over || self.withdrawn.load(Ordering::SeqCst) { work.take() } else { None }
        };
        drop(spent);
    }
}

impl Wake for Job {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Ordering::SeqCst) {
            let watch = self.watch.clone();
            watch.schedule(self);
        }
    }
}

impl Shared {
    pub(crate) fn asked(
        &self,
        state: &mut State,
        handle: PeerRequestHandle,
        request: InputRequest,
        now: Instant,
    ) {
        if self.responder.is_none() {
            // Nobody can answer: the server is told at once and does not wait.
            let _ = state.link.asked().answer(handle, &InputAnswer::Cancel, now);
            return;
        }
        state.asked.push_back((handle, request));
        self.begin_jobs(state);
    }

    /// As many as may be at once.
    fn begin_jobs(&self, state: &mut State) {
        while state.jobs.len() < MAX_JOBS
            && let Some(responder) = &self.responder
            && let Some((handle, request)) = state.asked.pop_front()
        {
            let answer = answer(self.me.clone(), Arc::clone(responder), handle, request);
            let job = Job::new(self.signals.watch().clone(), answer);
            state.jobs.push((handle, Arc::clone(&job)));
            state.after().begun.push(job);
        }
    }

    /// The server wants no answer any more.
    pub(crate) fn withdrawn(&self, state: &mut State, handle: PeerRequestHandle) {
        state.asked.retain(|(asked, _)| *asked != handle);
        let place = state.jobs.iter().position(|(job, _)| *job == handle);
        if let Some(place) = place {
            let (_, job) = state.jobs.swap_remove(place);
            state.after().withdrawn.push(job);
        }
        self.begin_jobs(state);
    }

    pub(crate) fn withdraw_all(&self, state: &mut State) {
        state.asked.clear();
        let jobs = std::mem::take(&mut state.jobs);
        state.after().withdrawn.extend(jobs.into_iter().map(|(_, job)| job));
    }

    /// Hands an answer in. What has no room now is handed back.
    fn hand_in(&self, handle: PeerRequestHandle, mut answer: InputAnswer) -> Option<InputAnswer> {
        let mut state = self.lock();
        let now = self.clock.now();
        loop {
            let why = match state.link.asked().answer(handle, &answer, now) {
                Err(ApiError::OutboundFull) if state.closed.is_none() => return Some(answer),
                Err(ApiError::BadParams(_)) => "the answer is no object",
                Err(ApiError::TooLarge { .. }) => "the answer is too long",
                _ => break,
            };
            if matches!(&answer, InputAnswer::Error(error) if error.message == why) {
                break;
            }
            answer = failure(why);
        }
        state.jobs.retain(|(job, _)| *job != handle);
        self.begin_jobs(&mut state);
        self.flush(&mut state, now);
        self.deliver(&mut state, now);
        self.kick(&mut state, now);
        None
    }
}

/// Has a question answered, and hands the answer in. While too much waits to be written, the answer waits too.
async fn answer(
    shared: Weak<Shared>,
    responder: Arc<dyn Responder>,
    handle: PeerRequestHandle,
    request: InputRequest,
) {
    let answered = Caught::new(|| responder.respond(&request)).await;
    let mut answer = answered.unwrap_or_else(failed);
    while let Some(shared) = shared.upgrade()
        && let Some(left) = shared.hand_in(handle, answer)
    {
        answer = left;
        drop(shared);
        Timer::after(ROOM).await;
    }
}

/// What a server is told where the embedder's answer failed.
pub(crate) fn failed() -> InputAnswer {
    failure("the client's handler failed")
}

fn failure(message: &str) -> InputAnswer {
    InputAnswer::Error(ErrorObject { code: INTERNAL_ERROR, message: message.into(), data: None })
}

/// What the embedder does; `None` once it panicked.
pub(crate) struct Caught<'a, T>(Option<Pin<Box<dyn Future<Output = T> + Send + 'a>>>);

impl<'a, T> Caught<'a, T> {
    pub(crate) fn new(make: impl FnOnce() -> Pin<Box<dyn Future<Output = T> + Send + 'a>>) -> Self {
        Self(catch_unwind(AssertUnwindSafe(make)).ok())
    }
}

impl<T> Future for Caught<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let polled = self.0.as_mut().map(|work| catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))));
        match polled {
            Some(Ok(polled)) => polled.map(Some),
            Some(Err(_)) | None => {
                self.0 = None;
                Poll::Ready(None)
            }
        }
    }
}
