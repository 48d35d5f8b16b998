//! How a server is met over HTTP, whichever runtime waits for its clients.

mod options;
mod refusals;

use std::io;
use std::net::{Ipv4Addr, TcpListener};

pub use options::HttpOptions;
pub use refusals::Refusals;

/// What is said to those for whom there is no room.
pub const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    Content-Length: 0\r\nConnection: close\r\nRetry-After: 1\r\n\r\n";

/// A listener on this machine alone, at `port`; 0 takes one that is free. From elsewhere it cannot be reached, and no
/// page of a browser gets through either, for an endpoint takes loopback names only unless told otherwise.
///
/// # Errors
/// The port is taken, or reserved.
///
/// Spec: MCP basic/transports, "Security Warning".
pub fn bind_loopback(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}
