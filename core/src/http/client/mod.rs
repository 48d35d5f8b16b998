//! The client over HTTP: a [`Session`] whose exchanges are HTTP requests.
//!
//! Both transports that MCP had, and both eras. What a session hands down becomes a POST; its answer is one message or a
//! stream of them. The era is found by the answer to the probe alone: there is no hedge, since a second request beside
//! it would be a second exchange, and its answer says nothing of the first. [`Limits::connect`] bounds the whole.
//!
//! [`Limits::connect`]: crate::limits::Limits::connect

mod answer;
mod body;
mod bounds;
mod call;
mod calls;
mod drive;
mod effect;
mod legacy;
mod old;
mod push;
mod resume;
mod target;
mod tools;
mod wire;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use core::fmt;

use crate::client::{
    Config, InputAnswers, InputRequired, PeerRequestHandle, RequestHandle, RequestOptions, Session, Start,
    Verdict,
};
use crate::error::{ApiError, ConfigError};
use crate::exchange::ExchangeHandle;
use crate::http::head::HttpHandle;
use crate::jsonrpc::{JsonRef, RawJson};
use crate::mcp::types::input::InputAnswer;
use crate::mcp::{Era, Method};
use crate::time::{Instant, Monotonic};

pub(super) use call::MAX_NOTES;
pub use effect::{Effect, End};
pub use target::{Kind, Target};

use calls::Calls;
use legacy::Legacy;
use old::Old;
use tools::Tools;
use wire::Wire;

/// A client's conversation with one server over HTTP.
///
/// Takes what the application asks as a [`LineConnection`](crate::client::LineConnection) does and tells the same
/// events. A runtime carries out its [`Effect`]s, and tells of each exchange: [`handle_sent`](Self::handle_sent), one
/// [`handle_head`](Self::handle_head), bodies, and one [`handle_end`](Self::handle_end), at any point. What comes in
/// another order, twice or for an unknown exchange is harmless.
///
/// `Debug` shows how much there is, and nothing of it: what is under way holds credentials, the session's id and content.
pub struct Client {
    session: Session,
    target: Target,
    clock: Monotonic,
    wires: BTreeMap<HttpHandle, Wire>,
    last: u64,
    effects: VecDeque<Effect>,
    calls: Calls,
    /// Answers that nobody wants, and until when they may pass by.
    drains: BTreeSet<(Instant, HttpHandle)>,
    /// Answers whose rest is fetched, and when.
    resumes: BTreeSet<(Instant, ExchangeHandle)>,
    legacy: Legacy,
    old: Option<Old>,
    tools: Tools,
    /// Bytes of the answers that are being read.
    reading: usize,
    /// When to stop waiting for what leaves last, once the session is over.
    flush_until: Option<Instant>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("url", &self.target.url)
            .field("revision", &self.session.revision())
            .field("kind", &self.kind())
            .field("exchanges", &self.wires.len())
            .field("calls", &self.calls.len())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client that begins at once: its first request is among its effects.
    ///
    /// # Errors
    /// A limit is out of bounds.
    pub fn new(
        mut config: Config,
        target: Target,
        seed: [u8; 32],
        now: Instant,
    ) -> Result<Self, ConfigError> {
        let old = target.kind == Kind::Sse;
        // That transport is older than the modern era.
        if old && !matches!(config.start, Start::Pinned(_)) {
            config.start = Start::Remembered(Verdict::Legacy);
        }
        let mut session = Session::new(config, seed, now)?;
        session.never_hedge();
        let mut this = Self {
            session,
            target,
            clock: Monotonic::new(now),
            wires: BTreeMap::new(),
            last: 0,
            effects: VecDeque::new(),
            calls: Calls::default(),
            drains: BTreeSet::new(),
            resumes: BTreeSet::new(),
            legacy: Legacy::default(),
            old: None,
            tools: Tools::default(),
            reading: 0,
            flush_until: None,
        };
        if old {
            this.open_old(None);
        }
        this.carry_out(now);
        Ok(this)
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
        self.legacy.session_id.as_deref()
    }

