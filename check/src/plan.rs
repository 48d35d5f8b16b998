//! What is to be checked, and how.

use std::time::Duration;

use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Revision;
use sanswire_system::Command;

/// What is to be checked, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The server. It is started many times.
    pub command: Command,
    /// The checks whose id begins with one of these. Default: all.
    pub only: Vec<String>,
    /// The revisions to speak, of those that the server speaks. Default: all.
    pub revisions: Vec<Revision>,
    /// The longest that a start may take, up to the first answer. 30 s.
    pub start: Duration,
    /// The longest that an answer may take. 5 s.
    pub answer: Duration,
    /// The longest start, up to the first answer, about which nothing is said. 10 s.
    pub slow_start: Duration,
    /// How many processes run at once. 4.
    pub jobs: usize,
    /// The calls that are allowed. Each may be made several times: once in every connection with a check that is about
    /// calls. Default: none.
    pub calls: Vec<Call>,
    /// Whether tools may be called that say that they change nothing (`readOnlyHint`) and that need no argument, or say
    /// themselves which. Default: no.
    pub read_only_calls: bool,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// Its arguments: an object.
    pub arguments: RawJson,
}

impl Call {
    /// A call.
    #[must_use]
    pub fn new(name: impl Into<String>, arguments: RawJson) -> Self {
        Self { name: name.into(), arguments }
    }
}

impl Plan {
    /// Everything about this server.
    #[must_use]
    pub fn new(command: Command) -> Self {
        Self {
            command,
            only: Vec::new(),
            revisions: Revision::ALL.to_vec(),
            start: Duration::from_secs(30),
            answer: Duration::from_secs(5),
            slow_start: Duration::from_secs(10),
            jobs: 4,
            calls: Vec::new(),
            read_only_calls: false,
        }
    }

    pub(crate) fn wants(&self, id: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| id.starts_with(only.as_str()))
    }
}
