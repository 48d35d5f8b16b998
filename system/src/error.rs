//! Why a connection could not be made, in words that say what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use sanswire::error::{CloseReason, ConfigError, Violation};
use sanswire::exchange::{HttpRefusal, RefusedFor};

use crate::exit::{Ended, Exit, Status};
use crate::http::DialFault;
use crate::stderr::{escaped, last_lines};

/// Why a connection could not be made. `Display` says what happened and what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The program could not be started.
    Spawn {
        /// The program, as it was given.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The folder that the program was to start in is not there.
    Directory {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The sandbox that the program was to start in refused, or there is none. Nothing was started.
    Wrap {
        /// The program, as it was given.
        program: String,
        /// The sandbox's reason.
        source: io::Error,
    },
    /// Nobody answered at the address.
    Dial {
        /// The address, as it was given.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A server that is spoken to over HTTP cannot be reached.
    Reach(Box<DialFault>),
    /// A limit in the configuration is out of bounds.
    Config(ConfigError),
    /// The system has no threads or descriptors left for one more connection.
    System(io::Error),
    /// The server is there, but no session came about.
    Closed {
        /// Why.
        reason: Box<CloseReason>,
        /// How its process ended.
        exit: Option<Box<Exit>>,
        /// The last of its stderr, control characters escaped.
        stderr_tail: String,
        /// The first line it wrote that was no message, cut and escaped; empty if there was none.
        first_junk: String,
    },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn { program, source } => spawn(f, &escaped(program), source),
            Self::Directory { path, source } => write!(
                f,
                "the folder {} cannot be used ({source}); create it or set another one",
                escaped(&path.to_string_lossy())
            ),
            Self::Wrap { program, source } => wrap(f, &escaped(program), source),
            Self::Dial { address, source } => write!(
                f,
                "no connection to {} ({source}); check the address, and that the server runs",
                escaped(address)
            ),
            Self::Reach(fault) => write!(f, "the server cannot be reached: {fault}"),
            Self::Config(error) => write!(f, "the configuration is not usable: {error}"),
            Self::System(error) => {
                write!(f, "the system could not provide what a connection needs ({error}); close some")
            }
            Self::Closed { reason, exit, stderr_tail, first_junk } => {
                closed(f, reason, exit.as_deref(), first_junk)?;
                let lines = last_lines(stderr_tail);
                if lines.is_empty() {
                    return Ok(());
                }
                f.write_str("\nits last words on stderr:")?;
                lines.lines().try_for_each(|line| write!(f, "\n  {line}"))
            }
        }
    }
}

fn spawn(f: &mut fmt::Formatter<'_>, program: &str, source: &io::Error) -> fmt::Result {
    /// ENOEXEC, which std has no kind for.
    const NO_FORMAT: i32 = 8;
    let kind = source.kind();
    if kind == io::ErrorKind::NotFound && program.contains('/') {
        write!(f, "there is no program {program} (or what its first line names); check the path")
    } else if kind == io::ErrorKind::NotFound {
        write!(f, "there is no program {program} in PATH; install it, or give its full path")
    } else if kind == io::ErrorKind::PermissionDenied {
        write!(f, "{program} may not be executed; make it executable (chmod +x), or check its folder")
    } else if kind == io::ErrorKind::ArgumentListTooLong {
        write!(f, "the arguments and environment for {program} are too long; shorten them")
    } else if source.raw_os_error() == Some(NO_FORMAT) {
        write!(f, "{program} is no program for this system; a script needs a first line like #!/bin/sh")
    } else {
        write!(f, "{program} could not be started: {source}")
    }
}

fn wrap(f: &mut fmt::Formatter<'_>, program: &str, source: &io::Error) -> fmt::Result {
    let reason = cut(&source.to_string());
    if source.kind() == io::ErrorKind::Unsupported {
        write!(
            f,
            "there is no sandbox for {program} on this system ({reason}), so it was not started; install what the \
             sandbox needs, or allow this server to run without one"
        )
    } else {
        write!(
            f,
            "the sandbox for {program} could not be made ({reason}), so it was not started; correct the sandbox's \
             settings"
        )
    }
}

