//! TLS: what is trusted and shown, and what its faults mean. `rustls` does the rest, for whoever waits.

mod config;
mod fault;

pub use config::Trust;
pub use fault::{judge, of_tls};
