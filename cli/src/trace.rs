//! `--trace FILE`: every message, one line of JSON each.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sanswire::http::{ResponseHead, Verb};
use sanswire::jsonrpc::{MAX_DEPTH, ObjectWriter, RawJson};
use sanswire_std::{Direction, Tap};

use crate::failure::Failure;
use crate::mask::Mask;

/// The file, which all servers of a run share.
#[derive(Clone, Debug)]
pub(crate) struct TraceFile(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: Mutex<File>,
    incomplete: AtomicBool,
}

impl TraceFile {
    /// Begins the file anew; nobody but the user may read it.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let file = crate::state::private(path).map_err(|error| {
            Failure::usage(format!("the trace cannot be written to {}: {error}", path.display()))
        })?;
        Ok(Self(Arc::new(Inner { file: Mutex::new(file), incomplete: AtomicBool::new(false) })))
    }

    /// Whether something could not be written.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.0.incomplete.load(Ordering::Relaxed)
    }

    /// What writes one server's messages.
    pub(crate) fn tap(&self, server: &str, mask: Mask) -> Arc<dyn Tap> {
        Arc::new(ServerTrace { file: self.clone(), server: server.into(), mask })
    }
}

struct ServerTrace {
    file: TraceFile,
    server: String,
    mask: Mask,
}

impl ServerTrace {
    fn write(&self, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        let mut line = Vec::new();
        let mut w = ObjectWriter::begin(&mut line);
        write(&mut w);
        w.end();
        line.push(b'\n');
        // A full disk must not end a call.
        let inner = &*self.file.0;
        if inner.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line).is_err() {
            inner.incomplete.store(true, Ordering::Relaxed);
        }
    }
}

impl Tap for ServerTrace {
    fn message(&self, direction: Direction, at: Duration, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = self.mask.apply(&text);
        let message = RawJson::from_slice(text.as_bytes(), MAX_DEPTH);
        self.write(|w| {
            w.f64("at", (at.as_secs_f64() * 1e6).round() / 1e6);
            w.string("direction", if direction == Direction::Sent { "sent" } else { "received" });
            w.string("server", &self.server);
            match message.as_ref().map(RawJson::view) {
                Ok(message) => w.raw("message", message),
                // Not JSON, or cut.
                Err(_) => w.string("text", &text),
            };
        });
    }

    fn answered(&self, at: Duration, request: &Verb, head: &ResponseHead) {
        // Its fields may be secret.
        self.write(|w| {
            w.f64("at", (at.as_secs_f64() * 1e6).round() / 1e6);
            w.string("direction", "received").string("server", &self.server);
            w.string("request", request.as_str()).u64("status", head.status.into());
        });
    }

    fn lost(&self, count: u64) {
        self.write(|w| {
            w.string("server", &self.server).u64("lost", count);
        });
        self.file.0.incomplete.store(true, Ordering::Relaxed);
    }
}
