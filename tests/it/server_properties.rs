//! What holds for a server whatever it is sent and whatever its application does.

use std::collections::{BTreeMap, BTreeSet};

use sanswire::server::{Config, Event, LineConnection, Notice, Reply, RequestHandle};
use sanswire::{Instant, Machine};
use sanswire_tests::seed::{Rng, each_seed};
use sanswire_tests::served::{Rig, complete, config, meta, modern, raw};
use serde_json::{Value, json};

/// A line that a client may write, sane or not.
fn line(rng: &mut Rng) -> Vec<u8> {
    let id = match rng.below(6) {
        0 => json!(rng.below(4).to_string()),
        1 => json!(-1),
        _ => json!(rng.below(12)),
    };
    let version = *rng.pick(&["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "x"]);
    let method = *rng.pick(&[
        "initialize",
        "ping",
        "tools/list",
        "tools/call",
        "tools/call",
        "tools/call",
        "resources/read",
        "resources/subscribe",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "server/discover",
        "subscriptions/listen",
        "notifications/cancelled",
        "notifications/cancelled",
        "notifications/initialized",
        "no/such",
    ]);
    let mut params = json!({
        "name": *rng.pick(&["a", "b", "nowhere"]), "uri": "x:y", "level": *rng.pick(&["info", "loud"]),
        "protocolVersion": version, "requestId": id, "notifications": {"toolsListChanged": true},
        "arguments": if rng.chance(90) { json!({"n": rng.below(100)}) } else { json!([]) },
    });
    if rng.chance(50) {
        params["_meta"] = meta();
        if rng.chance(20) {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
        }
    }
    if rng.chance(30) {
        params["_meta"]["progressToken"] = id.clone();
    }
    let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
    if !method.starts_with("notifications/") || rng.chance(5) {
        message["id"] = id.clone();
    }
    match rng.below(40) {
        0 => message = json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        1 => message = json!({"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "x"}}),
        2 => message = json!([message, message]),
        3 => message["params"] = json!(null),
        4 => message["id"] = json!(null),
        _ => {}
    }
    let mut bytes = message.to_string().into_bytes();
    if rng.chance(3) {
        let at = rng.below(bytes.len());
        bytes[at] = u8::try_from(rng.below(256)).unwrap();
    }
    bytes.push(b'\n');
    bytes
}

fn rig(limits: impl FnOnce(&mut Config)) -> Rig {
    let mut config = config();
    config.limits.violation_budget = u32::MAX;
    config.limits.max_junk_lines = 1 << 20;
    limits(&mut config);
    let mut rig = Rig::new(config);
    let catalog = rig.side.machine.catalog_mut();
    catalog.resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    catalog.prompt(&raw(&json!({"name": "a"}))).unwrap();
    rig
}

/// How many requests with each id the lines hold, and how many answers may come without one.
fn expected(lines: &[Vec<u8>]) -> (BTreeMap<String, usize>, usize) {
    let mut ids = BTreeMap::new();
    let mut without = 0;
    for line in lines {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            without += 1;
            continue;
        };
        let all = message.as_array().cloned().unwrap_or_else(|| vec![message.clone()]);
        // A batch may be answered one by one, or refused as a whole.
        without += usize::from(message.is_array());
        for message in all {
            match message.get("id") {
                Some(id) if id.is_string() || id.is_i64() => {
                    *ids.entry(id.to_string()).or_default() += 1;
                }
                _ => without += 1,
            }
        }
    }
    (ids, without)
}

#[test]
fn every_reported_request_gets_one_reply_or_was_cancelled() {
    // Golden rule 2, and no reply but to what was asked: P-007. All it writes are messages: P-116.
    each_seed(300, |seed| {
        let mut rng = Rng::new(seed);
        let mut rig = rig(|config| config.limits.max_in_flight = 6);
        if rng.chance(70) {
            rig.initialize(["2025-03-26", "2025-11-25"][rng.below(2)], json!({"roots": {}}));
        }
        rig.take();
        let mut lines = Vec::new();
        let (mut reported, mut replied, mut dead) = (BTreeSet::new(), 0, Vec::new());
        for _ in 0..120 {
            match rng.below(10) {
                0..=4 => {
                    let line = line(&mut rng);
                    rig.send_raw(&line);
                    lines.push(line);
                }
                5..=7 => {
                    let open: Vec<RequestHandle> = rig.open.keys().copied().collect();
                    if !open.is_empty() {
                        let handle = *rng.pick(&open);
                        let reply = match rng.below(3) {
                            0 => Reply::text("x"),
                            1 => complete(&json!({"content": [], "_meta": {"a": 1}})),
                            _ => Reply::resource_not_found("x:y"),
                        };
                        if rng.chance(30) {
                            let progress = rng.below(1000) as f64;
                            let notice = Notice::Progress { progress, total: None, message: None };
                            let _ = rig.notify(handle, &notice);
                        }
                        rig.respond(handle, &reply).unwrap();
                        replied += 1;
                        dead.push(handle);
                    }
                }
                8 => {
                    dead.extend(rig.cancelled.iter().copied());
                    if !dead.is_empty() {
                        let handle = *rng.pick(&dead);
                        let late = rig.side.machine.respond(handle, &Reply::text("late"), rig.now);
                        assert!(late.is_err(), "an answer to what is over was taken");
                    }
                }
                _ => rig.wait_ms(rng.below(700) as u64),
            }
            reported.extend(rig.open.keys().copied());
        }
        rig.end();
        for handle in rig.open.keys().copied().collect::<Vec<_>>() {
            rig.respond(handle, &Reply::text("end")).unwrap();
            replied += 1;
        }
        rig.wait_ms(20_000);
        assert!(rig.side.ledger.is_closed());
        assert_eq!(rig.side.machine.poll_timeout(), None);
        let (mut ids, mut without) = expected(&lines);
        let mut answers = 0;
        for said in rig.take().iter().filter(|said| said.get("method").is_none()) {
            answers += 1;
            match said.get("id") {
                Some(id) => {
                    let left = ids.get_mut(&id.to_string()).unwrap_or_else(|| panic!("nobody asked: {said}"));
                    *left = left.checked_sub(1).unwrap_or_else(|| panic!("answered twice: {said}"));
                }
                None => without = without.checked_sub(1).unwrap_or_else(|| panic!("one too many: {said}")),
            }
        }
        assert!(answers >= replied);
        let told = rig.side.events.iter().filter(|(_, event)| matches!(event, Event::Request { .. })).count();
        assert_eq!(told, replied + rig.cancelled.len());
    });
}

/// A server that answers each request at once; what it writes and tells, in order.
fn answering(bytes: &[u8], mut cut: impl FnMut(usize) -> usize) -> (Vec<u8>, Vec<String>) {
    let now = Instant::from_millis(5);
    let mut machine = LineConnection::new(config(), [3; 32], now).unwrap();
    machine.catalog_mut().tool(&raw(&json!({"name": "a"}))).unwrap();
    let (mut written, mut told) = (Vec::new(), Vec::new());
    let mut drain = |machine: &mut LineConnection| {
        while let Some(event) = machine.poll_event() {
            told.push(format!("{event:?}"));
            if let Event::Request { request, .. } = event {
                let _ = machine.respond(request, &Reply::text("x"), now);
            }
        }
    };
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(cut(rest.len()).clamp(1, rest.len()));
        let taken = machine.handle_input(piece, now);
        assert!(taken == piece.len() || !machine.wants_read());
        rest = after;
        // The application gets to work at the same places in the stream however it was cut: behind each line.
        if piece.ends_with(b"\n") {
            drain(&mut machine);
        }
    }
    machine.handle_eof(now);
    drain(&mut machine);
    while !machine.transmit().is_empty() {
        written.extend_from_slice(machine.transmit());
        machine.handle_written(machine.transmit().len(), now);
    }
    drain(&mut machine);
    (written, told)
}

#[test]
fn the_result_does_not_depend_on_how_the_stream_was_cut() {
    // Golden rules 3 and 6
    each_seed(100, |seed| {
        let mut rng = Rng::new(seed);
        let bytes: Vec<u8> = (0..30).flat_map(|_| line(&mut rng)).collect();
        let behind =
            |rest: &[u8]| rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
        let mut at = 0;
        let whole = answering(&bytes, |_| {
            let len = behind(&bytes[at..]);
            at += len;
            len
        });
        let single = answering(&bytes, |_| 1);
        assert_eq!(whole, single);
        let mut at = 0;
        let mut rng = rng.fork();
        let random = answering(&bytes, |_| {
            let len = (1 + rng.below(200)).min(behind(&bytes[at..]));
            at += len;
            len
        });
        assert_eq!(whole, random);
    });
}

#[test]
fn any_bytes_are_survived_within_the_bounds() {
    // Golden rules 4 and 5
    each_seed(200, |seed| {
        let mut rng = Rng::new(seed);
        let mut limits = sanswire::limits::Limits::default();
        let mut rig = rig(|config| {
            config.limits.max_message_bytes = 8192;
            config.limits.max_queued_out_bytes = 16 * 1024;
            config.limits.max_queued_event_bytes = 16 * 1024;
            config.limits.max_queued_events = 50;
            limits = config.limits.clone();
        });
        let most = limits.worst_case_server_bytes();
        rig.stuck = rng.chance(30);
        let mut bytes = Vec::new();
        while bytes.len() < 60_000 {
            match rng.below(6) {
                0 => bytes.extend((0..rng.below(300)).map(|_| rng.number().to_le_bytes()[0])),
                1 => bytes.extend(std::iter::repeat_n(b'[', rng.below(20_000))),
                2 => bytes.push(b'\n'),
                _ => {
                    let line = line(&mut rng);
                    bytes.extend_from_slice(&line[..line.len() - rng.below(3).min(line.len())]);
                }
            }
        }
        let mut rest = &bytes[..];
        while !rest.is_empty() && rig.side.machine.wants_read() {
            let len = rng.below(5000).clamp(1, rest.len());
            let taken = rig.side.machine.handle_input(&rest[..len], rig.now);
            rest = &rest[taken..];
            assert!(rig.side.machine.retained_bytes() <= most);
            if rng.chance(50) {
                rig.drain();
                rig.wait_ms(rng.below(100) as u64);
            }
            if taken == 0 {
                rig.drain();
            }
        }
        rig.end();
        rig.wait_ms(60_000);
        assert!(rig.side.ledger.is_closed());
    });
}

#[test]
fn the_random_runs_reach_what_they_are_meant_to_reach() {
    let (mut reported, mut cancelled, mut refused, mut answered) = (0, 0, 0, 0);
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let mut rig = rig(|_| {});
        rig.initialize("2025-03-26", json!({}));
        for _ in 0..100 {
            rig.send_raw(&line(&mut rng));
        }
        reported += rig.open.len();
        cancelled += rig.cancelled.len();
        refused += rig.side.machine.session().stats().refused;
        answered += rig.side.machine.session().stats().answered;
    }
    assert!(
        reported > 200 && cancelled > 50 && refused > 500 && answered > 200,
        "{reported} {cancelled} {refused} {answered}"
    );
}

#[test]
fn a_handle_never_answers_another_request() {
    let mut rig = Rig::new(config());
    let first = rig.report(modern(1, "tools/call", json!({"name": "a"})));
    rig.respond(first.request, &Reply::text("one")).unwrap();
    rig.take();
    let second = rig.report(modern(1, "tools/call", json!({"name": "a"})));
    assert!(rig.side.machine.respond(first.request, &Reply::text("one again"), rig.now).is_err());
    rig.respond(second.request, &Reply::text("two")).unwrap();
    assert_eq!(rig.one()["result"]["content"][0]["text"], "two");
}
