//! The table of open requests against a plain map.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;

use proptest::prelude::*;

use crate::client::event::RequestHandle;
use crate::client::requests::{Open, Owner, Requests, Timer};
use crate::exchange::{ExchangeHandle, Partition};
use crate::jsonrpc::RawJson;
use crate::mcp::Method;
use crate::time::Instant;

fn open(id: u64, listens: bool, idle: Option<Timer>) -> Open {
    Open {
        owner: Owner::Application(RequestHandle(id)),
        exchange: ExchangeHandle::of_request(id),
        method: if listens { Method::SubscriptionsListen } else { Method::ToolsCall },
        partition: Partition::default(),
        params: None,
        round: 0,
        sent: false,
        idle,
        absolute: None,
        progress: 0.0,
        mistyped_reply: false,
    }
}

#[derive(Clone, Debug)]
enum Op {
    Insert { listens: bool, idle_ms: Option<u64> },
    Remove(usize),
    Expire { after_ms: u64 },
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (prop::bool::weighted(0.1), prop::option::of(0u64..200))
            .prop_map(|(listens, idle_ms)| Op::Insert { listens, idle_ms }),
        3 => (0usize..64).prop_map(Op::Remove),
        1 => (0u64..100).prop_map(|after_ms| Op::Expire { after_ms }),
    ]
}

proptest! {
    #[test]
    fn the_table_holds_what_a_map_would(ops in prop::collection::vec(op(), 1..200)) {
        let mut table = Requests::default();
        let mut model: BTreeMap<u64, (bool, Option<Instant>)> = BTreeMap::new();
        let mut now = Instant::ZERO;
        for op in ops {
            match op {
                Op::Insert { listens, idle_ms } => {
                    let id = table.next_id();
                    let idle = idle_ms.map(|ms| Timer::start(Duration::from_millis(ms), now));
                    model.insert(id, (listens, idle.map(|idle| idle.at)));
                    table.insert(id, open(id, listens, idle));
                }
                Op::Remove(n) => {
                    let id = model.keys().copied().cycle().nth(n).unwrap_or(n as u64);
                    prop_assert_eq!(table.remove(id).is_some(), model.remove(&id).is_some());
                    prop_assert!(!table.contains(id));
                }
                Op::Expire { after_ms } => {
                    now = now.saturating_add(Duration::from_millis(after_ms));
                    let expired: Vec<u64> = table.take_expired(now).into_iter().map(|hit| hit.0).collect();
                    let due = |(_, at): &(bool, Option<Instant>)| at.is_some_and(|at| at <= now);
                    let expected: Vec<u64> = model.iter().filter(|(_, v)| due(v)).map(|(id, _)| *id).collect();
                    model.retain(|_, v| !due(v));
                    prop_assert_eq!(expired, expected);
                    // Nothing that is left lies before the next wake, and the wake lies in the future.
                    prop_assert!(table.next_deadline().is_none_or(|wake| wake > now));
                }
            }
            prop_assert_eq!(table.ids(), model.keys().copied().collect::<Vec<_>>());
            prop_assert_eq!(table.in_flight(), model.len());
            prop_assert_eq!(table.listening(), model.values().filter(|(listens, _)| *listens).count());
            let earliest = model.values().filter_map(|(_, at)| *at).min();
            prop_assert!(earliest.is_none_or(|at| table.next_deadline().is_some_and(|wake| wake <= at)));
            for id in model.keys() {
                prop_assert_eq!(table.id_of(RequestHandle(*id)), Some(*id));
            }
        }
    }
}

#[test]
fn a_long_open_request_does_not_make_the_table_grow() {
    let mut table = Requests::default();
    let first = table.next_id();
    table.insert(first, open(first, true, None));
    for _ in 0..10_000 {
        let id = table.next_id();
        table.insert(id, open(id, false, None));
        table.remove(id);
        assert!(table.slots_len() <= 64, "{}", table.slots_len());
    }
    assert!(table.contains(first));
}

