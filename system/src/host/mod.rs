//! What hosts of every runtime are made of: how their servers are reached, what is checked before anything starts, and how
//! their connections ended.

mod ends;
mod error;
mod launch;
mod setup;

pub use ends::Ends;
pub use error::HostError;
pub use launch::{Connecting, Launch, Way};
pub use setup::{Ready, Setup};
