//! The one integration binary: scenarios as modules.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test picks out what it looks for")]

mod batches;
mod cancel;
mod cases;
mod contract;
mod deadlines;
mod era;
mod era_on_exchanges;
mod era_remembered;
mod exchanges;
mod framing;
mod golden;
mod handshake;
mod ids;
mod input_rounds;
mod limits;
mod listing;
mod peer_requests;
mod progress;
mod properties;
mod requests;
mod results;
mod server_cancel;
mod server_end;
mod server_era;
mod server_exchanges;
mod server_input;
mod server_lines;
mod server_lists;
mod server_notices;
mod server_pairs;
mod server_properties;
mod server_subscriptions;
mod server_tools;
mod subscriptions;
