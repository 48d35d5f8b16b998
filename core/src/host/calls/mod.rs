//! Calls, from the moment they are asked for to their one end.
//!
//! ```text
//! begin ─→ decided ─ call ─→ released ─→ server can be called ─→ sent ─→ outcome ─→ finished
//!            │  │               ↑            │       ↑             │ ↑
//!            │  └ ask ─→ asked ─┘ answer     └ wait ─┘ settled     └ input asked for, resumed
//!            └ deny ─→ finished
//! ```
//!
//! - [`begin`]: which tool is meant, and what can be turned away at once.
//! - [`ask`]: the decision, and the questions that come of it. Nothing of a call reaches its server, and no server is
//!   woken for it, before it is released.
//! - [`send`]: a released call finds its server, within its own time.
//! - [`finish`]: outcomes, and every other end.
//! - [`own`]: the tools of the host's own.
//! - [`probe`]: servers that answer nothing any more.

mod ask;
mod begin;
mod finish;
mod out;
mod own;
mod probe;
mod reach;
mod request;
mod send;
mod table;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use self::ask::Asked;
use self::out::Out;
use self::probe::Probes;
pub(super) use self::reach::{Reach, Way};
pub use self::request::{CallRefused, CallRequest, Target};
use self::table::Table;
use super::catalog::Exposure;
use super::config::{CallTimeouts, HostConfig, Replay};
use super::event::{Effect, Event};
use super::mask::Mask;
use super::policy::{ApprovalHandle, Approvals, Grants, Policy, ServerPolicy, Turn};
use super::results::{Page, PageFault, PageHandle, Pages, ResultCap};
use crate::error::ConfigError;
use crate::server::Principal;
use crate::time::{Instant, Monotonic, earliest};
use crate::waist::{Tier, Trust, Waist};

/// The open calls. Each that was accepted ends in exactly one [`Event::Finished`].
#[derive(Debug)]
pub(super) struct Calls {
    policy: Policy,
    cap: ResultCap,
    mask: Mask,
    timeouts: CallTimeouts,
    replay: Replay,
    exposure: Exposure,
    /// How long a call waits for input that its server asked for.
    park: Duration,
    max_calls: usize,
    max_call_bytes: usize,
    /// How far the servers are trusted, and behind which boundary they run, for the waist.
    contained: BTreeMap<Arc<str>, (Trust, Option<Tier>)>,
    waist: Option<Box<Waist>>,
    clock: Monotonic,
    plan_mode: bool,
    approver: bool,
    closed: bool,
    turn: Turn,
    grants: Grants,
    approvals: Approvals,
    questions: BTreeMap<ApprovalHandle, Asked>,
    pages: Pages,
    probes: Probes,
    table: Table,
    out: Out,
}

impl Calls {
    pub(super) fn new(config: &HostConfig) -> Result<Self, ConfigError> {
        let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        for (field, max, got) in
            [("max_calls", 1 << 20, config.max_calls), ("max_call_bytes", 1 << 40, config.max_call_bytes)]
        {
            if got == 0 || number(got) > max {
                return Err(ConfigError { field, min: 1, max, got: number(got) });
            }
        }
        config.results.check()?;
        if config.timeouts.check().is_err() {
            return Err(ConfigError { field: "timeouts", min: 1, max: u64::MAX, got: 0 });
        }
        let mut policy = config.policy.clone();
        for (name, server) in &config.servers {
            let of = ServerPolicy { mode: server.mode, trust_annotations: server.trust_annotations };
            policy.servers.insert(String::from(&**name), of);
        }
        let contained = config.servers.iter();
        Ok(Self {
            policy,
            cap: config.results.clone(),
            mask: config.mask.clone(),
            timeouts: config.timeouts.clone(),
            replay: config.replay,
            exposure: config.exposure.clone(),
            park: config.approvals.expiry,
            max_calls: config.max_calls,
            max_call_bytes: config.max_call_bytes,
            contained: contained.map(|(name, server)| (name.clone(), (server.trust, server.tier))).collect(),
            waist: None,
            clock: Monotonic::new(Instant::ZERO),
            plan_mode: false,
            approver: false,
            closed: false,
            turn: Turn::default(),
            grants: Grants::default(),
            approvals: Approvals::new(config.approvals.clone())?,
            questions: BTreeMap::new(),
            pages: Pages::new(config.pages.clone())?,
            probes: Probes::new(config.probe.clone())?,
            table: Table::default(),
            out: Out::default(),
        })
    }

    pub(super) fn count_from(&mut self, first: u64) {
        self.table.count_from(first);
        self.approvals.count_from(first);
    }

    /// Calls pass this waist from now on, after they were let through and before they wake a server.
    pub(super) fn set_waist(&mut self, waist: Waist) {
        self.waist = Some(Box::new(waist));
    }

    pub(super) fn waist_mut(&mut self) -> Option<&mut Waist> {
        self.waist.as_deref_mut()
    }

    pub(super) fn begin_turn(&mut self) {
        self.turn.begin();
    }

    /// Lets no question go that is open.
    pub(super) const fn set_plan_mode(&mut self, on: bool) {
        self.plan_mode = on;
    }

    pub(super) const fn set_skip_prompts(&mut self, on: bool) {
        self.policy.skip_prompts = on;
    }

    pub(super) const fn grants(&self) -> &Grants {
        &self.grants
    }

    pub(super) const fn grants_mut(&mut self) -> &mut Grants {
        &mut self.grants
    }

    pub(super) fn page(
        &mut self,
        owner: &Principal,
        handle: PageHandle,
        offset: Option<usize>,
        now: Instant,
    ) -> Result<Page<'_>, PageFault> {
        let now = self.clock.advance(now);
        self.pages.page(owner, handle, offset, now)
    }

    pub(super) fn handle_timeout(&mut self, reach: &mut impl Reach, now: Instant) {
        let now = self.clock.advance(now);
        self.expire_questions(now);
        self.expire_probes(reach, now);
        while let Some(call) = self.table.due(now) {
            self.time_out(call, now);
        }
        self.pages.handle_timeout(now);
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let calls = earliest(self.table.next_deadline(), self.probes.next_deadline());
        earliest(earliest(calls, self.approvals.poll_timeout()), self.pages.poll_timeout())
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        let event = self.out.poll_event();
        event.or_else(|| self.poll_question()).or_else(|| self.out.poll_progress())
    }

    pub(super) fn poll_effect(&mut self) -> Option<Effect> {
        self.out.poll_effect()
    }

    /// Bytes that open calls, questions, kept rests and what was not taken out hold.
    pub(super) fn retained_bytes(&self) -> usize {
        let all = [
            self.table.bytes(),
            self.table.input_bytes(),
            self.approvals.bytes(),
            self.pages.bytes(),
            self.out.bytes(),
        ];
        all.into_iter().fold(0, usize::saturating_add)
    }
}
