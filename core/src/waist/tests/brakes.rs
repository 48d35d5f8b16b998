//! The brakes against a model that remembers everything, and what they do where two meet.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use proptest::prelude::*;

use crate::Instant;
use crate::waist::brakes::Stop;
use crate::waist::{
    Bindings, Brake, BrakeLimits, Call, End, ErrorClass, Halt, Rejection, Scope, Spend, Trust, Waist,
};

type Set<T> = fn(&mut T);
/// Name, limits, how calls end, and the brake that then refuses the next.
type Spending<'a> = (&'a str, Set<BrakeLimits>, &'a [End], Option<Brake>);

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn waist(set: impl FnOnce(&mut BrakeLimits)) -> Waist {
    let mut bindings = Bindings::default();
    set(&mut bindings.brakes);
    Waist::new(bindings).unwrap()
}

fn call(action: &str, run: Option<&str>) -> Call {
    let mut call = Call::new(action);
    call.trust = Trust::Trusted;
    call.scope.run = run.map(Into::into);
    call
}

/// Begins and ends a call; the brake that refused it, if one did.
fn once(waist: &mut Waist, call: &Call, end: End, now: Instant) -> Option<Brake> {
    match waist.begin(call, now) {
        Ok(admitted) => {
            waist.end(admitted, end, now);
            None
        }
        Err(Rejection::Halted(halt)) => Some(halt.brake),
        Err(other) => panic!("{other}"),
    }
}

const fn spending(tokens: u64, cost: u64) -> End {
    End { error: None, spent: Spend { tokens, cost } }
}

#[test]
fn the_call_that_crosses_rate_or_repeat_is_itself_refused() {
    // H-184, H-185
    let mut rate = waist(|limits| limits.max_calls = 2);
    assert_eq!(once(&mut rate, &call("a", None), End::ok(), at(0)), None);
    assert_eq!(once(&mut rate, &call("b", None), End::ok(), at(1)), None);
    assert_eq!(once(&mut rate, &call("c", None), End::ok(), at(2)), Some(Brake::Rate));
    assert_eq!(rate.halted(None), Some(Halt { brake: Brake::Rate, since: at(2) }));

    let mut repeat = waist(|limits| limits.max_repeats = 2);
    for action in ["a", "a", "b", "a", "a"] {
        assert_eq!(once(&mut repeat, &call(action, None), End::ok(), at(0)), None);
    }
    assert_eq!(once(&mut repeat, &call("a", None), End::ok(), at(0)), Some(Brake::Repeat));
    assert_eq!(once(&mut repeat, &call("b", None), End::ok(), at(0)), Some(Brake::Repeat), "sticky");
}

#[test]
fn a_call_leaves_the_window_after_its_whole_length() {
    // H-184
    for (second, refused) in [(999, true), (1000, false), (1001, false)] {
        let mut waist = waist(|limits| (limits.max_calls, limits.window) = (1, Duration::from_secs(1)));
        assert_eq!(once(&mut waist, &call("a", None), End::ok(), at(0)), None);
        let brake = once(&mut waist, &call("a", None), End::ok(), at(second));
        assert_eq!(brake.is_some(), refused, "after {second} ms");
    }
}

#[test]
fn the_same_action_on_another_subject_is_no_repeat() {
    // H-184
    let mut waist = waist(|limits| limits.max_repeats = 1);
    let mut call = call("a", None);
    for subject in [None, Some([1; 32]), Some([2; 32])] {
        call.subject = subject;
        assert_eq!(once(&mut waist, &call, End::ok(), at(0)), None);
    }
    assert_eq!(once(&mut waist, &call, End::ok(), at(0)), Some(Brake::Repeat));
}

