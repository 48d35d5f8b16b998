//! What is asked for, and why it may be turned away at once.

use alloc::sync::Arc;

use crate::host::Provenance;
use crate::jsonrpc::RawJson;
use crate::server::Principal;

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
    /// So many calls are open already, or their ends were not taken out (`max_calls`); wait for one to end.
    TooMany(usize),
    /// The arguments and ids of all open calls would have more bytes than that (`max_call_bytes`).
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
