//! The dispatch itself: a call begins, is worked on elsewhere, and ends.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::error::ConfigError;
use crate::time::{Instant, Monotonic};
use crate::waist::brakes::{Brake, BrakeLimits, Brakes, Halt, Spend, Stop};
use crate::waist::call::{Call, End};
use crate::waist::capability::{self, Grant};
use crate::waist::containment;
use crate::waist::record::{ErrorClass, Record, RecordKind, Records, Scope, Told};
use crate::waist::rejection::Rejection;

/// A hook's refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its class.
    pub class: ErrorClass,
    /// Why, for whoever reads the refusal.
    pub why: Cow<'static, str>,
}

/// Policy of the embedder's around every governed call.
///
/// Pure: it decides from what it is given and from what it remembers, and neither waits nor asks. A panic in it
/// passes through the waist. Runtimes call it under the lock that all calls of a server need: one that calls its own
/// server (`halt`, `halted`, `spent`, `reset_halt`) waits for itself, for ever. Have another thread do that.
pub trait Hook: Send {
    /// What it is called in records.
    fn name(&self) -> &'static str;

    /// Before anything else. The call's scope is complete.
    ///
    /// # Errors
    /// The call is refused; hooks behind this one are not entered.
    fn before(&mut self, call: &Call, now: Instant) -> Result<(), Refusal>;

    /// After everything else, once for each `before`, whatever that answered.
    fn after(&mut self, call: &Call, outcome: Result<&End, &Rejection>, now: Instant) {
        let _ = (call, outcome, now);
    }
}

/// What a waist is bound by. The default binds nothing.
#[non_exhaustive]
pub struct Bindings {
    /// What may be done. None: everything.
    pub grant: Option<Arc<Grant>>,
    /// In the order they are entered in.
    pub hooks: Vec<Box<dyn Hook>>,
    /// When runs are halted.
    pub brakes: BrakeLimits,
    /// The run and goal that every call belongs to which names none itself.
    pub scope: Scope,
    /// Whether calls pass while no grant, hook or brake is bound, as a standalone server wants it. Default: yes.
    pub open_without_policy: bool,
    /// Whether records are kept though nothing else is bound. Default: no. It binds: trust and tier that were not
    /// declared count as none.
    pub always_record: bool,
    /// Records that may wait to be taken; then the oldest are lost. Default: 4096, at most 1,000,000.
    pub max_records: usize,
}

impl Default for Bindings {
    fn default() -> Self {
        Self {
            grant: None,
            hooks: Vec::new(),
            brakes: BrakeLimits::default(),
            scope: Scope::default(),
            open_without_policy: true,
            always_record: false,
            max_records: 4096,
        }
    }
}

/// Leave to do the work of one call. Goes back to the waist that gave it, in [`Waist::end`].
///
/// One that is dropped instead leaves a start without an end in the records, and its hooks entered.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a call that was admitted must end"]
pub struct Admitted {
    /// None: nothing was bound.
    governed: Option<(Call, u64)>,
}

impl Admitted {
    /// The sequence of the start record; none if nothing is bound.
    #[must_use]
    pub fn sequence(&self) -> Option<u64> {
        self.governed.as_ref().map(|(_, sequence)| *sequence)
    }
}

/// The one dispatch. See the [module](crate::waist).
pub struct Waist {
    grant: Option<Arc<Grant>>,
    hooks: Vec<Box<dyn Hook>>,
    brakes: Brakes,
    max_runs: usize,
    scope: Scope,
    open_without_policy: bool,
    always_record: bool,
    records: Records,
    clock: Monotonic,
}

impl fmt::Debug for Waist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hooks: Vec<_> = self.hooks.iter().map(|hook| hook.name()).collect();
        let waist = &mut f.debug_struct("Waist");
        waist
            .field("grant", &self.grant)
            .field("hooks", &hooks)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

impl Waist {
    /// A waist bound by `bindings`, for as long as it lives.
    ///
    /// # Errors
    /// A limit is out of its bounds.
    pub fn new(bindings: Bindings) -> Result<Self, ConfigError> {
        let Bindings { grant, hooks, brakes, scope, open_without_policy, always_record, max_records } =
            bindings;
        brakes.check()?;
        if !(1..=1_000_000).contains(&max_records) {
            let got = u64::try_from(max_records).unwrap_or(u64::MAX);
            return Err(ConfigError { field: "max_records", min: 1, max: 1_000_000, got });
        }
        let (max_runs, records) = (brakes.max_runs, Records::new(max_records));
        let (brakes, clock) = (Brakes::new(brakes), Monotonic::new(Instant::ZERO));
        Ok(Self { grant, hooks, brakes, max_runs, scope, open_without_policy, always_record, records, clock })
    }

