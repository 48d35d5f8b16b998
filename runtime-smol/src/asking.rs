//! What a client is asked: calls that are awaited, and calls that are not yet.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use async_io::Timer;
use sanswire::Instant;
use sanswire::client::listing::{Listed, Step};
use sanswire::client::{
    InputAnswers, InputRequired, Listing, Outcome, Progress, RequestHandle, RequestOptions,
};
use sanswire::error::ApiError;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputAnswer;

use crate::client::Client;
use crate::options::Responder;
use crate::pending::{Cork, Pending};
use crate::shared::{Shared, State};

impl Client {
    /// Makes a request and waits for its end. Rounds of input are the caller's
    /// ([`resume`](Self::resume)); see [`complete`](Self::complete).
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub async fn call(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
    ) -> Result<Outcome, ApiError> {
        self.ask(|state, now| state.link.asked().request(method, params, options, now)).await
    }

    /// As [`call`](Self::call). Progress is reported within this future; a slow callback delays this call only, and misses
    /// reports once 64 wait.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub async fn call_with(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        on_progress: impl FnMut(&Progress),
    ) -> Result<Outcome, ApiError> {
        Ok(told(self.start_with_progress(method, params, options)?, on_progress).await)
    }

    /// Calls a tool. Rounds of input go to the responder, within this future; without one the outcome is
    /// [`Outcome::InputRequired`].
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent (or no more, after a round of input).
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
    ) -> Result<Outcome, ApiError> {
        let first =
            self.ask(|state, now| state.link.asked().call_tool(name, arguments, options, now)).await?;
        self.go_on(first, options, None::<fn(&Progress)>).await
    }

    /// As [`call_with`](Self::call_with), and rounds of input go to the responder, within this future; without one
    /// the outcome is [`Outcome::InputRequired`]. If the responder refuses what cannot be refused otherwise, the
    /// call is given up: [`Outcome::Cancelled`].
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent (or no more, after a round of input).
    pub async fn complete(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        mut on_progress: impl FnMut(&Progress),
    ) -> Result<Outcome, ApiError> {
        let first = self.call_with(method, params, options, &mut on_progress).await?;
        self.go_on(first, options, Some(on_progress)).await
    }

    async fn go_on(
        &self,
        first: Outcome,
        options: &RequestOptions,
        mut on_progress: Option<impl FnMut(&Progress)>,
    ) -> Result<Outcome, ApiError> {
        let mut outcome = first;
        loop {
            let Outcome::InputRequired(input) = outcome else { return Ok(outcome) };
            let Some(responder) = &self.shared().responder else { return Ok(Outcome::InputRequired(input)) };
            let answers = answers_to(&input, Some(&**responder)).await;
            let next = self.begin(on_progress.is_some(), |state, now| {
                state.link.asked().resume(&input, &answers, options, now)
            });
            let pending = match next {
                Err(ApiError::BadParams(_)) => return Ok(Outcome::Cancelled),
                next => next?,
            };
            outcome = match &mut on_progress {
                Some(on_progress) => told(pending, on_progress).await,
                None => pending.await,
            };
        }
    }

    /// Goes on with a call that asked for input, and waits for its end.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent, and `from` can be used again.
    pub async fn resume(
        &self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
    ) -> Result<Outcome, ApiError> {
        self.ask(|state, now| state.link.asked().resume(from, answers, options, now)).await
    }

    /// Makes a request and does not wait. The request leaves at once, or with the [`Cork`] that is held. Its progress is
    /// not kept.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn start(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
    ) -> Result<Pending, ApiError> {
        self.begin(false, |state, now| state.link.asked().request(method, params, options, now))
    }

    /// As [`start`](Self::start), and its progress is kept for [`Pending::next_progress`].
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn start_with_progress(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
    ) -> Result<Pending, ApiError> {
        self.begin(true, |state, now| state.link.asked().request(method, params, options, now))
    }

    /// As [`start`](Self::start), with progress for [`Pending::next_progress`] if it is wanted.
    pub(crate) fn start_with(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        wants_progress: bool,
    ) -> Result<Pending, ApiError> {
        self.begin(wants_progress, |state, now| state.link.asked().request(method, params, options, now))
    }

    /// As [`resume`](Self::resume), and does not wait.
    pub(crate) fn start_resume(
        &self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
        wants_progress: bool,
    ) -> Result<Pending, ApiError> {
        self.begin(wants_progress, |state, now| state.link.asked().resume(from, answers, options, now))
    }

    /// Calls a tool and does not wait; see [`start`](Self::start).
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn start_tool(
        &self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
    ) -> Result<Pending, ApiError> {
        self.begin(false, |state, now| state.link.asked().call_tool(name, arguments, options, now))
    }

    fn begin(
        &self,
        wants_progress: bool,
        ask: impl FnOnce(&mut State, Instant) -> Result<RequestHandle, ApiError>,
    ) -> Result<Pending, ApiError> {
        let shared = self.shared();
        let request = shared.begin(&mut shared.lock(), wants_progress, ask)?;
        Ok(Pending::new(Arc::clone(shared), request))
    }

    /// Asks and waits for the end. Whoever asks here waits from the beginning, and so takes the lock once for both.
    async fn ask(
        &self,
        ask: impl FnOnce(&mut State, Instant) -> Result<RequestHandle, ApiError>,
    ) -> Result<Outcome, ApiError> {
        let shared = self.shared();
        let (mut ask, mut pending) = (Some(ask), None::<Pending>);
        poll_fn(|cx| {
            if let Some(pending) = &mut pending {
                return Pin::new(pending).poll(cx).map(Ok);
            }
            let Some(ask) = ask.take() else { return Poll::Ready(Ok(Outcome::Cancelled)) };
            let mut state = shared.lock();
            let request = shared.begin(&mut state, false, ask)?;
            // Kept where it outlives the lock: to drop it takes the lock.
            let waiting = pending.insert(Pending::new(Arc::clone(shared), request));
            let polled = waiting.poll_locked(&mut state, cx);
            drop(state);
            polled.map(Ok)
        })
        .await
    }

    /// Holds back what [`start`](Self::start) and [`notify`](Self::notify) would write, so that many requests
    /// leave in one write: when the cork goes, or when anybody waits for a call. Hold it briefly, and across no await: an
    /// answer to a ping waits for it too.
    pub fn cork(&self) -> Cork<'_> {
        Cork::new(self.shared())
    }

    /// A whole listing, page after page, under the caps of the limits. `method` is one of the four list methods.
    ///
    /// # Errors
    /// [`ApiError`] of the first page. What ends a later one stands in [`Listed::cut`].
    pub async fn list(&self, method: Method, options: &RequestOptions) -> Result<Listed, ApiError> {
        let mut listing = Listing::new(method, &self.shared().lock().link.session().config().limits);
        let (method, params) = listing.first();
        let mut outcome = self.call(method, params, options).await?;
        loop {
            match listing.next(outcome) {
                Step::Done(listed) => return Ok(listed),
                Step::Request(method, params) => {
                    outcome = match self.call(method, params, options).await {
                        Ok(outcome) => outcome,
                        Err(ApiError::Closed) => Outcome::Lost { maybe_ran: false },
                        Err(error) => return Err(error),
                    };
                }
            }
        }
    }

    /// Asks whether the server is there (revisions up to 2025-11-25).
    ///
    /// # Errors
    /// [`ApiError::WrongEra`] where the revision has no ping; else as [`call`](Self::call).
    pub async fn ping(&self, options: &RequestOptions) -> Result<Outcome, ApiError> {
        self.call(Method::Ping, None, options).await
    }

    /// Sends a notification. Waits for nothing.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn notify(&self, method: Method, params: Option<RawJson>) -> Result<(), ApiError> {
        let shared = self.shared();
        let mut state = shared.lock();
        let now = shared.clock.now();
        state.link.asked().notify(method, params, now)?;
        if state.corks == 0 {
            shared.flush(&mut state, now);
            shared.kick(&mut state, now);
        }
        Ok(())
    }
}

