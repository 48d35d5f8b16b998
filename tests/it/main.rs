//! The one integration binary: scenarios as modules.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test picks out what it looks for")]

mod era;
mod era_on_exchanges;
mod era_remembered;
mod handshake;
mod properties;
