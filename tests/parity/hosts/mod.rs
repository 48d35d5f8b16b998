//! A host under test, in words that block: a host of one server, called `it`, whose calls pass.

mod on_pair;
mod on_smol;
mod on_std;

use std::time::Duration;

use sanswire::client::Start;
use sanswire::host::link::Status;
use sanswire::host::policy::ServerMode;
use sanswire::host::{CallHandle, CallOutcome, CallRequest, HostConfig, Provenance, ServerConfig, Target};
use sanswire::jsonrpc::RawJson;

use crate::axes::Runtime;
use crate::scenarios::{Bench, LONG};

/// The server's name.
const IT: &str = "it";

/// A host whose server was tried.
pub(crate) trait Host {
    /// Asks for a call.
    fn start(&mut self, request: CallRequest) -> CallHandle;
    /// Waits for the end of a call.
    fn end(&mut self, call: CallHandle) -> CallOutcome;
    fn status(&self) -> Status;
    /// Whether a tool of that name is offered.
    fn offers(&self, tool: &str) -> bool;
    /// Tries the server anew, by hand.
    fn reconnect(&mut self);
    fn begin_turn(&mut self);
    /// What the server put on record, over all its starts.
    fn record(&self) -> Vec<String>;
    /// Lets time pass.
    fn pass(&mut self, time: Duration);
    /// Ends it, and waits until its server is gone.
    fn close(&mut self);
}

/// What a host is set up with; calls have more time than any takes, unless `limit` says something else.
fn config(limit: Option<Duration>) -> HostConfig {
    let mut config = HostConfig::default();
    config.timeouts.default = limit.unwrap_or(LONG);
    config
}

fn server(bench: &Bench) -> ServerConfig {
    let mut config = ServerConfig::default();
    config.start = Start::Pinned(bench.revision());
    config.mode = ServerMode::Allow;
    config.connect_timeout = Some(LONG);
    config
}

/// A call of a tool of the server's.
pub(crate) fn request(tool: &str, arguments: &str) -> CallRequest {
    let arguments = RawJson::parse_str(arguments).unwrap();
    CallRequest::new("call", Target::Tool(Provenance::new(IT, tool)), Some(arguments))
}

/// A host of a server of these flags, once it was tried.
pub(crate) fn open(bench: &Bench, flags: &[&str], limit: Option<Duration>) -> Box<dyn Host> {
    match bench.cell.runtime {
        Runtime::Pair => Box::new(on_pair::PairHost::open(bench, flags, limit)),
        Runtime::Std => Box::new(on_std::StdHost::open(bench, flags, limit)),
        Runtime::Smol | Runtime::SmolThreads => Box::new(on_smol::SmolHost::open(bench, flags, limit)),
    }
}
