//! What a scenario is run on.

use std::fmt;

use sanswire::mcp::{Era, Revision};

/// What drives the client's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
    /// Nothing but the test, in virtual time.
    Pair,
    /// Blocking threads.
    Std,
    /// An executor of one thread, with the watch in it.
    Smol,
    /// An executor of many threads.
    SmolThreads,
}

impl Runtime {
    pub(crate) const ALL: [Self; 4] = [Self::Pair, Self::Std, Self::Smol, Self::SmolThreads];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Std => "std",
            Self::Smol => "smol",
            Self::SmolThreads => "smol threads",
        }
    }
}

/// How the two halves reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Tcp,
    Http,
}

impl Transport {
    pub(crate) const ALL: [Self; 3] = [Self::Stdio, Self::Tcp, Self::Http];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Tcp => "tcp",
            Self::Http => "http",
        }
    }
}

/// One place where a scenario holds, or has a reason not to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) scenario: &'static str,
    pub(crate) runtime: Runtime,
    pub(crate) transport: Transport,
    pub(crate) revision: Revision,
}

impl Cell {
    pub(crate) fn is_modern(&self) -> bool {
        self.revision.era() == Era::Modern
    }

    pub(crate) fn is_http(&self) -> bool {
        self.transport == Transport::Http
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |text: &str| text.replace(' ', "_");
        let (scenario, runtime) = (name(self.scenario), name(self.runtime.name()));
        write!(f, "{scenario}/{runtime}/{}/{}", self.transport.name(), self.revision)
    }
}
