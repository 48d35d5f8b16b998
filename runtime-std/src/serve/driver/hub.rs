//! What the reading thread waits on: standard input and output, or any number of sockets.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use crate::os::{Conn, Got, Listener, PollEvent, Poller, StdioEnds, Wake, Want};

/// The two ends of one connection.
#[derive(Debug)]
pub(in crate::serve) enum Ends {
    Stdio(Arc<StdioEnds>),
    Socket(Conn),
}

impl Ends {
    /// Appends one read to `buffer`, after a wait said that there is something.
    pub(in crate::serve) fn read(&self, buffer: &mut Vec<u8>) -> Got {
        match self {
            Self::Stdio(ends) => ends.read(buffer),
            Self::Socket(conn) => conn.read(buffer),
        }
    }

    /// Writes what fits now.
    pub(in crate::serve) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdio(ends) => ends.write(bytes),
            Self::Socket(conn) => conn.write(bytes),
        }
    }

    /// Whether the peer of a socket has ended its output behind what was not read yet, as far as the system can say.
    pub(in crate::serve) fn is_left(&self) -> bool {
        match self {
            Self::Stdio(_) => false,
            Self::Socket(conn) => conn.is_left(),
        }
    }

    /// Nothing more will be written.
    pub(in crate::serve) fn end_output(&self) {
        if let Self::Socket(conn) = self {
            conn.end_output();
        }
    }

    /// The connection is over; what was written still arrives.
    pub(in crate::serve) fn close(&self) {
        /// A socket that is closed with bytes unread in it takes back what was written.
        const LEFT: usize = 64 * 1024;
        if let Self::Socket(conn) = self {
            conn.end_output();
            let mut left = Vec::with_capacity(LEFT);
            while matches!(conn.read(&mut left), Got::Bytes { .. }) && left.len() < LEFT {}
        }
    }
}

/// What one thread at a time waits on, while others change what it waits for.
#[derive(Debug)]
pub(in crate::serve) enum Hub {
    Stdio(Stdio),
    Sockets(Poller),
}

/// One connection, over standard input and output.
#[derive(Debug)]
pub(in crate::serve) struct Stdio {
    ends: Arc<StdioEnds>,
    wake: Wake,
    key: AtomicU64,
    want: AtomicU8,
    /// It changed since the last wait began. All of this is changed under the driver's lock.
    changed: AtomicBool,
}

const READ: u8 = 1;
const WRITE: u8 = 2;

impl Hub {
    pub(in crate::serve) fn stdio(ends: Arc<StdioEnds>) -> io::Result<Self> {
        Ok(Self::Stdio(Stdio {
            ends,
            wake: Wake::new()?,
            key: AtomicU64::new(0),
            want: AtomicU8::new(READ),
            changed: AtomicBool::new(false),
        }))
    }

    pub(in crate::serve) fn sockets() -> io::Result<Self> {
        Ok(Self::Sockets(Poller::new()?))
    }

    /// Looks for input on a new connection.
    pub(in crate::serve) fn add(&self, key: u64, ends: &Ends) -> io::Result<()> {
        match (self, ends) {
            (Self::Stdio(stdio), _) => {
                stdio.key.store(key, Ordering::Relaxed);
                Ok(())
            }
            (Self::Sockets(poller), Ends::Socket(conn)) => poller.add(key, conn, Want::READ),
            (Self::Sockets(_), Ends::Stdio(_)) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    pub(in crate::serve) fn want(&self, key: u64, ends: &Ends, want: Want) {
        match (self, ends) {
            (Self::Stdio(stdio), _) => {
                let bits = (u8::from(want.read) * READ) | (u8::from(want.write) * WRITE);
                stdio.want.store(bits, Ordering::Relaxed);
                stdio.changed.store(true, Ordering::Relaxed);
            }
            // It fails where the system has no memory: then the next wait is without it, and its deadline tells.
            (Self::Sockets(poller), Ends::Socket(conn)) => drop(poller.set(key, conn, want)),
            (Self::Sockets(_), Ends::Stdio(_)) => {}
        }
    }

    pub(in crate::serve) fn remove(&self, key: u64, ends: &Ends) {
        match (self, ends) {
            (Self::Stdio(_), _) => self.want(key, ends, Want::NOTHING),
            (Self::Sockets(poller), Ends::Socket(conn)) => drop(poller.remove(key, conn)),
            (Self::Sockets(_), Ends::Stdio(_)) => {}
        }
    }

    pub(in crate::serve) fn listen(&self, key: u64, listener: &Listener) -> io::Result<()> {
        match self {
            Self::Stdio(_) => Err(io::ErrorKind::Unsupported.into()),
            Self::Sockets(poller) => poller.add(key, listener, Want::READ),
        }
    }

    pub(in crate::serve) fn set_listening(
        &self,
        key: u64,
        listener: &Listener,
        want: Want,
    ) -> io::Result<()> {
        match self {
            Self::Stdio(_) => Err(io::ErrorKind::Unsupported.into()),
            Self::Sockets(poller) => poller.set(key, listener, want),
        }
    }

    pub(in crate::serve) fn unlisten(&self, key: u64, listener: &Listener) {
        if let Self::Sockets(poller) = self {
            drop(poller.remove(key, listener));
        }
    }

    /// Waits, and puts what was found in the place of what is in `events`. `None`: for ever.
    pub(in crate::serve) fn wait(&self, events: &mut Vec<PollEvent>, timeout: Option<Duration>) {
        match self {
            Self::Stdio(stdio) => stdio.wait(events, timeout),
            Self::Sockets(poller) => {
                if poller.wait(events, timeout).is_err() {
                    // The system is short of memory. It is asked again, but not without a pause.
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        }
    }

    /// What follows is what the next wait looks for. Called with the lock held, and the wait follows.
    pub(in crate::serve) fn begin_wait(&self) {
        if let Self::Stdio(stdio) = self {
            stdio.changed.store(false, Ordering::Relaxed);
        }
    }

    /// Whether a wait that is under way does not know yet what it is to look for.
    pub(in crate::serve) fn is_outdated(&self) -> bool {
        match self {
            Self::Stdio(stdio) => stdio.changed.load(Ordering::Relaxed),
            Self::Sockets(_) => false,
        }
    }

    /// Ends the present wait, or the next.
    pub(in crate::serve) fn wake(&self) {
        match self {
            Self::Stdio(stdio) => stdio.wake.wake(),
            Self::Sockets(poller) => poller.wake(),
        }
    }
}

impl Stdio {
    fn wait(&self, events: &mut Vec<PollEvent>, timeout: Option<Duration>) {
        events.clear();
        let bits = self.want.load(Ordering::Relaxed);
        let want = Want { read: bits & READ != 0, write: bits & WRITE != 0 };
        let ready = self.ends.wait(&self.wake, want, timeout);
        if ready.wake {
            self.wake.clear();
        }
        if ready.readable || ready.writable {
            let key = self.key.load(Ordering::Relaxed);
            events.push(PollEvent { key, readable: ready.readable, writable: ready.writable });
        }
    }
}
