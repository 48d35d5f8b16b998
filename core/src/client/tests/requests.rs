//! The table of open requests against a plain map.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use proptest::prelude::*;

use crate::client::event::RequestHandle;
use crate::client::requests::{Open, Owner, Requests, Timer};
use crate::exchange::{ExchangeHandle, Partition};
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
