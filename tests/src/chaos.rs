//! A server that may do anything, and an application that may ask anything, by a seed.

use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{
    Config, Event, InputAnswers, Outcome, PeerRequestHandle, RequestHandle, RequestOptions, Start, Verdict,
};
use sanswire::mcp::types::input::InputAnswer;
use sanswire::mcp::{Method, Revision};
use serde_json::{Value, json};

use crate::client::{Client, On, json};
use crate::exchange_link::ExchangeLink;
use crate::http_link::HttpLink;
use crate::line_link::line_link;
use crate::link::{Pieces, Shape};
use crate::peer::{End, Out, Server, discover_result, initialize_result};
use crate::seed::Rng;

/// Longer than anything is under way.
const OLD: Duration = Duration::from_secs(5);

/// What is changed in a run of a seed, so that two runs can be compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Twist {
    /// Bytes arrive in pieces of this size.
    pub pieces: Option<Pieces>,
    /// No queue is ever full, no event is left lying and nothing ends by surprise, so that nothing depends on what
    /// else is done at the same instant.
    pub roomy: bool,
    /// The driver makes calls that nobody asked for.
    pub fidget: bool,
}

/// A client of this seed, with a server and links of this seed.
#[must_use]
pub fn client(on: On, seed: u64) -> Client {
    twisted(on, seed, Twist::default())
}

/// As [`client`], with a twist.
#[must_use]
pub fn twisted(on: On, seed: u64, twist: Twist) -> Client {
    let mut rng = Rng::new(seed);
    let mut config = config(&mut rng);
    if twist.roomy {
        let limits = sanswire::limits::Limits::default();
        config.limits.max_queued_events = limits.max_queued_events;
        config.limits.max_queued_out_bytes = limits.max_queued_out_bytes;
        config.limits.violation_budget = limits.violation_budget;
    }
    let server = server(rng.fork(), !twist.roomy);
    let now = Instant::from_millis(rng.number() % 1000);
    let link: Box<dyn crate::client_link::ClientLink> = match on {
        On::Line => {
            let mut shapes = [shape(&mut rng, now), shape(&mut rng, now)];
            for shape in &mut shapes {
                shape.pieces = twist.pieces.unwrap_or(shape.pieces);
                if twist.roomy {
                    shape.capacity = usize::MAX;
                    shape.cut_after = None;
                }
            }
            let mut link = line_link(config, server, shapes, rng.number(), now);
            link.small_writes = rng.chance(50).then(|| 1 + rng.below(200));
            link.fidget = twist.fidget;
            Box::new(link)
        }
        On::Exchanges => {
            let latency = Duration::from_millis(rng.number() % 50);
            let mut link = ExchangeLink::new(config, server, latency, now);
            link.fidget = twist.fidget;
            Box::new(link)
        }
        On::Http => {
            let latency = Duration::from_millis(rng.number() % 50);
            Box::new(HttpLink::new(config, server, latency, now))
        }
    };
    Client { link, on }
}

fn config(rng: &mut Rng) -> Config {
    let mut config = Config::new("chaos", "0");
    let starts = [
        Start::Unknown,
        Start::Unknown,
        Start::Remembered(Verdict::Legacy),
        Start::Remembered(Verdict::Modern),
        Start::Pinned(Revision::V2026_07_28),
        Start::Pinned(Revision::V2025_03_26),
    ];
    config.start = rng.pick(&starts).clone();
    config.capabilities.roots = rng.chance(50);
    config.capabilities.elicitation_form = rng.chance(50);
    config.capabilities.sampling = rng.chance(50);
    config.lenient_ids = rng.chance(20);
    let limits = &mut config.limits;
    limits.max_message_bytes = *rng.pick(&[4096, 6000, 1 << 20]);
    limits.max_in_flight = *rng.pick(&[2, 1024, 1024]);
    limits.max_queued_events = *rng.pick(&[1, 4, 4096]);
    limits.max_queued_out_bytes = *rng.pick(&[4096, 1 << 20]);
    limits.max_peer_requests = *rng.pick(&[0, 1, 64, 64]);
    limits.max_subscriptions = *rng.pick(&[0, 1, 64]);
    limits.violation_budget = *rng.pick(&[0, 2, 10, 1000, 1000, 1000]);
    limits.peer_request = Duration::from_secs(*rng.pick(&[1, 600]));
    limits.request_idle = Duration::from_secs(*rng.pick(&[1, 30]));
    limits.request_absolute = Duration::from_secs(*rng.pick(&[3, 600]));
    config
}

