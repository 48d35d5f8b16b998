//! A server to measure: `echo` gives back its text, `blob` so many bytes of a pattern. Over standard input and output,
//! or for all who connect to the address that it is given.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};

use sanswire_std::{Server, ToolError};

/// 64 bytes, one of them a newline that has to be escaped.
const PATTERN: &str = "The quick brown fox jumps over the lazy dog, 0123456789 abcdefg\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let echo = r#"{"description":"Gives back its text.","inputSchema":{"type":"object",
        "properties":{"text":{"type":"string"}},"required":["text"]}}"#;
    let blob = r#"{"description":"So many bytes of text.","inputSchema":{"type":"object",
        "properties":{"bytes":{"type":"integer"}},"required":["bytes"]}}"#;
    // Each made once; what is measured is how it is sent.
    let blobs: Mutex<BTreeMap<usize, String>> = Mutex::default();
    let server = Server::builder("bench", "0")
        .tool("echo", echo, |mut arguments: BTreeMap<String, String>, _call| {
            arguments.remove("text").ok_or_else(|| ToolError::new("text is missing"))
        })
        .tool("blob", blob, move |arguments: BTreeMap<String, usize>, _call| {
            let bytes = arguments.get("bytes").copied().unwrap_or_default();
            let mut blobs = blobs.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(blobs.entry(bytes).or_insert_with(|| PATTERN.chars().cycle().take(bytes).collect()).clone())
        })
        .build()?;
    match std::env::args().nth(1) {
        Some(address) => server.serve_tcp(TcpListener::bind(address)?)?,
        None => server.serve_stdio()?,
    }
    Ok(())
}
