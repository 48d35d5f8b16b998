//! Where a recording goes: a file, or anything else that takes lines, with a bound.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sanswire::jsonrpc::ObjectWriter;

use crate::secrets::Secrets;

/// The form of the file. Raised with every change of it: 2 has clients over HTTP.
pub(super) const FORMAT: u64 = 2;
/// What the first line calls itself.
pub(super) const KIND: &str = "recording";
/// The longest line.
pub(super) const MAX_LINE: usize = 64 * 1024 * 1024;
/// What may wait for the rest of a message, of one connection.
const MAX_HELD: usize = 32 * 1024 * 1024;
/// What is kept free for the line that says that there is no more room.
const LAST_LINE: u64 = 256;

/// A recording under way: what any number of connections were given, and what they gave back. Clones share it.
///
/// Every line is written by itself, while the connection is locked: what takes them should be quick. What does not fit any
/// more ends the recording and nothing else. What comes behind a part of a message waits for the rest of it, up to 32 MiB a
/// connection; past that the recording ends, too.
#[derive(Clone)]
pub struct Recording(Arc<Mutex<Inner>>);

struct Inner {
    out: Box<dyn Write + Send>,
    /// How much may be written.
    left: u64,
    connections: u64,
    stopped: Option<RecordingStop>,
}

/// Why a recording goes on no more, though its connections may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordingStop {
    /// It is as long as it may be ([`Recording::new`]).
    Full,
    /// It could not be written.
    Failed(io::ErrorKind),
}

impl fmt::Display for RecordingStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("it is as long as it may be"),
            Self::Failed(kind) => write!(f, "it could not be written: {kind}"),
        }
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.lock();
        f.debug_struct("Recording")
            .field("connections", &inner.connections)
            .field("left", &inner.left)
            .field("stopped", &inner.stopped)
            .finish_non_exhaustive()
    }
}

impl Recording {
    /// As long as a recording should be that nobody has other plans for: 64 MiB.
    pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

    /// Begins a recording of at most `max_bytes` in `out`. What is there may hold what users and servers said: make a file
    /// that nobody else reads.
    ///
    /// # Errors
    /// The first line could not be written.
    pub fn new(out: impl Write + Send + 'static, max_bytes: u64) -> io::Result<Self> {
        let mut inner = Inner { out: Box::new(out), left: max_bytes, connections: 0, stopped: None };
        let head = line(|w| {
            w.string("sanswire", KIND).u64("format", FORMAT).string("version", env!("CARGO_PKG_VERSION"));
        });
        inner.out.write_all(&head)?;
        inner.left = inner.left.saturating_sub(head.len() as u64);
        Ok(Self(Arc::new(Mutex::new(inner))))
    }

    /// What records the connections to one server. `server` is its name in the recording; `secrets` never stand in it,
    /// neither does what is known to be secret by the name of its member or by what it looks like.
    #[must_use]
    pub fn recorder(&self, server: &str, secrets: Secrets) -> Recorder {
        Recorder {
            recording: self.clone(),
            server: server.into(),
            secrets: Arc::new(secrets),
            max_held: MAX_HELD,
        }
    }

    /// Why nothing more is recorded, if that is so.
    #[must_use]
    pub fn stopped(&self) -> Option<RecordingStop> {
        self.lock().stopped
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the next connection.
    pub(super) fn connection(&self) -> u64 {
        let mut inner = self.lock();
        inner.connections += 1;
        inner.connections - 1
    }

    /// Whether it was written.
    pub(super) fn write(&self, line: &[u8]) -> bool {
        self.lock().write(line)
    }

    /// There was no room for what waits to be written.
    pub(super) fn stop_full(&self) {
        self.lock().stop_full();
    }
}

impl Inner {
    fn write(&mut self, line: &[u8]) -> bool {
        if self.stopped.is_some() {
            return false;
        }
        if line.len() > MAX_LINE || (line.len() as u64).saturating_add(LAST_LINE) > self.left {
            self.stop_full();
            return false;
        }
        self.left -= line.len() as u64;
        if let Err(error) = self.out.write_all(line) {
            self.stopped = Some(RecordingStop::Failed(error.kind()));
        }
        self.stopped.is_none()
    }

    fn stop_full(&mut self) {
        if self.stopped.is_some() {
            return;
        }
        let last = line(|w| {
            w.string("stopped", "full");
        });
        let failed = self.out.write_all(&last).err();
        self.stopped = Some(failed.map_or(RecordingStop::Full, |error| RecordingStop::Failed(error.kind())));
    }
}

/// Records the connections to one server ([`Recording::recorder`]).
#[derive(Clone, Debug)]
pub struct Recorder {
    pub(super) recording: Recording,
    pub(super) server: Box<str>,
    pub(super) secrets: Arc<Secrets>,
    /// What may wait for the rest of a message.
    pub(super) max_held: usize,
}

impl Recorder {
    /// There is a connection that is of no kind that is recorded: `why` names it.
    pub fn passed_over(&self, why: &str) {
        let server = super::blot::blotted(&self.server, &self.secrets);
        self.recording.write(&line(|w| {
            w.string("passed_over", why).string("server", &server);
        }));
    }
}

/// One line of the file.
pub(super) fn line(write: impl FnOnce(&mut ObjectWriter<'_>)) -> Vec<u8> {
    let mut line = Vec::new();
    let mut w = ObjectWriter::begin(&mut line);
    write(&mut w);
    w.end();
    line.push(b'\n');
    line
}
