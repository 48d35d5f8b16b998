//! Linux and macOS: descriptors, polled by whoever waits.

mod dial;
mod process;
mod sys;
mod wire;

pub(crate) use dial::dial_unix;
pub(crate) use process::Child;
pub(crate) use sys::bind_to_parent;
pub(crate) use wire::*;
