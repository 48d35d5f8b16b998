//! What must hold for any bytes: called by a fuzz target, a property test and a regression test each.

pub mod envelope;
pub mod frame_line;
pub mod frame_sse;
pub mod host;
pub mod http_h1;
pub mod served;

pub use envelope::check_envelope;
pub use frame_line::check_frame_line;
pub use frame_sse::check_frame_sse;
pub use host::check_host;
pub use http_h1::check_http_h1;
pub use served::check_served;
