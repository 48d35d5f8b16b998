//! What a client is asked: calls that wait, and calls that do not.

use std::sync::Arc;

use sanswire::Instant;
use sanswire::client::listing::{Listed, Step};
use sanswire::client::{
    InputAnswers, InputRequired, Listing, Outcome, Progress, RequestHandle, RequestOptions,
};
use sanswire::error::ApiError;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;

use crate::client::Client;
use crate::lead::Waited;
use crate::pending::{Cork, Pending};
use crate::shared::{Locked, Shared};

impl Client {
    /// Makes a request and waits for its end. Rounds of input are the caller's
    /// ([`resume`](Self::resume)); see [`complete`](Self::complete).
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn call(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
    ) -> Result<Outcome, ApiError> {
        self.request(None, |state, now| state.machine.asked().request(method, params, options, now))
    }

    /// As [`call`](Self::call). Progress is reported on this thread; a slow callback delays this call only, and
    /// misses reports once 64 wait.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn call_with(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Result<Outcome, ApiError> {
        self.request(Some(on_progress), |state, now| {
            state.machine.asked().request(method, params, options, now)
        })
    }

    /// Calls a tool. Rounds of input go to the responder, on this thread; without one the outcome is
    /// [`Outcome::InputRequired`].
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent (or no more, after a round of input).
    pub fn call_tool(
        &self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
    ) -> Result<Outcome, ApiError> {
        let first =
            self.request(None, |state, now| state.machine.asked().call_tool(name, arguments, options, now))?;
        self.go_on(first, options, None)
    }

    /// As [`call_with`](Self::call_with), and rounds of input go to the responder, on this thread; without one
    /// the outcome is [`Outcome::InputRequired`]. If the responder refuses what cannot be refused otherwise, the
    /// call is given up: [`Outcome::Cancelled`].
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent (or no more, after a round of input).
    pub fn complete(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Result<Outcome, ApiError> {
        let first = self.call_with(method, params, options, on_progress)?;
        self.go_on(first, options, Some(on_progress))
    }

    fn go_on(
        &self,
        first: Outcome,
        options: &RequestOptions,
        mut on_progress: Option<&mut dyn FnMut(&Progress)>,
    ) -> Result<Outcome, ApiError> {
        let mut outcome = first;
        loop {
            let Outcome::InputRequired(input) = outcome else { return Ok(outcome) };
            let Some(responder) = &self.shared().responder else { return Ok(Outcome::InputRequired(input)) };
            std::thread::sleep(input.pause());
            let answers = InputAnswers::collect(&input, |request| responder.respond(request));
            let next = self.request(
                on_progress.as_mut().map(|progress| &mut **progress as &mut dyn FnMut(&Progress)),
                |state, now| state.machine.asked().resume(&input, &answers, options, now),
            );
            outcome = match next {
                Err(ApiError::BadParams(_)) => return Ok(Outcome::Cancelled),
                next => next?,
            };
        }
    }

    /// Goes on with a call that asked for input, and waits for its end.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent, and `from` can be used again.
    pub fn resume(
        &self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
    ) -> Result<Outcome, ApiError> {
        self.request(None, |state, now| state.machine.asked().resume(from, answers, options, now))
    }

    /// Makes a request and does not wait. The request leaves at once, or with the [`Cork`] that is held.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn start(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
    ) -> Result<Pending, ApiError> {
        self.begin(false, |state, now| state.machine.asked().request(method, params, options, now))
    }

    /// As [`start`](Self::start). Progress is for [`Pending::wait_with`].
    pub(crate) fn start_with(
        &self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        wants_progress: bool,
    ) -> Result<Pending, ApiError> {
        self.begin(wants_progress, |state, now| state.machine.asked().request(method, params, options, now))
    }

    /// As [`resume`](Self::resume), and does not wait. Progress is for [`Pending::wait_with`].
    pub(crate) fn start_resume(
        &self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
        wants_progress: bool,
    ) -> Result<Pending, ApiError> {
        self.begin(wants_progress, |state, now| state.machine.asked().resume(from, answers, options, now))
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
        self.begin(false, |state, now| state.machine.asked().call_tool(name, arguments, options, now))
    }

    fn begin(
        &self,
        wants_progress: bool,
        ask: impl FnOnce(&mut Locked<'_>, Instant) -> Result<RequestHandle, ApiError>,
    ) -> Result<Pending, ApiError> {
        let shared = self.shared();
        let mut state = shared.lock();
        let now = shared.clock.now();
        let request = ask(&mut state, now)?;
        state.calls.insert(request, wants_progress);
        if state.corks == 0 {
            shared.flush(&mut state, now);
            shared.kick(&mut state);
        }
        shared.unlock(state);
        Ok(Pending::new(Arc::clone(shared), request))
    }

    /// Holds back what [`start`](Self::start) and [`notify`](Self::notify) would write, so that many requests
    /// leave in one write: when the cork goes, or when any thread waits for a call. Hold it briefly: an answer to a
    /// ping waits for it too.
    pub fn cork(&self) -> Cork<'_> {
        Cork::new(self.shared())
    }

    /// A whole listing, page after page, under the caps of the limits. `method` is one of the four list methods.
    ///
    /// # Errors
    /// [`ApiError`] of the first page. What ends a later one stands in [`Listed::cut`].
    pub fn list(&self, method: Method, options: &RequestOptions) -> Result<Listed, ApiError> {
        let mut listing = Listing::new(method, &self.shared().lock().machine.session().config().limits);
        let (method, params) = listing.first();
        let mut outcome = self.call(method, params, options)?;
        loop {
            match listing.next(outcome) {
                Step::Done(listed) => return Ok(listed),
                Step::Request(method, params) => {
                    outcome = match self.call(method, params, options) {
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
    pub fn ping(&self, options: &RequestOptions) -> Result<Outcome, ApiError> {
        self.call(Method::Ping, None, options)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// [`ApiError`]: nothing was sent.
    pub fn notify(&self, method: Method, params: Option<RawJson>) -> Result<(), ApiError> {
        let shared = self.shared();
        let mut state = shared.lock();
        let now = shared.clock.now();
        state.machine.asked().notify(method, params, now)?;
        if state.corks == 0 {
            shared.flush(&mut state, now);
            shared.kick(&mut state);
        }
        shared.unlock(state);
        Ok(())
    }

    fn request(
        &self,
        progress: Option<&mut dyn FnMut(&Progress)>,
        ask: impl FnOnce(&mut Locked<'_>, Instant) -> Result<RequestHandle, ApiError>,
    ) -> Result<Outcome, ApiError> {
        let shared = self.shared();
        let mut open = Open { shared, request: None };
        let mut state = shared.lock();
        let now = shared.clock.now();
        let request = ask(&mut state, now)?;
        open.request = Some(request);
        if progress.is_none() {
            match shared.lead_call(state, request, now) {
                Ok(outcome) => {
                    open.request = None;
                    return Ok(outcome);
                }
                Err(locked) => state = locked,
            }
        }
        state.calls.insert(request, progress.is_some());
        match shared.wait_call(state, request, now, None, progress) {
            Waited::Finished(outcome) => {
                open.request = None;
                Ok(outcome)
            }
            // Without a patience of its own a wait ends with the call.
            Waited::NotYet => Ok(Outcome::Cancelled),
        }
    }
}

/// A call of this thread's that is given up if the thread unwinds.
struct Open<'a> {
    shared: &'a Shared,
    request: Option<RequestHandle>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request {
            self.shared.abandon(request, None);
        }
    }
}
