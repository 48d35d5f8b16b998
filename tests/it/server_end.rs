//! How a served connection ends, and what a slow reader does to it.

use std::time::Duration;

use sanswire::error::ApiError;
use sanswire::mcp::types::input::{InputKind, InputRequest};
use sanswire::server::{CloseReason, Event, LineConnection, Reply};
use sanswire::{Instant, Machine};
use sanswire_tests::served::{Rig, config, modern, request};
use serde_json::{Value, json};

/// Bytes come, and all of them are taken.
fn give(machine: &mut LineConnection, bytes: &[u8], now: Instant) {
    assert_eq!(machine.handle_input(bytes, now), bytes.len(), "all of it is taken");
}

fn calls(rig: &mut Rig, count: u64) {
    for id in 1..=count {
        rig.report(request(id, "tools/call", json!({"name": "a"})));
    }
}

#[test]
fn b_63_replies_lost_at_stdin_eof() {
    // H-189 P-106
    let file = include_bytes!("../cases/b-63.bin").trim_ascii_end();
    for with_lf in [false, true] {
        for piece in [1, 7, 100_000] {
            let mut rig = Rig::new(config());
            rig.tool(&json!({"name": "slow"}));
            let bytes = if with_lf { [file, b"\n"].concat() } else { file.to_vec() };
            for piece in bytes.chunks(piece) {
                rig.send_raw(piece);
            }
            rig.end();
            assert_eq!(rig.open.len(), 4, "the last line counts without its LF");
            assert_eq!(rig.closed(), None);
            let quick: Vec<_> =
                rig.open.values().filter(|open| open.params["name"] == "echo").cloned().collect();
            for open in quick {
                rig.respond(open.request, &Reply::text("quick")).unwrap();
            }
            rig.wait_ms(200);
            for handle in rig.open.keys().copied().collect::<Vec<_>>() {
                assert_eq!(rig.closed(), None);
                rig.respond(handle, &Reply::text("slow")).unwrap();
            }
            let ids: Vec<_> = rig.take().iter().map(|answer| answer["id"].clone()).collect();
            assert_eq!(ids, [1, 2, 5, 3, 4]);
            assert_eq!(rig.closed(), Some(CloseReason::Eof));
        }
    }
}

#[test]
fn what_does_not_end_is_cancelled_at_the_limit() {
    let mut rig = Rig::legacy(config(), "2025-11-25");
    calls(&mut rig, 3);
    rig.end();
    rig.wait_ms(9_999);
    assert_eq!((rig.closed(), rig.cancelled.len()), (None, 0));
    rig.wait_ms(1);
    assert_eq!((rig.closed(), rig.cancelled.len()), (Some(CloseReason::Eof), 3));
    assert!(matches!(rig.side.events.last(), Some((_, Event::Closed(_)))));
}

#[test]
fn the_end_of_an_idle_client_is_the_end_at_once() {
    // P-127
    let mut rig = Rig::legacy(config(), "2025-11-25");
    rig.end();
    assert_eq!(rig.closed(), Some(CloseReason::Eof));
    let mut silent = Rig::new(config());
    silent.end();
    assert_eq!(silent.closed(), Some(CloseReason::Eof));
}

#[test]
fn close_and_shutdown_differ_in_what_they_wait_for() {
    let mut rig = Rig::legacy(config(), "2025-11-25");
    calls(&mut rig, 2);
    rig.send(&modern("L", "subscriptions/listen", json!({"notifications": {}})));
    rig.take();
    rig.side.machine.shutdown(Duration::from_secs(5), rig.now);
    let ended: Vec<_> = rig.take().iter().map(|said| said["id"].clone()).collect();
    assert_eq!(ended, [json!("L"), json!(null)], "subscriptions end in good order");
    assert_eq!(rig.refused(request(9, "tools/call", json!({"name": "a"}))), -32603);
    rig.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    assert_eq!((rig.cancelled.len(), rig.closed()), (1, None), "cancels still come");
    let last = *rig.open.keys().next().unwrap();
    rig.respond(last, &Reply::text("x")).unwrap();
    assert_eq!(rig.closed(), Some(CloseReason::Local));
    assert_eq!(rig.one()["id"], 2);

    let mut rig = Rig::legacy(config(), "2025-11-25");
    calls(&mut rig, 2);
    rig.take();
    rig.side.machine.close(rig.now);
    rig.drain();
    assert_eq!((rig.closed(), rig.cancelled.len()), (Some(CloseReason::Local), 2));
    assert_eq!(rig.take(), [] as [Value; 0]);
}

