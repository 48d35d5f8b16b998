//! Records as entries of a log that is only ever appended to, and what a log says: a fold over its entries.
//!
//! An entry is one JSON object, so that a line of a file holds one. Members that a reader does not know are ignored,
//! entries of another version are refused.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;

use crate::jsonrpc::{JsonRef, RawJson};
use crate::waist::brakes::Spend;
use crate::waist::containment::Trust;
use crate::waist::record::{ErrorClass, Record, RecordKind};

/// A record, for a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// As [`Record::sequence`]. It counts within one stream: what one waist gave.
    pub sequence: u64,
    /// As [`Record::kind`].
    pub kind: RecordKind,
    /// What caused it: of an end, the sequence of its start.
    pub start: Option<u64>,
    /// When, in milliseconds since 1970 by the wall clock.
    pub at_ms: u64,
    /// What was to be done.
    pub action: String,
    /// What asked for it.
    pub actor: Option<String>,
    /// For whom it was done.
    pub principal: Option<String>,
    /// The run it belongs to.
    pub run: Option<String>,
    /// The goal of the run.
    pub goal: Option<String>,
    /// How far the work is trusted.
    pub trust: Trust,
    /// The class of the failure or of the refusal.
    pub error: Option<ErrorClass>,
    /// Of a refusal: what refused.
    pub rule: Option<String>,
    /// Of an end: what the call used up.
    pub spent: Spend,
}

/// Why a text is no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryFault {
    /// It is of this version, and another program's to read.
    Version(u64),
    /// This member is missing, or not what it has to be.
    Member(&'static str),
}

impl fmt::Display for EntryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => {
                write!(f, "the entry is of version {version}, known is {}", Record::VERSION)
            }
            Self::Member(name) => write!(f, "the entry's {name} is missing, or not what it has to be"),
        }
    }
}

impl core::error::Error for EntryFault {}

impl Entry {
    /// The entry of a record. `at_ms`: when it was, in milliseconds since 1970; the record itself knows only the
    /// embedder's clock.
    #[must_use]
    pub fn new(record: &Record, at_ms: u64) -> Self {
        let text = |name: &Option<alloc::sync::Arc<str>>| name.as_deref().map(String::from);
        Self {
            sequence: record.sequence,
            kind: record.kind,
            start: record.start,
            at_ms,
            action: (*record.action).into(),
            actor: text(&record.actor),
            principal: text(&record.principal),
            run: text(&record.scope.run),
            goal: text(&record.scope.goal),
            trust: record.trust,
            error: record.error,
            rule: record.rule.map(String::from),
            spent: record.spent,
        }
    }

    /// The entry as JSON, without a line break. What there is not is left out.
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        RawJson::object(|w| {
            w.u64("v", u64::from(Record::VERSION))
                .u64("seq", self.sequence)
                .string("kind", self.kind.as_str());
            if let Some(start) = self.start {
                w.u64("start", start);
            }
            w.u64("at_ms", self.at_ms).string("action", &self.action);
            let names = [&self.actor, &self.principal, &self.run, &self.goal];
            for (name, text) in ["actor", "principal", "run", "goal"].into_iter().zip(names) {
                if let Some(text) = text {
                    w.string(name, text);
                }
            }
            w.string("trust", self.trust.as_str());
            if let Some(error) = self.error {
                w.string("error", error.as_str());
            }
            if let Some(rule) = &self.rule {
                w.string("rule", rule);
            }
            for (name, spent) in [("tokens", self.spent.tokens), ("cost", self.spent.cost)] {
                if spent != 0 {
                    w.u64(name, spent);
                }
            }
        })
    }

    /// Reads an entry. A missing version is 1, an unknown class of error is terminal, an unknown trust is none.
    ///
    /// # Errors
    /// [`EntryFault`]
    pub fn read(entry: JsonRef<'_>) -> Result<Self, EntryFault> {
        let member = |name| entry.get(name).filter(|value| !value.is_null());
        let text = |name: &'static str| match member(name) {
            None => Ok(None),
            Some(value) => {
                value.str().map(|text| Some(text.decode().into_owned())).ok_or(EntryFault::Member(name))
            }
        };
        let number = |name: &'static str| match member(name) {
            None => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or(EntryFault::Member(name)),
        };
        let known = u64::from(Record::VERSION);
        let version = number("v")?.unwrap_or(known);
        if version != known {
            return Err(EntryFault::Version(version));
        }
        let kind = text("kind")?.and_then(|name| RecordKind::named(&name));
        Ok(Self {
            sequence: number("seq")?.ok_or(EntryFault::Member("seq"))?,
            kind: kind.ok_or(EntryFault::Member("kind"))?,
            start: number("start")?,
            at_ms: number("at_ms")?.ok_or(EntryFault::Member("at_ms"))?,
            action: text("action")?.ok_or(EntryFault::Member("action"))?,
            actor: text("actor")?,
            principal: text("principal")?,
            run: text("run")?,
            goal: text("goal")?,
            trust: text("trust")?.map_or(Trust::Untrusted, |name| Trust::named(&name)),
            error: text("error")?.map(|name| ErrorClass::from_name(&name)),
            rule: text("rule")?,
            spent: Spend {
                tokens: number("tokens")?.unwrap_or_default(),
                cost: number("cost")?.unwrap_or_default(),
            },
        })
    }
}

