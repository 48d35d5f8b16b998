//! The order of things, what each refusal is called, and the promises over any run of calls.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

extern crate std;
use std::sync::Mutex;

use crate::Instant;
use crate::waist::{
    Admitted, Bindings, Call, End, ErrorClass, Grant, Hook, MAX_NAME_BYTES, RecordKind, Refusal, Rejection,
    Scope, Tier, Trust, Waist,
};

const NOW: Instant = Instant::from_millis(5);

type Set = fn(&mut Bindings);
type Log = Arc<Mutex<Vec<String>>>;

/// Writes down when it is entered and left; refuses actions that begin with its name.
struct Witness {
    name: &'static str,
    log: Log,
}

impl Hook for Witness {
    fn name(&self) -> &'static str {
        self.name
    }

    fn before(&mut self, call: &Call, _: Instant) -> Result<(), Refusal> {
        self.log.lock().unwrap().push(format!("+{}", self.name));
        if call.action.starts_with(self.name) {
            return Err(Refusal { class: ErrorClass::NeedsApproval, why: "no".into() });
        }
        Ok(())
    }

    fn after(&mut self, _: &Call, outcome: Result<&End, &Rejection>, _: Instant) {
        let sign = if outcome.is_ok() { '-' } else { '!' };
        self.log.lock().unwrap().push(format!("{sign}{}", self.name));
    }
}

