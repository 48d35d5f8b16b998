//! Tests for what is built on `sanswire`: a client and a server, or any two machines, in one process and in virtual time.
//!
//! A [`Pair`] has two machines, a [`Link`] for each direction with the faults that a pipe can have, and a clock that nobody
//! waits for: ten minutes of a deadline pass in no time. The same seed gives the same run, to the byte. At every step
//! the contract of [`Machine`](sanswire::Machine) is checked, which matters for whoever writes one.
//!
//! [`Served`] makes a machine of a server and an [`Application`]: the code that takes a server's events in a loop of
//! yours, over a real stream, takes them in a pair just so.
//!
//! ```
//! use sanswire::client::{self, Outcome, RequestOptions};
//! use sanswire::jsonrpc::RawJson;
//! use sanswire::server::{self, Event, LineConnection, Reply};
//! use sanswire::Instant;
//! use sanswire_pair::{Pair, Served, Shape, each_seed};
//!
//! // What is to be tested.
//! fn answer(server: &mut LineConnection, event: &Event, now: Instant) {
//!     if let Event::Request { request, .. } = event {
//!         // Refused if it was cancelled meanwhile.
//!         let _ = server.respond(*request, &Reply::text("pong"), now);
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! each_seed(20, |seed| {
//!     let now = Instant::ZERO;
//!     let client = client::LineConnection::new(client::Config::new("test", "1"), [1; 32], now).expect("a client");
//!     let mut server =
//!         LineConnection::new(server::Config::new("mine", "1"), [2; 32], now).expect("a server");
//!     let tool = RawJson::parse_str(r#"{"name":"ping"}"#).expect("JSON");
//!     server.catalog_mut().tool(&tool).expect("a tool");
//!
//!     let mut pair = Pair::new(client, Served::new(server, answer), [Shape::any(seed), Shape::any(!seed)], seed, now);
//!     pair.ready();
//!     let call = pair.call_tool("ping", None, &RequestOptions::default()).expect("accepted");
//!     let Outcome::Complete(result) = pair.outcome(call) else { panic!("{}", pair.report()) };
//!     assert!(result.as_str().contains("pong"));
//! });
//! # Ok(())
//! # }
//! ```
//!
//! What panics here fails a test: that is what it is for.
#![forbid(unsafe_code)]
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod client;
pub mod link;
pub mod pair;
pub mod seed;
mod served;
pub mod watch;

pub use link::{Link, Pieces, Shape};
pub use pair::Pair;
pub use seed::{Rng, each_seed};
pub use served::{Application, Served};
pub use watch::{Ledger, Side, Watched};
