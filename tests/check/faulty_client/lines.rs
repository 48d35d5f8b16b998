//! Lines: how messages are written and read.

use std::io::Write as _;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Instant;

use serde_json::Value;

use crate::{Client, Failure};

/// Clients that do not speak at all.
pub(crate) fn says_nothing_that_is_meant(client: &mut Client) -> bool {
    let junk: &[u8] = if client.fault("junk") {
        b"\x00\xff{]\nhello\n[1,2]\n\"x\"\n7\n"
    } else if client.fault("mute") {
        b""
    } else {
        return false;
    };
    write(client, junk);
    crate::server::stop(client);
    true
}

/// What clients say that have a fault about lines, once they are opened.
pub(crate) fn say_something_else(client: &mut Client) {
    let notice = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#;
    let line: &[&[u8]] = match client.fault.as_str() {
        "says-hello" => &[b"hello\n"],
        "byte-order-mark" => &[b"\xef\xbb\xbf", notice, b"\n"],
        "latin-1" => &[br#"{"jsonrpc":"2.0","method":"notifications/caf"#, b"\xe9\"}\n"],
        "no-version-of-json-rpc" => {
            &[b"{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":99}}\n"]
        }
        "array-params" => {
            &[b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":[99]}\n"]
        }
        "batches" => &[b"[", notice, b"]\n"],
        _ => return,
    };
    write(client, &line.concat());
}

/// What clients say last that have a fault about that.
pub(crate) fn say_last_words(client: &mut Client) {
    if client.fault("no-last-line-feed") {
        write(client, br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#);
    }
}

pub(crate) fn write(client: &mut Client, bytes: &[u8]) {
    if let Some(stdin) = &mut client.server.stdin {
        let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
    }
}

pub(crate) fn say(client: &mut Client, message: &Value) {
    let line = format!("{message}\n");
    write(client, line.as_bytes());
}

/// The next message.
pub(crate) fn hear(client: &mut Client, until: Instant) -> Result<Value, Failure> {
    loop {
        if client.fault("dies-of-stderr") && client.server.complained.load(Ordering::SeqCst) {
            return Err(Failure::Spoiled);
        }
        let Some(line) = next_line(client, until)? else { continue };
        if ignored(client, &line) {
            continue;
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            if client.fault("dies-of-bytes") {
                return Err(Failure::Spoiled);
            }
            continue;
        };
        if text.trim().is_empty() {
            if client.fault("dies-of-blank-lines") {
                return Err(Failure::Spoiled);
            }
            continue;
        }
        match serde_json::from_str(text) {
            Ok(message @ Value::Object(_)) => return Ok(message),
            Err(_) if client.fault("dies-of-junk") => return Err(Failure::Spoiled),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Lines that a client with a fault does not take.
fn ignored(client: &Client, line: &[u8]) -> bool {
    let holds = |text: &str| line.windows(text.len()).any(|it| it == text.as_bytes());
    match client.fault.as_str() {
        "no-carriage-return" => line.ends_with(b"}\r\n"),
        "no-white-space" => line.starts_with(b" "),
        "no-escapes" => holds("\\u0072"),
        "ordered-members" => {
            line.trim_ascii_start().starts_with(b"{") && !line.trim_ascii_start().starts_with(b"{\"jsonrpc\"")
        }
        "splits-at-unicode" => holds("\u{2028}") || holds("\u{85}"),
        "short-lines" => line.len() > 100_000,
        _ => false,
    }
}

fn next_line(client: &mut Client, until: Instant) -> Result<Option<Vec<u8>>, Failure> {
    let server = &mut client.server;
    if let Some(at) = server.pending.iter().position(|byte| *byte == b'\n') {
        let line = server.pending.drain(..=at).collect();
        if client.fault("one-line-a-read") {
            client.server.pending.clear();
        }
        return Ok(Some(line));
    }
    let left = until.saturating_duration_since(Instant::now());
    match server.output.recv_timeout(left) {
        Ok(bytes) => {
            // What is no line by itself is dropped.
            if !client.fault("no-pieces") || bytes.contains(&b'\n') {
                client.server.pending.extend(bytes);
            }
        }
        Err(RecvTimeoutError::Timeout) => return Err(Failure::Late),
        Err(RecvTimeoutError::Disconnected) => {
            if client.fault("ignores-the-end") {
                crate::hang();
            }
            return Err(Failure::Ended);
        }
    }
    Ok(None)
}
