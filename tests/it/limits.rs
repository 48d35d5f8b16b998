//! Back-pressure and bounds of a client on one stream.

use std::time::Duration;

use sanswire::client::{Config, Event, LineConnection, Link as _, Outcome, RequestOptions, Verdict};
use sanswire::error::{ApiError, CloseReason};
use sanswire::limits::{Limits, MAX_READ_BYTES, OUT_RESERVE_BYTES};
use sanswire::mcp::Method;
use sanswire::{Instant, Machine};
use sanswire_tests::client::{json, remembering};
use sanswire_tests::line_link::{LineLink, line_link};
use sanswire_tests::link::Shape;
use sanswire_tests::peer::{Act, Server};
use serde_json::json;

fn start(config: Config, to_server: Shape) -> LineLink {
    let shapes = [to_server, Shape::default()];
    let mut pair = line_link(config, Server::legacy("2025-11-25"), shapes, 1, Instant::from_millis(1000));
    pair.run_until("ready", |pair| pair.a.machine.session().revision().is_some());
    pair.settle();
    pair
}

fn legacy() -> Config {
    remembering(Verdict::Legacy)
}

fn call(pair: &mut LineLink, size: usize) -> Result<sanswire::client::RequestHandle, ApiError> {
    let arguments = json(&json!({"x": "a".repeat(size)}).to_string());
    let now = pair.now();
    let request = pair.a.machine.call_tool("echo", Some(&arguments), &RequestOptions::default(), now)?;
    pair.a.ledger.accept(request);
    Ok(request)
}

fn notify(pair: &mut LineLink, n: usize, size: usize) {
    let params = json!({"level": "info", "data": {"n": n, "x": "y".repeat(size)}});
    let message = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
    let now = pair.now();
    pair.b.machine.act_now(Act::Message(message), now);
}

fn told(pair: &LineLink) -> usize {
    pair.a.events.iter().filter(|(_, event)| matches!(event, Event::Notification { .. })).count()
}

#[test]
fn full_events_stop_the_reading_and_nothing_is_lost() {
    let mut config = legacy();
    config.limits.max_queued_events = 8;
    let mut pair = start(config, Shape::default());
    pair.a.holding = true;
    for n in 0..5000 {
        notify(&mut pair, n, 100);
        if n % 100 == 0 {
            pair.settle();
        }
    }
    pair.settle();
    assert!(!pair.a.machine.wants_read());
    // Soft by one read.
    let most = legacy().limits.max_message_bytes.min(MAX_READ_BYTES * 3);
    assert!(pair.a.machine.session().queued_event_bytes() <= most);
    pair.a.holding = false;
    pair.settle();
    assert!(pair.a.machine.wants_read());
    assert_eq!(told(&pair), 5000);
    let order = pair.a.events.iter().filter_map(|(_, event)| match event {
        Event::Notification { params, .. } => params.as_ref()?.view().get("data")?.get("n")?.as_u64(),
        _ => None,
    });
    assert!(order.eq(0..5000));
}

#[test]
fn full_event_bytes_stop_the_reading_too() {
    let mut config = legacy();
    config.limits.max_queued_event_bytes = 100_000;
    let mut pair = start(config, Shape::default());
    pair.a.holding = true;
    for n in 0..500 {
        notify(&mut pair, n, 3000);
    }
    pair.settle();
    assert!(!pair.a.machine.wants_read());
    let held = pair.a.machine.session().queued_event_bytes();
    assert!((100_000..100_000 + MAX_READ_BYTES * 2).contains(&held), "{held}");
    pair.a.holding = false;
    pair.settle();
    assert_eq!(told(&pair), 500);
}

#[test]
fn a_finished_finds_room_in_full_events() {
    let mut config = legacy();
    config.limits.max_queued_events = 1;
    let mut pair = start(config, Shape::default());
    pair.b.machine.server.on("tools/call", |_, _| {});
    let calls: Vec<_> = (0..10).map(|_| call(&mut pair, 1).unwrap()).collect();
    pair.a.holding = true;
    notify(&mut pair, 1, 10);
    pair.settle();
    pair.run_for(Duration::from_secs(60));
    pair.a.holding = false;
    pair.settle();
    let over = |pair: &LineLink| {
        pair.a.events.iter().filter(|(_, event)| matches!(event, Event::Finished { .. })).count()
    };
    assert_eq!(over(&pair), calls.len());
}