fn witnesses(names: &[&'static str], log: &Log) -> Vec<Box<dyn Hook>> {
    let hook = |name: &&'static str| Box::new(Witness { name, log: log.clone() }) as Box<dyn Hook>;
    names.iter().map(hook).collect()
}

fn trusted(action: &str) -> Call {
    let mut call = Call::new(action);
    call.trust = Trust::Trusted;
    call
}

fn bound(set: impl FnOnce(&mut Bindings)) -> Waist {
    let mut bindings = Bindings::default();
    set(&mut bindings);
    Waist::new(bindings).unwrap()
}

fn kinds(waist: &mut Waist) -> Vec<RecordKind> {
    core::iter::from_fn(|| waist.poll_record()).map(|record| record.kind).collect()
}

#[test]
fn hooks_are_left_in_reverse_by_those_entered_after_a_rejection_too() {
    // H-180
    let table: [(&str, bool, &[&str]); 6] = [
        ("work", true, &["+a", "+b", "+c", "-c", "-b", "-a"]),
        ("a", false, &["+a", "!a"]),
        ("b", false, &["+a", "+b", "!b", "!a"]),
        ("c", false, &["+a", "+b", "+c", "!c", "!b", "!a"]),
        ("not granted", false, &["+a", "+b", "+c", "!c", "!b", "!a"]),
        (&"x".repeat(MAX_NAME_BYTES + 1), false, &[]),
    ];
    for (action, passes, expected) in table {
        let log = Log::default();
        let mut waist = bound(|bindings| {
            bindings.hooks = witnesses(&["a", "b", "c"], &log);
            bindings.grant = Some(Grant::of(["work", "a", "b", "c"]).into());
        });
        match waist.begin(&trusted(action), NOW) {
            Ok(admitted) => {
                assert!(passes, "{action}");
                assert_eq!(log.lock().unwrap().len(), 3, "none is left before the end");
                waist.end(admitted, End::ok(), NOW);
            }
            Err(_) => assert!(!passes, "{action}"),
        }
        assert_eq!(*log.lock().unwrap(), expected, "{action}");
    }
}

#[test]
fn the_first_step_that_refuses_names_the_refusal() {
    // H-180, H-134, H-183, H-185: each row lifts what the row before was refused for
    let mut waist = bound(|bindings| {
        bindings.hooks = witnesses(&["bad"], &Log::default());
        bindings.grant = Some(Grant::of(["bad", "good"]).into());
        bindings.brakes.max_calls = 1;
    });
    let admitted = waist.begin(&trusted("good"), NOW).unwrap();
    waist.end(admitted, End::ok(), NOW);
    waist.begin(&trusted("good"), NOW).unwrap_err();
    waist.poll_record();
    waist.poll_record();
    waist.poll_record();

    let mut call = Call::new("bad, and not granted");
    let check = |waist: &mut Waist, call: &Call, rule: &str, class: ErrorClass| {
        let rejection = waist.begin(call, NOW).unwrap_err();
        assert_eq!((rejection.rule(), rejection.class()), (rule, class));
        let record = waist.poll_record().unwrap();
        assert_eq!((record.kind, record.rule, record.error), (RecordKind::Rejected, Some(rule), Some(class)));
        assert_eq!(waist.poll_record(), None);
        rejection
    };
    check(&mut waist, &call, "bad", ErrorClass::NeedsApproval);
    call.action = "not granted".into();
    check(&mut waist, &call, "grant", ErrorClass::Forbidden);
    call.action = "good".into();
    let rejection = check(&mut waist, &call, "containment", ErrorClass::Forbidden);
    assert_eq!(rejection, Rejection::Containment { needed: Tier::Hardware, offered: Tier::Unconfined });
    call.tier = Some(Tier::Hardware);
    check(&mut waist, &call, "rate", ErrorClass::BudgetExceeded);
    waist.reset(None);
    assert_eq!(kinds(&mut waist), [RecordKind::Reset]);
    assert!(waist.begin(&call, NOW).is_ok());
}

#[test]
fn nothing_bound_admits_all_and_anything_bound_fails_closed() {
    // H-178, H-183, C-28
    let untrusted = Call::new("anything");
    let mut open = bound(|_| ());
    let admitted = open.begin(&untrusted, NOW).unwrap();
    assert_eq!(admitted.sequence(), None);
    open.end(admitted, End::failed(ErrorClass::Terminal), NOW);
    assert!(open.begin(&Call::new("x".repeat(MAX_NAME_BYTES + 1)), NOW).is_ok());
    assert_eq!((open.is_bound(), open.reset(None)), (false, None));
    assert_eq!((open.poll_record(), open.lost_records()), (None, 0));

    let one: [(&str, Set); 7] = [
        ("grant", |bindings| bindings.grant = Some(Grant::of(["anything"]).into())),
        ("hook", |bindings| bindings.hooks = witnesses(&["w"], &Log::default())),
        ("brake", |bindings| bindings.brakes.max_cost = 1),
        ("run", |bindings| bindings.scope = Scope::run("r")),
        ("goal", |bindings| bindings.scope.goal = Some("g".into())),
        ("empty run", |bindings| bindings.scope = Scope::run("")),
        ("records", |bindings| bindings.always_record = true),
    ];
    for (name, set) in one {
        let mut waist = bound(set);
        assert!(waist.is_bound(), "{name}");
        let rejection = waist.begin(&untrusted, NOW).unwrap_err();
        assert_eq!(rejection.rule(), "containment", "{name}");
        assert!(waist.begin(&trusted("anything"), NOW).is_ok(), "{name}");
        assert_eq!(kinds(&mut waist), [RecordKind::Rejected, RecordKind::Start], "{name}");
    }
}

#[test]
fn a_call_may_bring_the_first_binding() {
    // H-138, H-179
    let mut waist = bound(|_| ());
    let mut call = Call::new("a");
    call.grant = Some(Arc::new(Grant::default()));
    assert_eq!(waist.begin(&call, NOW), Err(Rejection::NotGranted));
    call.grant = None;
    call.scope = Scope::run("r");
    assert_eq!(waist.begin(&call, NOW).unwrap_err().rule(), "containment");
    assert_eq!(kinds(&mut waist), [RecordKind::Rejected; 2]);
}

#[test]
fn closed_without_policy_refuses_while_none_is_bound() {
    // C-28: an identity is no policy
    for scope in [Scope::default(), Scope::run("r")] {
        let mut waist = bound(|bindings| (bindings.open_without_policy, bindings.scope) = (false, scope));
        assert_eq!(waist.begin(&trusted("a"), NOW), Err(Rejection::NoPolicy));
        assert_eq!(kinds(&mut waist), [RecordKind::Rejected]);
        let mut call = trusted("a");
        call.grant = Some(Grant::of(["a"]).into());
        assert!(waist.begin(&call, NOW).is_ok());
    }
    let policies: [Set; 3] = [
        |bindings| bindings.grant = Some(Grant::of(["a"]).into()),
        |bindings| bindings.hooks = witnesses(&["w"], &Log::default()),
        |bindings| bindings.brakes.max_calls = 1,
    ];
    for set in policies {
        let mut waist = bound(|bindings| {
            bindings.open_without_policy = false;
            set(bindings);
        });
        assert!(waist.begin(&trusted("a"), NOW).is_ok());
    }
}

#[test]
fn a_calls_own_grant_narrows_the_waists() {
    // H-138: what neither or only one of them names is refused
    for (action, passes) in [("both", true), ("waist", false), ("call", false), ("none", false)] {
        let mut waist = bound(|bindings| bindings.grant = Some(Grant::of(["both", "waist"]).into()));
        let mut call = trusted(action);
        call.grant = Some(Grant::of(["both", "call"]).into());
        assert_eq!(waist.begin(&call, NOW).is_ok(), passes, "{action}");
    }
}

#[test]
fn records_tell_who_what_when_and_how_it_went() {
    // H-177, H-181
    let mut waist =
        bound(|bindings| bindings.scope = Scope { run: Some("r".into()), goal: Some("g".into()) });
    let mut call = Call::new("a");
    (call.trust, call.tier) = (Trust::SemiTrusted, Some(Tier::Kernel));
    let first = waist.begin(&call, Instant::from_millis(7)).unwrap();
    let second = waist.begin(&call, Instant::from_millis(3)).unwrap();
    waist.end(first, End::failed(ErrorClass::Transient), Instant::from_millis(9));
    waist.end(second, End::ok(), Instant::from_millis(9));
    let records: Vec<_> = core::iter::from_fn(|| waist.poll_record()).collect();
    for record in &records {
        assert_eq!((&*record.action, record.trust, record.rule), ("a", Trust::SemiTrusted, None));
        assert_eq!((record.scope.run.as_deref(), record.scope.goal.as_deref()), (Some("r"), Some("g")));
    }
    let told: Vec<_> = records
        .iter()
        .map(|r| (r.sequence, r.kind.as_str(), r.start, r.at.as_micros() / 1000, r.error))
        .collect();
    assert_eq!(
        told,
        [
            (1, "start", None, 7, None),
            (2, "start", None, 7, None),
            (3, "end", Some(1), 9, Some(ErrorClass::Transient)),
            (4, "end", Some(2), 9, None),
        ],
        "time that goes backwards stands still"
    );
}

#[test]
fn a_sink_that_takes_nothing_loses_records_and_no_call() {
    // H-181
    let mut waist = bound(|bindings| (bindings.scope, bindings.max_records) = (Scope::run("r"), 3));
    for _ in 0..100 {
        let admitted = waist.begin(&trusted("a"), NOW).unwrap();
        waist.end(admitted, End::ok(), NOW);
    }
    assert_eq!(waist.lost_records(), 197);
    let left: Vec<_> = core::iter::from_fn(|| waist.poll_record()).map(|record| record.sequence).collect();
    assert_eq!(left, [198, 199, 200]);
}

#[test]
fn names_at_the_limit_pass_and_longer_ones_are_refused_and_cut() {
    // H-181: what is remembered of a call is bounded
    let (exact, long) = ("n".repeat(MAX_NAME_BYTES), "n".repeat(MAX_NAME_BYTES + 1));
    let named = |action: &str, run: &str, goal: &str| {
        let mut call = trusted(action);
        call.scope = Scope { run: Some(run.into()), goal: Some(goal.into()) };
        call
    };
    let mut waist = bound(|_| ());
    assert!(waist.begin(&named(&exact, &exact, &exact), NOW).is_ok());
    for call in [named(&long, "r", "g"), named("a", &long, "g"), named("a", "r", &long)] {
        assert_eq!(waist.begin(&call, NOW), Err(Rejection::NameTooLong { len: MAX_NAME_BYTES + 1 }));
    }
    while let Some(record) = waist.poll_record() {
        let (run, goal) = (record.scope.run.unwrap(), record.scope.goal.unwrap());
        assert!([record.action.len(), run.len(), goal.len()].iter().all(|len| *len <= MAX_NAME_BYTES));
    }
}

/// Counts calls that are between their `before` and their `after`.
struct Balance(Arc<AtomicUsize>);

impl Hook for Balance {
    fn name(&self) -> &'static str {
        "balance"
    }

    fn before(&mut self, _: &Call, _: Instant) -> Result<(), Refusal> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn after(&mut self, _: &Call, _: Result<&End, &Rejection>, _: Instant) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone, Debug)]
