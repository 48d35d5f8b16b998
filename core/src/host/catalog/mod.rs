//! What tools of many servers are called.

mod names;
mod naming;

pub use names::{NameFault, NameRefused, Names, Provenance};
pub use naming::{ExposedName, MAX_EXPOSED_BYTES, Naming};
