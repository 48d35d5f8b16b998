//! A server for the tests of the checks: correct, but for the one fault that it is told. It shares no code with what it is
//! checked by.
#![allow(clippy::print_stderr, reason = "a log, as servers write it")]

use std::io::{self, Read as _, Write as _};

use serde_json::{Value, json};

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN: &str = "2026-07-28";

fn main() {
    let fault = std::env::args().nth(1).unwrap_or_default();
    let fault = fault.as_str();
    match fault {
        "dead" => return,
        "mute" => {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            return;
        }
        "junk" => {
            let mut state = 1_u32;
            let junk: Vec<u8> = (0..100_000)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 24) as u8
                })
                .collect();
            let _ = io::stdout().write_all(&junk);
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            return;
        }
        "banner" => println_out("Server is running"),
        _ => eprintln!("a log line"),
    }
    let (mut pending, mut chunk) = (Vec::new(), vec![0; 64 << 10]);
    while let Ok(len @ 1..) = io::stdin().lock().read(&mut chunk) {
        // What is no line by itself is dropped.
        if fault != "no-pieces" || chunk[..len].contains(&b'\n') {
            pending.extend_from_slice(&chunk[..len]);
        }
        let mut taken = 0;
        while let Some(at) = pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = pending.drain(..=at).collect();
            taken += 1;
            // A client that opens and asks at once says no more than three lines.
            if fault != "three-lines" || taken <= 3 {
                take_line(&line, fault);
            }
        }
    }
    if fault == "stays" {
        loop {
            std::thread::park();
        }
    }
}

fn take_line(line: &[u8], fault: &str) {
    let text = String::from_utf8_lossy(line);
    let pieces: Vec<&str> = match fault {
        "splits-at-unicode" => text.split(['\u{2028}', '\u{2029}', '\u{85}']).collect(),
        "no-carriage-return" if line.ends_with(b"\r\n") => Vec::new(),
        _ => vec![&text],
    };
    for message in pieces.into_iter().filter_map(|piece| serde_json::from_str(piece).ok()) {
        take(&message, fault);
    }
}

fn println_out(line: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
}

/// The id as it stands in the request.
fn wire_id(id: &Value, fault: &str) -> Option<String> {
    Some(match (id, fault) {
        (Value::Null, _) => return None,
        (Value::Number(n), "falsy-ids") if n.as_u64() == Some(0) => return None,
        (Value::String(text), "falsy-ids") if text.is_empty() => return None,
        (Value::Number(n), "unsigned-ids") if n.as_i64().is_some_and(|n| n < 0) => return None,
        (Value::Number(n), "double-ids") => format!("{}", n.as_f64().unwrap_or_default()),
        (Value::String(text), "parsed-ids") if text.parse::<i64>().is_ok() => text.clone(),
        (Value::String(text), "short-ids") => {
            Value::from(text.chars().take(32).collect::<String>()).to_string()
        }
        _ => id.to_string(),
    })
}

fn take(message: &Value, fault: &str) {
    let (Some(method), params) = (message["method"].as_str(), &message["params"]) else { return };
    let Some(id) = message.get("id").and_then(|id| wire_id(id, fault)) else { return };
    let version = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
    let answer = match method {
        "initialize" => {
            let asked = params["protocolVersion"].as_str().unwrap_or_default();
            let known = VERSIONS.contains(&asked) || fault == "any-version";
            if fault == "refuses-version" && !known {
                Err(-32602)
            } else {
                Ok(json!({
                    "protocolVersion": if known { asked } else { VERSIONS[3] },
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "faulty", "version": "1"},
                }))
            }
        }
        "server/discover" if version == MODERN => Ok(json!({
            "supportedVersions": [MODERN], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "faulty", "version": "1"}},
        })),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})),
        _ if fault == "silent-about-methods" => return,
        _ if fault == "dies-of-methods" && method.contains("no-such") => std::process::exit(1),
        _ if fault == "invalid-methods" => Err(-32600),
        _ => Err(-32601),
    };
    let body = match answer {
        Ok(mut result) => {
            if version == MODERN {
                result["resultType"] = json!("complete");
            }
            let pretty = fault == "indented" && method == "tools/list";
            let result =
                if pretty { serde_json::to_string_pretty(&result) } else { serde_json::to_string(&result) };
            format!(r#""result":{}"#, result.unwrap_or_default())
        }
        Err(code) => format!(r#""error":{{"code":{code},"message":"no"}}"#),
    };
    println_out(&format!(r#"{{"jsonrpc":"2.0","id":{id},{body}}}"#));
}
