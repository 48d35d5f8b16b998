//! Small files in a folder that is the user's alone: whole at any moment, counted, and written by one at a time.
//!
//! - A file is replaced as a whole: what is new is written beside it, brought to the disk, and takes its name.
//!   Whenever the program or the machine stops, what is read later is the old text or the new one.
//! - Whoever writes holds the lock of the folder, from before it reads what it changes. A program that ended, in
//!   whatever way, holds no lock.
//! - A kind of file has a number and a size that it does not exceed: the oldest ones go.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How long one waits for another that writes, which takes it a moment.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is written beside a file before it takes its name. Nobody else writes meanwhile.
const NEW: &str = ".new";

/// One kind of file: its folder, and its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) folder: &'static str,
    pub(crate) max_files: usize,
    pub(crate) max_bytes: u64,
}

/// The folder of all kinds.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder at `path`, which need not be there yet. The error says why it is not used.
    pub(super) fn at(path: PathBuf) -> Result<Self, String> {
        let this = Self { path };
        match this.check(&this.path) {
            Ok(()) => Ok(this),
            Err(error) => Err(format!("{} is not used: {error}", this.path.display())),
        }
    }

    /// What others could write in is not believed; what others could read is closed to them.
    fn check(&self, path: &Path) -> io::Result<()> {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => Err(io::Error::other("it is a symbolic link")),
            Ok(found) if !found.is_dir() => Err(io::Error::other("it is no folder")),
            Ok(found) => close_to_others(path, &found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The text of a file. `None`: there is none that can be used.
    pub(super) fn read(&self, kind: Kind, name: &str) -> Option<String> {
        self.check(&self.path.join(kind.folder)).ok()?;
        let file = File::open(self.path.join(kind.folder).join(name)).ok()?;
        let found = file.metadata().ok()?;
        if !found.is_file() || !is_ours(&found) {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(kind.max_bytes + 1).read_to_end(&mut bytes).ok()?;
        // What is too long or no text is told from what is not there by whoever reads it: it makes no sense.
        bytes.truncate(usize::try_from(kind.max_bytes).unwrap_or(usize::MAX));
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// All files of a kind, by name.
    pub(super) fn names(&self, kind: Kind) -> Vec<String> {
        let mut names: Vec<String> = self.aged(kind).into_iter().map(|(_, name)| name).collect();
        names.sort_unstable();
        names
    }

    fn aged(&self, kind: Kind) -> Vec<(SystemTime, String)> {
        let folder = self.path.join(kind.folder);
        let entries = self.check(&folder).and_then(|()| fs::read_dir(folder));
        let named = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok().filter(|name| !name.starts_with('.'))?;
            let written = entry.metadata().and_then(|found| found.modified());
            Some((written.unwrap_or(SystemTime::UNIX_EPOCH), name))
        };
        entries.into_iter().flatten().filter_map(Result::ok).filter_map(named).collect()
    }

    /// Takes the lock, to change something.
    pub(super) fn lock(&self) -> io::Result<Locked<'_>> {
        self.lock_within(PATIENCE)
    }

    fn lock_within(&self, patience: Duration) -> io::Result<Locked<'_>> {
        self.make(&self.path)?;
        let lock = super::private_file(&self.path.join("lock"), false)?;
        take(&lock, patience)?;
        Ok(Locked { folder: self, _lock: lock })
    }

    fn make(&self, path: &Path) -> io::Result<()> {
        self.check(path)?;
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o700);
        }
        builder.create(path)?;
        self.check(path)
    }
}

/// The folder while nobody else changes it.
pub(super) struct Locked<'a> {
    folder: &'a Folder,
    _lock: File,
}

impl Locked<'_> {
    /// The text of a file, which nobody else changes now.
    pub(super) fn read(&self, kind: Kind, name: &str) -> Option<String> {
        self.folder.read(kind, name)
    }

    /// Replaces the text of a file. Gives the names of those that had to go for it.
    pub(super) fn write(&self, kind: Kind, name: &str, text: &str) -> io::Result<Vec<String>> {
        if text.len() as u64 > kind.max_bytes {
            return Err(io::Error::other(format!("it is longer than {} bytes", kind.max_bytes)));
        }
        let folder = self.folder.path.join(kind.folder);
        self.folder.make(&folder)?;
        let (path, new) = (folder.join(name), folder.join(NEW));
        let mut file = super::private(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        drop(file);
        fs::rename(&new, &path)?;
        let gone = self.make_room(kind, name);
        // That it has its name is to last as well.
        let _ = File::open(&folder).and_then(|folder| folder.sync_all());
        Ok(gone)
    }

    /// Removes the oldest ones over the bound, never the one of that name.
    fn make_room(&self, kind: Kind, kept: &str) -> Vec<String> {
        let mut all = self.folder.aged(kind);
        let over = all.len().saturating_sub(kind.max_files);
        all.retain(|(_, name)| name != kept);
        all.sort_unstable();
        let gone = all.into_iter().take(over).map(|(_, name)| name);
        gone.filter(|name| self.remove(kind, name)).collect()
    }

    /// Removes a file. False: there was none.
    pub(super) fn remove(&self, kind: Kind, name: &str) -> bool {
        fs::remove_file(self.folder.path.join(kind.folder).join(name)).is_ok()
    }
}

#[cfg(unix)]
fn close_to_others(path: &Path, found: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if !is_ours(found) {
        return Err(io::Error::other("it belongs to another user"));
    }
    if found.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn close_to_others(_: &Path, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn is_ours(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    found.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_ours(_: &fs::Metadata) -> bool {
    true
}

/// Waits for the lock of a file or folder, which lasts until that is closed.
#[cfg(unix)]
pub(crate) fn take_lock(lock: &File) -> io::Result<()> {
    take(lock, PATIENCE)
}

/// Waits for the lock, which lasts until the file is closed. One that is never given back is not waited for.
#[cfg(unix)]
fn take(lock: &File, patience: Duration) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    let end = Instant::now() + patience;
    loop {
        match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(io::Error::other("another sanswire holds the lock and does not let go"));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
fn take(_: &File, _: Duration) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) mod tests;
