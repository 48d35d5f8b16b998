//! A connection that is being made: it blocks, within its bound, until it is a [`Wire`].

use std::io::{self, Read, Write};

use crate::http::dial::bound::BoundStream;
#[cfg(feature = "tls")]
use crate::http::dial::tls::Handshake;
use crate::http::dial::wire::Wire;
use crate::os::Conn;

/// A connection that is being made: a socket, and TLS on top of it, which may be twice: to the proxy, and through it.
#[derive(Debug)]
pub(super) enum Line<'a> {
    Plain(BoundStream<'a>),
    #[cfg(feature = "tls")]
    Tls(Box<Handshake<'a>>),
}

impl Line<'_> {
    /// The stream that never blocks.
    pub(super) fn into_wire(self) -> io::Result<Wire> {
        match self {
            Self::Plain(stream) => stream.into_inner().and_then(Conn::tcp).map(Wire::plain),
            #[cfg(feature = "tls")]
            Self::Tls(handshake) => handshake.into_session().map(Wire::tls),
        }
    }
}

impl Read for Line<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(room),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.read(room),
        }
    }
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.flush(),
        }
    }
}
