//! A runtime's clock: the one place that asks the system for the time.

use std::sync::Arc;
use std::time::{Duration, Instant as SystemInstant, SystemTime};

use sanswire::Instant;

/// What time it is, by the wall clock.
pub type WallClock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Instants since the moment this clock was made.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: SystemInstant,
}

impl Clock {
    /// A clock that begins now.
    #[must_use]
    pub fn start() -> Self {
        Self { epoch: SystemInstant::now() }
    }

    /// How long it has run.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// The present instant, for the machines.
    #[must_use]
    pub fn now(&self) -> Instant {
        let elapsed = self.epoch.elapsed();
        Instant::from_micros(elapsed.as_secs() * 1_000_000 + u64::from(elapsed.subsec_micros()))
    }

    /// The instant `after` from now on.
    #[must_use]
    pub fn later(&self, after: Duration) -> Instant {
        self.now().saturating_add(after)
    }
}
