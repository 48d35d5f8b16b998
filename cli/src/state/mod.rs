//! What is remembered between runs: which files may start servers, how a server is spoken to, which tools may be
//! called, and how they were defined then.
//!
//! One small file each in `$XDG_STATE_HOME/sanswire`, named by a hash. Losing them costs a question or a probe. A file
//! that makes no sense counts as lost: it is told of once, and removed.

mod files;
mod grants;
mod terminal;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::config::path_variable;
use crate::output::complain;
pub(crate) use files::Kind;
#[cfg(unix)]
pub(crate) use files::take_lock;
use files::{Folder, Locked};
pub(crate) use grants::{Grant, Held, Scope, ToolKey};
pub(crate) use terminal::terminal_session;

/// The user said that a server of a project may be started.
const TRUST: Kind = Kind { folder: "trust", max_files: 1000, max_bytes: 8192 };
/// The era that a server belongs to.
const VERDICTS: Kind = Kind { folder: "verdicts", max_files: 1000, max_bytes: 64 };

/// What is remembered.
#[derive(Debug)]
pub(crate) struct State {
    folder: Option<Folder>,
    /// Whether what is odd is told.
    loud: bool,
    told: Mutex<Vec<String>>,
}

impl State {
    /// That of the user who runs this; `loud`: what is odd about it is told.
    pub(crate) fn of_user(loud: bool) -> Self {
        let home = || path_variable("HOME").map(|home| home.join(".local/state"));
        let path = path_variable("XDG_STATE_HOME").or_else(home).map(|base| base.join("sanswire"));
        Self::at(path, loud)
    }

    fn at(path: Option<PathBuf>, loud: bool) -> Self {
        let mut this = Self { folder: None, loud, told: Mutex::default() };
        this.folder = path.and_then(|path| {
            Folder::at(path).map_err(|why| this.tell(format!("{why}; nothing is remembered"))).ok()
        });
        this
    }

    /// Says something, once.
    fn tell(&self, what: String) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.contains(&what) {
            return;
        }
        if self.loud {
            complain(&format!("warning: {what}"));
        }
        told.push(what);
    }

    /// What `read` makes of a file. One that it can make nothing of is as good as none.
    fn get<T>(&self, kind: Kind, name: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let folder = self.folder.as_ref()?;
        let text = folder.read(kind, name)?;
        let understood = read(text.trim());
        if understood.is_none() {
            let what = format!("{}/{name}", kind.folder);
            self.tell(format!("what was remembered in {what} makes no sense, and is forgotten"));
            // Meanwhile another may have written it anew.
            if let Ok(locked) = folder.lock()
                && folder.read(kind, name).is_some_and(|text| read(text.trim()).is_none())
            {
                locked.remove(kind, name);
            }
        }
        understood
    }

    /// Changes something while nobody else does. The error says why it could not be kept.
    fn change<T>(&self, change: impl FnOnce(&Locked<'_>) -> std::io::Result<T>) -> Result<T, String> {
        let folder = self.folder.as_ref().ok_or("there is no folder for it")?;
        folder.lock().and_then(|locked| change(&locked)).map_err(|error| error.to_string())
    }

    /// Whether the user said that a server of this file may be started. `key` is of the file as it is now.
    pub(crate) fn is_trusted(&self, key: &str, file: &str) -> bool {
        self.get(TRUST, key, |text| (text == file.trim()).then_some(())).is_some()
    }

    /// Remembers that it may be started.
    ///
    /// # Errors
    /// Why the answer could not be kept.
    pub(crate) fn trust(&self, key: &str, file: &str) -> Result<(), String> {
        self.change(|locked| locked.write(TRUST, key, &format!("{file}\n")).map(drop))
    }

    /// How a server is spoken to, if `known` has such a name for it.
    pub(crate) fn verdict(&self, key: &str, known: impl Fn(&str) -> bool) -> Option<String> {
        self.get(VERDICTS, key, |text| known(text).then(|| text.to_owned()))
    }

    /// Remembers how a server is spoken to. Where that cannot be, it is found out again.
    pub(crate) fn set_verdict(&self, key: &str, verdict: &str) {
        let _ = self.change(|locked| locked.write(VERDICTS, key, &format!("{verdict}\n")));
    }

    /// Forgets how a server is spoken to: it is found out again.
    pub(crate) fn forget_verdict(&self, key: &str) {
        let _ = self.change(|locked| {
            locked.remove(VERDICTS, key);
            Ok(())
        });
    }
}

/// A new file that nobody but the user reads.
pub(crate) fn private(path: &Path) -> std::io::Result<fs::File> {
    private_file(path, true)
}

/// A file that nobody but the user reads, emptied or as it was.
fn private_file(path: &Path, empty: bool) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(empty);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        let file = options.mode(0o600).open(path)?;
        // It may have been there before.
        if file.metadata()?.is_file() {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

/// SHA-256 in hex over the parts, each with its length in front.
pub(crate) fn hex_hash(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    crate::encode::hex(&hash.finalize())
}

#[cfg(test)]
mod tests;
