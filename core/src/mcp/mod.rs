//! The vocabulary of the Model Context Protocol: revisions, names, codes and types. No state.

pub mod codes;
pub mod legality;
pub mod meta;
pub mod method;
pub mod mirror;
pub mod revision;
pub mod types;

pub use method::Method;
pub use revision::{Era, Revision};
