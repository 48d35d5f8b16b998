//! A server with one tool, over standard input and output.

use std::collections::BTreeMap;

use sanswire_std::{Json, Schema, Server, Tool};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let add = Tool::new("Adds two numbers")
        .number("a", "The first")
        .number("b", "The second")
        .output(&Schema::object().property("sum", Schema::number()))
        .read_only();
    let server = Server::builder("adder", "1.0")
        .tool("add", add, |(), call| {
            let (a, b): (f64, f64) = (call.argument("a")?, call.argument("b")?);
            Ok(Json(BTreeMap::from([("sum", a + b)])))
        })
        .build()?;
    Ok(server.serve_stdio()?)
}
