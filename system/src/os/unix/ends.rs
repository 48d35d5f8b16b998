//! Our ends of a child's pipes, and what every wait on descriptors needs.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::time::Duration;

use rustix::event::Timespec;
use rustix::net::sockopt;

/// Our ends of a child's pipes. None of them blocks.
#[derive(Debug)]
pub struct ChildEnds {
    /// What the child reads is written here.
    pub stdin: OwnedFd,
    /// What the child writes is read here.
    pub stdout: OwnedFd,
    /// Its stderr, if that is ours.
    pub stderr: Option<OwnedFd>,
}

/// Takes our ends of a child's pipes.
///
/// # Errors
/// The child was started without pipes, or the system cannot make them non-blocking.
pub fn child_ends(child: &mut Child) -> io::Result<ChildEnds> {
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the child has no pipes"));
    };
    let ends = ChildEnds {
        stdin: stdin.into(),
        stdout: stdout.into(),
        stderr: child.stderr.take().map(OwnedFd::from),
    };
    for fd in [&ends.stdin, &ends.stdout].into_iter().chain(&ends.stderr) {
        set_nonblocking(fd)?;
    }
    Ok(ends)
}

/// No read or write on this waits from now on, nor on any descriptor that shares its state.
///
/// # Errors
/// The system's own.
pub fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    Ok(rustix::io::ioctl_fionbio(fd, true)?)
}

/// At most twelve days: some systems refuse more than 2^31 milliseconds, and a wait may always end early.
#[must_use]
pub fn to_timespec(duration: Duration) -> Timespec {
    const MOST: Duration = Duration::from_secs(1 << 20);
    let duration = duration.min(MOST);
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or_default(),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

/// Has the system ask the other end of a TCP connection now and then whether it is there, so that one that brings nothing
/// for long is noticed when it is not: after two minutes. Where the system cannot, nothing happens.
pub fn keep_alive(socket: impl AsFd) {
    let socket = socket.as_fd();
    let _ = sockopt::set_socket_keepalive(socket, true);
    let _ = sockopt::set_tcp_keepidle(socket, Duration::from_secs(60));
    let _ = sockopt::set_tcp_keepintvl(socket, Duration::from_secs(15));
    let _ = sockopt::set_tcp_keepcnt(socket, 4);
}