#[test]
fn spend_and_errors_stop_the_next_call() {
    // H-184, H-185
    let failed = End::failed(ErrorClass::Transient);
    let table: [Spending<'_>; 12] = [
        ("tokens below", |l| l.max_tokens = 10, &[spending(9, 99)], None),
        ("tokens spent", |l| l.max_tokens = 10, &[spending(4, 0), spending(6, 0)], Some(Brake::Tokens)),
        ("tokens past", |l| l.max_tokens = 10, &[spending(u64::MAX, 0)], Some(Brake::Tokens)),
        ("cost below", |l| l.max_cost = 10, &[spending(99, 9)], None),
        ("cost spent", |l| l.max_cost = 10, &[spending(0, 10)], Some(Brake::Cost)),
        ("four failures are no five", |l| l.error_percent = 20, &[failed; 4], None),
        (
            "one of five",
            |l| l.error_percent = 20,
            &[End::ok(), failed, End::ok(), End::ok(), End::ok()],
            Some(Brake::Errors),
        ),
        (
            "one of five is below 21 %",
            |l| l.error_percent = 21,
            &[End::ok(), failed, End::ok(), End::ok(), End::ok()],
            None,
        ),
        ("all of five", |l| l.error_percent = 100, &[failed; 5], Some(Brake::Errors)),
        (
            "old failures are forgotten",
            |l| l.error_percent = 60,
            &[failed, failed, End::ok(), End::ok(), End::ok(), failed],
            None,
        ),
        ("cancelled is no failure", |l| l.error_percent = 1, &[End::failed(ErrorClass::Cancelled); 9], None),
        (
            "all brakes off",
            |_| (),
            &[End { error: Some(ErrorClass::Terminal), spent: Spend { tokens: u64::MAX, cost: u64::MAX } };
                50],
            None,
        ),
    ];
    for (name, set, ends, expected) in table {
        let mut waist = waist(|limits| {
            set(limits);
            limits.max_runs = 1;
        });
        for (n, end) in ends.iter().enumerate() {
            assert_eq!(once(&mut waist, &call(&format!("{n}"), None), *end, at(0)), None, "{name}, call {n}");
        }
        assert_eq!(once(&mut waist, &call("next", None), End::ok(), at(0)), expected, "{name}");
    }
}

#[test]
fn a_halt_keeps_its_first_reason_until_it_is_reset() {
    // H-185
    let mut waist = waist(|limits| (limits.max_calls, limits.max_tokens, limits.max_cost) = (2, 1, 1));
    let first = waist.begin(&call("a", None), at(0)).unwrap();
    let second = waist.begin(&call("b", None), at(0)).unwrap();
    waist.end(first, spending(0, 1), at(1));
    let halt = Halt { brake: Brake::Cost, since: at(1) };
    assert_eq!(waist.begin(&call("c", None), at(2)), Err(Rejection::Halted(halt)));
    waist.end(second, spending(5, 5), at(3));
    assert_eq!(waist.begin(&call("d", None), at(9_000_000)), Err(Rejection::Halted(halt)));
    assert_eq!(waist.spent(None), Spend { tokens: 5, cost: 6 });
    assert_eq!(waist.reset(None), Some(halt));
    assert_eq!((waist.halted(None), waist.spent(None)), (None, Spend::default()));
    assert_eq!(once(&mut waist, &call("e", None), End::ok(), at(4)), None);
}

#[test]
fn calls_of_no_run_share_one_bucket() {
    // H-186
    let mut waist = waist(|limits| limits.max_calls = 2);
    assert_eq!(once(&mut waist, &call("a", None), End::ok(), at(0)), None);
    assert_eq!(once(&mut waist, &call("a", Some("")), End::ok(), at(0)), None);
    assert_eq!(once(&mut waist, &call("a", Some("r")), End::ok(), at(0)), None);
    assert_eq!(once(&mut waist, &call("a", None), End::ok(), at(0)), Some(Brake::Rate));
    assert_eq!(waist.halted(Some("")), waist.halted(None));
    assert_eq!(once(&mut waist, &call("a", Some("r")), End::ok(), at(0)), None, "the run has its own");
}

