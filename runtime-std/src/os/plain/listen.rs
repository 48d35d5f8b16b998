//! Where connections come from, and what they are: a thread that accepts one ahead of whoever wants it, and two
//! threads for each connection.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::bell::{Bell, Bells};
use super::output::{Output, Writing};
use super::poller::{Pollable, Watched};
use super::source::{Input, Reading, Source};
use super::{STACK, tcp_ends};
use crate::os::{Accept, Got};

/// Accepts connections without blocking.
///
/// When it goes, its thread is called once so that it ends; if that fails, with the next call.
#[derive(Debug)]
pub(crate) struct Listener {
    calls: Arc<Calls>,
    address: SocketAddr,
}

/// What a [`Listener`] and its thread share.
#[derive(Debug, Default)]
struct Calls {
    ahead: Mutex<Ahead>,
    /// What was ahead was taken, or nobody wants more.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Ahead {
    call: Option<io::Result<TcpStream>>,
    unwanted: bool,
    bells: Bells,
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, Ahead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of the thread.
    fn accept_on(&self, listener: &TcpListener) {
        loop {
            let call = match listener.accept() {
                Ok((stream, _)) => Ok(stream),
                // What is wrong is the one call that was taken: it is over.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::Interrupted | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
                    ) =>
                {
                    continue;
                }
                Err(error) => Err(error),
            };
            let mut ahead = self.lock();
            if !ahead.unwanted {
                ahead.call = Some(call);
                ahead.bells.ring();
                let full = |ahead: &mut Ahead| ahead.call.is_some() && !ahead.unwanted;
                ahead = self.changed.wait_while(ahead, full).unwrap_or_else(PoisonError::into_inner);
            }
            if ahead.unwanted {
                return;
            }
        }
    }
}

impl Watched for Calls {
    fn is_ready(&self) -> (bool, bool) {
        (self.lock().call.is_some(), false)
    }

    fn join(&self, bell: &Arc<Bell>) {
        self.lock().bells.add(bell);
    }

    fn leave(&self, bell: &Arc<Bell>) {
        self.lock().bells.remove(bell);
    }
}

impl Listener {
    /// Starts the thread.
    pub(crate) fn tcp(listener: TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(false)?;
        let address = listener.local_addr()?;
        let calls = Arc::new(Calls::default());
        let thread = std::thread::Builder::new().name("sanswire-listener".into()).stack_size(STACK);
        let accepts = Arc::clone(&calls);
        thread.spawn(move || accepts.accept_on(&listener))?;
        Ok(Self { calls, address })
    }

    /// Takes the next connection, if there is one. Calls that are over before they were taken are passed over.
    pub(crate) fn accept(&self) -> Accept {
        let Some(call) = self.calls.lock().call.take() else { return Accept::Nothing };
        self.calls.changed.notify_all();
        match call.and_then(Conn::tcp) {
            Ok(conn) => Accept::Conn(conn),
            Err(_) => Accept::Later,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        const PATIENCE: Duration = Duration::from_millis(100);
        let mut ahead = self.calls.lock();
        ahead.unwanted = true;
        let accepts = ahead.call.take().is_none();
        drop(ahead);
        self.calls.changed.notify_all();
        if accepts {
            let mut address = self.address;
            match address.ip() {
                IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
                IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
                _ => {}
            }
            drop(TcpStream::connect_timeout(&address, PATIENCE));
        }
    }
}

impl Pollable for Listener {
    fn watched(&self) -> Arc<dyn Watched> {
        Arc::clone(&self.calls) as _
    }
}

/// A connection: one socket, never blocking, but for a moment when it ends. It is closed when this goes.
#[derive(Debug)]
pub(crate) struct Conn {
    // In this order: the thread that reads ends with the socket.
    output: Output,
    source: Source,
}

/// What there is to see of a [`Conn`].
#[derive(Debug)]
struct Ends {
    reading: Arc<Reading>,
    writing: Arc<Writing>,
}

impl Conn {
    pub(crate) fn tcp(stream: TcpStream) -> io::Result<Self> {
        let (source, output) = tcp_ends(stream)?;
        Ok(Self { output, source })
    }

    /// Appends one read to `buffer`, within its spare room. A fault is an end that is broken.
    pub(crate) fn read(&self, buffer: &mut Vec<u8>) -> Got {
        match Input::SOCKET.read(&self.source, buffer) {
            Got::Nothing if self.output.has_failed() => Got::End { broken: true },
            got => got,
        }
    }

    /// Writes what fits now. `WouldBlock`: nothing does. Raises no signal.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes)
    }

    /// Says that no more will come, behind what was written. What still comes can be read.
    pub(crate) fn end_output(&self) {
        self.output.end();
    }

    /// No: std has no word for it.
    #[expect(clippy::unused_self, reason = "the other side can tell")]
    pub(crate) const fn is_left(&self) -> bool {
        false
    }

    /// Nothing: std has no word for it.
    #[expect(clippy::unused_self, reason = "the other side can do it")]
    pub(crate) const fn keep_alive(&self) {}

    /// Ends it at once, in both directions. Whoever waits for it is told.
    pub(crate) fn shutdown(&self) {
        self.output.cut();
    }
}

impl Watched for Ends {
    fn is_ready(&self) -> (bool, bool) {
        (self.reading.is_ready(), self.writing.is_ready())
    }

    fn join(&self, bell: &Arc<Bell>) {
        self.reading.join(bell);
        self.writing.join(bell);
    }

    fn leave(&self, bell: &Arc<Bell>) {
        self.reading.leave(bell);
        self.writing.leave(bell);
    }
}

impl Pollable for Conn {
    fn watched(&self) -> Arc<dyn Watched> {
        Arc::new(Ends { reading: self.source.reading(), writing: self.output.writing() })
    }
}