/// A pipe of any kind.
pub fn shape(rng: &mut Rng, now: Instant) -> Shape {
    Shape {
        latency: Duration::from_millis(*rng.pick(&[0, 0, 1, 20, 3000])),
        pieces: *rng.pick(&[Pieces::Whole, Pieces::Bytes(1), Pieces::Random(30), Pieces::Random(5000)]),
        capacity: *rng.pick(&[usize::MAX, usize::MAX, usize::MAX, 65_536, 512, 1]),
        stall_until: if rng.chance(10) { now.saturating_add(Duration::from_secs(4)) } else { Instant::ZERO },
        cut_after: rng.chance(15).then(|| rng.number() % 20_000),
    }
}

fn server(mut rng: Rng, may_close: bool) -> Server {
    let kind = rng.below(4);
    let version = *rng.pick(&[
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2025-11-25",
        "2025-11-25",
        "2025-06-18",
        "1999-09-09",
    ]);
    let mut server = Server::mute();
    server.on("*", move |request, out| {
        let late = Duration::from_millis(*rng.pick(&[0, 0, 0, 1, 40, 2500, 40_000]));
        let mut out = out.after(late);
        let method = request["method"].as_str().unwrap_or_default();
        let sane = rng.chance(85);
        match method {
            "initialize" if sane && kind != 0 => out.result(request, initialize_result(version)),
            "server/discover" if sane && kind <= 1 => {
                out.result(request, discover_result(&["2026-07-28", "2025-11-25"]));
            }
            "initialize" | "server/discover" if sane => out.error(request, -32601, "no"),
            _ => mischief(&mut rng, request, &mut out, may_close),
        }
    });
    server
}

/// One to three things a server might do with a request.
pub fn mischief(rng: &mut Rng, request: &Value, out: &mut Out<'_>, may_close: bool) {
    for _ in 0..=rng.below(3) {
        let id = request["id"].clone();
        let late = Duration::from_millis(*rng.pick(&[0, 0, 0, 5, 700]));
        let mut out = out.after(late);
        let result = json!({"resultType": "complete", "content": [], "tools": []});
        match rng.below(29) {
            0..=5 => out.result(request, result),
            6 => out.error(request, -32603, "broken"),
            7 => {
                out.result(request, result.clone());
                out.result(request, result);
            }
            8 => out.progress(request, f64::from(u32::try_from(rng.below(5)).unwrap())),
            9 => {
                let ask = json!({"k": {"method": "roots/list"}});
                let state =
                    json!({"resultType": "input_required", "inputRequests": ask, "requestState": "s"});
                out.result(request, state);
            }
            10 => out.result(request, json!({"resultType": "odd"})),
            11 => out.message(json!({"jsonrpc": "2.0", "id": id.to_string(), "result": result})),
            12 => out.message(json!({"jsonrpc": "2.0", "id": rng.number() % 40, "result": result})),
            13 => out.result(request, json!({"resultType": "complete", "x": "y".repeat(rng.below(20_000))})),
            14 => out.raw("junk é \u{1b}[0m\n"),
            15 => out.raw(vec![0xff, b'{', b'\n']),
            16 => out.raw(format!("[{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}},1]\n")),
            26 => out.result(request, json!([])),
            27 => out.result(request, json!({"content": []})),
            28 => out.push().notify("notifications/tools/list_changed", json!({})),
            17 | 24..=25 => {
                let method =
                    *rng.pick(&["ping", "roots/list", "sampling/createMessage", "elicitation/create", "x"]);
                out.request(json!(rng.below(4)), method, json!({"message": "m"}));
            }
            18 => {
                let other = json!(rng.below(4));
                let cancelled = json!({"requestId": rng.pick(&[id, other])});
                out.push().notify("notifications/cancelled", cancelled);
            }
            19 => out.push().notify(
                "notifications/tools/list_changed",
                json!({"_meta": {"io.modelcontextprotocol/subscriptionId": id}}),
            ),
            20 => out.message(json!({"jsonrpc": "2.0", "error": {"code": -32700, "message": "?"}})),
            21 => out.end(*rng.pick(&[
                End::Finished,
                End::Broken,
                End::Refused(400),
                End::Refused(500),
                End::Challenged(401),
            ])),
            22 if rng.chance(7) && may_close => out.close(),
            _ => {}
        }
    }
}

