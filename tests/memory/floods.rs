//! Floods up to each limit.

use sanswire::Machine;
use sanswire::client::{Config, LineConnection, Link as _, RequestOptions, Start};
use sanswire::limits::{Limits, MAX_READ_BYTES};
use sanswire::mcp::{Method, Revision};
use sanswire_tests::seed::Rng;

use crate::counting::{Flood, KIB, NOW};

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_message_bytes = 64 * KIB;
    limits.max_in_flight = 200;
    limits.max_subscriptions = 20;
    limits.max_peer_requests = 100;
    limits.max_queued_out_bytes = 256 * KIB;
    limits.max_queued_events = 64;
    limits.max_queued_event_bytes = 256 * KIB;
    limits.violation_budget = u32::MAX;
    limits
}

impl Flood<LineConnection> {
    fn start(revision: Revision, limits: Limits) -> Self {
        let mut flood = Self::new(limits.worst_case_bytes(), || {
            let mut config = Config::new("flood", "0");
            config.start = Start::Pinned(revision);
            config.capabilities.roots = true;
            config.limits = limits;
            LineConnection::new(config, [0; 32], NOW).unwrap()
        });
        flood.write_all();
        let answer = if revision == Revision::V2026_07_28 {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#.to_owned()
        } else {
            format!(r#"{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{}}}}"#)
        };
        flood.read(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{answer}}}\n").as_bytes());
        flood.take();
        flood.write_all();
        flood
    }
}

/// Floods a fresh connection, and one that has seen big messages and so reads much at once.
fn with(bytes: Vec<u8>, revision: Revision, at_least: usize) {
    // The first line makes the buffer grow and leaves with it; for the second one as big a buffer is made, and stays.
    let big = [notification(64 * KIB + 1), notification(20 * KIB)].concat();
    let mut flood = Flood::start(revision, limits());
    flood.read(&bytes);
    flood.gauge.reached(at_least / 8);
    let mut flood = Flood::start(revision, limits());
    flood.read(&big);
    flood.take();
    let room = flood.run(|machine| machine.read_buffer().capacity());
    assert!(room >= MAX_READ_BYTES, "it reads much at once");
    flood.read(&bytes);
    flood.gauge.reached(at_least);
}

/// A notification of that many bytes.
fn notification(len: usize) -> Vec<u8> {
    let head = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":""#;
    let mut line = head.as_bytes().to_vec();
    line.resize(len - 3, b'a');
    line.extend_from_slice(b"\"}}\n");
    line
}

pub(crate) fn a_line_without_an_end() {
    for start in ["", "{\"id\":2,", "{\"x\":\"", "[[[[", "{\"id\":\"", "{\"\\u00"] {
        let mut bytes = start.as_bytes().to_vec();
        bytes.resize(4 << 20, b'a');
        with(bytes, Revision::V2025_11_25, 60 * KIB);
        with(start.repeat(1 << 18).into_bytes(), Revision::V2025_11_25, 0);
    }
}

pub(crate) fn lines_as_long_as_allowed() {
    for len in [60 * KIB, 64 * KIB - 1, 64 * KIB, 17 * KIB] {
        with(notification(len).repeat(300), Revision::V2025_11_25, 256 * KIB);
    }
}

pub(crate) fn small_notifications_that_nobody_takes() {
    let line = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";
    with(line.repeat(150_000).into_bytes(), Revision::V2025_11_25, 64 * KIB);
    let line = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n";
    with(line.repeat(150_000).into_bytes(), Revision::V2026_07_28, 64 * KIB);
}

pub(crate) fn the_smallest_lines_that_tell_something() {
    for line in ["1\n", "{\n", "[\n", "{\"id\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}\n"] {
        with(line.repeat(100_000).into_bytes(), Revision::V2025_11_25, 64 * KIB);
    }
    let id = "z".repeat(500);
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"result\":{{}}}}\n");
    with(line.repeat(10_000).into_bytes(), Revision::V2025_11_25, 64 * KIB);
}

pub(crate) fn requests_that_nobody_reads() {
    for size in [10, 1000, 15 * KIB, 17 * KIB, 60 * KIB] {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let arguments = sanswire_tests::client::json(&format!(r#"{{"x":"{}"}}"#, "a".repeat(size)));
            let mut limits = limits();
            limits.max_in_flight = 65_536;
            let mut flood = Flood::start(revision, limits);
            let mut accepted = 0;
            while flood
                .run(|machine| machine.call_tool("echo", Some(&arguments), &RequestOptions::default(), NOW))
                .is_ok()
            {
                accepted += 1;
            }
            assert!(accepted >= 4, "{accepted}");
            flood.gauge.reached(250 * KIB);
        }
    }
}

pub(crate) fn big_requests_that_nobody_answers() {
    for size in [10 * KIB, 60 * KIB] {
        let arguments = sanswire_tests::client::json(&format!(r#"{{"x":"{}"}}"#, "a".repeat(size)));
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let mut flood = Flood::start(revision, limits());
            while flood
                .run(|machine| machine.call_tool("echo", Some(&arguments), &RequestOptions::default(), NOW))
                .is_ok()
            {
                flood.write_all();
            }
            flood.gauge.reached(10 * KIB);
        }
    }
}

pub(crate) fn small_requests_that_nobody_answers() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let mut flood = Flood::start(revision, limits());
        let options = RequestOptions::default();
        while flood.run(|machine| machine.request(Method::PromptsList, None, &options, NOW)).is_ok() {
            flood.write_all();
        }
        flood.gauge.reached(KIB);
    }
}