#[test]
fn a_client_that_reads_no_more_ends_everything() {
    let mut rig = Rig::legacy(config(), "2025-11-25");
    calls(&mut rig, 2);
    let handle = *rig.open.keys().next().unwrap();
    rig.side.end_output(rig.now);
    assert_eq!(rig.side.machine.respond(handle, &Reply::text("x"), rig.now), Err(ApiError::Closed));
    rig.drain();
    assert_eq!((rig.closed(), rig.cancelled.len()), (Some(CloseReason::Unread), 2));
}

#[test]
fn a_full_outbox_stops_the_reading_and_nothing_is_lost() {
    let mut small = config();
    small.limits.max_queued_out_bytes = 4096;
    let mut rig = Rig::legacy(small, "2025-11-25");
    rig.take();
    calls(&mut rig, 1);
    let first = *rig.open.keys().next().unwrap();
    rig.stuck = true;
    // One read with many questions in it: they are answered as far as there is room.
    let lists: String = (10..200).map(|id| format!("{}\n", request(id, "tools/list", json!({})))).collect();
    let taken = rig.side.machine.handle_input(&lists.as_bytes()[..4000], rig.now);
    assert_eq!(taken, 4000);
    assert!(!rig.side.machine.wants_read(), "full");
    assert_eq!(rig.side.machine.handle_input(b"x", rig.now), 0);
    let held = rig.side.machine.transmit().len();
    assert!((4096..5000).contains(&held), "one message may overshoot: {held}");
    assert_eq!(rig.side.machine.respond(first, &Reply::text("x"), rig.now), Err(ApiError::OutboundFull));
    rig.stuck = false;
    let said = rig.take();
    let ids: Vec<_> = said.iter().map(|said| said["id"].as_u64().unwrap()).collect();
    assert!(ids.is_sorted() && ids.len() > 40, "{ids:?}");
    rig.send_raw(&lists.as_bytes()[4000..]);
    let ids: Vec<_> = rig.said.iter().filter_map(|said| said["id"].as_u64()).collect();
    assert_eq!(ids, (10..200).collect::<Vec<_>>(), "each is answered once, in order");
    rig.respond(first, &Reply::text("x")).unwrap();
}

#[test]
fn the_end_of_input_is_noticed_behind_what_still_waits_to_be_looked_at() {
    let mut small = config();
    small.limits.max_queued_out_bytes = 4096;
    let mut rig = Rig::legacy(small, "2025-11-25");
    rig.take();
    rig.stuck = true;
    let lists: String = (10..40).map(|id| format!("{}\n", request(id, "tools/list", json!({})))).collect();
    assert_eq!(rig.side.machine.handle_input(lists.as_bytes(), rig.now), lists.len());
    rig.end();
    assert_eq!(rig.closed(), None);
    rig.stuck = false;
    assert_eq!(rig.take().len(), 30);
    assert_eq!(rig.closed(), Some(CloseReason::Eof));
}

#[test]
fn what_waits_to_be_looked_at_does_not_wait_for_ever() {
    let mut small = config();
    small.limits.max_queued_out_bytes = 4096;
    let mut rig = Rig::legacy(small, "2025-11-25");
    calls(&mut rig, 1);
    rig.stuck = true;
    let lists: String = (10..40).map(|id| format!("{}\n", request(id, "tools/list", json!({})))).collect();
    assert_eq!(rig.side.machine.handle_input(lists.as_bytes(), rig.now), lists.len());
    rig.end();
    rig.wait_ms(9_999);
    assert_eq!((rig.closed(), rig.cancelled.len()), (None, 0));
    rig.wait_ms(3_000);
    assert_eq!((rig.closed(), rig.cancelled.len()), (Some(CloseReason::Eof), 1));
}

#[test]
fn replies_that_nobody_takes_are_given_up_after_a_while() {
    let mut rig = Rig::legacy(config(), "2025-11-25");
    calls(&mut rig, 1);
    rig.stuck = true;
    let handle = *rig.open.keys().next().unwrap();
    rig.respond(handle, &Reply::text("x")).unwrap();
    rig.end();
    rig.wait_ms(9_000);
    assert_eq!(rig.closed(), None, "the drain is not over");
    rig.wait_ms(1_000);
    assert_eq!(rig.closed(), Some(CloseReason::Eof));
    assert!(rig.side.machine.transmit().is_empty());
}

