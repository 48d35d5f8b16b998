//! The served half of the protocol, for both eras at once.
//!
//! [`Session`] holds all rules and knows no transport: it takes messages, answers what it can by itself, reports the
//! rest, and hands down what is to be sent. Over one byte stream use [`LineConnection`], a
//! [`Machine`](crate::machine::Machine) made of a line decoder and a session.
//!
//! ```text
//!                 ┌─ initialize, ping, setLevel, lists ──▶ answered by the session, in the one legacy session
//!   a message ────┼─ server/discover, lists, listen ─────▶ answered by the session, each request by itself
//!                 └─ calls, reads, prompts, completions ─▶ Request ──respond──▶ sent
//!                                                             └─ cancelled, the end ──▶ Cancelled
//! ```
//!
//! A request is reported once and answered at most once, never after it was cancelled. It is named by a
//! [`RequestHandle`]; its wire id is unique only while it is open, and only on the stream it came from.
//!
//! ```
//! use sanswire::jsonrpc::RawJson;
//! use sanswire::mcp::types::request::CallTool;
//! use sanswire::server::{Config, Event, LineConnection, Reply};
//! use sanswire::{Instant, Machine};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let now = Instant::ZERO;
//! let mut server = LineConnection::new(Config::new("my-server", "1.0"), [0; 32], now)?;
//! server.catalog_mut().tool(&RawJson::parse_str(r#"{"name":"hello"}"#)?)?;
//!
//! let came = concat!(
//!     r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello","_meta":{"#,
//!     r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
//!     r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#,
//!     "\n"
//! );
//! assert_eq!(server.handle_input(came.as_bytes(), now), came.len());
//! while let Some(event) = server.poll_event() {
//!     if let Event::Request { request, params, .. } = event {
//!         assert_eq!(CallTool::read(&params)?.name, "hello");
//!         server.respond(request, &Reply::text("world"), now)?;
//!     }
//! }
//! assert!(server.transmit().starts_with(br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete""#));
//! # Ok(())
//! # }
//! ```
#![cfg_attr(
    not(test),
    expect(
        clippy::wildcard_enum_match_arm,
        reason = "some of the many methods are served, the rest is refused"
    )
)]

mod answer;
pub mod asking;
mod calls;
pub mod catalog;
pub mod config;
mod cursor;
mod dispatch;
pub mod event;
pub mod govern;
mod head;
mod incoming;
mod index;
mod input;
pub mod kit;
mod legacy;
mod line;
mod listing;
mod log;
mod modern;
mod outlet;
mod params;
mod peers;
mod ping;
mod plain;
mod publish;
mod queue;
mod reply;
mod requests;
mod respond;
mod revise;
mod session;
pub mod state;
mod subscription;

pub use catalog::{Catalog, ListKind};
pub use config::{CacheHints, Capabilities, Config, KeepAlive, ToolFilter, UnknownTool};
pub use event::{
    CloseReason, Context, Effect, Event, InputRound, Notice, PeerOutcome, PeerRequestHandle, Principal,
    Reply, RequestHandle,
};
pub use govern::Governed;
pub use line::LineConnection;
pub use queue::Stats;
pub use session::Session;

pub(crate) use head::Head;
pub(crate) use incoming::{Read, first_byte, read};
pub(crate) use params::Places;
pub(crate) use queue::held;
pub(crate) use session::Room;
pub(crate) use session::error_message;
pub(crate) use subscription::{MAX_WATCHED, SHARES};