/// Lets an application of this seed loose on a client, then closes it and waits for the end.
///
/// # Panics
/// If the client breaks a rule.
pub fn torment(client: &mut Client, seed: u64) {
    torment_with(client, seed, Twist::default());
}

/// As [`torment`], with a twist.
///
/// # Panics
/// If the client breaks a rule.
pub fn torment_with(client: &mut Client, seed: u64, twist: Twist) {
    let mut rng = Rng::new(seed ^ 0x00c0_ffee);
    let mut calls: Vec<(RequestHandle, Method)> = Vec::new();
    if rng.chance(80) {
        client.wait_ms(9000);
    }
    for _ in 0..rng.below(120) {
        if let Ok(handle) = act(client, &mut rng, &calls, twist) {
            calls.extend(handle);
        }
    }
    client.link.hold(false);
    if rng.chance(30) {
        client.wait(Duration::from_secs(700));
        let open = client.link.session().in_flight();
        let listening = open_ones(client, &calls, Some(Method::SubscriptionsListen));
        assert_eq!(open, listening, "no call outlives its deadlines\n{}", client.link.report());
    }
    client.link.close();
    client.wait_ms(10_000);
    assert!(client.close_reason().is_some(), "not closed\n{}", client.link.report());
    assert_eq!(open_ones(client, &calls, None), 0, "{}", client.link.report());
    check_wire(client);
}

/// How many of these requests, of this method, have not ended. Each ends once.
fn open_ones(client: &Client, calls: &[(RequestHandle, Method)], of: Option<Method>) -> usize {
    let ended: Vec<RequestHandle> = client.find(|event| match event {
        Event::Finished { request, .. } => Some(*request),
        _ => None,
    });
    let ends = |call: &RequestHandle| ended.iter().filter(|ended| *ended == call).count();
    assert!(calls.iter().all(|(call, _)| ends(call) <= 1), "{}", client.link.report());
    let wanted = |method: &Method| of.as_ref().is_none_or(|of| of == method);
    calls.iter().filter(|(call, method)| wanted(method) && ends(call) == 0).count()
}

