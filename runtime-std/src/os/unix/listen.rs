//! Where connections come from, and what they are.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net;
use sanswire_system::os::{keep_alive, send};

use super::poller::Pollable;
use crate::os::{Accept, Got, Input};

pub(crate) use std::os::unix::net::{UnixListener, UnixStream};

/// How many calls that came to nothing are passed over before the others get their turn.
const PASSED_OVER: usize = 64;

/// Accepts connections without blocking.
#[derive(Debug)]
pub(crate) struct Listener {
    fd: Arc<OwnedFd>,
    tcp: bool,
}

impl Listener {
    /// Sets it non-blocking, for everybody who shares it.
    pub(crate) fn tcp(listener: TcpListener) -> io::Result<Self> {
        Self::new(listener.into(), true)
    }

    /// Sets it non-blocking, for everybody who shares it.
    pub(crate) fn unix(listener: UnixListener) -> io::Result<Self> {
        Self::new(listener.into(), false)
    }

    fn new(fd: OwnedFd, tcp: bool) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        Ok(Self { fd: Arc::new(fd), tcp })
    }

    /// Takes the next connection, if there is one. Calls that are over before they were taken are passed over.
    pub(crate) fn accept(&self) -> Accept {
        for _ in 0..PASSED_OVER {
            match accept(&self.fd) {
                Ok(fd) => {
                    if let Ok(conn) = Conn::new(fd, self.tcp) {
                        return Accept::Conn(conn);
                    }
                }
                Err(Errno::AGAIN) => return Accept::Nothing,
                // What is wrong is the one call that was taken: it is over, or its network is.
                Err(
                    Errno::INTR
                    | Errno::CONNABORTED
                    | Errno::CONNRESET
                    | Errno::PROTO
                    | Errno::PERM
                    | Errno::NETDOWN
                    | Errno::NETUNREACH
                    | Errno::HOSTDOWN
                    | Errno::HOSTUNREACH
                    | Errno::NOPROTOOPT
                    | Errno::TIMEDOUT,
                ) => {}
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => return Accept::Later,
                Err(errno) => return Accept::Failed(errno.into()),
            }
        }
        Accept::Nothing
    }
}

#[cfg(target_os = "linux")]
fn accept(fd: &OwnedFd) -> Result<OwnedFd, Errno> {
    net::accept_with(fd, net::SocketFlags::CLOEXEC | net::SocketFlags::NONBLOCK)
}

#[cfg(not(target_os = "linux"))]
fn accept(fd: &OwnedFd) -> Result<OwnedFd, Errno> {
    let stream = net::accept(fd)?;
    rustix::io::fcntl_setfd(&stream, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&stream, true)?;
    Ok(stream)
}

impl Pollable for Listener {
    fn descriptor(&self) -> &Arc<OwnedFd> {
        &self.fd
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A connection: one socket, never blocking. It is closed when this goes.
#[derive(Debug)]
pub(crate) struct Conn {
    fd: Arc<OwnedFd>,
}

impl Conn {
    fn new(fd: OwnedFd, tcp: bool) -> Result<Self, Errno> {
        if tcp {
            net::sockopt::set_tcp_nodelay(&fd, true)?;
        }
        #[cfg(target_vendor = "apple")]
        net::sockopt::set_socket_nosigpipe(&fd, true)?;
        Ok(Self { fd: Arc::new(fd) })
    }

    /// A connection that was made elsewhere. It is set non-blocking, for everybody who shares it.
    pub(crate) fn tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::new(stream.into(), true)?)
    }

    /// A connection that was made elsewhere. It is set non-blocking, for everybody who shares it.
    pub(crate) fn unix(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::new(stream.into(), false)?)
    }

    /// Appends one read to `buffer`, within its spare room. A fault is an end that is broken.
    pub(crate) fn read(&self, buffer: &mut Vec<u8>) -> Got {
        Input::SOCKET.read(&self.fd, buffer)
    }

    /// Writes what fits now. `WouldBlock`: nothing does. Raises no signal.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        send(&self.fd, bytes)
    }

    /// Says that no more will come, behind what was written. What still comes can be read.
    pub(crate) fn end_output(&self) {
        let _ = net::shutdown(&self.fd, net::Shutdown::Write);
    }

    /// Whether the peer has ended its output, or is gone, though there may be more to read. Where the system tells of no
    /// such thing, only whether it is gone.
    pub(crate) fn is_left(&self) -> bool {
        #[cfg(target_os = "linux")]
        let end = PollFlags::RDHUP;
        #[cfg(not(target_os = "linux"))]
        let end = PollFlags::empty();
        let mut fds = [PollFd::new(&self.fd, end)];
        let told = rustix::io::retry_on_intr(|| rustix::event::poll(&mut fds, Some(&Timespec::default())));
        told.is_ok() && fds.iter().any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR | end))
    }

    /// Lets the system find out when a peer that says nothing is gone for good, in about two minutes.
    pub(crate) fn keep_alive(&self) {
        keep_alive(&self.fd);
    }

    /// Ends it at once, in both directions. Whoever waits for it is told.
    pub(crate) fn shutdown(&self) {
        let _ = net::shutdown(&self.fd, net::Shutdown::Both);
    }
}

impl Pollable for Conn {
    fn descriptor(&self) -> &Arc<OwnedFd> {
        &self.fd
    }
}

impl AsFd for Conn {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
