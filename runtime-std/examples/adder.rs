//! A server with one tool, over standard input and output.

use sanswire_std::{Json, Server};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = r#"{"description":"Adds two numbers","inputSchema":{"type":"object",
        "properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}}"#;
    let server = Server::builder("adder", "1.0")
        .tool("add", schema, |args: std::collections::BTreeMap<String, f64>, _call| {
            Ok(Json(args.values().sum::<f64>()))
        })
        .build()?;
    Ok(server.serve_stdio()?)
}
