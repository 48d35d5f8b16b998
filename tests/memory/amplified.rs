//! Little that would keep much: what is counted must be what is held.

use sanswire::client::{Config, LineConnection, Link as _, RequestOptions, Start};
use sanswire::limits::Limits;
use sanswire::mcp::{Method, Revision};
use sanswire::server;

use crate::counting::{Flood, KIB, NOW};

/// The longest message: small enough for a test, big enough for a buffer to leave with its message.
const BIG: usize = 128 * KIB;

/// Bounds so tight that the one thing a scenario floods is most of what may be held.
fn tight() -> Limits {
    let mut limits = Limits::default();
    limits.max_message_bytes = BIG;
    limits.max_in_flight = 8;
    limits.max_subscriptions = 0;
    limits.max_peer_requests = 0;
    limits.max_queued_out_bytes = 4 * KIB;
    limits.max_queued_events = 1000;
    limits.max_queued_event_bytes = 4 * KIB;
    limits
}

impl Flood<LineConnection> {
    fn opening(start: Start, limits: Limits) -> Self {
        let mut this = Self::new(limits.worst_case_bytes(), || {
            let mut config = Config::new("held", "0");
            config.start = start;
            config.limits = limits;
            LineConnection::new(config, [0; 32], NOW).unwrap()
        });
        this.write_all();
        this
    }

    fn ready(revision: Revision, limits: Limits) -> Self {
        let mut this = Self::opening(Start::Pinned(revision), limits);
        let answer = if revision == Revision::V2026_07_28 {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#.to_owned()
        } else {
            format!(r#"{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{}}}}"#)
        };
        this.tell(&format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{answer}}}\n"));
        this.take();
        this.write_all();
        this
    }

    fn call(&mut self) {
        self.run(|machine| machine.request(Method::ToolsCall, None, &RequestOptions::default(), NOW))
            .unwrap();
        self.write_all();
    }

    /// Whether all of it was taken.
    fn tell(&mut self, line: &str) -> bool {
        self.read(line.as_bytes()) == line.len()
    }

    fn flood(&mut self, mut line: impl FnMut(usize) -> String) -> usize {
        let mut taken = 0;
        while taken < 500 && self.tell(&line(taken)) {
            taken += 1;
        }
        taken
    }

    /// What it holds beside its buffers.
    fn beside_buffers(&self) -> usize {
        self.gauge.held() - self.machine.retained_bytes()
    }
}

pub(crate) fn progress_texts_that_are_cut_short() {
    let text = "x".repeat(BIG - 200);
    let mut limits = tight();
    limits.max_queued_event_bytes = 4 * BIG;
    let mut held = Flood::ready(Revision::V2025_11_25, limits);
    held.call();
    held.flood(|n| {
        let n = n + 1;
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":2,\"progress\":{n},\"message\":\"{text}\"}}}}\n")
    });
}

pub(crate) fn messages_that_fill_half_of_their_buffer() {
    let text = "x".repeat(BIG / 2 + 2 * KIB);
    let mut limits = tight();
    limits.max_queued_event_bytes = 200 * BIG;
    let mut held = Flood::ready(Revision::V2025_11_25, limits);
    let taken = held.flood(|_| {
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"data\":\"{text}\"}}}}\n")
    });
    assert!(taken > 200, "{taken}");
}

pub(crate) fn served_messages_that_fill_half_of_their_buffer() {
    let mut limits = tight();
    limits.max_in_flight = 500;
    limits.max_queued_event_bytes = 200 * BIG;
    let mut held = Flood::new(limits.worst_case_server_bytes(), || {
        let mut config = sanswire_tests::served::config();
        config.limits = limits;
        let mut machine = server::LineConnection::new(config, [0; 32], NOW).unwrap();
        let mut catalog = server::Catalog::new();
        catalog.tool(&sanswire_tests::client::json(r#"{"name":"t"}"#)).unwrap();
        machine.set_catalog(catalog);
        machine
    });
    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#;
    held.read(
        format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{hello}}}\n").as_bytes(),
    );
    held.write_all();
    let text = "x".repeat(BIG / 2 + 2 * KIB);
    let mut taken = 0;
    for n in 1..500 {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"tools/call\",\"params\":{{\"name\":\"t\",\"x\":\"{text}\"}}}}\n"
        );
        taken += usize::from(held.read(line.as_bytes()) == line.len());
    }
    assert!(taken > 200, "{taken}");
    held.gauge.came_near(60);
}

pub(crate) fn errors_in_escapes() {
    for text in ["x".repeat(BIG - 200), "\\u0061".repeat((BIG - 200) / 6)] {
        let mut limits = tight();
        limits.max_in_flight = 1000;
        limits.max_queued_event_bytes = 100 * BIG;
        let mut held = Flood::ready(Revision::V2025_11_25, limits);
        (0..250).for_each(|_| held.call());
        held.flood(|n| {
            let id = n + 2;
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":1,\"data\":[],\"message\":\"{text}\"}}}}\n")
        });
    }
}

pub(crate) fn names_in_escapes() {
    let text = "\\u0061".repeat((BIG - 200) / 6);
    let mut held = Flood::ready(Revision::V2025_11_25, tight());
    for message in [
        format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"{text}\"}}\n"),
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{text}\"}}\n"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{text}\",\"result\":{{}}}}\n"),
    ] {
        (0..3).for_each(|_| {
            held.tell(&message);
        });
        held.take();
        held.write_all();
    }
}

pub(crate) fn introductions() {
    let (plain, escaped) = ("x".repeat(BIG / 3), "\\u0061".repeat(BIG / 20));
    let mut held = Flood::opening(Start::Pinned(Revision::V2026_07_28), tight());
    held.tell(&format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{{}},\"instructions\":\"{plain}\",\"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{{\"name\":\"{plain}\",\"version\":\"{escaped}\"}}}}}}}}\n"));
    assert!(held.machine.session().revision().is_some());
    let mut held = Flood::opening(Start::Pinned(Revision::V2025_11_25), tight());
    held.tell(&format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{{}},\"instructions\":\"{plain}\",\"serverInfo\":{{\"name\":\"{plain}\",\"version\":\"{escaped}\"}}}}}}\n"));
    assert!(held.machine.session().revision().is_some());
}

pub(crate) fn refusals() {
    let text = "x".repeat(BIG / 2 - 200);
    let error = |id: u32| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"{text}\",\"data\":\"{text}\"}}}}\n"
        )
    };
    let mut held = Flood::opening(Start::Unknown, tight());
    held.tell(&error(1));
    // Of what a server says while it refuses, a sentence is kept.
    let kept = held.beside_buffers();
    assert!(kept < 64 * KIB, "{kept}");
    held.tell(&error(2));
    assert!(held.machine.session().close_reason().is_some());
    let kept = held.beside_buffers();
    assert!(kept < 64 * KIB, "{kept}");
}

pub(crate) fn many_questions_at_once() {
    let mut held = Flood::ready(Revision::V2026_07_28, tight());
    held.call();
    let questions: Vec<String> =
        (0..3000).map(|n| format!("\"{n}\":{{\"method\":\"roots/list\"}}")).collect();
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"resultType\":\"input_required\",\"inputRequests\":{{{}}}}}}}\n",
        questions.join(",")
    );
    let before = held.beside_buffers();
    held.tell(&line);
    let more = held.beside_buffers().saturating_sub(before);
    assert!(more < 100 * KIB, "{more} bytes are held of a result that asks too much");
}