#[test]
fn a_run_too_many_is_refused_until_another_is_reset() {
    // H-186: no run is forgotten by itself
    let mut waist = waist(|limits| (limits.max_calls, limits.max_runs) = (9, 2));
    let open = waist.begin(&call("a", Some("r1")), at(0)).unwrap();
    assert_eq!(once(&mut waist, &call("a", Some("r2")), spending(3, 0), at(0)), None);
    let refused = Err(Rejection::TooManyRuns { limit: 2 });
    assert_eq!(waist.begin(&call("a", Some("r3")), at(0)), refused);
    assert_eq!(once(&mut waist, &call("a", None), End::ok(), at(0)), None, "the shared bucket is no run");
    waist.reset(Some("r1"));
    assert_eq!(waist.begin(&call("a", Some("r3")), at(0)), refused, "a call of r1 is under way");
    waist.end(open, spending(7, 0), at(0));
    assert_eq!(waist.spent(Some("r1")).tokens, 7, "what ends after a reset is counted anew");
    assert_eq!(waist.reset(Some("never seen")), None);
    waist.reset(Some("r2"));
    assert_eq!(once(&mut waist, &call("a", Some("r3")), End::ok(), at(0)), None);
}

#[test]
fn limits_out_of_bounds_build_nothing() {
    // H-184: what is remembered is bounded
    let table: [(&str, Set<Bindings>); 8] = [
        ("max_calls", |b| b.brakes.max_calls = 10_001),
        ("window", |b| (b.brakes.max_calls, b.brakes.window) = (1, Duration::ZERO)),
        ("error_percent", |b| b.brakes.error_percent = 101),
        ("error_samples", |b| (b.brakes.error_percent, b.brakes.error_samples) = (1, 0)),
        ("error_samples", |b| b.brakes.error_samples = 1001),
        ("max_runs", |b| b.brakes.max_runs = 0),
        ("max_runs", |b| b.brakes.max_runs = 65_537),
        ("max_records", |b| b.max_records = 0),
    ];
    for (field, set) in table {
        let mut bindings = Bindings::default();
        set(&mut bindings);
        assert_eq!(Waist::new(bindings).unwrap_err().field, field);
    }
}

#[test]
fn limits_at_their_bounds_are_taken() {
    let table: [Set<BrakeLimits>; 4] = [
        |limits| (limits.max_calls, limits.window) = (10_000, Duration::from_micros(1)),
        |limits| (limits.error_percent, limits.error_samples, limits.max_runs) = (100, 1000, 65_536),
        |limits| (limits.error_percent, limits.error_samples, limits.max_runs) = (1, 1, 1),
        // What is off needs none.
        |limits| (limits.window, limits.error_samples) = (Duration::ZERO, 0),
    ];
    for set in table {
        waist(set);
    }
    for max_records in [1, 1_000_000] {
        assert!(Waist::new(Bindings { max_records, ..Bindings::default() }).is_ok());
    }
    assert!(Waist::new(Bindings { max_records: 1_000_001, ..Bindings::default() }).is_err());
}

/// Remembers every call since the reset, and looks through all of them each time.
#[derive(Default)]
struct Model {
    starts: Vec<(Instant, u8)>,
    ends: Vec<End>,
    halt: Option<Halt>,
}

impl Model {
    fn begin(&mut self, limits: &BrakeLimits, action: u8, now: Instant) -> Result<(), Halt> {
        let inside = self.starts.iter().filter(|(at, _)| at.saturating_add(limits.window) > now).count();
        let row = self.starts.iter().rev().take_while(|(_, other)| *other == action).count();
        if self.halt.is_none() && limits.max_calls != 0 && inside + 1 > limits.max_calls as usize {
            self.halt = Some(Halt { brake: Brake::Rate, since: now });
        }
        if self.halt.is_none() && limits.max_repeats != 0 && row + 1 > limits.max_repeats as usize {
            self.halt = Some(Halt { brake: Brake::Repeat, since: now });
        }
        match self.halt {
            Some(halt) => Err(halt),
            None => {
                self.starts.push((now, action));
                Ok(())
            }
        }
    }

