//! What binds a server that is being built, and how its calls ask.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sanswire::server::Governed;
use sanswire::waist::{Bindings, Record, Tier, Trust};

use crate::serve::builder::Builder;

impl Builder {
    /// Binds the server: grant, hooks, brakes, run and goal.
    #[must_use]
    pub fn waist(mut self, bindings: Bindings) -> Self {
        self.options = self.options.with_bindings(bindings);
        self
    }

    /// Which requests pass the waist. Default: calls of tools.
    #[must_use]
    pub fn governed(mut self, governed: Governed) -> Self {
        self.options.governed = governed;
        self
    }

    /// How far the handlers are trusted, and the boundary that they work behind. Default: trusted, behind none.
    #[must_use]
    pub fn trust(mut self, trust: Trust, tier: Option<Tier>) -> Self {
        (self.options.trust, self.options.tier) = (trust, tier);
        self
    }

    /// As [`ServerOptions::with_records`](crate::ServerOptions::with_records).
    #[must_use]
    pub fn records(mut self, sink: impl FnMut(Record, SystemTime) + Send + 'static) -> Self {
        self.options = self.options.with_records(sink);
        self
    }

    /// As [`ServerOptions::with_record_log`](crate::ServerOptions::with_record_log).
    #[must_use]
    pub fn record_log(mut self, log: impl Write + Send + 'static) -> Self {
        self.options = self.options.with_record_log(log);
        self
    }

    /// As [`ServerOptions::state_key`](crate::ServerOptions::state_key).
    #[must_use]
    pub fn state_key(mut self, key: [u8; 32]) -> Self {
        self.options.state_key = Some(key);
        self
    }

    /// As [`ServerOptions::state_lifetime`](crate::ServerOptions::state_lifetime).
    #[must_use]
    pub fn state_lifetime(mut self, lifetime: Duration) -> Self {
        self.options.state_lifetime = lifetime;
        self
    }

    /// As [`ServerOptions::max_asks`](crate::ServerOptions::max_asks).
    #[must_use]
    pub fn max_asks(mut self, limit: usize) -> Self {
        self.options.max_asks = limit;
        self
    }

    /// As [`ServerOptions::wall_clock`](crate::ServerOptions::wall_clock).
    #[must_use]
    pub fn wall_clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.options.wall_clock = Arc::new(now);
        self
    }
}
