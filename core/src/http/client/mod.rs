//! The client over HTTP: a [`Session`] whose exchanges are HTTP requests.

use core::time::Duration;

use bytes::Bytes;

use crate::client::{
    Config, Event, InputAnswers, InputRequired, PeerRequestHandle, RequestHandle, RequestOptions, Session,
};
use crate::error::{ApiError, ConfigError};
use crate::exchange::Partition;
use crate::http::fields::Fields;
use crate::http::head::{HttpHandle, RequestHead, ResponseHead};
use crate::http::url::{Authority, Url};
use crate::jsonrpc::RawJson;
use crate::mcp::Method;
use crate::mcp::types::input::InputAnswer;
use crate::time::Instant;

/// Where a server is, and what it is told with every request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Target {
    /// The endpoint.
    pub url: Url,
    /// Fields that go with every request to its origin: `Authorization`, say. What the transport sets itself is refused.
    pub fields: Fields,
    /// Which of the two HTTP transports it speaks.
    pub kind: Kind,
    /// How many redirects (307, 308) are followed, within the origin only.
    pub max_redirects: u8,
    /// The longest pause before a stream that ended is opened again, whatever the server asks for (`retry`).
    pub max_retry: Duration,
}

impl Target {
    /// A server at `url`, with the defaults.
    #[must_use]
    pub const fn new(url: Url) -> Self {
        Self {
            url,
            fields: Fields::new(),
            kind: Kind::Auto,
            max_redirects: 5,
            max_retry: Duration::from_secs(60),
        }
    }
}

/// Which HTTP transport a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Streamable HTTP; the older one if the server turns out to know nothing newer.
    #[default]
    Auto,
    /// Streamable HTTP (2025-03-26 and later), nothing else.
    Streamable,
    /// HTTP with SSE (2024-11-05), nothing else.
    Sse,
}

/// What a client asks of its runtime.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// Send this request, on a connection of its own while it lasts.
    Open {
        /// Its name.
        exchange: HttpHandle,
        /// Who to connect to.
        to: Authority,
        /// The head, `Host` included.
        head: RequestHead,
        /// The body; empty for none.
        body: Bytes,
        /// Whose credential it carries: connections are not shared across partitions.
        partition: Partition,
    },
    /// Nothing more is wanted of this exchange: close its connection, or do not send it. Nothing more is told of it.
    Close {
        /// Its name.
        exchange: HttpHandle,
    },
}

/// How an exchange ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum End {
    /// Its answer is whole.
    Whole,
    /// It broke off. `sent`: the request had begun to leave.
    Broken,
    /// No connection could be made, or none that may be used. Nothing of the request left.
    Unreachable,
}

/// A client's conversation with one server over HTTP.
///
/// Takes what the application asks as a [`LineConnection`](crate::client::LineConnection) does and tells the same
/// events. A runtime carries out its [`Effect`]s, and tells of each exchange: [`handle_sent`](Self::handle_sent), one
/// [`handle_head`](Self::handle_head), bodies, and one [`handle_end`](Self::handle_end), at any point.
#[derive(Debug)]
pub struct Client {
    session: Session,
}

#[expect(clippy::todo, reason = "a seam")]
impl Client {
    /// A client that begins at once: its first request is among its effects.
    ///
    /// # Errors
    /// A limit is out of bounds.
    pub fn new(
        _config: Config,
        _target: Target,
        _seed: [u8; 32],
        _now: Instant,
    ) -> Result<Self, ConfigError> {
        todo!()
    }

    /// The session, for its getters.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// The id that the server gave to the session (revisions up to 2025-11-25), for display; it is not authentication,
    /// but not for logs either.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        todo!()
    }

    /// Which transport is spoken, once that is known.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        todo!()
    }

    /// Makes a request; see [`Session::request`].
    ///
    /// # Errors
    /// As there; [`ApiError::OutboundFull`] when too much waits to be sent.
    pub fn request(
        &mut self,
        _method: Method,
        _params: Option<RawJson>,
        _options: &RequestOptions,
        _now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        todo!()
    }

    /// `tools/call`; see [`Session::call_tool`].
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn call_tool(
        &mut self,
        _name: &str,
        _arguments: Option<&RawJson>,
        _options: &RequestOptions,
        _now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        todo!()
    }

    /// Goes on with a call that asked for input; see [`Session::resume`].
    ///
    /// # Errors
    /// As there.
    pub fn resume(
        &mut self,
        _from: &InputRequired,
        _answers: &InputAnswers,
        _options: &RequestOptions,
        _now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        todo!()
    }

    /// Sends a notification; see [`Session::notify`].
    ///
    /// # Errors
    /// As there.
    pub fn notify(
        &mut self,
        _method: Method,
        _params: Option<RawJson>,
        _now: Instant,
    ) -> Result<(), ApiError> {
        todo!()
    }

    /// Gives a request up; see [`Session::cancel`].
    ///
    /// # Errors
    /// As there.
    pub fn cancel(
        &mut self,
        _request: RequestHandle,
        _reason: Option<&str>,
        _now: Instant,
    ) -> Result<(), ApiError> {
        todo!()
    }

    /// Answers a request of the server's; see [`Session::answer`].
    ///
    /// # Errors
    /// As there.
    pub fn answer(
        &mut self,
        _peer: PeerRequestHandle,
        _answer: &InputAnswer,
        _now: Instant,
    ) -> Result<(), ApiError> {
        todo!()
    }

    /// Ends the conversation; a session that the server keeps is ended by DELETE, for which
    /// [`Limits::close_flush`](crate::limits::Limits::close_flush) is waited before `Closed`.
    pub fn close(&mut self, _now: Instant) {
        todo!()
    }

    /// The first byte of an exchange's request left.
    pub fn handle_sent(&mut self, _exchange: HttpHandle, _now: Instant) {
        todo!()
    }

    /// The head of the answer.
    pub fn handle_head(&mut self, _exchange: HttpHandle, _head: &ResponseHead, _now: Instant) {
        todo!()
    }

    /// A piece of its body.
    pub fn handle_body(&mut self, _exchange: HttpHandle, _piece: Bytes, _now: Instant) {
        todo!()
    }

    /// The exchange is over.
    pub fn handle_end(&mut self, _exchange: HttpHandle, _end: End, _now: Instant) {
        todo!()
    }

    /// The time is `now`.
    pub fn handle_timeout(&mut self, _now: Instant) {
        todo!()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// What to do next.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        todo!()
    }

    /// The next event, oldest first; `Closed` is the last.
    pub fn poll_event(&mut self) -> Option<Event> {
        todo!()
    }

    /// Whether bodies should be read. False is back-pressure: events wait to be taken.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        todo!()
    }

    /// Bytes that are held.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        todo!()
    }
}
