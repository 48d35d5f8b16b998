//! Linux and macOS: descriptors, process groups, signals.

mod ends;
mod input;
mod log;
mod process;
mod random;
mod stdio;
mod sys;
#[cfg(test)]
mod tests;

pub use ends::{ChildEnds, child_ends, keep_alive, set_nonblocking, to_timespec};
pub use input::{Input, discard, read_stderr};
pub(crate) use log::open_log;
pub use process::{Child, Exiting};
pub use random::random;
pub use stdio::{StdioEnds, send};
pub use sys::bind_to_parent;
