//! Floods of a served connection, up to each limit.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use sanswire::Machine;
use sanswire::limits::Limits;
use sanswire::mcp::types::input::{InputKind, InputRequest};
use sanswire::server::{Catalog, Event, LineConnection, Notice, Reply, RequestHandle};
use sanswire_tests::seed::Rng;
use sanswire_tests::served::{config, meta, raw};
use serde_json::{Value, json};

use crate::counting::{self, KIB, NOW};

/// A connection, and the requests that it told of.
struct Flood {
    of: counting::Flood<LineConnection>,
    open: Vec<RequestHandle>,
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_message_bytes = 64 * KIB;
    limits.max_in_flight = 200;
    limits.max_subscriptions = 20;
    limits.max_peer_requests = 100;
    limits.max_resource_subscriptions = 50;
    limits.max_queued_out_bytes = 256 * KIB;
    limits.max_queued_events = 64;
    limits.max_queued_event_bytes = 256 * KIB;
    limits.violation_budget = u32::MAX;
    limits.max_junk_lines = 1 << 20;
    limits
}

impl Flood {
    /// In a session of the one revision with batches, with a listing of some length.
    fn start(limits: Limits) -> Self {
        let limit = limits.worst_case_server_bytes();
        let mut config = config();
        config.limits = limits;
        config.capabilities.resources = true;
        // The catalog is the application's.
        let mut catalog = Catalog::new();
        for n in 0..100 {
            let tool = json!({"name": format!("t{n}"), "description": "d".repeat(300)});
            catalog.tool(&raw(&tool)).unwrap();
        }
        catalog.prompt(&raw(&json!({"name": "p"}))).unwrap();
        let catalog = Arc::new(catalog);
        let of = counting::Flood::new(limit, || {
            let mut machine = LineConnection::new(config, [0; 32], NOW).unwrap();
            machine.set_catalog(catalog);
            machine
        });
        let mut flood = Self { of, open: Vec::with_capacity(70_000) };
        let roots = json!({"roots": {}});
        let params = json!({"protocolVersion": "2025-03-26", "capabilities": roots});
        flood.read(&line(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})));
        flood.read(&line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})));
        flood.write_all();
        flood.take();
        flood
    }

    fn take(&mut self) {
        let open = &mut self.open;
        self.of.run(|machine| {
            while let Some(event) = machine.poll_event() {
                if let Event::Request { request, .. } = event {
                    open.push(request);
                }
            }
        });
    }
}

impl Deref for Flood {
    type Target = counting::Flood<LineConnection>;

    fn deref(&self) -> &Self::Target {
        &self.of
    }
}

impl DerefMut for Flood {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.of
    }
}

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

fn request(id: &Value, method: &str, mut params: Value, modern: bool) -> Value {
    if modern {
        for (name, value) in meta().as_object().unwrap() {
            params["_meta"][name] = value.clone();
        }
    }
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Requests with ids and tokens as long as they may be, reported and never answered.
pub(crate) fn served_requests_that_nobody_answers() {
    for modern in [false, true] {
        let mut flood = Flood::start(limits());
        for n in 0..400 {
            let id = json!(format!("{n}{}", "i".repeat(480)));
            let params = json!({"name": "t1", "_meta": {"progressToken": id}});
            flood.read(&line(&request(&id, "tools/call", params, modern)));
            flood.take();
            flood.write_all();
        }
        assert_eq!(flood.machine.session().in_flight(), 200);
        flood.gauge.reached(200 * KIB);
    }
}

/// Events that nobody takes: small ones, big ones, and such as are copied out of their frames.
pub(crate) fn served_events_that_nobody_takes() {
    let extended = json!({"a/b": "x".repeat(40_000)});
    let extended = json!({"io.modelcontextprotocol/clientCapabilities": {"extensions": extended}});
    for (params, at_least) in [
        (json!({"name": "t1"}), 8 * KIB),
        (json!({"name": "t1", "arguments": {"x": "y".repeat(60_000)}}), 256 * KIB),
        (json!({"name": "t1", "requestState": "\n".repeat(30_000)}), 256 * KIB),
        (json!({"name": "t1", "requestState": "\n".repeat(100)}), 16 * KIB),
        (json!({"name": "t1", "_meta": extended}), 256 * KIB),
    ] {
        let mut flood = Flood::start(limits());
        let mut bytes = Vec::new();
        for n in 0..100 {
            let mut message = request(&json!(n), "tools/call", params.clone(), true);
            if let Some(own) = params["_meta"].as_object() {
                for (name, value) in own {
                    message["params"]["_meta"][name] = value.clone();
                }
            }
            bytes.extend_from_slice(&line(&message));
        }
        flood.read(&bytes);
        flood.gauge.reached(at_least);
    }
}

/// What is answered at once, to a client that reads nothing: however short the line and however long the answer.
pub(crate) fn served_answers_that_nobody_reads() {
    let questions = [
        b"x\n".to_vec(),
        b"[]\n".to_vec(),
        line(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})),
        line(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
        line(&request(&json!(1), "tools/list", json!({}), true)),
        line(&request(&json!("i".repeat(480)), "server/discover", json!({}), true)),
        line(
            &json!({"jsonrpc": "2.0", "id": "i".repeat(480), "method": "tools/call", "params": {"name": "n".repeat(500)}}),
        ),
    ];
    for question in questions {
        let bytes = question.repeat((1 << 20) / question.len());
        let mut flood = Flood::start(limits());
        loop {
            let taken = flood.read(&bytes);
            flood.take();
            if taken == 0 {
                break;
            }
        }
        flood.gauge.reached(200 * KIB);
    }
}

