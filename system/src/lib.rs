//! What every runtime of `sanswire` needs of the system, blocking or async: commands and their environment, processes and
//! how they are stopped, their stderr, what this one was given to read and write, the clock, random bytes, proxies, TLS
//! settings, why a server cannot be reached, which connections end together, and the way of records to whoever keeps them.
//!
//! Nothing here knows the protocol, which is the core's, or decides how to wait, which is a runtime's. What blocks says so;
//! an async runtime calls it on a thread where it may.
//!
//! Programs have no use for this crate by itself. The runtimes give out again what their users need, so that
//! `sanswire_std::Command` and that of any other runtime are one type, and one configuration serves both. What stands at
//! the root of this crate is what they give out; its modules are for the runtimes.

mod command;
mod error;
mod exit;
mod options;
mod secrets;
mod stderr_lines;
mod stderr_log;

pub mod clock;
pub mod closing;
pub mod contain;
pub mod host;
pub mod http;
pub mod launch;
pub mod os;
pub mod recording;
pub mod records;
pub mod serve;
pub mod stderr;
pub mod tap;
pub mod wrap;

pub use clock::WallClock;
pub use command::{Command, InheritEnv};
pub use error::ConnectError;
pub use exit::{Ended, Exit};
pub use http::{
    CertificateFault, DialFault, DialStep, HttpTarget, PemFault, Proxied, Proxy, ProxyAddress,
    ProxyAddressFault, ProxyFault, Reached, Secured, TlsFault,
};
pub use options::{Direction, Responder, StderrMode, StopLadder, Tap};
pub use recording::Recorder;
pub use records::RecordStats;
pub use secrets::Secrets;
pub use serve::{HttpOptions, Refusals, ServeError, ServerOptions, bind_loopback};
pub use stderr_log::{StderrLog, StderrLogStats};
pub use wrap::{Wrap, Wrapped};
