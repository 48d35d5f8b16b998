//! What must hold for any bytes: called by a fuzz target, a property test and a regression test each.

pub mod client_bytes;
pub mod conversations;
pub mod envelope;
pub mod frame_line;
pub mod frame_sse;
pub mod host;
pub mod http_exchange;
pub mod http_h1;
pub mod legality;
pub mod schema_round_trip;
pub mod server_bytes;
pub(crate) mod stream;

pub use client_bytes::check_client_bytes;
pub use conversations::{check_client_ops, check_pair, check_server_ops};
pub use envelope::check_envelope;
pub use frame_line::check_frame_line;
pub use frame_sse::check_frame_sse;
pub use host::check_host;
pub use http_exchange::check_http_exchange;
pub use http_h1::check_http_h1;
pub use legality::check_legality;
pub use schema_round_trip::check_schema_round_trip;
pub use server_bytes::check_server_bytes;

/// A body that holds for any bytes.
pub type Check = fn(&[u8]);

/// All of them, by the name of the fuzz target that runs each.
pub const TARGETS: &[(&str, Check)] = &[
    ("client_bytes", check_client_bytes),
    ("client_ops", check_client_ops),
    ("envelope", check_envelope),
    ("frame_line", check_frame_line),
    ("frame_sse", check_frame_sse),
    ("host", check_host),
    ("http_endpoint", crate::web_chaos::check_http_endpoint),
    ("http_exchange", check_http_exchange),
    ("http_h1", check_http_h1),
    ("http_pool", crate::pool_chaos::check_http_pool),
    ("http_site", crate::site_chaos::check_http_site),
    ("legality", check_legality),
    ("pair", check_pair),
    ("schema_round_trip", check_schema_round_trip),
    ("server_bytes", check_server_bytes),
    ("server_ops", check_server_ops),
];
