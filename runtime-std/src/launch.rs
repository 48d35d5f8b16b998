//! How a server's process is started.

use std::io;
use std::sync::{Arc, mpsc};

use sanswire::client::Config;
use sanswire_system::clock::Clock;
use sanswire_system::launch::{explain, log_lines, prepare, start};
use sanswire_system::recording::RecordedLine;
use sanswire_system::stderr::escaped;
use sanswire_system::wrap::Start;
use sanswire_system::{Command, ConnectError};

use crate::connect::{Opened, WATCHER_STACK, seed, start_tap};
use crate::link::Link;
use crate::options::ConnectOptions;
use crate::os::{Input, child_ends};
use crate::shared::{Parts, Shared};

/// Starts the watcher, which starts the child.
pub(crate) fn spawn(
    command: &Command,
    config: Config,
    options: &ConnectOptions,
    clock: Clock,
) -> Result<Opened, ConnectError> {
    let machine = RecordedLine::new(config, seed(), clock.now(), options.recorder.as_ref())?;
    let Start { command: wrapped, system, unwrapped, release } =
        prepare(command, options.wrap.as_deref(), options.allow_unwrapped)?;
    let log = log_lines(command, options.server_name.as_deref(), &options.stderr, clock.now());
    let tap = start_tap(options)?;
    let (tell, told) = mpsc::sync_channel(1);
    let (stderr_mode, ladder, responder) = (options.stderr.clone(), options.stop, options.responder.clone());
    let unwrapped = unwrapped.map(|error| escaped(&error.to_string()));
    let thread = std::thread::Builder::new().name("sanswire-watcher".into()).stack_size(WATCHER_STACK);
    let watcher = thread
        .spawn(move || {
            let opened = start(system, &stderr_mode).and_then(|(child, ends)| {
                let shared = child_ends(ends).and_then(|(input, output, stderr)| {
                    Shared::new(Parts {
                        machine: Link::Line(machine),
                        ends: Some((Input::PIPE, input, output)),
                        stderr,
                        log,
                        pid: Some(child.id()),
                        unwrapped,
                        clock,
                        responder,
                        tap,
                    })
                });
                match shared {
                    Ok(shared) => Ok((shared, child)),
                    Err(error) => {
                        child.kill();
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
        Ok(Err(source)) => Err(explain(&wrapped, source)),
        Err(_) => Err(ConnectError::System(io::Error::other("the watcher thread failed"))),
    }
}
