//! The contract of a machine where a pair cannot see it, and the harness itself.

use std::time::Duration;

use sanswire::client::{Event, LineConnection, Link as _, Outcome, RequestOptions, Verdict};
use sanswire::error::CloseReason;
use sanswire::mcp::Method;
use sanswire::{Instant, Machine, Output};
use sanswire_tests::client::{Client, On, config, remembering};
use sanswire_tests::link::{Link, Pieces, Shape};
use sanswire_tests::peer::{Script, Server};
use sanswire_tests::seed::Rng;
use serde_json::{Value, json};

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// Everything that waits, by the one call that simple drivers use.
fn drain(machine: &mut LineConnection, now: Instant) -> (Vec<u8>, Vec<Event>, Option<Instant>) {
    let (mut bytes, mut events) = (Vec::new(), Vec::new());
    loop {
        match machine.poll_output(now) {
            Output::Transmit(more) => bytes.extend_from_slice(&more),
            Output::Event(event) => events.push(event),
            Output::Timeout(next) => return (bytes, events, next),
        }
    }
}

const READY: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"0"}}}
"#;

/// Bytes come, and all of them are taken.
fn give(machine: &mut LineConnection, bytes: &[u8], now: Instant) {
    assert_eq!(machine.handle_input(bytes, now), bytes.len(), "all of it is taken");
}

fn ready() -> LineConnection {
    let mut machine = LineConnection::new(remembering(Verdict::Legacy), [0; 32], at(0)).unwrap();
    drain(&mut machine, at(0));
    assert_eq!(machine.handle_input(READY, at(1)), READY.len());
    let (_, events, next) = drain(&mut machine, at(1));
    assert!(matches!(events[0], Event::Ready(_)));
    assert_eq!(next, None, "an idle connection waits for input only");
    machine
}

#[test]
fn time_that_goes_backwards_counts_as_the_last_time() {
    let mut machine = ready();
    machine.handle_timeout(at(100_000));
    let request = machine.request(Method::ToolsList, None, &RequestOptions::default(), at(5)).unwrap();
    let (_, _, next) = drain(&mut machine, at(6));
    assert_eq!(next, Some(at(130_000)), "the deadline counts from the latest time that was told");
    machine.handle_timeout(at(7));
    machine.handle_read(at(8));
    machine.handle_timeout(at(129_999));
    assert!(drain(&mut machine, at(0)).1.is_empty());
    machine.handle_timeout(at(130_000));
    let (_, events, _) = drain(&mut machine, at(0));
    assert!(matches!(events[..], [Event::Finished { request: ended, .. }] if ended == request));
}

#[test]
fn time_that_goes_backwards_does_not_hold_the_last_bytes_longer() {
    let mut machine = ready();
    machine.request(Method::ToolsList, None, &RequestOptions::default(), at(2)).unwrap();
    machine.handle_timeout(at(10_000));
    machine.close(at(0));
    assert_eq!(machine.poll_timeout(), Some(at(12_000)), "the patience counts from the latest time");
    machine.handle_written(1, at(50_000));
    machine.handle_timeout(at(0));
    assert_eq!(machine.poll_timeout(), None);
    let (bytes, events, _) = drain(&mut machine, at(0));
    assert!(bytes.is_empty());
    assert!(matches!(events[..], [Event::Finished { .. }, Event::Closed(CloseReason::Local)]));
}

