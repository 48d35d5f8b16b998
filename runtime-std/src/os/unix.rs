//! Linux and macOS: descriptors, polled by whoever waits.

mod dial;
mod listen;
mod poller;
mod polls;
mod stdio;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use dial::dial_unix;
pub(crate) use listen::{Conn, Listener, UnixListener, UnixStream};
pub(crate) use poller::Poller;
pub(crate) use polls::Polls;
pub(crate) use stdio::StdioEnds;
pub(crate) use wire::*;