fn closed(
    f: &mut fmt::Formatter<'_>,
    reason: &CloseReason,
    exit: Option<&Exit>,
    first_junk: &str,
) -> fmt::Result {
    match (reason, exit) {
        (CloseReason::Eof | CloseReason::DiedOnProbe, Some(exit)) if exit.ended == Ended::Already => {
            let status = exit.status.map(Status);
            f.write_str("the server ")?;
            match status {
                Some(status) => write!(f, "{status}")?,
                None => f.write_str("ended")?,
            }
            f.write_str(" before it was ready; check its arguments and environment variables")?;
        }
        (CloseReason::Eof | CloseReason::DiedOnProbe, Some(exit)) if exit.ended != Ended::NotAProcess => {
            f.write_str(
                "the server closed its output before it was ready, and went on running until it was stopped",
            )?;
            if let Some(status) = exit.status.map(Status) {
                write!(f, " (it then {status})")?;
            }
            f.write_str("; is it an MCP server that speaks over stdin and stdout?")?;
        }
        (CloseReason::Eof | CloseReason::DiedOnProbe, _) => {
            f.write_str("the server ended the connection before it was ready; is it an MCP server?")?;
        }
        (CloseReason::ConnectTimeout { .. }, _) => {
            write!(
                f,
                "{reason}: the server is silent. Either it is no MCP server that speaks over this connection, \
                 or it starts slowly: then raise the limit"
            )?;
        }
        (CloseReason::Incompatible { .. }, _) => {
            write!(f, "{reason}; use another version of the server, or of this program")?;
        }
        (CloseReason::Protocol(Violation::Unanswered { .. }), _) => {
            write!(f, "{reason}; is it an MCP server? Check the address")?;
        }
        (CloseReason::Protocol(violation @ Violation::Http(_)), _) => {
            write!(
                f,
                "{violation}; is it an MCP server? Check the address, and what stands between: a proxy or a \
                 balancer may spoil what passes"
            )?;
        }
        (CloseReason::NoTransport { streamable, sse }, _) => {
            let remedy = match (&**streamable, &**sse) {
                (_, CloseReason::Challenged(_)) => {
                    "; send what it accepts in a header (Authorization: Bearer ...)"
                }
                (CloseReason::HttpRefused(refusal), _) => remedy(refusal),
                _ => "; is it an MCP server, and is that its address?",
            };
            let (streamable, sse) = (in_words(streamable), in_words(sse));
            write!(
                f,
                "over streamable HTTP: {streamable}; over HTTP with SSE, the older way: {sse}{remedy}"
            )?;
        }
        (CloseReason::Refused { .. }, _) => f.write_str(&in_words(reason))?,
        (CloseReason::HttpRefused(refusal), _) => {
            write!(f, "{}{}", cut(&reason.to_string()), remedy(refusal))?
        }
        (CloseReason::Challenged(challenge), _) if challenge.status == 401 => {
            write!(f, "{reason}; send what it accepts in a header (Authorization: Bearer ...)")?;
        }
        (CloseReason::Challenged(_), _) => {
            write!(
                f,
                "{reason}: those that were sent do not allow this; ask whoever runs the server for others"
            )?;
        }
        (CloseReason::Unreachable, _) => {
            write!(
                f,
                "{reason}: it ended the connection without an answer; check that it speaks HTTP there"
            )?;
        }
        (CloseReason::SessionGone, _) => write!(f, "{reason} as soon as it had opened it; try again")?,
        _ => write!(f, "{reason}")?,
    }
    if !first_junk.is_empty() {
        let program = exit.is_some_and(|exit| exit.ended != Ended::NotAProcess);
        let what = if program { "writes to stdout" } else { "sends" };
        write!(f, "\nwhat it {what} is no MCP: {first_junk}")?;
    }
    Ok(())
}

/// The reason, with what the server said of it.
fn in_words(reason: &CloseReason) -> String {
    match reason {
        CloseReason::Refused { error, .. } => format!("{reason}: {}", cut(&error.message)),
        _ => cut(&reason.to_string()),
    }
}

/// What to do about an HTTP answer that is no use.
const fn remedy(refusal: &HttpRefusal) -> &'static str {
    match (&refusal.why, refusal.status) {
        (RefusedFor::Status, 404 | 405) => "; check the path in the address: /mcp and /sse are usual",
        (RefusedFor::Status, 429) => "; it wants to be asked less often: try again later",
        (RefusedFor::Status, 500..=599) => {
            "; the server, or what stands in front of it, is in trouble: try again later"
        }
        (RefusedFor::Status | RefusedFor::ContentType(_), _) => {
            "; is it an MCP server, and is that its address?"
        }
        // The reason says it.
        (_, _) => "",
    }
}

fn cut(text: &str) -> String {
    escaped(&text.chars().take(300).collect::<String>())
}

impl std::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Spawn { source, .. }
            | Self::Directory { source, .. }
            | Self::Wrap { source, .. }
            | Self::Dial { source, .. } => Some(source),
            Self::Reach(fault) => Some(fault),
            Self::Config(error) => Some(error),
            Self::System(error) => Some(error),
            Self::Closed { .. } => None,
        }
    }
}

impl From<ConfigError> for ConnectError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<DialFault> for ConnectError {
    fn from(fault: DialFault) -> Self {
        Self::Reach(Box::new(fault))
    }
}
