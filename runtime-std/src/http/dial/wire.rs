//! A connected stream that HTTP goes over, plain or under TLS.

use std::io;

use sanswire_system::{Reached, TlsFault};

#[cfg(feature = "tls")]
use crate::http::dial::tls::Session;
use crate::os::{Conn, Got, Want};

/// A connected stream. Never blocks.
///
/// Under TLS what one writes and what leaves are not the same, nor what arrives and what one can read: so ask
/// [`wants`](Self::wants) what to wait for, [`flush`](Self::flush) when there is room, and mind
/// [`holds_input`](Self::holds_input).
#[derive(Debug)]
pub(crate) struct Wire {
    way: Way,
    /// How it came about, until that is asked for.
    how: Option<Box<Reached>>,
}

#[derive(Debug)]
enum Way {
    Plain(Conn),
    #[cfg(feature = "tls")]
    Tls(Box<Session>),
}

impl Wire {
    pub(crate) const fn plain(conn: Conn) -> Self {
        Self { way: Way::Plain(conn), how: None }
    }

    #[cfg(feature = "tls")]
    pub(super) fn tls(session: Session) -> Self {
        Self { way: Way::Tls(Box::new(session)), how: None }
    }

    /// With the story of how it was made.
    pub(super) fn made(self, how: Reached) -> Self {
        Self { how: Some(Box::new(how)), ..self }
    }

    /// How it was made, once.
    pub(crate) const fn take_how(&mut self) -> Option<Box<Reached>> {
        self.how.take()
    }

    /// The socket, to be polled.
    pub(crate) fn conn(&self) -> &Conn {
        match &self.way {
            Way::Plain(conn) => conn,
            #[cfg(feature = "tls")]
            Way::Tls(session) => session.below().conn(),
        }
    }

    /// Appends one read to `buffer`, within its spare room. An end that is not the peer's own word is broken:
    /// by a fault, or under TLS, which has such a word, by an end without it. Then nothing may be taken as whole that only
    /// the end of the stream bounds.
    pub(crate) fn read(&mut self, buffer: &mut Vec<u8>) -> Got {
        match &mut self.way {
            Way::Plain(conn) => conn.read(buffer),
            #[cfg(feature = "tls")]
            Way::Tls(session) => session.read(buffer),
        }
    }

    /// Whether TLS was ended, but not by the peer's own word.
    #[cfg(test)]
    pub(crate) fn is_cut(&self) -> bool {
        match &self.way {
            Way::Plain(_) => false,
            #[cfg(feature = "tls")]
            Way::Tls(session) => session.is_cut(),
        }
    }

    /// What TLS found wrong after its negotiation, once: the server wants a certificate of ours, for example.
    pub(crate) fn take_fault(&mut self) -> Option<TlsFault> {
        match &mut self.way {
            Way::Plain(_) => None,
            #[cfg(feature = "tls")]
            Way::Tls(session) => session.take_fault(),
        }
    }

    /// Takes what fits now; `WouldBlock`: nothing does. What was taken is on its way, though it may be held here until
    /// there is room.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.way {
            Way::Plain(conn) => conn.write(bytes),
            #[cfg(feature = "tls")]
            Way::Tls(session) => session.write(bytes),
        }
    }

    /// Writes what is held here, as far as there is room.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match &mut self.way {
            Way::Plain(_) => Ok(()),
            #[cfg(feature = "tls")]
            Way::Tls(session) => session.flush(),
        }
    }

    /// What to poll the socket for, for whom wants that of the stream.
    pub(crate) fn wants(&self, want: Want) -> Want {
        match &self.way {
            Way::Plain(_) => want,
            #[cfg(feature = "tls")]
            Way::Tls(session) => session.wants(want),
        }
    }

    /// Whether a read brings something though the socket is not readable.
    pub(crate) fn holds_input(&self) -> bool {
        match &self.way {
            Way::Plain(_) => false,
            #[cfg(feature = "tls")]
            Way::Tls(session) => session.holds_input(),
        }
    }

    /// Ends the connection in both directions, after a word to the peer where there is one to say (TLS). Ends the
    /// polls of others on it too.
    pub(crate) fn shutdown(&mut self) {
        match &mut self.way {
            Way::Plain(conn) => conn.shutdown(),
            #[cfg(feature = "tls")]
            Way::Tls(session) => session.shutdown(),
        }
    }
}
