//! Lines: where they end, what is skipped, what a broken one costs. One stream only.

use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{Event, Link as _, Outcome, Verdict};
use sanswire::error::Violation;
use sanswire::jsonrpc::FaultKind;
use sanswire_tests::client::{Client, On, config, remembering};
use sanswire_tests::line_link::line_link;
use sanswire_tests::link::{Pieces, Shape};
use sanswire_tests::peer::{Server, initialize_result, replay};
use serde_json::json;

fn legacy(server: Server) -> Client {
    Client::ready(On::Line, remembering(Verdict::Legacy), server)
}

#[test]
fn b_03_banner_before_reply() {
    let mut client =
        Client::start(On::Line, remembering(Verdict::Legacy), replay(include_bytes!("../cases/b-03.bin")));
    client.until_ready();
    let listing = client.request(sanswire::mcp::Method::ToolsList, None);
    assert_eq!(client.complete(listing)["tools"][0]["name"], "echo");
    let told = client.violations();
    assert_eq!(told.len(), 4, "each line that is no message once: {told:?}");
    assert!(told.iter().all(|told| matches!(told, Violation::Malformed(_) | Violation::Batch)), "{told:?}");
    assert!(told.iter().all(|told| !told.to_string().contains('\u{1b}')));
    let stats = client.link.session().stats();
    assert_eq!(stats.junk_lines, 4);
    assert!(stats.first_junk.ends_with(b"ready\x1b[0m"), "the first one is kept");
    client.link.server_mut().on("tools/list", |request, out| out.result(request, json!({"tools": []})));
    client.still_works();
}

#[test]
fn b_05_u2028_inside_string() {
    // P-115
    let mut client = legacy(replay(include_bytes!("../cases/b-05.jsonl")));
    let call = client.call();
    let text = client.complete(call)["content"][0]["text"].as_str().unwrap().to_owned();
    for sign in ['\u{2028}', '\u{2029}', '\u{85}', '\u{b}'] {
        assert!(text.contains(sign), "{text:?}");
    }
    assert!(client.violations().is_empty());
}

#[test]
fn b_07_utf8_split_across_reads() {
    // P-002 P-115
    let file = include_bytes!("../cases/b-07.jsonl");
    for pieces in [Pieces::Bytes(1), Pieces::Bytes(2), Pieces::Bytes(3), Pieces::Random(5), Pieces::Whole] {
        let now = Instant::from_millis(1000);
        let shape = Shape { pieces, ..Shape::default() };
        let link = line_link(remembering(Verdict::Legacy), replay(file), [shape.clone(), shape], 3, now);
        let mut client = Client { link: Box::new(link), on: On::Line };
        client.until_ready();
        let call = client.call();
        assert_eq!(client.complete(call)["content"][0]["text"], "naïve — 日本語 🦀 end", "{pieces:?}");
    }
}

#[test]
fn b_09_line_over_64k() {
    // P-115
    let mut client = legacy(replay(include_bytes!("../cases/b-09.jsonl")));
    let call = client.call();
    assert_eq!(client.complete(call)["content"][0]["text"].as_str().unwrap().len(), 70_000);
    let call = client.call();
    client.complete(call);
    for size in [1 << 20, 8 << 20] {
        client.link.server_mut().on("tools/call", move |request, out| {
            out.result(request, json!({"content": [{"type": "text", "text": "x".repeat(size)}]}));
        });
        let call = client.call();
        assert_eq!(client.complete(call)["content"][0]["text"].as_str().unwrap().len(), size);
    }
    client.link.server_mut().on("tools/list", |request, out| out.result(request, json!({"tools": []})));
    client.still_works();
}

#[test]
fn carriage_returns_and_blank_lines_are_nothing() {
    let server = Server::legacy("2025-11-25").with("tools/call", |request, out| {
        let text = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"content": []}}).to_string();
        out.raw(format!("\r\n\n  \t\r\n{text}\r\n\n"));
    });
    let mut client = legacy(server);
    let call = client.call();
    client.complete(call);
    assert!(client.violations().is_empty());
    client.still_works();
}

