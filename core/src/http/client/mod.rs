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
mod witness;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use core::fmt;

use crate::client::{Carry, Config, Link, Linked, RequestOptions, Session, Start, Verdict};
use crate::error::{ApiError, ConfigError};
use crate::exchange::ExchangeHandle;
use crate::http::head::HttpHandle;
use crate::jsonrpc::{JsonRef, RawJson};
use crate::mcp::{Era, Method};
use crate::time::{Instant, Monotonic};

pub(super) use call::MAX_NOTES;
pub use effect::{Effect, End};
pub use target::{Kind, Target};
pub use witness::{Input, Witness};

use calls::Calls;
use legacy::Legacy;
use old::Old;
use tools::Tools;
use wire::Wire;

/// A client's conversation with one server over HTTP.
///
/// Takes what the application asks as every [`Link`] does, and tells the same events as a
/// [`LineConnection`](crate::client::LineConnection). A runtime carries out its [`Effect`]s, and tells of each exchange: [`handle_sent`](Self::handle_sent), one
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
    witness: Option<Box<dyn Witness + Send + Sync>>,
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
            witness: None,
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
}

impl Link for Client {
    fn linked(&mut self) -> Linked<'_> {
        Linked::new(self)
    }
}

impl Carry for Client {
    fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    fn check_room(&self) -> Result<(), ApiError> {
        if self.calls.kept_bytes() >= self.session.config().limits.max_queued_out_bytes {
            return Err(ApiError::OutboundFull);
        }
        Ok(())
    }

    fn check_request(
        &self,
        method: &Method,
        params: Option<&RawJson>,
        options: &RequestOptions,
    ) -> Result<(), ApiError> {
        if *method == Method::ToolsCall
            && let Some(params) = params
        {
            let name = params.view().get("name").and_then(JsonRef::str).map(|name| name.decode());
            let arguments = params.view().get("arguments").and_then(|arguments| params.slice_of(arguments));
            self.check_arguments(&name.unwrap_or_default(), arguments.as_ref(), options)?;
        }
        Ok(())
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

    fn carry_out(&mut self, now: Instant) {
        Self::carry_out(self, now);
    }
}
