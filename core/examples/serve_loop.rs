//! A server on the core alone: no runtime crate, one loop, one tool.
//!
//! `serve_loop` speaks MCP on its standard input and output; its tool `shout` gives text back in capitals.

#![expect(clippy::disallowed_methods, reason = "a driver has a clock")]

use std::io::{Read, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant as Clock};

use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::types::request::CallTool;
use sanswire::server::{Config, Event, LineConnection, Reply};
use sanswire::{Instant, Machine};

const SHOUT: &str = r#"{"name":"shout","description":"Gives text back in capitals","inputSchema":
    {"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#;

/// What the tool does. Only `shout` is ever asked for: other names are refused before they come here.
fn shout(params: &RawJson) -> Reply {
    let call = CallTool::read(params).ok();
    match call.as_ref().and_then(|call| call.arguments.view().get("text")).and_then(JsonRef::str) {
        Some(text) => Reply::text(&text.decode().to_uppercase()),
        None => Reply::tool_error("text must be a string"),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let epoch = Clock::now();
    let now = || Instant::from_micros(u64::try_from(epoch.elapsed().as_micros()).unwrap_or(u64::MAX));
    let mut server = LineConnection::new(Config::new("serve-loop", "1"), [0; 32], now())?;
    server.catalog_mut().tool(&RawJson::parse_str(SHOUT)?)?;
    let (input, mut unread) = (read_stdin(), Vec::new());
    loop {
        if !server.transmit().is_empty() {
            let written = std::io::stdout().write(server.transmit());
            match written.and_then(|len| std::io::stdout().flush().map(|()| len)) {
                Ok(len) => server.handle_written(len, now()),
                Err(_) => server.handle_write_closed(now()),
            }
            continue;
        }
        match server.poll_event() {
            // Refused if the client has cancelled it meanwhile.
            Some(Event::Request { request, params, .. }) => {
                drop(server.respond(request, &shout(&params), now()));
                continue;
            }
            Some(Event::Closed(_)) => return Ok(()),
            Some(_) => continue,
            None => {}
        }
        if unread.is_empty() {
            let wait = server.poll_timeout().map_or(Duration::from_secs(60), |at| at.saturating_since(now()));
            match input.recv_timeout(wait) {
                Ok(chunk) => unread = chunk,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => server.handle_eof(now()),
            }
        }
        // As much as the server takes: it stops where it has too much to write.
        let taken = server.handle_input(&unread, now());
        unread.drain(..taken);
        server.handle_timeout(now());
    }
}

/// The standard library cannot poll a pipe, so a thread reads it until it ends.
fn read_stdin() -> std::sync::mpsc::Receiver<Vec<u8>> {
    let (chunks, input) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(len @ 1..) = std::io::stdin().read(&mut buffer) {
            if chunks.send(buffer[..len].to_vec()).is_err() {
                break;
            }
        }
    });
    input
}
