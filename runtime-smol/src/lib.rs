//! Async runtime for `sanswire` on the parts of smol: drives its machines on any executor, clients over child processes,
//! TCP and Unix sockets, any other stream and HTTP, and servers over those and standard input and output.
//!
//! It opens, reads, writes, waits and closes. Every rule of the protocol, every limit and every deadline is the
//! machine's; see [`ConnectOptions::config`].
//!
//! ```no_run
//! use sanswire_smol::sanswire::client::{Outcome, RequestOptions};
//! use sanswire_smol::sanswire::jsonrpc::RawJson;
//! use sanswire_smol::{Client, Command, ConnectOptions};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let command = Command::new("mcp-server-time").arg("--local-timezone").arg("UTC");
//! let client = Client::connect(&command, ConnectOptions::new("example", "1.0")).await?;
//! let arguments = RawJson::parse_str(r#"{"timezone":"Europe/Paris"}"#)?;
//! match client.call_tool("get_current_time", Some(&arguments), &RequestOptions::default()).await? {
//!     Outcome::Complete(result) => println!("{}", result.as_str()),
//!     other => eprintln!("{other:?}"),
//! }
//! println!("{}", client.close().await);
//! # Ok(())
//! # }
//! ```
//!
//! One task can keep many calls under way: [`Client::start`] gives a [`Pending`], and [`Client::cork`] joins
//! the writes. Any number of tasks may share a [`Client`]. To give a call up is to drop its future.
//!
//! A [`Server`] is made of closures that give futures, and meets its clients by [`Server::serve_stdio`] and others of its
//! kind; over HTTP by [`Server::serve_http`]: [`bind_loopback`] gives a listener that only this machine reaches,
//! [`HttpOptions`] say who may come.
//!
//! No executor is needed but the one that polls: whoever waits drives the connection, and a [`Watch`] does while nobody
//! waits.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

#[cfg(not(unix))]
compile_error!(
    "sanswire-smol is for Unix so far: pipes of child processes cannot be awaited elsewhere yet. Use sanswire-std there."
);

#[cfg(unix)]
mod alarm;
#[cfg(unix)]
mod asking;
#[cfg(unix)]
mod client;
#[cfg(unix)]
mod closer;
#[cfg(unix)]
mod connect;
#[cfg(unix)]
mod ending;
#[cfg(unix)]
mod ends;
#[cfg(unix)]
mod guests;
#[cfg(unix)]
pub mod host;
#[cfg(unix)]
mod http;
#[cfg(unix)]
mod jobs;
#[cfg(unix)]
mod keeper;
#[cfg(unix)]
mod launch;
#[cfg(unix)]
mod lead;
#[cfg(unix)]
mod line;
#[cfg(unix)]
mod link;
#[cfg(unix)]
mod options;
#[cfg(unix)]
mod pending;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod shared;
#[cfg(unix)]
mod shutdown;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod stdio;
#[cfg(unix)]
mod taps;
#[cfg(unix)]
mod threads;
#[cfg(unix)]
mod wake;
#[cfg(unix)]
mod watch;
#[cfg(unix)]
mod wire;

pub use sanswire;
pub use sanswire::client::Notification;
pub use sanswire::mcp::types::elicited::Elicited;
pub use sanswire_system::Responder as BlockingResponder;
pub use sanswire_system::recording;
pub use sanswire_system::{
    CertificateFault, Command, ConnectError, DialFault, DialStep, Direction, Ended, Exit, HttpTarget,
    InheritEnv, PemFault, Proxied, Proxy, ProxyAddress, ProxyAddressFault, ProxyFault, Reached, RecordStats,
    Recorder, Secrets, Secured, StderrLog, StderrLogStats, StderrMode, StopLadder, Tap, TlsFault, WallClock,
    Wrap, Wrapped,
};

#[cfg(unix)]
pub use client::Client;
#[cfg(unix)]
pub use closer::Closer;
#[cfg(unix)]
pub use options::{Answering, ConnectOptions, OnThread, Responder};
#[cfg(unix)]
pub use pending::{Cork, Pending};
#[cfg(unix)]
pub use serve::{
    Application, AskError, BuildError, Builder, Call, Content, Contents, Definition, HttpOptions,
    IntoContents, IntoMessages, IntoReply, Json, Messages, Prompt, Refusals, Resource, ResourceUri, Schema,
    ServeError, Server, ServerOptions, Stopper, Tool, ToolError, bind_loopback,
};
#[cfg(unix)]
pub use shutdown::close_all;
#[cfg(unix)]
pub use watch::Watch;
