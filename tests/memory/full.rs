//! Every part of a bound filled at once: what the bound says is about what can be held.

use sanswire::Machine;
use sanswire::client::{Config, LineConnection, Link as _, RequestOptions, Start};
use sanswire::limits::{Limits, MAX_READ_BYTES};
use sanswire::mcp::Revision;
use sanswire::server::{self, Event, RequestHandle};
use sanswire_tests::client::json;

use crate::counting::{Flood, KIB, NOW};

const MIB: usize = 1 << 20;
/// The longest message. The buffer that it comes in has room for one read behind it.
const BIG: usize = 5 * MIB / 2;
/// Requests so long that a block of them is as big as blocks get, and just too short to wait as they are.
const SMALL: usize = 15_900;
/// So long that a message fills half of its buffer, which leaves with it.
const HALF: usize = 129 * KIB;

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_message_bytes = BIG;
    limits.max_in_flight = 2500;
    limits.max_subscriptions = 0;
    limits.max_peer_requests = 0;
    limits.max_resource_subscriptions = 0;
    limits.max_queued_out_bytes = 8 * MIB;
    limits.max_queued_events = 64;
    limits.max_queued_event_bytes = 8 * MIB;
    limits.violation_budget = u32::MAX;
    limits.max_junk_lines = 1 << 20;
    limits
}

fn notification(len: usize) -> String {
    let head = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":""#;
    format!("{head}{}\"}}}}\n", "a".repeat(len - head.len() - 4))
}

/// What waits to be written, what is kept to be sent again, events that keep twice their length alive, a message that
/// overshoots, and behind it in the same read as many events as one can bring.
pub(crate) fn every_part_at_once() {
    let limits = limits();
    let mut flood = Flood::new(limits.worst_case_bytes(), || {
        let mut config = Config::new("flood", "0");
        config.start = Start::Pinned(Revision::V2026_07_28);
        config.limits = limits;
        LineConnection::new(config, [0; 32], NOW).unwrap()
    });
    flood.write_all();
    let answer = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#;
    flood.read(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{answer}}}\n").as_bytes());
    flood.take();
    flood.write_all();

    // Written out, this name makes a message that just did not fit into its buffer, and a block of them that as little
    // fits into one of those that wait.
    let name = "\u{1}".repeat(632);
    let options = RequestOptions::default();
    let call = |flood: &mut Flood<LineConnection>, size: usize| {
        let arguments = json(&format!(r#"{{"x":"{}"}}"#, "a".repeat(size)));
        flood.run(|machine| machine.call_tool(&name, Some(&arguments), &options, NOW)).is_ok()
    };
    assert!(call(&mut flood, 0));
    let each = flood.machine.transmit().len();
    for _ in 1..8 * MIB / (each + 8) {
        assert!(call(&mut flood, 0));
    }
    assert!(call(&mut flood, BIG - each - 10), "one message overshoots");
    assert!(!call(&mut flood, 1), "there is no room for more");

    let notice = notification(HALF);
    let mut told = 0;
    while told < 62 {
        assert_eq!(flood.read(notice.as_bytes()), notice.len());
        told += 1;
    }
    let mut last = notification(BIG).into_bytes();
    let whole = last.len();
    last.extend_from_slice(&b"1\n".repeat(MAX_READ_BYTES / 2));
    // All but its end, and then the end with as much behind it as one read brings.
    flood.read(&last[..whole - 2]);
    flood.read(&last[whole - 2..]);
    assert!(!flood.machine.wants_read());
    flood.gauge.came_near(60);
}

/// Answers that nobody reads, requests that nobody takes, and one more that comes.
pub(crate) fn served_every_part_at_once() {
    let mut limits = limits();
    limits.max_in_flight = 700;
    let mut flood = Flood::new(limits.worst_case_server_bytes(), || {
        let mut config = sanswire_tests::served::config();
        config.limits = limits;
        server::LineConnection::new(config, [0; 32], NOW).unwrap()
    });
    let mut catalog = server::Catalog::new();
    catalog.tool(&json(r#"{"name":"t"}"#)).unwrap();
    flood.run(|machine| machine.set_catalog(catalog));
    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#;
    flood.read(
        format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{hello}}}\n").as_bytes(),
    );
    flood.read(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    flood.write_all();
    flood.take();
    let mut open: Vec<RequestHandle> = Vec::with_capacity(1000);
    for n in 1..=600 {
        flood.read(
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"tools/call\",\"params\":{{\"name\":\"t\"}}}}\n"
            )
            .as_bytes(),
        );
        flood.run(|machine| {
            while let Some(event) = machine.poll_event() {
                if let Event::Request { request, .. } = event {
                    open.push(request);
                }
            }
        });
    }
    assert_eq!(open.len(), 600);
    let mut n = 1000;
    let head =
        format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"tools/call","params":{{"name":"t","x":""#).len();
    let mut request = |len: usize| {
        n += 1;
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"tools/call\",\"params\":{{\"name\":\"t\",\"x\":\"{}\"}}}}\n",
            "a".repeat(len - head)
        )
    };
    for _ in 0..60 {
        let request = request(HALF);
        assert_eq!(flood.read(request.as_bytes()), request.len());
    }
    let long = request(BIG - 100);
    flood.read(&long.as_bytes()[..BIG - 200]);
    let reply = |size: usize| {
        let text = format!(r#"{{"content":[],"x":"{}"}}"#, "b".repeat(size));
        server::Reply::Complete(json(&text))
    };
    let (small, big) = (reply(SMALL - 100), reply(BIG - 100));
    let respond =
        |flood: &mut Flood<server::LineConnection>, open: &mut Vec<RequestHandle>, reply: &server::Reply| {
            let request = open.pop().unwrap();
            flood.run(|machine| machine.respond(request, reply, NOW)).is_ok()
        };
    for _ in 0..8 * MIB / SMALL - 1 {
        assert!(respond(&mut flood, &mut open, &small));
    }
    assert!(respond(&mut flood, &mut open, &big), "one message overshoots");
    assert!(!flood.machine.wants_read());
    flood.run(|machine| machine.handle_timeout(NOW));
    flood.gauge.came_near(60);
}
