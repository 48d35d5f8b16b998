//! Writing to our own files: as a whole or not at all, by one at a time, and never to another program's.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sanswire::jsonrpc::{JsonRef, Kind as JsonKind, RawJson};

use super::own::{CONTAINERS, PROJECT_FILE};
use super::{Places, dialects, edit, file};
use crate::failure::Failure;
use crate::json::{member, pretty};

/// A file of ours that nobody else writes meanwhile.
pub(crate) struct Store {
    /// As it is named.
    pub(crate) path: PathBuf,
    /// Where its text is: links are followed.
    target: PathBuf,
    /// Of the folder; it lasts until this is dropped.
    _lock: Option<File>,
    text: String,
    value: RawJson,
}

impl Store {
    /// Takes a file, which need not be there yet, and reads it.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        if let Some(client) = dialects::owner(&Places::of_process(), path) {
            return Err(Failure::usage(format!(
                "{shown} is a file of {client}, which is read and never written"
            ))
            .hint("sanswire import copies servers from it"));
        }
        let failed = |what: &str, error: &io::Error| Failure::usage(format!("{shown} {what}: {error}"));
        let target = target(path).map_err(|error| failed("cannot be written", &error))?;
        let folder =
            target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        make(folder).map_err(|error| failed("cannot be made", &error))?;
        let lock = lock(folder).map_err(|error| failed("cannot be locked", &error))?;
        // Only now it is read: what another wrote until then is not lost.
        let found = file::read(&target, false).map_err(Failure::usage)?;
        let text = if found.is_some() {
            fs::read_to_string(&target).map_err(|error| failed("cannot be read", &error))?
        } else {
            String::new()
        };
        let value = found.map_or_else(RawJson::empty_object, |found| found.value);
        Ok(Self { path: path.into(), target, _lock: lock, text, value })
    }

    /// The name of the member that holds a server of this name.
    fn holder(&self, name: &str) -> Option<&'static str> {
        let holds =
            |container: &&&str| self.servers(container).is_some_and(|servers| servers.get(name).is_some());
        CONTAINERS.iter().find(holds).copied()
    }

    fn servers(&self, container: &str) -> Option<JsonRef<'_>> {
        member(self.value.view(), container).filter(|servers| servers.kind() == JsonKind::Object)
    }

    /// Whether there is a server of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.holder(name).is_some()
    }

    /// What is said of a server.
    pub(crate) fn entry(&self, name: &str) -> Option<JsonRef<'_>> {
        self.servers(self.holder(name)?)?.get(name)
    }

    /// Puts a server in.
    pub(crate) fn insert(&mut self, name: &str, entry: &RawJson) -> Result<(), Failure> {
        let value = pretty(entry.view());
        if self.text.trim_start_matches('\u{feff}').trim().is_empty() {
            self.set("{\n}\n".into())?;
        }
        let container = match CONTAINERS.iter().find(|name| self.servers(name).is_some()) {
            Some(container) => container,
            None if self.value.view().get("mcpServers").is_some() => {
                let replaced = edit::replace(&self.text, &[], "mcpServers", "{}");
                self.set(replaced.map_err(|_| self.unreadable())?.0)?;
                "mcpServers"
            }
            None => {
                self.set(edit::insert(&self.text, &[], "mcpServers", "{}").map_err(|_| self.unreadable())?)?;
                "mcpServers"
            }
        };
        self.set(edit::insert(&self.text, &[container], name, &value).map_err(|_| self.unreadable())?)
    }

    /// Takes a server out, however often it stands there. False: it does not.
    pub(crate) fn remove(&mut self, name: &str) -> Result<bool, Failure> {
        let mut any = false;
        while let Some(container) = self.holder(name) {
            self.set(edit::remove(&self.text, &[container], name).map_err(|_| self.unreadable())?)?;
            any = true;
        }
        Ok(any)
    }

    /// Switches a server on or off. `on` is what it is if it says nothing.
    pub(crate) fn enable(&mut self, name: &str, enable: bool, on: bool) -> Result<(), Failure> {
        let Some(container) = self.holder(name) else { return Ok(()) };
        let path = [container, name];
        let unreadable = |_| self.unreadable();
        let (flag, opposite) = if enable { ("true", "false") } else { ("false", "true") };
        let text = edit::remove(&self.text, &path, "disabled").map_err(unreadable)?;
        let (text, said) = edit::replace(&text, &path, "enabled", flag).map_err(unreadable)?;
        let text = match (said || enable == on, enable) {
            (true, _) => text,
            (false, true) => edit::insert(&text, &path, "enabled", flag).map_err(unreadable)?,
            (false, false) => edit::insert(&text, &path, "disabled", opposite).map_err(unreadable)?,
        };
        self.set(text)
    }

    fn unreadable(&self) -> Failure {
        Failure::usage(format!("{} is written in a way that cannot be changed here", self.path.display()))
            .hint("change it by hand")
    }

    /// Takes a new text, if it is one that can be read.
    fn set(&mut self, text: String) -> Result<(), Failure> {
        self.value = file::parse(&text, &self.path).map_err(Failure::usage)?;
        self.text = text;
        Ok(())
    }

    /// Writes it: what is read later, whatever happens, is the old text or the new one.
    pub(crate) fn save(&self) -> Result<(), Failure> {
        self.write().map_err(|error| {
            Failure::usage(format!("{} cannot be written, and is as it was: {error}", self.path.display()))
        })
    }

    fn write(&self) -> io::Result<()> {
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        // One name for all: what a run left behind that was killed here is gone with the next change.
        let new = self.target.with_file_name(format!(".{name}.new"));
        // Nothing that is there already is written to: in a project it could be a link to anywhere.
        let _ = fs::remove_file(&new);
        let written = create(&new).and_then(|mut file| {
            file.write_all(self.text.as_bytes())?;
            file.sync_all()?;
            drop(file);
            fs::rename(&new, &self.target)
        });
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written?;
        // That it has its name is to last as well.
        let _ =
            self.target.parent().and_then(|folder| File::open(folder).ok()).map(|folder| folder.sync_all());
        Ok(())
    }
}

/// The file behind the links. The project's may lead nowhere else: what comes with a project does not choose what is
/// written.
fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() && path.ends_with(PROJECT_FILE) => {
            Err(io::Error::other("it is a symbolic link in a project"))
        }
        Ok(_) => fs::canonicalize(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.into()),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let folder = File::open(folder)?;
    crate::state::take_lock(&folder)?;
    Ok(Some(folder))
}

/// Elsewhere a folder cannot be opened, and nothing is locked.
#[cfg(not(unix))]
fn lock(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// A new file that nobody but the user reads: it may hold secrets.
fn create(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}
