//! TLS: the negotiation, and the stream after it.

mod session;

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::Instant;

use rustls::{ClientConfig, ClientConnection};
use sanswire_system::http::tls::{agreed, judge, of_tls, server_name};
use sanswire_system::{DialFault, DialStep, Secured};

use crate::http::dial::bound::Bound;
use crate::http::dial::line::Line;

pub(super) use session::Session;

/// A line under TLS.
#[derive(Debug)]
pub(super) struct Handshake<'a> {
    tls: ClientConnection,
    below: Line<'a>,
    /// Whether there is a certificate of ours to be shown.
    shown: bool,
}

/// Negotiates TLS with `host` at the other end of `line`, which was `begun` then; tells what was agreed on.
pub(super) fn negotiate<'a>(
    mut line: Line<'a>,
    host: &str,
    config: &Arc<ClientConfig>,
    bound: &Bound<'_>,
    begun: Instant,
) -> Result<(Line<'a>, Secured), DialFault> {
    bound.begin(DialStep::Tls);
    let name = server_name(host)?;
    let shown = config.client_auth_cert_resolver.has_certs();
    let fault = |error: &rustls::Error| DialFault::Tls(judge(error, shown));
    let mut tls = ClientConnection::new(Arc::clone(config), name).map_err(|error| fault(&error))?;
    while tls.is_handshaking() || tls.wants_write() {
        tls.complete_io(&mut line).map_err(|error| match of_tls(&error) {
            Some(error) => fault(error),
            None => bound.broken(DialStep::Tls, error),
        })?;
    }
    let agreed = agreed(&tls, shown, begun.elapsed());
    Ok((Line::Tls(Box::new(Handshake { tls, below: line, shown })), agreed))
}

impl Handshake<'_> {
    pub(super) fn into_session(self) -> io::Result<Session> {
        Ok(Session::new(self.tls, self.below.into_wire()?, self.shown))
    }
}

impl Read for Handshake<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match rustls::Stream::new(&mut self.tls, &mut self.below).read(room) {
            // Without TLS' own word for the end: nobody here waits for anything that could be cut short by that.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(0),
            got => got,
        }
    }
}

impl Write for Handshake<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        rustls::Stream::new(&mut self.tls, &mut self.below).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        rustls::Stream::new(&mut self.tls, &mut self.below).flush()
    }
}
