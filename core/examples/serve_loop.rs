//! A server on the core alone: no runtime crate, one loop, one tool.
//!
//! `serve_loop` speaks MCP on its standard input and output; its tool `shout` gives text back in capitals. It answers
//! at once, so nothing of its own ever runs out of time, and a blocking read may wait as long as it likes. What works on
//! requests for a while has to wake up at `poll_timeout`, as `poll_loop` does.

#![expect(clippy::disallowed_methods, reason = "a driver has a clock")]

use std::io::{Read, Write, stdin, stdout};
use std::time::Instant as Clock;

use sanswire::jsonrpc::RawJson;
use sanswire::server::{Config, Event, LineConnection, Reply};
use sanswire::{Instant, Machine};

const SHOUT: &str = r#"{"name":"shout","description":"Gives text back in capitals","inputSchema":
    {"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#;

/// What the tool does. Only `shout` is ever asked for: other names are refused before they come here.
fn shout(params: &RawJson) -> Reply {
    let text = params.view().get("arguments").and_then(|arguments| arguments.get("text")?.str());
    text.map_or(Reply::tool_error("text must be a string"), |text| Reply::text(&text.decode().to_uppercase()))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let epoch = Clock::now();
    let now = || Instant::ZERO.saturating_add(epoch.elapsed());
    // From the seed come the keys that seal what clients carry. A program that is more than an example gives 32 random
    // bytes.
    let mut server = LineConnection::new(Config::new("serve-loop", "1"), [0; 32], now())?;
    server.catalog_mut().tool(&RawJson::parse_str(SHOUT)?)?;
    let (mut block, mut unread) = ([0; 16 * 1024], 0..0);
    loop {
        if !server.transmit().is_empty() {
            let len = server.transmit().len();
            match stdout().write_all(server.transmit()).and_then(|()| stdout().flush()) {
                Ok(()) => server.handle_written(len, now()),
                Err(_) => server.handle_write_closed(now()),
            }
            continue;
        }
        // Nothing waits to be written here, so an answer always finds room.
        if let Some(event) = server.poll_event() {
            match event {
                // Refused if the client has cancelled it meanwhile.
                Event::Request { request, params, .. } => {
                    drop(server.respond(request, &shout(&params), now()));
                }
                Event::Closed(_) => return Ok(()),
                // What is cancelled was answered before that is read, and nothing is asked of the client. What is left
                // is news: notifications, and violations for a log.
                _ => {}
            }
            continue;
        }
        if unread.is_empty() {
            unread = 0..stdin().read(&mut block)?;
        }
        match unread.len() {
            0 => server.handle_eof(now()),
            // As much as the server takes: it stops where it has too much to write.
            _ => unread.start += server.handle_input(&block[unread.clone()], now()),
        }
        server.handle_timeout(now());
    }
}