#[test]
fn a_full_outbox_refuses_requests_and_never_stops_the_reading() {
    let mut config = legacy();
    config.limits.max_queued_out_bytes = 10_000;
    let mut pair = start(config, Shape { capacity: 2000, ..Shape::default() });
    pair.b.deaf = true;
    let mut accepted = 0;
    while call(&mut pair, 500).is_ok() {
        accepted += 1;
        pair.settle();
        assert!(accepted < 100, "no end");
    }
    let now = pair.now();
    assert_eq!(call(&mut pair, 1), Err(ApiError::OutboundFull));
    assert_eq!(pair.a.machine.notify(Method::RootsListChanged, None, now), Err(ApiError::OutboundFull));
    assert!((10..30).contains(&accepted), "{accepted}");
    for n in 0..1000 {
        notify(&mut pair, n, 100);
    }
    pair.settle();
    assert!(pair.a.machine.wants_read());
    assert_eq!(told(&pair), 1000, "read in spite of it");
    pair.b.deaf = false;
    pair.settle();
    call(&mut pair, 500).unwrap();
    pair.run_for(Duration::from_secs(1));
    let over = pair.a.events.iter().filter(|(_, event)| matches!(event, Event::Finished { .. })).count();
    assert_eq!(over, accepted + 1);
}

#[test]
fn cancels_and_pongs_have_a_reserve_and_end_at_it() {
    let mut config = legacy();
    config.limits.max_queued_out_bytes = 10_000;
    let mut pair = start(config, Shape { capacity: 100, ..Shape::default() });
    pair.b.deaf = true;
    let mut calls = Vec::new();
    while let Ok(request) = call(&mut pair, 500) {
        calls.push(request);
    }
    let full = pair.a.machine.retained_bytes();
    let now = pair.now();
    pair.a.machine.cancel(calls[0], None, now).unwrap();
    for id in 0..20_000 {
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        pair.b.machine.act_now(Act::Message(ping), now);
    }
    pair.settle();
    let grown = pair.a.machine.retained_bytes() - full;
    assert!(grown < OUT_RESERVE_BYTES * 4, "{grown} bytes of pongs for a peer that reads nothing");
    pair.b.deaf = false;
    pair.settle();
    assert_eq!(pair.b.machine.server.with_method("notifications/cancelled").len(), 1);
    let pongs = pair.b.machine.server.responses().len();
    assert!((100..20_000).contains(&pongs), "{pongs}");
}

#[test]
fn a_peer_that_reads_no_more_costs_new_requests_only() {
    let mut pair = start(legacy(), Shape::default());
    pair.b.machine.server.on("tools/call", |request, out| {
        out.after(Duration::from_secs(1)).result(request, json!({"content": []}));
    });
    let open = call(&mut pair, 1).unwrap();
    pair.settle();
    let now = pair.now();
    pair.a.machine.handle_write_closed(now);
    assert_eq!(call(&mut pair, 1), Err(ApiError::Closed));
    pair.run_for(Duration::from_secs(2));
    let outcome = pair.a.events.iter().find_map(|(_, event)| match event {
        Event::Finished { request, outcome } if *request == open => Some(outcome.clone()),
        _ => None,
    });
    assert!(matches!(outcome, Some(Outcome::Complete(_))), "{outcome:?}");
}

#[test]
fn what_had_not_left_when_the_peer_stopped_reading_is_lost_at_once() {
    let mut pair = start(legacy(), Shape::default());
    pair.b.machine.server.on("tools/call", |_, _| {});
    let now = pair.now();
    let unsent = pair.a.machine.call_tool("echo", None, &RequestOptions::default(), now).unwrap();
    pair.a.ledger.accept(unsent);
    pair.a.machine.handle_write_closed(now);
    pair.a.take_events(now);
    let outcome = pair.a.events.iter().find_map(|(_, event)| match event {
        Event::Finished { request, outcome } if *request == unsent => Some(outcome.clone()),
        _ => None,
    });
    assert_eq!(outcome, Some(Outcome::Lost { maybe_ran: false }));
}

