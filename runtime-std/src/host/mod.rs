//! Many servers behind one policy, with calls that block.
//!
//! [`sanswire::host::Host`] decides: which servers are opened and when, what is offered, whether a call is made, asked
//! about or denied. This drives it: it opens and shuts connections, each on a thread of its own, and makes calls on the
//! threads that ask for them.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use sanswire_std::host::{Answer, ApprovalRequest, Approver, CallRequest, Host, HostConfig, Launch, Target};
//! use sanswire_std::sanswire::host::{Provenance, ServerConfig};
//! use sanswire_std::{Command, ConnectOptions};
//!
//! struct Nobody;
//!
//! impl Approver for Nobody {
//!     fn ask(&self, request: &ApprovalRequest) -> Option<Answer> {
//!         eprintln!("{}: {}", request.tool, request.preview);
//!         Some(Answer::Deny)
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let time = Command::new("mcp-server-time").arg("--local-timezone").arg("UTC");
//! let host = Host::builder(HostConfig::default())
//!     .server("time", ServerConfig::default(), Launch::command(time, ConnectOptions::new("example", "1.0")))
//!     .approver(Nobody)
//!     .open()?;
//! host.wait_started(Duration::from_secs(20));
//! let target = Target::Tool(Provenance::new("time", "get_current_time"));
//! let end = host.call(CallRequest::new("call-1", target, None))?;
//! println!("{}", end.outcome.as_str());
//! for (server, exit) in host.close() {
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
pub use surface::{Approver, HostObserver};