    fn end(&mut self, limits: &BrakeLimits, end: End, now: Instant) {
        self.ends.push(end);
        let told = |end: &&End| !matches!(end.error, Some(ErrorClass::Cancelled | ErrorClass::NeedsApproval));
        let last: Vec<_> = self.ends.iter().rev().filter(told).take(limits.error_samples as usize).collect();
        let failed = last.iter().filter(|end| end.error.is_some()).count() as f64;
        let share = 100.0 * failed / last.len() as f64;
        let spent = |what: fn(&End) -> u64| self.ends.iter().map(|end| u128::from(what(end))).sum::<u128>();
        let full = last.len() == limits.error_samples as usize && told(&&end);
        let reasons = [
            (limits.error_percent != 0 && full && share >= f64::from(limits.error_percent), Brake::Errors),
            (
                limits.max_tokens != 0 && spent(|end| end.spent.tokens) >= limits.max_tokens.into(),
                Brake::Tokens,
            ),
            (limits.max_cost != 0 && spent(|end| end.spent.cost) >= limits.max_cost.into(), Brake::Cost),
        ];
        let first = reasons.into_iter().find(|(over, _)| *over).map(|(_, brake)| Halt { brake, since: now });
        self.halt = self.halt.or(first);
    }
}

#[derive(Clone, Debug)]
enum Op {
    Begin { run: Option<u8>, action: u8 },
    End { which: prop::sample::Index, error: Option<ErrorClass>, tokens: u64, cost: u64 },
    Wait(u64),
    Reset(Option<u8>),
}

fn any_op() -> impl Strategy<Value = Op> {
    let class = prop::sample::select(&[
        None,
        None,
        Some(ErrorClass::Transient),
        Some(ErrorClass::Terminal),
        Some(ErrorClass::Cancelled),
        Some(ErrorClass::NeedsApproval),
    ]);
    let run = || prop::option::of(0..3_u8);
    let spend = || prop_oneof![9 => 0..5_u64, 1 => Just(u64::MAX)];
    prop_oneof![
        6 => (run(), 0..3_u8).prop_map(|(run, action)| Op::Begin { run, action }),
        6 => (any::<prop::sample::Index>(), class, spend(), spend())
            .prop_map(|(which, error, tokens, cost)| Op::End { which, error, tokens, cost }),
        3 => (0..60_u64).prop_map(Op::Wait),
        1 => run().prop_map(Op::Reset),
    ]
}

#[test]
fn a_run_is_halted_by_hand_whatever_it_has_done() {
    // H-185
    let mut halting = waist(|limits| limits.kill_switch = true);
    let in_run = |run| call("a", Some(run));
    assert_eq!(once(&mut halting, &in_run("r"), End::ok(), at(0)), None);
    let halt = Halt { brake: Brake::Operator, since: at(1) };
    // One that has made no call yet as well.
    let runs = [Some("r"), Some("later"), None];
    for (run, now) in runs.into_iter().map(|run| (run, at(1))).chain(runs.map(|run| (run, at(2)))) {
        assert_eq!(halting.halt(run, now), Some(halt), "the first stands");
        assert_eq!(halting.halted(run), Some(halt));
    }
    for call in [in_run("r"), in_run("later"), call("a", None)] {
        assert_eq!(once(&mut halting, &call, End::ok(), at(3)), Some(Brake::Operator));
    }
    assert_eq!(once(&mut halting, &in_run("other"), End::ok(), at(3)), None);
    while halting.poll_record().is_some() {}
    assert_eq!(halting.reset(Some("r")), Some(halt));
    assert_eq!(once(&mut halting, &in_run("r"), End::ok(), at(4)), None);
    halting.halt(Some("r"), at(5));
    let told: Vec<_> = core::iter::from_fn(|| halting.poll_record()).collect();
    let told: Vec<_> =
        told.iter().map(|record| (record.kind.as_str(), &*record.action, record.rule)).collect();
    let (start, end) = (("start", "a", None), ("end", "a", None));
    assert_eq!(told, [("reset", "reset", None), start, end, ("halt", "halt", Some("operator"))]);

    let mut off = waist(|_| ());
    assert_eq!(off.halt(None, at(0)), None, "there is nothing that could");
    assert_eq!(once(&mut off, &call("a", None), End::ok(), at(0)), None);
}

