//! A connection that is being made, or was: a socket, and TLS on top of it, which may be twice: to the proxy, and through it.

use std::io;
use std::net::TcpStream;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_io::Async;
use futures_lite::{AsyncRead, AsyncWrite};
#[cfg(feature = "tls")]
use futures_rustls::client::TlsStream;

/// A stream of bytes in both directions.
pub(super) enum Line {
    Plain(Async<TcpStream>),
    #[cfg(feature = "tls")]
    Tls(Box<TlsStream<Self>>),
}

/// The stream, whichever it is, for a method of both.
macro_rules! either {
    ($line:expr, $stream:ident => $call:expr) => {
        match $line.get_mut() {
            Line::Plain(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            #[cfg(feature = "tls")]
            Line::Tls(stream) => {
                let $stream = Pin::new(&mut **stream);
                $call
            }
        }
    };
}

impl Line {
    /// The socket at the bottom.
    pub(super) fn socket(&self) -> &Async<TcpStream> {
        match self {
            Self::Plain(socket) => socket,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.get_ref().0.socket(),
        }
    }
}

impl AsyncRead for Line {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        either!(self, stream => stream.poll_read(cx, room))
    }
}

impl AsyncWrite for Line {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        either!(self, stream => stream.poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_flush(cx))
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_close(cx))
    }
}
