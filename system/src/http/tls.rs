//! TLS: what is trusted and shown, and what its faults mean. `rustls` does the rest, for whoever waits.

mod agreed;
mod config;
mod fault;

pub use agreed::{agreed, server_name};
pub use config::Trust;
pub use fault::{judge, of_tls};