#[test]
fn what_never_left_did_not_run() {
    let mut pair = start(legacy(), Shape::default());
    pair.b.deaf = true;
    pair.b.machine.server.on("tools/call", |_, _| {});
    let sent = call(&mut pair, 1).unwrap();
    pair.settle();
    let now = pair.now();
    let unsent = pair.a.machine.call_tool("echo", None, &RequestOptions::default(), now).unwrap();
    pair.a.ledger.accept(unsent);
    pair.a.machine.handle_eof(now);
    pair.a.take_events(now);
    let lost = |of| {
        pair.a.events.iter().find_map(|(_, event)| match event {
            Event::Finished { request, outcome: Outcome::Lost { maybe_ran } } if *request == of => {
                Some(*maybe_ran)
            }
            _ => None,
        })
    };
    assert_eq!((lost(sent), lost(unsent)), (Some(true), Some(false)));
}

#[test]
fn closing_waits_for_the_last_bytes_but_not_for_ever() {
    let mut pair = start(legacy(), Shape { capacity: 50, ..Shape::default() });
    pair.b.deaf = true;
    call(&mut pair, 1000).unwrap();
    pair.settle();
    let (closing, now) = (pair.now(), pair.now());
    pair.a.machine.close(now);
    pair.settle();
    assert!(!pair.a.ledger.is_closed(), "bytes wait");
    pair.run_until("closed", |pair| pair.a.ledger.is_closed());
    assert_eq!(pair.now().saturating_since(closing), Duration::from_secs(2));

    let mut pair = start(legacy(), Shape { latency: Duration::from_millis(100), ..Shape::default() });
    pair.b.machine.server.on("tools/call", |_, _| {});
    call(&mut pair, 1000).unwrap();
    let now = pair.now();
    pair.a.machine.close(now);
    pair.run_for(Duration::from_secs(1));
    assert!(pair.a.ledger.is_closed());
    assert_eq!(pair.a.machine.session().close_reason(), Some(&CloseReason::Local));
    assert_eq!(pair.b.machine.server.with_method("notifications/cancelled").len(), 1, "it still left");
}

#[test]
fn bounds_of_the_configuration_are_checked_once() {
    type Set = fn(&mut Limits);
    let wrong: [(&str, Set); 9] = [
        ("max_message_bytes", |limits| limits.max_message_bytes = 4095),
        ("max_message_bytes", |limits| limits.max_message_bytes = (1 << 30) + 1),
        ("max_json_depth", |limits| limits.max_json_depth = 129),
        ("max_in_flight", |limits| limits.max_in_flight = 0),
        ("max_queued_events", |limits| limits.max_queued_events = 0),
        ("max_queued_out_bytes", |limits| limits.max_queued_out_bytes = 1),
        ("connect", |limits| limits.connect = Duration::ZERO),
        ("request_idle", |limits| limits.request_idle = Duration::from_micros(10)),
        ("request_absolute", |limits| limits.request_absolute = Duration::MAX),
    ];
    for (field, set) in wrong {
        let mut config = legacy();
        set(&mut config.limits);
        let refused = LineConnection::new(config, [0; 32], Instant::ZERO).unwrap_err();
        assert_eq!(refused.field, field);
        assert!(refused.to_string().contains(field));
    }
    LineConnection::new(legacy(), [0; 32], Instant::ZERO).unwrap();
}

#[test]
fn an_idle_connection_holds_little() {
    let mut pair = start(legacy(), Shape::default());
    let before = pair.a.machine.retained_bytes();
    assert!(before <= 16 * 1024, "{before}");
    pair.b.machine.server.on("tools/call", |request, out| {
        out.result(request, json!({"content": [{"type": "text", "text": "x".repeat(8 << 20)}]}));
    });
    call(&mut pair, 4 << 20).unwrap();
    pair.settle();
    pair.a.events.clear();
    pair.b.machine.server.on("tools/call", |request, out| out.result(request, json!({"content": []})));
    call(&mut pair, 1).unwrap();
    pair.settle();
    let after = pair.a.machine.retained_bytes();
    assert!(after <= 3 << 20, "{after} bytes stay after an 8 MiB message");
}
