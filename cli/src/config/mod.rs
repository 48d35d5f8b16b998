//! Which servers there are: our own files, and those of other programs, which are read and never written.

mod access;
mod dialects;
mod edit;
mod entry;
pub(crate) mod expand;
mod file;
mod given;
pub(crate) mod headers;
mod kind;
pub(crate) mod launch;
mod literal;
mod own;
mod remote;
mod secrets;
mod settings;
mod store;
mod toml;
mod translate;
mod web;

use std::collections::BTreeMap;
use std::path::PathBuf;

use sanswire::host::policy::Policy;
use sanswire::host::{HostConfig, ServerConfig};

pub(crate) use dialects::CLIENTS;
pub(crate) use entry::{Entry, Origin};
pub(crate) use given::is_variable;
pub(crate) use kind::Kind;
pub(crate) use launch::launch;
pub(crate) use literal::{Literal, literals};
pub(crate) use own::{OwnFiles, PROJECT_FILE};
pub(crate) use remote::{Remote, Speaks, check_url, host, shown};
pub(crate) use settings::{GrantStore, Settings};
pub(crate) use store::Store;
pub(crate) use translate::translate;
pub(crate) use web::{address_shown, put_shown, web};

use crate::failure::Failure;

/// The places that files are looked for in.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) directory: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) config_home: Option<PathBuf>,
    /// Where programs keep their settings on Windows.
    roaming: Option<PathBuf>,
    system: System,
    /// What variables of other programs name.
    named: BTreeMap<&'static str, PathBuf>,
}

/// Systems that have places of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    MacOs,
    Windows,
    Other,
}

impl Places {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        let home = path_variable("HOME").or_else(|| path_variable("USERPROFILE"));
        let config_home =
            path_variable("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config")));
        let mut named = BTreeMap::new();
        for name in dialects::NAMED {
            if let Some(path) = path_variable(name) {
                named.insert(name, path);
            }
        }
        Self {
            directory: std::env::current_dir().unwrap_or_default(),
            home,
            config_home,
            roaming: path_variable("APPDATA"),
            system: if cfg!(target_os = "macos") {
                System::MacOs
            } else if cfg!(windows) {
                System::Windows
            } else {
                System::Other
            },
            named,
        }
    }
}

/// An absolute path that an environment variable holds; the base directory rules ignore others.
pub(crate) fn path_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// All servers, ours first.
#[derive(Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) entries: Vec<Entry>,
    pub(crate) warnings: Vec<String>,
    /// The files of ours that were read.
    pub(crate) own_files: Vec<PathBuf>,
    /// What they say for all servers.
    pub(crate) settings: Settings,
}

impl Configuration {
    /// Reads all files, or `only` that one.
    pub(crate) fn load(only: Option<&PathBuf>) -> Result<Self, Failure> {
        Self::load_in(&Places::of_process(), only)
    }

    fn load_in(places: &Places, only: Option<&PathBuf>) -> Result<Self, Failure> {
        let mut this = Self::default();
        own::load(&mut this, places, only)?;
        let configured = !this.own_files.is_empty();
        if only.is_none() {
            dialects::load(&mut this, places);
        }
        this.name_apart();
        if !this.entries.iter().any(|entry| entry.name == Entry::DEMO) {
            let mut demo = Entry::demo();
            // With a file of one's own it is not listed, but it answers to its name.
            demo.hidden = configured;
            this.entries.insert(0, demo);
        }
        Ok(this)
    }

    /// A host of all these servers.
    pub(crate) fn host(&self) -> HostConfig {
        let mut host = HostConfig::default();
        for entry in &self.entries {
            let mut server = ServerConfig::default();
            server.enabled = !entry.disabled;
            server.transport = if matches!(entry.kind, Kind::Http(_)) { "http" } else { "stdio" };
            server.mode = entry.access.policy.mode;
            server.trust_annotations = entry.access.policy.trust_annotations;
            server.filter = entry.access.filter.clone();
            server.sub_agents.clone_from(&entry.access.sub_agents);
            server.connect_timeout = entry.access.connect_timeout.or(entry.access.timeout);
            host.servers.insert(entry.name.as_str().into(), server);
        }
        host.policy = self.policy();
        let settings = &self.settings;
        host.exposure.mode = settings.exposure.unwrap_or(host.exposure.mode);
        host.refresh.mode = settings.tool_refresh.unwrap_or(host.refresh.mode);
        host.results.max_result_bytes = settings.max_result_bytes.unwrap_or(host.results.max_result_bytes);
        host.results.marker = settings.marker.unwrap_or(host.results.marker);
        host
    }

    /// What is to happen with calls: what each server's entry says, under the name that it answers to, and what our
    /// files say for all. The files of other programs let nothing through.
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = Policy::default();
        for entry in &self.entries {
            policy.servers.insert(entry.name.clone(), entry.access.policy);
        }
        policy.rules = self.settings.rules.clone();
        policy.never_trust_annotations = self.settings.never_trust_annotations;
        policy.plan_mode_honours_grants =
            self.settings.plan_mode_honours_grants.unwrap_or(policy.plan_mode_honours_grants);
        policy.ask_on_repeat = self.settings.ask_on_repeat.unwrap_or(policy.ask_on_repeat);
        policy
    }

    /// The first entry of a name has it; the others are told apart by where they come from.
    fn name_apart(&mut self) {
        let mut taken: Vec<String> = Vec::new();
        for entry in &mut self.entries {
            entry.key.clone_from(&entry.name);
            if taken.contains(&entry.name) {
                let apart = format!("{}@{}", entry.name, entry.origin.name());
                let mut name = apart.clone();
                let mut n = 2;
                while taken.contains(&name) {
                    name = format!("{apart}-{n}");
                    n += 1;
                }
                entry.name = name;
            }
            taken.push(entry.name.clone());
        }
    }

    /// The entry of that name.
    pub(crate) fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The servers that a verb means when it names none: all of our own files.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.origin.is_own() && !entry.disabled && !entry.hidden)
    }
}

#[cfg(test)]
mod tests;
