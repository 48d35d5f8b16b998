//! A server to measure: `echo` gives back its text, `blob` so many bytes of a pattern. Over standard input and output,
//! for all who connect to the address that it is given, or, behind `--http`, over HTTP there.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use sanswire_smol::{HttpOptions, Server};
use serde::Deserialize;

/// 64 bytes, one of them a newline that has to be escaped.
const PATTERN: &str = "The quick brown fox jumps over the lazy dog, 0123456789 abcdefg\n";

#[derive(Deserialize)]
struct Echo {
    text: String,
}

#[derive(Deserialize)]
struct Blob {
    bytes: usize,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let echo = r#"{"description":"Gives back its text.","inputSchema":{"type":"object",
        "properties":{"text":{"type":"string"}},"required":["text"]}}"#;
    let blob = r#"{"description":"So many bytes of text.","inputSchema":{"type":"object",
        "properties":{"bytes":{"type":"integer"}},"required":["bytes"]}}"#;
    // Each made once; what is measured is how it is sent.
    let blobs: Arc<Mutex<BTreeMap<usize, String>>> = Arc::default();
    let server = Server::builder("bench", "0")
        .tool("echo", echo, |echo: Echo, _call| async { Ok(echo.text) })
        .tool("blob", blob, move |blob: Blob, _call| {
            let blobs = Arc::clone(&blobs);
            async move {
                let mut blobs = blobs.lock().unwrap_or_else(PoisonError::into_inner);
                let made = || PATTERN.chars().cycle().take(blob.bytes).collect();
                Ok(blobs.entry(blob.bytes).or_insert_with(made).clone())
            }
        })
        .config(|config| config.limits.max_message_bytes = 64 << 20)
        .build()?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words[..] {
        [] => async_io::block_on(server.serve_stdio())?,
        [http, address] if http == "--http" => {
            let listener = TcpListener::bind(address)?;
            async_io::block_on(server.serve_http(listener, HttpOptions::default()))?;
        }
        [address, ..] => async_io::block_on(server.serve_tcp(TcpListener::bind(address)?))?,
    }
    Ok(())
}
