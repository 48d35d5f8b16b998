//! Brakes: what stops a run that has run away.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use core::time::Duration;

use crate::error::ConfigError;
use crate::time::Instant;
use crate::waist::call::{Call, End};

/// When a run is halted. A limit of zero is a brake that is off; by default all are.
///
/// Only calls that got as far as the brakes count. A halt refuses further calls; those under way go on and are still
/// counted, so that many at once may spend more than a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrakeLimits {
    /// Calls within any [`window`](Self::window). The call that would be one more is refused and halts the run.
    /// At most 10,000: each is remembered.
    pub max_calls: u32,
    /// How long a call counts. Default: 60 s.
    pub window: Duration,
    /// The same call in a row: same action and same [`subject`](Call::subject). The call that would be one more is
    /// refused and halts the run.
    pub max_repeats: u32,
    /// Percent of the last [`error_samples`](Self::error_samples) calls. When as many failed, the next call is
    /// refused.
    pub error_percent: u8,
    /// How many calls the share of failures is taken of. Nothing is said of fewer. Default: 5, at most 1000.
    pub error_samples: u32,
    /// Tokens in all. Once they are spent, the next call is refused.
    pub max_tokens: u64,
    /// Cost in all, in a unit of the embedder's. Once it is spent, the next call is refused.
    pub max_cost: u64,
    /// Whether a run can be halted by hand ([`Waist::halt`](crate::waist::Waist::halt)), as every run can be while
    /// another brake is on.
    pub kill_switch: bool,
    /// Runs that are counted at once. Calls of one run more are refused until another is
    /// [reset](crate::waist::Waist::reset): to forget a run by itself would take its brakes off. Default: 1024, at
    /// most 65,536.
    pub max_runs: usize,
}

impl Default for BrakeLimits {
    fn default() -> Self {
        Self {
            max_calls: 0,
            window: Duration::from_secs(60),
            max_repeats: 0,
            error_percent: 0,
            error_samples: 5,
            max_tokens: 0,
            max_cost: 0,
            kill_switch: false,
            max_runs: 1024,
        }
    }
}

impl BrakeLimits {
    pub(super) const fn any(&self) -> bool {
        self.max_calls != 0
            || self.max_repeats != 0
            || self.error_percent != 0
            || self.max_tokens != 0
            || self.max_cost != 0
            || self.kill_switch
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let window = u64::try_from(self.window.as_micros()).unwrap_or(u64::MAX);
        let bounds = [
            ("max_calls", 0, 10_000, u64::from(self.max_calls)),
            ("window", u64::from(self.max_calls != 0), u64::MAX, window),
            ("error_percent", 0, 100, u64::from(self.error_percent)),
            ("error_samples", u64::from(self.error_percent != 0), 1000, u64::from(self.error_samples)),
            ("max_runs", 1, 65_536, u64::try_from(self.max_runs).unwrap_or(u64::MAX)),
        ];
        let wrong = bounds.into_iter().find(|(_, min, max, got)| got < min || got > max);
        wrong.map_or(Ok(()), |(field, min, max, got)| Err(ConfigError { field, min, max, got }))
    }
}

/// Which brake halted a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Brake {
    /// Too many calls in a window.
    Rate,
    /// The same call too often in a row.
    Repeat,
    /// Too many of the last calls failed.
    Errors,
    /// The tokens are spent.
    Tokens,
    /// The money is spent.
    Cost,
    /// Somebody halted it by hand.
    Operator,
}

impl Brake {
    /// Its name: `rate`, `repeat`, `errors`, `tokens`, `cost` or `operator`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Repeat => "repeat",
            Self::Errors => "errors",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Operator => "operator",
        }
    }
}

/// Why and since when a run is halted: the first reason, whatever came later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halt {
    /// The brake.
    pub brake: Brake,
    /// When it tripped.
    pub since: Instant,
}

/// What a call used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spend {
    /// Tokens.
    pub tokens: u64,
    /// Cost, in the embedder's unit.
    pub cost: u64,
}

/// Why the brakes refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Halted(Halt),
    TooManyRuns,
}

/// What is counted of one run.
#[derive(Debug, Default)]
struct Bucket {
    /// The calls of the last window, oldest first.
    calls: VecDeque<Instant>,
    last: Option<(Arc<str>, Option<[u8; 32]>)>,
    repeats: u32,
    /// Whether each of the last calls failed.
    samples: VecDeque<bool>,
    spent: Spend,
    /// Calls that have not ended: their bucket stays.
    open: usize,
    halt: Option<Halt>,
}

impl Bucket {
    /// Counts a call, unless it crosses a limit.
    fn admit(&mut self, limits: &BrakeLimits, call: &Call, now: Instant) -> Result<(), Halt> {
        if let Some(halt) = self.halt {
            return Err(halt);
        }
        while self.calls.front().is_some_and(|at| now.saturating_since(*at) >= limits.window) {
            self.calls.pop_front();
        }
        let rate = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
        if limits.max_calls != 0 && rate >= limits.max_calls {
            return Err(self.trip(Brake::Rate, now));
        }
        let same = self
            .last
            .as_ref()
            .is_some_and(|(action, subject)| **action == *call.action && *subject == call.subject);
        let repeats = if same { self.repeats.saturating_add(1) } else { 1 };
        if limits.max_repeats != 0 && repeats > limits.max_repeats {
            return Err(self.trip(Brake::Repeat, now));
        }
        self.repeats = repeats;
        if limits.max_repeats != 0 && !same {
            self.last = Some((call.action.clone(), call.subject));
        }
        if limits.max_calls != 0 {
            self.calls.push_back(now);
        }
        self.open += 1;
        Ok(())
    }

