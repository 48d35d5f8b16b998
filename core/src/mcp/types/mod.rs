//! Schema types as views over raw JSON: read when asked, unknown members kept.

pub mod call_result;
pub mod collection;
pub mod completion;
pub mod content;
pub mod elicited;
pub mod flaw;
pub mod form;
pub mod input;
pub mod lifecycle;
pub mod log;
pub mod page;
pub mod prompt;
pub mod request;
pub mod resource;
pub mod sampling;
pub mod schema;
pub mod subscription;
pub mod tool;