pub(crate) fn pings_to_an_application_that_cannot_write() {
    for line in [
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".to_owned(),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{}\",\"method\":\"ping\"}}\n", "i".repeat(500)),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}\n".to_owned(),
    ] {
        let bytes = line.repeat(50_000).into_bytes();
        let mut flood = Flood::start(Revision::V2025_11_25, limits());
        assert_eq!(flood.read(&bytes), bytes.len(), "a client reads on");
        flood.gauge.reached(256 * KIB);
    }
}

pub(crate) fn requests_of_the_servers_with_long_ids() {
    let id = "i".repeat(500);
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"roots/list\",\"params\":{{}}}}\n");
    let bytes = line.repeat(1000).into_bytes();
    let mut flood = Flood::start(Revision::V2025_11_25, limits());
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let taken = flood.read(rest);
        rest = &rest[taken..];
        flood.take();
    }
    flood.gauge.reached(64 * KIB);
}

/// What a violation says of a message is not the message.
pub(crate) fn requests_with_long_names() {
    let mut limits = limits();
    limits.max_message_bytes = 1 << 20;
    let name = "n".repeat(1000 * KIB);
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{name}\"}}\n");
    let bytes = line.repeat(60).into_bytes();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let mut flood = Flood::start(revision, limits.clone());
        flood.read(&bytes);
        flood.gauge.reached(1 << 20);
    }
}

/// What is known of an open request does not hold the name of its method, which the application may make as long as a
/// message.
pub(crate) fn requests_of_methods_with_long_names() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let mut flood = Flood::start(revision, limits());
        for _ in 0..200 {
            let options = RequestOptions::default();
            flood.run(|machine| {
                let method = Method::Other("m".repeat(60 * KIB).into());
                machine.request(method, None, &options, NOW).unwrap();
            });
            flood.write_all();
        }
        flood.gauge.reached(60 * KIB);
        assert!(flood.gauge.held() < 512 * KIB, "{} bytes of open requests", flood.gauge.held());
    }
}

/// Under the one revision that has batches, a message holds as many messages as it has room for.
pub(crate) fn batches_as_long_as_allowed() {
    for element in [
        "1",
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message"}"#,
        r#"{"jsonrpc":"2.0","id":900,"result":{}}"#,
    ] {
        for len in [64 * KIB, 1 << 20] {
            let mut limits = limits();
            limits.max_message_bytes = len;
            limits.max_queued_event_bytes = 4 * KIB;
            limits.max_queued_out_bytes = 4 * KIB;
            let count = (len - 2) / (element.len() + 1);
            let bytes = format!("[{}]\n", vec![element; count].join(",")).into_bytes();
            let mut flood = Flood::start(Revision::V2025_03_26, limits);
            flood.read(&bytes);
            flood.gauge.reached(len);
        }
    }
}

/// Everything above, mixed.
pub(crate) fn random_runs() {
    let lines: Vec<Vec<u8>> = [
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n".to_owned(),
        "junk\n".to_owned(),
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":\"{}\"}}\n",
            "p".repeat(50 * KIB)
        ),
        format!("{}\n", "q".repeat(100 * KIB)),
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect();
    let arguments = sanswire_tests::client::json(&format!(r#"{{"x":"{}"}}"#, "a".repeat(3000)));
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let revision = *rng.pick(&[Revision::V2025_03_26, Revision::V2026_07_28]);
        let mut flood = Flood::start(revision, limits());
        for _ in 0..400 {
            match rng.below(8) {
                0 => flood.run(|machine| machine.handle_written(machine.transmit().len() / 2, NOW)),
                1 => flood.run(|machine| drop(machine.poll_event())),
                2..=3 => {
                    let options = RequestOptions::default();
                    let call =
                        flood.run(|machine| machine.call_tool("echo", Some(&arguments), &options, NOW));
                    drop(call);
                }
                4 => {
                    let open = flood.machine.session().in_flight();
                    let answer =
                        format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}\n", rng.below(open + 5));
                    flood.read(answer.as_bytes());
                }
                _ => {
                    let line = rng.pick(&lines);
                    flood.read(line);
                }
            }
        }
        flood.gauge.reached(0);
    }
}
