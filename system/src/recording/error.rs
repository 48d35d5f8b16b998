//! Why something cannot be replayed.

use std::fmt;
use std::io;

use super::file::MAX_LINE;

/// Why something cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayError {
    /// There is nothing in it.
    Empty,
    /// It does not begin as a recording.
    NoRecording,
    /// It is a trace: messages, without what the machine was given beside them.
    Trace,
    /// Another version wrote it. What machines do may change between versions, so only its own can replay it.
    OtherVersion {
        /// Which.
        version: String,
        /// The form of its file.
        format: u64,
        /// The version of this program.
        ours: &'static str,
    },
    /// A line is no line of a recording.
    Damaged {
        /// Counted from 1.
        line: u64,
        /// The member that is not there, or not as it should be.
        what: &'static str,
    },
    /// A line is no JSON, or not all of it is there.
    Broken {
        /// Counted from 1.
        line: u64,
        /// Whether it is the last one, and has no end.
        cut: bool,
    },
    /// A line is longer than any of a recording.
    TooLong {
        /// Counted from 1.
        line: u64,
    },
    /// It could not be read.
    Unreadable(io::ErrorKind),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::NoRecording => {
                f.write_str("it is no recording: its first line does not say that it is one")
            }
            Self::Trace => f.write_str("it is a trace, which holds messages and no inputs"),
            Self::OtherVersion { version, format, ours } => write!(
                f,
                "version {version} recorded it (form {format}), and this is {ours}: replay it with version {version}"
            ),
            Self::Damaged { line, what } => {
                write!(f, "line {line} is damaged: `{what}` is missing, or not as it should be")
            }
            Self::Broken { line, cut: true } => write!(f, "line {line}, the last one, was cut off"),
            Self::Broken { line, cut: false } => write!(f, "line {line} is no JSON object"),
            Self::TooLong { line } => write!(f, "line {line} is longer than {MAX_LINE} bytes"),
            Self::Unreadable(kind) => write!(f, "it cannot be read: {kind}"),
        }
    }
}

impl std::error::Error for ReplayError {}
