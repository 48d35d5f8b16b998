//! Who decides about a call, and what that person is shown.

mod mode;

pub use mode::{ServerMode, UnknownMode};
