//! The client that the conformance suite judges: does what each scenario asks for, as a program that uses the library
//! would.
//!
//! `conformance_client URL`; the suite says in `MCP_CONFORMANCE_SCENARIO` what it wants to see, and in
//! `MCP_CONFORMANCE_CONTEXT` what that needs. Ends with 1 if anything fails that the scenario needs, or if it does not
//! know the scenario.

mod answers;
mod calls;

use std::env;
use std::error::Error;
use std::sync::Arc;

use sanswire::client::Start;
use sanswire::mcp::Revision;
use sanswire_std::{Client, ConnectOptions, HttpTarget};

use crate::answers::Filler;

type Done = Result<(), Box<dyn Error>>;

fn main() -> Done {
    let url = env::args().nth(1).ok_or("the address is missing")?;
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO")?;
    let run = calls::of(&scenario).ok_or_else(|| format!("there is nothing to do for {scenario}"))?;
    let client = Client::connect_http(&HttpTarget::new(&url)?, options()?)?;
    run(&client)?;
    client.close();
    Ok(())
}

fn options() -> Result<ConnectOptions, Box<dyn Error>> {
    let mut options = ConnectOptions::new("sanswire-conformance", env!("CARGO_PKG_VERSION"));
    options.config.capabilities.elicitation_form = true;
    options.responder = Some(Arc::new(Filler));
    // Scenarios of a revision with sessions look at the first request that they get. Those of 2026-07-28 are found out.
    let revision = env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or_default();
    if revision.as_str() < "2026" {
        let revision = Revision::from_date(&revision).ok_or("the revision is unknown")?;
        options.config.start = Start::Pinned(revision);
    }
    Ok(options)
}