    /// Which transport is spoken, once that is known.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        if self.is_old() {
            return Some(Kind::Sse);
        }
        self.session.revision().map(|_| Kind::Streamable)
    }

    /// Makes a request; see [`Session::request`].
    ///
    /// # Errors
    /// As there; [`ApiError::OutboundFull`] when too much waits to be sent; [`ApiError::BadParams`] when an argument of
    /// a tool that the head has to repeat is not of the type that the tool's schema says (2026-07-28).
    pub fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        if method == Method::ToolsCall
            && let Some(params) = &params
        {
            let name = params.view().get("name").and_then(JsonRef::str).map(|name| name.decode());
            let arguments = params.view().get("arguments").and_then(|arguments| params.slice_of(arguments));
            self.check_arguments(&name.unwrap_or_default(), arguments.as_ref(), options)?;
        }
        self.ask(|session| session.request(method, params, options, now), now)
    }

    /// `tools/call`; see [`Session::call_tool`].
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn call_tool(
        &mut self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        self.check_arguments(name, arguments, options)?;
        self.ask(|session| session.call_tool(name, arguments, options, now), now)
    }

    fn check_arguments(
        &self,
        tool: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
    ) -> Result<(), ApiError> {
        let modern = self.session.revision().is_some_and(|revision| revision.era() == Era::Modern);
        if modern && !self.arguments_fit(options.partition, tool, arguments) {
            return Err(ApiError::BadParams("an argument is not of the type that its x-mcp-header is for"));
        }
        Ok(())
    }

    /// `tools/list`: one page; see [`Session::list_tools`].
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn list_tools(
        &mut self,
        cursor: Option<&str>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        self.ask(|session| session.list_tools(cursor, options, now), now)
    }

    /// Goes on with a call that asked for input; see [`Session::resume`].
    ///
    /// # Errors
    /// As there.
    pub fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        self.ask(|session| session.resume(from, answers, options, now), now)
    }

    /// Sends a notification; see [`Session::notify`].
    ///
    /// # Errors
    /// As there; [`ApiError::OutboundFull`] when too much waits to be sent.
    pub fn notify(&mut self, method: Method, params: Option<RawJson>, now: Instant) -> Result<(), ApiError> {
        self.ask(|session| session.notify(method, params, now), now)
    }

    /// Gives a request up; see [`Session::cancel`].
    ///
    /// # Errors
    /// As there.
    pub fn cancel(
        &mut self,
        request: RequestHandle,
        reason: Option<&str>,
        now: Instant,
    ) -> Result<(), ApiError> {
        self.session.cancel(request, reason, now)?;
        self.carry_out(now);
        Ok(())
    }

    /// Answers a request of the server's; see [`Session::answer`].
    ///
    /// # Errors
    /// As there.
    pub fn answer(
        &mut self,
        peer: PeerRequestHandle,
        answer: &InputAnswer,
        now: Instant,
    ) -> Result<(), ApiError> {
        self.ask(|session| session.answer(peer, answer, now), now)
    }

    /// What the application asks of the session, where there is room for it, and what follows of that.
    fn ask<R>(
        &mut self,
        ask: impl FnOnce(&mut Session) -> Result<R, ApiError>,
        now: Instant,
    ) -> Result<R, ApiError> {
        self.check_room()?;
        let asked = ask(&mut self.session)?;
        self.carry_out(now);
        Ok(asked)
    }

    fn check_room(&self) -> Result<(), ApiError> {
        if self.calls.kept_bytes() >= self.session.config().limits.max_queued_out_bytes {
            return Err(ApiError::OutboundFull);
        }
        Ok(())
    }

    /// Ends the conversation; a session that the server keeps is ended by DELETE, for which
    /// [`Limits::close_flush`](crate::limits::Limits::close_flush) is waited before `Closed`.
    pub fn close(&mut self, now: Instant) {
        self.session.close(now);
        self.carry_out(now);
    }
}
