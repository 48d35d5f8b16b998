//! Schema types as views over raw JSON: read when asked, unknown members kept.

pub mod collection;
pub mod flaw;
pub mod input;
pub mod lifecycle;
pub mod page;
pub mod schema;
pub mod tool;
