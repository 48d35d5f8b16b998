//! How a server's process is started.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, mpsc};

use sanswire::client::{Config, LineConnection};

use crate::clock::Clock;
use crate::command::Command;
use crate::connect::{Opened, WATCHER_STACK, seed, start_tap};
use crate::error::ConnectError;
use crate::link::Link;
use crate::options::{ConnectOptions, StderrMode};
use crate::os::{self, Child, ChildEnds, Input};
use crate::shared::{Parts, Shared};
use crate::stderr::escaped;
use crate::stderr_lines::LogLines;
use crate::wrap::Start;

/// Starts the watcher, which starts the child.
pub(crate) fn spawn(
    command: &Command,
    config: Config,
    options: &ConnectOptions,
    clock: Clock,
) -> Result<Opened, ConnectError> {
    let machine = LineConnection::new(config, seed(), clock.now())?;
    command.check().map_err(|source| explain(command, source))?;
    let start = Start::new(command, options.wrap.as_deref(), options.allow_unwrapped).map_err(|source| {
        ConnectError::Wrap { program: command.program().to_string_lossy().into_owned(), source }
    })?;
    let log = log_lines(command, options, clock);
    let Start { command, system, unwrapped, release } = start;
    command.check().map_err(|source| explain(&command, source))?;
    let tap = start_tap(options)?;
    let (tell, told) = mpsc::sync_channel(1);
    let (stderr_mode, ladder, responder) = (options.stderr.clone(), options.stop, options.responder.clone());
    let unwrapped = unwrapped.map(|error| escaped(&error.to_string()));
    let thread = std::thread::Builder::new().name("sanswire-watcher".into()).stack_size(WATCHER_STACK);
    let watcher = thread
        .spawn(move || {
            let opened = start_child(system, &stderr_mode).and_then(|(mut child, pipes)| {
                let (input, output, stderr) = pipes;
                let parts = Parts {
                    machine: Link::Line(machine),
                    ends: Some((Input::PIPE, input, output)),
                    stderr,
                    log,
                    pid: Some(child.id()),
                    unwrapped,
                    clock,
                    responder,
                    tap,
                };
                match Shared::new(parts) {
                    Ok(shared) => Ok((shared, Child::new(child))),
                    Err(error) => {
                        let _ = child.kill();
                        let _ = child.wait();
                        Err(error)
                    }
                }
            });
            match opened {
                Ok((shared, child)) => {
                    let _ = shared.watcher.set(std::thread::current());
                    if tell.send(Ok(Arc::clone(&shared))).is_ok() {
                        shared.watch(Some(child), &ladder);
                    }
                }
                Err(error) => drop(tell.send(Err(error))),
            }
        })
        .map_err(ConnectError::System)?;
    let started = told.recv();
    drop(release);
    match started {
        Ok(Ok(shared)) => Ok((shared, watcher)),
        Ok(Err(source)) => Err(explain(&command, source)),
        Err(_) => Err(ConnectError::System(io::Error::other("the watcher thread failed"))),
    }
}

/// The way into the log, if there is one.
fn log_lines(command: &Command, options: &ConnectOptions, clock: Clock) -> Option<LogLines> {
    let StderrMode::Log(log) = &options.stderr else { return None };
    let program = || Path::new(command.program()).file_name().unwrap_or_default().to_string_lossy();
    let name = options.server_name.as_deref().map_or_else(program, Cow::Borrowed);
    Some(LogLines::new(log, &name, clock.now()))
}

fn explain(command: &Command, source: io::Error) -> ConnectError {
    if let Some(directory) = command.directory()
        && let Err(source) = std::fs::read_dir(directory)
    {
        return ConnectError::Directory { path: directory.into(), source };
    }
    ConnectError::Spawn { program: command.program().to_string_lossy().into_owned(), source }
}

fn start_child(
    mut system: std::process::Command,
    stderr_mode: &StderrMode,
) -> io::Result<(std::process::Child, ChildEnds)> {
    system.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(match stderr_mode {
        StderrMode::Ring | StderrMode::Log(_) => Stdio::piped(),
        StderrMode::Inherit => Stdio::inherit(),
        StderrMode::Discard => Stdio::null(),
    });
    os::bind_to_parent(&mut system);
    let mut child = system.spawn()?;
    match os::child_ends(&mut child) {
        Ok(pipes) => Ok((child, pipes)),
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}