/// One message that holds as many as it has room for.
pub(crate) fn served_batches_as_long_as_allowed() {
    for element in [
        "1".to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t1"}}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"x"}}"#, "\\u0001".repeat(80)),
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":900,"result":{}}"#.to_owned(),
    ] {
        for (events, len) in [(64, 64 * KIB), (4096, 64 * KIB), (4096, 1 << 20)] {
            let mut limits = limits();
            limits.max_message_bytes = len;
            limits.max_queued_events = events;
            limits.max_queued_event_bytes = 4 * KIB;
            limits.max_queued_out_bytes = 4 * KIB;
            let count = (len - 2) / (element.len() + 1);
            for count in [count, count.min(events)] {
                let bytes = format!("[{}]\n", vec![element.as_str(); count].join(",")).into_bytes();
                let mut flood = Flood::start(limits.clone());
                flood.read(&bytes);
                flood.gauge.reached(0);
            }
        }
    }
}

/// Subscriptions to as many and as long addresses as are taken, and changes that nobody reads of.
pub(crate) fn served_subscriptions() {
    let mut limits = limits();
    limits.max_message_bytes = 1 << 20;
    let mut flood = Flood::start(limits);
    for n in 0..40 {
        let uris: Vec<String> = (0..40).map(|m| format!("x:{n}/{m}/{}", "u".repeat(4000))).collect();
        let filter =
            json!({"toolsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": uris});
        let params = json!({"notifications": filter});
        let id = json!(format!("{n}{}", "i".repeat(480)));
        let bytes = line(&request(&id, "subscriptions/listen", params, true));
        flood.read(&bytes);
        flood.write_all();
    }
    assert_eq!(flood.machine.session().listening(), 20);
    for n in 0..5000 {
        let uri = format!("x:0/{}/{}", n % 40, "u".repeat(4000));
        flood.run(|machine| {
            machine.tools_changed(NOW);
            machine.resources_changed(NOW);
            let _ = machine.resource_updated(&uri, NOW);
            machine.handle_timeout(NOW.saturating_add(Duration::from_secs(n)));
        });
    }
    flood.gauge.reached(300 * KIB);
}

