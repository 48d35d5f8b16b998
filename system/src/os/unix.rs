//! Linux and macOS: descriptors, process groups, signals.

mod ends;
mod log;
mod process;
mod random;
mod sys;
#[cfg(test)]
mod tests;

pub use ends::{ChildEnds, child_ends, set_nonblocking, to_timespec};
pub(crate) use log::open_log;
pub use process::{Child, Exiting};
pub use random::random;
pub use sys::bind_to_parent;
