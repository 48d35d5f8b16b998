//! The room for everything that differs between systems: what is read from and written to, how a thread waits for
//! several of them. Processes are `sanswire_system`'s.
//!
//! Two sides with the same names, chosen when this is compiled. `unix`, meant for Linux and macOS, polls
//! descriptors. `plain`, for systems that are no Unix, has nothing but std: threads that block, and condition
//! variables. `--cfg sanswire_plain` chooses it on Unix as well, to test it there.

use std::io;
use std::time::Duration;

pub(crate) use sanswire_system::os::Got;

#[cfg(any(not(unix), sanswire_plain))]
mod plain;
#[cfg(test)]
mod tests;
#[cfg(all(unix, not(sanswire_plain)))]
mod unix;

#[cfg(any(not(unix), sanswire_plain))]
pub(crate) use plain::*;
#[cfg(all(unix, not(sanswire_plain)))]
pub(crate) use unix::*;

/// A child's pipes: its output, its input, its stderr if that is ours.
pub(crate) type Ends = (Source, Output, Option<Source>);

/// What happened during a wait.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ready {
    pub(crate) wake: bool,
    pub(crate) input: bool,
    pub(crate) stderr: bool,
}

/// What a [`Poller`] is to tell of a connection or a listener. One that accepts is readable when somebody calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Want {
    pub(crate) read: bool,
    pub(crate) write: bool,
}

impl Want {
    /// Only that the peer is gone for good is told, once after each time that this is asked for, so that nobody spins
    /// on it. Not where the system cannot see that.
    pub(crate) const NOTHING: Self = Self { read: false, write: false };
    pub(crate) const READ: Self = Self { read: true, write: false };
}

/// What a [`Poller`] found. A fault, and an end of both directions, count as both and are told unasked; the next
/// read or write finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PollEvent {
    /// What it was added under.
    pub(crate) key: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
}

/// What came of asking a [`Listener`] for a connection.
#[derive(Debug)]
pub(crate) enum Accept {
    Conn(Conn),
    /// Nobody calls now.
    Nothing,
    /// The system is out of something: descriptors, memory, threads. Whoever calls goes on waiting, and the
    /// listener stays ready, so leave it alone for [`ACCEPT_PAUSE`], or a poll would spin.
    Later,
    /// This listener accepts nobody any more.
    #[cfg_attr(any(not(unix), sanswire_plain), expect(dead_code, reason = "no fault there is known to last"))]
    Failed(io::Error),
}

/// How long to leave a listener alone that said [`Accept::Later`].
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What happened during a wait on [`StdioEnds`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StdioReady {
    /// Stays so until the wake is cleared.
    pub(crate) wake: bool,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
}
