//! Linux and macOS: descriptors, polled by whoever waits.

mod dial;
mod listen;
mod log;
mod poller;
mod polls;
mod process;
mod random;
mod stdio;
mod sys;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use dial::dial_unix;
pub(crate) use listen::{Conn, Listener, UnixListener, UnixStream};
pub(crate) use log::open_log;
pub(crate) use poller::Poller;
pub(crate) use polls::Polls;
pub(crate) use process::Child;
pub(crate) use random::random;
pub(crate) use stdio::StdioEnds;
pub(crate) use sys::bind_to_parent;
pub(crate) use wire::*;
