//! What it costs a served connection to take a call and answer it.
//!
//! `serve_bench KIND WORK BYTES N [WINDOW]` does it N times, to be counted by callgrind; the difference of two runs is
//! the cost of a call. WINDOW calls (1) come in one read and are answered when all have been reported. KIND is `modern`
//! or `legacy`. WORK is what the application does, which is counted along:
//!
//! - `ready`: nothing; it gives the same answer, a text of BYTES, each time;
//! - `text`: makes that answer from its text each time;
//! - `echo`: reads the call and answers with its one argument, a text of BYTES.
#![expect(clippy::print_stderr, reason = "its output is for a terminal")]

use std::hint::black_box;

use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::types::request::CallTool;
use sanswire::server::{Config, Event, LineConnection, Reply};
use sanswire::{Instant, Machine};
use sanswire_tests::served::raw;
use serde_json::json;

/// One line of what long texts are made of.
const LINE: &str = "The quick brown fox jumps over the lazy dog, 0123456789 abcdefg\n";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [kind, work, bytes, count, window @ ..] = words.as_slice() else {
        eprintln!("usage: serve_bench modern|legacy ready|text|echo BYTES N [WINDOW]");
        return;
    };
    let window: usize = window.first().map_or(1, |window| window.parse().unwrap());
    let now = Instant::from_millis(1);
    let text: String = LINE.chars().cycle().take(bytes.parse().unwrap()).collect();
    let mut server = LineConnection::new(Config::new("bench", "1.0"), [0; 32], now).unwrap();
    server.catalog_mut().tool(&raw(&json!({"name": "echo"}))).unwrap();
    let initialize = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    feed(&mut server, &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize}), now);
    let argument = if work == "echo" { &text } else { "hello" };
    let calls: Vec<u8> = (0..window).flat_map(|n| call(kind == "modern", 10 + n, argument)).collect();
    let ready = Reply::text(&text);
    for _ in 0..count.parse::<usize>().unwrap() / window {
        let mut unread = calls.as_slice();
        while !unread.is_empty() {
            let buffer = server.read_buffer();
            let (piece, rest) = unread.split_at(unread.len().min(buffer.capacity() - buffer.len()));
            buffer.extend_from_slice(piece);
            unread = rest;
            server.handle_read(now);
        }
        while let Some(event) = server.poll_event() {
            if let Event::Request { request, params, .. } = event {
                let reply = match work.as_str() {
                    "echo" => &echo(&params),
                    "text" => &Reply::text(&text),
                    _ => &ready,
                };
                server.respond(request, reply, now).unwrap();
            }
        }
        drain(&mut server, now);
    }
}

/// A call as many clients write it.
fn call(modern: bool, id: usize, text: &str) -> Vec<u8> {
    let meta = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0"},
        "io.modelcontextprotocol/clientCapabilities":{},"progressToken":7}"#;
    let meta = if modern { meta.replace("\n        ", "") } else { String::new() };
    let arguments = json!({"text": text});
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\
         \"params\":{{\"name\":\"echo\",\"arguments\":{arguments}{meta}}}}}\n"
    )
    .into_bytes()
}

fn echo(params: &RawJson) -> Reply {
    let call = CallTool::read(params).unwrap();
    assert_eq!(call.name, "echo");
    Reply::text(&call.arguments.view().get("text").and_then(JsonRef::str).unwrap().decode())
}

fn feed(server: &mut LineConnection, message: &serde_json::Value, now: Instant) {
    let line = format!("{message}\n");
    assert_eq!(server.handle_input(line.as_bytes(), now), line.len());
    drain(server, now);
}

fn drain(server: &mut LineConnection, now: Instant) {
    while !black_box(server.transmit()).is_empty() {
        let len = server.transmit().len();
        server.handle_written(len, now);
    }
}
