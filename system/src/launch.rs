//! How a server's process is started.
//!
//! [`prepare`] may be called anywhere; it asks the sandbox. [`start`] starts what that gave, on a thread that lives as long
//! as the child should. Then the [`Release`](crate::wrap::Release) is dropped. What fails is [`explain`]ed.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::process::Stdio;

use sanswire::Instant;

use crate::command::Command;
use crate::error::ConnectError;
use crate::options::StderrMode;
use crate::os::{self, Child, ChildEnds};
use crate::stderr_lines::LogLines;
use crate::wrap::{Start, Wrap};

/// What is to be started for a command: in its sandbox, if there is one.
///
/// # Errors
/// The command's environment cannot be declared, or the sandbox refused.
pub fn prepare(
    command: &Command,
    wrap: Option<&dyn Wrap>,
    allow_unwrapped: bool,
) -> Result<Start, ConnectError> {
    command.check().map_err(|source| explain(command, source))?;
    let program = || command.program().to_string_lossy().into_owned();
    let start = Start::new(command, wrap, allow_unwrapped)
        .map_err(|source| ConnectError::Wrap { program: program(), source })?;
    start.command.check().map_err(|source| explain(&start.command, source))?;
    Ok(start)
}

/// Starts a child that leads a process group of its own. It ends with the thread that calls this, where the system can
/// promise that.
///
/// # Errors
/// The system's own: the program is not there, or something has run out. [`explain`] says which.
pub fn start(mut system: std::process::Command, stderr_mode: &StderrMode) -> io::Result<(Child, ChildEnds)> {
    system.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(match stderr_mode {
        StderrMode::Ring | StderrMode::Log(_) => Stdio::piped(),
        StderrMode::Inherit => Stdio::inherit(),
        StderrMode::Discard => Stdio::null(),
    });
    os::bind_to_parent(&mut system);
    let mut child = system.spawn()?;
    match os::child_ends(&mut child) {
        Ok(ends) => Ok((Child::new(child), ends)),
        Err(error) => {
            Child::new(child).kill();
            Err(error)
        }
    }
}

/// The error for a command that could not be started.
#[must_use]
pub fn explain(command: &Command, source: io::Error) -> ConnectError {
    if let Some(directory) = command.directory()
        && let Err(source) = std::fs::read_dir(directory)
    {
        return ConnectError::Directory { path: directory.into(), source };
    }
    ConnectError::Spawn { program: command.program().to_string_lossy().into_owned(), source }
}

/// The way into the log, if there is one. `name`: what the server is called there; if none is set, it is the name of the
/// program's file, of the `command` as it was before a sandbox changed it.
#[must_use]
pub fn log_lines(
    command: &Command,
    name: Option<&str>,
    stderr_mode: &StderrMode,
    now: Instant,
) -> Option<LogLines> {
    let StderrMode::Log(log) = stderr_mode else { return None };
    let program = || Path::new(command.program()).file_name().unwrap_or_default().to_string_lossy();
    Some(LogLines::new(log, &name.map_or_else(program, Cow::Borrowed), now))
}
