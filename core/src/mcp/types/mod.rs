//! Schema types as views over raw JSON: read when asked, unknown members kept.

pub mod call_result;
pub mod collection;
pub mod content;
pub mod flaw;
pub mod input;
pub mod lifecycle;
pub mod page;
pub mod resource;
pub mod schema;
pub mod tool;
