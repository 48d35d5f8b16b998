//! What is kept while a session is not ready: the search for the era, and its two deadlines.

use alloc::boxed::Box;

use crate::client::config::Config;
use crate::client::era::{EraSearch, Step};
use crate::error::CloseReason;
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
    /// What became of an answer that was none. Told if nothing after it says more.
    unusable: Option<CloseReason>,
    pub(super) older: Older,
}

/// Whether the transport of 2024-11-05 was looked for where streamable HTTP was refused.
#[derive(Debug)]
pub(super) enum Older {
    No,
    /// It is looked for, or spoken; the newer one was refused for this.
    Tried(Box<CloseReason>),
    /// It is not there either, for this.
    Failed(Box<CloseReason>),
}

impl Opening {
    pub(super) fn start(config: &Config, now: Instant) -> (Self, Step) {
        let (search, step) = EraSearch::start(&config.start);
        let this = Self {
            search,
            started: now,
            probed_at: now,
            first_refusal: None,
            unusable: None,
            older: Older::No,
        };
        (this, step)
    }

    /// The probe or the handshake had no answer that can be used, for this.
    pub(super) fn note_unusable(&mut self, why: CloseReason) {
        self.unusable = Some(why);
    }

    /// Why no session came about. That no version was named is the server's word only if it gave an answer.
    pub(super) fn settle(&mut self, reason: CloseReason) -> CloseReason {
        if let Some(refusal) = self.first_refusal.take() {
            return CloseReason::HttpRefused(Box::new(refusal));
        }
        let named_none = matches!(&reason, CloseReason::Incompatible { supported } if supported.is_empty());
        self.unusable.take().filter(|_| named_none).unwrap_or(reason)
    }

    /// Why neither transport will do, if both were tried.
    pub(super) fn tell_of_both(&mut self, reason: CloseReason) -> CloseReason {
        if reason == CloseReason::Local {
            return reason;
        }
        match core::mem::replace(&mut self.older, Older::No) {
            Older::No => reason,
            Older::Tried(streamable) => CloseReason::NoTransport { streamable, sse: Box::new(reason) },
            Older::Failed(sse) => CloseReason::NoTransport { streamable: Box::new(reason), sse },
        }
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
