//! Which servers there are: our own files, and those of other programs, which are read and never written.

mod dialects;
mod entry;
pub(crate) mod expand;
mod file;
pub(crate) mod launch;
mod own;
mod secrets;

use std::path::PathBuf;

pub(crate) use entry::{Entry, Kind};
pub(crate) use launch::launch;

use crate::failure::Failure;

/// The places that files are looked for in.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) directory: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) config_home: Option<PathBuf>,
}

impl Places {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        let home = path_variable("HOME");
        let config_home =
            path_variable("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config")));
        Self { directory: std::env::current_dir().unwrap_or_default(), home, config_home }
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
}

impl Configuration {
    /// Reads all files, or `only` that one.
    pub(crate) fn load(only: Option<&PathBuf>) -> Result<Self, Failure> {
        let places = Places::of_process();
        let mut this = Self::default();
        own::load(&mut this, &places, only)?;
        let configured = !this.own_files.is_empty();
        if only.is_none() {
            dialects::load(&mut this, &places);
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

    /// The first entry of a name has it; the others are told apart by where they come from.
    fn name_apart(&mut self) {
        let mut taken: Vec<String> = Vec::new();
        for entry in &mut self.entries {
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
