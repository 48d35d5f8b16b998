//! Many servers behind one policy, with calls that are awaited.
//!
//! [`sanswire::host::Host`] decides: which servers are opened and when, what is offered, whether a call is made, asked
//! about or denied. This drives it: a call's future does what the call takes, and what no call waits for (opening and
//! shutting connections, listings, deadlines) is done by futures that a [`Watch`](crate::Watch) runs.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use sanswire_smol::host::{Answer, ApprovalRequest, CallRequest, Host, HostConfig, Launch, Target};
//! use sanswire_smol::sanswire::host::{Provenance, ServerConfig};
//! use sanswire_smol::{Command, ConnectOptions};
//!
//! async fn nobody(request: ApprovalRequest) -> Option<Answer> {
//!     eprintln!("{}: {}", request.tool, request.preview);
//!     Some(Answer::Deny)
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let time = Command::new("mcp-server-time").arg("--local-timezone").arg("UTC");
//! let host = Host::builder(HostConfig::default())
//!     .server("time", ServerConfig::default(), Launch::command(time, ConnectOptions::new("example", "1.0")))
//!     .approver(nobody)
//!     .open()?;
//! host.wait_started(Duration::from_secs(20)).await;
//! let target = Target::Tool(Provenance::new("time", "get_current_time"));
//! let end = host.call(CallRequest::new("call-1", target, None)).await?;
//! println!("{}", end.outcome.as_str());
//! for (server, exit) in host.close().await {
//!     println!("{server}: {exit}");
//! }
//! # Ok(())
//! # }
//! ```

mod builder;
mod call;
mod close;
mod handle;
mod keeper;
mod launch;
mod observing;
mod shared;
mod surface;
mod timer;

pub use builder::HostBuilder;
pub use call::PendingCall;
pub use handle::Host;
pub use launch::Launch;
pub use sanswire::host::policy::{Answer, ApprovalHandle, ApprovalRequest};
pub use sanswire::host::results::TextPage;
pub use sanswire::host::{
    CallEnd, CallHandle, CallOutcome, CallRefused, CallRequest, Event, HostConfig, Target,
};
pub use sanswire_system::host::HostError;
pub use surface::{Approver, Asking, HostObserver, Observing};
