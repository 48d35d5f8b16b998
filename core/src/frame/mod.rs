//! Bytes to frames: lines and events, with a bound.
//!
//! [`LineDecoder`] owns the read buffer and cuts it at LF. What is too long is skipped in constant memory while
//! [`Scanner`] still finds out whose message it was, so that one call fails and not the connection. [`SseDecoder`] does
//! the same for streams of events.

mod line;
mod scan;
mod sse;

pub use line::{Frame, LineDecoder, READ_BYTES};
pub use scan::Scanner;
pub use sse::{SseDecoder, SseItem, write_event};

#[cfg(test)]
mod tests;
