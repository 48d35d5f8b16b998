//! The descriptors of a server, one kind after the other.

mod listen;
mod poller;
mod stdio;