#[test]
fn closed_is_the_last_event_whatever_uses_the_budget_up() {
    let modern = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#;
    let legacy = r#"{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{}}"#;
    for (verdict, opening, line) in [
        (Verdict::Modern, modern, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#),
        (Verdict::Legacy, legacy, r#"{"jsonrpc":"2.0","id":2,"result":[]}"#),
        (Verdict::Modern, modern, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#),
        (Verdict::Modern, modern, r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#),
        (Verdict::Legacy, legacy, r#"{"jsonrpc":"2.0","id":9,"method":"ping","params":[]}"#),
        (
            Verdict::Legacy,
            legacy,
            r#"[{"jsonrpc":"2.0","id":2,"result":[]},1,{"jsonrpc":"2.0","id":9,"method":"ping"}]"#,
        ),
        (Verdict::Legacy, legacy, "junk"),
    ] {
        let mut config = remembering(verdict);
        config.limits.violation_budget = 0;
        let mut machine = LineConnection::new(config, [0; 32], at(0)).unwrap();
        drain(&mut machine, at(0));
        give(
            &mut machine,
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{opening}}}\n").as_bytes(),
            at(0),
        );
        drain(&mut machine, at(0));
        let call = machine.call_tool("t", None, &RequestOptions::default(), at(0)).unwrap();
        drain(&mut machine, at(0));
        give(&mut machine, format!("{line}\n").as_bytes(), at(0));
        let (bytes, events, _) = drain(&mut machine, at(0));
        assert!(bytes.is_empty(), "{line}: nothing is said after the end");
        assert!(matches!(events.last(), Some(Event::Closed(CloseReason::Protocol(_)))), "{line}: {events:?}");
        let ended = |event: &&Event| matches!(event, Event::Finished { request, .. } if *request == call);
        assert_eq!(events.iter().filter(ended).count(), 1, "{line}: {events:?}");
    }
}

#[test]
fn an_error_without_an_id_means_the_probe_when_nothing_else_is_open() {
    let no =
        |id: &str| format!("{{\"jsonrpc\":\"2.0\",{id}\"error\":{{\"code\":-32600,\"message\":\"no\"}}}}\n");
    // The handshake was tried first, or beside a silent probe, and refused: the probe alone is open.
    for (verdict, hedge, handshake) in [(Some(Verdict::Legacy), 0, "\"id\":1,"), (None, 2000, "\"id\":2,")] {
        let config = verdict.map_or_else(config, remembering);
        let mut machine = LineConnection::new(config, [0; 32], at(0)).unwrap();
        machine.handle_timeout(at(hedge));
        drain(&mut machine, at(hedge));
        give(&mut machine, no(handshake).as_bytes(), at(hedge));
        assert!(drain(&mut machine, at(hedge)).1.is_empty());
        give(&mut machine, no("").as_bytes(), at(hedge));
        let (_, events, _) = drain(&mut machine, at(hedge));
        assert!(matches!(events.last(), Some(Event::Closed(CloseReason::Refused { .. }))), "{events:?}");
    }
}

#[test]
fn where_a_string_may_name_a_call_it_names_it_in_what_is_unusable_too() {
    let long = "x".repeat(5000);
    for (line, lenient) in [
        (format!(r#"{{"jsonrpc":"2.0","id":"2","result":{{"x":"{long}"}}}}"#), true),
        (format!(r#"{{"jsonrpc":"2.0","id":"2","result":{{"x":"{long}"}}}}"#), false),
        (r#"{"jsonrpc":"2.0","id":"2","result":{},"error":{}}"#.to_owned(), true),
        (r#"{"jsonrpc":"2.0","id":"02","result":{},"error":{}}"#.to_owned(), false),
    ] {
        let mut config = remembering(Verdict::Legacy);
        config.lenient_ids = lenient;
        config.limits.max_message_bytes = 4096;
        let mut machine = LineConnection::new(config, [0; 32], at(0)).unwrap();
        drain(&mut machine, at(0));
        give(&mut machine, READY, at(0));
        machine.request(Method::ToolsList, None, &RequestOptions::default(), at(0)).unwrap();
        drain(&mut machine, at(0));
        give(&mut machine, format!("{line}\n").as_bytes(), at(0));
        let (_, events, _) = drain(&mut machine, at(0));
        let finished = matches!(
            events[..],
            [Event::Finished { outcome: Outcome::TooLarge { .. } | Outcome::Invalid(_), .. }]
        );
        assert_eq!(finished, lenient, "{events:?}");
    }
}

#[test]
fn early_and_repeated_timeouts_do_nothing() {
    let mut machine = ready();
    machine.request(Method::ToolsList, None, &RequestOptions::default(), at(2)).unwrap();
    drain(&mut machine, at(2));
    for millis in 3..3000 {
        machine.handle_timeout(at(millis));
        machine.handle_timeout(at(millis));
        let (bytes, events, next) = drain(&mut machine, at(millis));
        assert!(bytes.is_empty() && events.is_empty());
        assert_eq!(next, Some(at(30_002)));
    }
}

#[test]
fn a_late_timeout_does_all_that_was_due() {
    // P-091
    let mut machine = ready();
    for n in 0..50 {
        machine.request(Method::ToolsList, None, &RequestOptions::default(), at(2 + n)).unwrap();
    }
    drain(&mut machine, at(60));
    machine.handle_timeout(at(10_000_000));
    let (bytes, events, next) = drain(&mut machine, at(10_000_000));
    assert_eq!(events.len(), 50);
    assert_eq!(bytes.split(|byte| *byte == b'\n').count() - 1, 50, "each is called off");
    assert_eq!(next, None);
}

#[test]
fn the_end_of_time_is_an_instant_like_any_other() {
    let end = Instant::from_micros(u64::MAX);
    let mut machine = LineConnection::new(config(), [0; 32], end).unwrap();
    machine.handle_timeout(end);
    // Every deadline lies there, so all are over.
    let (_, events, next) = drain(&mut machine, end);
    assert!(matches!(events[..], [Event::Closed(CloseReason::ConnectTimeout { .. })]), "{events:?}");
    assert_eq!(next, None);
}

#[test]
fn after_the_end_nothing_matters() {
    // H-203
    let mut machine = ready();
    machine.handle_eof(at(5));
    machine.handle_eof(at(5));
    let (_, events, next) = drain(&mut machine, at(5));
    assert_eq!(events.len(), 1);
    assert_eq!(next, None);
    assert!(!machine.wants_read());
    assert_eq!(machine.handle_input(READY, at(6)), 0, "nothing is taken");
    machine.read_buffer().push(b'\n');
    machine.handle_read(at(6));
    machine.handle_timeout(at(1_000_000));
    machine.handle_write_closed(at(1_000_000));
    machine.close(at(1_000_000));
    let (bytes, events, next) = drain(&mut machine, at(1_000_000));
    assert!(bytes.is_empty() && events.is_empty() && next.is_none());
}

#[test]
fn input_is_taken_piece_by_piece_while_there_is_room() {
    let mut config = remembering(Verdict::Legacy);
    config.limits.max_queued_events = 2;
    let mut machine = LineConnection::new(config, [0; 32], at(0)).unwrap();
    drain(&mut machine, at(0));
    give(&mut machine, READY, at(0));
    drain(&mut machine, at(0));
    let line = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n";
    let all = line.repeat(10_000);
    let mut rest = all.as_bytes();
    let mut told = 0;
    while !rest.is_empty() {
        let taken = machine.handle_input(rest, at(1));
        assert!(taken > 0, "after a drain there is room");
        assert!(taken <= 128 * 1024, "it stopped on the way");
        rest = &rest[taken..];
        told += drain(&mut machine, at(1)).1.len();
    }
    assert_eq!(told, 10_000);
}

#[test]
fn a_script_is_followed_and_its_ids_are_put_in() {
    let script = Script::new()
        .expect("initialize", "init")
        .raw("hello\n")
        .send(r#"{"jsonrpc":"2.0","id":"$init","result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#)
        .expect("tools/list", "one")
        .expect("tools/list", "two")
        .wait(Duration::from_secs(2))
        .send(r#"{"jsonrpc":"2.0","id":"$two","result":{"tools":[]}}"#)
        .send(r#"{"jsonrpc":"2.0","id":"$one","result":{"tools":[1]}}"#)
        .wait(Duration::from_secs(1))
        .close();
    let mut client = Client::ready(On::Line, remembering(Verdict::Legacy), Server::scripted(script));
    let one = client.request(Method::ToolsList, None);
    let two = client.request(Method::ToolsList, None);
    assert_eq!(client.complete(one)["tools"], json!([1]));
    assert_eq!(client.complete(two)["tools"], json!([]));
    assert_eq!(client.elapsed_ms(), 2009);
    client.until_closed();
    assert_eq!(client.violations().len(), 1);
}

#[test]
fn a_link_does_what_its_shape_says() {
    let shape = Shape {
        latency: Duration::from_millis(10),
        pieces: Pieces::Bytes(4),
        capacity: 12,
        stall_until: at(100),
        cut_after: Some(14),
    };
    let mut link = Link::new(shape, Rng::new(1));
    link.send(b"0123456789", at(5));
    assert_eq!((link.room(), link.arrived(at(99))), (2, None));
    assert_eq!(link.next_arrival(at(5)), Some(at(100)));
    let mut got = Vec::new();
    while let Some(piece) = link.arrived(at(100)) {
        assert!(piece.len() <= 4);
        got.extend_from_slice(piece);
        let len = piece.len();
        link.take(len);
    }
    assert_eq!(got, b"0123456789");
    link.send(b"abcdef", at(200));
    assert!(link.is_cut());
    assert_eq!(link.room(), 0);
    assert_eq!(link.arrived(at(210)), Some(&b"abcd"[..]));
    link.take(4);
    assert_eq!(link.arrived(at(210)), None);
    assert!(link.has_ended(at(210)));
}

#[test]
fn the_scripted_peer_reads_what_the_client_writes() {
    let mut client = Client::legacy(On::Line);
    client.still_works();
    for received in &client.link.server().received {
        let again: Value = serde_json::from_str(&received.text).unwrap();
        assert_eq!(again, received.message);
    }
    assert!(client.link.server().junk.is_empty());
}
