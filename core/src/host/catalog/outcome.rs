//! What became of a tool that a server lists.

use core::fmt;

use super::names::NameFault;
use crate::mcp::types::page::SetAsideReason;

/// What became of a tool that a server lists. Every listed tool has one, so that a display can say why a tool is
/// missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolOutcome {
    /// It is offered.
    Registered,
    /// The server's lists leave it out.
    Filtered(FilteredBy),
    /// The server's mode is [`Deny`](crate::host::policy::ServerMode::Deny).
    Denied,
    /// It cannot be offered.
    Skipped(SkipReason),
}

impl ToolOutcome {
    /// Its name: `registered`, `filtered`, `denied` or `skipped`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Filtered(_) => "filtered",
            Self::Denied => "denied",
            Self::Skipped(_) => "skipped",
        }
    }
}

impl fmt::Display for ToolOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registered | Self::Denied => f.write_str(self.as_str()),
            Self::Filtered(by) => write!(f, "filtered: {by}"),
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
        }
    }
}

/// Which list left a tool out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FilteredBy {
    /// There is a list of what is allowed, and it does not name the tool.
    NotAllowed,
    /// The list of what is blocked names it.
    Blocked,
}

impl fmt::Display for FilteredBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAllowed => "allowed_tools does not name it",
            Self::Blocked => "blocked_tools names it",
        })
    }
}

/// Why a tool cannot be offered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// It got no name.
    Name(NameFault),
    /// It was set aside where the listing was read.
    SetAside(SetAsideReason),
    /// Its input schema has more bytes than the limit, `max_schema_bytes`.
    SchemaTooBig {
        /// Its bytes, without white space between tokens.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(fault) => fault.fmt(f),
            Self::SetAside(reason) => reason.fmt(f),
            Self::SchemaTooBig { bytes, limit } => {
                write!(f, "its inputSchema has {bytes} bytes, more than {limit} (max_schema_bytes)")
            }
        }
    }
}
