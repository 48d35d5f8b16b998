//! What is kept while a session is not ready: the search for the era, and its two deadlines.

use crate::client::config::Config;
use crate::client::era::{EraSearch, Step};
use crate::exchange::HttpRefusal;
use crate::limits::Limits;
use crate::time::Instant;

/// What is kept while a session is not ready.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) search: EraSearch,
    started: Instant,
    pub(super) probed_at: Instant,
    /// What was wrong with an answer to the probe that said nothing of an era.
    pub(super) first_refusal: Option<HttpRefusal>,
}

impl Opening {
    pub(super) fn start(config: &Config, now: Instant) -> (Self, Step) {
        let (search, step) = EraSearch::start(&config.start);
        (Self { search, started: now, probed_at: now, first_refusal: None }, step)
    }

    pub(super) const fn probed(&self) -> bool {
        self.search.probed()
    }

    pub(super) const fn only_probe_open(&self) -> bool {
        self.search.only_probe_open()
    }

    pub(super) fn gives_up_at(&self, limits: &Limits) -> Instant {
        self.started.saturating_add(limits.connect)
    }

    pub(super) fn hedges_at(&self, limits: &Limits) -> Instant {
        self.probed_at.saturating_add(limits.probe_hedge)
    }

    pub(super) fn next_deadline(&self, limits: &Limits) -> Instant {
        let end = self.gives_up_at(limits);
        if self.search.wants_hedge() { end.min(self.hedges_at(limits)) } else { end }
    }
}
