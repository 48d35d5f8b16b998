//! Sans-IO state machines for the Model Context Protocol.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod frame;
pub mod jsonrpc;
