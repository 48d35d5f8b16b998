//! The file that all servers of a host write their stderr to.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sanswire::host::Mask;

use crate::os;
use crate::stderr::escaped;

/// What the file may hold unless set otherwise.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A log of what servers write to stderr, one file for all of them.
///
/// A line is `[server] text`: control characters and what turns the direction of writing are escaped, secrets that are
/// known are hidden, and what is beyond 4096 characters is cut. Known is what [`set_mask`](Self::set_mask) says, or
/// else the first host whose servers write here. One server gets 1 MiB at once and 256 KiB a second from then on; what
/// is left out is counted, in the log too.
///
/// The file is created with the first line, for its owner alone (0600), its folders for all to read (0755); one that is
/// there is added to. It may be a regular file only, no link. A full one is renamed to end in `.1`, in place of the one
/// before, so that twice [`max_bytes`](Self::max_bytes) is held. One process at a time may write it.
///
/// Nothing that goes wrong with it ends a server or a connection: the lines are counted and [`stats`](Self::stats) says
/// why. A file that could not be opened is tried again with the next server that starts.
pub struct StderrLog {
    path: PathBuf,
    max_bytes: u64,
    /// `None`: none was set.
    mask: Mutex<Option<Arc<Mask>>>,
    writing: Mutex<Writing>,
}

#[derive(Debug, Default)]
struct Writing {
    file: Option<File>,
    /// What the file holds.
    len: u64,
    /// The last write ended within a line.
    torn: bool,
    /// It could not be opened, and is not tried for every line.
    given_up: bool,
    stats: StderrLogStats,
}

/// What became of the lines that servers wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StderrLogStats {
    /// Lines in the log, those included that say how many are missing.
    pub lines: u64,
    /// Lines that a server wrote faster than it may.
    pub left_out: u64,
    /// Lines that could not be written.
    pub failed: u64,
    /// How often a full file was put aside.
    pub rotated: u64,
    /// Why the last write that failed did, and what to do. Stays when later ones work.
    pub fault: Option<String>,
}

impl StderrLog {
    /// The log at this path.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let (mask, writing) = (Mutex::default(), Mutex::default());
        Self { path: path.into(), max_bytes: MAX_BYTES, mask, writing }
    }

    /// The log that belongs to a session's log: at that path, with `-mcp` before the extension, which is `.log` if the
    /// path has none. `run/7.jsonl` gives `run/7-mcp.jsonl`.
    #[must_use]
    pub fn beside(session_log: impl AsRef<Path>) -> Self {
        let path = session_log.as_ref();
        let mut name = path.file_stem().map_or_else(OsString::new, OsString::from);
        name.push("-mcp.");
        name.push(path.extension().filter(|extension| !extension.is_empty()).unwrap_or("log".as_ref()));
        // A path without a last part has no stem either: then it is a folder.
        Self::at(if path.file_name().is_some() { path.with_file_name(name) } else { path.join(name) })
    }

    /// How much one file may hold. 16 MiB if it is not set.
    #[must_use]
    pub const fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Hides these secrets in lines that are finished from now on, in place of those before. An empty mask counts: a
    /// host that writes here sets its own only if none was set.
    pub fn set_mask(&self, mask: Mask) {
        *self.mask.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(mask));
    }

    /// Where it is written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What became of the lines so far.
    #[must_use]
    pub fn stats(&self) -> StderrLogStats {
        self.writing().stats.clone()
    }

    /// A server starts that will write here.
    pub(crate) fn attach(&self) {
        self.writing().given_up = false;
    }

    pub(crate) fn mask(&self) -> Arc<Mask> {
        self.mask.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    /// Appends whole lines. So many more were left out.
    pub(crate) fn write(&self, mut text: &str, left_out: u64) {
        if text.is_empty() && left_out == 0 {
            return;
        }
        let mut writing = self.writing();
        writing.stats.left_out += left_out;
        while !text.is_empty() {
            let (took, wrote) = self.append(&mut writing, text);
            let (done, rest) = text.split_at(took);
            let lines = done.matches('\n').count() as u64;
            match wrote {
                Ok(()) => writing.stats.lines += lines,
                Err(error) => {
                    writing.stats.failed += lines;
                    let path = escaped(&self.path.to_string_lossy()).replace('\n', "\\n");
                    writing.stats.fault = Some(format!(
                        "the servers' log {path} cannot be written ({error}); make room for it, or choose another path"
                    ));
                }
            }
            text = rest;
        }
    }

    /// Appends as many lines as fit into the file, or the next one if none does. How many bytes were dealt with.
    fn append(&self, writing: &mut Writing, text: &str) -> (usize, io::Result<()>) {
        let first = text.find('\n').map_or(text.len(), |end| end + 1);
        if first as u64 > self.max_bytes {
            return (first, Err(io::Error::other("a line is longer than the log may be")));
        }
        if let Err(error) = self.open(writing, first) {
            return (text.len(), Err(error));
        }
        let room = self.max_bytes.saturating_sub(writing.len);
        let fits = text.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let fits = text.as_bytes().get(..fits).unwrap_or_default();
        let fits = fits.iter().rposition(|byte| *byte == b'\n').map_or(first, |end| end + 1);
        (fits, writing.put(text.as_bytes().get(..fits).unwrap_or_default()))
    }

    /// Opens the file if it is not open, and begins another one if it has no room for `len` bytes.
    fn open(&self, writing: &mut Writing, len: usize) -> io::Result<()> {
        if writing.given_up {
            return Err(io::Error::other("it could not be opened before"));
        }
        if writing.file.is_none() {
            self.open_at(writing).inspect_err(|_| writing.given_up = true)?;
        }
        if writing.len > 0 && writing.len.saturating_add(len as u64) > self.max_bytes {
            let mut aside = self.path.clone().into_os_string();
            aside.push(".1");
            // Not every system renames what is open.
            writing.file = None;
            let renamed = std::fs::rename(&self.path, aside);
            self.open_at(writing).inspect_err(|_| writing.given_up = true)?;
            renamed?;
            writing.stats.rotated += 1;
        }
        Ok(())
    }

    fn open_at(&self, writing: &mut Writing) -> io::Result<()> {
        let file = os::open_log(&self.path)?;
        writing.len = file.metadata()?.len();
        writing.file = Some(file);
        Ok(())
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As [`StderrLog::set_mask`], if none was set: what a host does.
pub fn set_first_mask(log: &StderrLog, mask: &Mask) {
    let mut set = log.mask.lock().unwrap_or_else(PoisonError::into_inner);
    set.get_or_insert_with(|| Arc::new(mask.clone()));
}

impl Writing {
    fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Err(io::ErrorKind::NotFound.into()) };
        if self.torn {
            file.write_all(b"\n")?;
            self.len += 1;
            self.torn = false;
        }
        while !bytes.is_empty() {
            match file.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => {
                    self.len += len as u64;
                    bytes = bytes.get(len..).unwrap_or_default();
                    self.torn = !bytes.is_empty();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl fmt::Debug for StderrLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StderrLog").field("path", &self.path).finish_non_exhaustive()
    }
}
