//! Which tool of which server something is about.

use alloc::sync::Arc;
use core::fmt;

/// The tool of one server: what an exposed name stands for, and what decisions and grants are about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provenance {
    /// The server, as it is called in the configuration.
    pub server: Arc<str>,
    /// The tool, byte for byte as its server calls it, and as a call has to give it.
    pub tool: Arc<str>,
}

impl Provenance {
    /// The tool of that name on that server.
    pub fn new(server: impl Into<Arc<str>>, tool: impl Into<Arc<str>>) -> Self {
        Self { server: server.into(), tool: tool.into() }
    }
}

impl fmt::Display for Provenance {
    /// `SERVER/TOOL`, for people: the two cannot be told apart in it again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.tool)
    }
}
