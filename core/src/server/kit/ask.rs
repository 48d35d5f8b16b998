//! Why a question to the client has no answer.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;

use crate::error::ApiError;
use crate::mcp::Era;
use crate::mcp::types::lifecycle::ClientCapabilities;
use crate::server::asking::AskFault;
use crate::server::event::PeerOutcome;
use crate::server::kit::reply::ToolError;
use crate::server::state::StateFault;

/// Why a question to the client has no answer yet, or never will.
///
/// Passed up with `?` it becomes what the client has to hear: the questions themselves, an error where the fault is the
/// client's, and else a failure that a model can read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// The question leaves with this run's end: pass this up, and the handler runs again from its start once the answer
    /// came (2026-07-28).
    Suspended,
    /// The client did not declare that it can be asked this. Do without, or pass it up.
    Undeclared {
        /// What it would have to declare.
        missing: Box<ClientCapabilities>,
        /// The era of the call.
        era: Era,
    },
    /// The client's answer is none to this question.
    Unfit {
        /// The question's key.
        key: Box<str>,
        /// What is wrong.
        why: String,
        /// The era of the call.
        era: Era,
    },
    /// What the client brought back from the last round is not what it was given, or too old.
    State(StateFault),
    /// The client failed to ask, or did not answer in time (up to 2025-11-25).
    Failed(PeerOutcome),
    /// The question cannot be put.
    Refused(ApiError),
    /// The call has asked as many questions as it may.
    TooMany {
        /// How many it may ask.
        limit: usize,
    },
    /// The answers so far are too long to travel with the client (2026-07-28).
    StateTooLong {
        /// Bytes of the state.
        len: usize,
        /// The limit it exceeds.
        limit: usize,
    },
}

impl AskError {
    /// What a fault of [`Asking`](crate::server::asking::Asking) is in a call of this era.
    #[must_use]
    pub fn new(fault: AskFault, era: Era) -> Self {
        match fault {
            AskFault::Undeclared(missing) => Self::Undeclared { missing, era },
            AskFault::Unfit { key, why } => Self::Unfit { key, why, era },
            AskFault::Refused(error) => Self::Refused(error),
            AskFault::TooMany { limit } => Self::TooMany { limit },
            AskFault::StateTooLong { len, limit } => Self::StateTooLong { len, limit },
        }
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suspended => f.write_str("the question was not answered yet"),
            Self::Undeclared { .. } => {
                f.write_str("this asks a question, and the client takes none of its kind")
            }
            Self::Unfit { key, why, .. } => write!(f, "the client's answer to {key:?} does not fit: {why}"),
            Self::State(fault) => write!(f, "the client brought back a wrong requestState: {fault}"),
            Self::Failed(PeerOutcome::Error(error)) => {
                write!(f, "the client answered the question with the error {}", error.code)
            }
            Self::Failed(PeerOutcome::TimedOut) => {
                f.write_str("the client did not answer the question in time")
            }
            Self::Failed(PeerOutcome::Cancelled) => {
                f.write_str("the call was cancelled before the answer came")
            }
            Self::Failed(PeerOutcome::Lost) => f.write_str("the connection ended before the answer came"),
            Self::Failed(PeerOutcome::TooLarge { len, limit }) => {
                write!(f, "the client's answer has {len} bytes, the limit is {limit}")
            }
            Self::Failed(_) => f.write_str("the client's answer is unusable"),
            Self::Refused(error) => write!(f, "the question could not be asked: {error}"),
            Self::TooMany { limit } => write!(f, "the call has asked {limit} questions already"),
            Self::StateTooLong { len, limit } => {
                write!(
                    f,
                    "the answers so far have {len} bytes as requestState, the limit is {limit}; ask for less"
                )
            }
        }
    }
}

impl From<AskError> for ToolError {
    fn from(error: AskError) -> Self {
        let text = error.to_string();
        let of_client = match error {
            AskError::Suspended => return Self::Suspended,
            AskError::State(fault) => Some(fault.to_error()),
            AskError::Undeclared { missing, era: Era::Modern } => AskFault::Undeclared(missing).to_error(),
            AskError::Unfit { key, why, era: Era::Modern } => AskFault::Unfit { key, why }.to_error(),
            _ => None,
        };
        of_client.map_or(Self::Failed(text), Self::Protocol)
    }
}
