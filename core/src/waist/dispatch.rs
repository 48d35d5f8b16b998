//! The dispatch itself: a call begins, is worked on elsewhere, and ends.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::error::ConfigError;
use crate::time::{Instant, Monotonic};
use crate::waist::MAX_NAME_BYTES;
use crate::waist::brakes::{BrakeLimits, Brakes, Halt, Spend, Stop};
use crate::waist::capability::{self, Grant};
use crate::waist::containment::{self, Tier, Trust};
use crate::waist::record::{ErrorClass, Record, RecordKind, Records, Scope, Told};

/// A call that asks to be let through.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// What is to be done, as grants name it.
    pub action: Arc<str>,
    /// What it is done to, as a hash: two calls are the same if action and subject are. None: the action alone
    /// says.
    pub subject: Option<[u8; 32]>,
    /// On whose behalf. What it lacks is taken from [`Bindings::scope`].
    pub scope: Scope,
    /// How far the work is trusted. Default: not at all.
    pub trust: Trust,
    /// The boundary that the work is done behind, if it was declared.
    pub tier: Option<Tier>,
    /// A grant that binds this call besides the waist's.
    pub grant: Option<Arc<Grant>>,
}

impl Call {
    /// A call of `action` with nothing declared or bound.
    pub fn new(action: impl Into<Arc<str>>) -> Self {
        let (scope, trust) = (Scope::default(), Trust::default());
        Self { action: action.into(), subject: None, scope, trust, tier: None, grant: None }
    }

    /// The first name that is too long, in bytes.
    fn too_long(&self) -> Option<usize> {
        let names = [Some(&self.action), self.scope.run.as_ref(), self.scope.goal.as_ref()];
        names.into_iter().flatten().map(|name| name.len()).find(|len| *len > MAX_NAME_BYTES)
    }
}

/// What a call came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The class of its failure; none if it went well. A failure that nobody can name is
    /// [`ErrorClass::Terminal`].
    pub error: Option<ErrorClass>,
    /// What it used up.
    pub spent: Spend,
}

impl End {
    /// It went well and cost nothing.
    #[must_use]
    pub const fn ok() -> Self {
        Self { error: None, spent: Spend { tokens: 0, cost: 0 } }
    }

    /// It failed and cost nothing.
    #[must_use]
    pub const fn failed(class: ErrorClass) -> Self {
        Self { error: Some(class), ..Self::ok() }
    }
}

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
/// passes through the waist.
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

/// A call was refused. Its work must not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// No grant, hook or brake is bound, and the waist is not open without policy.
    NoPolicy,
    /// A name in the call is longer than [`MAX_NAME_BYTES`].
    NameTooLong {
        /// Its bytes.
        len: usize,
    },
    /// A hook refused.
    Hook {
        /// Its name.
        name: &'static str,
        /// What it said.
        refusal: Refusal,
    },
    /// A grant is bound that does not name the action.
    NotGranted,
    /// The boundary is too weak for how far the work is trusted.
    Containment {
        /// The weakest tier that would do.
        needed: Tier,
        /// The declared one; the weakest if none was.
        offered: Tier,
    },
    /// The run is halted, by this call or before it. Until [`Waist::reset`].
    Halted(Halt),
    /// So many runs are counted already. Reset those that are over.
    TooManyRuns {
        /// [`BrakeLimits::max_runs`].
        limit: usize,
    },
}

impl Rejection {
    /// The class of error that it is.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Hook { refusal, .. } => refusal.class,
            Self::NoPolicy | Self::NotGranted | Self::Containment { .. } => ErrorClass::Forbidden,
            Self::Halted(_) | Self::TooManyRuns { .. } => ErrorClass::BudgetExceeded,
            Self::NameTooLong { .. } => ErrorClass::Terminal,
        }
    }

    /// What refused, for records: the hook's name, the brake's, or `policy`, `name`, `grant`, `containment`, `runs`.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::NoPolicy => "policy",
            Self::NameTooLong { .. } => "name",
            Self::Hook { name, .. } => name,
            Self::NotGranted => "grant",
            Self::Containment { .. } => "containment",
            Self::Halted(halt) => halt.brake.as_str(),
            Self::TooManyRuns { .. } => "runs",
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPolicy => f.write_str("no policy is bound; bind a grant or open the waist"),
            Self::NameTooLong { len } => write!(f, "a name has {len} bytes, the limit is {MAX_NAME_BYTES}"),
            Self::Hook { name, refusal } => write!(f, "refused by {name}: {}", refusal.why),
            Self::NotGranted => f.write_str("the grant does not name this action"),
            Self::Containment { needed, offered } => {
                write!(
                    f,
                    "the work needs a boundary of tier {}, it has {}",
                    needed.as_str(),
                    offered.as_str()
                )
            }
            Self::Halted(halt) => {
                write!(f, "the run is halted ({}); it goes on after a reset", halt.brake.as_str())
            }
            Self::TooManyRuns { limit } => {
                write!(f, "{limit} runs are counted already (max_runs); reset those that are over")
            }
        }
    }
}

impl core::error::Error for Rejection {}

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
        let Bindings { grant, hooks, brakes, scope, open_without_policy, max_records } = bindings;
        brakes.check()?;
        if !(1..=1_000_000).contains(&max_records) {
            let got = u64::try_from(max_records).unwrap_or(u64::MAX);
            return Err(ConfigError { field: "max_records", min: 1, max: 1_000_000, got });
        }
        let (max_runs, records) = (brakes.max_runs, Records::new(max_records));
        let (brakes, clock) = (Brakes::new(brakes), Monotonic::new(Instant::ZERO));
        Ok(Self { grant, hooks, brakes, max_runs, scope, open_without_policy, records, clock })
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
        let bound = policy || self.scope.is_bound() || call.scope.is_bound();
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
                let told = Told { start: None, error: Some(rejection.class()), rule: Some(rejection.rule()) };
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
        let told = Told { start: Some(start), error: outcome.error, rule: None };
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

    /// Whether anything is bound to the waist itself: a grant, a hook, a brake or an identity.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.has_policy() || self.scope.is_bound()
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

    /// Lifts the run's halt, which it returns, and forgets what was counted. Also for a run that is over: its place
    /// among [`BrakeLimits::max_runs`] is free again, unless calls of it are still under way.
    pub fn reset(&mut self, run: Option<&str>) -> Option<Halt> {
        self.brakes.reset(run)
    }
}
