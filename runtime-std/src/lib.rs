//! Blocking runtime for `sanswire`: drives its machines on plain threads, clients over child processes, TCP and Unix
//! sockets and HTTP, and servers.
//!
//! It opens, reads, writes, waits and closes. Every rule of the protocol, every limit and every deadline is the
//! machine's; see [`ConnectOptions::config`].
//!
//! ```no_run
//! use sanswire_std::sanswire::client::{Outcome, RequestOptions};
//! use sanswire_std::sanswire::jsonrpc::RawJson;
//! use sanswire_std::{Client, Command, ConnectOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let command = Command::new("mcp-server-time").arg("--local-timezone").arg("UTC");
//! let client = Client::connect(&command, ConnectOptions::new("example", "1.0"))?;
//! let arguments = RawJson::parse_str(r#"{"timezone":"Europe/Paris"}"#)?;
//! match client.call_tool("get_current_time", Some(&arguments), &RequestOptions::default())? {
//!     Outcome::Complete(result) => println!("{}", result.as_str()),
//!     other => eprintln!("{other:?}"),
//! }
//! println!("{}", client.close());
//! # Ok(())
//! # }
//! ```
//!
//! One thread can keep many calls under way: [`Client::start`] gives a [`Pending`], and [`Client::cork`] joins
//! the writes. Any number of threads may share a [`Client`].
//!
//! A server is made of closures by a [`Builder`]:
//!
//! ```no_run
//! use sanswire_std::{Server, Tool};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let shout = Tool::new("Gives text back in capitals").string("text", "What to shout");
//! let server = Server::builder("example", "1.0")
//!     .tool("shout", shout, |(), call| Ok(call.argument::<String>("text")?.to_uppercase()))
//!     .build()?;
//! server.serve_stdio()?;
//! # Ok(())
//! # }
//! ```
//!
//! The same server meets its clients over HTTP by [`Server::serve_http`]: [`bind_loopback`] gives a listener that only
//! this machine reaches, [`HttpOptions`] say who may come.
#![forbid(unsafe_code)]
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub use sanswire;
pub use sanswire::client::Notification;
pub use sanswire::mcp::types::elicited::Elicited;

mod asking;
mod client;
mod closer;
mod connect;
mod handlers;
pub mod host;
mod http;
mod launch;
mod lead;
mod link;
mod options;
mod os;
mod pending;
mod serve;
mod shared;
mod shutdown;
mod watcher;

pub use client::Client;
pub use closer::Closer;
pub use options::ConnectOptions;
pub use pending::{Cork, Pending};
pub use serve::{
    Application, AskError, BuildError, Builder, Call, Content, Contents, Definition, HttpOptions,
    IntoContents, IntoMessages, IntoReply, Json, Messages, Prompt, Refusals, Resource, ResourceUri, Schema,
    ServeError, Server, ServerOptions, Stopper, Tool, ToolError, bind_loopback,
};
pub use shutdown::close_all;

// What a configuration is made of is the same for every runtime.
#[doc(inline)]
pub use sanswire_system::recording;
#[doc(inline)]
pub use sanswire_system::{
    CertificateFault, Command, ConnectError, DialFault, DialStep, Direction, Ended, Exit, HttpTarget,
    InheritEnv, PemFault, Proxied, Proxy, ProxyAddress, ProxyAddressFault, ProxyFault, Reached, RecordStats,
    Recorder, Responder, Secrets, Secured, StderrLog, StderrLogStats, StderrMode, StopLadder, Tap, TlsFault,
    WallClock, Wrap, Wrapped,
};