#[test]
fn gaps_are_given_up_at_the_front_at_once_and_elsewhere_when_they_are_the_greater_part() {
    // How many slots there are when of so many requests the newest but the last are answered, one after the other.
    let slots = |all: u64, answered: u64| {
        let mut table = Requests::default();
        for _ in 0..all {
            let id = table.next_id();
            table.insert(id, open(id, false, None));
        }
        for id in 2..2 + answered {
            assert!(table.remove(id).is_some());
        }
        assert_eq!(table.ids().len() as u64, all - answered);
        table.slots_len() as u64
    };
    assert_eq!(slots(16, 15), 16, "few are not worth it");
    assert_eq!([slots(17, 9), slots(17, 10)], [17, 7]);
    assert_eq!([slots(40, 20), slots(40, 21)], [40, 19]);
    let mut table = Requests::default();
    for _ in 0..3 {
        let id = table.next_id();
        table.insert(id, open(id, false, None));
    }
    table.remove(2);
    assert_eq!(table.slots_len(), 3);
    table.remove(1);
    assert_eq!(table.slots_len(), 1);
}

#[test]
fn an_id_was_used_if_it_was_ever_given_out() {
    let mut table = Requests::default();
    assert!(!table.was_used(0) && !table.was_used(1));
    for _ in 0..2 {
        let id = table.next_id();
        table.insert(id, open(id, false, None));
        table.remove(id);
    }
    assert_eq!([0, 1, 2, 3].map(|id| table.was_used(id)), [false, true, true, false]);
}

#[test]
fn a_request_is_found_by_its_owner_under_whichever_id_it_was_sent() {
    let mut table = Requests::default();
    let of = |owner| Open { owner, ..open(0, false, None) };
    let again = Owner::Application(RequestHandle(3));
    for owner in [Owner::Probe, Owner::Initialize, again] {
        let id = table.next_id();
        table.insert(id, of(owner));
    }
    assert_eq!((table.id_of_owner(Owner::Probe), table.id_of_owner(Owner::Initialize)), (Some(1), Some(2)));
    assert_eq!((table.in_flight(), table.listening()), (1, 0), "only the application's are counted");
    assert_eq!(table.id_of(RequestHandle(3)), Some(3));
    // Sent once more, under another id.
    table.remove(3);
    let id = table.next_id();
    table.insert(id, of(again));
    assert_eq!(table.id_of(RequestHandle(3)), Some(4));
    assert_eq!([1, 2, 4, 5].map(|handle| table.id_of(RequestHandle(handle))), [None; 4]);
    table.remove(1);
    assert_eq!((table.id_of_owner(Owner::Probe), table.id_of_owner(Owner::Initialize)), (None, Some(2)));
    table.remove(4);
    assert_eq!((table.in_flight(), table.id_of(RequestHandle(3))), (0, None));
}

#[test]
fn what_open_requests_keep_is_counted_by_the_frames_it_keeps_alive() {
    let text = |len: usize| RawJson::parse_str(&format!("\"{}\"", "x".repeat(len - 2))).unwrap();
    let frame = RawJson::parse_str(r#"{"params":[1]}"#).unwrap();
    let part = frame.slice_of(frame.view().get("params").unwrap());
    let mut table = Requests::default();
    for params in [Some(text(100)), part, None] {
        let id = table.next_id();
        table.insert(id, Open { params, ..open(id, false, None) });
    }
    assert_eq!(table.kept_bytes(), 114);
    table.keep_instead(1, text(30));
    assert_eq!(table.kept_bytes(), 44);
    assert_eq!(table.get_mut(1).unwrap().params, Some(text(30)));
    // Where none are kept none will be.
    table.keep_instead(3, text(30));
    table.keep_instead(9, text(30));
    assert_eq!((table.kept_bytes(), table.get_mut(3).unwrap().params.as_ref()), (44, None));
    for (id, left) in [(3, 44), (1, 14), (2, 0)] {
        assert!(table.remove(id).is_some());
        assert_eq!(table.kept_bytes(), left);
    }
}
