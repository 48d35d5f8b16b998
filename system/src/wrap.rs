//! Sandboxes that servers are started in.

use std::io;

use crate::command::Command;
use crate::contain::caught;

/// Puts servers into a sandbox: what `ConnectOptions::wrap` takes.
///
/// It is asked before every start of a process, restarts included, and never for a server that is reached over a
/// socket. It gets the command and gives back the one that is started in its place, by a launcher for example:
///
/// ```
/// # use sanswire_system as sanswire_std;
/// use sanswire_std::{Command, Wrap, Wrapped};
///
/// struct ReadOnly;
///
/// impl Wrap for ReadOnly {
///     fn wrap(&self, command: Command) -> std::io::Result<Wrapped> {
///         let outer = ["--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--"];
///         Ok(command.under("bwrap", outer).env_remove("LD_PRELOAD").into())
///     }
/// }
/// ```
///
/// Variables that were declared for the server ([`Command::env`]) are not in what it gets. They are put in
/// afterwards, so no filter of the sandbox's takes them away, but what the sandbox removes by name
/// ([`Command::env_remove`]) stays removed. Pipes, process group and the death with this process are set on what it
/// gives back. The last one goes for the process that is started: a launcher that stays needs to be told to take its
/// own child along, as here.
pub trait Wrap: Send + Sync {
    /// The command to start in place of `command`.
    ///
    /// # Errors
    /// Nothing is started then, and connecting fails with
    /// [`ConnectError::Wrap`](crate::ConnectError::Wrap).
    /// [`Unsupported`](io::ErrorKind::Unsupported) means that there is no sandbox on this system: then
    /// `ConnectOptions::allow_unwrapped` decides.
    fn wrap(&self, command: Command) -> io::Result<Wrapped>;
}

type Prepare = Box<dyn FnOnce(&mut std::process::Command)>;

/// A command as a sandbox wants it started.
#[must_use]
pub struct Wrapped {
    command: Command,
    prepare: Option<Prepare>,
    release: Release,
}

impl Wrapped {
    /// This command.
    pub const fn new(command: Command) -> Self {
        Self { command, prepare: None, release: Release(None) }
    }

    /// Does to the system's command what [`Command`] has no word for: descriptors that the sandbox needs, what is to
    /// run before the program does. The environment is set after it, and so is what the connection needs.
    pub fn prepare(mut self, prepare: impl FnOnce(&mut std::process::Command) + 'static) -> Self {
        self.prepare = Some(Box::new(prepare));
        self
    }

    /// Gives back what was held for this start, files or descriptors for example. Called once, as soon as the process
    /// has started or could not be. A panic in it ends nothing.
    pub fn on_release(mut self, release: impl FnOnce() + 'static) -> Self {
        self.release.0 = Some(Box::new(release));
        self
    }
}

impl From<Command> for Wrapped {
    fn from(command: Command) -> Self {
        Self::new(command)
    }
}

impl std::fmt::Debug for Wrapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wrapped")
            .field("command", &self.command)
            .field("prepare", &self.prepare.is_some())
            .field("release", &self.release.0.is_some())
            .finish()
    }
}

/// Gives back what a sandbox held for one start: when it goes, once.
pub struct Release(Option<Box<dyn FnOnce()>>);

impl Drop for Release {
    fn drop(&mut self) {
        if let Some(release) = self.0.take() {
            // The process runs by now: whoever connects must live to see it.
            let _ = caught(release);
        }
    }
}

/// One start, as [`prepare`](crate::launch::prepare) makes it.
pub struct Start {
    /// What is started, declared variables included.
    pub command: Command,
    /// The same, for the system: what [`start`](crate::launch::start) takes.
    pub system: std::process::Command,
    /// Why there is no sandbox around it, though there was to be one.
    pub unwrapped: Option<io::Error>,
    /// Goes when it has started.
    pub release: Release,
}

impl Start {
    /// Asks the sandbox, if there is one.
    pub(crate) fn new(command: &Command, wrap: Option<&dyn Wrap>, allow_unwrapped: bool) -> io::Result<Self> {
        let plain = |unwrapped| Self {
            command: command.clone(),
            system: command.to_system(|_| ()),
            unwrapped,
            release: Release(None),
        };
        let Some(wrap) = wrap else { return Ok(plain(None)) };
        let Wrapped { command: wrapped, prepare, release } = match wrap.wrap(command.undeclared()) {
            Ok(wrapped) => wrapped,
            Err(error) if allow_unwrapped && error.kind() == io::ErrorKind::Unsupported => {
                return Ok(plain(Some(error)));
            }
            Err(error) => return Err(error),
        };
        let command = command.declared_in(wrapped);
        let system = command.to_system(|system| {
            if let Some(prepare) = prepare {
                prepare(system);
            }
        });
        Ok(Self { command, system, unwrapped: None, release })
    }
}
