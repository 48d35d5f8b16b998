//! Whether a request is still wanted, for whoever plays a runtime.

use std::sync::atomic::{AtomicBool, Ordering};

use sanswire::server::kit::Cancel;

/// Whether a request is still wanted.
#[derive(Debug, Default)]
pub struct Flag(AtomicBool);

impl Cancel for Flag {
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Flag {
    /// Whether it is not.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
