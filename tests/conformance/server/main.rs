//! The server that the conformance suite judges: all that its scenarios call, made of closures as any server is.
//!
//! `conformance_server [PORT]` serves both eras on one endpoint of the loopback address, and says its address in one
//! line on standard output.

mod ask;
mod offer;
mod rounds;
mod tools;

use std::error::Error;
use std::io::{self, Write as _};
use std::net::TcpListener;

use sanswire_std::{BuildError, HttpOptions, Server};

fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).map_or(Ok(0), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    writeln!(io::stdout(), "http://{}/mcp", listener.local_addr()?)?;
    Ok(server()?.serve_http(listener, HttpOptions::default())?)
}

fn server() -> Result<Server, BuildError> {
    let builder = Server::builder("sanswire-conformance", env!("CARGO_PKG_VERSION"))
        .instructions("What the conformance suite calls.")
        .logging();
    rounds::offer(ask::offer(tools::offer(offer::offer(builder)))).build()
}
