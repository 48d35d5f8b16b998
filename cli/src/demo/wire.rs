//! Standard output, one message at a time.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use sanswire::jsonrpc;

/// The way out. A reader that is gone is no error: there is just nobody left to serve.
#[derive(Default)]
pub(super) struct Wire {
    broken: AtomicBool,
}

impl Wire {
    /// Writes one message as one line.
    pub(super) fn send(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut line = Vec::with_capacity(256);
        write(&mut line);
        jsonrpc::finish_line(&mut line);
        let mut out = io::stdout().lock();
        if out.write_all(&line).and_then(|()| out.flush()).is_err() {
            self.broken.store(true, Ordering::Relaxed);
        }
    }

    /// Whether nobody reads any more.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }
}
