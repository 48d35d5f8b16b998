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
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Std => "std",
            Self::Smol => "smol",
            Self::SmolThreads => "smol threads",
        }
    }
}

/// What is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// A peer that shares no code with the library.
    Scripted,
    /// The served half alone.
    Machines,
    /// Served by threads.
    Std,
    /// Served by futures.
    Smol,
}

impl Half {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Scripted => "scripted",
            Self::Machines => "machines",
            Self::Std => "std",
            Self::Smol => "smol",
        }
    }
}

/// A client's runtime, and what it is a client of.
pub(crate) type Lane = (Runtime, Half);

/// Who meets a scripted peer.
pub(crate) const TO_SCRIPTS: [Lane; 4] = [
    (Runtime::Pair, Half::Scripted),
    (Runtime::Std, Half::Scripted),
    (Runtime::Smol, Half::Scripted),
    (Runtime::SmolThreads, Half::Scripted),
];

/// Whose host meets a scripted peer.
pub(crate) const HOSTS: [Lane; 4] = TO_SCRIPTS;

/// Who meets a served half of ours.
pub(crate) const TO_SERVERS: [Lane; 6] = [
    (Runtime::Pair, Half::Machines),
    (Runtime::Std, Half::Std),
    (Runtime::Std, Half::Smol),
    (Runtime::Smol, Half::Std),
    (Runtime::Smol, Half::Smol),
    (Runtime::SmolThreads, Half::Smol),
];

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
    pub(crate) half: Half,
    pub(crate) transport: Transport,
    pub(crate) revision: Revision,
}

impl Cell {
    pub(crate) fn is_modern(&self) -> bool {
        self.revision.era() == Era::Modern
    }

    /// Whether the peer is one of no code of ours.
    pub(crate) fn is_scripted(&self) -> bool {
        self.half == Half::Scripted
    }

    pub(crate) fn is_http(&self) -> bool {
        self.transport == Transport::Http
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |text: &str| text.replace(' ', "_");
        let (scenario, runtime) = (name(self.scenario), name(self.runtime.name()));
        let (half, transport) = (self.half.name(), self.transport.name());
        write!(f, "{scenario}/{runtime}_to_{half}/{transport}/{}", self.revision)
    }
}