fn act(
    client: &mut Client,
    rng: &mut Rng,
    calls: &[(RequestHandle, Method)],
    twist: Twist,
) -> Result<Option<(RequestHandle, Method)>, sanswire::error::ApiError> {
    let mut options = RequestOptions::default();
    options.idle = *rng.pick(&[
        None,
        None,
        None,
        Some(Duration::ZERO),
        Some(Duration::from_millis(3)),
        Some(Duration::MAX),
    ]);
    match rng.below(20) {
        0..=5 => {
            let size = *rng.pick(&[0, 10, 3000, 5000]);
            let params = json!({"name": "echo", "arguments": {"x": "a".repeat(size)}}).to_string();
            let call = client.link.request(Method::ToolsCall, Some(json(&params)), &options)?;
            return Ok(Some((call, Method::ToolsCall)));
        }
        6 => {
            let method = rng.pick(&[Method::ToolsList, Method::Ping, Method::PromptsGet, Method::Initialize]);
            return Ok(Some((client.link.request(method.clone(), None, &options)?, method.clone())));
        }
        7 => {
            let filter = Some(json(r#"{"notifications":{"toolsListChanged":true}}"#));
            let listen = client.link.request(Method::SubscriptionsListen, filter, &options)?;
            return Ok(Some((listen, Method::SubscriptionsListen)));
        }
        8 => {
            let input = client.find(|event| match event {
                Event::Finished { outcome: Outcome::InputRequired(input), .. } => Some((**input).clone()),
                _ => None,
            });
            if let Some(input) = input.last() {
                let answer = InputAnswer::Result(json(r#"{"roots":[]}"#));
                let answers = InputAnswers::collect(input, |_| answer.clone());
                return Ok(Some((client.link.resume(input, &answers, &options)?, input.method().clone())));
            }
        }
        9 if !calls.is_empty() => client.link.cancel(rng.pick(calls).0, Some("enough"))?,
        10 => {
            let asked: Vec<PeerRequestHandle> = client.find(|event| match event {
                Event::PeerRequest { handle, .. } => Some(*handle),
                _ => None,
            });
            if !asked.is_empty() {
                client.link.answer(*rng.pick(&asked), &InputAnswer::Cancel)?;
            }
        }
        11 => client.link.notify(Method::RootsListChanged, None)?,
        12 => {
            let holding = rng.chance(30);
            client.link.hold(holding && !twist.roomy);
        }
        13 if rng.chance(5) => client.link.close(),
        14 => client.push_raw("more junk\n"),
        _ => client.wait(Duration::from_micros(rng.number() % *rng.pick(&[1, 5000, 3_000_000, 40_000_000]))),
    }
    Ok(None)
}

/// What a client writes is always a message it may send.
fn check_wire(client: &Client) {
    let server = client.link.server();
    assert!(server.junk.is_empty(), "{:?}", server.junk);
    // A ping may be answered while the era is still being looked for; nothing may later on.
    let modern_at = client.link.events().iter().find_map(|(at, event)| match event {
        Event::Ready(peer) if peer.revision == Revision::V2026_07_28 => Some(at.saturating_add(OLD)),
        _ => None,
    });
    let mut asked = Vec::new();
    let mut opening = Vec::new();
    let mut cancelled = Vec::new();
    for received in &server.received {
        let message = &received.message;
        assert_eq!(message["jsonrpc"], "2.0", "{}", received.text);
        let method = message["method"].as_str();
        match (method, message.get("id")) {
            (Some("notifications/cancelled"), None) => {
                let id = message["params"]["requestId"].as_u64().expect("the id of a request");
                assert!(asked.contains(&id), "a cancel before its request: {}", received.text);
                assert!(!opening.contains(&id), "the opening is never cancelled: {}", received.text);
                assert!(!cancelled.contains(&id), "cancelled twice: {}", received.text);
                cancelled.push(id);
            }
            (Some(method), None) => assert!(method.starts_with("notifications/"), "{}", received.text),
            (Some(method), Some(id)) => {
                let id = id.as_u64().expect("our ids are integers");
                assert!(asked.last().is_none_or(|last| *last < id) || client.on.has_streams());
                assert!(!asked.contains(&id), "{id} is used twice");
                asked.push(id);
                if matches!(method, "initialize" | "server/discover") {
                    opening.push(id);
                }
            }
            (None, id) => {
                let late = modern_at.is_some_and(|modern| received.at > modern);
                assert!(!late, "a modern client answers nothing: {}", received.text);
                assert!(id.is_some_and(|id| !id.is_null()), "{}", received.text);
                assert!(message.get("result").is_some() != message.get("error").is_some());
                if let Some(error) = message.get("error") {
                    let code = error["code"].as_i64().expect("a code");
                    assert!([-1, -32600, -32601, -32602, -32603].contains(&code), "{}", received.text);
                    let said = error["message"].as_str().expect("a sentence");
                    assert!((1..80).contains(&said.len()) && !said.contains('\n'), "{said:?}");
                }
            }
        }
    }
}