#[test]
fn events_that_nobody_takes_stop_the_reading() {
    let mut small = config();
    small.limits.max_queued_events = 5;
    let mut rig = Rig::legacy(small, "2025-11-25");
    let line = |id: u64| format!("{}\n", request(id, "tools/call", json!({"name": "a"})));
    let mut read = 0;
    while rig.side.machine.wants_read() {
        read += 1;
        rig.side.read(line(read).as_bytes(), rig.now);
    }
    assert_eq!(read, 5);
    rig.drain();
    assert!(rig.side.machine.wants_read());
    assert_eq!(rig.open.len(), 5);
}

#[test]
fn settings_out_of_bounds_are_named() {
    use sanswire::server::{Config, LineConnection};
    let now = Instant::ZERO;
    let mut none = Config::new("s", "1");
    none.revisions.clear();
    assert_eq!(LineConnection::new(none, [0; 32], now).unwrap_err().field, "revisions");
    let mut none = Config::new("s", "1");
    none.page_size = 0;
    assert_eq!(LineConnection::new(none, [0; 32], now).unwrap_err().field, "page_size");
    let mut none = Config::new("s", "1");
    none.limits.max_in_flight = 0;
    assert_eq!(LineConnection::new(none, [0; 32], now).unwrap_err().field, "max_in_flight");
}

#[test]
fn a_clock_that_goes_back_does_not_cut_the_flush_short() {
    // An instant earlier than the last one counts as the last one.
    let seconds = |n: u64| Instant::from_millis(n * 1000);
    for earlier in [1, 100] {
        let mut machine = LineConnection::new(config(), [0; 32], seconds(0)).unwrap();
        give(&mut machine, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", seconds(100));
        machine.close(seconds(earlier));
        assert_eq!(machine.poll_timeout(), Some(seconds(102)));
        machine.handle_timeout(seconds(100));
        assert!(!machine.transmit().is_empty());
        machine.handle_timeout(seconds(102));
        assert!(machine.transmit().is_empty());
        machine.handle_timeout(seconds(1));
        assert_eq!(machine.poll_event(), Some(Event::Closed(CloseReason::Local)));
    }
}

#[test]
fn a_later_end_does_not_put_off_an_earlier_one() {
    let seconds = |n: u64| Instant::from_millis(n * 1000);
    let mut machine = LineConnection::new(config(), [0; 32], seconds(0)).unwrap();
    give(&mut machine, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", seconds(1));
    machine.handle_eof(seconds(1));
    machine.shutdown(Duration::from_secs(3600), seconds(1));
    assert_eq!(machine.poll_timeout(), Some(seconds(11)));
    let mut machine = LineConnection::new(config(), [0; 32], seconds(0)).unwrap();
    machine.catalog_mut().tool(&sanswire_tests::served::raw(&json!({"name": "a"}))).unwrap();
    let call = modern(1, "tools/call", json!({"name": "a"}));
    give(&mut machine, format!("{call}\n{}\n", request(2, "ping", json!({}))).as_bytes(), seconds(1));
    machine.shutdown(Duration::from_secs(5), seconds(1));
    machine.shutdown(Duration::from_secs(3600), seconds(1));
    machine.handle_timeout(seconds(6));
    assert_eq!(machine.poll_timeout(), Some(seconds(8)), "what the answers have to leave");
}

#[test]
fn nothing_is_asked_once_no_answer_can_come() {
    for shuts_down in [false, true] {
        let mut rig = Rig::new(config());
        rig.initialize("2025-11-25", json!({"roots": {}}));
        let call = rig.report(request(2, "tools/call", json!({"name": "a"})));
        if shuts_down {
            rig.side.machine.shutdown(Duration::from_secs(5), rig.now);
        }
        rig.side.machine.handle_eof(rig.now);
        let roots = InputRequest { kind: InputKind::ListRoots, params: None };
        let asked = rig.side.machine.request_input(call.request, &roots, rig.now);
        assert_eq!(asked, Err(ApiError::NotReady));
    }
}
