//! The command that starts a server.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// What [`InheritEnv::AllowList`] lets through.
const ALLOWED: [&str; 8] = ["HOME", "PATH", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR"];

/// Which of this process's environment variables a server gets. Declared ones ([`Command::env`]) it always gets,
/// and they win.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum InheritEnv {
    /// All of them.
    #[default]
    All,
    /// `HOME`, `PATH`, `USER`, `LOGNAME`, `SHELL`, `TERM`, `LANG` and `TMPDIR`: no secret that happens to lie in
    /// the environment.
    AllowList,
}

/// The command that starts a server. `Debug` shows no values of environment variables, since those are often
/// secret.
#[derive(Clone)]
pub struct Command {
    program: OsString,
    arguments: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    removed: BTreeSet<OsString>,
    directory: Option<PathBuf>,
    inherit: InheritEnv,
}

impl Command {
    /// The program of this name (looked for in `PATH`) or path.
    #[must_use]
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            env: BTreeMap::new(),
            removed: BTreeSet::new(),
            directory: None,
            inherit: InheritEnv::default(),
        }
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// More arguments.
    #[must_use]
    pub fn args<T: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Declares an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.removed.remove(&name);
        self.env.insert(name, value.into());
        self
    }

    /// Keeps an environment variable from the server, whether it would be inherited or was declared so far.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        let name = name.into();
        self.env.remove(&name);
        self.removed.insert(name);
        self
    }

    /// The folder that the server starts in; this process's if none is set.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Which variables of this process's environment the server gets.
    #[must_use]
    pub const fn inherit_env(mut self, inherit: InheritEnv) -> Self {
        self.inherit = inherit;
        self
    }

    /// The command that starts this one: `program`, `arguments`, and behind them this one's program and arguments.
    /// Folder and environment stay. What a [`Wrap`](crate::Wrap) needs for a launcher.
    #[must_use]
    pub fn under<T: Into<OsString>>(
        mut self,
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = T>,
    ) -> Self {
        let inner = std::mem::replace(&mut self.program, program.into());
        let outer = arguments.into_iter().map(Into::into).chain([inner]);
        self.arguments = outer.chain(std::mem::take(&mut self.arguments)).collect();
        self
    }

    /// Another program with other arguments, in the same folder and environment.
    #[must_use]
    pub fn with_words<T: Into<OsString>>(
        mut self,
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = T>,
    ) -> Self {
        self.program = program.into();
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// The arguments.
    #[must_use]
    pub fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// The folder that was set.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Whether the system can start it with the environment that was declared. A name with a `=` in it would
    /// declare another variable than the one that was meant.
    pub(crate) fn check(&self) -> std::io::Result<()> {
        let unusable = |name: &OsString| name.is_empty() || name.as_encoded_bytes().contains(&b'=');
        match self.env.keys().find(|name| unusable(name)) {
            Some(name) => Err(std::io::Error::new(
                std::io::ErrorKind::InvalidInput,
                format!("{name:?} is no name for an environment variable"),
            )),
            None => Ok(()),
        }
    }

    /// The command without what was declared for it: what a sandbox gets to see.
    pub(crate) fn undeclared(&self) -> Self {
        Self { env: BTreeMap::new(), ..self.clone() }
    }

    /// What a sandbox made of [`undeclared`](Self::undeclared), with what was declared put back: past every filter of
    /// the sandbox's, but for what it removed by name. What this command keeps from the server stays kept from it,
    /// whatever the sandbox forgot to carry over.
    pub(crate) fn declared_in(&self, mut wrapped: Self) -> Self {
        if self.inherit == InheritEnv::AllowList {
            wrapped.inherit = InheritEnv::AllowList;
        }
        wrapped.removed.extend(self.removed.iter().cloned());
        wrapped.env.extend(self.env.iter().map(|(name, value)| (name.clone(), value.clone())));
        wrapped
    }

    /// What the system starts: everything but pipes and process group. `prepare` comes before the environment.
    pub(crate) fn to_system(
        &self,
        prepare: impl FnOnce(&mut std::process::Command),
    ) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.arguments);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        prepare(&mut command);
        if self.inherit == InheritEnv::AllowList {
            command.env_clear();
            command.envs(ALLOWED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        }
        command.envs(&self.env);
        for name in &self.removed {
            command.env_remove(name);
        }
        command
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("removed", &self.removed)
            .field("directory", &self.directory)
            .field("inherit", &self.inherit)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_names_of_variables_and_no_values() {
        let text = format!("{:?}", Command::new("server").env("API_KEY", "hunter2"));
        assert!(text.contains("API_KEY") && !text.contains("hunter2"), "{text}");
    }
}
