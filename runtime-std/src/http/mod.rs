//! Servers that are reached over HTTP: where they are, and how to get there.

mod dial;
mod target;

pub use target::{HttpTarget, Proxy};