    /// Asks for `call` to be let through. Gives one start or one rejected record, if anything is bound.
    ///
    /// O(hooks + log grant + log runs) and a few reference counts, plus what hooks do.
    ///
    /// # Errors
    /// It is refused: answer it with the reason, do not do its work, and do not end it.
    pub fn begin(&mut self, call: &Call, now: Instant) -> Result<Admitted, Rejection> {
        let now = self.clock.advance(now);
        let policy = self.has_policy() || call.grant.is_some();
        let bound = policy || self.always_record || self.scope.is_bound() || call.scope.is_bound();
        if !bound && self.open_without_policy {
            return Ok(Admitted { governed: None });
        }
        let call = Call { scope: call.scope.or(&self.scope), ..call.clone() };
        let mut entered = 0;
        let verdict = if policy || self.open_without_policy {
            self.decide(&call, now, &mut entered)
        } else {
            Err(Rejection::NoPolicy)
        };
        match verdict {
            Ok(()) => {
                let sequence = self.records.push(RecordKind::Start, &call, Told::default(), now);
                Ok(Admitted { governed: Some((call, sequence)) })
            }
            Err(rejection) => {
                let (error, rule) = (Some(rejection.class()), Some(rejection.rule()));
                let told = Told { error, rule, ..Told::default() };
                self.records.push(RecordKind::Rejected, &call, told, now);
                self.leave(entered, &call, Err(&rejection), now);
                Err(rejection)
            }
        }
    }

    fn decide(&mut self, call: &Call, now: Instant, entered: &mut usize) -> Result<(), Rejection> {
        if let Some(len) = call.too_long() {
            return Err(Rejection::NameTooLong { len });
        }
        for hook in &mut self.hooks {
            *entered += 1;
            let answer = hook.before(call, now);
            answer.map_err(|refusal| Rejection::Hook { name: hook.name(), refusal })?;
        }
        for grant in [&self.grant, &call.grant] {
            if !capability::admits(grant.as_deref(), &call.action) {
                return Err(Rejection::NotGranted);
            }
        }
        containment::check(call.trust, call.tier)
            .map_err(|(needed, offered)| Rejection::Containment { needed, offered })?;
        self.brakes.admit(call, now).map_err(|stop| match stop {
            Stop::Halted(halt) => Rejection::Halted(halt),
            Stop::TooManyRuns => Rejection::TooManyRuns { limit: self.max_runs },
        })
    }

    /// Takes back an admitted call, with what it came to. Gives one end record, if there was a start.
    pub fn end(&mut self, admitted: Admitted, outcome: End, now: Instant) {
        let now = self.clock.advance(now);
        let Some((call, start)) = admitted.governed else { return };
        let told = Told { start: Some(start), error: outcome.error, spent: outcome.spent, ..Told::default() };
        self.records.push(RecordKind::End, &call, told, now);
        self.brakes.end(&call, &outcome, now);
        self.leave(self.hooks.len(), &call, Ok(&outcome), now);
    }

    /// Leaves the first `entered` hooks, the last of them first.
    fn leave(&mut self, entered: usize, call: &Call, outcome: Result<&End, &Rejection>, now: Instant) {
        for hook in self.hooks.iter_mut().take(entered).rev() {
            hook.after(call, outcome, now);
        }
    }

    fn has_policy(&self) -> bool {
        self.grant.is_some() || !self.hooks.is_empty() || self.brakes.are_on()
    }

    /// Whether anything is bound to the waist itself: a grant, a hook, a brake, an identity or the wish for records.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.has_policy() || self.always_record || self.scope.is_bound()
    }

    /// The next record, oldest first. Whatever becomes of it, no call waits for it.
    pub fn poll_record(&mut self) -> Option<Record> {
        self.records.pop()
    }

    /// Records that were given up because too many waited.
    #[must_use]
    pub const fn lost_records(&self) -> u64 {
        self.records.lost()
    }

    /// Why the run is halted, if it is. `None` as a run: the calls that belong to none.
    #[must_use]
    pub fn halted(&self, run: Option<&str>) -> Option<Halt> {
        self.brakes.halted(run)
    }

    /// What the run has used up since it was last reset; counted only while a brake is on.
    #[must_use]
    pub fn spent(&self, run: Option<&str>) -> Spend {
        self.brakes.spent(run)
    }

    /// Halts a run by hand; returns the halt that stands, which may be an earlier one. Calls under way go on as with any
    /// brake: stopping them is the caller's. None: all brakes are off, and nothing was halted.
    pub fn halt(&mut self, run: Option<&str>, now: Instant) -> Option<Halt> {
        let now = self.clock.advance(now);
        let halt = self.brakes.halt(run, now)?;
        let mut call = Call::new("halt");
        call.scope.run = run.map(Into::into);
        let told = Told { rule: Some(Brake::Operator.as_str()), ..Told::default() };
        self.records.push(RecordKind::Halt, &call, told, now);
        Some(halt)
    }

    /// Lifts the run's halt, which it returns, and forgets what was counted. Also for a run that is over: its place
    /// among [`BrakeLimits::max_runs`] is free again, unless calls of it are still under way.
    pub fn reset(&mut self, run: Option<&str>) -> Option<Halt> {
        if self.is_bound() {
            let mut call = Call::new("reset");
            call.scope.run = run.map(Into::into);
            self.records.push(RecordKind::Reset, &call, Told::default(), self.clock.latest());
        }
        self.brakes.reset(run)
    }
}