/// What a log says, entry by entry: one stream, in the order of its sequence.
///
/// Holds one count for each action that stands in the log, one sum for each run, and one number for each call that is
/// under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// The sequence of the last entry; 0 before the first.
    pub last: u64,
    /// Entries that are missing between those that came.
    pub missing: u64,
    /// Entries that were there before, and are not counted again.
    pub repeated: u64,
    /// What became of each action.
    pub actions: BTreeMap<String, Counts>,
    /// The starts that have no end yet, with when they were.
    pub open: BTreeMap<u64, u64>,
    /// What each run has used up since it was last reset; the calls of none stand under the empty name.
    pub spent: BTreeMap<String, Spend>,
}

/// How often an action began, and what came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Calls that were admitted.
    pub started: u64,
    /// Calls that ended well.
    pub ended: u64,
    /// Calls that ended otherwise.
    pub failed: u64,
    /// Calls that were refused.
    pub rejected: u64,
}

impl Tally {
    /// Counts one entry more.
    pub fn add(&mut self, entry: &Entry) {
        if entry.sequence <= self.last {
            self.repeated += 1;
            return;
        }
        self.missing += entry.sequence - self.last - 1;
        self.last = entry.sequence;
        let run = entry.run.as_deref().unwrap_or_default();
        match entry.kind {
            RecordKind::Start | RecordKind::End | RecordKind::Rejected => {}
            RecordKind::Halt => return,
            RecordKind::Reset => {
                self.spent.remove(run);
                return;
            }
        }
        let counts = match self.actions.get_mut(&entry.action) {
            Some(counts) => counts,
            None => self.actions.entry(entry.action.clone()).or_default(),
        };
        match entry.kind {
            RecordKind::Start => {
                counts.started += 1;
                self.open.insert(entry.sequence, entry.at_ms);
            }
            RecordKind::End => {
                *if entry.error.is_none() { &mut counts.ended } else { &mut counts.failed } += 1;
                if let Some(start) = entry.start {
                    self.open.remove(&start);
                }
                if entry.spent != Spend::default() {
                    let spent = self.spent.entry(run.into()).or_default();
                    spent.tokens = spent.tokens.saturating_add(entry.spent.tokens);
                    spent.cost = spent.cost.saturating_add(entry.spent.cost);
                }
            }
            RecordKind::Rejected => counts.rejected += 1,
            RecordKind::Halt | RecordKind::Reset => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instant;
    use crate::waist::{Bindings, Call, End, Grant, Scope, Waist};
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse_str(text).expect(text)
    }

    /// Two calls of `a`, one of which failed, one of `b`, which is refused, and one of `a` that is under way.
    fn log() -> Vec<Entry> {
        let grant = Some(Grant::of(["a"]).into());
        let bindings = Bindings { grant, scope: Scope::run("r"), ..Bindings::default() };
        let mut waist = Waist::new(bindings).expect("usable");
        let mut call = Call::new("a");
        (call.trust, call.actor) = (Trust::Trusted, Some("agent".into()));
        call.principal = Some("ann".into());
        let now = Instant::from_millis;
        let one = waist.begin(&call, now(1)).expect("granted");
        let two = waist.begin(&call, now(2)).expect("granted");
        waist.end(one, End::ok(), now(3));
        let spent = Spend { tokens: 3, cost: 0 };
        waist.end(two, End { error: Some(ErrorClass::Transient), spent }, now(4));
        waist.begin(&Call { action: "b".into(), ..call.clone() }, now(5)).expect_err("not granted");
        let _open = waist.begin(&call, now(6)).expect("granted");
        let records = core::iter::from_fn(|| waist.poll_record());
        records.map(|record| Entry::new(&record, 1000 + record.at.as_micros() / 1000)).collect()
    }

    #[test]
    fn what_was_written_is_read_back() {
        // H-188: version, who, on whose behalf and why
        let log = log();
        assert_eq!(
            log[3].to_json().as_str(),
            concat!(
                r#"{"v":1,"seq":4,"kind":"end","start":2,"at_ms":1004,"action":"a","actor":"agent","principal":"ann","run":"r","#,
                r#""trust":"trusted","error":"transient","tokens":3}"#
            )
        );
        assert!(log[4].to_json().as_str().ends_with(r#""error":"forbidden","rule":"grant"}"#));
        for entry in &log {
            assert_eq!(Entry::read(entry.to_json().view()).as_ref(), Ok(entry));
        }
    }

    #[test]
    fn an_entry_lacks_nothing_and_is_of_no_later_version() {
        // H-187, H-188
        let good =
            r#"{"seq":1,"kind":"end","at_ms":5,"action":"a","error":"of_next_year","new":[],"run":null}"#;
        let entry = Entry::read(raw(good).view()).expect(good);
        assert_eq!(
            (entry.error, entry.trust, entry.run),
            (Some(ErrorClass::Terminal), Trust::Untrusted, None)
        );
        let table = [
            (r#"{"v":2,"seq":1,"kind":"end","at_ms":5,"action":"a"}"#, EntryFault::Version(2)),
            (r#"{"v":"1","seq":1,"kind":"end","at_ms":5,"action":"a"}"#, EntryFault::Member("v")),
            (r#"{"kind":"end","at_ms":5,"action":"a"}"#, EntryFault::Member("seq")),
            (r#"{"seq":1,"kind":"begin","at_ms":5,"action":"a"}"#, EntryFault::Member("kind")),
            (r#"{"seq":1,"kind":"end","action":"a"}"#, EntryFault::Member("at_ms")),
            (r#"{"seq":1,"kind":"end","at_ms":-5,"action":"a"}"#, EntryFault::Member("at_ms")),
            (r#"{"seq":1,"kind":"end","at_ms":5}"#, EntryFault::Member("action")),
            (r#"{"seq":1,"kind":"end","at_ms":5,"action":"a","rule":{}}"#, EntryFault::Member("rule")),
            (r#"{"seq":1,"kind":"end","at_ms":5,"action":"a","cost":"1"}"#, EntryFault::Member("cost")),
            ("[]", EntryFault::Member("kind")),
        ];
        for (text, fault) in table {
            let read = Entry::read(raw(text).view());
            assert!(read == Err(fault) || text == "[]" && read.is_err(), "{text}: {read:?}");
        }
        assert!(EntryFault::Version(2).to_string().contains("version 2, known is 1"));
        assert!(EntryFault::Member("at_ms").to_string().contains("the entry's at_ms "));
    }

    #[test]
    fn a_log_says_what_happened() {
        // H-188: state is a fold over it
        let log = log();
        let mut tally = Tally::default();
        log.iter().for_each(|entry| tally.add(entry));
        let a = Counts { started: 3, ended: 1, failed: 1, rejected: 0 };
        let b = Counts { rejected: 1, ..Counts::default() };
        assert_eq!(tally.actions, BTreeMap::from([("a".into(), a), ("b".into(), b)]));
        assert_eq!((tally.last, tally.missing, tally.repeated), (6, 0, 0));
        assert_eq!(tally.open, BTreeMap::from([(6, 1006)]));
        assert_eq!(tally.spent, BTreeMap::from([("r".into(), Spend { tokens: 3, cost: 0 })]));
        let before = tally.clone();
        tally.add(&log[2]);
        assert_eq!((tally.repeated, &tally.actions), (1, &before.actions), "nothing counts twice");
        tally.add(&Entry { sequence: 7, kind: RecordKind::Reset, ..log[0].clone() });
        assert_eq!((tally.spent.len(), &tally.actions), (0, &before.actions));
        let mut holes = Tally::default();
        [1, 4].into_iter().for_each(|at| holes.add(&log[at]));
        assert_eq!((holes.missing, holes.last), (3, 5));
    }

    proptest! {
        #[test]
        fn a_fold_may_be_broken_off_and_taken_up(at in 0usize..7) {
            let log = log();
            let (mut whole, mut parts) = (Tally::default(), Tally::default());
            log.iter().for_each(|entry| whole.add(entry));
            log[..at.min(log.len())].iter().for_each(|entry| parts.add(entry));
            log.iter().for_each(|entry| parts.add(entry));
            prop_assert_eq!(parts.repeated, at.min(log.len()) as u64);
            parts.repeated = 0;
            prop_assert_eq!(parts, whole);
        }
    }
}
