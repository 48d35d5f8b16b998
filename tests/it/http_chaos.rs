//! The client over HTTP under a server that keeps no rule: heads, contents, ends and time in any order.

use std::time::Duration;

use sanswire::client::{Config, Event, Link as _, Outcome, RequestHandle, Start, Verdict};
use sanswire::http::Url;
use sanswire::http::client::{End, Kind, Target};
use sanswire::mcp::{Method, Revision};
use sanswire_tests::http_rig::{Rig, Sent, URL};
use sanswire_tests::peer::{discover_result, initialize_result};
use sanswire_tests::seed::{Rng, each_seed};
use serde_json::{Value, json};

const LIMIT: usize = 4096;

fn rig(rng: &mut Rng) -> Rig {
    let mut config = Config::new("chaos", "0");
    config.limits.max_message_bytes = LIMIT;
    config.limits.max_queued_events = *rng.pick(&[1, 4096]);
    config.limits.violation_budget = *rng.pick(&[0, 1000, 1000, 1000]);
    config.limits.max_in_flight = *rng.pick(&[2, 64]);
    config.capabilities.roots = rng.chance(50);
    config.start = rng
        .pick(&[
            Start::Unknown,
            Start::Unknown,
            Start::Remembered(Verdict::Legacy),
            Start::Remembered(Verdict::Modern),
            Start::Pinned(Revision::V2025_03_26),
        ])
        .clone();
    let mut target = Target::new(Url::parse(URL).unwrap());
    target.kind = *rng.pick(&[Kind::Auto, Kind::Auto, Kind::Streamable, Kind::Sse]);
    let mut rig = Rig::new(config, target);
    if rng.chance(75) && rig.client.kind().is_none() {
        open_well(rng, &mut rig);
    }
    rig
}

/// The opening goes well: what comes behind it is what is to be broken.
fn open_well(rng: &mut Rng, rig: &mut Rig) {
    let first = rig.take();
    if first.body.is_empty() {
        rig.head(&first, 200, &[("Content-Type", "text/event-stream")]);
        rig.body(&first, b"event: endpoint\ndata: /post\n\n");
    } else if first.method() == "server/discover" && rng.chance(60) {
        rig.reply(&first, discover_result(&["2026-07-28"]));
    } else {
        if first.method() == "server/discover" {
            rig.answer(&first, 404, &[], b"");
        }
        let initialize = if first.method() == "initialize" { first } else { rig.take() };
        let revision = if rng.chance(30) { "2025-03-26" } else { "2025-11-25" };
        let result = json!({"jsonrpc": "2.0", "id": initialize.message()["id"], "result": initialize_result(revision)});
        let fields = [("Content-Type", "application/json"), ("Mcp-Session-Id", "first")];
        rig.answer(&initialize, 200, &fields, result.to_string().as_bytes());
    }
}

fn tools(rng: &mut Rng) -> Value {
    let kind = *rng.pick(&["string", "number"]);
    let schema = json!({"properties": {"a": {"type": kind, "x-mcp-header": "A"}}});
    json!({"resultType": "complete", "tools": [{"name": "t", "inputSchema": schema}, {"name": "u"}], "nextCursor": "c"})
}

/// What a server might say to this request, or to another.
fn message(rng: &mut Rng, to: &Sent) -> Value {
    let sent: Value = serde_json::from_slice(&to.body).unwrap_or_default();
    let id = if rng.chance(85) { sent["id"].clone() } else { json!(rng.number() % 8) };
    let result = match sent["method"].as_str() {
        Some("server/discover") => discover_result(&["2026-07-28"]),
        Some("initialize") => {
            initialize_result(rng.pick::<&str>(&["2025-11-25", "2025-03-26", "2024-11-05"]))
        }
        Some("tools/list") => tools(rng),
        _ => json!({"resultType": "complete", "content": []}),
    };
    match rng.below(10) {
        0 => {
            let code = *rng.pick(&[-32601, -32020, -32020, -32021, -32022, -32000]);
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", "data": {"supported": ["2025-11-25"]}}})
        }
        1 => json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "no"}}),
        2 => {
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": id, "progress": rng.number() % 100}})
        }
        3 => json!({"jsonrpc": "2.0", "id": "p", "method": *rng.pick(&["ping", "roots/list", "x"])}),
        4 => json!({"jsonrpc": "2.0", "id": id, "result": {"x": "y".repeat(LIMIT)}}),
        _ => json!({"jsonrpc": "2.0", "id": id, "result": result}),
    }
}

fn content(rng: &mut Rng, to: &Sent) -> Vec<u8> {
    let message = message(rng, to).to_string();
    match rng.below(12) {
        0 => Vec::new(),
        1 => (0..rng.below(200)).map(|_| (rng.number() % 256) as u8).collect(),
        2 => b"event: endpoint\ndata: /post\n\n".to_vec(),
        3 => b"id: 9\nretry: 100\ndata:\n\n".to_vec(),
        4 => message.into_bytes(),
        5 => format!("[{message}]").into_bytes(),
        _ => format!("id: {}\ndata: {message}\n\n", rng.below(9)).into_bytes(),
    }
}

