//! Records of what passed the waist and what did not, and the queue they wait in.

use alloc::collections::VecDeque;
use alloc::sync::Arc;

use crate::time::Instant;
use crate::waist::MAX_NAME_BYTES;
use crate::waist::brakes::Spend;
use crate::waist::call::Call;
use crate::waist::containment::Trust;

/// What a call belongs to. Brakes count by run; a goal is only written down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The run. None, or an empty one: all such calls share one bucket of the brakes.
    pub run: Option<Arc<str>>,
    /// The goal that the run serves.
    pub goal: Option<Arc<str>>,
}

impl Scope {
    /// The scope of a run.
    #[must_use]
    pub fn run(run: impl Into<Arc<str>>) -> Self {
        Self { run: Some(run.into()), goal: None }
    }

    pub(super) const fn is_bound(&self) -> bool {
        self.run.is_some() || self.goal.is_some()
    }

    /// This scope, and of `other` what it lacks.
    pub(super) fn or(&self, other: &Self) -> Self {
        let pick =
            |one: &Option<Arc<str>>, other: &Option<Arc<str>>| one.as_ref().or(other.as_ref()).cloned();
        Self { run: pick(&self.run, &other.run), goal: pick(&self.goal, &other.goal) }
    }

    /// The run whose bucket counts; `None` is the shared one.
    pub(super) fn bucket(&self) -> Option<&Arc<str>> {
        self.run.as_ref().filter(|run| !run.is_empty())
    }
}

/// What kind of failure it was, so far as it matters for what to do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// It may work when it is tried again.
    Transient,
    /// Trying again does not help. What is not known is taken for this.
    #[default]
    Terminal,
    /// Somebody has to allow it first.
    NeedsApproval,
    /// A limit on work or spending was reached.
    BudgetExceeded,
    /// It is not allowed.
    Forbidden,
    /// It was given up on request.
    Cancelled,
}

impl ErrorClass {
    const ALL: [Self; 6] = [
        Self::Transient,
        Self::Terminal,
        Self::NeedsApproval,
        Self::BudgetExceeded,
        Self::Forbidden,
        Self::Cancelled,
    ];

    /// Its name in records, in lower case with underscores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Terminal => "terminal",
            Self::NeedsApproval => "needs_approval",
            Self::BudgetExceeded => "budget_exceeded",
            Self::Forbidden => "forbidden",
            Self::Cancelled => "cancelled",
        }
    }

    /// The class of this name; an unknown one is terminal.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|class| class.as_str() == name).unwrap_or_default()
    }

    /// Whether it says that the work went wrong, rather than that it was not done.
    pub(super) const fn is_failure(self) -> bool {
        !matches!(self, Self::Cancelled | Self::NeedsApproval)
    }
}

/// What a [`Record`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// A call was admitted.
    Start,
    /// An admitted call is over.
    End,
    /// A call was refused.
    Rejected,
    /// A run was halted by hand. That a brake did it is told by the refusals that follow.
    Halt,
    /// A run's halt was lifted, and what was counted of it forgotten.
    Reset,
}

impl RecordKind {
    /// Its name: `start`, `end`, `rejected`, `halt` or `reset`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
            Self::Rejected => "rejected",
            Self::Halt => "halt",
            Self::Reset => "reset",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        let all = [Self::Start, Self::End, Self::Rejected, Self::Halt, Self::Reset];
        all.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// One thing that happened at the waist. A value: where it is kept is the embedder's affair.
///
/// Records are never changed or taken back. What a waist knows (which calls are under way, what each run spent) is what
/// they add up to, gaps aside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Which members there are and what they mean: [`VERSION`](Self::VERSION). Keep it with the rest.
    pub version: u16,
    /// Counts up by one from 1; a gap is a record that was lost.
    pub sequence: u64,
    /// What it tells.
    pub kind: RecordKind,
    /// Of an end: the sequence of its start.
    pub start: Option<u64>,
    /// The action, cut to [`MAX_NAME_BYTES`]. It may be the peer's text: escape it before it is shown.
    pub action: Arc<str>,
    /// The run and goal it belongs to; names cut likewise.
    pub scope: Scope,
    /// What asked for it, cut likewise.
    pub actor: Option<Arc<str>>,
    /// For whom it was done, cut likewise.
    pub principal: Option<Arc<str>>,
    /// How far the work is trusted.
    pub trust: Trust,
    /// When.
    pub at: Instant,
    /// The class of the failure or of the refusal; none if all went well.
    pub error: Option<ErrorClass>,
    /// Of a refusal: what refused. A hook's name, or one of those of
    /// [`Rejection::rule`](crate::waist::Rejection::rule).
    pub rule: Option<&'static str>,
    /// Of an end: what the call used up.
    pub spent: Spend,
}

