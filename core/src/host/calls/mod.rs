//! Calls, from the moment they are asked for to their one end.

use alloc::string::String;
use alloc::sync::Arc;

use super::Provenance;
use super::catalog::Registry;
use super::config::HostConfig;
use super::event::{CallHandle, ClientHandle, Effect, Event};
use super::link::Status;
use super::policy::{Answer, ApprovalHandle, Grants};
use super::results::{Page, PageFault, PageHandle};
use crate::client::{InputAnswers, Outcome, Progress};
use crate::error::{ApiError, ConfigError};
use crate::jsonrpc::RawJson;
use crate::server::Principal;
use crate::time::Instant;

/// What a call is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The tool that is told a model under this name, one of the host's own among them.
    Exposed(Arc<str>),
    /// A tool of a server, by the server's own name for it.
    Tool(Provenance),
}

/// A call that somebody wants made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallRequest {
    /// What its caller calls it: told in questions and records.
    pub id: Arc<str>,
    /// Who wants it: only they are given the rest of its result.
    pub owner: Principal,
    /// Which tool.
    pub target: Target,
    /// With what: an object. `None` is sent as none.
    pub arguments: Option<RawJson>,
    /// The embedder's own guard refuses it.
    pub guard_refuses: bool,
    /// Somebody, of what kind of helper, on whose behalf a model calls: such a call is unknown unless the server's
    /// `sub_agents` name the kind.
    pub sub_agent: Option<Arc<str>>,
}

impl CallRequest {
    /// A call of the tool of that exposed name.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>, target: Target, arguments: Option<RawJson>) -> Self {
        Self {
            id: id.into(),
            owner: Principal::anonymous(),
            target,
            arguments,
            guard_refuses: false,
            sub_agent: None,
        }
    }
}

/// A call was not accepted; nothing came of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallRefused {
    /// There is no such tool, or it is not offered: no difference is told.
    UnknownTool,
    /// The arguments are no object.
    BadArguments,
    /// So many calls are open already (`max_calls`); wait for one to end.
    TooMany(usize),
    /// The arguments of all open calls would have more bytes than that (`max_call_bytes`).
    TooLarge(usize),
    /// The host is closed.
    Closed,
}

impl core::fmt::Display for CallRefused {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::UnknownTool => f.write_str("there is no such tool; look at what is offered"),
            Self::BadArguments => f.write_str("the arguments are no object"),
            Self::TooMany(limit) => {
                write!(f, "{limit} calls are open already (max_calls); wait for one to end")
            }
            Self::TooLarge(limit) => {
                write!(f, "open calls may hold {limit} bytes of arguments in all (max_call_bytes)")
            }
            Self::Closed => f.write_str("the host is closed"),
        }
    }
}

impl core::error::Error for CallRefused {}

/// How a server can be reached, as the calls see it.
pub(super) enum Way {
    /// By this connection.
    Go(ClientHandle),
    /// Not yet: [`Calls::settled`] tells.
    Wait,
    /// Not at all.
    Refuse {
        /// The server's status.
        status: Status,
        /// Its last error; may be empty.
        error: String,
    },
}

/// What the calls need of the servers.
pub(super) trait Reach {
    /// What is offered now.
    fn registry(&self) -> &Registry;
    /// How a server can be reached. May start an attempt.
    fn way(&mut self, server: &str) -> Way;
    /// A call's connection was lost.
    fn lost(&mut self, client: ClientHandle, now: Instant);
    /// The kinds of helper that may use a server's tools.
    fn sub_agents(&self, server: &str) -> &[String];
}

/// The open calls. Each that was accepted ends in exactly one [`Event::Finished`].
#[derive(Debug)]
pub(super) struct Calls {}

#[expect(unused_variables, clippy::todo, reason = "the seam")]
impl Calls {
    pub(super) fn new(config: &HostConfig) -> Result<Self, ConfigError> {
        todo!()
    }
    /// A call, decided at once: made, asked about, or denied. Denied ones end in an event as well.
    pub(super) fn begin(
        &mut self,
        request: CallRequest,
        reach: &mut impl Reach,
        now: Instant,
    ) -> Result<CallHandle, CallRefused> {
        todo!()
    }
    /// False: the question is not open.
    pub(super) fn answer(
        &mut self,
        approval: ApprovalHandle,
        answer: Answer,
        reach: &mut impl Reach,
        now: Instant,
    ) -> bool {
        todo!()
    }
    pub(super) fn resume(
        &mut self,
        call: CallHandle,
        answers: InputAnswers,
        reach: &mut impl Reach,
        now: Instant,
    ) -> bool {
        todo!()
    }
    /// False: it is over.
    pub(super) fn cancel(&mut self, call: CallHandle, now: Instant) -> bool {
        todo!()
    }
    /// A server can be reached now, or cannot for good: its waiting calls go on.
    pub(super) fn settled(&mut self, server: &str, reach: &mut impl Reach, now: Instant) {
        todo!()
    }
    pub(super) fn handle_outcome(
        &mut self,
        call: CallHandle,
        outcome: Result<Outcome, ApiError>,
        reach: &mut impl Reach,
        now: Instant,
    ) {
        todo!()
    }
    pub(super) fn handle_progress(&mut self, call: CallHandle, progress: Progress, now: Instant) {
        todo!()
    }
    pub(super) fn begin_turn(&mut self) {
        todo!()
    }
    pub(super) fn set_plan_mode(&mut self, on: bool) {
        todo!()
    }
    /// Whether there is somebody to ask. Withdrawing it denies what waits.
    pub(super) fn set_approver(&mut self, there: bool, now: Instant) {
        todo!()
    }
    pub(super) fn set_skip_prompts(&mut self, on: bool) {
        todo!()
    }
    pub(super) fn grants(&self) -> &Grants {
        todo!()
    }
    pub(super) fn grants_mut(&mut self) -> &mut Grants {
        todo!()
    }
    pub(super) fn page(
        &mut self,
        owner: &Principal,
        handle: PageHandle,
        offset: Option<usize>,
        now: Instant,
    ) -> Result<Page<'_>, PageFault> {
        todo!()
    }
    /// Every open call ends as cancelled; none is accepted any more.
    pub(super) fn close(&mut self, now: Instant) {
        todo!()
    }
    pub(super) fn handle_timeout(&mut self, reach: &mut impl Reach, now: Instant) {
        todo!()
    }
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }
    pub(super) fn poll_event(&mut self) -> Option<Event> {
        todo!()
    }
    pub(super) fn poll_effect(&mut self) -> Option<Effect> {
        todo!()
    }
    /// Bytes that open calls, questions and kept rests hold.
    pub(super) fn retained_bytes(&self) -> usize {
        todo!()
    }
}
