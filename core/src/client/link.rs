//! What the application asks of a session goes by the link that carries the session's messages.

use core::fmt;

use crate::client::config::RequestOptions;
use crate::client::event::{PeerRequestHandle, RequestHandle};
use crate::client::input::{InputAnswers, InputRequired};
use crate::client::session::Session;
use crate::client::typed::params;
use crate::error::ApiError;
use crate::jsonrpc::RawJson;
use crate::mcp::Method;
use crate::mcp::types::input::InputAnswer;
use crate::time::Instant;

/// A client as the application sees it: a [`Session`] and what carries its messages, a
/// [`LineConnection`](crate::client::LineConnection) or an [`http::Client`](crate::http::Client).
///
/// Each call goes to the session, where there is room for what comes of it, and what the session hands down is carried on
/// at once. What stands before a link is one too: it passes on [`linked`](Self::linked), and has calls of its own for what
/// it is to see of them.
pub trait Link {
    /// Where what is asked goes.
    fn linked(&mut self) -> Linked<'_>;

    /// Makes a request; see [`Session::request`].
    ///
    /// # Errors
    /// As there; [`ApiError::OutboundFull`] when too much waits to be sent; [`ApiError::Closed`] when the peer reads no
    /// more; over HTTP [`ApiError::BadParams`] when an argument of a tool that the head has to repeat is not of the type
    /// that the tool's schema says (2026-07-28).
    fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let Linked(link) = self.linked();
        link.check_request(&method, params.as_ref(), options)?;
        ask(link, |session| session.request(method, params, options, now), now)
    }

    /// `tools/call`; see [`Session::call_tool`].
    ///
    /// # Errors
    /// As [`request`](Self::request).
    fn call_tool(
        &mut self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let Linked(link) = self.linked();
        link.check_arguments(name, arguments, options)?;
        ask(link, |session| session.call_tool(name, arguments, options, now), now)
    }

    /// `tools/list`: one page; see [`Session::list_tools`].
    ///
    /// # Errors
    /// As [`request`](Self::request).
    fn list_tools(
        &mut self,
        cursor: Option<&str>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        self.request(Method::ToolsList, params::list(cursor), options, now)
    }

    /// Goes on with a call that asked for input; see [`Session::resume`].
    ///
    /// # Errors
    /// As there, and as [`request`](Self::request).
    fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let Linked(link) = self.linked();
        ask(link, |session| session.resume(from, answers, options, now), now)
    }

    /// Sends a notification; see [`Session::notify`].
    ///
    /// # Errors
    /// As there, and as [`request`](Self::request).
    fn notify(&mut self, method: Method, params: Option<RawJson>, now: Instant) -> Result<(), ApiError> {
        let Linked(link) = self.linked();
        ask(link, |session| session.notify(method, params, now), now)
    }

    /// Gives a request up; see [`Session::cancel`].
    ///
    /// # Errors
    /// As there.
    fn cancel(&mut self, request: RequestHandle, reason: Option<&str>, now: Instant) -> Result<(), ApiError> {
        let Linked(link) = self.linked();
        link.session_mut().cancel(request, reason, now)?;
        link.carry_out(now);
        Ok(())
    }

    /// Answers a request of the server's; see [`Session::answer`].
    ///
    /// # Errors
    /// As there; [`ApiError::OutboundFull`] when too much waits to be sent (the request stays open).
    fn answer(
        &mut self,
        peer: PeerRequestHandle,
        answer: &InputAnswer,
        now: Instant,
    ) -> Result<(), ApiError> {
        let Linked(link) = self.linked();
        ask(link, |session| session.answer(peer, answer, now), now)
    }

    /// Ends the connection; see [`Session::close`]. What waits to be sent may still leave, for
    /// [`Limits::close_flush`](crate::limits::Limits::close_flush); over HTTP a session that the server keeps is ended by
    /// DELETE, for which that is waited before `Closed`.
    fn close(&mut self, now: Instant) {
        let Linked(link) = self.linked();
        link.session_mut().close(now);
        link.carry_out(now);
    }
}

/// Where what is asked of a [`Link`] goes: one of the machines of this crate. Only they make one; whoever holds such a
/// machine passes theirs on.
pub struct Linked<'a>(&'a mut dyn Carry);

impl fmt::Debug for Linked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Linked")
    }
}

impl<'a> Linked<'a> {
    pub(crate) fn new(link: &'a mut dyn Carry) -> Self {
        Self(link)
    }
}

/// A session's messages are carried on.
pub(crate) trait Carry {
    fn session_mut(&mut self) -> &mut Session;

    /// Whether there is room for what the application asks.
    fn check_room(&self) -> Result<(), ApiError>;

    /// Whether a request can be carried.
    fn check_request(&self, _: &Method, _: Option<&RawJson>, _: &RequestOptions) -> Result<(), ApiError> {
        Ok(())
    }

    /// Whether a tool's arguments can be carried.
    fn check_arguments(&self, _: &str, _: Option<&RawJson>, _: &RequestOptions) -> Result<(), ApiError> {
        Ok(())
    }

    /// Does what the session wants done.
    fn carry_out(&mut self, now: Instant);
}

/// What the application asks of the session, where there is room for it, and what follows of that.
fn ask<R>(
    link: &mut dyn Carry,
    ask: impl FnOnce(&mut Session) -> Result<R, ApiError>,
    now: Instant,
) -> Result<R, ApiError> {
    link.check_room()?;
    let asked = ask(link.session_mut())?;
    link.carry_out(now);
    Ok(asked)
}