#[test]
fn each_kind_of_junk_is_one_violation_and_the_stream_goes_on() {
    // P-001 P-002 P-009
    let mut client = legacy(Server::legacy("2025-11-25"));
    let lines: [&[u8]; 16] = [
        b"plain words",
        b"42",
        b"null",
        b"\"text\"",
        b"{",
        b"{}",
        b"\xff\xfe\x00",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"a\xff\"}",
        b"{\"jsonrpc\":\"2.0\",\"method\":7}",
        b"{\"jsonrpc\":\"1.0\",\"method\":\"a\"}",
        b"{\"method\":\"a\"}",
        b"{\"jsonrpc\":\"2.0\",\"result\":{}}",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"method\":\"b\"}",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}{}",
        b"\x1b[31m{\"jsonrpc\":\"2.0\"}",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":\"x\"}",
    ];
    for (n, line) in lines.into_iter().enumerate() {
        client.push_raw([line, b"\n"].concat());
        client.wait_ms(5);
        assert_eq!(client.violations().len(), n + 1, "{}", String::from_utf8_lossy(line));
    }
    assert_eq!(client.count("response"), 0);
    assert!(client.link.server().responses().is_empty(), "nothing of this can be answered");
    client.still_works();
}

#[test]
fn a_call_whose_answer_is_junk_ends_by_its_own_deadline() {
    // H-201
    let mut client = legacy(Server::legacy("2025-11-25"));
    client.link.server_mut().on("tools/call", |request, out| match request["params"]["name"].as_str() {
        Some("broken") => out.raw("{\"jsonrpc\":\"2.0\",\n"),
        _ => out.after(Duration::from_secs(20)).result(request, json!({"content": []})),
    });
    let call = |client: &mut Client, name: &str| {
        client.request(sanswire::mcp::Method::ToolsCall, Some(&json!({"name": name}).to_string()))
    };
    let (broken, other) = (call(&mut client, "broken"), call(&mut client, "slow"));
    client.complete(other);
    assert_eq!(client.outcome(broken), None, "nobody can tell whose line it was");
    let outcome = client.finish(broken);
    assert!(matches!(outcome, Outcome::TimedOut { .. }), "{outcome:?}");
    assert_eq!((client.elapsed_ms() / 1000, client.violations().len()), (30, 1));
    client.still_works();
}

#[test]
fn a_malformed_request_is_refused_under_its_id() {
    // P-008 P-007
    let mut client = legacy(Server::legacy("2025-11-25"));
    client.push_raw(r#"{"jsonrpc":"2.0","id":"a","method":"roots/list","params":[1]}"#.to_owned() + "\n");
    client.push_raw(r#"{"jsonrpc":"2.0","id":9,"method":7}"#.to_owned() + "\n");
    client.push_raw(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_owned() + "\n");
    client.wait_ms(10);
    let responses = client.link.server().responses();
    assert_eq!(responses.len(), 2, "{responses:?}");
    assert_eq!((&responses[0]["id"], &responses[0]["error"]["code"]), (&json!("a"), &json!(-32602)));
    assert_eq!((&responses[1]["id"], &responses[1]["error"]["code"]), (&json!(9), &json!(-32600)));
    assert_eq!(client.violations().len(), 3);
    client.still_works();
}

#[test]
fn too_deep_a_message_is_refused() {
    let mut client = legacy(Server::legacy("2025-11-25"));
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    client.link.server_mut().on("tools/call", move |request, out| {
        let id = &request["id"];
        // The message and its result are two levels.
        let levels = request["params"]["arguments"]["levels"].as_u64().unwrap() as usize - 2;
        let deep = deep(levels);
        out.raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[],\"x\":{deep}}}}}\n"));
    });
    let mut call = |levels: usize| {
        let params = format!(r#"{{"name":"echo","arguments":{{"levels":{levels}}}}}"#);
        let call = client.request(sanswire::mcp::Method::ToolsCall, Some(&params));
        client.finish(call)
    };
    assert!(matches!(call(128), Outcome::Complete(_)));
    let outcome = call(129);
    assert!(
        matches!(&outcome, Outcome::Invalid(Violation::Malformed(fault)) if fault.kind == FaultKind::TooDeep),
        "{outcome:?}"
    );
    client.still_works();
}

#[test]
fn the_last_line_needs_no_line_break() {
    let server = Server::legacy("2025-11-25").with("tools/call", |request, out| {
        let text = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"content": []}}).to_string();
        out.raw(text);
        out.after(Duration::from_millis(10)).close();
    });
    let mut client = legacy(server);
    let call = client.call();
    client.until_closed();
    assert!(matches!(client.outcome(call), Some(Outcome::Complete(_))));
}

