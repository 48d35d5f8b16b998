//! Who decides about a call, and what that person is shown.

mod mode;
mod preview;

pub use mode::{ServerMode, UnknownMode};
pub use preview::{PreviewLimits, preview};