    /// Counts what a call came to.
    fn end(&mut self, limits: &BrakeLimits, end: &End, now: Instant) {
        self.open = self.open.saturating_sub(1);
        self.spent.tokens = self.spent.tokens.saturating_add(end.spent.tokens);
        self.spent.cost = self.spent.cost.saturating_add(end.spent.cost);
        let failed = end.error.is_some_and(|class| class.is_failure());
        if limits.error_percent != 0 && (end.error.is_none() || failed) {
            self.samples.push_back(failed);
            let wanted = usize::try_from(limits.error_samples).unwrap_or(usize::MAX);
            if self.samples.len() > wanted {
                self.samples.pop_front();
            }
            let failures = self.samples.iter().filter(|failed| **failed).count();
            if self.samples.len() >= wanted && failures * 100 >= usize::from(limits.error_percent) * wanted {
                self.trip(Brake::Errors, now);
            }
        }
        if limits.max_tokens != 0 && self.spent.tokens >= limits.max_tokens {
            self.trip(Brake::Tokens, now);
        }
        if limits.max_cost != 0 && self.spent.cost >= limits.max_cost {
            self.trip(Brake::Cost, now);
        }
    }

    /// Halts, if it is not halted yet. Returns the reason that stands.
    fn trip(&mut self, brake: Brake, now: Instant) -> Halt {
        *self.halt.get_or_insert(Halt { brake, since: now })
    }
}

/// All buckets: one a run, and one for the calls of no run.
#[derive(Debug)]
pub(super) struct Brakes {
    limits: BrakeLimits,
    on: bool,
    shared: Bucket,
    runs: BTreeMap<Arc<str>, Bucket>,
}

impl Brakes {
    pub(super) fn new(limits: BrakeLimits) -> Self {
        Self { on: limits.any(), limits, shared: Bucket::default(), runs: BTreeMap::new() }
    }

    pub(super) const fn are_on(&self) -> bool {
        self.on
    }

    pub(super) fn admit(&mut self, call: &Call, now: Instant) -> Result<(), Stop> {
        if !self.on {
            return Ok(());
        }
        let bucket = match call.scope.bucket() {
            None => &mut self.shared,
            Some(run) if self.runs.contains_key(run) || self.runs.len() < self.limits.max_runs => {
                self.runs.entry(run.clone()).or_default()
            }
            Some(_) => return Err(Stop::TooManyRuns),
        };
        bucket.admit(&self.limits, call, now).map_err(Stop::Halted)
    }

    pub(super) fn end(&mut self, call: &Call, end: &End, now: Instant) {
        if !self.on {
            return;
        }
        let bucket = match call.scope.bucket() {
            None => Some(&mut self.shared),
            Some(run) => self.runs.get_mut(run),
        };
        if let Some(bucket) = bucket {
            bucket.end(&self.limits, end, now);
        }
    }

    /// Halts a run, whether or not it is counted yet.
    pub(super) fn halt(&mut self, run: Option<&str>, now: Instant) -> Option<Halt> {
        let bucket = match run.filter(|run| !run.is_empty()) {
            _ if !self.on => return None,
            None => &mut self.shared,
            Some(run) => self.runs.entry(run.into()).or_default(),
        };
        Some(bucket.trip(Brake::Operator, now))
    }

    /// Forgets all that was counted. The place of a run is free again if no call of it is under way.
    pub(super) fn reset(&mut self, run: Option<&str>) -> Option<Halt> {
        let bucket = match run.filter(|run| !run.is_empty()) {
            None => &mut self.shared,
            Some(run) if self.runs.get(run)?.open == 0 => return self.runs.remove(run)?.halt,
            Some(run) => self.runs.get_mut(run)?,
        };
        let open = bucket.open;
        core::mem::replace(bucket, Bucket { open, ..Bucket::default() }).halt
    }

    fn bucket(&self, run: Option<&str>) -> Option<&Bucket> {
        match run.filter(|run| !run.is_empty()) {
            None => Some(&self.shared),
            Some(run) => self.runs.get(run),
        }
    }

    pub(super) fn halted(&self, run: Option<&str>) -> Option<Halt> {
        self.bucket(run)?.halt
    }

    pub(super) fn spent(&self, run: Option<&str>) -> Spend {
        self.bucket(run).map_or(Spend::default(), |bucket| bucket.spent)
    }

    /// The most instants and flags that any bucket holds, and the number of buckets of runs.
    #[cfg(test)]
    pub(super) fn held(&self) -> (usize, usize, usize) {
        let all = || self.runs.values().chain([&self.shared]);
        let most = |len: fn(&Bucket) -> usize| all().map(len).max().unwrap_or(0);
        (most(|bucket| bucket.calls.len()), most(|bucket| bucket.samples.len()), self.runs.len())
    }
}
