//! How the calls of a server ask.

use std::sync::Arc;
use std::time::SystemTime;

use sanswire::server::kit::AskTerms;
use sanswire::server::state::Seal;

use crate::clock::WallClock;
use crate::os;
use crate::serve::options::ServerOptions;

/// How the calls of a server ask.
pub struct Asks {
    /// What a call is bound by that asks.
    pub terms: AskTerms,
    wall_clock: WallClock,
}

impl Default for Asks {
    fn default() -> Self {
        Self::new(&ServerOptions::default())
    }
}

impl Asks {
    /// As the options say.
    #[must_use]
    pub fn new(options: &ServerOptions) -> Self {
        let terms = AskTerms {
            seal: Seal::new(options.state_key.unwrap_or_else(os::seed)),
            lifetime: options.state_lifetime,
            limit: options.max_asks,
        };
        Self { terms, wall_clock: Arc::clone(&options.wall_clock) }
    }

    /// Seconds of the wall clock.
    #[must_use]
    pub fn now(&self) -> u64 {
        let since = (self.wall_clock)().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }
}
