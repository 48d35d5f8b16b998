//! What a client's calls go to: the machine over one stream of lines, or the one over HTTP with its connections.

use sanswire::client::{
    Event, InputAnswers, InputRequired, PeerRequestHandle, RequestHandle, RequestOptions, Session,
};
use sanswire::error::ApiError;
use sanswire::http::client::Kind;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputAnswer;
use sanswire::{Instant, Machine as _};
use sanswire_system::recording::RecordedLine;

use crate::http::Net;
use crate::shared::Shared;

/// One of the two.
#[expect(clippy::large_enum_variant, reason = "it never moves: there is one a client, within what is shared")]
pub(crate) enum Link {
    Line(RecordedLine),
    Http(Box<Net>),
}

/// The machine of a link, whichever it is.
macro_rules! machine {
    ($link:expr, $machine:ident => $call:expr) => {
        match $link {
            Link::Line($machine) => $call,
            Link::Http(net) => {
                let $machine = net.client();
                $call
            }
        }
    };
}

impl Link {
    pub(crate) fn session(&self) -> &Session {
        match self {
            Self::Line(line) => line.session(),
            Self::Http(net) => net.session(),
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
            Self::Line(line) => line.poll_timeout(),
            Self::Http(net) => net.poll_timeout(),
        }
    }

    /// The time is `now`. `shared`: what the link belongs to.
    pub(crate) fn handle_timeout(&mut self, shared: &Shared, now: Instant) {
        match self {
            Self::Line(line) => line.handle_timeout(now),
            Self::Http(net) => net.handle_timeout(shared, now),
        }
    }

    /// Which way is spoken over HTTP.
    pub(crate) fn http_kind(&mut self) -> Option<Kind> {
        match self {
            Self::Line(_) => None,
            Self::Http(net) => net.client().kind(),
        }
    }

    /// Hands a big result back that is no longer needed. Over HTTP nothing is made of it.
    pub(crate) fn recycle(&mut self, result: RawJson) {
        if let Self::Line(line) = self {
            line.recycle(result);
        }
    }

    /// Whether something waits to be written, or to be begun.
    pub(crate) fn has_output(&mut self) -> bool {
        match self {
            Self::Line(line) => !line.transmit().is_empty(),
            Self::Http(net) => net.has_output(),
        }
    }
}