fn head(rng: &mut Rng, rig: &mut Rig, to: &Sent) {
    let status = *rng.pick(&[
        200, 200, 200, 200, 200, 200, 202, 204, 100, 301, 307, 308, 400, 401, 403, 404, 404, 405, 406, 413,
        500, 503,
    ]);
    let mut fields = vec![(
        "Content-Type",
        *rng.pick(&["application/json", "text/event-stream", "text/event-stream", "text/html"]),
    )];
    if rng.chance(40) {
        fields.push(("Mcp-Session-Id", *rng.pick(&["s", "t", "no good"])));
    }
    if rng.chance(5) {
        fields.push(("Content-Encoding", "gzip"));
    }
    fields.push(("Location", *rng.pick(&["/mcp/", "/mcp", "https://other.example/"])));
    fields.push(("WWW-Authenticate", "Bearer scope=\"x\""));
    rig.head(to, status, &fields);
}

fn act(rng: &mut Rng, rig: &mut Rig, open: &mut Vec<Sent>, requests: &mut Vec<RequestHandle>) {
    while let Some(sent) = rig.queued() {
        open.push(sent);
    }
    // Those that are old are acted on as well: nothing may come of it.
    let sent = (!open.is_empty()).then(|| open[rng.below(open.len())].clone());
    match (rng.below(17), sent) {
        (0 | 1, Some(sent)) => rig.client.handle_sent(sent.exchange, rig.now),
        (2..=4, Some(sent)) => head(rng, rig, &sent),
        (5 | 6, Some(sent)) => {
            let bytes = content(rng, &sent);
            rig.body(&sent, &bytes);
        }
        (7, Some(sent)) => {
            let end = rng.pick(&[End::Whole, End::Whole, End::Broken, End::Unreachable]).clone();
            rig.end(&sent, end);
        }
        (8, Some(sent)) => {
            head(rng, rig, &sent);
            let bytes = content(rng, &sent);
            rig.body(&sent, &bytes);
            rig.end(&sent, End::Whole);
        }
        // As a server does that keeps the rules, so that there is something to break.
        (9 | 15, Some(sent)) => {
            let sent_message: Value = serde_json::from_slice(&sent.body).unwrap_or_default();
            match sent_message["method"].as_str() {
                Some("server/discover") => rig.reply(&sent, discover_result(&["2026-07-28"])),
                Some("initialize") => rig.reply(&sent, initialize_result("2025-11-25")),
                Some("notifications/initialized") => rig.answer(&sent, 202, &[], b""),
                Some("tools/list") => rig.reply(&sent, tools(rng)),
                Some("tools/call") => rig.reply(&sent, json!({"resultType": "complete", "content": []})),
                _ => {}
            }
        }
        (10..=13, _) => {
            let method =
                rng.pick(&[Method::ToolsCall, Method::ToolsList, Method::SubscriptionsListen]).clone();
            let params =
                sanswire_tests::client::json(r#"{"name":"t","arguments":{"a":"x"},"notifications":{}}"#);
            let options = sanswire::client::RequestOptions::default();
            requests.extend(rig.client.request(method, Some(params), &options, rig.now));
        }
        (14, _) if !requests.is_empty() => {
            let _ = rig.client.cancel(*rng.pick(requests), None, rig.now);
        }
        _ => rig.wait(Duration::from_millis(*rng.pick(&[0, 1, 500, 3000, 20_000]))),
    }
    if rng.chance(1) && rng.chance(30) {
        rig.close();
    }
    // What is read, what may have to be sent again, and what was told and not taken.
    assert!(rig.client.retained_bytes() < 40 * LIMIT + open.len() * 3 * LIMIT);
}

#[test]
fn every_accepted_request_ends_once_in_whatever_order_answers_come() {
    // Golden rules 1, 4 and 5.
    let mut seen = [0_usize; 7];
    each_seed(400, |seed| {
        let mut rng = Rng::new(seed);
        let mut rig = rig(&mut rng);
        let mut open = Vec::new();
        let mut requests = Vec::new();
        for _ in 0..300 {
            act(&mut rng, &mut rig, &mut open, &mut requests);
        }
        rig.wait(Duration::from_secs(1200));
        rig.close();
        rig.wait(Duration::from_secs(10));
        while let Some(sent) = rig.queued() {
            open.push(sent);
        }
        assert!(matches!(rig.events.last(), Some(Event::Closed(_))), "closed, and last");
        assert_eq!(rig.events.iter().filter(|event| matches!(event, Event::Closed(_))).count(), 1);
        for request in &requests {
            assert!(rig.outcome(*request).is_some(), "{request:?} never ended");
        }
        let finished = rig.events.iter().filter(|event| matches!(event, Event::Finished { .. })).count();
        assert_eq!(finished, requests.len());
        assert_eq!(rig.client.poll_timeout(), None, "over, and waits for nothing");
        for sent in &open {
            assert_eq!(sent.to.to_string(), "https://mcp.example:8443", "nothing goes elsewhere");
        }
    });
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let mut rig = rig(&mut rng);
        let (mut open, mut requests) = (Vec::new(), Vec::new());
        for _ in 0..300 {
            act(&mut rng, &mut rig, &mut open, &mut requests);
        }
        for event in &rig.events {
            let at = match event {
                Event::Ready(_) => 0,
                Event::Renewed(_) => 1,
                Event::Finished { outcome: Outcome::Complete(_), .. } => 2,
                Event::Finished { outcome: Outcome::Lost { .. }, .. } => 3,
                Event::Finished { outcome: Outcome::Challenged(_), .. } => 4,
                Event::Violation(sanswire::error::Violation::ToolLeftOut { .. }) => 5,
                _ => 6,
            };
            seen[at] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 3), "the runs reach what they are meant to reach: {seen:?}");
}
