//! How a server's process is started.

use std::io;

use async_io::Async;
use sanswire::client::Config;
use sanswire_system::clock::Clock;
use sanswire_system::launch::{self, explain, log_lines};
use sanswire_system::os::{Child, ChildEnds};
use sanswire_system::recording::RecordedLine;
use sanswire_system::stderr::escaped;
use sanswire_system::{Command, ConnectError};

use crate::connect::{Owned, own, seed, start_tap, watch};
use crate::line::Line;
use crate::link::Link;
use crate::options::ConnectOptions;
use crate::shared::Parts;
use crate::threads;
use crate::wire::Wire;

/// A process that was started. It is killed unless somebody takes it.
struct Started {
    child: Option<Child>,
    ends: Option<ChildEnds>,
    /// Why it runs in no sandbox, though it was to.
    unwrapped: Option<String>,
}

impl Drop for Started {
    fn drop(&mut self) {
        // It waits for the system, if not for long.
        if let Some(child) = self.child.take() {
            drop(threads::on_parent(move || child.kill()));
        }
    }
}

pub(crate) async fn spawn(
    command: &Command,
    config: Config,
    options: &ConnectOptions,
    clock: Clock,
) -> Result<Owned, ConnectError> {
    let machine = RecordedLine::new(config, seed()?, clock.now(), options.recorder.as_ref())?;
    let log = log_lines(command, options.server_name.as_deref(), &options.stderr, clock.now());
    let tap = start_tap(options)?;
    let watch = watch(options)?;
    let mut started = start(command.clone(), options).await?;
    let (Some(child), Some(ends)) = (started.child.take(), started.ends.take()) else {
        return Err(ConnectError::System(io::Error::other("the process was not started")));
    };
    let stderr = ends.stderr.map(Async::new_nonblocking).transpose();
    let (wire, stderr) = match Wire::pipes(ends.stdout, ends.stdin).and_then(|wire| Ok((wire, stderr?))) {
        Ok(ends) => ends,
        Err(error) => {
            started.child = Some(child);
            return Err(ConnectError::System(error));
        }
    };
    Ok(own(Parts {
        link: Link::Line(Line::new(machine, wire)),
        child: Some(child),
        stderr,
        log,
        unwrapped: started.unwrapped.take(),
        clock,
        responder: options.responder.clone(),
        tap,
        ladder: options.stop,
        watch,
    }))
}

/// Asks the sandbox, on a thread of its own, and has the process started by the thread that starts them all.
async fn start(command: Command, options: &ConnectOptions) -> Result<Started, ConnectError> {
    let (mode, allow) = (options.stderr.clone(), options.allow_unwrapped);
    let Some(wrap) = options.wrap.clone() else {
        let started = threads::on_parent(move || {
            let start = launch::prepare(&command, None, false)?;
            let (child, ends) =
                launch::start(start.system, &mode).map_err(|source| explain(&command, source))?;
            Ok(Started { child: Some(child), ends: Some(ends), unwrapped: None })
        });
        return taken(started.map_err(ConnectError::System)?.await);
    };
    let program = command.program().to_string_lossy().into_owned();
    let started = threads::run("sanswire-wrap", move || {
        let start = launch::prepare(&command, Some(&*wrap), allow)?;
        let system = start.system;
        let started = threads::block_on_parent(move || {
            let (child, ends) = launch::start(system, &mode)?;
            Ok(Started { child: Some(child), ends: Some(ends), unwrapped: None })
        });
        drop(start.release);
        let mut started = started.map_err(|source| explain(&start.command, source))?;
        started.unwrapped = start.unwrapped.map(|error| escaped(&error.to_string()));
        Ok(started)
    });
    let started = started.map_err(ConnectError::System)?.await;
    started.unwrap_or_else(|| Err(ConnectError::Wrap { program, source: io::Error::other("it panicked") }))
}

fn taken(started: Option<Result<Started, ConnectError>>) -> Result<Started, ConnectError> {
    started.unwrap_or_else(|| {
        Err(ConnectError::System(io::Error::other("the thread that starts processes failed")))
    })
}