impl Shared {
    /// Asks, and sees to it that what is asked leaves.
    fn begin(
        &self,
        state: &mut State,
        wants_progress: bool,
        ask: impl FnOnce(&mut State, Instant) -> Result<RequestHandle, ApiError>,
    ) -> Result<RequestHandle, ApiError> {
        let now = self.clock.now();
        let request = ask(state, now)?;
        state.calls.insert(request, wants_progress);
        if state.corks == 0 {
            self.flush(state, now);
            self.kick(state, now);
        }
        Ok(request)
    }
}

/// Answers what a server wants to know before it goes on with a call. Without a responder nothing is answered, and the
/// server is told so.
pub(crate) async fn answers_to(input: &InputRequired, responder: Option<&dyn Responder>) -> InputAnswers {
    if !input.pause().is_zero() {
        Timer::after(input.pause()).await;
    }
    let mut answers = InputAnswers::new();
    for asked in input.requests() {
        let answer = match responder {
            Some(responder) => responder.respond(&asked.request).await,
            None => InputAnswer::Cancel,
        };
        answers.set(&asked.key, answer);
    }
    answers
}

/// Waits for the end of a request, and tells its progress on the way.
async fn told(mut pending: Pending, mut on_progress: impl FnMut(&Progress)) -> Outcome {
    while let Some(progress) = pending.next_progress().await {
        on_progress(&progress);
    }
    pending.await
}