prop_compose! {
    fn any_limits()(
        calls in 0..8_u32, repeats in 0..5_u32, samples in 1..7_u32, tokens in 0..40_u64, cost in 0..40_u64,
        percent in prop_oneof![Just(0), 1..=100_u8],
    ) -> BrakeLimits {
        BrakeLimits {
            max_calls: calls,
            window: Duration::from_millis(100),
            max_repeats: repeats,
            error_percent: percent,
            error_samples: samples,
            max_tokens: tokens,
            max_cost: cost,
            kill_switch: false,
            max_runs: 3,
        }
    }
}

fn name(run: Option<u8>) -> Option<String> {
    run.map(|run| format!("r{run}"))
}

proptest! {
    #[test]
    fn brakes_do_as_the_model_that_forgets_nothing(limits in any_limits(), ops in prop::collection::vec(any_op(), 0..150)) {
        // H-184, H-185, H-186: every verdict, its reason and since when; and what is held stays bounded
        let mut brakes = crate::waist::brakes::Brakes::new(limits.clone());
        let mut models: BTreeMap<Option<u8>, Model> = BTreeMap::new();
        let mut open = Vec::new();
        let mut now = Instant::ZERO;
        for op in ops {
            match op {
                Op::Begin { run, action } => {
                    let call = call(&format!("{action}"), name(run).as_deref());
                    let expected = models.entry(run).or_default().begin(&limits, action, now);
                    prop_assert_eq!(brakes.admit(&call, now), expected.map_err(Stop::Halted));
                    if expected.is_ok() {
                        open.push((run, call));
                    }
                }
                Op::End { which, error, tokens, cost } if !open.is_empty() => {
                    let (run, call) = open.swap_remove(which.index(open.len()));
                    let end = End { error, spent: Spend { tokens, cost } };
                    brakes.end(&call, &end, now);
                    models.entry(run).or_default().end(&limits, end, now);
                }
                Op::End { .. } => {}
                Op::Wait(millis) => now = now.saturating_add(Duration::from_millis(millis)),
                Op::Reset(run) => {
                    let lifted = brakes.reset(name(run).as_deref());
                    prop_assert_eq!(lifted, models.remove(&run).and_then(|model| model.halt));
                }
            }
            for run in [None, Some(0), Some(1), Some(2)] {
                let expected = models.get(&run).and_then(|model| model.halt);
                prop_assert_eq!(brakes.halted(name(run).as_deref()), expected);
            }
            let (calls, samples, runs) = brakes.held();
            prop_assert!(calls <= limits.max_calls as usize && samples <= limits.error_samples as usize && runs <= 3);
        }
    }
}

#[test]
fn a_scope_of_a_waist_is_the_run_that_is_braked() {
    // H-177, H-186
    let mut bindings = Bindings { scope: Scope::run("r"), ..Bindings::default() };
    bindings.brakes.max_calls = 1;
    let mut waist = Waist::new(bindings).unwrap();
    assert_eq!(once(&mut waist, &call("a", None), End::ok(), at(0)), None);
    assert_eq!(once(&mut waist, &call("a", None), End::ok(), at(0)), Some(Brake::Rate));
    assert_eq!((waist.halted(None), waist.halted(Some("r")).is_some()), (None, true));
}
