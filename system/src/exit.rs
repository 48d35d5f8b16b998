//! How a connection's process ended.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

/// How a connection's process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// Its exit status. `None`: no process, or one that the system could not end.
    pub status: Option<ExitStatus>,
    /// What it took.
    pub ended: Ended,
    /// How long stopping took.
    pub took: Duration,
    /// The last of its stderr, control characters escaped.
    pub stderr_tail: String,
}

impl Exit {
    /// How it ended, as a runtime saw it.
    #[must_use]
    pub const fn new(status: Option<ExitStatus>, ended: Ended, took: Duration, stderr_tail: String) -> Self {
        Self { status, ended, took, stderr_tail }
    }
}

/// What it took to end a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ended {
    /// The end of its stdin.
    OnEof,
    /// SIGTERM.
    OnTerm,
    /// SIGKILL, or what the system has instead.
    OnKill,
    /// It had ended by itself.
    Already,
    /// There was none: the connection was a socket.
    NotAProcess,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{}", Status(status)),
            None if self.ended == Ended::NotAProcess => f.write_str("the connection is closed"),
            None => f.write_str("did not end"),
        }
    }
}

/// An exit status in words: "exited with status 7", "was ended by signal 9 (SIGKILL)".
pub(crate) struct Status(pub(crate) ExitStatus);

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&self.0) {
            write!(f, "was ended by signal {signal}")?;
            return match name(signal) {
                Some(name) => write!(f, " ({name})"),
                None => Ok(()),
            };
        }
        match self.0.code() {
            Some(code) => write!(f, "exited with status {code}"),
            None => write!(f, "ended ({})", self.0),
        }
    }
}

/// Numbers that are the same on every Unix.
#[cfg(unix)]
const fn name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}