impl Record {
    /// The version of the records that are made here.
    pub const VERSION: u16 = 1;
}

/// Records that wait to be taken. At the limit the oldest is given up for the newest, and counted.
#[derive(Debug)]
pub(super) struct Records {
    queue: VecDeque<Record>,
    limit: usize,
    sequence: u64,
    lost: u64,
}

impl Records {
    pub(super) const fn new(limit: usize) -> Self {
        Self { queue: VecDeque::new(), limit, sequence: 0, lost: 0 }
    }

    /// `told` is what becomes of `error` and `rule`, and whose start it is. Returns the record's sequence.
    pub(super) fn push(&mut self, kind: RecordKind, call: &Call, told: Told, at: Instant) -> u64 {
        self.sequence += 1;
        if self.queue.len() >= self.limit && self.queue.pop_front().is_some() {
            self.lost = self.lost.saturating_add(1);
        }
        let short = |name: &Option<Arc<str>>| name.as_ref().map(cut);
        let Told { start, error, rule, spent } = told;
        self.queue.push_back(Record {
            version: Record::VERSION,
            sequence: self.sequence,
            kind,
            start,
            action: cut(&call.action),
            scope: Scope { run: short(&call.scope.run), goal: short(&call.scope.goal) },
            actor: short(&call.actor),
            principal: short(&call.principal),
            trust: call.trust,
            at,
            error,
            rule,
            spent,
        });
        self.sequence
    }

    pub(super) fn pop(&mut self) -> Option<Record> {
        let record = self.queue.pop_front();
        if self.queue.is_empty() && self.queue.capacity() > 256 {
            self.queue = VecDeque::new();
        }
        record
    }

    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }
}

/// What only some records tell.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) start: Option<u64>,
    pub(super) error: Option<ErrorClass>,
    pub(super) rule: Option<&'static str>,
    pub(super) spent: Spend,
}

/// The name itself if it is short enough, else as much of its beginning as is.
fn cut(name: &Arc<str>) -> Arc<str> {
    if name.len() <= MAX_NAME_BYTES {
        return name.clone();
    }
    let end = (0..=MAX_NAME_BYTES).rev().find(|end| name.is_char_boundary(*end));
    end.and_then(|end| name.get(..end)).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn an_unknown_class_is_terminal() {
        // H-187
        for class in ErrorClass::ALL {
            assert_eq!(ErrorClass::from_name(class.as_str()), class);
        }
        for unknown in ["", "Transient", "timeout"] {
            assert_eq!(ErrorClass::from_name(unknown), ErrorClass::Terminal, "{unknown:?}");
        }
        assert_eq!(ErrorClass::default(), ErrorClass::Terminal);
    }

    #[test]
    fn a_full_queue_gives_up_the_oldest_and_counts_it() {
        // H-181
        let mut records = Records::new(2);
        for n in 1..=5 {
            assert_eq!(records.push(RecordKind::Start, &Call::new("a"), Told::default(), Instant::ZERO), n);
        }
        assert_eq!(records.lost(), 3);
        let left: Vec<_> = core::iter::from_fn(|| records.pop()).map(|record| record.sequence).collect();
        assert_eq!(left, [4, 5]);
    }

    #[test]
    fn what_many_records_took_is_given_back_and_what_few_take_is_kept() {
        let mut records = Records::new(10_000);
        for (count, keeps) in [(100, true), (10_000, false), (256, true)] {
            for _ in 0..count {
                records.push(RecordKind::Start, &Call::new("a"), Told::default(), Instant::ZERO);
            }
            while records.pop().is_some() {}
            assert_eq!(records.queue.capacity() >= count, keeps, "{count} records");
        }
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let exact: Arc<str> = "x".repeat(MAX_NAME_BYTES).into();
        assert!(Arc::ptr_eq(&cut(&exact), &exact), "shared, not copied");
        assert_eq!(cut(&"é".repeat(MAX_NAME_BYTES).into()).len(), MAX_NAME_BYTES);
        assert_eq!(cut(&"€".repeat(MAX_NAME_BYTES).into()).len(), MAX_NAME_BYTES - 1);
    }

    #[test]
    fn a_scope_is_filled_up_but_not_overruled() {
        // H-177
        let waist = Scope { run: Some("r".into()), goal: Some("g".into()) };
        assert_eq!(Scope::default().or(&waist), waist);
        assert_eq!(Scope::run("own").or(&waist), Scope { run: Some("own".into()), goal: Some("g".into()) });
    }
}
