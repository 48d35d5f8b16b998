//! Harness shared by the scenario tests, properties, fuzz targets and benches.
//!
//! [`pair::Pair`], of the crate `sanswire-pair`, runs two machines against each other in virtual time and checks the
//! machine contract at each step. [`peer::Server`] is a server that shares no code
//! with the machines under test. [`client::Client`] is what a scenario works with: it runs on one stream of lines
//! or on a stream for each exchange.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test picks out what it looks for")]
#![allow(clippy::missing_panics_doc, reason = "a harness panics to fail a test")]

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}

pub mod chaos;
pub mod client;
pub mod client_link;
pub mod exchange_link;
pub mod explore;
pub mod fixture;
pub mod flag;
pub mod fleet;
pub mod guide;
pub mod host_chaos;
pub mod http_cases;
pub mod http_link;
pub mod http_rig;
pub mod line_link;
pub mod linked;
pub mod peer;
pub mod pool_chaos;
pub mod properties;
pub mod public_api;
pub mod schema;
pub mod served;
pub mod served_app;
pub mod simulation;
pub mod site_chaos;
pub mod web;
pub mod web_chaos;

pub use sanswire_pair::{link, pair, seed, watch};
