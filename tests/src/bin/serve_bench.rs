//! What it costs a served connection to take a call and answer it.
//!
//! `serve_bench KIND BYTES N` does it N times, to be counted by callgrind: KIND is `modern` or `legacy`, BYTES the length
//! of the text that the tool gives back. The difference of two runs is the cost of a call; what the application does, a
//! copy of its ready answer, is in it.
#![expect(clippy::print_stderr, reason = "its output is for a terminal")]

use std::hint::black_box;

use sanswire::server::{Config, Event, LineConnection, Reply};
use sanswire::{Instant, Machine};
use sanswire_tests::served::raw;
use serde_json::json;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [kind, bytes, count] = words.as_slice() else {
        eprintln!("usage: serve_bench modern|legacy BYTES N");
        return;
    };
    let now = Instant::from_millis(1);
    let mut server = LineConnection::new(Config::new("bench", "1.0"), [0; 32], now).unwrap();
    server.catalog_mut().tool(&raw(&json!({"name": "echo"}))).unwrap();
    let initialize = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    feed(&mut server, &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize}), now);
    let mut meta = json!({"progressToken": 7});
    if kind == "modern" {
        meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "bench", "version": "1.0"});
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    let params = json!({"name": "echo", "arguments": {"text": "hello"}, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    let call = format!("{call}\n").into_bytes();
    let reply = Reply::text(&"x".repeat(bytes.parse().unwrap()));
    for _ in 0..count.parse().unwrap() {
        let buffer = server.read_buffer();
        buffer.extend_from_slice(&call);
        server.handle_read(now);
        while let Some(event) = server.poll_event() {
            if let Event::Request { request, params, .. } = event {
                black_box(&params);
                server.respond(request, &reply, now).unwrap();
            }
        }
        drain(&mut server, now);
    }
}

fn feed(server: &mut LineConnection, message: &serde_json::Value, now: Instant) {
    server.handle_input(format!("{message}\n").as_bytes(), now);
    drain(server, now);
}

fn drain(server: &mut LineConnection, now: Instant) {
    while !black_box(server.transmit()).is_empty() {
        let len = server.transmit().len();
        server.handle_written(len, now);
    }
}
