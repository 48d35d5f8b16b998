//! Schema types as views over raw JSON: read when asked, unknown members kept.

pub mod input;
pub mod lifecycle;
