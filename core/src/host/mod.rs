//! Many servers behind one policy.
//!
//! These are the parts of a host that need no connection: each is a function of what it is given, or a table with a
//! bound. What can be chosen stands in small structs whose defaults are the ones to begin with.
//!
//! - [`catalog`]: the names of many servers' tools ([`catalog::Names`]), and which server each stands for.
//! - [`Mask`]: text of strangers made fit to be shown, and secrets kept out of it.
//!
//! Whatever a server says is untrusted here: its tools' names, their descriptions, their schemas, their results.

pub mod catalog;
mod mask;

pub use mask::Mask;