/// Many small texts in one message, which would be many times its length as texts of their own.
pub(crate) fn served_messages_of_many_small_texts() {
    let mut limits = limits();
    limits.max_message_bytes = 4 << 20;
    let mut flood = Flood::start(limits);
    let texts = |text: &str, bounds: [char; 2]| {
        let all = vec![text; (4 << 20) / (text.len() + 1) - 500].join(",");
        format!("{}{all}{}", bounds[0], bounds[1])
    };
    let filter = json!({"notifications": {"resourceSubscriptions": "@"}});
    let get = json!({"name": "p", "arguments": "@"});
    let reference = json!({"type": "ref/resource", "uri": "a:b"});
    let complete = json!({"ref": reference, "argument": {"name": "a", "value": ""},
        "context": {"arguments": "@"}});
    let kinds = [
        ("subscriptions/listen", filter, r#""""#, ['[', ']']),
        ("prompts/get", get, r#""":"""#, ['{', '}']),
        ("completion/complete", complete, r#""":"""#, ['{', '}']),
    ];
    for (n, (method, params, text, bounds)) in kinds.into_iter().enumerate() {
        let message = request(&json!(n), method, params, true).to_string();
        let bytes = format!("{}\n", message.replacen(r#""@""#, &texts(text, bounds), 1)).into_bytes();
        flood.read(&bytes);
        flood.write_all();
        flood.take();
    }
    assert_eq!((flood.machine.session().listening(), flood.open.len()), (1, 2));
    flood.gauge.reached(4 << 20);
}

/// Everything above, mixed, with an application that answers when it likes.
pub(crate) fn served_random_runs() {
    let mut questions: Vec<Vec<u8>> = vec![
        b"junk\n".to_vec(),
        format!("{}\n", "q".repeat(100 * KIB)).into_bytes(),
        line(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})),
        line(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
        line(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})),
        line(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t1", "x": "y".repeat(50 * KIB)}}),
        ),
    ];
    for n in 0..20 {
        let params = json!({"name": "t2", "_meta": {"progressToken": n}});
        questions.push(line(&request(&json!(n), "tools/call", params, n % 2 == 0)));
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": n}});
        questions.push(line(&cancel));
        questions.push(line(&json!({"jsonrpc": "2.0", "id": n, "result": {"x": "y".repeat(200 * n)}})));
        let uris: Vec<String> = (0..n).map(|m| format!("x:{n}/{m}{}", "u".repeat(200 * m))).collect();
        let filter = json!({"toolsListChanged": true, "resourceSubscriptions": uris});
        let listen = json!({"notifications": filter});
        questions.push(line(&request(&json!(n), "subscriptions/listen", listen, true)));
        let uri = json!({"uri": format!("x:{}", "u".repeat(100 * n))});
        questions.push(line(&request(&json!(format!("s{n}")), "resources/subscribe", uri, false)));
    }
    let batches: Vec<Vec<u8>> = questions
        .chunks(7)
        .map(|some| {
            some.iter()
                .filter(|line| line.len() < 5000 && line[0] == b'{')
                .map(|line| &line[..line.len() - 1])
        })
        .map(|some| [b"[", some.collect::<Vec<_>>().join(&b',').as_slice(), b"]\n"].concat())
        .collect();
    questions.extend(batches);
    let roots = InputRequest { kind: InputKind::ListRoots, params: None };
    let mut asked = 0;
    let replies = [Reply::text("x"), Reply::text(&"x".repeat(3000)), Reply::text(&"x".repeat(30_000))];
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let mut flood = Flood::start(limits());
        for step in 0..600 {
            match rng.below(10) {
                8 if !flood.open.is_empty() => {
                    let request = *rng.pick(&flood.open);
                    let ask = flood.run(|machine| machine.request_input(request, &roots, NOW));
                    asked += usize::from(ask.is_ok());
                }
                9 => flood.run(|machine| {
                    machine.tools_changed(NOW);
                    let _ = machine.resource_updated("x:5/1", NOW);
                    machine.handle_timeout(NOW.saturating_add(Duration::from_secs(1)));
                }),
                0 => flood.run(|machine| machine.handle_written(machine.transmit().len() / 2, NOW)),
                1 => flood.take(),
                2..=3 if !flood.open.is_empty() => {
                    let at = rng.below(flood.open.len());
                    let request = flood.open[at];
                    let progress = Notice::Progress { progress: f64::from(step), total: None, message: None };
                    let reply = rng.pick(&replies);
                    let answered = flood.run(|machine| {
                        let _ = machine.notify(request, &progress, NOW);
                        machine.respond(request, reply, NOW).is_ok()
                    });
                    if answered {
                        flood.open.swap_remove(at);
                    }
                }
                _ => {
                    let question = rng.pick(&questions).clone();
                    flood.read(&question);
                }
            }
        }
        flood.gauge.reached(64 * KIB);
    }
    assert!(asked > 100, "{asked} questions of the server's");
}
