//! The Model Context Protocol as pure state machines: bytes, events and instants in; bytes, events and
//! deadlines out. No socket, clock, thread, lock, runtime or randomness is touched here, so the same code serves
//! an async program, a blocking tool, an editor's event loop, a plug-in, a fuzzer and a replay.
//!
//! # In scope
//!
//! Framing, JSON-RPC, both protocol eras (2024-11-05 to 2025-11-25 with a handshake, 2026-07-28 stateless), the
//! client's requests with their deadlines, progress, cancellation, input rounds, subscriptions and listings, the served
//! side of all of these ([`server`]), and every bound of memory and work ([`limits`]).
//!
//! # Out of scope
//!
//! Opening, reading, writing, waiting and closing: that is a runtime's part (`sanswire-std` for blocking
//! threads, `sanswire-smol` for async programs), or that of your own loop.
//!
//! # A driver
//!
//! A machine over one byte stream is a [`Machine`]; [`client::LineConnection`] is the client over a pipe or a
//! socket, asked as every [`client::Link`] is. What a driver does with it, whatever it waits with:
//!
//! ```
//! use sanswire::client::{Config, Event, LineConnection, Link, RequestOptions};
//! use sanswire::{Instant, Machine};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut now = Instant::ZERO;
//! let mut client = LineConnection::new(Config::new("my-program", "1.0"), [0; 32], now)?;
//!
//! // Bytes that want to leave: the era probe is ready at once.
//! assert!(client.transmit().starts_with(br#"{"jsonrpc":"2.0","id":1,"method":"server/discover""#));
//! client.handle_written(client.transmit().len(), now);
//!
//! // Bytes that came: this server is of the older kind, so a handshake follows.
//! let came = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}\n";
//! assert_eq!(client.handle_input(came, now), came.len());
//! assert!(client.transmit().starts_with(br#"{"jsonrpc":"2.0","id":2,"method":"initialize""#));
//! client.handle_written(client.transmit().len(), now);
//! let came = concat!(
//!     r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","#,
//!     r#""capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
//!     "\n"
//! );
//! assert_eq!(client.handle_input(came.as_bytes(), now), came.len());
//!
//! // Events, until there are none.
//! while let Some(event) = client.poll_event() {
//!     if let Event::Ready(peer) = event {
//!         assert_eq!(peer.server.name, "s");
//!         client.call_tool("echo", None, &RequestOptions::default(), now)?;
//!     }
//! }
//!
//! // Then wait for input, but no longer than this.
//! now = client.poll_timeout().unwrap_or(now);
//! client.handle_timeout(now);
//! let finished = std::iter::from_fn(|| client.poll_event()).any(|event| matches!(event, Event::Finished { .. }));
//! assert!(finished, "a call that is never answered ends as well");
//! # Ok(())
//! # }
//! ```
//!
//! `examples/poll_loop.rs` is a whole program of this kind, `examples/frame_loop.rs` one that never waits and does a bounded
//! amount in every turn, and `examples/serve_loop.rs` a server.
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]
extern crate alloc;

pub mod base64;
pub mod client;
pub mod error;
pub mod exchange;
pub mod frame;
pub mod host;
pub mod http;
pub mod jsonrpc;
pub mod limits;
pub mod machine;
pub mod mcp;
mod octets;
pub mod outbox;
pub mod server;
pub mod time;
pub mod waist;

pub use machine::{Machine, Output};
pub use time::Instant;
