//! What records say, and that nothing else has to be known.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

use crate::Instant;
use crate::waist::{
    Admitted, Bindings, BrakeLimits, Call, End, MAX_NAME_BYTES, Record, RecordKind, Scope, Spend, Trust,
    Waist,
};

fn records(waist: &mut Waist) -> Vec<Record> {
    core::iter::from_fn(|| waist.poll_record()).collect()
}

fn trusted(action: &str) -> Call {
    let mut call = Call::new(action);
    call.trust = Trust::Trusted;
    call
}

#[test]
fn a_record_says_who_acted_for_whom_and_what_led_to_it() {
    // H-188, H-238
    let mut waist = Waist::new(Bindings { always_record: true, ..Bindings::default() }).unwrap();
    let mut call = trusted("a");
    (call.actor, call.principal) = (Some("agent 7".into()), Some("ann".into()));
    call.scope = Scope::run("r");
    let (began, ended) = (Instant::from_millis(5), Instant::from_millis(9));
    let admitted = waist.begin(&call, began).unwrap();
    let spent = Spend { tokens: 3, cost: 4 };
    waist.end(admitted, End { error: None, spent }, ended);
    waist.reset(Some("r"));
    let told = records(&mut waist);
    let kinds: Vec<_> = told.iter().map(|record| record.kind.as_str()).collect();
    assert_eq!(kinds, ["start", "end", "reset"]);
    for (n, record) in told.iter().enumerate() {
        assert_eq!((record.version, record.sequence), (1, n as u64 + 1));
        assert_eq!(record.scope.run.as_deref(), Some("r"));
    }
    for record in &told[..2] {
        assert_eq!((record.actor.as_deref(), record.principal.as_deref()), (Some("agent 7"), Some("ann")));
    }
    assert_eq!((told[0].start, told[1].start), (None, Some(1)), "the start is what led to the end");
    assert_eq!((told[0].spent, told[1].spent), (Spend::default(), spent));
    assert_eq!((told[0].at, told[1].at), (began, ended));

    let long = "n".repeat(MAX_NAME_BYTES + 1);
    let set: [fn(&mut Call, &str); 2] =
        [|call, name| call.actor = Some(name.into()), |call, name| call.principal = Some(name.into())];
    for set in set {
        let mut call = trusted("a");
        set(&mut call, &long);
        assert_eq!(waist.begin(&call, Instant::ZERO).unwrap_err().rule(), "name");
        let record = records(&mut waist).remove(0);
        let kept = record.actor.or(record.principal).unwrap();
        assert_eq!(kept.len(), MAX_NAME_BYTES, "cut, as what is remembered is bounded");
    }
}

/// What follows from records alone.
#[derive(Debug, Default)]
struct State {
    under_way: BTreeSet<u64>,
    spent: BTreeMap<Option<String>, Spend>,
    last: u64,
}

impl State {
    fn take(&mut self, record: &Record) {
        assert_eq!(record.sequence, self.last + 1, "no gap, and none twice");
        self.last = record.sequence;
        let run = record.scope.run.as_deref().map(String::from);
        match record.kind {
            RecordKind::Start => assert!(self.under_way.insert(record.sequence)),
            RecordKind::End => {
                assert!(self.under_way.remove(&record.start.expect("an end has a start")));
                let spent = self.spent.entry(run).or_default();
                spent.tokens += record.spent.tokens;
                spent.cost += record.spent.cost;
            }
            RecordKind::Reset => drop(self.spent.remove(&run)),
            RecordKind::Rejected | RecordKind::Halt => {}
        }
    }
}

proptest! {
    #[test]
    fn what_a_waist_knows_is_what_its_records_add_up_to(
        steps in prop::collection::vec((0_u8..4, 0_u8..3, 0_u64..9), 0..100),
    ) {
        // H-188
        let brakes = BrakeLimits { max_tokens: 20, ..BrakeLimits::default() };
        let mut waist = Waist::new(Bindings { brakes, ..Bindings::default() }).unwrap();
        let (mut state, mut open): (State, Vec<Admitted>) = (State::default(), Vec::new());
        let name = |run: u8| (run != 0).then(|| format!("r{run}"));
        for (what, run, tokens) in steps {
            match what {
                0 | 1 => {
                    let mut call = trusted("a");
                    call.scope.run = name(run).map(Into::into);
                    open.extend(waist.begin(&call, Instant::ZERO));
                }
                2 if !open.is_empty() => {
                    let admitted = open.swap_remove(usize::from(run) % open.len());
                    let spent = Spend { tokens, cost: tokens * 2 };
                    waist.end(admitted, End { error: None, spent }, Instant::ZERO);
                }
                _ => drop(waist.reset(name(run).as_deref())),
            }
            for record in records(&mut waist) {
                state.take(&record);
            }
            prop_assert_eq!(state.under_way.len(), open.len());
            for run in 0..3 {
                let spent = state.spent.get(&name(run)).copied().unwrap_or_default();
                prop_assert_eq!(waist.spent(name(run).as_deref()), spent);
                let halted = waist.halted(name(run).as_deref()).is_some();
                prop_assert_eq!(halted, spent.tokens >= 20, "and with the limits it says who is halted");
            }
        }
    }
}
