//! What a client's calls go to: the machine over one stream of lines.
//!
//! Another kind of link, with connections of its own, is another variant: everything else speaks to this one.

use sanswire::client::{
    Event, InputAnswers, InputRequired, PeerRequestHandle, RequestHandle, RequestOptions, Session,
};
use sanswire::error::ApiError;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputAnswer;
use sanswire::{Instant, Machine as _};

use crate::line::Line;

/// A machine and what its bytes go over.
pub(crate) enum Link {
    Line(Line),
}

/// The machine of a link, whichever it is.
macro_rules! machine {
    ($link:expr, $machine:ident => $call:expr) => {
        match $link {
            Link::Line(line) => {
                let $machine = &mut line.machine;
                $call
            }
        }
    };
}

impl Link {
    pub(crate) const fn session(&self) -> &Session {
        match self {
            Self::Line(line) => line.machine.session(),
        }
    }

    pub(crate) fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        machine!(self, machine => machine.request(method, params, options, now))
    }

    pub(crate) fn call_tool(
        &mut self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        machine!(self, machine => machine.call_tool(name, arguments, options, now))
    }

    pub(crate) fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        machine!(self, machine => machine.resume(from, answers, options, now))
    }

    pub(crate) fn notify(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        now: Instant,
    ) -> Result<(), ApiError> {
        machine!(self, machine => machine.notify(method, params, now))
    }

    pub(crate) fn cancel(
        &mut self,
        request: RequestHandle,
        reason: Option<&str>,
        now: Instant,
    ) -> Result<(), ApiError> {
        machine!(self, machine => machine.cancel(request, reason, now))
    }

    pub(crate) fn answer(
        &mut self,
        peer: PeerRequestHandle,
        answer: &InputAnswer,
        now: Instant,
    ) -> Result<(), ApiError> {
        machine!(self, machine => machine.answer(peer, answer, now))
    }

    pub(crate) fn close(&mut self, now: Instant) {
        machine!(self, machine => machine.close(now));
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        machine!(self, machine => machine.poll_event())
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Line(line) => line.machine.poll_timeout(),
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        machine!(self, machine => machine.handle_timeout(now));
    }

    /// Hands a big result back that is no longer needed.
    pub(crate) fn recycle(&mut self, result: RawJson) {
        match self {
            Self::Line(line) => line.machine.recycle(result),
        }
    }

    /// Whether something waits to be written.
    pub(crate) fn has_output(&self) -> bool {
        match self {
            Self::Line(line) => !line.machine.transmit().is_empty(),
        }
    }
}