enum Op {
    Begin { action: String, trust: Trust, tier: Option<Tier>, run: Option<u8> },
    End(prop::sample::Index, bool),
    Reset(Option<u8>),
}

fn any_op() -> impl Strategy<Value = Op> {
    let trust = prop::sample::select(&[Trust::Trusted, Trust::SemiTrusted, Trust::Untrusted]);
    let tier = prop::option::of(prop::sample::select(&[Tier::Unconfined, Tier::Kernel, Tier::Hardware]));
    let run = || prop::option::of(0..4_u8);
    prop_oneof![
        5 => ("[abwx]", trust, tier, run())
            .prop_map(|(action, trust, tier, run)| Op::Begin { action, trust, tier, run }),
        4 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(which, ok)| Op::End(which, ok)),
        1 => run().prop_map(Op::Reset),
    ]
}

proptest! {
    #[test]
    fn every_begin_has_one_record_and_every_admitted_call_one_end(ops in prop::collection::vec(any_op(), 0..120)) {
        // H-179, H-180, H-181
        let (log, inside) = (Log::default(), Arc::new(AtomicUsize::new(0)));
        let mut waist = bound(|bindings| {
            bindings.hooks = vec![Box::new(Balance(inside.clone()))];
            bindings.hooks.extend(witnesses(&["w", "v"], &log));
            bindings.grant = Some(Grant::of(["a", "b", "w"]).into());
            (bindings.brakes.max_repeats, bindings.brakes.error_percent, bindings.brakes.max_runs) = (3, 80, 3);
        });
        let mut open: Vec<Admitted> = Vec::new();
        let (mut started, mut ended): (BTreeMap<u64, u64>, u64) = (BTreeMap::new(), 0);
        for (n, op) in ops.into_iter().enumerate() {
            log.lock().unwrap().clear();
            let now = Instant::from_millis(n as u64);
            match op {
                Op::Begin { action, trust, tier, run } => {
                    let mut call = Call::new(&*action);
                    (call.trust, call.tier) = (trust, tier);
                    call.scope.run = run.map(|run| format!("r{run}").into());
                    let halted = waist.halted(call.scope.run.as_deref());
                    let answer = waist.begin(&call, now);
                    let record = waist.poll_record().unwrap();
                    prop_assert_eq!(waist.poll_record(), None);
                    prop_assert_eq!((&*record.action, record.at, record.start), (&*action, now, None));
                    prop_assert!(answer.is_err() || halted.is_none(), "a halt is sticky");
                    match answer {
                        Ok(admitted) => {
                            prop_assert_eq!((record.kind, Some(record.sequence)), (RecordKind::Start, admitted.sequence()));
                            prop_assert!(tier.unwrap_or_default() >= trust.needs() && "ab".contains(&action));
                            prop_assert_eq!(&*log.lock().unwrap(), &["+w", "+v"]);
                            started.insert(record.sequence, 0);
                            open.push(admitted);
                        }
                        Err(rejection) => {
                            prop_assert_eq!((record.kind, record.error), (RecordKind::Rejected, Some(rejection.class())));
                            let all: &[&str] = if action == "w" { &["+w", "!w"] } else { &["+w", "+v", "!v", "!w"] };
                            prop_assert_eq!(&*log.lock().unwrap(), all);
                        }
                    }
                }
                Op::End(which, ok) if !open.is_empty() => {
                    let admitted = open.swap_remove(which.index(open.len()));
                    let start = admitted.sequence();
                    let end = if ok { End::ok() } else { End::failed(ErrorClass::Terminal) };
                    waist.end(admitted, end, now);
                    let record = waist.poll_record().unwrap();
                    prop_assert_eq!((record.kind, record.start, record.error), (RecordKind::End, start, end.error));
                    prop_assert_eq!(waist.poll_record(), None);
                    prop_assert_eq!(&*log.lock().unwrap(), &["-v", "-w"]);
                    *started.get_mut(&start.unwrap()).unwrap() += 1;
                    ended += 1;
                }
                Op::End(..) => {}
                Op::Reset(run) => {
                    waist.reset(run.map(|run| format!("r{run}")).as_deref());
                    prop_assert_eq!(kinds(&mut waist), [RecordKind::Reset]);
                }
            }
            prop_assert_eq!(inside.load(Ordering::Relaxed), open.len());
        }
        prop_assert!(started.values().all(|ends| *ends <= 1));
        prop_assert_eq!(started.values().sum::<u64>(), ended);
        prop_assert_eq!(started.len() as u64, ended + open.len() as u64);
        prop_assert_eq!(waist.lost_records(), 0);
    }
}

#[test]
fn a_waist_shows_what_binds_it() {
    let waist = bound(|bindings| {
        bindings.hooks = witnesses(&["a", "b"], &Log::default());
        bindings.grant = Some(Grant::of(["read"]).into());
    });
    let shown = format!("{waist:?}");
    assert!(shown.contains(r#"hooks: ["a", "b"]"#) && shown.contains(r#"{"read"}"#), "{shown}");
}

#[test]
fn a_waist_can_be_handed_to_another_thread() {
    const fn send<T: Send>() {}
    send::<(Waist, Admitted, Bindings)>();
}
