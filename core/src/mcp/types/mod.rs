//! Schema types as views over raw JSON: read when asked, unknown members kept.

mod flaw;
pub mod input;
pub mod lifecycle;
pub mod schema;
