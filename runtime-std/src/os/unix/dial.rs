//! Connections to Unix sockets.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net;

/// A stream to a Unix socket, set non-blocking from the start: a connect that blocks would wait without an end for
/// room in the queue of a server that accepts nobody.
pub(crate) fn dial_unix(path: &Path, patience: Duration) -> io::Result<UnixStream> {
    /// How long to wait before asking for room in that queue again.
    const LOOK: Duration = Duration::from_millis(5);
    let started = Instant::now();
    let address = net::SocketAddrUnix::new(path)?;
    // In one step, where the system can: between two, another thread may start a child.
    #[cfg(target_os = "linux")]
    let socket = {
        let flags = net::SocketFlags::CLOEXEC | net::SocketFlags::NONBLOCK;
        net::socket_with(net::AddressFamily::UNIX, net::SocketType::STREAM, flags, None)?
    };
    #[cfg(not(target_os = "linux"))]
    let socket = {
        let socket = net::socket(net::AddressFamily::UNIX, net::SocketType::STREAM, None)?;
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&socket, true)?;
        socket
    };
    loop {
        match net::connect(&socket, &address) {
            Ok(()) => return Ok(socket.into()),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if started.elapsed() < patience => std::thread::sleep(LOOK),
            Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            Err(errno) => return Err(errno.into()),
        }
    }
}
