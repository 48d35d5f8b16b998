//! What stands between a connection and the application: every request is answered here, whatever its handler does.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use sanswire::Instant;
use sanswire::server::Reply;
use sanswire::server::kit::broken_down;
use sanswire::waist::Admitted;
use sanswire_system::contain::caught;

use crate::serve::call::Call;
use crate::serve::router::{Work, begin, conclude};
use crate::serve::server::{Answerer, Inner};

/// The work on one request. Never unwinds. One that is dropped before its end counts as broken off.
pub(super) struct Answering {
    server: Arc<Inner>,
    /// Until it is over.
    call: Option<Call>,
    admitted: Option<Admitted>,
    at: At,
    /// When it was first seen that nobody waits for the answer.
    unwanted: Option<Instant>,
}

enum At {
    /// The answer, or none: the handler broke down.
    End(Option<Reply>),
    Closure(Work),
    Application(Pin<Box<dyn Future<Output = Reply> + Send>>),
}

impl Answering {
    pub(super) fn begin(server: &Arc<Inner>, call: Call) -> Self {
        let (admitted, at) = match server.offered.governor.begin(call.asked()) {
            Err(refused) => (None, At::End(Some(refused))),
            Ok(admitted) => (admitted, caught(|| Self::start(server, &call)).unwrap_or(At::End(None))),
        };
        Self { server: Arc::clone(server), call: Some(call), admitted, at, unwanted: None }
    }

    fn start(server: &Inner, call: &Call) -> At {
        match server.answerer() {
            Answerer::Router(router) => match begin(router, call) {
                Ok(work) => At::Closure(work),
                Err(reply) => At::End(Some(reply)),
            },
            Answerer::Application(application) => At::Application(application.handle(call.clone())),
        }
    }

    /// The end of it, for the waist too. A reply: it was stopped by hand meanwhile.
    fn end(&mut self, call: &Call, reply: Option<&Reply>) -> Option<Reply> {
        let admitted = self.admitted.take();
        self.server.offered.governor.end(admitted, call.asked(), call.said().told(), reply)
    }

    /// Since when nobody is known to wait for the answer.
    pub(super) fn unwanted_since(&mut self, now: Instant) -> Option<Instant> {
        let unwanted = self.call.as_ref().is_some_and(Call::is_cancelled);
        unwanted.then(|| *self.unwanted.get_or_insert(now))
    }

    /// Ends it here.
    pub(super) fn break_off(mut self) -> Option<(Call, Reply)> {
        self.leave(At::End(None));
        let call = self.call.take()?;
        let stopped = self.end(&call, None);
        Some((call, stopped.unwrap_or_else(broken_down)))
    }

    /// Lets go of the embedder's future.
    fn leave(&mut self, at: At) {
        let before = std::mem::replace(&mut self.at, at);
        let _ = caught(|| drop(before));
    }
}

impl Future for Answering {
    type Output = (Call, Reply);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(call) = this.call.take() else { return Poll::Pending };
        let polled = match &mut this.at {
            At::End(reply) => Some(Poll::Ready(reply.take())),
            At::Closure(work) => {
                caught(|| work.as_mut().poll(cx).map(|result| Some(conclude(&call, result))))
            }
            At::Application(work) => caught(|| work.as_mut().poll(cx).map(Some)),
        };
        let Poll::Ready(reply) = polled.unwrap_or(Poll::Ready(None)) else {
            this.call = Some(call);
            return Poll::Pending;
        };
        this.leave(At::End(None));
        let stopped = this.end(&call, reply.as_ref());
        // Who kept the call is told that it is over, and nothing of the embedder's is dropped with the request later.
        call.asked().cancel.set();
        // What a panic says std's hook has written to the log.
        Poll::Ready((call, stopped.or(reply).unwrap_or_else(broken_down)))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.leave(At::End(None));
        if let Some(call) = self.call.take() {
            let _ = self.end(&call, None);
        }
    }
}
