//! A host of two servers that asks at the terminal before it calls a tool:
//!
//! ```sh
//! cargo run -p sanswire-std --example host -- 'mcp-server-time --local-timezone UTC' 'mcp-server-git' \
//!     time get_current_time '{"timezone":"Europe/Paris"}'
//! ```
//!
//! The servers are called `first` and `second`; without a call it lists what they offer.

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Duration;

use sanswire_std::host::{Answer, ApprovalRequest, Approver, CallOutcome, CallRequest, Host, HostConfig};
use sanswire_std::host::{Launch, Target};
use sanswire_std::sanswire::host::{Provenance, ServerConfig};
use sanswire_std::sanswire::jsonrpc::RawJson;
use sanswire_std::{Command, ConnectOptions};

/// Asks whoever sits at the terminal.
struct Terminal;

impl Approver for Terminal {
    fn ask(&self, request: &ApprovalRequest) -> Option<Answer> {
        let mut out = std::io::stderr();
        let question = format!("{}\n{}\ncall it? [y]es, [a]lways, [n]o: ", request.tool, request.preview);
        out.write_all(question.as_bytes()).and_then(|()| out.flush()).ok()?;
        let mut line = String::new();
        Some(match std::io::stdin().lock().read_line(&mut line) {
            Err(_) | Ok(0) => Answer::Failed,
            Ok(_) if line.trim() == "y" => Answer::AllowOnce,
            Ok(_) if line.trim() == "a" => Answer::AlwaysAllow,
            Ok(_) => Answer::Deny,
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut out = std::io::stdout();
    let mut builder = Host::builder(HostConfig::default()).approver(Terminal);
    for name in ["first", "second"] {
        let line = arguments
            .next()
            .ok_or("usage: host 'SERVER ARGUMENT ...' 'SERVER ARGUMENT ...' [NAME TOOL ARGUMENTS]")?;
        let mut words = line.split_whitespace();
        let command = Command::new(words.next().ok_or("a command line is empty")?).args(words);
        let launch = Launch::command(command, ConnectOptions::new("host-example", "1.0"));
        builder = builder.server(name, ServerConfig::default(), launch);
    }
    let host = builder.open()?;
    // Each has fifteen seconds; those that are ready earlier wait for nobody.
    host.wait_started(Duration::from_secs(20));
    for state in host.states() {
        writeln!(out, "{}: {} {}", state.name, state.status, state.error.unwrap_or_default())?;
    }
    match (arguments.next(), arguments.next()) {
        (Some(server), Some(tool)) => {
            let given = arguments.next().as_deref().map(RawJson::parse_str).transpose()?;
            let target = Target::Tool(Provenance::new(&*server, &*tool));
            match host.call(CallRequest::new("call-1", target, given))?.outcome {
                CallOutcome::Completed(result) | CallOutcome::ToolError(result) => {
                    writeln!(out, "{}", result.presented.text)?;
                }
                CallOutcome::Denied(why) => writeln!(out, "not called: {why}")?,
                other => writeln!(out, "{}", other.as_str())?,
            }
        }
        _ => host
            .with(|machine| machine.registry().offered().try_for_each(|(name, _)| writeln!(out, "{name}")))?,
    }
    for (server, exit) in host.close() {
        writeln!(out, "{server} {exit}")?;
    }
    Ok(())
}
