//! Sans-IO state machines for the Model Context Protocol.
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing, clippy::wildcard_enum_match_arm)]
extern crate alloc;

pub mod client;
pub mod error;
pub mod exchange;
pub mod frame;
pub mod jsonrpc;
pub mod limits;
pub mod machine;
pub mod mcp;
pub mod outbox;
pub mod time;

pub use machine::{Machine, Output};
pub use time::Instant;
