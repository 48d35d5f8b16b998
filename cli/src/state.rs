//! What is remembered between runs: which files may start servers, and how a server is spoken to.
//!
//! One small file each in `$XDG_STATE_HOME/sanswire`, named by a hash. Losing them costs a question or a probe.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::config::path_variable;

/// Kinds of things that are remembered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Memory {
    /// The user said that a server of a project may be started.
    Trust,
    /// The era that a server belongs to.
    Verdict,
}

impl Memory {
    fn path(self, key: &str) -> Option<PathBuf> {
        let home = || path_variable("HOME").map(|home| home.join(".local/state"));
        let folder = match self {
            Self::Trust => "trust",
            Self::Verdict => "verdicts",
        };
        Some(path_variable("XDG_STATE_HOME").or_else(home)?.join("sanswire").join(folder).join(key))
    }

    /// What is remembered under `key`.
    pub(crate) fn get(self, key: &str) -> Option<String> {
        fs::read_to_string(self.path(key)?).ok().map(|text| text.trim().to_owned())
    }

    /// Remembers something. False if there is nowhere to.
    pub(crate) fn set(self, key: &str, value: &str) -> bool {
        let Some(path) = self.path(key) else { return false };
        let Some(folder) = path.parent() else { return false };
        let partial = path.with_extension(std::process::id().to_string());
        let write = || {
            fs::create_dir_all(folder)?;
            private(&partial)?.write_all(format!("{value}\n").as_bytes())?;
            fs::rename(&partial, &path)
        };
        write().is_ok()
    }
}

/// A new file that nobody but the user reads.
pub(crate) fn private(path: &std::path::Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
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
    data_encoding::HEXLOWER.encode(&hash.finalize())
}