#[test]
fn an_over_long_request_is_refused_under_its_id() {
    // P-008
    let mut config = remembering(Verdict::Legacy);
    config.limits.max_message_bytes = 4096;
    let mut client = Client::ready(On::Line, config, Server::legacy("2025-11-25"));
    let long = "x".repeat(5000);
    client.push(json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list", "params": {"x": long}}));
    client.wait_ms(10);
    let responses = client.link.server().responses();
    assert_eq!((&responses[0]["id"], &responses[0]["error"]["code"]), (&json!("r"), &json!(-32600)));
    assert!(matches!(client.violations()[..], [Violation::MessageTooLong { .. }]));
    client.still_works();
}

#[test]
fn an_over_long_line_is_skipped_however_it_arrives() {
    for pieces in [Pieces::Whole, Pieces::Bytes(1000), Pieces::Random(9000)] {
        let mut config = remembering(Verdict::Legacy);
        config.limits.max_message_bytes = 4096;
        let server = Server::legacy("2025-11-25").with("tools/call", |request, out| {
            let id = &request["id"];
            let filler = "y".repeat(1 << 20);
            // The id stands behind what is too long.
            out.raw(format!(
                "{{\"jsonrpc\":\"2.0\",\"result\":{{\"x\":\"{filler}\",\"id\":3}},\"id\":{id}}}\n"
            ));
        });
        let shape = Shape { pieces, ..Shape::default() };
        let link = line_link(config, server, [shape.clone(), shape], 5, Instant::from_millis(1000));
        let mut client = Client { link: Box::new(link), on: On::Line };
        client.until_ready();
        let call = client.call();
        let outcome = client.finish(call);
        assert!(matches!(outcome, Outcome::TooLarge { limit: 4096, .. }), "{outcome:?}");
        client.still_works();
    }
}

#[test]
fn nothing_depends_on_how_the_stream_was_cut() {
    // H-204
    // Golden rule 3.
    let run = |pieces: Pieces, seed: u64| {
        let server = Server::legacy("2025-11-25").with("initialize", |request, out| {
            out.raw("starting…\n\r\n");
            out.notify("notifications/message", json!({"level": "info", "data": "é"}));
            out.result(request, initialize_result("2025-11-25"));
            out.raw("[]\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\r\n");
        });
        let server = server.with("tools/call", |request, out| {
            out.progress(request, 0.5);
            out.raw(format!("{}\n", "z".repeat(9000)));
            out.notify("notifications/tools/list_changed", json!({}));
            out.result(request, json!({"content": [{"type": "text", "text": "日本語".repeat(500)}]}));
            out.result(request, json!({"content": []}));
            out.raw("{\"jsonrpc\":\"2.0\",\"id\":\"x\"");
            out.close();
        });
        let shape = Shape { pieces, ..Shape::default() };
        let mut config = config();
        config.limits.max_message_bytes = 8192;
        let mut link = line_link(config, server, [shape.clone(), shape], seed, Instant::from_millis(1));
        if seed > 0 {
            link.small_writes = Some(40);
        }
        link.run_until("ready", |pair| {
            pair.a.events.iter().any(|(_, event)| matches!(event, Event::Ready(_)))
        });
        let options = sanswire::client::RequestOptions::default();
        let call = link.a.machine.call_tool("echo", None, &options, link.now()).unwrap();
        link.a.ledger.accept(call);
        link.run_until("closed", |pair| pair.a.ledger.is_closed());
        let events: Vec<String> = link.a.events.iter().map(|(_, event)| format!("{event:?}")).collect();
        let stats = link.a.machine.session().stats().clone();
        let said: Vec<String> =
            link.b.machine.server.received.iter().map(|received| received.text.clone()).collect();
        (events, stats, said)
    };
    let whole = run(Pieces::Whole, 0);
    assert!(whole.0.len() > 8, "{:#?}", whole.0);
    assert_eq!(run(Pieces::Bytes(1), 1), whole);
    for seed in 2..40 {
        assert_eq!(run(Pieces::Random(1 << (seed % 12)), seed), whole, "seed {seed}");
    }
}
